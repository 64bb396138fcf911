// Third step: the order within each row, so that few lines cross. Barycentre sweeps; neighbours are then exchanged
// where that helps (in small levels).
import type { Chains } from "./chains";

export interface Ordered {
  rows: number[][];
  place: Int32Array; // place within the row
}

interface Links {
  up: number[][];
  down: number[][];
}

function links({ count, segments }: Chains): Links {
  const result = {
    up: Array.from({ length: count }, (): number[] => []),
    down: Array.from({ length: count }, (): number[] => []),
  };
  for (const { up, down } of segments) {
    result.down[up]!.push(down);
    result.up[down]!.push(up);
  }
  return result;
}

function number(row: number[], place: Int32Array): void {
  for (let i = 0; i < row.length; i++) place[row[i]!] = i;
}

function sweepRow(row: number[], beside: number[][], place: Int32Array): void {
  const key = new Map<number, number>();
  for (const item of row) {
    const near = beside[item]!;
    let sum = 0;
    for (const other of near) sum += place[other]!;
    key.set(item, near.length ? sum / near.length : -1);
  }
  // items without neighbours there keep their place; the others are sorted among the places left
  const free = row
    .filter((item) => key.get(item)! >= 0)
    .sort((a, b) => key.get(a)! - key.get(b)! || place[a]! - place[b]!);
  let next = 0;
  for (let i = 0; i < row.length; i++) if (key.get(row[i]!)! >= 0) row[i] = free[next++]!;
  number(row, place);
}

/** Crossings between two neighbouring rows: inversions, counted with a Fenwick tree. */
function crossings(upper: number[], down: number[][], place: Int32Array, width: number): number {
  const tree = new Int32Array(width + 1);
  let seen = 0;
  let total = 0;
  for (const item of upper) {
    const ends = down[item]!.map((other) => place[other]!).sort((a, b) => a - b);
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

/** Crossings among the lines of two items that stand side by side, left before right. */
function pairCrossings(left: number[], right: number[], place: Int32Array): number {
  let total = 0;
  for (const a of left) for (const b of right) if (place[a]! > place[b]!) total++;
  return total;
}

function exchange(rows: number[][], first: number, { up, down }: Links, place: Int32Array): boolean {
  let better = false;
  for (const row of rows.slice(first))
    for (let i = 0; i + 1 < row.length; i++) {
      const [a, b] = [row[i]!, row[i + 1]!];
      const now = pairCrossings(up[a]!, up[b]!, place) + pairCrossings(down[a]!, down[b]!, place);
      const then = pairCrossings(up[b]!, up[a]!, place) + pairCrossings(down[b]!, down[a]!, place);
      if (then >= now) continue;
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
  const small = chains.count <= 3000;
  const rounds = chains.count <= 400 ? 12 : small ? 6 : 2;
  let best = small ? allCrossings(rows, lists, place) : 0;
  let kept = rows.map((row) => [...row]);
  for (let round = 0; round < rounds && (best > 0 || !small); round++) {
    for (let r = 1; r < rows.length; r++) sweepRow(rows[r]!, lists.up, place);
    for (let r = rows.length - 2; r >= first; r--) sweepRow(rows[r]!, lists.down, place);
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
