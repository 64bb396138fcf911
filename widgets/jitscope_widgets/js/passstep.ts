// One pass that changed something: the graph of what it changed, and the changed lines.
import type { GraphDoc, PassesDoc, PassRow, PassState, Position } from "./documents";
import { grouped, h, plural } from "./dom";
import { CHANGES } from "./graph/changes";
import { openGraph, type OpenGraph } from "./graph/opengraph";
import type { GraphView } from "./graph/view";
import { hlo } from "./highlight";
import { touches, type Links, type Selection } from "./links";
import { Roving } from "./roving";

const BLOCK = 200; // rows made at once
const TALLEST = 380; // pixels of the graph, so that the changed lines stay in sight

export interface StepOptions {
  doc: PassesDoc;
  links: Links;
  selection: Selection;
  root: HTMLElement;
  lineOf(position: Position): string;
  pickLine(line: string, position: Position): void;
  help(): void;
}

/** What a pass changed, as a graph with the marks of the changes and what they mean. */
export class StepGraph {
  readonly element: HTMLElement;
  private readonly document: GraphDoc;
  private readonly opened: OpenGraph;
  graph: GraphView | null = null;

  constructor(
    state: PassState,
    graph: GraphDoc,
    private readonly options: StepOptions,
  ) {
    const { doc, root, links, selection, help } = options;
    const positions = (paths: string[]) => [...new Set(paths.flatMap((path) => doc.positions[path] ?? []))];
    this.document = { ...graph, title: "what the pass changed", nodes: graph.nodes.map((node) => ({ ...node, positions: positions(node.paths) })) };
    this.opened = openGraph(
      this.document,
      { root, lines: links, help, back: () => selection.clear(), pick: (id) => this.pick(id) },
      (made) => {
        this.graph = made;
        made.setAll(true);
        made.element.style.setProperty("--height", `${Math.min(made.wishedHeight(), TALLEST)}px`);
        this.mark();
      },
    );
    const kinds = new Set(graph.nodes.flatMap(({ mark }) => (mark ? [mark] : [])));
    const keys = Object.entries(CHANGES).filter(([kind]) => kinds.has(kind as PassRow["kind"]));
    this.element = h(
      "figure",
      { class: "jitscope-pass-graph" },
      h("div", { class: "jitscope-graph-place" }, this.opened.element),
      h(
        "figcaption",
        { class: "jitscope-muted" },
        ...keys.map(([kind, { sign, word }]) => h("span", { class: "jitscope-pass-mark", "data-kind": kind }, `${sign} ${word}`)),
        h("span", {}, "without a sign: unchanged, next to it"),
        graph.edges.some(({ gone }) => gone) ? h("span", {}, "dashed lines: how values flowed before") : null,
        state.graph_left_out ? h("span", {}, `${plural(state.graph_left_out, "more change")}: in the lines below only`) : null,
      ),
    );
  }

  private pick(id: string | null): void {
    const { links, selection } = this.options;
    const node = this.document.nodes.find((other) => other.id === id);
    if (!node) return selection.clear();
    selection.set({ ...links.fromPaths(node.paths), node: { level: "pass", id: node.id } });
  }

  mark(): void {
    const { node, paths } = this.options.selection.current;
    const related = this.document.nodes.filter((one) => touches(one.paths, paths)).map(({ id }) => id);
    this.graph?.mark(node?.level === "pass" ? node.id : null, related);
  }

  themed(): void {
    this.graph?.themed();
  }

  dispose(): void {
    this.opened.dispose();
  }
}

/** The changed lines of a state; with something selected, those that belong to it, unless the `whole` list was asked for. */
export function stepRows(state: PassState, options: StepOptions, selected: Set<string>, name: string): HTMLElement {
  const all = state.rows;
  const own = selected.size ? all.filter((row) => touches(row.paths, selected)) : all;
  const table = h("div", { class: "jitscope-pass-rows", role: "list", "aria-label": "What it changed" });
  const more = h("button", { type: "button", class: "jitscope-button" });
  const show = (rows: PassRow[]) => {
    let made = 0;
    const roving = new Roving(table, ".jitscope-pass-row", pick, () => options.selection.clear());
    const add = () => {
      more.before(...rows.slice(made, made + BLOCK).map((row) => rowElement(row, options)));
      made += BLOCK;
      if (made < rows.length) more.textContent = `${grouped(rows.length - made)} more`;
      else more.remove();
      roving.renew();
    };
    more.onclick = add;
    table.hidden = !rows.length;
    table.replaceChildren(more);
    add();
  };
  const pick = (element: HTMLElement) => {
    const paths = (element.dataset.paths ?? "").split(" ").filter(Boolean);
    if (paths.length) options.selection.set(options.links.fromPaths(paths));
  };
  show(own);
  const whole = h("button", { type: "button", class: "jitscope-link" }, "Show all");
  const filter = h("p", { class: "jitscope-pass-filter" }, `${grouped(own.length)} of ${plural(all.length, "change")} ${own.length === 1 ? "is" : "are"} of ${name}${own.length ? "" : ": none is shown"}. `, whole);
  whole.onclick = () => (filter.remove(), show(all));
  return h(
    "div",
    {},
    selected.size ? filter : null,
    all.length ? table : null,
    state.left_out ? h("p", { class: "jitscope-muted" }, `${plural(state.left_out, "more change")} of this pass: not kept in this document.`) : null,
  );
}

function rowElement(row: PassRow, { doc, lineOf, pickLine }: StepOptions): HTMLElement {
  const { sign, word } = CHANGES[row.kind];
  const both = row.before !== null && row.after !== null && (row.kind === "changed" || row.kind === "rewired");
  const lines = [];
  if (both) lines.push(h("code", { class: "jitscope-pass-was" }, hlo(row.before!)));
  lines.push(h("code", {}, hlo(row.after ?? row.before ?? "")));
  const went = row.kind === "fused" || row.kind === "moved" ? `${row.from} → ${row.to}` : "";
  const found = row.paths.find((path) => doc.positions[path]);
  const position = found === undefined ? null : doc.positions[found]!;
  return h(
    "div",
    { class: "jitscope-pass-row", role: "listitem", tabindex: -1, "data-kind": row.kind, "data-paths": row.paths.join(" ") },
    h("span", { class: "jitscope-pass-sign", title: word, "aria-label": word, role: "img" }, sign),
    h("div", {}, ...lines, went ? h("span", { class: "jitscope-muted" }, went) : null),
    position ? lineButton(lineOf(position), position, pickLine) : h("span", {}),
  );
}

export function lineButton(line: string, position: Position, pick: (line: string, position: Position) => void): HTMLElement {
  const onclick = (event: Event) => (event.stopPropagation(), pick(line, position));
  return h("button", { type: "button", class: "jitscope-link", title: `Select what stems from ${line}`, onclick }, line);
}
