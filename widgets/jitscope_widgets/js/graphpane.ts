// The Graph pane: the program at three levels, the user's code beside it, details below.
import type { CompilationDoc, GraphDoc, Host } from "./documents";
import { h } from "./dom";
import { detailsPane } from "./details";
import { legend } from "./graph/legend";
import { openGraph, type OpenGraph } from "./graph/opengraph";
import type { GraphMemory, GraphView } from "./graph/view";
import { isLeftOut } from "./envelope";
import { hlo } from "./highlight";
import { iconButton } from "./icons";
import type { Links, Selection } from "./links";
import { modulesOutline } from "./modules";
import { say } from "./sentences";
import { sourcePane } from "./source";
import { choice } from "./tabs";
import { withBadness } from "./valuecard";

export interface GraphPaneMemory {
  level: string;
  graphs: Record<string, GraphMemory>;
}

interface GraphPaneOptions {
  compilation: CompilationDoc;
  host: Host;
  links: Links;
  selection: Selection;
  memory?: GraphPaneMemory;
  help(): void;
  search(): void;
  showFusion(): void;
  root: HTMLElement;
}

const LEVELS: [string, string, string][] = [
  ["jaxpr", "jaxpr", "the equations that were traced"],
  ["before", "HLO before", "what XLA was given"],
  ["after", "HLO after", "what XLA made of it"],
  ["text", "text", "the jaxpr as text"],
];

export class GraphPane {
  readonly element: HTMLElement;
  graph: GraphView | null = null;
  private opened: OpenGraph | null = null;
  level = "";
  private height: number | undefined; // the same for all levels, so that nothing jumps
  /** Tells that another graph is shown. */
  changed: () => void = () => {};
  private readonly documents: Record<string, GraphDoc> = {};
  private readonly memories: Record<string, GraphMemory>;
  private readonly place = h("div.jitscope-graph-place");

  constructor(private readonly options: GraphPaneOptions) {
    const { compilation, links, selection, host, memory } = options;
    this.memories = { ...memory?.graphs };
    this.documents.jaxpr = compilation.graph;
    if (compilation.fusion) {
      this.documents.before = compilation.fusion.before;
      this.documents.after = compilation.fusion.after;
    }
    const levels = LEVELS.filter(([id]) => this.documents[id] || (id === "text" && compilation.jaxpr));
    const first = levels.some(([id]) => id === memory?.level) ? memory!.level : "jaxpr";
    const context = {
      host,
      links,
      compilation,
      graphs: this.documents,
      showFusion: compilation.fusion ? options.showFusion : undefined,
    };
    this.element = h(
      "div.jitscope-graphpane",
      { "data-source": compilation.source !== null },
      compilation.source ? sourcePane(compilation.source, links, selection).element : null,
      h(
        "div.jitscope-graph-column",
        h(
          "div.jitscope-graph-bar",
          choice(
            "Level of the program",
            levels.map(([id, title, hint]) => ({ id, title, hint })),
            first,
            (id) => this.show(id),
          ),
          this.laidOver(),
          this.buttons(),
        ),
        modulesOutline({ compilation, host, links, selection, root: options.root, reveal: (id) => this.reveal(id) }),
        this.place,
      ),
      detailsPane(context, selection),
    );
    selection.onChange(() => this.mark());
    this.show(first);
  }

  /** What the numbers of a user's own are, where there are any. */
  private laidOver(): HTMLElement | null {
    const what = this.documents.jaxpr!.nodes.find(({ number }) => number)?.number?.name;
    return what === undefined ? null : h("span.jitscope-muted", say("numbers laid over", { what }));
  }

  private buttons(): HTMLElement {
    return h(
      "span.jitscope-graph-buttons",
      iconButton("open", "open all scopes", { onclick: () => this.graph?.setAll(true) }),
      iconButton("close", "close all scopes", { onclick: () => this.graph?.setAll(false) }),
      iconButton("larger", "larger", { onclick: () => this.graph?.zoom(1.25) }),
      iconButton("smaller", "smaller", { onclick: () => this.graph?.zoom(0.8) }),
      iconButton("fit", "everything in view", { onclick: () => this.graph?.fit() }),
    );
  }

  /** Shows a level: jaxpr, before, after (also called hlo), text. */
  show(name: string): void {
    const level = name === "hlo" ? "after" : name;
    this.keep();
    this.opened?.dispose();
    this.opened = this.graph = null;
    this.level = level;
    for (const input of this.element?.querySelectorAll<HTMLInputElement>(".jitscope-choice input") ?? [])
      input.checked = input.value === level;
    const document = this.documents[level];
    if (document?.nodes.length) this.place.replaceChildren(this.makeGraph(document), legend(document));
    else if (document) this.place.replaceChildren(this.makeGraph(document));
    else
      this.place.replaceChildren(
        h("pre.jitscope-program.jitscope-jaxpr", { tabindex: "0" }, hlo(this.options.compilation.jaxpr)),
      );
    if (!document) this.changed();
  }

  private makeGraph(document: GraphDoc): HTMLElement {
    const { compilation, links, selection, help, search, root } = this.options;
    const level = this.level;
    if (!document.nodes.length)
      return h(
        "p.jitscope-empty",
        isLeftOut(document)
          ? "This program was left out of the saved notebook to keep it small."
          : "This program has no operations.",
      );
    this.opened = openGraph(
      level === "jaxpr" ? withBadness(document, compilation.instruments?.values) : document,
      {
        root,
        lines: links,
        kernels: compilation.fusion?.kernels,
        memory: this.memories[level],
        help,
        search,
        back: () => {
          selection.clear();
          this.graph?.api.search("");
        },
        pick: (id, edges) =>
          id === null ? selection.clear() : selection.set({ ...this.picked(document, level, id), edges }),
      },
      (graph) => this.made(graph),
    );
    return this.opened.element;
  }

  /** The graph is made: at once, or a moment later if it is big. */
  private made(graph: GraphView): void {
    this.graph = graph;
    this.height ??= Math.max(graph.wishedHeight(), this.hasLong() ? 480 : 0);
    graph.element.style.setProperty("--height", `${this.height}px`);
    this.mark();
    this.changed();
  }

  /** Does any level need more room than the one shown first? */
  private hasLong(): boolean {
    return Object.values(this.documents).some((document) => document.nodes.length > 24);
  }

  private picked(document: GraphDoc, level: string, id: string) {
    const { links, compilation } = this.options;
    const kernel = id.startsWith("hull:")
      ? compilation.fusion?.kernels.find((k) => id.endsWith(`:${k.name}`))
      : undefined;
    return kernel ? links.fromKernel(kernel) : links.fromNode(document, level, id);
  }

  private mark(): void {
    const { links, selection } = this.options;
    const document = this.documents[this.level];
    const { node } = selection.current;
    if (this.graph && document)
      this.graph.mark(
        node?.level === this.level ? node.id : null,
        links.related(document, selection.current),
        selection.current.edges,
      );
  }

  /** Moves a group of the traced program into view. */
  private reveal(id: string): void {
    if (this.level !== "jaxpr") return;
    const index = this.graph?.model.index.get(id);
    if (index !== undefined) this.graph!.show(index, true);
  }

  private keep(): void {
    if (this.graph) this.memories[this.level] = this.graph.memory();
  }

  memory(): GraphPaneMemory {
    this.keep();
    return { level: this.level, graphs: this.memories };
  }

  themed(): void {
    this.graph?.themed();
  }

  dispose(): void {
    this.opened?.dispose();
  }
}
