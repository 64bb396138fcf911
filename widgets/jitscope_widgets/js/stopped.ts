// A trace that an error ended: the way from the arguments to the operation that failed, the graph up to it, what to write instead.
import type { Host, StoppedDoc } from "./documents";
import { h, plural } from "./dom";
import { fixView } from "./fixes";
import type { GraphMemory } from "./graph/view";
import type { View } from "./mount";
import { positionLink } from "./recompiles";
import { say } from "./sentences";
import { wayGraph } from "./waygraph";

type Step = StoppedDoc["steps"][number];

const TALLEST = 420; // pixels of the graph, so that the rewrites stay in sight

export function stoppedView(doc: StoppedDoc, host: Host, memory: GraphMemory | undefined, root: HTMLElement): View {
  const graph = wayGraph(doc.graph, memory, root, TALLEST);
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
      graph.element,
    ),
    doc.left_out
      ? h("p", { class: "jitscope-muted" }, say("stopped, not shown", { equations: plural(doc.left_out, "equation") }))
      : null,
    ...doc.fixes.map(fixView),
  );
  return { ...graph, element };
}
