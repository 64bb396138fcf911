// A graph among other parts.
import { JointView } from "../joint";
import { wayGraph } from "../waygraph";
import type { GraphMemory } from "../graph/view";
import type { Graph } from "./forms";
import type { Stage } from "./view";

export function graphPart(part: Graph, stage: Stage): HTMLElement {
  if (part.codes?.length || part.legend?.length) return linked(part, stage);
  const memory = stage.remember<GraphMemory | undefined>(`graph ${part.name}`, undefined, () => graph.memory?.() as GraphMemory | undefined);
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
