// What one scope's own level looks like: its children, the values that enter and leave it, and the edges between.
import type { Model } from "./model";

/** An edge of one level: between two of its items, standing for one or more edges of the document. */
export interface LevelEdge {
  from: number; // item of the level
  to: number;
  /** The child of `from` that gives the value when `from` is a scope; else `from`'s own node; -1: any. One source, one line. */
  source: number;
  bytes: number;
  type: string;
  edges: number[]; // indices into model.from/model.to
}

/** One level: a scope's children, then its ports (values that come in from or go out to its surroundings). */
export interface LevelGraph {
  scope: number;
  children: number[]; // node indices
  inPorts: number[]; // the node outside (a sibling of some ancestor) that each in-port stands for
  outPorts: number[]; // the child whose values leave through each out-port
  edges: LevelEdge[];
  results: number[]; // the children that are results
  narrow: boolean; // few side by side: the parts of a tree
}

/** Document edges by the level that draws them: within it, into it, out of it. */
export interface Crossing {
  at: (number[] | undefined)[];
  into: (number[] | undefined)[];
  outOf: (number[] | undefined)[];
}

export function makeLevel(model: Model, { at, into, outOf }: Crossing, scope: number): LevelGraph {
  const level = new LevelMaker(model, scope);
  for (const edge of into[scope] ?? []) level.enter(edge);
  for (const edge of outOf[scope] ?? []) level.leave(edge);
  // of a repeat one block is drawn: what it gets from the one before comes in, what the next one gets goes out
  for (const edge of at[scope] ?? [])
    if (model.isRepeat(scope)) {
      level.enter(edge);
      level.leave(edge);
    } else level.join(edge);
  return level.finish();
}

interface Draft {
  edge: number;
  left: number; // child, or -1 for a port
  right: number;
  port: number; // of the in-ports or the out-ports
}

class LevelMaker {
  private readonly children: number[];
  private readonly drafts: Draft[] = [];
  private readonly inPorts: number[] = [];
  private readonly outPorts: number[] = [];
  private readonly inItem = new Map<number, number>();
  private readonly outItem = new Map<number, number>();

  constructor(
    private readonly model: Model,
    private readonly scope: number,
  ) {
    this.children = model.childrenOf(scope);
  }

  private isDrawn(child: number): boolean {
    return this.children[this.model.slot[child]!] === child;
  }

  enter(edge: number): void {
    const { model, scope, inItem, inPorts } = this;
    const [a, b] = [model.from[edge]!, model.to[edge]!];
    const right = model.within(scope, b);
    if (!this.isDrawn(right)) return;
    const outside = model.within(model.common(a, b), a);
    if (!inItem.has(outside)) inItem.set(outside, inPorts.push(outside) - 1);
    this.drafts.push({ edge, left: -1, right, port: inItem.get(outside)! });
  }

  leave(edge: number): void {
    const { model, scope, outItem, outPorts } = this;
    const left = model.within(scope, model.from[edge]!);
    if (!this.isDrawn(left)) return;
    if (!outItem.has(left)) outItem.set(left, outPorts.push(left) - 1);
    this.drafts.push({ edge, left, right: -1, port: outItem.get(left)! });
  }

  /** A scope may itself be an end of an edge; an edge into one's own scope is drawn at the border only. */
  join(edge: number): void {
    const { model, scope } = this;
    const [left, right] = [model.within(scope, model.from[edge]!), model.within(scope, model.to[edge]!)];
    if (left !== right) this.drafts.push({ edge, left, right, port: -1 });
  }

  finish(): LevelGraph {
    const { model, children, inPorts, outPorts } = this;
    const merged = new Map<string, LevelEdge>();
    for (const { edge, left, right, port } of this.drafts) {
      const from = left < 0 ? children.length + port : model.slot[left]!;
      const to = right < 0 ? children.length + inPorts.length + port : model.slot[right]!;
      const source = left < 0 ? -1 : this.sourceOf(left, model.from[edge]!);
      const key = `${from},${to},${source}`;
      const { bytes, type } = model.document.edges[edge]!;
      const known = merged.get(key);
      if (known) {
        known.edges.push(edge);
        known.bytes = Math.max(known.bytes, bytes);
        if (known.type !== type) known.type = "";
      } else merged.set(key, { from, to, source, bytes, type, edges: [edge] });
    }
    return {
      scope: this.scope,
      children,
      inPorts,
      outPorts,
      edges: [...merged.values()],
      results: children.flatMap((child, i) => (model.node(child).kind === "output" ? [i] : [])),
      narrow: model.node(this.scope)?.what === "tree",
    };
  }

  private sourceOf(item: number, producer: number): number {
    if (this.model.givesOneLine(item)) return -1;
    return item === producer ? item : this.model.within(item, producer);
  }
}
