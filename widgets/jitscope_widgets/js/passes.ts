// XLA's passes over a program, stepped through: what ran, what each pass changed, what became of each line.
import type { GraphDoc, GraphNode, Host, PassesDoc, PassRun, PassState, Position } from "./documents";
import { clear, grouped, h, plural } from "./dom";
import { Help } from "./help";
import { Links, Selection, type Selected } from "./links";
import type { View } from "./mount";
import { origin, quantity } from "./numbers";
import { passChart, type Chart } from "./passchart";
import { PassLinks, type Told } from "./passlinks";
import { lineButton, StepGraph, stepRows, type StepOptions } from "./passstep";
import { costOf } from "./sentences";

interface PassesMemory {
  at: number;
}

interface PassesOptions {
  doc: PassesDoc;
  host: Host;
  root: HTMLElement;
  links: Links;
  selection: Selection;
  memory?: PassesMemory;
}

/** The passes that left each state; the first state has none. */
function passOf(doc: PassesDoc): Map<number, PassRun> {
  return new Map(doc.passes.flatMap((one) => (one.state === null ? [] : [[one.state, one] as [number, PassRun]])));
}

function passName(one: PassRun): string {
  return one.rounds < 2 ? one.name : `${one.name}, round ${one.round} of ${one.rounds}`;
}

class PassesView implements View {
  readonly element: HTMLElement;
  private readonly doc: PassesDoc;
  private readonly passes: Map<number, PassRun>;
  private readonly told: PassLinks;
  private readonly slider: HTMLInputElement;
  private readonly step = h("div", { class: "jitscope-pass-step", "aria-live": "polite" });
  private readonly chosen = h("div", { class: "jitscope-pass-chosen", role: "status" });
  private readonly list: HTMLElement;
  private readonly chart: Chart;
  private readonly stepOptions: StepOptions;
  private graph: StepGraph | null = null;
  private rows: HTMLElement | null = null;
  private at: number;

  constructor(private readonly options: PassesOptions) {
    const { doc, root, links, selection, memory } = options;
    this.doc = doc;
    this.passes = passOf(doc);
    this.told = new PassLinks(doc, (at) => this.nameOf(at));
    const last = doc.states.length - 1;
    this.at = Math.min(memory?.at ?? Math.min(1, last), last);
    const pickLine = (line: string, position: Position) => this.pickLine(line, position);
    const lineOf = (position: Position) => this.told.lineOf(position);
    this.stepOptions = { doc, links, selection, root, lineOf, pickLine, help: () => new Help(root).show() };
    this.slider = h("input", {
      type: "range",
      min: 0,
      max: Math.max(last, 0),
      value: this.at,
      "aria-label": "Pass",
      class: "jitscope-pass-slider",
      oninput: () => this.show(Number(this.slider.value)),
    });
    this.chart = passChart(doc, (at) => this.nameOf(at), (at) => this.show(at));
    this.list = this.passList();
    this.element = h(
      "div",
      { class: "jitscope-passes" },
      h("p", { class: "jitscope-sentence" }, this.headline()),
      this.stages(),
      this.controls(),
      this.chosen,
      h("div", { class: "jitscope-pass-columns" }, this.list, this.step),
      this.fates(),
      costOf(doc.cost),
    );
    this.show(this.at);
    selection.onChange((selected) => this.selected(selected));
  }

  memory(): PassesMemory {
    return { at: this.at };
  }

  themed(): void {
    this.graph?.themed();
  }

  dispose(): void {
    this.graph?.dispose();
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
      h("div", { class: "jitscope-pass-track" }, this.chart.element, this.slider),
      button(1, "›", "The next pass"),
      h(
        "p",
        { class: "jitscope-pass-legend jitscope-muted" },
        h("span", { class: "jitscope-pass-key", "data-of": "operations" }),
        " operations before and after each pass, ",
        h("span", { class: "jitscope-pass-key", "data-of": "kernels" }),
        " kernels they would run as, ",
        h("span", { class: "jitscope-pass-key", "data-of": "shown" }),
        " the pass that is shown below; ≈: modelled, not measured",
      ),
    );
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
        h("span", { class: "jitscope-pass-touches", hidden: true }, "changed the selection"),
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
    this.chart.show(this.at);
    for (const button of this.buttons()) {
      const current = Number(button.dataset.at) === this.at;
      if (current) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    const state = this.doc.states[this.at];
    this.graph?.dispose();
    this.graph = this.rows = null;
    clear(this.step);
    if (state) this.step.append(...this.shown(state));
  }

  private buttons(): Iterable<HTMLElement> {
    return this.list.querySelectorAll<HTMLElement>("button[data-at]");
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
    this.graph = state.graph?.nodes.length ? new StepGraph(state, state.graph, this.stepOptions) : null;
    this.rows = this.makeRows(state);
    return this.graph ? [head, this.graph.element, this.rows] : [head, this.rows];
  }

  private makeRows(state: PassState): HTMLElement {
    const { paths } = this.options.selection.current;
    return stepRows(state, this.stepOptions, paths, paths.size ? this.told.called(paths) : "");
  }

  /** Something was picked, here or in another pane: the passes that changed it, what became of it, and its lines. */
  private selected({ paths }: Selected): void {
    const found = this.told.statesFor(paths);
    this.chart.mark(found);
    for (const button of this.buttons()) {
      const touched = found.has(Number(button.dataset.at));
      button.toggleAttribute("data-related", touched);
      button.querySelector<HTMLElement>(".jitscope-pass-touches")!.hidden = !touched;
    }
    this.graph?.mark();
    if (!this.rows?.contains(document.activeElement)) this.renewRows(); // else the row that was picked stays under the fingers
    this.tell(paths, found);
  }

  private renewRows(): void {
    const state = this.doc.states[this.at];
    if (!state || !this.rows) return;
    const rows = this.makeRows(state);
    this.rows.replaceWith(rows);
    this.rows = rows;
  }

  private tell(paths: Set<string>, touched: Set<number>): void {
    clear(this.chosen);
    if (!paths.size) return;
    const fates = this.told.fatesOf(paths);
    const clearAll = h("button", { type: "button", class: "jitscope-link", onclick: () => this.options.selection.clear() }, "Clear");
    const what = fates.length
      ? fates.flatMap((one, at) => [at ? "; " : " ", this.fateButton(one)])
      : [touched.size ? " no pass fused it, merged it or took it away" : " no pass changed it"];
    const passes = touched.size ? `; ${touched.size === 1 ? "1 pass" : `${touched.size} passes`} changed something of it, marked below. ` : ". ";
    this.chosen.append(h("strong", {}, `${this.told.called(paths)}:`), ...what, passes, clearAll);
  }

  private fateButton({ words, count, state }: Told): HTMLElement {
    return h("button", { type: "button", class: "jitscope-link", onclick: () => this.show(state) }, `${plural(count, "equation")} ${words}`);
  }

  private pickLine(line: string, position: Position): void {
    const { links, selection, host } = this.options;
    const inside = this.rows?.contains(document.activeElement);
    selection.set(links.fromPaths(this.told.pathsOfLine(line)));
    host.goto?.(position);
    if (!inside) return;
    this.renewRows();
    this.rows?.querySelector("button")?.focus();
  }

  /** Each line of the source with the passes in which its operations were fused, merged or lost. */
  private fates(): HTMLElement | null {
    const lines = this.told.lines();
    if (!lines.length) return null;
    const rows = lines.map(({ line, position, told }) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, lineButton(line, position, (name, place) => this.pickLine(name, place)), " ", h("code", {}, position.text.trim())),
        h("td", {}, ...told.flatMap((one, at) => [at ? h("br") : null, this.fateButton(one)])),
      ),
    );
    return h(
      "details",
      { class: "jitscope-pass-fates", open: true },
      h("summary", {}, "What became of each line"),
      h("table", {}, h("tbody", {}, ...rows)),
    );
  }
}

/** The passes of one compilation, with the selection that its panes share. */
export function passesPane(options: PassesOptions): View {
  return new PassesView(options);
}

/** The equations that a document of passes names, as far as links need them. */
function equations(doc: PassesDoc): GraphDoc {
  const nodes = Object.entries(doc.positions).map(([path, position]): GraphNode => ({
    id: path,
    kind: "equation",
    label: path,
    scope: null,
    types: [],
    bytes: 0,
    text: "",
    params: {},
    paths: [path],
    positions: [position],
    fused_into: null,
  }));
  return { kind: "graph", version: 1, level: "jaxpr", title: doc.title, nodes, edges: [] };
}

/** A document of passes by itself. */
export function passesView(doc: PassesDoc, host: Host, memory: PassesMemory | undefined, root: HTMLElement): View {
  return passesPane({ doc, host, root, memory, links: new Links(null, equations(doc)), selection: new Selection() });
}
