// Fourth step: how far left or right each item stands. Every item wants to stand in the middle of what it is joined
// to; within a row the order and the gaps must hold. The best places for one row under these bounds are found
// exactly (isotonic regression: pool adjacent violators).
import type { Lists } from "./csr";

/** What pulls at each item from one side (above or below): segments, by item. */
export interface Pulls {
  lists: Lists;
  /** Per segment: the item at its other end, how far to stand from it, and how strongly. */
  other: Int32Array;
  shift: Float64Array;
  weight: Float64Array;
}

interface Straight {
  rows: number[][];
  width: Float64Array;
  isWaypoint(item: number): boolean;
  up: Pulls;
  down: Pulls;
}

const BOX_GAP = 22;
const LINE_GAP = 9;

function gap(a: boolean, b: boolean): number {
  return a && b ? LINE_GAP : a || b ? (BOX_GAP + LINE_GAP) / 2 : BOX_GAP;
}

/** Distances that must lie between the centres of neighbours in a row, summed from the left. */
function offsets(row: number[], input: Straight): Float64Array {
  const sums = new Float64Array(row.length);
  for (let i = 1; i < row.length; i++) {
    const [a, b] = [row[i - 1]!, row[i]!];
    const space = gap(input.isWaypoint(a), input.isWaypoint(b));
    sums[i] = sums[i - 1]! + (input.width[a]! + input.width[b]!) / 2 + space;
  }
  return sums;
}

function isSorted(values: Float64Array): boolean {
  for (let i = 1; i < values.length; i++) if (values[i - 1]! > values[i]!) return false;
  return true;
}

/** The non-decreasing sequence nearest to `wish` in weighted squares; the result replaces `wish`. */
export function pool(wish: Float64Array, weight: Float64Array): void {
  const size = wish.length;
  if (isSorted(wish)) return;
  const mean = new Float64Array(size);
  const mass = new Float64Array(size);
  const length = new Int32Array(size);
  let blocks = 0;
  for (let i = 0; i < size; i++) {
    mean[blocks] = wish[i]!;
    mass[blocks] = weight[i]!;
    length[blocks] = 1;
    blocks++;
    while (blocks > 1 && mean[blocks - 2]! >= mean[blocks - 1]!) {
      const total = mass[blocks - 2]! + mass[blocks - 1]!;
      mean[blocks - 2] = (mean[blocks - 2]! * mass[blocks - 2]! + mean[blocks - 1]! * mass[blocks - 1]!) / total;
      mass[blocks - 2] = total;
      length[blocks - 2]! += length[blocks - 1]!;
      blocks--;
    }
  }
  for (let b = 0, i = 0; b < blocks; b++) for (let k = 0; k < length[b]!; k++) wish[i++] = mean[b]!;
}

/** Where an item would stand if it were alone, and how strongly it wants to; in `wished`. */
const wished = { x: 0, weight: 0 };

function wish(item: number, x: Float64Array, sides: Pulls[]): void {
  let sum = 0;
  let mass = 0;
  for (const { lists, other, shift, weight } of sides)
    for (let k = lists.start[item]!; k < lists.start[item + 1]!; k++) {
      const segment = lists.at[k]!;
      sum += (x[other[segment]!]! + shift[segment]!) * weight[segment]!;
      mass += weight[segment]!;
    }
  // an item that nothing pulls stays about where it is, but gives way
  wished.x = mass ? sum / mass : x[item]!;
  wished.weight = mass || 0.01;
}

function settle(row: number[], sums: Float64Array, x: Float64Array, sides: Pulls[]): void {
  if (row.length === 1) {
    wish(row[0]!, x, sides);
    x[row[0]!] = wished.x;
    return;
  }
  const places = new Float64Array(row.length);
  const weights = new Float64Array(row.length);
  for (let i = 0; i < row.length; i++) {
    wish(row[i]!, x, sides);
    places[i] = wished.x - sums[i]!;
    weights[i] = wished.weight;
  }
  pool(places, weights);
  for (let i = 0; i < row.length; i++) x[row[i]!] = places[i]! + sums[i]!;
}

/** Puts runs of waypoints that nearly form a straight line exactly on one, where there is room. */
function straightenRuns(input: Straight, x: Float64Array, runs: number[][]): void {
  const left = new Float64Array(x.length).fill(-Infinity);
  const right = new Float64Array(x.length).fill(Infinity);
  for (let pass = 0; pass < 3; pass++) {
    for (const row of input.rows)
      for (let i = 0; i < row.length; i++) {
        const item = row[i]!;
        const room = (a: number, b: number) =>
          (input.width[a]! + input.width[b]!) / 2 + gap(input.isWaypoint(a), input.isWaypoint(b));
        left[item] = i ? x[row[i - 1]!]! + room(row[i - 1]!, item) : -Infinity;
        right[item] = i + 1 < row.length ? x[row[i + 1]!]! - room(item, row[i + 1]!) : Infinity;
      }
    for (const run of runs) {
      let [low, high, sum] = [-Infinity, Infinity, 0];
      for (const item of run) {
        low = Math.max(low, left[item]!);
        high = Math.min(high, right[item]!);
        sum += x[item]!;
      }
      if (low > high) continue;
      const target = Math.min(Math.max(sum / run.length, low), high);
      // neighbours in the same pass were placed with the old bounds: move only within half of the room
      for (const item of run)
        x[item] = Math.min(Math.max(target, (left[item]! + x[item]!) / 2), (right[item]! + x[item]!) / 2);
    }
  }
}

export function straighten(input: Straight, runs: number[][], rounds: number): Float64Array {
  const x = new Float64Array(input.width.length);
  const sums = input.rows.map((row) => offsets(row, input));
  input.rows.forEach((row, r) => {
    const middle = (sums[r]![row.length - 1] ?? 0) / 2;
    row.forEach((item, i) => void (x[item] = sums[r]![i]! - middle));
  });
  const rows = input.rows;
  for (let round = 0; round < rounds; round++) {
    const both = round >= rounds / 2;
    for (let r = 0; r < rows.length; r++) settle(rows[r]!, sums[r]!, x, both ? [input.up, input.down] : [input.up]);
    for (let r = rows.length - 1; r >= 0; r--)
      settle(rows[r]!, sums[r]!, x, both ? [input.up, input.down] : [input.down]);
  }
  straightenRuns(input, x, runs);
  closeUp(input, x);
  return x;
}

const isPulled = (item: number, { lists }: Pulls): boolean => lists.start[item + 1]! > lists.start[item]!;

/** Items that nothing pulls stand at the right end of their row: right beside their neighbour. */
function closeUp(input: Straight, x: Float64Array): void {
  for (const row of input.rows)
    for (let i = 1; i < row.length; i++) {
      const [before, item] = [row[i - 1]!, row[i]!];
      if (isPulled(item, input.up) || isPulled(item, input.down)) continue;
      x[item] = x[before]! + (input.width[before]! + input.width[item]!) / 2 + BOX_GAP;
    }
}
