// A graph in Graphviz's language; graphviz_view.py writes the same.
import type { GraphDoc, GraphNode } from "./documents";
import { numberText, signOf } from "./graph/looks";

const SHAPES: Record<string, string> = {
  input: "shape=box style=rounded",
  output: "shape=box style=rounded",
  constant: "shape=box fontsize=9 height=0.2",
  library: "shape=box peripheries=2",
};

const quoted = (text: string): string => `"${text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\s+/g, " ")}"`;

const shorten = (text: string): string => (text.length <= 48 ? text : `${text.slice(0, 24)}…${text.slice(-23)}`);

/** The nodes by scope; a scope that does not exist, or that would hold itself, is the top. */
function byScope({ nodes }: GraphDoc): Map<string | null, GraphNode[]> {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const inner = new Map<string | null, GraphNode[]>();
  for (const node of known.values()) {
    const seen = new Set([node.id]);
    let outer = node.scope;
    while (outer !== null && known.has(outer) && !seen.has(outer)) {
      seen.add(outer);
      outer = known.get(outer)!.scope;
    }
    const lost = outer !== null && seen.has(outer);
    const scope = !lost && node.scope !== null && known.has(node.scope) ? node.scope : null;
    inner.set(scope, [...(inner.get(scope) ?? []), node]);
  }
  return inner;
}

export function dot(graph: GraphDoc): string {
  const inner = byScope(graph);
  const names = new Map(graph.nodes.map(({ id }, at) => [id, `n${at}`]));
  const lines = ["digraph jitscope {", "\tcompound=true fontname=monospace rankdir=TB"];
  lines.push('\tnode [fontname=monospace fontsize=11 height=0.3 margin="0.1,0.05" shape=box]');
  lines.push('\tedge [color="#57606a" fontcolor="#57606a" fontname=monospace fontsize=9]');
  const add = (scope: string | null, indent: string): void => {
    for (const node of inner.get(scope) ?? []) {
      const name = names.get(node.id)!;
      const label = quoted(signOf(node) + [shorten(node.label) || "?", numberText(node)].filter(Boolean).join(" · "));
      if (!inner.has(node.id)) {
        const shape = SHAPES[node.kind];
        lines.push(`${indent}${name} [label=${label}${shape ? ` ${shape}` : ""}]`);
        continue;
      }
      const style = node.kind === "fusion" ? '"rounded,filled"' : "filled";
      lines.push(`${indent}subgraph cluster_${name} {`);
      lines.push(`${indent}\tcolor="#8c959f" fillcolor="#f6f8fb" label=${label} style=${style}`);
      lines.push(`${indent}\t${name} [label="" shape=point style=invis width=0]`);
      add(node.id, `${indent}\t`);
      lines.push(`${indent}}`);
    }
  };
  add(null, "\t");
  for (const { from, to, type } of graph.edges) {
    if (!names.has(from) || !names.has(to)) continue;
    lines.push(`\t${names.get(from)} -> ${names.get(to)} [label=${quoted(shorten(type))}]`);
  }
  return [...lines, "}", ""].join("\n");
}
