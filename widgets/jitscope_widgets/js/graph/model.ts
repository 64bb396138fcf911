// The hierarchy of a graph document: which scope holds which node, and what each scope's own level looks like.
// All of it is fixed by the document; which scopes are open is kept here too, sizes and places are not.
import type { GraphDoc } from "../documents";
import { listsByOwner, type Lists } from "./csr";
import { foldBigLevels } from "./folds";
import { withHulls, type ShownNode } from "./hulls";
import type { WrittenAt } from "./linefolds";
import { makeLevel, type Crossing, type LevelGraph } from "./levels";
import { parentsOf, PIECE } from "./nesting";
import { atOnce, type Work } from "./slices";

export type { LevelEdge, LevelGraph } from "./levels";

/** A closed scope that gives more values than this has one line for all of them. */
const MOST_LINES = 3;
const NO_OPERATION = new Set(["hull", "fold", "group", "input", "output", "constant"]);

export class Model {
  readonly nodes: ShownNode[];
  readonly index = new Map<string, number>();
  root = 0;
  parent = new Int32Array();
  depth = new Int32Array();
  slot = new Int32Array(); // place in the parent's level
  readonly from: Int32Array; // of each edge of the document; -1 where an end is unknown or both are one
  readonly to: Int32Array;
  isOpen = new Uint8Array();
  inside = new Int32Array(); // how many equations or operations a scope holds, at all depths
  /** The share of the measured time that a node took; "" where nothing was measured. */
  shareText: (i: number) => string = () => "";
  private children: (number[] | undefined)[] = [];
  private crossing: Crossing = { at: [], into: [], outOf: [] };
  private readonly chosen = new Map<number, number>(); // repeat → which of its blocks is drawn
  private readonly sources = new Map<number, boolean>();
  private readonly levels = new Map<number, LevelGraph>();

  /** The model of a document; as work in pieces: `Model.work`. */
  static of(document: GraphDoc, writtenAt?: WrittenAt): Model {
    return atOnce(Model.work(document, writtenAt));
  }

  static *work(document: GraphDoc, writtenAt: WrittenAt = () => null): Work<Model> {
    const model = new Model(document);
    yield* model.build(writtenAt);
    return model;
  }

  /** Whether values flowed along some edges that no longer do. */
  readonly hasGone: boolean;

  private constructor(readonly document: GraphDoc) {
    this.hasGone = document.edges.some(({ gone }) => gone);
    const nodes = withHulls(document.nodes);
    this.nodes = nodes === document.nodes ? [...nodes] : nodes;
    this.from = new Int32Array(document.edges.length);
    this.to = new Int32Array(document.edges.length);
  }

  private *build(writtenAt: WrittenAt): Work<void> {
    const { nodes, index, from, to } = this;
    for (let i = 0; i < nodes.length; i++) {
      index.set(nodes[i]!.id, i);
      if (i % PIECE === 0) yield;
    }
    for (let e = 0; e < from.length; e++) {
      const edge = this.document.edges[e]!;
      const [a, b] = [index.get(edge.from), index.get(edge.to)];
      const known = a !== undefined && b !== undefined && a !== b;
      from[e] = known ? a : -1;
      to[e] = known ? b : -1;
      if (e % PIECE === 0) yield;
    }
    const known = nodes.length;
    const parent = yield* parentsOf(nodes, index);
    const nesting = yield* foldBigLevels(nodes, parent, from, to, writtenAt);
    for (let i = known; i < nodes.length; i++) index.set(nodes[i]!.id, i);
    Object.assign(this, nesting);
    this.isOpen = new Uint8Array(this.root + 1);
    this.isOpen[this.root] = 1;
    yield* this.count();
    yield* this.connect();
  }

  /** Slots, and how much each scope holds. */
  private *count(): Work<void> {
    const { root, parent, nodes } = this;
    this.slot = new Int32Array(root + 1);
    this.inside = new Int32Array(root + 1);
    for (let scope = 0; scope <= root; scope++) {
      // all blocks of a repeat have the one place that is drawn
      if (!this.isRepeat(scope)) this.children[scope]?.forEach((child, i) => void (this.slot[child] = i));
      else for (const block of this.children[scope]!) this.isOpen[block] = 1;
      if (scope % PIECE === 0) yield;
    }
    for (let i = 0; i < nodes.length; i++) {
      if (i % PIECE === 0) yield;
      if (!this.isOperation(i)) continue;
      const weight = this.document.level === "jaxpr" ? Math.max(1, nodes[i]!.paths.length) : 1;
      for (let scope = parent[i]!; ; scope = parent[scope]!) {
        this.inside[scope]! += weight;
        if (scope === root) break;
      }
    }
  }

  /** Whether a node is an equation, or an operation of HLO: no input, constant or output, and nothing that only holds others. */
  isOperation(i: number): boolean {
    const { kind, paths } = this.nodes[i]!;
    if (NO_OPERATION.has(kind)) return false;
    if (this.document.level === "jaxpr") return kind !== "scope" || paths.length > 0;
    return kind !== "scope" && !this.children[i];
  }

  private *connect(): Work<void> {
    const size = this.root + 1;
    this.crossing = { at: new Array(size), into: new Array(size), outOf: new Array(size) };
    for (let e = 0; e < this.from.length; e++) {
      if (this.from[e]! >= 0) this.place(e, this.from[e]!, this.to[e]!);
      if (e % PIECE === 0) yield;
    }
  }

  /** Notes an edge at its lowest common scope and at every scope border that it crosses. */
  private place(edge: number, a: number, b: number): void {
    const { parent, depth } = this;
    const { at, into, outOf } = this.crossing;
    let left = parent[a]!;
    let right = parent[b]!;
    while (left !== right) {
      if (depth[left]! >= depth[right]!) {
        if (left !== b) (outOf[left] ??= []).push(edge);
        left = parent[left]!;
      } else {
        if (right !== a) (into[right] ??= []).push(edge);
        right = parent[right]!;
      }
    }
    (at[left] ??= []).push(edge);
  }

  node(i: number): ShownNode {
    return this.nodes[i]!;
  }

  /** What is drawn inside a scope: its children; of a repeat the one block that was chosen. */
  childrenOf(scope: number): number[] {
    const all = this.children[scope] ?? [];
    return this.isRepeat(scope) ? all.slice(this.blockOf(scope), this.blockOf(scope) + 1) : all;
  }

  allChildrenOf(scope: number): number[] {
    return this.children[scope] ?? [];
  }

  isScope(i: number): boolean {
    return this.children[i] !== undefined;
  }

  open(i: number): boolean {
    return this.isOpen[i] === 1;
  }

  setOpen(i: number, open: boolean): void {
    if (i === this.root || !this.isScope(i) || this.isBlock(i)) return;
    if (this.isOpen[i] !== Number(open) && this.givesMany(i)) this.levels.delete(this.parent[i]!);
    this.isOpen[i] = open ? 1 : 0;
  }

  // repeats

  isRepeat(i: number): boolean {
    return this.nodes[i]?.what === "repeat" && this.children[i] !== undefined;
  }

  /** Is it one of the equal blocks of a repeat? It has no frame of its own. */
  isBlock(i: number): boolean {
    return i !== this.root && this.isRepeat(this.parent[i]!);
  }

  /** Which block of a repeat is drawn, from 0. */
  blockOf(repeat: number): number {
    return this.chosen.get(repeat) ?? 0;
  }

  chooseBlock(repeat: number, block: number): void {
    const last = this.children[repeat]!.length - 1;
    this.chosen.set(repeat, Math.min(last, Math.max(0, block)));
    this.levels.delete(repeat);
  }

  /** Is it a block of an open or closed repeat that draws another one? */
  isHidden(i: number): boolean {
    return this.isBlock(i) && this.children[this.parent[i]!]![this.blockOf(this.parent[i]!)] !== i;
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

  /** The node that is drawn for `i`: itself, or the outermost scope around it that is closed or draws another block. */
  shown(i: number): number {
    let result = i;
    for (let at = i; at !== this.root; at = this.parent[at]!) {
      const scope = this.parent[at]!;
      if (scope !== this.root && (!this.isOpen[scope] || this.isHidden(at))) result = scope;
    }
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
    if (!level) this.levels.set(scope, (level = makeLevel(this, this.crossing, scope)));
    return level;
  }

  /** Does one line stand for all values of this scope? Of a repeat: it does not matter from which block they come. */
  givesOneLine(i: number): boolean {
    return this.isRepeat(i) || (!this.isOpen[i] && this.givesMany(i));
  }

  private givesMany(i: number): boolean {
    let many = this.sources.get(i);
    if (many === undefined) {
      const found = new Set<number>();
      for (const edge of this.crossing.outOf[i] ?? []) {
        found.add(this.within(i, this.from[edge]!));
        if (found.size > MOST_LINES) break;
      }
      this.sources.set(i, (many = found.size > MOST_LINES));
    }
    return many;
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

  private adjacency: { in: Lists; out: Lists } | null = null;

  /** Edges of the document that end (or start) at a node itself. */
  ownEdges(i: number, direction: "in" | "out"): Int32Array {
    this.adjacency ??= { in: listsByOwner(this.root, this.to), out: listsByOwner(this.root, this.from) };
    const { start, at } = this.adjacency[direction];
    return at.subarray(start[i]!, start[i + 1]!);
  }

  /** The same; for a scope also those that cross its border. */
  edgesOf(i: number, direction: "in" | "out"): number[] {
    const crossing = (direction === "in" ? this.crossing.into : this.crossing.outOf)[i] ?? [];
    return [...new Set([...this.ownEdges(i, direction), ...crossing])];
  }
}
