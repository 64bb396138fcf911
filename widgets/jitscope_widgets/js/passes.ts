// XLA's passes over a program, stepped through: what ran, what each pass changed, what became of each line.
import type { Host, PassesDoc, PassRow, PassRun, PassState, Position } from "./documents";
import { clear, grouped, h, plural, s } from "./dom";
import { place } from "./graph/tooltip";
import { hlo } from "./highlight";
import type { View } from "./mount";
import { origin, quantity } from "./numbers";

const SIGNS: Record<PassRow["kind"], [string, string]> = {
  removed: ["−", "removed"],
  added: ["+", "added"],
  changed: ["≠", "changed"],
  rewired: ["↺", "reads other operands"],
  fused: ["⊂", "went into a kernel"],
  moved: ["→", "moved"],
};
const BLOCK = 200; // rows made at once

export interface PassesMemory {
  at: number;
  line: string | null;
}

/** The passes that left each state; the first state has none. */
function passOf(doc: PassesDoc): Map<number, PassRun> {
  return new Map(doc.passes.flatMap((one) => (one.state === null ? [] : [[one.state, one] as [number, PassRun]])));
}

export function passName(one: PassRun): string {
  return one.rounds < 2 ? one.name : `${one.name}, round ${one.round} of ${one.rounds}`;
}

/** How the lines of a program are called: by number alone where all of it was written in one cell or file. */
function namesOfLines(positions: Record<string, Position>): (position: Position) => string {
  const homes = new Set(Object.values(positions).map((position) => position.file));
  return (position) => (homes.size < 2 ? `line ${position.line}` : place({ ...position, end_line: position.line, end_column: 0, column: 0 }));
}

class PassesView {
  readonly element: HTMLElement;
  private readonly passes: Map<number, PassRun>;
  private readonly slider: HTMLInputElement;
  private readonly step = h("div", { class: "jitscope-pass-step", "aria-live": "polite" });
  private readonly list: HTMLElement;
  private readonly bars: SVGElement[] = [];
  private readonly lineOf: (position: Position) => string;
  private at: number;
  private line: string | null;

  constructor(
    private readonly doc: PassesDoc,
    private readonly host: Host,
    memory: PassesMemory | undefined,
  ) {
    this.passes = passOf(doc);
    this.lineOf = namesOfLines(doc.positions);
    const last = doc.states.length - 1;
    this.at = Math.min(memory?.at ?? Math.min(1, last), last);
    this.line = memory?.line ?? null;
    this.slider = h("input", {
      type: "range",
      min: 0,
      max: Math.max(last, 0),
      value: this.at,
      "aria-label": "Pass",
      class: "jitscope-pass-slider",
      oninput: () => this.show(Number(this.slider.value)),
    });
    this.list = this.passList();
    this.element = h(
      "div",
      { class: "jitscope-passes" },
      h("p", { class: "jitscope-sentence" }, this.headline()),
      this.stages(),
      this.controls(),
      h("div", { class: "jitscope-pass-columns" }, this.list, this.step),
      this.fates(),
      h(
        "p",
        { class: "jitscope-muted", title: origin(doc.cost) },
        `Finding this out took ${quantity(doc.cost)}: ${doc.cost.note}.`,
      ),
    );
    this.show(this.at);
  }

  memory(): PassesMemory {
    return { at: this.at, line: this.line };
  }

  private headline(): string {
    const [first, last] = [this.doc.states[0], this.doc.states[this.doc.states.length - 1]];
    const head = `${plural(this.doc.passes.length, "pass")} ran, ${grouped(this.passes.size)} of them changed the program`;
    return first && last ? `${head}: ${plural(first.operations, "operation")} → ${plural(last.kernels, "kernel")}` : head;
  }

  private stages(): HTMLElement | null {
    const { stages } = this.doc;
    if (!stages.length) return null;
    const parts = stages.map((stage) => h("span", { title: `${stage.does}; ${origin(stage.seconds)}` }, `${stage.name} ${quantity(stage.seconds)}`));
    return h("p", { class: "jitscope-pass-stages" }, "Compiling took: ", ...parts.flatMap((part, at) => (at ? [" · ", part] : [part])));
  }

  private controls(): HTMLElement {
    const button = (by: number, sign: string, label: string) =>
      h("button", { type: "button", class: "jitscope-button", "aria-label": label, title: label, onclick: () => this.show(this.at + by) }, sign);
    return h(
      "div",
      { class: "jitscope-pass-controls" },
      button(-1, "‹", "The pass before"),
      h("div", { class: "jitscope-pass-track" }, this.chart(), this.slider),
      button(1, "›", "The next pass"),
      h(
        "p",
        { class: "jitscope-pass-legend jitscope-muted" },
        h("span", { class: "jitscope-pass-key", "data-of": "operations" }),
        " operations before and after each pass, ",
        h("span", { class: "jitscope-pass-key", "data-of": "kernels" }),
        " kernels they would run as",
      ),
    );
  }

  /** Operations and kernels of each state as bars; the slider below has a place for each. */
  private chart(): SVGElement {
    const { states } = this.doc;
    const most = Math.max(1, ...states.map((state) => state.operations));
    const svg = s("svg", { viewBox: `0 0 ${states.length} 40`, preserveAspectRatio: "none", class: "jitscope-pass-chart", "aria-hidden": "true" });
    states.forEach((state, at) => {
      const [all, run] = [(38 * state.operations) / most, (38 * Math.min(state.kernels, state.operations)) / most];
      const bar = s(
        "g",
        { "data-at": at, onclick: () => this.show(at) },
        s("title", {}, `${this.nameOf(at)}: ${plural(state.operations, "operation")}, ${plural(state.kernels, "kernel")}`),
        s("rect", { x: at, y: 0, width: 1, height: 40, class: "jitscope-pass-hit" }),
        s("rect", { x: at + 0.08, y: 40 - all, width: 0.84, height: all, class: "jitscope-pass-operations" }),
        s("rect", { x: at + 0.08, y: 40 - run, width: 0.84, height: run, class: "jitscope-pass-kernels" }),
      );
      this.bars.push(bar);
      svg.append(bar);
    });
    return svg;
  }

  private nameOf(at: number): string {
    const one = this.passes.get(at);
    return one ? passName(one) : "before the passes";
  }

  private passList(): HTMLElement {
    const list = h("ol", { class: "jitscope-pass-list", "aria-label": "Passes that ran" });
    let waiting: PassRun[] = [];
    const fold = () => {
      if (!waiting.length) return;
      const names = waiting.map((one) => h("li", { title: one.does }, passName(one), " ", h("span", { class: "jitscope-muted" }, quantity(one.seconds))));
      const count = `${grouped(waiting.length)} changed nothing`;
      list.append(h("li", { class: "jitscope-pass-idle" }, h("details", {}, h("summary", {}, count), h("ul", {}, ...names))));
      waiting = [];
    };
    for (const one of this.doc.passes) {
      if (one.state === null) {
        waiting.push(one);
        continue;
      }
      fold();
      const { state } = one;
      const button = h(
        "button",
        { type: "button", "data-at": state, title: one.pipelines.join(" › "), onclick: () => this.show(state) },
        h("strong", {}, passName(one)),
        " ",
        h("span", { class: "jitscope-muted" }, quantity(one.seconds)),
      );
      list.append(h("li", {}, button));
    }
    fold();
    return list;
  }

  private show(at: number): void {
    this.at = Math.max(0, Math.min(at, this.doc.states.length - 1));
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", this.nameOf(this.at));
    this.bars.forEach((bar, index) => bar.toggleAttribute("data-current", index === this.at));
    for (const button of this.list.querySelectorAll<HTMLElement>("button[data-at]")) {
      const current = Number(button.dataset.at) === this.at;
      if (current) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    const state = this.doc.states[this.at];
    clear(this.step);
    if (state) this.step.append(...this.shown(state));
  }

  private shown(state: PassState): HTMLElement[] {
    const one = this.passes.get(this.at);
    const facts = `${plural(state.operations, "operation")} in ${plural(state.kernels, "kernel")}, ${quantity(state.flops)}, ${quantity(state.bytes)} moved`;
    const head = h(
      "header",
      {},
      h("h4", {}, this.nameOf(this.at)),
      one?.does ? h("p", {}, `It ${one.does}.`) : null,
      h("p", { class: "jitscope-pass-sentence" }, one ? `${state.sentence}.` : "The program as it was lowered."),
      h("p", { class: "jitscope-muted", title: `${origin(state.flops)}` }, `${one ? "After it" : "It has"}: ${facts}.`),
    );
    return [head, this.rows(state)];
  }

  private rows(state: PassState): HTMLElement {
    const rows = this.line === null ? state.rows : state.rows.filter((row) => row.paths.some((path) => this.isOf(path, this.line!)));
    const table = h("div", { class: "jitscope-pass-rows", tabindex: 0, role: "region", "aria-label": "What it changed" });
    const more = h("button", { type: "button", class: "jitscope-button" });
    let made = 0;
    const add = () => {
      table.append(...rows.slice(made, made + BLOCK).map((row) => this.row(row)));
      made += BLOCK;
      if (made < rows.length) {
        more.textContent = `${grouped(rows.length - made)} more`;
        table.append(more);
      } else more.remove();
    };
    more.addEventListener("click", add);
    if (this.line !== null) table.append(this.filter(rows.length, state.rows.length));
    add();
    if (state.left_out) table.append(h("p", { class: "jitscope-muted" }, `${plural(state.left_out, "more change")} of this pass: not kept in this document.`));
    return table;
  }

  private filter(shown: number, all: number): HTMLElement {
    const drop = () => ((this.line = null), this.show(this.at));
    return h(
      "p",
      { class: "jitscope-pass-filter" },
      `Only ${this.line}: ${shown} of ${plural(all, "change")} kept. `,
      h("button", { type: "button", class: "jitscope-link", onclick: drop }, "Show all"),
    );
  }

  private isOf(path: string, line: string): boolean {
    const position = this.doc.positions[path];
    return position !== undefined && this.lineOf(position) === line;
  }

  private row(row: PassRow): HTMLElement {
    const [sign, word] = SIGNS[row.kind];
    const both = row.before !== null && row.after !== null && (row.kind === "changed" || row.kind === "rewired");
    const lines = [];
    if (both) lines.push(h("code", { class: "jitscope-pass-was" }, hlo(row.before!)));
    lines.push(h("code", {}, hlo(row.after ?? row.before ?? "")));
    const went = row.kind === "fused" || row.kind === "moved" ? `${row.from} → ${row.to}` : "";
    const found = [...new Set(row.paths.flatMap((path) => (this.doc.positions[path] ? [path] : [])))];
    const position = found.length ? this.doc.positions[found[0]!]! : null;
    return h(
      "div",
      { class: "jitscope-pass-row", "data-kind": row.kind },
      h("span", { class: "jitscope-pass-sign", title: word, role: "img", "aria-label": word }, sign),
      h("div", {}, ...lines, went ? h("span", { class: "jitscope-muted" }, went) : null),
      position ? this.lineButton(this.lineOf(position), position) : h("span", {}),
    );
  }

  private lineButton(line: string, position: Position): HTMLElement {
    const pick = () => {
      this.line = line;
      this.host.goto?.(position);
      this.show(this.at);
    };
    return h("button", { type: "button", class: "jitscope-link", title: `Only what stems from ${line}`, onclick: pick }, line);
  }

  /** Each line of the source with the passes in which its operations were fused, merged or lost. */
  private fates(): HTMLElement | null {
    const lines = new Map<string, { position: Position; told: Map<string, { count: number; state: number }> }>();
    for (const fate of this.doc.fates) {
      const position = this.doc.positions[fate.path];
      if (!position) continue;
      const line = this.lineOf(position);
      const known = lines.get(line) ?? { position, told: new Map() };
      lines.set(line, known);
      const words = `${WHAT[fate.what]} by ${this.nameOf(fate.state)}`;
      const entry = known.told.get(words) ?? { count: 0, state: fate.state };
      known.told.set(words, { ...entry, count: entry.count + 1 });
    }
    if (!lines.size) return null;
    const rows = [...lines].map(([line, { position, told }]) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, this.lineButton(line, position), " ", h("code", {}, position.text.trim())),
        h(
          "td",
          {},
          ...[...told].flatMap(([words, { count, state }], at) => [
            at ? h("br") : null,
            h("button", { type: "button", class: "jitscope-link", onclick: () => this.show(state) }, `${plural(count, "equation")} ${words}`),
          ]),
        ),
      ),
    );
    return h(
      "details",
      { class: "jitscope-pass-fates" },
      h("summary", {}, "What became of each line"),
      h("table", {}, h("tbody", {}, ...rows)),
    );
  }
}

const WHAT = {
  fused: "fused",
  library: "handed to a library",
  merged: "merged with equal ones",
  gone: "removed or rewritten",
};

export function passesView(doc: PassesDoc, host: Host, memory: PassesMemory | undefined): View {
  const view = new PassesView(doc, host, memory);
  return { element: view.element, memory: () => view.memory(), dispose() {} };
}
