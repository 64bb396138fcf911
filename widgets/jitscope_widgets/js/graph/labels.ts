// Types beside the lines, where there is room and where they say something new.
import type { Scene } from "./draw";
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

/** A value's type is news when nothing that flows into its producer has that type. */
function isNews(scene: Scene, scope: number, from: number, type: string): boolean {
  return !scene.layout.structure(scope).typesInto(from).includes(type);
}

export function edgeLabels(
  scene: Scene,
  pen: Pen,
  scope: number,
  first: number,
  last: number,
  ox: number,
  oy: number,
  background: string,
): void {
  const { camera, palette, layout, view } = scene;
  const { chains, level, byRow } = layout.structure(scope);
  const placed = layout.level(scope);
  const px = PX * Math.min(1.3, Math.max(1, camera.k));
  const toX = (x: number) => (x + ox) * camera.k + camera.x;
  const toY = (y: number) => (y + oy) * camera.k + camera.y;
  const outside = scope === layout.model.root ? 90 : FRAME.pad - 4;
  const left = Math.max(4, toX(-outside));
  const right = Math.min(view.w - 4, toX(placed.w + outside));
  let written = 0;
  for (let row = first; row < last && written < MOST; row++) {
    const strokes = byRow[row]!.map((i) => {
      const s = placed.strokes[i]!;
      return {
        i,
        s: { x1: toX(s.x1), y1: toY(s.y1), bottom: toY(s.bottom), x2: toX(s.x2), top: toY(s.top), y2: toY(s.y2) },
      };
    });
    const taken: Box[] = [];
    const done = new Set<number>();
    for (const { i, s } of strokes) {
      const segment = chains.segments[i]!;
      const line = chains.lines[segment.line]!;
      if (segment.up !== line.from || line.from >= level.children.length || done.has(segment.line) || line.turned)
        continue;
      done.add(segment.line);
      const type = level.edges[line.ends[0]?.edge ?? -1]?.type ?? "";
      const producer = layout.model.node(level.children[line.from]!);
      if (isQuiet(producer)) continue;
      if (!type || type.length > 24 || s.x1 < 0 || s.x1 > view.w || !isNews(scene, scope, line.from, type)) continue;
      const w = meter.width(type, px, palette.code);
      const room = s.top - s.bottom;
      if (room < px + 8) continue;
      const places: Box[] = [
        { x: s.x1 + 6, y: s.bottom + 4, w, h: px },
        { x: s.x1 - 6 - w, y: s.bottom + 4, w, h: px },
        { x: s.x2 + 6, y: s.top - px - 5, w, h: px },
        { x: s.x2 - 6 - w, y: s.top - px - 5, w, h: px },
      ];
      const free = places.find(
        (box) =>
          box.x >= left &&
          box.x + w <= right &&
          !taken.some((other) => overlaps({ ...box, x: box.x - 4, w: box.w + 8 }, other)) &&
          !strokes.some((other) => crosses(other.s, box)),
      );
      if (!free) continue;
      taken.push(free);
      written++;
      pen.text(
        type,
        free.x,
        free.y + px / 2,
        { px, family: palette.code, colour: palette.colours.muted, background },
        { id: producer.id, what: "edge" },
      );
    }
  }
}
