// How long each stage took, and how long a run takes once compiled.
import { askingButton } from "./asking";
import type { CompilationDoc, Host, Quantity, TimingDoc } from "./documents";
import { h } from "./dom";
import { origin, percent, quantity } from "./numbers";
import type { View } from "./mount";

function figure(q: Quantity): HTMLElement {
  return h("span", { class: "jitscope-figure", title: origin(q), "data-origin": q.origin }, quantity(q));
}

function bar(name: string, q: Quantity, start: number, whole: number): HTMLElement {
  const value = q.value ?? 0;
  const share = whole > 0 ? value / whole : 0;
  return h(
    "div",
    {
      class: "jitscope-stage",
      role: "row",
      "data-stage": name,
      "data-seconds": q.value,
      title: `${name}: ${quantity(q)}, ${origin(q)}`,
    },
    h("span", { class: "jitscope-stage-name", role: "rowheader" }, name),
    h(
      "span",
      { class: "jitscope-track", role: "presentation" },
      h("span", {
        class: "jitscope-bar",
        "data-stage": name,
        style: { "--start": `${(100 * start) / (whole || 1)}%`, "--share": `${100 * share}%` },
      }),
    ),
    h("span", { role: "cell", class: "jitscope-stage-time" }, figure(q)),
    h("span", { role: "cell", class: "jitscope-stage-share" }, q.value === null ? "" : percent(share)),
  );
}

function waterfall(timing: TimingDoc): HTMLElement {
  const sum = timing.stages.reduce((total, stage) => total + (stage.seconds.value ?? 0), 0);
  const whole = Math.max(sum, timing.total.value ?? 0);
  let start = 0;
  const rows = timing.stages.map((stage) => {
    const row = bar(stage.name, stage.seconds, start, whole);
    start += stage.seconds.value ?? 0;
    return row;
  });
  const total = h(
    "div",
    { class: "jitscope-total", role: "row", "data-seconds": timing.total.value },
    h("span", { class: "jitscope-stage-name", role: "rowheader" }, "total"),
    h("span", { class: "jitscope-track", role: "presentation", "data-empty": "" }),
    h("span", { role: "cell", class: "jitscope-stage-time" }, figure(timing.total)),
    h("span", { role: "cell", class: "jitscope-stage-share" }, ""),
  );
  return h(
    "div",
    { class: "jitscope-waterfall", role: "table", "aria-label": "Time of the first call, stage by stage" },
    ...rows,
    total,
  );
}

function howMeasured(timing: TimingDoc): string {
  const steady = timing.steady!;
  const by = steady.source === "cell" ? "from the calls that the cell made itself" : "timed on request";
  const how = steady.median.note || `${steady.runs} run${steady.runs === 1 ? "" : "s"}`;
  return `median of ${how}, ${by}`;
}

function steadyFigures(timing: TimingDoc, canMeasure: boolean, profiled: boolean): HTMLElement {
  const { steady } = timing;
  if (!steady) {
    const why = profiled ? "Timed below, with its kernels." : "Not timed: this needs a live kernel.";
    const text = profiled || !canMeasure ? why : "Not timed yet.";
    return h("p", { class: "jitscope-muted jitscope-steady-none" }, text);
  }
  return h(
    "p",
    { class: "jitscope-steady-time", "data-seconds": steady.median.value },
    h("strong", {}, figure(steady.median)),
    " ",
    h(
      "span",
      { class: "jitscope-muted" },
      "between ",
      figure(steady.low),
      " and ",
      figure(steady.high),
      " · ",
      howMeasured(timing),
    ),
  );
}

/** What the program costs by XLA's own account. */
function costs(cost: CompilationDoc["cost"]): HTMLElement {
  const entry = (name: string, q: Quantity) => [
    h("dt", {}, name),
    h("dd", {}, q.value === null && q.note ? `unknown: ${q.note}` : figure(q)),
  ];
  return h(
    "dl",
    { class: "jitscope-costs" },
    ...entry("arithmetic", cost.flops),
    ...entry("moved", cost.bytes),
    ...entry("memory", cost.memory),
  );
}

export function timingView(timing: TimingDoc, host: Host, compilation?: CompilationDoc): View {
  const id = compilation?.id;
  const canMeasure = Boolean(timing.can_measure && host.measure && id !== undefined);
  const element = h(
    "div",
    { class: "jitscope-timing" },
    h("h3", {}, "First call"),
    waterfall(timing),
    h("h3", {}, "Every call after it"),
    h("div", { class: "jitscope-steady" }, steadyFigures(timing, canMeasure, Boolean(compilation?.instruments?.profile)), canMeasure ? askingButton("Measure", "running …", () => host.measure!(id!)) : null),
    timing.call ? h("p", { class: "jitscope-steady-call" }, timing.call) : null,
    ...(compilation ? [h("h3", {}, "Work of one call"), costs(compilation.cost)] : []),
    h(
      "p",
      { class: "jitscope-legend jitscope-muted" },
      "Plain numbers were measured, ≈ marks modelled ones, ? unknown ones; hover to see how.",
    ),
  );
  return { element, dispose() {} };
}
