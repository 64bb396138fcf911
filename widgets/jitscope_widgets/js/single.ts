// Views of single documents: a graph alone, source.
import type { GraphDoc, Host, SourceDoc } from "./documents";
import { h } from "./dom";
import { detailsPane } from "./details";
import { openGraph } from "./graph/opengraph";
import type { GraphMemory, GraphView } from "./graph/view";
import { Help } from "./help";
import { Links, Selection } from "./links";
import type { View } from "./mount";
import { SearchBox } from "./searchbox";
import { sourcePane } from "./source";

export function graphView(doc: GraphDoc, host: Host, memory: GraphMemory | undefined, root: HTMLElement): View {
  const links = new Links(null, doc);
  const selection = new Selection();
  const help = new Help(root);
  let graph: GraphView | null = null;
  const search = new SearchBox({ graph: () => graph });
  const api: Record<string, unknown> = { select: ({ node }: { node: string }) => graph?.api.select(node) };
  const mark = () => {
    const { current } = selection;
    graph?.mark(current.node?.id ?? null, links.related(doc, current));
  };
  const opened = openGraph(
    doc,
    {
      root,
      lines: links,
      memory,
      help: () => help.show(),
      search: () => search.focus(),
      back: () => {
        selection.clear();
        graph?.api.search("");
      },
      pick: (id) => (id === null ? selection.clear() : selection.set(links.fromNode(doc, doc.level, id))),
    },
    (made) => {
      graph = made;
      api.graph = made.api;
      made.element.style.setProperty("--height", `${made.wishedHeight()}px`);
      mark();
      search.search();
    },
  );
  selection.onChange(mark);
  const element = h(
    "div.jitscope-single",
    h("div.jitscope-toolbar", h("strong", doc.title), h("span.jitscope-tools", search.element)),
    h("div.jitscope-graph-place", opened.element),
    detailsPane({ host, links, compilation: null, graphs: { [doc.level]: doc } }, selection),
  );
  return {
    element,
    api,
    memory: () => graph?.memory() ?? memory,
    themed: () => graph?.themed(),
    dispose: () => opened.dispose(),
  };
}

export function sourceView(doc: SourceDoc): View {
  return { element: sourcePane(doc, new Links(doc, null), new Selection()).element, dispose() {} };
}
