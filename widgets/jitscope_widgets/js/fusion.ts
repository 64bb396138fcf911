// What XLA made of the program: the sentence, the kernels, the two programs or the two graphs.
import { askingButton } from "./asking";
import type { FusionDoc, Host } from "./documents";
import { h } from "./dom";
import { Diff } from "./diff";
import { openGraph, type OpenGraph } from "./graph/opengraph";
import type { GraphMemory, GraphView } from "./graph/view";
import { kernelList } from "./kernels";
import { Links, Selection } from "./links";
import type { View } from "./mount";
import { partsView } from "./parts/view";
import { choice } from "./tabs";
import { viewOf } from "./viewdata";

export interface FusionMemory {
  shown: "program" | "graphs";
  before?: GraphMemory;
  after?: GraphMemory;
  moves?: unknown;
}

interface Half extends OpenGraph {
  graph: GraphView | null;
}

interface Pair {
  before: Half;
  after: Half;
}

function graphSide(title: string, caption: string, { element }: Half): HTMLElement {
  return h(
    "figure",
    { class: "jitscope-half" },
    h("figcaption", {}, h("strong", {}, title), h("span", { class: "jitscope-muted" }, caption)),
    element,
  );
}

interface FusionOptions {
  doc: FusionDoc;
  host: Host;
  links: Links;
  selection: Selection;
  root: HTMLElement;
  memory?: FusionMemory;
  help(): void;
  /** Has the program compiled once more, where that tells more; absent without a kernel. */
  again?: () => void | Promise<void>;
  /** Why kernels are not one, where there is a place for it. */
  reasons?: HTMLElement;
}

export function fusionView({ doc, host, links, selection, root, memory, help, again, reasons }: FusionOptions): View {
  let shown: FusionMemory["shown"] = memory?.shown ?? "program";
  let pair: Pair | null = null;
  let diff: Diff | null = null;
  const { summary } = doc;
  const program = h("div", { class: "jitscope-program-diff" });
  const graphs = h("div", { class: "jitscope-graphs" });

  const makePair = (): Pair => {
    const make = (level: "before" | "after"): Half => {
      let graph: GraphView | null = null;
      const mark = () => {
        const { current } = selection;
        graph?.mark(current.node?.level === level ? current.node.id : null, links.related(doc[level], current));
      };
      const options = {
        root,
        lines: links,
        kernels: doc.kernels,
        memory: memory?.[level],
        help,
        back: () => selection.clear(),
        pick: (id: string | null) =>
          id === null ? selection.clear() : selection.set(pickHull(level, id) ?? links.fromNode(doc[level], level, id)),
      };
      const opened = openGraph(doc[level], options, (made) => ((graph = made), mark()));
      selection.onChange(mark);
      return {
        ...opened,
        get graph() {
          return graph;
        },
      };
    };
    return { before: make("before"), after: make("after") };
  };
  const pickHull = (level: string, id: string) => {
    const kernel =
      level === "before" && id.startsWith("hull:") ? doc.kernels.find((k) => id.endsWith(":" + k.name)) : undefined;
    return kernel ? links.fromKernel(kernel) : null;
  };
  const show = (id: string) => {
    shown = id as FusionMemory["shown"];
    program.hidden = shown !== "program";
    graphs.hidden = shown !== "graphs";
    if (shown === "program" && !diff) program.append((diff = new Diff(doc.rows, links, selection)).element);
    if (shown === "graphs" && !pair) {
      pair = makePair();
      graphs.append(
        graphSide("before", `${summary.before} operations`, pair.before),
        graphSide("after", `${summary.kernels} kernels`, pair.after),
      );
    }
  };

  const parts = viewOf(doc);
  const moves = parts?.length ? partsView(parts, { host, links, selection, root, memory: memory?.moves }, doc.kind) : null;
  const element = h(
    "div",
    { class: "jitscope-fusion" },
    h("p", { class: "jitscope-sentence" }, summary.sentence),
    summary.again && again ? h("p", {}, askingButton("Compile it once more", "compiling …", again)) : null,
    summary.fusions === 0
      ? h("p", { class: "jitscope-empty" }, "Nothing was fused: every kernel is one operation or a library call.")
      : null,
    h("h3", {}, "Kernels"),
    kernelList(doc.kernels, links, selection, doc.boundaries),
    ...(reasons ? [h("h3", {}, "Why kernels are not one"), reasons] : []),
    moves?.element ?? null,
    h(
      "div",
      { class: "jitscope-section" },
      h("h3", {}, "Before and after"),
      choice(
        "Show before and after as",
        [
          { id: "program", title: "program" },
          { id: "graphs", title: "graphs" },
        ],
        shown,
        show,
      ),
    ),
    program,
    graphs,
  );
  show(shown);
  return {
    element,
    memory: (): FusionMemory => ({ shown, moves: moves?.memory?.(), before: pair?.before.graph?.memory(), after: pair?.after.graph?.memory() }),
    themed: () => (pair?.before.graph?.themed(), pair?.after.graph?.themed()),
    dispose: () => (pair?.before.dispose(), pair?.after.dispose(), moves?.dispose()),
  };
}
