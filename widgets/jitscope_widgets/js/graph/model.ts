// The hierarchy of a graph document: which scope holds which node, and what each scope's own level looks like.
// All of it is fixed by the document; which scopes are open is kept here too, sizes and places are not.
import type { GraphDoc, GraphNode } from "../documents";
import { withHulls, type ShownNode } from "./hulls";

/** An edge of one level: between two of its items, standing for one or more edges of the document. */
export interface LevelEdge {
  from: number; // item of the level
  to: number;
  /** The child of `from` that gives the value when `from` is a scope; else `from`'s own node. One source, one line. */
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
}

const SMALL = 60;

export class Model {
  readonly nodes: ShownNode[];
  readonly index = new Map<string, number>();
  readonly root: number;
  readonly parent: Int32Array;
  readonly depth: Int32Array;
  readonly slot: Int32Array; // place among the parent's children
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly isOpen: Uint8Array;
  readonly inside: Int32Array; // how many equations or operations a scope holds, at all depths
  private readonly children: (number[] | undefined)[];
  private readonly at: (number[] | undefined)[]; // edges whose lowest common scope this is
  private readonly into: (number[] | undefined)[]; // edges that enter this scope from outside
  private readonly outOf: (number[] | undefined)[];
  private readonly levels = new Map<number, LevelGraph>();

  constructor(readonly document: GraphDoc) {
    this.nodes = withHulls(document.nodes);
    const size = this.nodes.length;
    this.root = size;
    this.parent = new Int32Array(size + 1).fill(size);
    this.depth = new Int32Array(size + 1);
    this.slot = new Int32Array(size + 1);
    this.inside = new Int32Array(size + 1);
    this.isOpen = new Uint8Array(size + 1);
    this.isOpen[size] = 1;
    this.children = new Array(size + 1);
    this.at = new Array(size + 1);
    this.into = new Array(size + 1);
    this.outOf = new Array(size + 1);
    this.from = new Int32Array(document.edges.length);
    this.to = new Int32Array(document.edges.length);
    this.nest();
    this.connect();
    // a small program shows at once what goes together; a big one is easier to read with closed hulls
    if (document.nodes.length <= SMALL)
      for (let i = 0; i < size; i++) if (this.nodes[i]!.kind === "hull") this.isOpen[i] = 1;
  }

  private nest(): void {
    const { nodes, index, parent, root } = this;
    nodes.forEach((node, i) => index.set(node.id, i));
    nodes.forEach((node, i) => {
      const scope = node.scope === null ? root : (index.get(node.scope) ?? root);
      parent[i] = scope === i ? root : scope;
    });
    nodes.forEach((_, i) => this.breakLoop(i));
    nodes.forEach((_, i) => {
      const list = (this.children[parent[i]!] ??= []);
      this.slot[i] = list.length;
      list.push(i);
    });
    // from the root downwards, so that a parent's depth is known
    for (const queue = [root]; queue.length;) {
      const scope = queue.pop()!;
      for (const child of this.children[scope] ?? []) {
        this.depth[child] = this.depth[scope]! + 1;
        if (this.children[child]) queue.push(child);
      }
    }
    nodes.forEach((_, i) => {
      if (!this.isOperation(i)) return;
      for (let scope = parent[i]!; ; scope = parent[scope]!) {
        this.inside[scope]!++;
        if (scope === root) break;
      }
    });
  }

  /** Whether a node is an equation, or an operation of HLO: no input, constant or output, and nothing that only holds others. */
  private isOperation(i: number): boolean {
    const { kind, paths } = this.nodes[i]!;
    if (["hull", "group", "input", "output", "constant"].includes(kind)) return false;
    if (this.document.level === "jaxpr") return kind !== "scope" || paths.length > 0;
    return kind !== "scope" && !this.children[i];
  }

  /** A document whose scopes contain each other in a circle must not hang the view. */
  private breakLoop(start: number): void {
    let steps = 0;
    for (let at = start; at !== this.root; at = this.parent[at]!)
      if (++steps > 1000) {
        this.parent[start] = this.root;
        return;
      }
  }

  private connect(): void {
    let count = 0;
    for (const edge of this.document.edges) {
      const a = this.index.get(edge.from);
      const b = this.index.get(edge.to);
      this.from[count] = a ?? -1;
      this.to[count] = b ?? -1;
      if (a !== undefined && b !== undefined && a !== b) this.place(count, a, b);
      count++;
    }
  }

  /** Notes an edge at its lowest common scope and at every scope border that it crosses. */
  private place(edge: number, a: number, b: number): void {
    const { parent, depth } = this;
    let left = parent[a]!;
    let right = parent[b]!;
    while (left !== right) {
      if (depth[left]! >= depth[right]!) {
        if (left !== b) (this.outOf[left] ??= []).push(edge);
        left = parent[left]!;
      } else {
        if (right !== a) (this.into[right] ??= []).push(edge);
        right = parent[right]!;
      }
    }
    (this.at[left] ??= []).push(edge);
  }

  node(i: number): ShownNode {
    return this.nodes[i]!;
  }

  childrenOf(scope: number): number[] {
    return this.children[scope] ?? [];
  }

  isScope(i: number): boolean {
    return this.children[i] !== undefined;
  }

  open(i: number): boolean {
    return this.isOpen[i] === 1;
  }

  setOpen(i: number, open: boolean): void {
    if (i !== this.root && this.isScope(i)) this.isOpen[i] = open ? 1 : 0;
  }

  /** The child of `scope` that is or contains node `i`. */
  within(scope: number, i: number): number {
    let at = i;
    while (this.parent[at] !== scope) at = this.parent[at]!;
    return at;
  }

  /** The lowest scope that holds both. */
  common(a: number, b: number): number {
    let [left, right] = [this.parent[a]!, this.parent[b]!];
    while (left !== right) {
      if (this.depth[left]! >= this.depth[right]!) left = this.parent[left]!;
      else right = this.parent[right]!;
    }
    return left;
  }

  /** The node that is drawn for `i`: itself, or the outermost closed scope around it. */
  shown(i: number): number {
    let result = i;
    for (let at = this.parent[i]!; at !== this.root; at = this.parent[at]!) if (!this.isOpen[at]) result = at;
    return result;
  }

  /** Every drawn node, outermost first. */
  *visible(scope = this.root): Generator<number> {
    for (const child of this.childrenOf(scope)) {
      yield child;
      if (this.isScope(child) && this.isOpen[child]) yield* this.visible(child);
    }
  }

  level(scope: number): LevelGraph {
    let level = this.levels.get(scope);
    if (!level) this.levels.set(scope, (level = this.makeLevel(scope)));
    return level;
  }

  private makeLevel(scope: number): LevelGraph {
    const children = this.childrenOf(scope);
    const inPorts: number[] = [];
    const outPorts: number[] = [];
    const inItem = new Map<number, number>();
    const outItem = new Map<number, number>();
    const merged = new Map<string, LevelEdge>();
    const add = (edge: number, from: number, to: number, source: number) => {
      const key = `${from},${to},${source}`;
      const { bytes, type } = this.document.edges[edge]!;
      const known = merged.get(key);
      if (known) {
        known.edges.push(edge);
        known.bytes = Math.max(known.bytes, bytes);
        if (known.type !== type) known.type = "";
      } else merged.set(key, { from, to, source, bytes, type, edges: [edge] });
    };
    for (const edge of this.into[scope] ?? []) {
      const [a, b] = [this.from[edge]!, this.to[edge]!];
      const outside = this.within(this.common(a, b), a);
      if (!inItem.has(outside)) inItem.set(outside, inPorts.push(outside) - 1);
    }
    for (const edge of this.outOf[scope] ?? []) {
      const inner = this.within(scope, this.from[edge]!);
      if (!outItem.has(inner)) outItem.set(inner, outPorts.push(inner) - 1);
    }
    const base = children.length;
    for (const edge of this.at[scope] ?? []) {
      const [a, b] = [this.from[edge]!, this.to[edge]!];
      // a scope may itself be an end of an edge; an edge into one's own scope is drawn at the border only
      const [left, right] = [this.within(scope, a), this.within(scope, b)];
      if (left !== right) add(edge, this.slot[left]!, this.slot[right]!, this.sourceOf(left, a));
    }
    for (const edge of this.into[scope] ?? []) {
      const [a, b] = [this.from[edge]!, this.to[edge]!];
      const port = inItem.get(this.within(this.common(a, b), a))!;
      add(edge, base + port, this.slot[this.within(scope, b)]!, -1);
    }
    for (const edge of this.outOf[scope] ?? []) {
      const a = this.from[edge]!;
      const inner = this.within(scope, a);
      add(edge, this.slot[inner]!, base + inPorts.length + outItem.get(inner)!, this.sourceOf(inner, a));
    }
    return { scope, children, inPorts, outPorts, edges: [...merged.values()] };
  }

  private sourceOf(item: number, producer: number): number {
    return item === producer ? item : this.within(item, producer);
  }

  /** Direct producers (or users) of what is drawn as `i`, as drawn nodes. */
  neighbours(i: number, direction: "in" | "out"): number[] {
    const found = new Set<number>();
    for (const edge of this.edgesOf(i, direction)) {
      const other = this.shown(direction === "in" ? this.from[edge]! : this.to[edge]!);
      if (other !== i) found.add(other);
    }
    return [...found];
  }

  private adjacency: { in: (number[] | undefined)[]; out: (number[] | undefined)[] } | null = null;

  /** Document edges into or out of a node; for a scope also those that cross its border. */
  edgesOf(i: number, direction: "in" | "out"): number[] {
    if (!this.adjacency) {
      this.adjacency = { in: new Array(this.root), out: new Array(this.root) };
      for (let e = 0; e < this.from.length; e++) {
        if (this.from[e]! < 0 || this.to[e]! < 0) continue;
        (this.adjacency.out[this.from[e]!] ??= []).push(e);
        (this.adjacency.in[this.to[e]!] ??= []).push(e);
      }
    }
    const own = this.adjacency[direction][i] ?? [];
    const crossing = (direction === "in" ? this.into : this.outOf)[i] ?? [];
    return crossing.length ? [...new Set([...own, ...crossing])] : own;
  }

  get documentNodes(): GraphNode[] {
    return this.document.nodes;
  }
}
