// A trace that an error ended: the way from the arguments to the operation that failed, the graph up to it, what to write instead.
import type { Host, StoppedDoc } from "./documents";
import { h, plural } from "./dom";
import { fixView } from "./fixes";
import { openGraph } from "./graph/opengraph";
import type { GraphMemory, GraphView } from "./graph/view";
import { Help } from "./help";
import { Links } from "./links";
import type { View } from "./mount";
import { positionLink } from "./recompiles";
import { say } from "./sentences";

type Step = StoppedDoc["steps"][number];

const TALLEST = 420; // pixels of the graph, so that the rewrites stay in sight

export function stoppedView(doc: StoppedDoc, host: Host, memory: GraphMemory | undefined, root: HTMLElement): View {
  const way = doc.graph.nodes.filter(({ mark }) => mark).map(({ id }) => id);
  let graph: GraphView | null = null;
  const mark = (id: string | null) => graph?.mark(id, way);
  const api: Record<string, unknown> = {};
  const opened = openGraph(
    doc.graph,
    {
      root,
      lines: new Links(null, doc.graph),
      memory,
      help: () => new Help(root).show(),
      search: () => {},
      back: () => mark(null),
      pick: mark,
    },
    (made) => {
      graph = made;
      api.graph = made.api;
      made.element.style.setProperty("--height", `${Math.min(made.wishedHeight(), TALLEST)}px`);
      mark(null);
    },
  );
  const step = (one: Step) =>
    h(
      "li",
      { "data-kind": one.kind },
      one.kind === "argument" ? h("span", {}, "argument ") : null,
      one.position ? positionLink(one.position, host) : null,
      " ",
      one.kind === "stop" ? h("span", { "aria-label": "stopped here:" }, "✕ ") : null,
      h("code", {}, one.text),
    );
  const element = h(
    "div",
    { class: "jitscope-stopped" },
    h(
      "p",
      {},
      say("stopped", { function: doc.function }),
      h("code", {}, doc.asked),
      doc.steps.length > 1 ? ". The way to it:" : ".",
    ),
    h(
      "div",
      { class: "jitscope-stopped-way" },
      h("ol", {}, ...doc.steps.map(step)),
      h("div", { class: "jitscope-graph-place" }, opened.element),
    ),
    doc.left_out
      ? h("p", { class: "jitscope-muted" }, say("stopped, not shown", { equations: plural(doc.left_out, "equation") }))
      : null,
    ...doc.fixes.map(fixView),
  );
  return {
    element,
    api,
    memory: () => graph?.memory() ?? memory,
    themed: () => graph?.themed(),
    dispose: () => opened.dispose(),
  };
}
