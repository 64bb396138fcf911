// A graph among other parts.
import { wayGraph } from "../waygraph";
import type { GraphMemory } from "../graph/view";
import type { Graph } from "./forms";
import type { Stage } from "./view";

export function graphPart(part: Graph, stage: Stage): HTMLElement {
  const memory = stage.remember<GraphMemory | undefined>(`graph ${part.name}`, undefined, () => graph.memory?.() as GraphMemory | undefined);
  const graph = wayGraph(part.document, memory, stage.around.root, part.height ?? 360);
  Object.defineProperty(stage.api, "graph", { configurable: true, get: () => graph.api?.graph });
  stage.ends.push(() => graph.dispose());
  stage.themes.push(() => graph.themed?.());
  return graph.element;
}
