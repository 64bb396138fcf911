// Third step: the order within each row, so that few lines cross. Barycentre sweeps; neighbours are then exchanged
// where that helps (in small levels).
import type { Chains } from "./chains";
import { listsByOwner, type Lists } from "./csr";

export interface Ordered {
  rows: number[][];
  place: Int32Array; // place within the row
}

/** The neighbours of every item in the row above and in the row below. */
interface Links {
  up: Neighbours;
  down: Neighbours;
}

interface Neighbours {
  lists: Lists;
  ends: Int32Array; // per segment: the item at its other end
}

function links({ count, segments }: Chains): Links {
  const ups = Int32Array.from(segments, ({ up }) => up);
  const downs = Int32Array.from(segments, ({ down }) => down);
  return {
    up: { lists: listsByOwner(count, downs), ends: ups },
    down: { lists: listsByOwner(count, ups), ends: downs },
  };
}

/** The places of an item's neighbours, from left to right. */
function placesOf(item: number, { lists, ends }: Neighbours, place: Int32Array): number[] {
  const found: number[] = [];
  for (let k = lists.start[item]!; k < lists.start[item + 1]!; k++) found.push(place[ends[lists.at[k]!]!]!);
  return found.sort((a, b) => a - b);
}

function number(row: number[], place: Int32Array): void {
  for (let i = 0; i < row.length; i++) place[row[i]!] = i;
}

/** The mean place of an item's neighbours; -1 when it has none. */
function meanPlace(item: number, { lists, ends }: Neighbours, place: Int32Array): number {
  const [first, last] = [lists.start[item]!, lists.start[item + 1]!];
  let sum = 0;
  for (let k = first; k < last; k++) sum += place[ends[lists.at[k]!]!]!;
  return last > first ? sum / (last - first) : -1;
}

function sweepRow(row: number[], beside: Neighbours, place: Int32Array, key: Float64Array): void {
  if (row.length < 2) return;
  for (const item of row) key[item] = meanPlace(item, beside, place);
  // items without neighbours there keep their place; the others are sorted among the places left
  const free = row.filter((item) => key[item]! >= 0).sort((a, b) => key[a]! - key[b]! || place[a]! - place[b]!);
  let next = 0;
  for (let i = 0; i < row.length; i++) if (key[row[i]!]! >= 0) row[i] = free[next++]!;
  number(row, place);
}

/** Crossings between two neighbouring rows: inversions, counted with a Fenwick tree. */
function crossings(upper: number[], down: Neighbours, place: Int32Array, width: number): number {
  const tree = new Int32Array(width + 1);
  let seen = 0;
  let total = 0;
  for (const item of upper) {
    const ends = placesOf(item, down, place);
    for (const end of ends) {
      let before = 0;
      for (let i = end + 1; i > 0; i -= i & -i) before += tree[i]!;
      total += seen - before;
    }
    for (const end of ends) {
      for (let i = end + 1; i <= width; i += i & -i) tree[i]!++;
      seen++;
    }
  }
  return total;
}

function allCrossings(rows: number[][], { down }: Links, place: Int32Array): number {
  let total = 0;
  for (let r = 0; r + 1 < rows.length; r++) total += crossings(rows[r]!, down, place, rows[r + 1]!.length);
  return total;
}

/** Crossings among the lines of two items that stand side by side, left before right (their ends are sorted). */
function pairCrossings(left: number[], right: number[]): number {
  let total = 0;
  for (const a of left) for (const b of right) if (a > b) total++;
  return total;
}

/** Does it help to exchange two neighbours? */
function isBetterTurned(a: number, b: number, { up, down }: Links, place: Int32Array): boolean {
  const [aboveA, aboveB] = [placesOf(a, up, place), placesOf(b, up, place)];
  const [belowA, belowB] = [placesOf(a, down, place), placesOf(b, down, place)];
  const now = pairCrossings(aboveA, aboveB) + pairCrossings(belowA, belowB);
  return now > 0 && pairCrossings(aboveB, aboveA) + pairCrossings(belowB, belowA) < now;
}

function exchange(rows: number[][], first: number, lists: Links, place: Int32Array): boolean {
  let better = false;
  for (const row of rows.slice(first))
    for (let i = 0; i + 1 < row.length; i++) {
      const [a, b] = [row[i]!, row[i + 1]!];
      if (!isBetterTurned(a, b, lists, place)) continue;
      [row[i], row[i + 1]] = [b, a];
      [place[a], place[b]] = [i + 1, i];
      better = true;
    }
  return better;
}

function firstRows({ count, rank, segments }: Chains): number[][] {
  let last = 0;
  for (let i = 0; i < count; i++) last = Math.max(last, rank[i]!);
  const rows: number[][] = Array.from({ length: count ? last + 1 : 0 }, () => []);
  const joined = new Uint8Array(count);
  for (const { up, down } of segments) joined[up] = joined[down] = 1;
  // items that nothing is joined to stand at the right end
  for (const wanted of [1, 0]) for (let i = 0; i < count; i++) if (joined[i] === wanted) rows[rank[i]!]!.push(i);
  return rows;
}

/** `top`: items of the first row whose order is given (values that enter a scope come as they stand outside). */
export function orderRows(chains: Chains, top: number[] = []): Ordered {
  const rows = firstRows(chains);
  if (top.length) rows[0] = top;
  const first = top.length ? 1 : 0;
  const place = new Int32Array(chains.count);
  for (const row of rows) number(row, place);
  const lists = links(chains);
  const key = new Float64Array(chains.count);
  const small = chains.count <= 3000;
  const rounds = chains.count <= 400 ? 12 : small ? 6 : 2;
  let best = small ? allCrossings(rows, lists, place) : 0;
  let kept = rows.map((row) => [...row]);
  for (let round = 0; round < rounds && (best > 0 || !small); round++) {
    for (let r = 1; r < rows.length; r++) sweepRow(rows[r]!, lists.up, place, key);
    for (let r = rows.length - 2; r >= first; r--) sweepRow(rows[r]!, lists.down, place, key);
    if (chains.count <= 800) for (let k = 0; k < 4 && exchange(rows, first, lists, place); k++);
    if (!small) continue;
    const now = allCrossings(rows, lists, place);
    if (now < best) {
      best = now;
      kept = rows.map((row) => [...row]);
    }
  }
  if (!small) kept = rows;
  for (const row of kept) number(row, place);
  return { rows: kept, place };
}
