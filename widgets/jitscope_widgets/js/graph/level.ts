// The layout of one level: rows and order once (they depend on the document alone), places anew whenever the size of
// a child changes because something in it was opened or closed.
import { makeChains, type Chains } from "./chains";
import type { LevelGraph } from "./model";
import { orderRows, type Ordered } from "./order";
import { assignRanks } from "./rank";
import { pool, straighten, type Pull } from "./straighten";

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

const PORT_SPACE = 11;
const EDGE_MARGIN = 9;

export class LevelLayout {
  readonly chains: Chains;
  readonly ordered: Ordered;
  /** Segments by the row they start in, for culling. */
  readonly byRow: number[][];
  private readonly into: number[][]; // segments that end at an item, from left to right
  private readonly linesFrom: Map<number, number[]>;
  private readonly firstSegments: number[][]; // per line: the segments that leave its item

  constructor(readonly level: LevelGraph) {
    const base = level.children.length;
    const bottom = base + level.inPorts.length;
    const items = bottom + level.outPorts.length;
    const ranks = assignRanks({
      count: items,
      edges: level.edges,
      top: new Set(level.inPorts.map((_, i) => base + i)),
      bottom: new Set(level.outPorts.map((_, i) => bottom + i)),
    });
    this.chains = makeChains(level, ranks);
    this.ordered = orderRows(this.chains);
    this.byRow = this.ordered.rows.map(() => []);
    this.into = Array.from({ length: items }, () => []);
    this.linesFrom = new Map();
    this.firstSegments = this.chains.lines.map(() => []);
    this.index(items);
  }

  private index(items: number): void {
    const { segments, rank, lines } = this.chains;
    const place = this.ordered.place;
    segments.forEach((segment, i) => {
      this.byRow[rank[segment.up]!]!.push(i);
      if (segment.down < items) this.into[segment.down]!.push(i);
      if (segment.up === lines[segment.line]!.from) this.firstSegments[segment.line]!.push(i);
    });
    for (const list of this.into) list.sort((a, b) => place[segments[a]!.up]! - place[segments[b]!.up]!);
    lines.forEach((line, l) => {
      const known = this.linesFrom.get(line.from);
      if (known) known.push(l);
      else this.linesFrom.set(line.from, [l]);
    });
  }

  /** Types of the values that flow into an item. */
  typesInto(item: number): string[] {
    const { segments, lines } = this.chains;
    return this.into[item]!.map((i) => {
      const { line, end } = segments[i]!;
      return this.level.edges[lines[line]!.ends[end]!.edge]!.type;
    });
  }

  private get items(): number {
    const { children, inPorts, outPorts } = this.level;
    return children.length + inPorts.length + outPorts.length;
  }

  /** The node that an in-port or child stands for when it enters a scope of this level. */
  private outsideOf(item: number): number {
    const { children, inPorts } = this.level;
    return item < children.length ? children[item]! : inPorts[item - children.length]!;
  }

  place(shapes: Shape[]): Placed {
    const { chains, ordered } = this;
    const base = this.level.children.length;
    const width = new Float64Array(chains.count);
    for (let i = 0; i < chains.count; i++) width[i] = i < base ? shapes[i]!.w : 2;
    const pulls = this.pulls(shapes);
    const runs = this.straightRuns(shapes);
    const rounds = chains.count <= 500 ? 10 : chains.count <= 5000 ? 6 : 3;
    const isWaypoint = (item: number) => item >= base;
    const middle = straighten({ rows: ordered.rows, width, isWaypoint, ...pulls }, runs, rounds);
    return this.finish(shapes, middle, width);
  }

  /** Items one below the other, each joined to the next by its only line: they should stand exactly in line. */
  private straightRuns(shapes: Shape[]): number[][] {
    const { segments, count } = this.chains;
    const down = new Int32Array(count).fill(-1);
    const up = new Int32Array(count).fill(-1);
    segments.forEach((segment, i) => {
      down[segment.up] = down[segment.up] === -1 ? i : -2;
      up[segment.down] = up[segment.down] === -1 ? i : -2;
    });
    const below = (item: number): number => {
      const i = down[item]!;
      if (i < 0 || up[segments[i]!.down]! < 0) return -1;
      const next = segments[i]!.down;
      const sideways = this.roughOut(item, segments[i]!.line, shapes) !== 0 || (next < this.items && this.roughIn(next, i, shapes) !== 0);
      return sideways ? -1 : next;
    };
    const hasAbove = new Uint8Array(count);
    const next = Int32Array.from({ length: count }, (_, item) => below(item));
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

  /** How far from the centre of `item` the segment enters, before the final places are known. */
  private roughIn(item: number, segment: number, shapes: Shape[]): number {
    const base = this.level.children.length;
    if (item >= base) return 0;
    const { lines, segments } = this.chains;
    const line = lines[segments[segment]!.line]!;
    const fixed = line.turned ? null : shapes[item]!.inAt(this.outsideOf(line.from));
    if (fixed !== null) return fixed - shapes[item]!.w / 2;
    const list = this.into[item]!;
    const space = Math.min(PORT_SPACE, (shapes[item]!.w - 2 * EDGE_MARGIN) / Math.max(1, list.length - 1));
    return (list.indexOf(segment) - (list.length - 1) / 2) * space;
  }

  private roughOut(item: number, l: number, shapes: Shape[]): number {
    const base = this.level.children.length;
    if (item >= base) return 0;
    const fixed = shapes[item]!.outAt(this.chains.lines[l]!.source);
    return fixed === null ? 0 : fixed - shapes[item]!.w / 2;
  }

  private pulls(shapes: Shape[]): { up: Pull[][]; down: Pull[][] } {
    const { count, segments, lines } = this.chains;
    const up: Pull[][] = Array.from({ length: count }, () => []);
    const down: Pull[][] = Array.from({ length: count }, () => []);
    const items = this.items;
    segments.forEach((segment, i) => {
      const start = segment.up === lines[segment.line]!.from ? this.roughOut(segment.up, segment.line, shapes) : 0;
      const end = segment.down < items ? this.roughIn(segment.down, i, shapes) : 0;
      // long lines should be straight, so waypoints hold on to each other
      const weight = (segment.up >= items ? 2 : 1) * (segment.down >= items ? 2 : 1);
      up[segment.down]!.push({ other: segment.up, shift: start - end, weight });
      down[segment.up]!.push({ other: segment.down, shift: end - start, weight });
    });
    return { up, down };
  }

  private finish(shapes: Shape[], middle: Float64Array, width: Float64Array): Placed {
    const { chains } = this;
    const base = this.level.children.length;
    let left = Infinity;
    let right = -Infinity;
    for (let i = 0; i < chains.count; i++) {
      left = Math.min(left, middle[i]! - width[i]! / 2);
      right = Math.max(right, middle[i]! + width[i]! / 2);
    }
    for (let i = 0; i < chains.count; i++) middle[i]! -= left;
    const rows = this.rowHeights(shapes, middle);
    const x = new Float64Array(this.items);
    const y = new Float64Array(base);
    for (let i = 0; i < this.items; i++) x[i] = middle[i]! - width[i]! / 2;
    for (let i = 0; i < base; i++) {
      const row = chains.rank[i]!;
      y[i] = (rows.top[row]! + rows.bottom[row]! - shapes[i]!.h) / 2;
    }
    const ends = this.lineEnds(shapes, middle);
    return {
      w: chains.count ? right - left : 0,
      h: rows.height,
      x,
      y,
      childW: Float64Array.from(shapes, (shape) => shape.w),
      childH: Float64Array.from(shapes, (shape) => shape.h),
      rowTop: rows.top,
      rowBottom: rows.bottom,
      strokes: this.strokes(shapes, y, rows, ends),
      stubs: chains.stubs.map((stub) => ({
        edge: stub.edge,
        x1: middle[stub.from]!,
        y1: stub.from < base ? y[stub.from]! + shapes[stub.from]!.h : 0,
        x2: middle[stub.to]!,
        y2: stub.to < base ? y[stub.to]! : rows.height,
      })),
    };
  }

  /** Rows from top to bottom; the space between two rows grows with how far lines must move sideways in it. */
  private rowHeights(shapes: Shape[], middle: Float64Array): { top: Float64Array; bottom: Float64Array; height: number } {
    const { rows } = this.ordered;
    const base = this.level.children.length;
    const top = new Float64Array(rows.length);
    const bottom = new Float64Array(rows.length);
    let y = 0;
    rows.forEach((row, r) => {
      let tall = 0;
      for (const item of row) if (item < base) tall = Math.max(tall, shapes[item]!.h);
      top[r] = y;
      bottom[r] = y + tall;
      let far = 0;
      for (const i of this.byRow[r]!) {
        const { up, down } = this.chains.segments[i]!;
        far = Math.max(far, Math.abs(middle[up]! - middle[down]!));
      }
      const onlyLines = (items: number[] | undefined) => items?.every((item) => item >= base);
      const space = !tall ? 6 : onlyLines(rows[r + 1]) ? 8 : 30;
      y += tall + (r + 1 < rows.length ? Math.min(90, space + far * 0.06) : 0);
    });
    return { top, bottom, height: y };
  }

  /** Where each segment leaves its upper item and enters its lower one. */
  private lineEnds(shapes: Shape[], middle: Float64Array): { start: Float64Array; end: Float64Array } {
    const { segments, lines } = this.chains;
    const start = Float64Array.from(segments, (segment) => middle[segment.up]!);
    const end = Float64Array.from(segments, (segment) => middle[segment.down]!);
    const base = this.level.children.length;
    for (let item = 0; item < base; item++) {
      this.spread(item, shapes[item]!, middle, this.into[item]!.map((i) => ({
        wish: start[i]!,
        fixed: lines[segments[i]!.line]!.turned ? null : shapes[item]!.inAt(this.outsideOf(lines[segments[i]!.line]!.from)),
        set: (x: number) => (end[i] = x),
      })));
      this.spread(item, shapes[item]!, middle, (this.linesFrom.get(item) ?? []).map((l) => {
        const first = this.firstSegments[l]!;
        const wish = first.reduce((sum, i) => sum + end[i]!, 0) / Math.max(1, first.length);
        return {
          wish,
          fixed: shapes[item]!.outAt(lines[l]!.source),
          set: (x: number) => first.forEach((i) => (start[i] = x)),
        };
      }));
    }
    return { start, end };
  }

  /** Spreads line ends over one side of a box: each near where its line comes from, none on another. */
  private spread(item: number, shape: Shape, middle: Float64Array, ends: { wish: number; fixed: number | null; set(x: number): void }[]): void {
    const left = middle[item]! - shape.w / 2;
    const free = ends.filter((end) => {
      if (end.fixed !== null) end.set(left + end.fixed);
      return end.fixed === null;
    });
    if (!free.length) return;
    const reach = Math.min(shape.w / 2 - EDGE_MARGIN, free.length === 1 ? 0 : PORT_SPACE * free.length);
    const space = Math.min(PORT_SPACE, (2 * reach) / Math.max(1, free.length - 1));
    free.sort((a, b) => a.wish - b.wish);
    const low = middle[item]! - reach;
    const high = middle[item]! + reach;
    const wish = Float64Array.from(free, (end, i) => Math.min(Math.max(end.wish, low + i * space), high - (free.length - 1 - i) * space) - i * space);
    pool(wish, new Float64Array(free.length).fill(1));
    free.forEach((end, i) => end.set(wish[i]! + i * space));
  }

  private strokes(
    shapes: Shape[],
    y: Float64Array,
    rows: { top: Float64Array; bottom: Float64Array },
    ends: { start: Float64Array; end: Float64Array },
  ): Stroke[] {
    const { segments, rank } = this.chains;
    const base = this.level.children.length;
    const ports = this.items; // items from `base` up to here are ports on the border of the scope
    return segments.map((segment, i) => {
      const upper = rank[segment.up]!;
      const lower = rank[segment.down]!;
      return {
        x1: ends.start[i]!,
        y1: segment.up < base ? y[segment.up]! + shapes[segment.up]!.h : rows.top[upper]! - (segment.up < ports ? FRAME.header : 0),
        bottom: rows.bottom[upper]!,
        x2: ends.end[i]!,
        top: rows.top[lower]!,
        y2: segment.down < base ? y[segment.down]! : rows.top[lower]! + (segment.down < ports ? FRAME.bottom : 0),
      };
    });
  }
}
