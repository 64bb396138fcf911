// Where lines leave and enter boxes. An open scope says where (its ports); on any other box they spread over its side.
import type { LevelLayout } from "./level";
import type { Shape } from "./placing";
import { pool } from "./straighten";

const PORT_SPACE = 11;
const EDGE_MARGIN = 9;

/** The x of the upper and the lower end of each segment. */
export interface Ends {
  start: Float64Array;
  end: Float64Array;
}

function fixedIn(level: LevelLayout, shapes: Shape[], segment: number): number | null {
  const { down, line } = level.chains.segments[segment]!;
  const { turned, from } = level.chains.lines[line]!;
  return turned ? null : shapes[down]!.inAt(level.outsideOf(from));
}

/** How far from the centre of its lower item a segment enters, before the final places are known. */
export function roughIn(level: LevelLayout, shapes: Shape[], segment: number): number {
  const item = level.chains.segments[segment]!.down;
  if (item >= level.base) return 0;
  const shape = shapes[item]!;
  const fixed = fixedIn(level, shapes, segment);
  if (fixed !== null) return fixed - shape.w / 2;
  const list = level.into[item]!;
  if (list.length < 2) return 0;
  const space = Math.min(PORT_SPACE, (shape.w - 2 * EDGE_MARGIN) / (list.length - 1));
  return (list.indexOf(segment) - (list.length - 1) / 2) * space;
}

/** The same for its upper item. */
export function roughOut(level: LevelLayout, shapes: Shape[], segment: number): number {
  const { up, line } = level.chains.segments[segment]!;
  const { from, source } = level.chains.lines[line]!;
  if (up !== from || up >= level.base) return 0;
  const fixed = shapes[up]!.outAt(source);
  return fixed === null ? 0 : fixed - shapes[up]!.w / 2;
}

export function finalEnds(level: LevelLayout, shapes: Shape[], middle: Float64Array): Ends {
  const { segments } = level.chains;
  const start = Float64Array.from(segments, (segment) => middle[segment.up]!);
  const end = Float64Array.from(segments, (segment) => middle[segment.down]!);
  for (let item = 0; item < level.base; item++) {
    const shape = shapes[item]!;
    const into = level.into[item]!;
    const out = level.linesFrom.get(item);
    if (into.length) spread(middle[item]!, shape, endsInto(level, shapes, into, start, end));
    if (out) spread(middle[item]!, shape, endsOut(level, shape, out, start, end));
  }
  return { start, end };
}

/** One end of a line at a box: where it would like to be, or must be. */
interface End {
  wish: number;
  fixed: number | null;
  set(x: number): void;
}

function endsInto(level: LevelLayout, shapes: Shape[], into: number[], start: Float64Array, end: Float64Array): End[] {
  return into.map((i) => ({ wish: start[i]!, fixed: fixedIn(level, shapes, i), set: (x) => (end[i] = x) }));
}

function endsOut(level: LevelLayout, shape: Shape, out: number[], start: Float64Array, end: Float64Array): End[] {
  return out.map((l) => {
    const first = level.firstSegments[l]!;
    const wish = first.reduce((sum, i) => sum + end[i]!, 0) / Math.max(1, first.length);
    const set = (x: number) => first.forEach((i) => void (start[i] = x));
    return { wish, fixed: shape.outAt(level.chains.lines[l]!.source), set };
  });
}

/** Each end near where its line comes from, none on another, all within the middle of the side. */
function spread(middle: number, shape: Shape, ends: End[]): void {
  // alone it leaves and enters in the middle, where it is already
  if (ends.length === 1 && ends[0]!.fixed === null) return;
  const free = ends.filter((end) => {
    if (end.fixed !== null) end.set(middle - shape.w / 2 + end.fixed);
    return end.fixed === null;
  });
  if (free.length < 2) {
    free[0]?.set(middle);
    return;
  }
  const reach = Math.min(shape.w / 2 - EDGE_MARGIN, PORT_SPACE * free.length);
  const space = Math.min(PORT_SPACE, (2 * reach) / (free.length - 1));
  free.sort((a, b) => a.wish - b.wish);
  const [low, high] = [middle - reach, middle + reach];
  const wish = Float64Array.from(free, (end, i) => {
    const last = high - (free.length - 1 - i) * space;
    return Math.min(Math.max(end.wish, low + i * space), last) - i * space;
  });
  pool(wish, new Float64Array(free.length).fill(1));
  free.forEach((end, i) => void end.set(wish[i]! + i * space));
}
