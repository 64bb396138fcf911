// Which scope holds which node.
import type { ShownNode } from "./hulls";
import type { Work } from "./slices";

export const PIECE = 4000; // items between two yields

export interface Nesting {
  root: number; // one more than the last node
  parent: Int32Array;
  depth: Int32Array;
  children: (number[] | undefined)[];
}

/** The scope of each node; -1 outside of all. */
export function* parentsOf(nodes: ShownNode[], index: Map<string, number>): Work<number[]> {
  const parent: number[] = [];
  for (let i = 0; i < nodes.length; i++) {
    const { scope } = nodes[i]!;
    const at = scope === null ? -1 : (index.get(scope) ?? -1);
    parent.push(at === i ? -1 : at);
    if (i % PIECE === 0) yield;
  }
  for (let i = 0; i < nodes.length; i++) breakCircle(parent, i);
  return parent;
}

/** A document whose scopes contain each other in a circle must not hang the view. */
function breakCircle(parent: number[], start: number): void {
  let steps = 0;
  for (let at = start; at !== -1; at = parent[at]!)
    if (++steps > 1000) {
      parent[start] = -1;
      return;
    }
}

export function* nest(given: number[]): Work<Nesting> {
  const root = given.length;
  const parent = new Int32Array(root + 1).fill(root);
  const depth = new Int32Array(root + 1);
  const children: (number[] | undefined)[] = new Array(root + 1);
  for (let i = 0; i < root; i++) {
    if (given[i]! >= 0) parent[i] = given[i]!;
    (children[parent[i]!] ??= []).push(i);
    if (i % PIECE === 0) yield;
  }
  // from the root downwards, so that a parent's depth is known
  for (const queue = [root]; queue.length; ) {
    const scope = queue.pop()!;
    for (const child of children[scope] ?? []) {
      depth[child] = depth[scope]! + 1;
      if (children[child]) queue.push(child);
    }
    yield;
  }
  return { root, parent, depth, children };
}

/** Calls `meet` for every edge between two children of one scope, at whatever depth its ends are. */
export function meeting(
  { parent, depth }: Nesting,
  a: number,
  b: number,
  meet: (scope: number, left: number, right: number) => void,
): void {
  let [left, right] = [a, b];
  while (left !== right && parent[left] !== parent[right]) {
    if (depth[left]! >= depth[right]!) left = parent[left]!;
    else right = parent[right]!;
  }
  if (left !== right) meet(parent[left]!, left, right);
}
