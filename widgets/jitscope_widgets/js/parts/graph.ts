// A graph among other parts.
import { h } from "../dom";
import { openGraph } from "../graph/opengraph";
import type { GraphView } from "../graph/view";
import { Help } from "../help";
import { JointView } from "../joint";
import { touches } from "../links";
import { wayGraph } from "../waygraph";
import type { GraphMemory } from "../graph/view";
import type { Graph } from "./forms";
import type { Stage } from "./view";

export function graphPart(part: Graph, stage: Stage): HTMLElement {
  if (part.selects) return selecting(part, stage);
  if (part.codes?.length || part.legend?.length) return linked(part, stage);
  const memory = stage.remember<GraphMemory | undefined>(
    `graph ${part.name}`,
    undefined,
    () => graph.memory?.() as GraphMemory | undefined,
  );
  const graph = wayGraph(part.document, memory, stage.around.root, part.height ?? 360);
  Object.defineProperty(stage.api, "graph", { configurable: true, get: () => graph.api?.graph });
  stage.ends.push(() => graph.dispose());
  stage.themes.push(() => graph.themed?.());
  return graph.element;
}

/** A graph with marks, and the code of the programs that stand in it. */
function linked(part: Graph, stage: Stage): HTMLElement {
  const joint = new JointView(part, stage.around.host, stage.around.root);
  Object.defineProperty(stage.api, "graph", { configurable: true, get: () => joint.graph?.api });
  stage.ends.push(() => joint.dispose());
  stage.themes.push(() => joint.graph?.themed());
  return joint.element;
}

/** A graph whose nodes stand for equations: what is picked in it is selected everywhere. */
function selecting(
  { name, document, legend = [], notes = [], height = 360, kernels }: Graph,
  stage: Stage,
): HTMLElement {
  const { links, selection, root } = stage.around;
  const nodes = document.nodes.map((node) =>
    node.positions.length ? node : { ...node, positions: links.positionsOf(node.paths) },
  );
  const doc = { ...document, nodes };
  const { level } = doc;
  let graph: GraphView | null = null;
  const mark = () => {
    const { node, paths } = selection.current;
    const related = nodes.filter((one) => touches(one.paths, paths)).map(({ id }) => id);
    graph?.mark(node?.level === level ? node.id : null, related);
  };
  const pick = (id: string | null) => {
    const kernel = id?.startsWith("hull:") ? links.kernels.find((one) => id.endsWith(`:${one.name}`)) : undefined;
    if (id === null) selection.clear();
    else selection.set(kernel ? links.fromKernel(kernel) : links.fromNode(doc, level, id));
  };
  const memory = stage.remember<GraphMemory | undefined>(`graph ${name}`, undefined, () => graph?.memory());
  const options = {
    root,
    lines: links,
    kernels: kernels ? links.kernels : undefined,
    memory,
    help: () => new Help(root).show(),
    back: () => selection.clear(),
    pick,
  };
  const opened = openGraph(doc, options, (made) => {
    graph = made;
    if (!kernels) made.setAll(true);
    made.element.style.setProperty("--height", `${Math.min(made.wishedHeight(), height)}px`);
    mark();
  });
  selection.onChange(mark);
  stage.ends.push(() => opened.dispose());
  stage.themes.push(() => graph?.themed());
  const signs = legend.map(([kind, said]) => h("span.jitscope-pass-mark", { "data-kind": kind }, said));
  return h(
    "figure.jitscope-selecting",
    { "aria-label": document.title || null },
    h("div.jitscope-graph-place", opened.element),
    signs.length || notes.length
      ? h("figcaption.jitscope-joint-legend.jitscope-muted", ...signs, ...notes.map((note) => h("span", note)))
      : null,
  );
}
