// A graph in which a way is marked: to the operation that failed, or from the first bad one to the result.
import type { GraphDoc } from "./documents";
import { h } from "./dom";
import { openGraph } from "./graph/opengraph";
import type { GraphMemory, GraphView } from "./graph/view";
import { Help } from "./help";
import { Links } from "./links";
import type { View } from "./mount";

/** `tallest`: pixels of the graph, so that what stands below stays in sight. */
export function wayGraph(doc: GraphDoc, memory: GraphMemory | undefined, root: HTMLElement, tallest: number): View {
  const way = doc.nodes.filter(({ mark }) => mark).map(({ id }) => id);
  let graph: GraphView | null = null;
  const mark = (id: string | null) => graph?.mark(id, way);
  const api: Record<string, unknown> = {};
  const opened = openGraph(
    doc,
    {
      root,
      lines: new Links(null, doc),
      memory,
      help: () => new Help(root).show(),
      search: () => {},
      back: () => mark(null),
      pick: mark,
    },
    (made) => {
      graph = made;
      api.graph = made.api;
      made.element.style.setProperty("--height", `${Math.min(made.wishedHeight(), tallest)}px`);
      mark(null);
    },
  );
  return {
    element: h("div", { class: "jitscope-graph-place" }, opened.element),
    api,
    memory: () => graph?.memory() ?? memory,
    themed: () => graph?.themed(),
    dispose: () => opened.dispose(),
  };
}
