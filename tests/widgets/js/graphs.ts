// Small graphs for the tests.
import type { GraphDoc, GraphNode } from "../../../widgets/jitscope_widgets/js/documents";
import { Layout } from "../../../widgets/jitscope_widgets/js/graph/layout";
import { Model } from "../../../widgets/jitscope_widgets/js/graph/model";
// @ts-expect-error plain JavaScript, shared with the scripts
import { synthetic as make } from "../fixtures/synthetic.mjs";

export const synthetic: (size: number, options?: object) => GraphDoc = make;

export function node(id: string, scope: string | null = null, more: Partial<GraphNode> = {}): GraphNode {
  return {
    id,
    kind: "equation",
    label: id,
    scope,
    types: ["f32[4]"],
    bytes: 16,
    text: "",
    params: {},
    paths: [],
    positions: [],
    fused_into: null,
    ...more,
  };
}

/** `graph(["a", "s", "s/b"], ["a>s/b"])`: a name before a slash is the scope. */
export function graph(ids: string[], edges: string[], more: Record<string, Partial<GraphNode>> = {}): GraphDoc {
  const scopeOf = (id: string) => (id.includes("/") ? id.slice(0, id.lastIndexOf("/")) : null);
  return {
    kind: "graph",
    version: 1,
    level: "jaxpr",
    title: "test",
    nodes: ids.map((id) => node(id, scopeOf(id), more[id])),
    edges: edges.map((edge) => {
      const [from, to] = edge.split(">") as [string, string];
      return { from, to, type: "f32[4]", bytes: 16 };
    }),
  };
}

export function layoutOf(document: GraphDoc, open: "all" | "none" = "all"): Layout {
  const model = Model.of(document);
  model.nodes.forEach((n, i) => void model.setOpen(i, open === "all" || n.kind === "hull"));
  return new Layout(model, (i) => ({ w: 40 + model.node(i).label.length * 8, h: model.isScope(i) ? 42 : 30 }));
}
