// Operations, kernels, bytes and arithmetic of the states of a program, over the slider of its passes.
import type { PassesDoc, Quantity } from "./documents";
import { h, plural, s } from "./dom";
import { origin, quantity } from "./numbers";

export interface Chart {
  element: HTMLElement;
  /** Marks the state that is shown. */
  show(at: number): void;
  /** Marks the states in which something of what is selected changed. */
  mark(states: Set<number>): void;
}

export function passChart(doc: PassesDoc, nameOf: (at: number) => string, pick: (at: number) => void): Chart {
  const { states } = doc;
  const most = Math.max(1, ...states.map((state) => state.operations));
  const bars = states.map((state, at) => {
    const [all, run] = [(34 * state.operations) / most, (34 * Math.min(state.kernels, state.operations)) / most];
    return s(
      "g",
      { "data-at": at, onclick: () => pick(at) },
      s("title", {}, `${nameOf(at)}: ${plural(state.operations, "operation")}, ${plural(state.kernels, "kernel")}`),
      s("rect", { x: at, y: 0, width: 1, height: 40, class: "jitscope-pass-hit" }),
      s("rect", { x: at + 0.08, y: 40 - all, width: 0.84, height: all, class: "jitscope-pass-operations" }),
      s("rect", { x: at + 0.08, y: 40 - run, width: 0.84, height: run, class: "jitscope-pass-kernels" }),
      s("rect", { x: at + 0.3, y: 0, width: 0.4, height: 3, class: "jitscope-pass-touch" }),
    );
  });
  const svg = s("svg", { ...sheet(states.length, 40), class: "jitscope-pass-chart", "aria-hidden": "true" }, ...bars);
  const curves = [
    curve("bytes moved", nameOf, states.map(({ bytes }) => bytes)),
    curve("arithmetic", nameOf, states.map(({ flops }) => flops)),
  ];
  return {
    element: h("div", {}, svg, ...curves.map(({ element }) => element)),
    show(at) {
      bars.forEach((bar, index) => bar.toggleAttribute("data-current", index === at));
      for (const one of curves) one.show(at);
    },
    mark(found) {
      bars.forEach((bar, index) => bar.toggleAttribute("data-related", found.has(index)));
    },
  };
}

const sheet = (count: number, height: number) => ({ viewBox: `0 0 ${count} ${height}`, preserveAspectRatio: "none" });

/** One small curve: a step for each state, from nothing to the most; with the number of the state that is shown. */
function curve(name: string, nameOf: (at: number) => string, values: Quantity[]): { element: HTMLElement; show(at: number): void } {
  const most = Math.max(...values.map(({ value }) => value ?? 0)) || 1;
  const y = (value: number) => 15 - (13 * value) / most;
  let path = "";
  let down = false; // the pen, which is up where a number is not known
  values.forEach(({ value }, at) => {
    if (value !== null) path += `${down ? "L" : "M"}${at} ${y(value)}H${at + 1}`;
    down = value !== null;
  });
  const dot = s("rect", { x: 0, y: 0, width: 1, height: 16, class: "jitscope-pass-hit" });
  const label = h("span", { class: "jitscope-pass-value" });
  const svg = s("svg", { ...sheet(values.length, 16), class: "jitscope-pass-curve", "aria-hidden": "true" }, dot, s("path", { d: path }));
  return {
    element: h("div", { class: "jitscope-pass-curve-row" }, svg, label),
    show(at) {
      dot.setAttribute("x", String(at));
      const one = values[at]!;
      const when = at ? `after ${nameOf(at)}` : nameOf(at);
      label.textContent = `${name} ${when}: ${quantity(one)}`;
      label.title = `${name} ${when}; ${origin(one)}; the curve: from nothing to ${quantity({ ...one, value: most })}`;
    },
  };
}
