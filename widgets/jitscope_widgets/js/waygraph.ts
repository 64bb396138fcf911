// A graph in which a way is marked: to the operation that failed, or from the first bad one to the result. Below it stands what is said of
// the line that was picked.
import type { GraphDoc, GraphEdge } from "./documents";
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
  const note = noteOf(doc);
  const pick = (id: string | null, edges?: GraphEdge[]) => {
    mark(id);
    note?.replaceChildren(...said(doc, id, edges).map((one) => h("p.jitscope-edge-note", one)));
  };
  const opened = openGraph(
    doc,
    {
      root,
      lines: new Links(null, doc),
      memory,
      help: () => new Help(root).show(),
      search: () => {},
      back: () => mark(null),
      pick,
    },
    (made) => {
      graph = made;
      api.graph = made.api;
      made.element.style.setProperty("--height", `${Math.min(made.wishedHeight(), tallest)}px`);
      mark(null);
    },
  );
  return {
    element: h("div.jitscope-graph-place", opened.element, note),
    api,
    memory: () => graph?.memory() ?? memory,
    themed: () => graph?.themed(),
    dispose: () => opened.dispose(),
  };
}

/** The place of what is said of lines; null where nothing is. */
function noteOf(doc: GraphDoc): HTMLElement | null {
  if (!doc.edges.some((edge) => edge.note)) return null;
  return h(
    "div.jitscope-edge-notes",
    { role: "status" },
    "Pick a line between two kernels, or a kernel, to read why they are two.",
  );
}

/** What is said of the lines that were picked, or of all that leave or enter an operation. */
function said(doc: GraphDoc, id: string | null, edges: GraphEdge[] | undefined): string[] {
  const inside = new Set(id === null ? [] : [id]);
  for (const node of doc.nodes) if (node.scope !== null && inside.has(node.scope)) inside.add(node.id);
  const found = edges ?? doc.edges.filter(({ from, to }) => inside.has(from) !== inside.has(to));
  const notes = [...new Set(found.flatMap(({ note }) => (note ? [note] : [])))];
  return notes.length || id === null ? notes : ["Nothing is said of it."];
}
