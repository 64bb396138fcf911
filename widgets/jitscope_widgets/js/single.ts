// Views of single documents: a graph alone, a fusion alone, source, diagnostics.
import type { DiagnosticsDoc, FusionDoc, GraphDoc, Host, SourceDoc } from "./documents";
import { h } from "./dom";
import { detailsPane } from "./details";
import { fusionView } from "./fusion";
import { GraphView, type GraphMemory } from "./graph/view";
import { Help } from "./help";
import { Links, Selection } from "./links";
import type { View } from "./mount";
import { positionLink } from "./recompiles";
import { sourcePane } from "./source";

export function graphView(doc: GraphDoc, host: Host, memory: GraphMemory | undefined, root: HTMLElement): View {
  const links = new Links(null, doc);
  const selection = new Selection();
  const help = new Help(root);
  const search = h("input", {
    type: "search",
    class: "jitscope-search",
    placeholder: "search",
    "aria-label": "Search the graph",
  });
  const graph: GraphView = new GraphView(doc, {
    root,
    lines: links,
    memory,
    help: () => help.show(),
    search: () => search.focus(),
    back: () => (selection.clear(), graph.api.search("")),
    pick: (id) => (id === null ? selection.clear() : selection.set(links.fromNode(doc, doc.level, id))),
  });
  search.addEventListener("input", () => graph.api.search(search.value));
  search.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") graph.api.nextHit(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") graph.api.takeFocus();
  });
  graph.element.style.setProperty("--height", `${graph.wishedHeight()}px`);
  selection.onChange((selected) => graph.mark(selected.node?.id ?? null, links.related(doc, selected)));
  const element = h(
    "div",
    { class: "jitscope-single" },
    h("div", { class: "jitscope-toolbar" }, h("strong", {}, doc.title), h("span", { class: "jitscope-tools" }, search)),
    h("div", { class: "jitscope-graph-place" }, graph.element),
    detailsPane({ host, links, compilation: null, graphs: { [doc.level]: doc } }, selection),
  );
  const api = { graph: graph.api, select: ({ node }: { node: string }) => graph.api.select(node) };
  return { element, api, memory: () => graph.memory(), themed: () => graph.themed(), dispose: () => graph.dispose() };
}

export function fusionAlone(doc: FusionDoc, _host: Host, memory: any, root: HTMLElement): View {
  const help = new Help(root);
  return fusionView({
    doc,
    links: new Links(null, null, doc.kernels),
    selection: new Selection(),
    root,
    memory,
    help: () => help.show(),
  });
}

export function sourceView(doc: SourceDoc): View {
  return { element: sourcePane(doc, new Links(doc, null), new Selection()).element, dispose() {} };
}

export function diagnosticsView(doc: DiagnosticsDoc, host: Host): View {
  const items = doc.items.map((item) =>
    h(
      "li",
      { class: "jitscope-diagnostic", "data-severity": item.severity },
      h("strong", {}, item.severity),
      " ",
      item.message,
      item.position ? h("span", {}, " ", positionLink(item.position, host)) : null,
      item.fix ? h("p", { class: "jitscope-muted" }, item.fix) : null,
    ),
  );
  const element = items.length
    ? h("ul", { class: "jitscope-diagnostics" }, ...items)
    : h("p", { class: "jitscope-empty" }, "Nothing to report.");
  return { element, dispose() {} };
}
