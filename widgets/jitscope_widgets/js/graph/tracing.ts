// What a value depends on, what depends on it, and the ways from one node to another. Scopes count as all that is in them.
import type { Model } from "./model";

export type Way = "producers" | "users";

export interface Traced {
  nodes: Set<number>; // nodes of the document, at every depth, the ends included
  edges: Set<number>; // edges of the document
}

/** Everything inside a node, or the node itself. */
function* leavesOf(model: Model, i: number): Generator<number> {
  yield i;
  for (const child of model.allChildrenOf(i)) yield* leavesOf(model, child);
}

/** All producers (or users) of a node, through any number of steps. */
export function reach(model: Model, start: number, way: Way): Traced {
  const direction = way === "producers" ? "in" : "out";
  const other = way === "producers" ? model.from : model.to;
  const begin = new Set(leavesOf(model, start));
  const nodes = new Set(begin);
  const edges = new Set<number>();
  const queue = [...begin];
  for (let k = 0; k < queue.length; k++)
    for (const edge of model.ownEdges(queue[k]!, direction)) {
      const next = other[edge]!;
      // inside the scope that was asked for, its own edges are no news
      if (begin.has(next) && begin.has(queue[k]!)) continue;
      edges.add(edge);
      // a value that a scope itself takes (the index of a cond) reaches all in it
      for (const node of way === "users" ? leavesOf(model, next) : withScopes(model, next)) {
        if (nodes.has(node)) continue;
        nodes.add(node);
        queue.push(node);
      }
    }
  return { nodes, edges };
}

/** A node and the scopes around it: what these take decides about it too. */
function* withScopes(model: Model, i: number): Generator<number> {
  for (let at = i; at !== model.root; at = model.parent[at]!) yield at;
}

/** All ways from one node to another, in whichever direction values flow; null when there is none. */
export function between(model: Model, one: number, other: number): (Traced & { from: number; to: number }) | null {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    const down = reach(model, from, "users");
    const ends = [...leavesOf(model, to)];
    if (from === to || !ends.some((end) => down.nodes.has(end))) continue;
    const up = reach(model, to, "producers");
    const both = <T>(a: Set<T>, b: Set<T>) => new Set([...a].filter((x) => b.has(x)));
    const nodes = both(down.nodes, up.nodes);
    for (const end of [from, to]) nodes.add(end);
    return { nodes, edges: both(down.edges, up.edges), from, to };
  }
  return null;
}

/** The drawn nodes that stand for what was traced, and the open scopes round them. */
export function drawnOf(model: Model, { nodes }: Traced): Set<number> {
  const drawn = new Set<number>();
  for (const node of nodes)
    for (let at = model.shown(node); at !== model.root && !drawn.has(at); at = model.parent[at]!) drawn.add(at);
  return drawn;
}
