// Two compared programs as one graph between the code of both: what both have stands in it once, the rest is marked.
import type { ComparisonDoc, GraphDoc, Host, SourceDoc } from "./documents";
import { h, plural } from "./dom";
import { detailsPane } from "./details";
import { openGraph, type OpenGraph } from "./graph/opengraph";
import type { GraphView } from "./graph/view";
import { Help } from "./help";
import { Links, Selection, type Selected } from "./links";
import { say, TABLES } from "./sentences";
import { sourcePane } from "./source";

type Joint = NonNullable<ComparisonDoc["joint"]>;
type Mark = keyof (typeof TABLES)["compared equations"];

/** The code of both as one document, in which lines of all files are told apart, and the call that each program begins with. */
export function together({ a, b }: Joint["sources"]): { source: SourceDoc | null; roots: { a: number | null; b: number | null } } {
  if (!a || !b) return { source: a ?? b, roots: { a: a && 0, b: b && 0 } };
  const [functions, calls] = [a.functions.length, a.calls.length];
  const moved = b.calls.map((call) => ({ ...call, function: call.function + functions, parent: call.parent === null ? null : call.parent + calls }));
  const marks = b.marks.map((mark) => ({ ...mark, call: mark.call + calls }));
  return {
    source: { ...a, functions: [...a.functions, ...b.functions], calls: [...a.calls, ...moved], marks: [...a.marks, ...marks] },
    roots: { a: 0, b: calls },
  };
}

/** The call in which a program differs most from the other one: by equations that it has alone; else by those that read other operands;
 * else by those next to what the other one has alone. */
export function changedCall({ marks }: SourceDoc, { nodes, edges }: GraphDoc): number {
  const [own, rewired] = [(mark?: string) => mark && mark !== "rewired", (mark?: string) => mark === "rewired"].map(
    (wanted) => new Set(nodes.flatMap(({ id, mark }) => (wanted(mark) ? [id] : []))),
  ) as [Set<string>, Set<string>];
  const beside = new Set(edges.flatMap(({ from, to }) => (own.has(from) || own.has(to) ? [from, to] : [])));
  for (const wanted of [own, rewired, beside]) {
    const counts = new Map<number, number>();
    for (const { call, nodes: ids } of marks) counts.set(call, (counts.get(call) ?? 0) + ids.filter((id) => wanted.has(id)).length);
    const [call, count] = [...counts].reduce((most, one) => (one[1] > most[1] ? one : most), [0, 0]);
    if (count) return call;
  }
  return 0;
}

export class JointView {
  readonly element: HTMLElement;
  graph: GraphView | null = null;
  private readonly opened: OpenGraph;
  private readonly document: GraphDoc;
  private readonly selection = new Selection();
  private readonly links: Links;

  constructor({ graph, left_out: left, sources }: Joint, titles: { a: string; b: string }, host: Host, root: HTMLElement) {
    const { source, roots } = together(sources);
    const { selection } = this;
    const links = (this.links = new Links(source, graph));
    this.document = graph;
    this.opened = openGraph(
      graph,
      {
        root,
        lines: links,
        help: () => new Help(root).show(),
        back: () => selection.clear(),
        pick: (id, edges) => (id === null ? selection.clear() : selection.set({ ...links.fromNode(graph, "jaxpr", id), edges })),
      },
      (made) => {
        this.graph = made;
        made.openMarked();
        made.element.style.setProperty("--height", `${Math.min(made.wishedHeight(), 560)}px`);
        this.mark();
      },
    );
    const code = (side: "a" | "b") => {
      const start = roots[side];
      if (start === null) return null;
      const first = changedCall(sources[side]!, graph);
      const title = h("h4", {}, `${side.toUpperCase()}: ${titles[side]}`);
      return h("div", { class: "jitscope-joint-code" }, title, sourcePane(source!, links, selection, start, start + first).element);
    };
    const marks = new Set(graph.nodes.map(({ mark }) => mark));
    const signs = Object.entries(TABLES["compared equations"]).filter(([mark]) => marks.has(mark as Mark));
    const derived = (["jvp", "transpose"] as const).filter((one) => graph.nodes.some(({ transforms }) => transforms?.includes(one)));
    this.element = h(
      "div",
      { class: "jitscope-joint" },
      h("div", { class: "jitscope-joint-codes" }, code("a"), code("b")),
      h("div", { class: "jitscope-graph-place" }, this.opened.element),
      h(
        "p",
        { class: "jitscope-joint-legend jitscope-muted" },
        ...signs.map(([mark, [sign, said]]) => h("span", { class: "jitscope-pass-mark", "data-kind": mark }, `${sign} ${said}`)),
        h("span", {}, say("of both")),
        graph.edges.some(({ gone }) => gone) ? h("span", {}, "dashed lines: how values flow in A alone") : null,
        ...derived.map((one) => h("span", {}, TABLES.transforms[one].join(" "))),
        left ? h("span", {}, say("only changes", { count: plural(left, "equation") })) : null,
      ),
      detailsPane({ host, links, compilation: null, graphs: { jaxpr: graph } }, selection),
    );
    selection.onChange(() => this.mark());
    selection.onChange((selected) => this.inBoth(selected)); // last: it selects anew
  }

  /** What both programs have is selected in the code of both. */
  private inBoth(selected: Selected): void {
    const nodes = this.document.nodes.filter(({ id }) => selected.paths.has(id));
    const lines = new Set([...selected.lines, ...nodes.flatMap((node) => this.links.linesOf(node))]);
    if (lines.size > selected.lines.size) this.selection.set({ ...selected, lines });
  }

  private mark(): void {
    const { current } = this.selection;
    this.graph?.mark(current.node?.id ?? null, this.links.related(this.document, current), current.edges);
  }

  dispose(): void {
    this.opened.dispose();
  }
}
