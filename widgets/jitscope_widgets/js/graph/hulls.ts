// Before fusion, what will become one kernel is drawn inside one hull: a scope that the document does not have.
import { grouped } from "../dom";
import type { GraphNode, NodeKind } from "../documents";

export type ShownNode = Omit<GraphNode, "kind"> & { kind: NodeKind | "hull" | "fold" };

function hull(kernel: string, scope: string | null, members: GraphNode[]): ShownNode {
  const paths = [...new Set(members.flatMap((node) => node.paths))];
  return {
    id: `hull:${scope ?? ""}:${kernel}`,
    kind: "hull",
    label: kernel,
    scope,
    types: [],
    bytes: 0,
    text: `${grouped(members.length)} operations that become ${kernel}`,
    params: {},
    paths,
    positions: [],
    fused_into: kernel,
  };
}

/** The nodes, with a hull round every group of at least two that the same kernel took in. */
export function withHulls(nodes: GraphNode[]): ShownNode[] {
  const groups = new Map<string, GraphNode[]>();
  for (const node of nodes) {
    if (!node.fused_into) continue;
    const key = `${node.scope ?? ""}\n${node.fused_into}`;
    const group = groups.get(key);
    if (group) group.push(node);
    else groups.set(key, [node]);
  }
  if (!groups.size) return nodes;
  const hulls: ShownNode[] = [];
  const home = new Map<string, string>();
  for (const members of groups.values()) {
    if (members.length < 2) continue;
    const made = hull(members[0]!.fused_into!, members[0]!.scope, members);
    hulls.push(made);
    for (const member of members) home.set(member.id, made.id);
  }
  return [...nodes.map((node) => (home.has(node.id) ? { ...node, scope: home.get(node.id)! } : node)), ...hulls];
}
