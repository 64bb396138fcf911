// A graph is made at once when it is small, and piece by piece when it is big, so that the page never stands still.
import type { GraphDoc } from "../documents";
import { h, plural } from "../dom";
import { Model } from "./model";
import { atOnce, inSlices, type Work } from "./slices";
import { GraphView, type GraphOptions } from "./view";

const AT_ONCE = 200; // nodes and edges

export interface OpenGraph {
  element: HTMLElement;
  dispose(): void;
}

/** `ready` is called as soon as the graph can be asked something: before this returns, if it is small. */
export function openGraph(document: GraphDoc, options: GraphOptions, ready: (graph: GraphView) => void): OpenGraph {
  let stopped = false;
  let graph: GraphView | null = null;
  const begun = performance.now();
  const show = (made: GraphView) => {
    graph = made;
    ready(graph);
    return graph.element;
  };
  const dispose = () => {
    stopped = true;
    graph?.dispose();
  };
  const size = document.nodes.length + document.edges.length;
  if (size <= AT_ONCE) return { element: show(atOnce(work(document, options, begun))), dispose };
  const wait = h("p.jitscope-graph-wait", { role: "status" }, `${plural(document.nodes.length, "node")} …`);
  const element = h("div.jitscope-graph-big", wait);
  void inSlices(work(document, options, begun), () => stopped).then((made) => {
    if (made && !stopped) element.replaceChildren(show(made));
  });
  return { element, dispose };
}

function* work(document: GraphDoc, options: GraphOptions, begun: number): Work<GraphView> {
  const model = yield* Model.work(document, options.lines.where);
  yield;
  const graph = new GraphView(model, options, begun);
  yield* graph.layout.work();
  return graph;
}
