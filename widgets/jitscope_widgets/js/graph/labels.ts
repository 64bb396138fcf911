// Types beside the lines, where there is room and where they say something new.
import type { Ground, Scene } from "./draw";
import { toScreen } from "./lines";
import { isQuiet } from "./looks";
import { meter, type Pen } from "./pen";
import { FRAME, type Stroke } from "./placing";

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

const PX = 11;
const MOST = 300;
const LONGEST = 24;

function overlaps(a: Box, b: Box): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/** Points along the curved part of a stroke, and its straight ends. */
function* points(s: Stroke): Generator<[number, number]> {
  yield [s.x1, s.bottom];
  const middle = (s.bottom + s.top) / 2;
  for (let i = 0; i <= 8; i++) {
    const t = i / 8;
    const u = 1 - t;
    const a = u * u * u;
    const b = 3 * u * u * t;
    const c = 3 * u * t * t;
    const d = t * t * t;
    yield [(a + b) * s.x1 + (c + d) * s.x2, a * s.bottom + (b + c) * middle + d * s.top];
  }
}

function crosses(stroke: Stroke, box: Box): boolean {
  let before: [number, number] | null = null;
  for (const point of points(stroke)) {
    if (before) {
      const left = Math.min(before[0], point[0]) - 2;
      const right = Math.max(before[0], point[0]) + 2;
      const top = Math.min(before[1], point[1]);
      const bottom = Math.max(before[1], point[1]);
      if (left < box.x + box.w && right > box.x && top < box.y + box.h && bottom > box.y) return true;
    }
    before = point;
  }
  return false;
}

/** The type to write below an item's line: news only, that is, when nothing that flows into the item has that type. */
function typeOf({ layout }: Scene, scope: number, lineIndex: number): string {
  const structure = layout.structure(scope);
  const { from, ends, turned } = structure.chains.lines[lineIndex]!;
  if (turned || from >= structure.base || isQuiet(layout.model.node(structure.level.children[from]!))) return "";
  const type = structure.level.edges[ends[0]?.edge ?? -1]?.type ?? "";
  return type.length <= LONGEST && !structure.typesInto(from).includes(type) ? type : "";
}

/** Right or left of the line, where it starts or where it ends. */
function placesBeside({ x1, bottom, x2, top }: Stroke, w: number, px: number): Box[] {
  return [
    { x: x1 + 6, y: bottom + 4, w, h: px },
    { x: x1 - 6 - w, y: bottom + 4, w, h: px },
    { x: x2 + 6, y: top - px - 5, w, h: px },
    { x: x2 - 6 - w, y: top - px - 5, w, h: px },
  ];
}

/** From where to where labels of this level may go. */
function bounds({ layout, camera, view }: Scene, { scope, x }: Ground): [number, number] {
  const outside = scope === layout.model.root ? 90 : FRAME.pad - 4;
  const toX = (value: number) => (value + x) * camera.k + camera.x;
  return [Math.max(4, toX(-outside)), Math.min(view.w - 4, toX(layout.level(scope).w + outside))];
}

export function edgeLabels(scene: Scene, pen: Pen, ground: Ground): void {
  const { camera, palette, layout, view } = scene;
  const { chains, level, byRow } = layout.structure(ground.scope);
  const placed = layout.level(ground.scope);
  const px = PX * Math.min(1.3, Math.max(1, camera.k));
  const [left, right] = bounds(scene, ground);
  const style = { px, family: palette.code, colour: palette.colours.muted, background: ground.background };
  let written = 0;
  for (let row = ground.first; row < ground.last && written < MOST; row++) {
    const strokes = byRow[row]!.map((i) => ({ i, stroke: toScreen(placed.strokes[i]!, scene, ground) }));
    const taken: Box[] = [];
    const done = new Set<number>();
    for (const { i, stroke } of strokes) {
      const segment = chains.segments[i]!;
      const { from } = chains.lines[segment.line]!;
      if (segment.up !== from || done.has(segment.line) || stroke.x1 < 0 || stroke.x1 > view.w) continue;
      done.add(segment.line);
      const type = typeOf(scene, ground.scope, segment.line);
      if (!type || stroke.top - stroke.bottom < px + 8) continue;
      const free = placesBeside(stroke, meter.width(type, px, palette.code), px).find(
        (box) =>
          box.x >= left &&
          box.x + box.w <= right &&
          !taken.some((other) => overlaps({ ...box, x: box.x - 4, w: box.w + 8 }, other)) &&
          !strokes.some((other) => crosses(other.stroke, box)),
      );
      if (!free) continue;
      taken.push(free);
      written++;
      const { id } = layout.model.node(level.children[from]!);
      pen.text(type, free.x, free.y + px / 2, style, { id, what: "edge" });
    }
  }
}
