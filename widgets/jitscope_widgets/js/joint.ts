// Two compared programs as one graph between the code of both: what both have stands in it once, the rest is marked.
import type { GraphDoc, Host, SourceDoc } from "./documents";
import { h } from "./dom";
import { detailsPane } from "./details";
import { openGraph, type OpenGraph } from "./graph/opengraph";
import type { GraphView } from "./graph/view";
import { Help } from "./help";
import { Links, Selection, type Selected } from "./links";
import type { Graph } from "./parts/forms";
import { sourcePane } from "./source";

/** The code of several programs as one document, in which lines of all files are told apart, and the call that each begins with. */
export function together(sources: SourceDoc[]): { source: SourceDoc | null; roots: number[] } {
  const roots: number[] = [];
  const [first, ...others] = sources;
  if (!first) return { source: null, roots };
  const [functions, calls, marks] = [[...first.functions], [...first.calls], [...first.marks]];
  roots.push(0);
  for (const one of others) {
    const [at, from] = [functions.length, calls.length];
    roots.push(from);
    functions.push(...one.functions);
    calls.push(
      ...one.calls.map((call) => ({
        ...call,
        function: call.function + at,
        parent: call.parent === null ? null : call.parent + from,
      })),
    );
    marks.push(...one.marks.map((mark) => ({ ...mark, call: mark.call + from })));
  }
  return { source: { ...first, functions, calls, marks }, roots };
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
    for (const { call, nodes: ids } of marks)
      counts.set(call, (counts.get(call) ?? 0) + ids.filter((id) => wanted.has(id)).length);
    const [call, count] = [...counts].reduce((most, one) => (one[1] > most[1] ? one : most), [0, 0]);
    if (count) return call;
  }
  return 0;
}

/** The lines of the second program that have most in common with one of the first, with that one; `placeOf` tells lines of all files apart. */
export function counterparts(
  [one, other]: SourceDoc[],
  [from, to]: number[],
  placeOf: (call: number, line: number) => number,
): Map<number, number> {
  const linesOf = ({ marks }: SourceDoc, at: number) => {
    const found = new Map<string, Set<number>>();
    for (const { call, line, nodes } of marks)
      for (const id of nodes) found.set(id, (found.get(id) ?? new Set()).add(placeOf(call + at, line)));
    return found;
  };
  const alike = new Map<number, number>();
  if (!one || !other) return alike;
  const [before, after] = [linesOf(one, from!), linesOf(other, to!)];
  const votes = new Map<string, [number, number, number]>();
  for (const [id, lines] of after)
    for (const line of lines)
      for (const was of before.get(id) ?? []) {
        const known = votes.get(`${was} ${line}`) ?? [was, line, 0];
        votes.set(`${was} ${line}`, [was, line, known[2] + 1]);
      }
  const taken = new Set<number>();
  for (const [was, line] of [...votes.values()].sort((a, b) => b[2] - a[2])) {
    if (alike.has(line) || taken.has(was)) continue;
    taken.add(was);
    if (was !== line) alike.set(line, was);
  }
  return alike;
}

export class JointView {
  readonly element: HTMLElement;
  graph: GraphView | null = null;
  private readonly opened: OpenGraph;
  private readonly document: GraphDoc;
  private readonly selection = new Selection();
  private readonly links: Links;

  constructor(
    { document: graph, codes = [], legend = [], notes = [], height = 560 }: Graph,
    host: Host,
    root: HTMLElement,
  ) {
    const sources = codes.map(([, source]) => source);
    const { source, roots } = together(sources);
    const { selection } = this;
    const links = (this.links = new Links(source, graph));
    const { calls } = links;
    if (calls) links.alike = counterparts(sources, roots, (call, line) => calls.placeOf(call, line));
    this.document = graph;
    this.opened = openGraph(
      graph,
      {
        root,
        lines: links,
        help: () => new Help(root).show(),
        back: () => selection.clear(),
        pick: (id, edges) =>
          id === null ? selection.clear() : selection.set({ ...links.fromNode(graph, "jaxpr", id), edges }),
      },
      (made) => {
        this.graph = made;
        made.openMarked();
        made.element.style.setProperty("--height", `${Math.min(made.wishedHeight(), height)}px`);
        this.mark();
      },
    );
    const code = ([title, own]: [string, SourceDoc], n: number) => {
      const pane = sourcePane(source!, links, selection, roots[n], roots[n]! + changedCall(own, graph)).element;
      return h("div.jitscope-joint-code", h("h4", title), pane);
    };
    const signs = legend.map(([mark, said]) => h("span.jitscope-pass-mark", { "data-kind": mark }, said));
    this.element = h(
      "div.jitscope-joint",
      h("div.jitscope-joint-codes", ...codes.map(code)),
      h("div.jitscope-graph-place", this.opened.element),
      h("p.jitscope-joint-legend.jitscope-muted", ...signs, ...notes.map((note) => h("span", note))),
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
