// Lists of numbers, one list per item, packed into two arrays: big levels have 100,000 of them.

export interface Lists {
  start: Int32Array; // of each item's list in `at`; one more at the end
  at: Int32Array;
}

/** `owner[k]` is the item whose list gets `k`; -1: none. Each list keeps the order of the numbers. */
export function listsByOwner(count: number, owner: ArrayLike<number>): Lists {
  const start = new Int32Array(count + 1);
  for (let k = 0; k < owner.length; k++) if (owner[k]! >= 0) start[owner[k]! + 1]!++;
  for (let i = 0; i < count; i++) start[i + 1]! += start[i]!;
  const at = new Int32Array(owner.length);
  const next = start.slice();
  for (let k = 0; k < owner.length; k++) if (owner[k]! >= 0) at[next[owner[k]!]!++] = k;
  return { start, at };
}
