// Orders of graphs given as pairs of numbers.
import { listsByOwner } from "./csr";

export interface Pairs {
  from: number[];
  to: number[];
}

/**
 * Producers before users, and otherwise as close to the numbers' own order as that allows: each item comes right after
 * what it needs. Edges that close a circle are ignored.
 */
export function topological(count: number, { from, to }: Pairs): Int32Array {
  const into = listsByOwner(count, to);
  const order = new Int32Array(count);
  let placed = 0;
  const state = new Uint8Array(count); // 1: begun, 2: placed
  const next = into.start.slice(0, count);
  const path: number[] = [];
  for (let start = 0; start < count; start++) {
    if (state[start]) continue;
    path.push(start);
    state[start] = 1;
    while (path.length) {
      const at = path[path.length - 1]!;
      if (next[at]! < into.start[at + 1]!) {
        const producer = from[into.at[next[at]!++]!]!;
        if (!state[producer]) {
          state[producer] = 1;
          path.push(producer);
        }
        continue;
      }
      state[at] = 2;
      order[placed++] = at;
      path.pop();
    }
  }
  return order;
}

/** The length of the longest path to each item. */
export function depths(order: Int32Array, { from, to }: Pairs): Int32Array {
  const place = new Int32Array(order.length);
  order.forEach((item, i) => void (place[item] = i));
  const out = listsByOwner(order.length, from);
  const depth = new Int32Array(order.length);
  for (const item of order)
    for (let k = out.start[item]!; k < out.start[item + 1]!; k++) {
      const user = to[out.at[k]!]!;
      if (place[user]! > place[item]!) depth[user] = Math.max(depth[user]!, depth[item]! + 1);
    }
  return depth;
}
