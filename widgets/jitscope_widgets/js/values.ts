// The values of a program on its arguments: a table of all, and a closer look at one.
import type { CompilationDoc, Host, ValueDetail, ValueRow, ValuesDoc } from "./documents";
import { clear, grouped, h, plural } from "./dom";
import { isNothing, Links, Selection, type Selected } from "./links";
import { sentence, type View } from "./mount";
import { percent } from "./numbers";
import { Roving } from "./roving";
import { badness, figure, isBad, onDevices, valueCard, valueName, zeroShare } from "./valuecard";
import { costOf, say } from "./sentences";

const AT_ONCE = 60;
const AROUND = 5; // values that are listed before and after the one that is looked at, where it is further down

type Order = "bad" | "order" | "large" | "zeros";
const ORDERS: Record<Order, string> = {
  bad: "NaN and Inf first",
  order: "as evaluated",
  large: "largest magnitude",
  zeros: "most zeros",
};

interface ValuesMemory {
  order: Order;
  picked: string | null;
}

interface Around {
  host: Host;
  links: Links;
  selection: Selection;
  compilation?: CompilationDoc;
  memory?: ValuesMemory;
  ask?: ((options: Record<string, unknown>) => Promise<ValuesDoc>) | null;
}

const keyOf = ({ path, result }: { path: string; result: number }): string => `${path}:${result}`;

function magnitude(row: ValueRow): number {
  return row.min === null || row.max === null ? -1 : Math.max(Math.abs(row.min), Math.abs(row.max));
}

class ValuesView {
  readonly element: HTMLElement;
  private readonly details: Map<string, ValueDetail>;
  private readonly rows: Map<string, ValueRow>;
  private readonly table = h("div", { class: "jitscope-values-rows", role: "listbox", "aria-label": "Values" });
  private readonly card = h("div", { class: "jitscope-values-card", "aria-live": "polite" });
  private readonly roving: Roving;
  private readonly search = h("input", { type: "search", placeholder: "operation, type or line", "aria-label": "Only values with", oninput: () => this.list() });
  private order: Order;
  private picked: string | null;
  private shown = AT_ONCE;

  constructor(
    private readonly doc: ValuesDoc,
    private readonly around: Around,
  ) {
    this.details = new Map(doc.details.map((detail) => [keyOf(detail), detail]));
    this.rows = new Map(doc.rows.map((row) => [keyOf(row), row]));
    this.order = around.memory?.order ?? (doc.first_bad === null ? "order" : "bad");
    const first = doc.first_bad === null ? doc.rows.find((row) => this.details.has(keyOf(row))) : doc.rows[doc.first_bad];
    this.picked = around.memory?.picked ?? (first ? keyOf(first) : null);
    const choose = h("select", { "aria-label": "Order of values", onchange: () => ((this.order = choose.value as Order), (this.shown = AT_ONCE), this.list()) });
    for (const [value, text] of Object.entries(ORDERS)) choose.append(h("option", { value, selected: value === this.order }, text));
    const said = [doc.differs, ...this.loops(), ...doc.remarks].filter(Boolean);
    this.element = h(
      "div",
      { class: "jitscope-values" },
      h("p", { class: "jitscope-sentence" }, doc.sentence),
      ...said.map((line) => h("p", { class: "jitscope-muted" }, line)),
      h("p", { class: "jitscope-values-tools" }, h("label", {}, "Order ", choose), this.search),
      h("div", { class: "jitscope-values-columns" }, this.table, this.card),
      costOf(doc.cost, " Statistics leave out NaN and Inf."),
    );
    this.roving = new Roving(this.table, ".jitscope-values-row", (row) => this.pick(row.dataset.key!), () => around.selection.clear());
    this.list();
    this.draw();
    around.selection.onChange((selected) => this.follow(selected));
    const seen = new ResizeObserver(() => {
      if (!this.table.clientHeight) return;
      seen.disconnect();
      this.reveal();
    });
    seen.observe(this.table);
  }

  private loops(): string[] {
    return this.doc.loops
      .filter(({ looked }) => looked !== "all")
      .map(({ path, count, looked }) => say("iterations looked at", { loop: path, count: count === null ? "more" : grouped(count), looked }));
  }

  private lineOf(row: ValueRow): string {
    const position = row.line === null ? undefined : this.doc.lines[row.line];
    if (!position) return "";
    const homes = new Set(this.doc.lines.map(({ file }) => file));
    const where = homes.size > 1 ? `${position.cell ?? position.file.split(/[\\/]/).pop()} ` : "";
    return `${where}line ${position.line}`;
  }

  private ordered(): ValueRow[] {
    const words = this.search.value.trim().toLowerCase();
    const fits = (row: ValueRow) => !words || `${row.label} ${row.type} ${row.path} ${this.lineOf(row)}`.toLowerCase().includes(words);
    const rows = this.doc.rows.filter(fits);
    if (this.order === "bad") return [...rows.filter(isBad), ...rows.filter((row) => !isBad(row))];
    if (this.order === "large") return rows.sort((a, b) => magnitude(b) - magnitude(a));
    return this.order === "zeros" ? rows.sort((a, b) => zeroShare(b) - zeroShare(a)) : rows;
  }

  private list(): void {
    const rows = this.ordered();
    clear(this.table);
    const names = ["value", "type", "min", "max", "mean", "zeros", "line"];
    this.table.append(h("div", { class: "jitscope-values-names", role: "presentation" }, ...names.map((name) => h("span", {}, name))));
    this.table.append(...rows.slice(0, this.shown).map((row) => this.row(row)));
    const more = (count: number) => h("button", { type: "button", class: "jitscope-fold", onclick: () => ((this.shown *= 5), this.list()) }, `${grouped(count)} more`);
    const picked = rows.findIndex((row) => keyOf(row) === this.picked);
    const start = picked < this.shown ? Math.min(rows.length, this.shown) : Math.max(this.shown, picked - AROUND);
    const end = picked < this.shown ? start : picked + AROUND + 1;
    if (start > this.shown) this.table.append(more(start - this.shown));
    this.table.append(...rows.slice(start, end).map((row) => this.row(row)));
    if (rows.length > end) this.table.append(more(rows.length - end));
    if (!rows.length) this.table.append(h("p", { class: "jitscope-muted" }, "No value fits."));
    this.roving.renew();
  }

  private row(row: ValueRow): HTMLElement {
    const bad = badness(row);
    const told = `${valueName(row)}${row.devices ? `, ${onDevices(row)}` : ""}, ${row.type}, from ${figure(row.min)} to ${figure(row.max)}, mean ${figure(row.mean)}, ${percent(zeroShare(row))} zeros${bad ? `, ${bad}` : ""}${row.line === null ? "" : `, ${this.lineOf(row)}`}`;
    const position = row.line === null ? undefined : this.doc.lines[row.line];
    return h(
      "div",
      { class: "jitscope-values-row", role: "option", tabindex: -1, "data-key": keyOf(row), "data-bad": isBad(row), "aria-selected": String(keyOf(row) === this.picked), title: position ? `${told}: ${position.text.trim()}` : told },
      h("span", { class: "jitscope-values-name" }, h("strong", {}, valueName(row)), row.devices ? h("span", { class: "jitscope-muted" }, ` ${onDevices(row)}`) : null, bad ? h("span", { class: "jitscope-value-wrong" }, ` ${bad}`) : null),
      h("code", {}, row.type),
      h("span", { class: "jitscope-values-figure" }, figure(row.min)),
      h("span", { class: "jitscope-values-figure" }, figure(row.max)),
      h("span", { class: "jitscope-values-figure" }, figure(row.mean)),
      h("span", { class: "jitscope-values-figure" }, row.size ? percent(zeroShare(row)) : "–"),
      h("span", {}, this.lineOf(row)),
    );
  }

  private pick(key: string): void {
    const row = this.rows.get(key);
    if (!row) return;
    this.picked = key;
    this.draw();
    const { compilation, links, selection, host } = this.around;
    if (compilation) selection.set(row.path.startsWith("e") ? links.fromPath(row.path) : links.fromNode(compilation.graph, "jaxpr", row.path));
    const position = row.line === null ? undefined : this.doc.lines[row.line];
    if (position) host.goto?.(position);
  }

  /** What is selected elsewhere is looked at here. */
  private follow(selected: Selected): void {
    if (isNothing(selected)) return;
    const wanted = selected.node?.level === "jaxpr" ? [selected.node.id] : [...selected.paths];
    const own = this.picked && this.rows.get(this.picked);
    if (own && wanted.includes(own.path)) return;
    const inside = ({ path }: ValueRow) => wanted.some((one) => path.startsWith(`${one}/`));
    const row = this.doc.rows.find(({ path }) => wanted.includes(path)) ?? this.doc.rows.filter(inside).pop();
    if (!row) return;
    this.picked = keyOf(row);
    if (!this.entry()) this.list();
    this.draw();
    this.reveal();
  }

  /** The entry of the value that is looked at, if it is listed. */
  private entry(): HTMLElement | undefined {
    return [...this.table.querySelectorAll<HTMLElement>(".jitscope-values-row")].find(({ dataset }) => dataset.key === this.picked);
  }

  /** Scrolls the list, and nothing else, to the value that is looked at. */
  private reveal(): void {
    const entry = this.entry();
    if (!entry) return;
    const [row, list] = [entry.getBoundingClientRect(), this.table.getBoundingClientRect()];
    if (row.top < list.top + row.height || row.bottom > list.bottom) this.table.scrollTop += row.top - list.top - list.height / 2;
  }

  private draw(): void {
    for (const element of this.table.querySelectorAll<HTMLElement>(".jitscope-values-row")) element.setAttribute("aria-selected", String(element.dataset.key === this.picked));
    clear(this.card);
    const row = this.picked === null ? undefined : this.rows.get(this.picked);
    if (!row) return void this.card.append(h("p", { class: "jitscope-muted" }, "Pick a value to see its histogram and its picture."));
    const detail = this.details.get(keyOf(row));
    const position = row.line === null ? undefined : this.doc.lines[row.line];
    this.card.append(valueCard(row, detail));
    if (position) this.card.append(h("p", {}, h("span", { class: "jitscope-muted" }, `${this.lineOf(row)} `), h("code", {}, position.text.trim())));
    if (this.around.ask) this.card.append(this.closer(row, detail));
    else if (!detail) this.card.append(h("p", { class: "jitscope-muted" }, "Nobody asked for the histogram and the picture of this value while the kernel ran."));
  }

  private closer(row: ValueRow, detail: ValueDetail | undefined): HTMLElement {
    const loop = this.doc.loops.filter(({ path }) => row.path.startsWith(`${path}/`)).pop();
    const answer = h("span", { class: "jitscope-muted", role: "status", "aria-live": "polite" });
    const most = loop ? (loop.count ?? row.iterations ?? 1) - 1 : 0;
    const number = h("input", { type: "number", min: 0, max: most, value: detail?.iteration ?? most, "aria-label": `Iteration, from 0 to ${most}` });
    const button = h("button", { type: "button", class: "jitscope-button" }, loop ? "Look at this iteration" : "Histogram and picture");
    button.addEventListener("click", async () => {
      button.disabled = true;
      answer.textContent = "looking…";
      const options = { path: row.path, result: row.result, ...(loop ? { iteration: Number(number.value) } : {}) };
      try {
        const found = await this.around.ask!(options);
        for (const one of found.details) this.details.set(keyOf(one), one);
        if (this.picked === keyOf(row)) this.draw();
        this.card.querySelector<HTMLElement>("input, button")?.focus();
      } catch (error) {
        answer.textContent = sentence(error);
        button.disabled = false;
      }
    });
    if (!loop && detail) return h("span", {});
    return h("p", { class: "jitscope-values-tools" }, loop ? h("label", {}, "Iteration ", number, ` of ${plural(most + 1, "iteration")} `) : null, button, " ", answer);
  }

  memory(): ValuesMemory {
    return { order: this.order, picked: this.picked };
  }
}

export function valuesView(doc: ValuesDoc, around: Around): View {
  const view = new ValuesView(doc, around);
  return { element: view.element, memory: () => view.memory(), dispose() {} };
}

/** The document by itself. */
export function valuesAlone(doc: ValuesDoc, host: Host, memory: ValuesMemory | undefined): View {
  return valuesView(doc, { host, links: new Links(null, null), selection: new Selection(), memory });
}
