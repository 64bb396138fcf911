// Tables: sorted by a column, with rows that open, of which so many are drawn as somebody looks at.
import { clear, grouped, h } from "../dom";
import { isNothing, type Selected } from "../links";
import { choice } from "../tabs";
import type { Column, Grouped, Ref, Row, Stretch, Table } from "./forms";
import { inline, order, words } from "./inline";
import { elementsOf, type Stage } from "./view";

const STEP = 250; // rows that a further press brings
const FILTERED = 30; // rows from which on a table can be searched
const AROUND = 5; // rows that are drawn before and after one that is selected, where it is further down
const MEASURED = 50; // rows whose words say how narrow a column may be
const MOST_LEAST = 16; // characters of a word that no room is taken for beyond them
const LEAST_WORDS = 42; // characters that a column of words may have at least, beside the widest
const MOST_WORDS = 110; // characters that both have together
const LEAST_LAST = 12; // characters that the widest column has at least, whatever stands in it
const MOST_LAST = 26; // and no longer words take room from others
const SWATCH = 3; // characters that the colour of a line takes
const NUMBER = 12; // characters that a column of numbers takes
const NAMED = 200; // characters of a row's name for screen readers

interface TableState {
  sorted: number | null;
  down: boolean;
  shown: number;
  filter: string;
  open: string[];
}

interface Line {
  row: Row;
  depth: number;
  key: string;
}

class TableView {
  readonly element: HTMLElement;
  private readonly body = h("div.jitscope-table-body", { role: "rowgroup" });
  private readonly below = h("div.jitscope-table-below");
  private readonly state: TableState;
  private readonly open: Set<string>;
  private readonly drawn = new Map<HTMLElement, Line>();
  private picked: string | null = null;
  private further: string | null = null; // a row beyond those that are shown, that is selected
  private own = false; // the selection is being set from here
  private at: number | null = null;

  constructor(
    private readonly table: Table,
    private readonly stage: Stage,
    key: string,
  ) {
    const usual: TableState = {
      sorted: null,
      down: true,
      shown: table.first ?? 20,
      filter: "",
      open: table.rows.flatMap((row, n) => (row.opened ? [String(n)] : [])),
    };
    this.state = { ...stage.remember(`table ${key}`, usual, () => ({ ...this.state, open: [...this.open] })) };
    this.open = new Set(this.state.open);
    const grid = h(
      "div.jitscope-table",
      {
        role: this.deep ? "treegrid" : "grid",
        "data-matrix": table.matrix ? "" : null,
        "data-narrow": this.widest < 0 && !table.columns.some(({ kind }) => kind === "stretch") ? "" : null,
        "aria-label": table.name,
        style: {
          "--columns": table.columns.map((column, n) => this.width(column, n)).join(" "),
        },
      },
      this.head(),
      this.body,
    );
    grid.addEventListener("click", (event) => this.clicked(event));
    grid.addEventListener("keydown", (event) => this.key_(event));
    this.element = h(
      "div.jitscope-table-part",
      h("div.jitscope-table-title", h("h4", table.name), this.filter()),
      h("div.jitscope-table-scroll", grid),
      this.below,
    );
    if (table.axis)
      stage.cursor(table.axis).follow((at) => {
        this.at = at;
        this.draw();
      });
    else this.draw();
    stage.around.selection.onChange((selected) => this.follow(selected));
  }

  /** The column that takes the room that is left: the last with words. */
  private get widest(): number {
    const { columns } = this.table;
    const last = columns.map(({ kind = "text" }) => !["number", "bar", "short"].includes(kind)).lastIndexOf(true);
    return columns.some(({ kind }) => kind === "stretch") ? -1 : last;
  }

  /** The characters of the widest column's longest cell: what it does not need others may have. */
  private get longest(): number {
    const { rows, columns } = this.table;
    const at = this.widest;
    if (at < 0) return MOST_WORDS;
    const found = sample(rows).map((row) => words(row.cells[at]!).length);
    return Math.max(columns[at]!.title.length, ...found);
  }

  private width({ kind }: Column, at: number): string {
    const { columns, matrix } = this.table;
    if (matrix || kind === "number" || kind === "short") return "max-content";
    if (kind === "bar") return "minmax(32px, 64px)";
    if (kind === "stretch") return "minmax(80px, 1fr)";
    if (at === this.widest) return `minmax(${Math.max(LEAST_LAST, Math.min(MOST_LAST, this.longest + SWATCH))}ch, 1fr)`;
    const worded = columns.filter(({ kind = "text" }) => kind === "text" || kind === "code").length - 1;
    const taken = this.longest + NUMBER * (columns.length - worded - 1);
    const least = Math.max(LEAST_WORDS, MOST_WORDS - this.longest);
    return `fit-content(max(${least}ch, (100% - ${taken}ch) / ${Math.max(1, worded)}))`;
  }

  /** No column of words is narrower than its longest word, of its title, too, however little room others leave it. */
  private least({ kind = "text", title }: Column, at: number): string {
    if (this.table.matrix || !["text", "code"].includes(kind)) return "auto";
    const found = [title, ...sample(this.table.rows).map((row) => words(row.cells[at]!))].flatMap((text) =>
      text.split(/\s+/),
    );
    const longest = Math.min(MOST_LEAST, Math.max(0, ...found.map((word) => word.length)));
    return `calc(${longest}ch + ${at === 0 && this.deep ? 14 : 0}px)`;
  }

  private get deep(): boolean {
    return this.table.rows.some(opens);
  }

  private filter(): HTMLElement | null {
    if (this.table.rows.length < FILTERED) return null;
    const field = h("input.jitscope-table-filter", {
      type: "search",
      placeholder: "only rows with …",
      "aria-label": `${this.table.name}: only rows with`,
    });
    field.value = this.state.filter;
    field.addEventListener("input", () => {
      this.state.filter = field.value;
      this.draw();
    });
    return field;
  }

  private head(): HTMLElement {
    const cells = this.table.columns.map((column, n) => {
      const style = { "min-width": this.least(column, n) };
      if (!column.title) return h("span", { role: "columnheader", style });
      const button = h(
        "button.jitscope-table-sort",
        {
          title: column.help || `sort by ${column.title}`,
          onclick: () => this.sort(n),
        },
        column.title,
      );
      return h("span", { role: "columnheader", "data-kind": column.kind, "aria-sort": this.sortOf(n), style }, button);
    });
    return h("div.jitscope-table-head", { role: "row" }, ...cells);
  }

  private sortOf(n: number): string {
    return this.state.sorted === n ? (this.state.down ? "descending" : "ascending") : "none";
  }

  private sort(n: number): void {
    const { state } = this;
    const down = this.table.rows.some(({ cells }) => typeof order(cells[n]!) === "number");
    state.down = state.sorted === n ? !state.down : down;
    state.sorted = n;
    this.element.querySelectorAll("[role=columnheader]").forEach((head, at) => {
      if (this.table.columns[at]!.title) head.setAttribute("aria-sort", this.sortOf(at));
    });
    this.draw();
  }

  private lines(): Line[] {
    const { filter } = this.state;
    const text = filter.trim().toLowerCase();
    const has = (row: Row): boolean => !text || textOf(row).includes(text) || Boolean(row.rows?.some(has));
    const there = (row: Row): boolean => this.at === null || !this.table.axis || lasts(row, this.at);
    const rows = this.table.rows.map((row, n) => ({ row, key: String(n) })).filter(({ row }) => there(row) && has(row));
    return this.sortedRows(rows).flatMap(({ row, key }) => this.inside(row, key, 0));
  }

  private sortedRows<Entry extends { row: Row }>(rows: Entry[]): Entry[] {
    const { sorted, down } = this.state;
    if (sorted === null) return rows;
    const sign = down ? -1 : 1;
    return [...rows].sort((a, b) => sign * compare(order(a.row.cells[sorted]!), order(b.row.cells[sorted]!)));
  }

  private inside(row: Row, key: string, depth: number): Line[] {
    const line = { row, depth, key };
    if (!row.rows?.length || !this.open.has(key)) return [line];
    const children = this.sortedRows(row.rows.map((child, n) => ({ row: child, key: `${key}/${n}` })));
    return [line, ...children.flatMap((child) => this.inside(child.row, child.key, depth + 1))];
  }

  private draw(): void {
    const focused = this.focusedKey();
    const lines = this.lines();
    const tops = lines.filter(({ depth }) => !depth).length;
    const { shown } = this.state;
    const at = this.further === null ? -1 : topOf(lines, this.further);
    const from = at < shown ? shown : Math.max(shown, at - AROUND);
    const to = at < shown ? shown : at + AROUND + 1;
    this.drawn.clear();
    clear(this.body);
    const draw = (some: Line[]) => this.body.append(...some.flatMap((line) => [this.row(line), ...this.inner(line)]));
    draw(between(lines, 0, shown));
    if (from > shown) this.body.append(h("div.jitscope-table-gap", this.more(from - shown)));
    draw(between(lines, from, to));
    clear(this.below);
    if (tops > to) this.below.append(this.more(tops - to));
    if (!tops)
      this.below.append(h("p.jitscope-muted", this.state.filter ? "No row has that." : this.table.empty || "Nothing."));
    if (this.table.left_out) this.below.append(h("p.jitscope-muted", this.table.left_out));
    const rows = [...this.drawn.keys()];
    const again = rows.find((row) => this.drawn.get(row)!.key === focused);
    if (again) this.focus(again);
    else rows[0]?.setAttribute("tabindex", "0");
    this.mark(this.stage.around.selection.current);
  }

  private more(count: number): HTMLElement {
    const more = () => {
      this.state.shown += STEP;
      this.draw();
    };
    return h("button.jitscope-fold", { onclick: more }, `${grouped(count)} more`);
  }

  /** A closer look at a row that is open. */
  private inner({ row, key }: Line): HTMLElement[] {
    if (!row.parts?.length || !this.open.has(key)) return [];
    return [
      h(
        "div.jitscope-table-inside",
        { role: "row" },
        h("div", { role: "gridcell" }, ...elementsOf(row.parts, this.stage)),
      ),
    ];
  }

  private focusedKey(): string | null {
    const focused = [...this.drawn].find(
      ([row]) => row.contains(document.activeElement) || row.contains((row.getRootNode() as ShadowRoot).activeElement),
    );
    return focused?.[1].key ?? null;
  }

  private row(line: Line): HTMLElement {
    const { row, depth, key } = line;
    const isOpen = this.open.has(key);
    const toggle = opens(row) ? h("span.jitscope-table-toggle", { "aria-hidden": "true" }, isOpen ? "▾" : "▸") : null;
    const cells = this.table.columns.map((column, n) => {
      const content = row.cells[n]!;
      const inner =
        column.kind === "code" ? [h("code", ...inline(content, this.stage, true))] : inline(content, this.stage, true);
      const first = n === 0 && this.deep ? [toggle ?? h("span.jitscope-table-toggle")] : [];
      const named = column.named ? "" : null;
      const said = { "data-kind": column.kind, "data-name": column.title, "data-named": named };
      return h("span", { role: "gridcell", ...said }, ...first, ...inner);
    });
    const element = h(
      "div.jitscope-table-row",
      {
        role: "row",
        tabindex: -1,
        "aria-selected": "false",
        "aria-level": this.deep ? depth + 1 : null,
        "aria-expanded": opens(row) ? String(isOpen) : null,
        "data-tone": row.tone,
        title: row.title || row.cells.slice(0, 3).map(words).filter(Boolean).join(" · ").slice(0, NAMED),
        style: { "--depth": String(depth) },
      },
      ...cells,
      row.note ? h("span.jitscope-table-note", { role: "gridcell" }, row.note) : null,
    );
    this.drawn.set(element, line);
    return element;
  }

  private toggle({ key, row }: Line): void {
    if (!this.open.delete(key)) this.look(key, row);
    this.draw();
  }

  /** Opens a row; a closer look is taken at one row at a time. */
  private look(key: string, row: Row): void {
    if (row.parts?.length) {
      this.table.rows.forEach(({ parts }, n) => {
        if (parts?.length) this.open.delete(String(n));
      });
    }
    this.open.add(key);
  }

  private lineAt(event: Event): [HTMLElement, Line] | null {
    const row = (event.target as HTMLElement).closest<HTMLElement>(".jitscope-table-row");
    const line = row && this.drawn.get(row);
    return row && line ? [row, line] : null;
  }

  private clicked(event: Event): void {
    const found = this.lineAt(event);
    if (!found) return;
    const [row, line] = found;
    this.focus(row);
    if ((event.target as HTMLElement).closest(".jitscope-table-toggle") && opens(line.row)) this.toggle(line);
    else this.pick(line);
  }

  private pick(line: Line): void {
    const { ref, parts } = line.row;
    this.picked = line.key;
    if (parts?.length && ref && !this.open.has(line.key)) this.toggle(line);
    if (!ref && opens(line.row)) {
      this.toggle(line);
      return;
    }
    this.own = true;
    this.stage.pick(ref);
    this.own = false;
  }

  private key_(event: KeyboardEvent): void {
    const found = this.lineAt(event);
    if (!found) return;
    const [row, line] = found;
    const all = [...this.drawn.keys()];
    const at = all.indexOf(row);
    const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 };
    const changes = opens(line.row) && this.open.has(line.key) !== (event.key === "ArrowRight");
    if (event.key in steps) this.focus(all[steps[event.key]!]);
    else if ((event.key === "ArrowRight" || event.key === "ArrowLeft") && changes) this.toggle(line);
    else if (event.key === "Enter" || event.key === " ") this.pick(line);
    else if (event.key === "Escape") {
      this.picked = null;
      this.stage.around.selection.clear();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private focus(row: HTMLElement | undefined): void {
    if (!row) return;
    for (const other of this.drawn.keys()) other.tabIndex = other === row ? 0 : -1;
    row.focus();
  }

  /** What is selected elsewhere is shown here, with the closer look that there is at it. */
  private follow(selected: Selected): void {
    if (this.own || isNothing(selected)) {
      this.mark(selected);
      return;
    }
    const lines = this.lines();
    const found = lines.find(({ row }) => row.ref && this.stage.belongs(row.ref, selected));
    if (!found) {
      this.mark(selected);
      return;
    }
    const drawn = [...this.drawn.values()].some(({ key }) => key === found.key);
    const looks = !this.table.quiet && Boolean(found.row.parts?.length) && !this.open.has(found.key);
    if (looks) this.look(found.key, found.row);
    if (!drawn) this.further = found.key;
    if (looks || !drawn) this.draw();
    this.mark(selected);
    this.reveal(found.key);
  }

  /** Scrolls the table, and nothing else, to a row. */
  private reveal(key: string): void {
    const element = [...this.drawn].find(([, line]) => line.key === key)?.[0];
    const scroll = this.element.querySelector<HTMLElement>(".jitscope-table-scroll");
    if (!element || !scroll) return;
    if (!scroll.clientHeight) {
      this.whenSeen(scroll, key);
      return;
    }
    const [row, list] = [element.getBoundingClientRect(), scroll.getBoundingClientRect()];
    if (row.top < list.top + row.height || row.bottom > list.bottom)
      scroll.scrollTop += row.top - list.top - list.height / 3;
  }

  private whenSeen(scroll: HTMLElement, key: string): void {
    const seen = new ResizeObserver(() => {
      if (!scroll.clientHeight) return;
      seen.disconnect();
      this.reveal(key);
    });
    seen.observe(scroll);
    this.stage.ends.push(() => seen.disconnect());
  }

  private mark(selected: Selected): void {
    for (const [row, { row: data, key }] of this.drawn) {
      const related =
        (key === this.picked &&
          Boolean(data.ref) &&
          selected === this.stage.around.selection.current &&
          this.isPicked(data.ref!, selected)) ||
        (data.ref !== undefined && this.stage.belongs(data.ref, selected));
      row.toggleAttribute("data-related", related);
      row.setAttribute("aria-selected", String(related));
    }
  }

  /** A row that stands for no equation is selected by itself alone. */
  private isPicked({ paths = [], kernels = [], node }: Ref, selected: Selected): boolean {
    return !paths.length && !kernels.length && !node && !selected.paths.size;
  }
}

/** Some of the rows, from the first to the last: arguments stand before what is computed of them. */
function sample(rows: Row[]): Row[] {
  const step = Math.ceil(rows.length / MEASURED);
  return rows.filter((_, n) => n % step === 0);
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

const textOf = (row: Row): string => [...row.cells.map(words), row.note ?? "", row.title ?? ""].join(" ").toLowerCase();

function lasts(row: Row, at: number): boolean {
  const stretch = row.cells
    .flat()
    .find((piece): piece is Stretch => typeof piece !== "string" && piece.part === "stretch");
  return !stretch || (stretch.start <= at && at < stretch.end) || Boolean(row.rows?.some((one) => lasts(one, at)));
}

const opens = ({ rows, parts }: Row): boolean => Boolean(rows?.length || parts?.length);

/** The lines of the rows from one number up to another, of those that are in no other. */
function between(lines: Line[], from: number, to: number): Line[] {
  let at = -1;
  return lines.filter(({ depth }) => {
    if (!depth) at++;
    return at >= from && at < to;
  });
}

/** The number of the row, of those that are in no other, that a row of a key is in; -1 where there is none. */
function topOf(lines: Line[], key: string): number {
  const top = key.split("/")[0];
  return lines.filter(({ depth }) => !depth).findIndex((line) => line.key === top);
}

export function tablePart(part: Table, stage: Stage, key = part.name): HTMLElement {
  if (!part.rows.length && part.empty) return h("p.jitscope-muted", part.empty);
  return new TableView(part, stage, key).element;
}

/** One table in several orders. */
export function groupedPart({ name, ways }: Grouped, stage: Stage): HTMLElement {
  const place = h("div");
  let now: string = stage.remember<string>(`way ${name}`, ways[0]![0], () => now);
  const show = (id: string) => {
    now = id;
    const table = (ways.find(([way]) => way === id) ?? ways[0]!)[1];
    place.replaceChildren(tablePart(table, stage, `${name} ${id}`));
  };
  show(now);
  const options = ways.map(([id]) => ({ id, title: id }));
  return h("div.jitscope-grouped", options.length > 1 ? choice(name, options, now, show) : null, place);
}
