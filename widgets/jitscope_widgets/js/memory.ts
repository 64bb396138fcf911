// The memory of a program: the bytes in use over the schedule, the buffers alive at a step, what a change of the program would do.
import type { CompilationDoc, Host, MemoryBuffer, MemoryChange, MemoryDoc, Position } from "./documents";
import { clear, grouped, h, plural } from "./dom";
import { isNothing, Links, Selection, touches, type Selected } from "./links";
import { KINDS, MemoryChart } from "./memorychart";
import { sentence, type View } from "./mount";
import { bytes, origin, quantity } from "./numbers";
import { Roving } from "./roving";
import { costOf, say } from "./sentences";

const AT_ONCE = 20; // buffers shown at first
const ALL = 250;

interface MemoryMemory {
  step: number;
}

interface Around {
  host: Host;
  links: Links;
  selection: Selection;
  compilation?: CompilationDoc;
  memory?: MemoryMemory;
  ask?: ((options: Record<string, unknown>) => Promise<MemoryDoc>) | null;
}

/** How lines are called: by number alone where all of the program was written in one cell or file. */
function namesOfLines(positions: Record<string, Position>): (position: Position) => string {
  const homes = new Set(Object.values(positions).map((position) => position.file));
  return ({ cell, file, line }) => (homes.size < 2 ? `line ${line}` : `${cell ?? file.split(/[\\/]/).pop()} line ${line}`);
}

class MemoryView {
  readonly element: HTMLElement;
  private readonly chart: MemoryChart;
  private readonly head = h("div", { class: "jitscope-memory-head", "aria-live": "polite" });
  private readonly rows = h("div", { class: "jitscope-memory-rows", role: "listbox", "aria-label": "Buffers in use at this step, largest first" });
  private readonly changes = h("div", { class: "jitscope-memory-changes" });
  private readonly lineOf: (position: Position) => string;
  private readonly largest: number;
  private step: number;
  private shown = AT_ONCE;
  private picked: number | null = null;

  constructor(
    private readonly doc: MemoryDoc,
    private readonly around: Around,
  ) {
    this.lineOf = namesOfLines(doc.positions);
    this.largest = Math.max(1, ...doc.buffers.map((buffer) => buffer.bytes));
    this.step = Math.min(around.memory?.step ?? doc.peak.position, doc.length - 1);
    this.chart = new MemoryChart(doc, (step) => this.show(step));
    const { reserved, left_out: left } = doc;
    this.element = h(
      "div",
      { class: "jitscope-memory" },
      h("p", { class: "jitscope-sentence" }, this.headline()),
      h("p", { class: "jitscope-muted", title: origin(reserved.total) }, this.reserved()),
      this.chart.element,
      this.head,
      this.rows,
      left.buffers ? h("p", { class: "jitscope-muted" }, say("smaller buffers", { buffers: plural(left.buffers, "smaller buffer"), bytes: bytes(left.bytes) })) : null,
      this.changes,
      costOf(doc.cost),
    );
    new Roving(this.rows, ".jitscope-memory-row", (row) => this.pick(Number(row.dataset.buffer)), () => (around.selection.clear(), (this.picked = null)));
    this.drawChanges();
    this.show(this.step);
    around.selection.onChange((selected) => this.mark(selected));
  }

  private headline(): string {
    const { peak, length, reserved } = this.doc;
    const largest = this.doc.buffers[peak.buffers[0] ?? -1];
    const position = largest?.path ? this.doc.positions[largest.path] : undefined;
    const alike = this.doc.buffers[peak.buffers[1] ?? -1]?.bytes === largest?.bytes ? " (others are as large)" : "";
    const first = largest ? ` Largest buffer then: ${largest.label}, ${bytes(largest.bytes)}${position ? `, ${this.lineOf(position)}` : ""}${alike}.` : "";
    const places = { peak: bytes(peak.bytes), step: grouped(peak.position + 1), steps: grouped(length), what: peak.instruction, reserved: bytes(reserved.total.value ?? 0) };
    return say("peak", places) + first;
  }

  private reserved(): string {
    const { reserved, scopes } = this.doc;
    const parts = KINDS.flatMap(([kind, word]) => (reserved[kind].value ? [`${word} ${bytes(reserved[kind].value)}`] : []));
    const aliased = reserved.aliased.value ? say("aliased", { bytes: bytes(reserved.aliased.value) }) : "";
    return `${say("reserved", { parts: parts.join(", ") || "nothing", aliased })} A step is an instruction of the compiled program; a loop's body stands once.${scopes.length ? " Shaded: loops, branches and calls." : ""}`;
  }

  private show(step: number): void {
    this.step = step;
    this.chart.show(step);
    this.draw();
  }

  private draw(): void {
    const { doc, step } = this;
    const atPeak = step === doc.peak.position;
    const alive = doc.buffers.map((buffer, n) => [buffer, n] as const).filter(([{ born, dies }]) => born <= step && step <= dies);
    const { total } = this.chart.at(step);
    clear(this.head);
    const back = h("button", { type: "button", class: "jitscope-button", onclick: () => this.show(doc.peak.position) }, "Go to the peak");
    this.head.append(
      h("h4", {}, atPeak ? "In use at the peak, largest first" : `In use at step ${grouped(step + 1)}, largest first`),
      h("span", { class: "jitscope-muted" }, `${bytes(total)} in ${atPeak ? plural(doc.peak.count, "buffer") : `${plural(alive.length, "buffer")} kept here`}`),
      ...(atPeak ? [] : [back]),
    );
    clear(this.rows);
    const names = ["size", "", "what", "line", "in use over the steps, ┊ the peak"];
    this.rows.append(h("div", { class: "jitscope-memory-names", role: "presentation" }, ...names.map((name) => h("span", {}, name))));
    this.rows.append(...alive.slice(0, this.shown).map(([buffer, n]) => this.row(buffer, n)));
    if (alive.length > this.shown) {
      const more = h("button", { type: "button", class: "jitscope-fold", onclick: () => ((this.shown = ALL), this.draw()) }, `${grouped(alive.length - this.shown)} more`);
      this.rows.append(more);
    }
    this.rows.querySelector(".jitscope-memory-row")?.setAttribute("tabindex", "0");
    this.mark(this.around.selection.current);
  }

  private row(buffer: MemoryBuffer, n: number): HTMLElement {
    const { length, peak } = this.doc;
    const word = buffer.kind;
    const position = buffer.path === null ? undefined : this.doc.positions[buffer.path];
    const from = (100 * buffer.born) / length;
    const to = 100 - (100 * (buffer.dies + 1)) / length;
    const life = `in use from step ${grouped(buffer.born + 1)} to ${grouped(buffer.dies + 1)} of ${grouped(length)}`;
    const where = position ? `${this.lineOf(position)}: ${position.text.trim()}` : buffer.kind === "argument" ? say("given") : "";
    const told = `${buffer.label}, ${buffer.type}, ${bytes(buffer.bytes)}, memory of ${word}s, ${life}${where ? `, ${where}` : ""}; instruction ${buffer.instruction}`;
    return h(
      "div",
      { class: "jitscope-memory-row", role: "option", "aria-selected": "false", "data-buffer": n, tabindex: -1, title: told },
      h("span", { class: "jitscope-memory-size" }, bytes(buffer.bytes)),
      h("span", { class: "jitscope-memory-bar" }, h("span", { "data-of": buffer.kind, style: { "--share": `${(100 * buffer.bytes) / this.largest}%` } })),
      h("span", { class: "jitscope-memory-what" }, h("strong", {}, buffer.label), " ", h("code", {}, buffer.type), " ", h("span", { class: "jitscope-muted" }, word)),
      h("span", { class: "jitscope-memory-line" }, position ? h("span", {}, this.lineOf(position)) : "", " ", position ? h("code", {}, position.text.trim()) : h("span", { class: "jitscope-muted" }, where)),
      h("span", { class: "jitscope-memory-life" }, h("span", { "data-of": buffer.kind, style: { "--from": `${from}%`, "--to": `${to}%` } }), h("i", { style: { "--at": `${(100 * (peak.position + 0.5)) / length}%` } })),
    );
  }

  private pick(n: number): void {
    const buffer = this.doc.buffers[n];
    if (!buffer) return;
    this.picked = n;
    const { links, selection, compilation, host } = this.around;
    const input = `in${buffer.argument}`;
    const kernel = compilation?.fusion?.kernels.find((one) => one.name === buffer.kernel);
    if (buffer.argument !== null && compilation?.graph.nodes.some(({ id }) => id === input)) selection.set(links.fromNode(compilation.graph, "jaxpr", input));
    else if (buffer.path !== null) {
      const selected = links.fromPath(buffer.path);
      selection.set(kernel ? { ...selected, kernels: new Set([kernel.name]) } : selected);
    } else selection.clear();
    const position = buffer.path === null ? undefined : this.doc.positions[buffer.path];
    if (position) host.goto?.(position);
  }

  /** Whether what is selected is, or made, what a buffer holds. */
  private belongs(buffer: MemoryBuffer, n: number, selected: Selected): boolean {
    if (n === this.picked) return true;
    if (selected.node && buffer.argument !== null) return selected.node.id === `in${buffer.argument}`;
    return touches(buffer.path === null ? [] : [buffer.path], selected.paths) || (selected.paths.size === 0 && buffer.kernel !== null && selected.kernels.has(buffer.kernel));
  }

  private mark(selected: Selected): void {
    if (isNothing(selected)) this.picked = null;
    const found = isNothing(selected) ? [] : this.doc.buffers.filter((buffer, n) => this.belongs(buffer, n, selected));
    const all = new Set(found);
    this.chart.mark(found);
    for (const row of this.rows.querySelectorAll<HTMLElement>(".jitscope-memory-row")) {
      const related = all.has(this.doc.buffers[Number(row.dataset.buffer)]!);
      row.toggleAttribute("data-related", related);
      row.setAttribute("aria-selected", String(related));
    }
  }

  // what a change of the program would do

  private drawChanges(): void {
    const { changes } = this.doc;
    clear(this.changes);
    const shown = changes.filter((change) => change.tried || this.around.ask);
    if (!shown.length) return;
    this.changes.append(
      h("h4", {}, "What would change"),
      h("p", { class: "jitscope-muted" }, "Each of these is tried by compiling the program with it; nothing is run, nothing is estimated."),
      h("ul", {}, ...shown.map((change) => this.change(change))),
    );
  }

  private change(change: MemoryChange): HTMLElement {
    const place = change.position ? ` (${this.lineOf(change.position)})` : "";
    const name = h("strong", {}, change.text, place);
    if (change.tried) return h("li", { "data-change": change.id }, name, " ", this.result(change.tried));
    const answer = h("span", { class: "jitscope-muted", role: "status", "aria-live": "polite" });
    const button = h("button", { type: "button", class: "jitscope-button", "data-change": change.id }, "Compile with it");
    button.addEventListener("click", async () => {
      button.disabled = true;
      answer.textContent = "compiling…";
      try {
        const again = await this.around.ask!({ change: change.id });
        Object.assign(change, again.changes.find(({ id }) => id === change.id));
        this.drawChanges();
        this.changes.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
      } catch (error) {
        answer.textContent = sentence(error);
        button.disabled = false;
      }
    });
    return h("li", { "data-change": change.id }, name, " ", button, " ", answer);
  }

  private result(tried: NonNullable<MemoryChange["tried"]>): HTMLElement {
    const { peak, reserved } = this.doc;
    const figure = (word: string, now: number, before: number, said: (value: number) => string) => {
      const share = before ? (100 * (now - before)) / before : 0;
      const by = now === before ? "the same" : `${share > 0 ? "+" : "−"}${Math.abs(share).toFixed(1)} %`;
      return say("instead of", { what: word, new: said(now), old: said(before), by });
    };
    const { flops, flops_before: before, seconds, note } = tried;
    const parts = [figure("in use at most", tried.peak, peak.bytes, bytes), figure("reserved", tried.reserved, reserved.total.value ?? 0, bytes)];
    if (flops.value !== null && before.value !== null)
      parts.push(figure("arithmetic", flops.value, before.value, (value) => quantity({ ...flops, value })));
    return h("span", {}, say("tried", { figures: parts.join(", "), note: note ? `; ${note}` : "", time: quantity(seconds), before: quantity(this.doc.cost) }));
  }

  memory(): MemoryMemory {
    return { step: this.step };
  }
}

export function memoryView(doc: MemoryDoc, around: Around): View {
  const view = new MemoryView(doc, around);
  return { element: view.element, memory: () => view.memory(), dispose() {} };
}

/** The document by itself. */
export function memoryAlone(doc: MemoryDoc, host: Host, memory: MemoryMemory | undefined): View {
  return memoryView(doc, { host, links: new Links(null, null), selection: new Selection(), memory });
}
