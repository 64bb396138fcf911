// Where everything stands: one LevelLayout per open scope, sizes bubbling up from inner levels to outer ones.
import { LevelLayout } from "./level";
import type { Model } from "./model";
import { FRAME, type Placed, type Shape } from "./placing";
import type { Work } from "./slices";

export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

export type Measure = (node: number) => { w: number; h: number };

/** A box without an inside: lines enter and leave anywhere. */
class Closed implements Shape {
  constructor(
    readonly w: number,
    readonly h: number,
  ) {}
  inAt(): null {
    return null;
  }
  outAt(): null {
    return null;
  }
}

export class Layout {
  version = 0; // another one, another picture
  private readonly levels = new Map<number, LevelLayout>();
  private readonly placed = new Map<number, Placed>();
  private readonly closed = new Map<number, Closed>();

  constructor(
    readonly model: Model,
    private readonly measure: Measure,
  ) {}

  structure(scope: number): LevelLayout {
    const graph = this.model.level(scope);
    let level = this.levels.get(scope);
    if (level?.level !== graph) {
      const { root, parent, slot } = this.model;
      const arriving = scope === root ? [] : this.structure(parent[scope]!).arrivingAt(slot[scope]!);
      this.levels.set(scope, (level = new LevelLayout(graph, arriving)));
    }
    return level;
  }

  level(scope: number): Placed {
    let placed = this.placed.get(scope);
    if (!placed) {
      const structure = this.structure(scope);
      const shapes = structure.level.children.map((child) => this.shape(child));
      this.placed.set(scope, (placed = structure.place(shapes)));
    }
    return placed;
  }

  /** All that is drawn, in pieces: the boxes' sizes, then the levels, inner ones first. */
  *work(): Work<void> {
    const scopes = [this.model.root];
    for (const node of this.model.visible()) {
      this.closedSize(node);
      if (this.isFrame(node)) scopes.push(node);
      yield;
    }
    for (const scope of scopes) {
      this.structure(scope);
      yield;
    }
    for (const scope of scopes.reverse()) {
      this.level(scope);
      yield;
    }
  }

  private isFrame(node: number): boolean {
    return this.model.isScope(node) && this.model.open(node);
  }

  private closedSize(node: number): Closed {
    let shape = this.closed.get(node);
    if (!shape) {
      const { w, h } = this.measure(node);
      this.closed.set(node, (shape = new Closed(w, h)));
    }
    return shape;
  }

  private shape(node: number): Shape {
    if (!this.isFrame(node)) return this.closedSize(node);
    const inner = this.level(node);
    const graph = this.structure(node).level;
    const base = graph.children.length;
    const left = this.frameInset(node, inner);
    const port = (i: number, first: number) => (i < 0 ? null : left + inner.x[first + i]! + 1);
    return {
      w: this.frameWidth(node, inner),
      h: inner.h + FRAME.header + FRAME.bottom,
      inAt: (outside) => port(graph.inPorts.indexOf(outside), base),
      outAt: (source) =>
        port(
          this.model.isRepeat(node) ? Math.min(graph.outPorts.length, 1) - 1 : graph.outPorts.indexOf(source),
          base + graph.inPorts.length,
        ),
    };
  }

  private frameWidth(node: number, inner: Placed): number {
    return Math.max(inner.w + 2 * FRAME.pad, this.closedSize(node).w + 12);
  }

  private frameInset(node: number, inner: Placed): number {
    return (this.frameWidth(node, inner) - inner.w) / 2;
  }

  /** Where the inside of an open scope starts, seen from the scope's own corner. */
  inset(node: number): { x: number; y: number } {
    if (node === this.model.root) return { x: 0, y: 0 };
    return { x: this.frameInset(node, this.level(node)), y: FRAME.header };
  }

  /** A scope was opened or closed: it and everything around it must be placed anew. */
  changed(node: number): void {
    this.version++;
    for (let at = node; ; at = this.model.parent[at]!) {
      this.placed.delete(at);
      if (at === this.model.root) return;
    }
  }

  allChanged(): void {
    this.version++;
    this.placed.clear();
  }

  /** Another font: every box has another size. */
  remeasure(): void {
    this.closed.clear();
    this.allChanged();
  }

  /** The middle, from left to right, of the first `h` of the picture: where most of the outermost joined boxes are, or where a window
   * `w` wide tells more than there. An operation tells twice as much as an argument; a name that the left edge cuts is lost, that of a
   * frame in part. */
  middle(w: number, h: number): number {
    const seen: { rect: Rect; frame: boolean; worth: number }[] = [];
    for (const node of this.model.visible()) {
      const rect = this.rect(node);
      const frame = this.isFrame(node);
      const { kind, what } = this.model.node(node);
      const given = kind === "input" || kind === "output" || kind === "constant" || what === "tree";
      if (rect.y + (frame ? 0 : rect.h) < h) seen.push({ rect, frame, worth: frame ? 0.5 : given ? 1 : 2 });
    }
    const inside = (left: number) =>
      seen.filter(({ rect, frame }) => !frame && rect.x >= left && rect.x + rect.w <= left + w);
    const cut = (left: number) => seen.filter(({ rect }) => rect.x < left && rect.x + rect.w > left);
    const worth = (left: number) => sum(inside(left)) - sum(cut(left));
    let found = this.outermost(h);
    let best = worth(found - w / 2);
    for (const { rect } of seen) {
      const held = inside(rect.x);
      const here = worth(rect.x);
      if (!held.length || here <= best) continue;
      best = here;
      found = (rect.x + Math.max(...held.map((one) => one.rect.x + one.rect.w))) / 2;
    }
    return found;
  }

  /** How much of the picture is empty, from its top, between a left and a right. */
  above(left: number, right: number): number {
    let [first, all] = [Infinity, Infinity];
    for (const node of this.model.visible()) {
      const { x, y, w } = this.rect(node);
      all = Math.min(all, y);
      const seen = Math.min(x + w, right) - Math.max(x, left);
      if (seen > 0 && (this.isFrame(node) || seen > w / 2)) first = Math.min(first, y);
    }
    return first < Infinity ? first - all : 0;
  }

  private outermost(height: number): number {
    const { root } = this.model;
    const placed = this.level(root);
    const { segments } = this.structure(root).chains;
    const joined = new Set(segments.flatMap(({ up, down }) => [up, down]));
    const centres = this.model
      .childrenOf(root)
      .flatMap((_, i) => (joined.has(i) && placed.y[i]! < height ? [placed.x[i]! + placed.childW[i]! / 2] : []));
    return centres.length ? centres.reduce((sum, x) => sum + x, 0) / centres.length : placed.w / 2;
  }

  size(): { w: number; h: number } {
    const { w, h } = this.level(this.model.root);
    return { w, h };
  }

  /** The box of a drawn node in the coordinates of the whole picture. */
  rect(node: number): Rect {
    const { parent, slot, root } = this.model;
    const own = this.level(parent[node]!);
    const i = slot[node]!;
    const result = { x: own.x[i]!, y: own.y[i]!, w: own.childW[i]!, h: own.childH[i]! };
    for (let at = parent[node]!; at !== root; at = parent[at]!) {
      const outer = this.level(parent[at]!);
      const inset = this.inset(at);
      result.x += outer.x[slot[at]!]! + inset.x;
      result.y += outer.y[slot[at]!]! + inset.y;
    }
    return result;
  }

  /** The innermost drawn node at a point, and whether the point is in the header of an open scope. */
  hit(px: number, py: number): number | null {
    return this.hitIn(this.model.root, px, py);
  }

  private hitIn(scope: number, px: number, py: number): number | null {
    const placed = this.level(scope);
    const rows = this.structure(scope).ordered.rows;
    const children = this.structure(scope).level.children;
    for (let r = 0; r < rows.length; r++) {
      if (py < placed.rowTop[r]! || py > placed.rowBottom[r]!) continue;
      for (const item of rows[r]!) {
        if (item >= children.length) continue;
        const dx = px - placed.x[item]!;
        const dy = py - placed.y[item]!;
        if (dx < 0 || dy < 0 || dx > placed.childW[item]! || dy > placed.childH[item]!) continue;
        const node = children[item]!;
        if (!this.isFrame(node)) return node;
        const inset = this.inset(node);
        return this.hitIn(node, dx - inset.x, dy - inset.y) ?? node;
      }
    }
    return null;
  }
}

const sum = (seen: { worth: number }[]): number => seen.reduce((whole, { worth }) => whole + worth, 0);
