// What comes after each other in a level and was written in one line.
import type { Position } from "../documents";
import { listsByOwner } from "./csr";
import type { ShownNode } from "./hulls";
import type { Pairs } from "./topology";

/** Where a node was written; null where that is no one line. */
export type WrittenAt = (node: ShownNode) => Position | null;

/** An item's line, and what the line is called by. Without a key it is by itself; "" is that of what reads it. */
export type LineKey = string | null;

/**
 * Items in an order in which values flow, those of one line together as far as that allows; each run of one line is a list. Nothing where
 * values flow in a circle. Found from the end: what a line alone reads comes right before it.
 */
export function runsByLine(given: LineKey[], { from, to }: Pairs): number[][] {
  const count = given.length;
  const keys = [...given];
  const into = listsByOwner(count, to);
  const readers = new Int32Array(count);
  for (const giver of from) readers[giver]!++;
  const ready = new Map<LineKey, number[]>();
  const add = (item: number) => ready.get(keys[item]!)?.push(item) ?? ready.set(keys[item]!, [item]);
  for (let item = 0; item < count; item++) if (!readers[item]) add(item);
  const order: number[] = [];
  let line: LineKey = null;
  while (ready.size) {
    if (!ready.has(line)) line = latest(ready);
    const waiting = ready.get(line)!;
    const item = waiting.pop()!;
    if (!waiting.length) ready.delete(line);
    order.push(item);
    for (let k = into.start[item]!; k < into.start[item + 1]!; k++) {
      const giver = from[into.at[k]!]!;
      if (--readers[giver]!) continue;
      if (keys[giver] === "") keys[giver] = keys[item]!;
      add(giver);
    }
  }
  return order.length === count ? runs(order.reverse(), keys) : [];
}

function latest(ready: Map<LineKey, number[]>): LineKey {
  let [found, most]: [LineKey, number] = [null, -1];
  for (const [line, items] of ready) if (items.at(-1)! > most) [found, most] = [line, items.at(-1)!];
  return found;
}

function runs(order: number[], keys: LineKey[]): number[][] {
  const found: number[][] = [];
  let before: LineKey = null;
  for (const item of order) {
    const key = keys[item] || null;
    if (key !== null && key === before) found.at(-1)!.push(item);
    else found.push([item]);
    before = key;
  }
  return found;
}
