// A program's code as LLVM and the processor get it: functions with the kernels that run them, their loops, their instructions, and
// LLVM's IR before and after its passes.
import { codePane, type CodeLine } from "./codelines";
import type { CodeFunction, Host, MachineDoc, Mix, Position } from "./documents";
import { clear, grouped, h, plural } from "./dom";
import { place } from "./graph/tooltip";
import { assembly, llvm } from "./highlight";
import { NOTHING, type Links, type Selected, type Selection } from "./links";
import { sentence, type View } from "./mount";
import { percent, quantity } from "./numbers";
import { Roving } from "./roving";
import { choice } from "./tabs";
import { costOf, say } from "./sentences";

type Part = "code" | "llvm";

interface MachineMemory {
  function: string | null;
  part: Part;
  whole: boolean;
}

interface MachineOptions {
  host: Host;
  links?: Links;
  selection?: Selection;
  memory?: MachineMemory;
  /** Which part to open first; without it there is a choice between them. */
  part?: Part;
  /** The share of each kernel in the time of all, where that was measured elsewhere. */
  shares?: Map<string, number>;
  /** Asks for a document with the code of one function. */
  ask?: ((options: Record<string, unknown>) => Promise<MachineDoc>) | null;
}

const WORDS: Record<string, string> = { kernel: "run by", comparator: "for", helper: "for", unknown: "for" };
const SHOWN = 4; // kernels and lines named at once

class MachineView {
  readonly element: HTMLElement;
  private readonly list: HTMLElement;
  private readonly detail = h("div", { class: "jitscope-code-detail", "aria-live": "polite" });
  private readonly told = h("div", { class: "jitscope-code-selected", role: "status" });
  private readonly items = new Map<string, HTMLElement>();
  private now: CodeFunction | null = null;
  private part: Part;
  private whole: boolean;
  private own = false; // the selection is being set from here

  private readonly functions: CodeFunction[]; // those first that take most time

  constructor(
    private readonly doc: MachineDoc,
    private readonly options: MachineOptions,
  ) {
    const { memory, selection } = options;
    this.functions = [...doc.functions].sort((one, other) => (this.shareOf(other) ?? 0) - (this.shareOf(one) ?? 0));
    this.part = options.part ?? memory?.part ?? doc.opens ?? "code";
    this.whole = memory?.whole ?? false;
    this.list = h(
      "div",
      { class: "jitscope-code-list", role: "listbox", "aria-label": "Functions of the program" },
      ...this.functions.map((one) => this.item(one)),
    );
    const pick = (item: HTMLElement) => this.picked(item.dataset.function!);
    new Roving(this.list, "[data-function]", pick, () => selection?.clear());
    this.element = h(
      "div",
      { class: "jitscope-machine" },
      this.head(),
      this.told,
      doc.functions.length ? h("div", { class: "jitscope-code-columns" }, h("div", {}, this.order(), this.list), this.detail) : this.detail,
      this.without(),
      costOf(doc.cost),
    );
    this.show(this.functions.find((one) => one.name === memory?.function) ?? this.functions[0] ?? null);
    selection?.onChange((selected) => this.selected(selected));
  }

  memory(): MachineMemory {
    return { function: this.now?.name ?? null, part: this.part, whole: this.whole };
  }

  showPart(part: string): void {
    this.part = part === "llvm" ? "llvm" : "code";
    this.show(this.now);
  }

  private head(): HTMLElement {
    const { doc, options } = this;
    const target = [doc.processor, doc.triple].filter(Boolean).join(", ");
    const parts = [
      { id: "code", title: "Machine code" },
      { id: "llvm", title: "LLVM" },
    ];
    return h(
      "header",
      {},
      h("p", { class: "jitscope-sentence" }, `${doc.sentence}${target ? `; for ${target}` : ""}`),
      ...doc.notes.map((note) => h("p", { class: "jitscope-code-note" }, note)),
      h("p", { class: "jitscope-muted" }, say("code linked")),
      options.part || !doc.functions.length
        ? null
        : choice("What to show", parts, this.part, (id) => {
            this.part = id as Part;
            this.show(this.now);
          }),
    );
  }

  private shareOf(one: CodeFunction): number | null {
    const { shares } = this.options;
    if (one.role !== "kernel" || !shares?.size) return one.share;
    return one.kernels.reduce((sum, kernel) => sum + (shares.get(kernel) ?? 0), 0);
  }

  private order(): HTMLElement | null {
    const { functions } = this;
    if (functions.length < 2) return null;
    const measured = functions.some((one) => this.shareOf(one) !== null);
    return h("p", { class: "jitscope-muted" }, measured ? "By measured time, the most first" : "By bytes written (modelled), the most first; times were not measured");
  }

  private item(one: CodeFunction): HTMLElement {
    const { doc } = this;
    const lines = one.lines.map((at) => doc.positions[at]!.line);
    const known = this.shareOf(one);
    const share = known === null ? null : h("span", { class: "jitscope-code-share", title: "share of the kernels' measured time" }, percent(known));
    const item = h(
      "div",
      { class: "jitscope-code-item", role: "option", "data-function": one.name, tabindex: "-1", "aria-selected": "false" },
      h("code", {}, ...one.name.split(/(?<=_)/).flatMap((part) => [part, h("wbr")])),
      share,
      h(
        "span",
        { class: "jitscope-muted" },
        [
          one.role === "kernel" ? plural(one.kernels.length, "kernel") : one.role === "unknown" ? "use unknown" : one.role,
          lines.length ? `line${lines.length > 1 ? "s" : ""} ${lines.slice(0, SHOWN).join(", ")}${lines.length > SHOWN ? "…" : ""}` : "line unknown",
          `${grouped(one.bytes)} B`,
        ].join(" · "),
      ),
    );
    this.items.set(one.name, item);
    return item;
  }

  /** Kernels that run no function of the program, by the reason. */
  private without(): HTMLElement | null {
    const without = this.doc.kernels.filter((kernel) => kernel.function === null);
    if (!without.length) return null;
    const reasons = [...new Set(without.map((kernel) => kernel.note))];
    const said = (kernels: MachineDoc["kernels"]) => {
      const shares = kernels.flatMap((kernel) => this.options.shares?.get(kernel.name) ?? kernel.share ?? []);
      const share = shares.length ? `, ${ofMeasuredTime(shares.reduce((sum, one) => sum + one, 0))}` : "";
      return [plural(kernels.length, "kernel"), kernels.length === 1 ? "its" : "their", share] as const;
    };
    const rows = reasons.map((note) => {
      const names = without.filter((kernel) => kernel.note === note);
      const [count, , share] = said(names);
      const listed = names.slice(0, 40).map((kernel) => kernel.name).join(", ");
      return h("li", {}, note, " ", h("span", { class: "jitscope-muted" }, `${count}${share}: ${listed}${names.length > 40 ? " …" : ""}`));
    });
    const [count, whose, share] = said(without);
    return h("details", { class: "jitscope-code-without" }, h("summary", {}, say("without code", { kernels: count, whose, took: share })), h("ul", {}, ...rows));
  }

  // selection, both ways

  private picked(name: string): void {
    const one = this.doc.functions.find((other) => other.name === name);
    if (!one) return;
    this.show(one);
    const { selection } = this.options;
    if (!selection) return;
    this.own = true;
    selection.set(this.selectionOf(one.kernels));
    this.own = false;
    this.mark(one.kernels.length ? selection.current : NOTHING);
  }

  private selectionOf(names: string[]): Selected {
    const { links } = this.options;
    const found: Selected = { paths: new Set(), lines: new Set(), kernels: new Set(names), node: null };
    for (const name of names) {
      const selected = links?.fromKernelNamed(name);
      for (const path of selected?.paths ?? []) found.paths.add(path);
      for (const line of selected?.lines ?? []) found.lines.add(line);
    }
    return found;
  }

  private selected(selected: Selected): void {
    if (this.own) return;
    const related = this.related(selected);
    this.mark(selected);
    if (related[0] && !related.includes(this.now!)) this.show(related[0]);
    clear(this.told);
    if (!selected.kernels.size) return;
    this.told.append(...this.tell(selected, related));
  }

  private related(selected: Selected): CodeFunction[] {
    return this.functions.filter((one) => one.kernels.some((kernel) => selected.kernels.has(kernel)));
  }

  private mark(selected: Selected): void {
    const related = new Set(this.related(selected).map((one) => one.name));
    for (const [name, item] of this.items) item.toggleAttribute("data-related", related.has(name));
    this.list.toggleAttribute("data-filtered", related.size > 0);
  }

  /** What is selected elsewhere, in words: how many functions run it, and why some of its kernels have none. */
  private tell(selected: Selected, related: CodeFunction[]): (Node | string)[] {
    const bare = this.doc.kernels.filter(({ name, function: run }) => run === null && selected.kernels.has(name));
    const notes = [...new Set(bare.map(({ note }) => note))];
    const functions = related.length ? `is run by ${plural(related.length, "function")} here` : "runs no function of this program";
    const show = h("button", { type: "button", class: "jitscope-link", onclick: () => this.options.selection?.clear() }, "Show all");
    return [
      h("p", {}, `The selection (${plural(selected.kernels.size, "kernel")}) ${functions}. `, show),
      ...notes.map((note) => h("p", { class: "jitscope-muted" }, `${plural(bare.filter((one) => one.note === note).length, "kernel")}: ${note}`)),
    ];
  }

  // one function

  private show(one: CodeFunction | null): void {
    this.now = one;
    for (const [name, item] of this.items) {
      item.setAttribute("aria-selected", String(name === one?.name));
      if (name === one?.name) {
        for (const other of this.items.values()) other.tabIndex = other === item ? 0 : -1;
        item.scrollIntoView?.({ block: "nearest" });
      }
    }
    clear(this.detail);
    if (one) this.detail.append(this.about(one), this.part === "llvm" ? this.ir(one) : this.code(one));
    else this.detail.append(h("p", { class: "jitscope-empty" }, "There is no code to show."));
  }

  private about(one: CodeFunction): HTMLElement {
    const calls = one.calls.map((call) => `${call.name}${call.count > 1 ? ` (${plural(call.count, "place")})` : ""}`);
    return h(
      "header",
      {},
      h("h4", {}, h("code", {}, one.name)),
      h("p", {}, `${grouped(one.bytes)} bytes, ${plural(one.mix.total, "instruction")}, `, ...this.kernels(one), this.share(one)),
      this.lines(one),
      one.note ? h("p", { class: "jitscope-muted" }, one.note) : null,
      calls.length ? h("p", {}, "Calls ", h("code", {}, calls.join(", ")), ".") : null,
      one.undecoded ? h("p", { class: "jitscope-code-note" }, say("not instructions", { bytes: plural(one.undecoded, "byte") })) : null,
    );
  }

  private share(one: CodeFunction): string {
    const known = this.shareOf(one);
    if (known !== null) return `; ${ofMeasuredTime(known)}`;
    return one.written.value === null ? "" : `; ${quantity(one.written)} written in a call (modelled)`;
  }

  private kernels(one: CodeFunction): (Node | string)[] {
    if (!one.kernels.length) return [say("no kernel known")];
    const { selection, links } = this.options;
    const name = (kernel: string) => {
      if (!selection || !links) return h("code", {}, kernel);
      const pick = () => selection.set(links.fromKernelNamed(kernel) ?? NOTHING);
      return h("button", { type: "button", class: "jitscope-link", title: "Select this kernel everywhere", onclick: pick }, kernel);
    };
    const shown = one.kernels.slice(0, SHOWN).flatMap((kernel, at) => (at ? [", ", name(kernel)] : [name(kernel)]));
    const more = one.kernels.length - SHOWN;
    return [`${WORDS[one.role]} `, ...shown, more > 0 ? ` and ${plural(more, "more kernel")}` : ""];
  }

  private lines(one: CodeFunction): HTMLElement | null {
    if (!one.lines.length) return null;
    const found = one.lines.map((at) => this.doc.positions[at]!);
    const homes = new Set(this.doc.positions.map((position) => position.file));
    const rows = found.slice(0, 2 * SHOWN).map((position) => h("li", {}, this.line(position, homes.size > 1), " ", h("code", {}, position.text.trim())));
    const more = found.length - rows.length;
    return h("ul", { class: "jitscope-code-lines", "aria-label": "Lines it stems from" }, ...rows, more > 0 ? h("li", {}, `and ${plural(more, "more line")}`) : null);
  }

  private line(position: Position, whole: boolean): HTMLElement {
    const { host, links, selection } = this.options;
    const said = whole ? place({ ...position, end_line: position.line, end_column: 0, column: 0 }) : `line ${position.line}`;
    const pick = () => {
      host.goto?.(position);
      const [line] = links?.linesOf({ positions: [position], paths: [] }) ?? [];
      if (line !== undefined) selection?.set(links!.fromLine(line));
    };
    return h("button", { type: "button", class: "jitscope-link", onclick: pick }, said);
  }

  // machine code

  private code(one: CodeFunction): HTMLElement {
    if (one.blocks === null) return this.missing(one);
    const hot = one.hot === null ? null : one.loops[one.hot]!;
    const blocks = hot && !this.whole ? hot.blocks : one.blocks.map((_, number) => number);
    const pieces = [
      { id: "hot", title: "Hot loop", hint: say("likely hot") },
      { id: "whole", title: "Whole function" },
    ];
    const pick = (id: string) => {
      this.whole = id === "whole";
      this.show(this.now);
      this.detail.querySelector<HTMLInputElement>("input:checked")?.focus(); // the choice was made anew
    };
    const mix = hot && !this.whole ? hot.mix : one.mix;
    const label = hot && !this.whole ? `The likely hot loop of ${one.name}` : `Machine code of ${one.name}`;
    return h(
      "div",
      {},
      hot ? choice("How much of it", pieces, this.whole ? "whole" : "hot", pick) : null,
      hot && !this.whole ? h("p", { class: "jitscope-muted" }, this.which(one)) : null,
      h("p", { class: "jitscope-code-work" }, `${hot ? "" : "No loop: "}${inShort(mix)}`),
      this.mix(mix.counts, mix.total),
      codePane(label, this.codeLines(one, blocks), assembly),
      one.left_out ? h("p", { class: "jitscope-muted" }, say("code left out", { instructions: plural(one.left_out, "more instruction") })) : null,
    );
  }

  private which(one: CodeFunction): string {
    const depth = one.loops[one.hot!]!.depth;
    const nested = depth > 1 ? `, nested ${depth} deep` : "";
    return one.loops.length > 1 ? `One of ${plural(one.loops.length, "loop")}${nested}. ${say("likely hot")}` : `The only loop of this function${nested}.`;
  }

  /** How many instructions do what, as a bar with its words. */
  private mix(counts: Record<string, number>, total: number): HTMLElement {
    const found = Object.entries(counts).sort((a, b) => b[1] - a[1]);
    return h(
      "ul",
      { class: "jitscope-code-mix", "aria-label": "Instructions by what they do" },
      ...found.map(([what, count]) =>
        h("li", {}, h("span", { class: "jitscope-code-bar", "aria-hidden": "true", style: { "--part": `${(100 * count) / Math.max(total, 1)}%` } }), `${grouped(count)} ${what}`),
      ),
    );
  }

  private codeLines(one: CodeFunction, numbers: number[]): CodeLine[] {
    const hot = new Set(one.hot === null ? [] : one.loops[one.hot]!.blocks);
    return numbers.flatMap((number) => {
      const block = one.blocks![number]!;
      const ways = block.ways.length ? `, then block ${block.ways.join(" or ")}` : "";
      const loop = block.depth ? `, in ${plural(block.depth, "loop")}${hot.has(number) ? " (hot)" : ""}` : "";
      const own = { depth: block.depth, hot: hot.has(number) };
      const rows = block.code ? block.code.split("\n") : [];
      return [
        { ...own, number: "", text: `block ${number}${loop}${ways}`, header: true },
        ...rows.map((row) => {
          const [at, mnemonic, operands, note] = row.split("\t") as [string, string, string, string];
          return { ...own, number: at, text: `${mnemonic.padEnd(13)}${operands}${note ? `  ; ${note}` : ""}` };
        }),
      ];
    });
  }

  private missing(one: CodeFunction): HTMLElement {
    const { ask } = this.options;
    const words = say("code not kept", { function: one.name });
    if (!ask) return h("p", { class: "jitscope-empty" }, `${words} ${say("all of the code")}`);
    const answer = h("span", { class: "jitscope-muted", role: "status" });
    const button = h("button", { type: "button", class: "jitscope-button" }, "Show its code");
    button.addEventListener("click", () => {
      button.disabled = true;
      answer.textContent = " asking the kernel…";
      ask({ function: one.name }).then(
        (found) => this.take(one, found),
        (error) => {
          answer.textContent = ` ${sentence(error)}`;
          button.disabled = false;
        },
      );
    });
    return h("p", { class: "jitscope-empty" }, `${words} `, button, answer);
  }

  /** The code of a function from another document of the same program. */
  private take(one: CodeFunction, found: MachineDoc): void {
    const same = found.functions.find((other) => other.name === one.name);
    one.blocks = same?.blocks ?? [];
    one.left_out = same?.left_out ?? 0;
    const [own, other] = [one.module, same?.module ?? null];
    if (own !== null && other !== null) Object.assign(this.doc.modules[own]!, found.modules[other]);
    this.show(one);
  }

  // LLVM

  private ir(one: CodeFunction): HTMLElement {
    const module = one.module === null ? null : this.doc.modules[one.module]!;
    if (!module) return h("p", { class: "jitscope-empty" }, "XLA wrote no LLVM IR with this function.");
    if (!module.before && !module.after) return this.missing(one);
    const text = (when: string, which: "before" | "after") => {
      const found = module[which];
      if (!found) return h("p", { class: "jitscope-empty" }, `There is none ${when}.`);
      const rows = found.text.replace(/\n$/, "").split("\n");
      const depths = depthsOf(found.nesting, rows.length);
      const lines = rows.map((row, at) => ({ number: String(at + 1), text: row, depth: depths[at]!, hot: false }));
      return h(
        "section",
        {},
        h("h5", {}, `${when} · ${plural(rows.length + found.left_out, "line")}`),
        codePane(`LLVM IR of ${one.name}, ${when}`, lines, llvm, startOf(rows)),
        found.left_out ? h("p", { class: "jitscope-muted" }, `${plural(found.left_out, "more line")} not kept here; inspect(f)(x).llvm has all.`) : null,
      );
    };
    const emitted = module.emitter ? `Made by XLA's ${module.emitter}. ` : "";
    const named = module.values.length ? `Values named after HLO instructions: ${module.values.join(", ")}.` : "Its values are numbered; none bears the name of an HLO instruction.";
    return h(
      "div",
      {},
      h("p", { class: "jitscope-muted" }, emitted, named),
      h("div", { class: "jitscope-code-two" }, text("before LLVM's passes", "before"), text("after LLVM's passes", "after")),
    );
  }
}

const ofMeasuredTime = (share: number): string => say("of measured time", { share: percent(share) });

/** `67 instructions on vectors of 256 bits (8 × f32); 32 read memory, 16 write it` */
function inShort({ total, bits, lanes, reads, writes }: Mix): string {
  const vectors = bits === null ? "" : ` on vectors of ${bits} bits${lanes ? ` (${lanes})` : ""}`;
  return `${plural(total, "instruction")}${vectors}; ${grouped(reads)} read memory, ${grouped(writes)} write it`;
}

/** The depth in loops of each line. */
function depthsOf(nesting: number[][], count: number): number[] {
  const depths = new Array<number>(count).fill(0);
  nesting.forEach(([line, depth], at) => depths.fill(depth!, line, nesting[at + 1]?.[0] ?? count));
  return depths;
}

/** The line where the first function begins. */
function startOf(rows: string[]): number {
  return Math.max(0, rows.findIndex((row) => row.startsWith("define ")));
}

export function machineView(doc: MachineDoc, options: MachineOptions): View {
  const view = new MachineView(doc, options);
  return { element: view.element, memory: () => view.memory(), showPart: (part) => view.showPart(part), dispose() {} };
}
