// The keys of a graph. Down and Up follow the data; Left and Right go to the neighbour in the row.
import { valuesAt } from "./edgepick";
import type { Way } from "./tracing";
import type { GraphView } from "./view";

export const KEYS: [string, string][] = [
  ["↓ ↑", "follow an edge to the next user or producer"],
  ["← →", "the neighbour to the left or right"],
  ["Enter", "open or close a scope"],
  ["[  ]", "the previous block of a repeat, the next one"],
  ["e  E", "the values that leave and enter a node, one after the other"],
  ["p  u", "all producers of a value, all its users"],
  ["m", "mark a node; m on another: the paths between them"],
  ["Esc", "back: leave the scope, then the selection"],
  ["/", "search"],
  ["n  N", "next, previous match"],
  ["+  −  0", "larger, smaller, everything in view"],
  ["Shift + arrows", "move the picture"],
  ["Home  End", "first and last operation"],
  ["?", "this list"],
];

const PAN = 60;

export class Keyboard {
  constructor(private readonly graph: GraphView) {}

  press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.shiftKey && this.panned(event.key)) {
      this.taken(event);
      return;
    }
    const action = this.actions[event.key];
    if (action && action() !== false) this.taken(event);
  }

  private taken(event: KeyboardEvent): void {
    event.preventDefault();
    event.stopPropagation(); // the notebook has its own meaning for these keys
  }

  private panned(key: string): boolean {
    const by: Record<string, [number, number]> = {
      ArrowLeft: [PAN, 0],
      ArrowRight: [-PAN, 0],
      ArrowUp: [0, PAN],
      ArrowDown: [0, -PAN],
    };
    if (!by[key]) return false;
    this.graph.pan(...by[key]);
    return true;
  }

  private readonly actions: Record<string, () => unknown> = {
    ArrowDown: () => this.follow("out"),
    ArrowUp: () => this.follow("in"),
    ArrowLeft: () => this.beside(-1),
    ArrowRight: () => this.beside(1),
    Home: () => this.go(this.inReadingOrder()[0]),
    End: () => this.go(this.inReadingOrder().at(-1)),
    Enter: () => this.enter(),
    " ": () => this.enter(),
    Escape: () => this.back(),
    "[": () => this.step(-1),
    "]": () => this.step(1),
    e: () => this.value(1),
    E: () => this.value(-1),
    p: () => this.trace("producers"),
    u: () => this.trace("users"),
    m: () => this.mark(),
    "/": () => this.graph.options.search?.(),
    n: () => void this.graph.api.nextHit(1),
    N: () => void this.graph.api.nextHit(-1),
    "+": () => this.graph.zoom(1.25),
    "=": () => this.graph.zoom(1.25),
    "-": () => this.graph.zoom(0.8),
    "0": () => this.graph.fit(),
    "?": () => this.graph.options.help?.(),
  };

  private get at(): number | null {
    return this.graph.marks.focus;
  }

  private go(node: number | undefined): void {
    if (node !== undefined) this.graph.walk(node);
  }

  private inReadingOrder(): number[] {
    const { model, layout } = this.graph;
    const nodes: [number, number, number][] = [];
    for (const node of model.visible()) {
      const { x, y } = layout.rect(node);
      nodes.push([y, x, node]);
      if (nodes.length > 5000) break;
    }
    return nodes.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , node]) => node);
  }

  private centre(node: number): number {
    const rect = this.graph.layout.rect(node);
    return rect.x + rect.w / 2;
  }

  private follow(direction: "in" | "out"): void {
    const { model } = this.graph;
    if (this.at === null) return;
    // into an open scope from its frame, and out of it again
    if (direction === "out" && model.isScope(this.at) && model.open(this.at)) {
      this.go(this.topmost(this.at));
      return;
    }
    const near = model.neighbours(this.at, direction).filter((node) => !this.holds(node, this.at!));
    if (near.length) {
      const here = this.centre(this.at);
      near.sort((a, b) => Math.abs(this.centre(a) - here) - Math.abs(this.centre(b) - here));
      this.go(near[0]);
      return;
    }
    const parent = model.parent[this.at]!;
    if (direction === "in" && parent !== model.root) this.go(parent);
  }

  private holds(scope: number, node: number): boolean {
    const { model } = this.graph;
    for (let at = model.parent[node]!; at !== model.root; at = model.parent[at]!) if (at === scope) return true;
    return false;
  }

  private topmost(scope: number): number | undefined {
    const { model, layout } = this.graph;
    const { y } = layout.level(scope);
    const children = model.childrenOf(scope);
    if (model.isRepeat(scope)) return this.topmost(model.childrenOf(scope)[0]!);
    let best: number | undefined;
    children.forEach((child, i) => {
      if (best === undefined || y[i]! < y[model.slot[best]!]!) best = child;
    });
    return best;
  }

  /** The nearest node to one side in the same row of the same scope. */
  private beside(step: -1 | 1): void {
    if (this.at === null) return;
    const { model, layout } = this.graph;
    const scope = model.parent[this.at]!;
    const { chains, ordered, level } = layout.structure(scope);
    const row = ordered.rows[chains.rank[model.slot[this.at]!]!]!.filter((item) => item < level.children.length);
    const next = row[row.indexOf(model.slot[this.at]!) + step];
    if (next !== undefined) this.go(level.children[next]);
  }

  private enter(): void {
    if (this.at === null) return;
    const { model } = this.graph;
    this.graph.options.pick(model.node(this.at).id);
    if (model.isScope(this.at)) this.graph.toggle(this.at);
  }

  /** The repeat that the focus is in, or on. */
  private step(by: -1 | 1): boolean {
    const { model } = this.graph;
    for (let at = this.at ?? model.root; at !== model.root; at = model.parent[at]!)
      if (model.isRepeat(at) && model.open(at)) {
        this.graph.step(at, by);
        return true;
      }
    return false;
  }

  private trace(way: Way): void {
    if (this.at === null) return;
    this.graph.options.pick(this.graph.model.node(this.at).id);
    this.graph.trace.follow(way);
  }

  private lastValue: { node: number; at: number } | null = null;

  /** Picks the next value that leaves or enters the node. */
  private value(by: 1 | -1): void {
    const { at, graph } = this;
    if (at === null) return;
    const values = valuesAt(graph, at);
    if (!values.length) return;
    const before = this.lastValue?.node === at ? this.lastValue.at : by > 0 ? -1 : 0;
    this.lastValue = { node: at, at: (before + by + values.length) % values.length };
    const edges = values[this.lastValue.at]!;
    graph.options.pick(edges[0]!.from, edges);
  }

  private marked: number | null = null;

  private mark(): void {
    const { model, options, trace } = this.graph;
    const [one, other] = [this.marked, this.at];
    if (other === null) return;
    this.marked = one === null ? other : null;
    options.pick(model.node(one ?? other).id);
    if (one !== null) trace.path(other);
  }

  private back(): unknown {
    const { model, marks, options, trace } = this.graph;
    this.graph.hover(null);
    this.marked = null;
    if (trace.clear()) return true;
    const scope = this.at === null ? model.root : model.parent[this.at]!;
    if (scope !== model.root) return this.go(scope);
    if (marks.selected !== null || marks.related.size || marks.hits.size) return options.back?.();
    return false;
  }
}
