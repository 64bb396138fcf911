// The lines of one level.
import type { Ground, Scene } from "./draw";
import type { Layout } from "./layout";
import type { Pen } from "./pen";
import type { Stroke } from "./placing";

/** Thicker for more bytes, by their logarithm. */
function edgeWidth(bytes: number): number {
  return 1 + Math.min(7, Math.max(0, Math.log10(Math.max(bytes, 1)) - 1)) * 0.45;
}

export function toScreen(stroke: Stroke, { camera }: Scene, ground: Ground): Stroke {
  const x = (value: number) => (value + ground.x) * camera.k + camera.x;
  const y = (value: number) => (value + ground.y) * camera.k + camera.y;
  const { x1, y1, bottom, x2, top, y2 } = stroke;
  return { x1: x(x1), y1: y(y1), bottom: y(bottom), x2: x(x2), top: y(top), y2: y(y2) };
}

/** Strokes of one look, drawn together. */
type Bundles = Map<string, { width: number; dashed: boolean; list: Stroke[] }>;

function bundle(bundles: Bundles, width: number, dashed: boolean, stroke: Stroke): void {
  const rounded = Math.round(width * 4) / 4;
  const key = `${rounded} ${dashed}`;
  const known = bundles.get(key);
  if (known) known.list.push(stroke);
  else bundles.set(key, { width: rounded, dashed, list: [stroke] });
}

export function drawLines(scene: Scene, pen: Pen, ground: Ground): void {
  const { layout, camera, view, palette, motion } = scene;
  const placed = layout.level(ground.scope);
  const { chains, byRow } = layout.structure(ground.scope);
  const plain: Bundles = new Map();
  const marked: Bundles = new Map();
  for (let row = ground.first; row < ground.last; row++)
    for (const i of byRow[row]!) {
      const stroke = toScreen(placed.strokes[i]!, scene, ground);
      const [left, right] = [Math.min(stroke.x1, stroke.x2), Math.max(stroke.x1, stroke.x2)];
      if (right < 0 || left > view.w || stroke.y2 < 0 || stroke.y1 > view.h) continue;
      const line = chains.lines[chains.segments[i]!.line]!;
      const width = Math.max(0.5, edgeWidth(line.bytes) * Math.min(1, camera.k * 1.2));
      const dashed = line.turned || isGone(scene, ground.scope, i);
      bundle(isMarked(scene, ground.scope, i) ? marked : plain, width, dashed, stroke);
    }
  const alpha = motion ? motion.t : 1;
  const draw = (bundles: Bundles, stroke: string, more: number) => {
    for (const { width, dashed, list } of bundles.values())
      pen.strokes(list, { stroke, width: width + more, dash: dashed ? [4, 3] : undefined, alpha });
  };
  draw(plain, palette.colours.edge, 0);
  draw(marked, palette.colours.accent, 0.75);
}

function isMarked(scene: Scene, scope: number, segment: number): boolean {
  const { marks } = scene;
  return marks.edges.size > 0 && edgesOf(scene.layout, scope, segment).some((e) => marks.edges.has(e));
}

/** Does no value flow there any more? */
function isGone(scene: Scene, scope: number, segment: number): boolean {
  const { model } = scene.layout;
  return model.hasGone && edgesOf(scene.layout, scope, segment).every((e) => model.document.edges[e]!.gone);
}

/** The edges of the document that a piece of a line is of: it belongs to all ends that it leads to. */
export function edgesOf(layout: Layout, scope: number, segment: number): number[] {
  const { chains, level } = layout.structure(scope);
  const { line, end, down } = chains.segments[segment]!;
  const { ends } = chains.lines[line]!;
  const reached = end >= 0 ? [ends[end]!] : ends.filter(({ to }) => chains.rank[to]! > chains.rank[down]!);
  return reached.flatMap(({ edge }) => level.edges[edge]!.edges);
}

/** Ends of lines that are too long to be drawn. */
export function drawStubs({ layout, camera, palette, view }: Scene, pen: Pen, ground: Ground): void {
  if (camera.k < 0.3) return;
  const stroke = palette.colours.edge;
  for (const stub of layout.level(ground.scope).stubs)
    for (const [px, py, way] of [
      [stub.x1, stub.y1, 1],
      [stub.x2, stub.y2, -1],
    ] as const) {
      const x = (px + ground.x) * camera.k + camera.x;
      const y = (py + ground.y) * camera.k + camera.y;
      if (x < 0 || x > view.w || y < 0 || y > view.h) continue;
      const far = y + way * 10 * camera.k;
      pen.strokes([{ x1: x, y1: y, bottom: y, x2: x, top: far, y2: far }], { stroke, dash: [2, 2] });
      pen.box(x - 2, far - 2, 4, 4, 2, { fill: stroke });
    }
}
