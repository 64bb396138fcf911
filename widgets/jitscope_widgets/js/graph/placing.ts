// The places in one level: computed anew whenever the size of a child changes because something in it was opened or closed.
import { listsByOwner } from "./csr";
import { finalEnds, roughIn, roughOut, type Ends } from "./ends";
import type { LevelLayout } from "./level";
import { straighten, type Pulls } from "./straighten";

/** Room that an open scope keeps free round its inside; lines run through it to the scope's border. */
export const FRAME = { pad: 14, header: 30, bottom: 14 } as const;

/** What a level must know about a child: its size, and where values enter and leave it if it is open. */
export interface Shape {
  w: number;
  h: number;
  /** Distance from the left side of the box at which the value from `outside` enters; null: anywhere. */
  inAt(outside: number): number | null;
  outAt(source: number): number | null;
}

/** A segment as drawn: down from (x1,y1) to `bottom`, a curve to (x2,top), down to (x2,y2). */
export interface Stroke {
  x1: number;
  y1: number;
  bottom: number;
  x2: number;
  top: number;
  y2: number;
}

export interface Placed {
  w: number;
  h: number;
  /** Left and top of each child; ports after the children have their x only. */
  x: Float64Array;
  y: Float64Array;
  childW: Float64Array;
  childH: Float64Array;
  rowTop: Float64Array;
  rowBottom: Float64Array;
  strokes: Stroke[];
  stubs: { edge: number; x1: number; y1: number; x2: number; y2: number }[];
}

interface Rows {
  top: Float64Array;
  bottom: Float64Array;
  height: number;
}

const ROW_SPACE = 30;
const MOST_ROW_SPACE = 90;

export function place(level: LevelLayout, shapes: Shape[]): Placed {
  const { chains, items, base } = level;
  const width = Float64Array.from({ length: chains.count }, (_, i) => (i < base ? shapes[i]!.w : 2));
  const middle = middles(level, shapes, width);
  const rows = rowHeights(level, shapes, middle);
  const x = Float64Array.from({ length: items }, (_, i) => middle[i]! - width[i]! / 2);
  const y = Float64Array.from({ length: base }, (_, i) => {
    const row = chains.rank[i]!;
    return (rows.top[row]! + rows.bottom[row]! - shapes[i]!.h) / 2;
  });
  let right = 0;
  for (let i = 0; i < chains.count; i++) right = Math.max(right, middle[i]! + width[i]! / 2);
  return {
    w: right,
    h: rows.height,
    x,
    y,
    childW: Float64Array.from(shapes, (shape) => shape.w),
    childH: Float64Array.from(shapes, (shape) => shape.h),
    rowTop: rows.top,
    rowBottom: rows.bottom,
    strokes: strokes(level, shapes, y, rows, finalEnds(level, shapes, middle)),
    stubs: stubs(level, shapes, middle, y, rows),
  };
}

/** The centre of every item and waypoint; the leftmost box starts at 0. */
function middles(level: LevelLayout, shapes: Shape[], width: Float64Array): Float64Array {
  const { chains, ordered, base } = level;
  const rounds = chains.count <= 500 ? 10 : chains.count <= 5000 ? 6 : 3;
  const isWaypoint = (item: number) => item >= base;
  const input = { rows: ordered.rows, width, isWaypoint, ...pulls(level, shapes) };
  const middle = straighten(input, straightRuns(level, shapes), rounds);
  let left = Infinity;
  for (let i = 0; i < chains.count; i++) left = Math.min(left, middle[i]! - width[i]! / 2);
  for (let i = 0; i < chains.count; i++) middle[i]! -= left;
  return middle;
}

function pulls(level: LevelLayout, shapes: Shape[]): { up: Pulls; down: Pulls } {
  const { chains, items } = level;
  const ups = Int32Array.from(chains.segments, ({ up }) => up);
  const downs = Int32Array.from(chains.segments, ({ down }) => down);
  const shift = Float64Array.from(chains.segments, (_, i) => roughOut(level, shapes, i) - roughIn(level, shapes, i));
  // long lines should be straight, so waypoints hold on to each other
  const weight = Float64Array.from(chains.segments, ({ up, down }) => (up >= items ? 2 : 1) * (down >= items ? 2 : 1));
  return {
    up: { lists: listsByOwner(chains.count, downs), other: ups, shift, weight },
    down: { lists: listsByOwner(chains.count, ups), other: downs, shift: shift.map((x) => -x), weight },
  };
}

/** Items one below the other, each joined to the next by its only line: they should stand exactly in line. */
function straightRuns(level: LevelLayout, shapes: Shape[]): number[][] {
  const { segments, count } = level.chains;
  const down = new Int32Array(count).fill(-1);
  const up = new Int32Array(count).fill(-1);
  segments.forEach((segment, i) => {
    down[segment.up] = down[segment.up] === -1 ? i : -2;
    up[segment.down] = up[segment.down] === -1 ? i : -2;
  });
  const next = Int32Array.from({ length: count }, (_, item) => {
    const i = down[item]!;
    if (i < 0 || up[segments[i]!.down]! < 0) return -1;
    const sideways = roughOut(level, shapes, i) !== 0 || roughIn(level, shapes, i) !== 0;
    return sideways ? -1 : segments[i]!.down;
  });
  const hasAbove = new Uint8Array(count);
  for (const item of next) if (item >= 0) hasAbove[item] = 1;
  const runs: number[][] = [];
  for (let item = 0; item < count; item++) {
    if (hasAbove[item] || next[item]! < 0) continue;
    const run = [item];
    for (let at = next[item]!; at >= 0; at = next[at]!) run.push(at);
    runs.push(run);
  }
  return runs;
}

/** Rows from top to bottom; the space between two rows grows with how far lines must move sideways in it. */
function rowHeights(level: LevelLayout, shapes: Shape[], middle: Float64Array): Rows {
  const { base, byRow, chains } = level;
  const { rows } = level.ordered;
  const top = new Float64Array(rows.length);
  const bottom = new Float64Array(rows.length);
  const onlyLines = (row: number[] | undefined) => row?.every((item) => item >= base);
  let y = 0;
  rows.forEach((row, r) => {
    let tall = 0;
    for (const item of row) if (item < base) tall = Math.max(tall, shapes[item]!.h);
    top[r] = y;
    bottom[r] = y + tall;
    let far = 0;
    for (const i of byRow[r]!) {
      const { up, down } = chains.segments[i]!;
      far = Math.max(far, Math.abs(middle[up]! - middle[down]!));
    }
    const space = !tall ? 6 : onlyLines(rows[r + 1]) ? 8 : ROW_SPACE;
    y += tall + (r + 1 < rows.length ? Math.min(MOST_ROW_SPACE, space + far * 0.06) : 0);
  });
  return { top, bottom, height: y };
}

function strokes(level: LevelLayout, shapes: Shape[], y: Float64Array, rows: Rows, ends: Ends): Stroke[] {
  const { base, items, chains } = level;
  // items from `base` up to `items` are ports: their lines go on through the border of the scope
  return chains.segments.map(({ up, down }, i) => {
    const upper = chains.rank[up]!;
    const lower = chains.rank[down]!;
    return {
      x1: ends.start[i]!,
      y1: up < base ? y[up]! + shapes[up]!.h : rows.top[upper]! - (up < items ? FRAME.header : 0),
      bottom: rows.bottom[upper]!,
      x2: ends.end[i]!,
      top: rows.top[lower]!,
      y2: down < base ? y[down]! : rows.top[lower]! + (down < items ? FRAME.bottom : 0),
    };
  });
}

function stubs(
  level: LevelLayout,
  shapes: Shape[],
  middle: Float64Array,
  y: Float64Array,
  rows: Rows,
): Placed["stubs"] {
  const { base, chains } = level;
  return chains.stubs.map(({ edge, from, to }) => ({
    edge,
    x1: middle[from]!,
    y1: from < base ? y[from]! + shapes[from]!.h : 0,
    x2: middle[to]!,
    y2: to < base ? y[to]! : rows.height,
  }));
}
