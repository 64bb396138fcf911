// What XLA made of the program: the sentence, the kernels, the two programs or the two graphs.
import type { FusionDoc } from "./documents";
import { h } from "./dom";
import { Diff } from "./diff";
import { GraphView, type GraphMemory } from "./graph/view";
import { kernelList } from "./kernels";
import { Links, Selection } from "./links";
import type { View } from "./mount";
import { choice } from "./tabs";

export interface FusionMemory {
  shown: "program" | "graphs";
  before?: GraphMemory;
  after?: GraphMemory;
}

interface Pair {
  before: GraphView;
  after: GraphView;
}

function graphSide(title: string, caption: string, graph: GraphView): HTMLElement {
  return h(
    "figure",
    { class: "jitscope-half" },
    h("figcaption", {}, h("strong", {}, title), h("span", { class: "jitscope-muted" }, caption)),
    graph.element,
  );
}

export interface FusionOptions {
  doc: FusionDoc;
  links: Links;
  selection: Selection;
  root: HTMLElement;
  memory?: FusionMemory;
  help(): void;
}

export function fusionView({ doc, links, selection, root, memory, help }: FusionOptions): View {
  let shown: FusionMemory["shown"] = memory?.shown ?? "program";
  let pair: Pair | null = null;
  let diff: Diff | null = null;
  const { summary } = doc;
  const program = h("div", { class: "jitscope-program-diff" });
  const graphs = h("div", { class: "jitscope-graphs" });

  const makePair = (): Pair => {
    const make = (level: "before" | "after") => {
      const graph: GraphView = new GraphView(doc[level], {
        root,
        lines: links,
        memory: memory?.[level],
        help,
        back: () => selection.clear(),
        pick: (id) =>
          id === null ? selection.clear() : selection.set(pickHull(level, id) ?? links.fromNode(doc[level], level, id)),
      });
      selection.onChange((selected) =>
        graph.mark(selected.node?.level === level ? selected.node.id : null, links.related(doc[level], selected)),
      );
      return graph;
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

  const element = h(
    "div",
    { class: "jitscope-fusion" },
    h("p", { class: "jitscope-sentence" }, summary.sentence),
    summary.fusions === 0
      ? h("p", { class: "jitscope-empty" }, "Nothing was fused: every kernel is one operation or a library call.")
      : null,
    h("h3", {}, "Kernels"),
    kernelList(doc.kernels, links, selection),
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
    memory: (): FusionMemory => ({ shown, before: pair?.before.memory(), after: pair?.after.memory() }),
    themed: () => (pair?.before.themed(), pair?.after.themed()),
    dispose: () => (pair?.before.dispose(), pair?.after.dispose()),
  };
}
