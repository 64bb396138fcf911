// The session's compilations: as a list with the newest on top, as a timeline, as a tree by caller.
import type { Host, LedgerDoc, LedgerRow } from "./documents";
import { h, plural } from "./dom";
import { seconds } from "./numbers";
import type { View } from "./mount";
import { choice } from "./tabs";

const SIGNS: Record<LedgerRow["what"], string> = { compiled: "●", recompiled: "▲", reused: "○", loaded: "○", failed: "✕" };

function rowElement(row: LedgerRow, host: Host): HTMLElement {
  const cost = row.seconds.trace + row.seconds.lower + row.seconds.compile;
  const stages = `trace ${seconds(row.seconds.trace)}, lower ${seconds(row.seconds.lower)}, ${row.what === "loaded" ? "load" : "compile"} ${seconds(row.seconds.compile)}`;
  const failed = row.what === "failed"; // it ended on the way: what it took is not known
  const counts = failed ? [] : [plural(row.equations, "equation"), row.calls === null ? "calls not counted" : plural(row.calls, "call")];
  const facts = [row.what, row.cell, ...counts];
  const parts = [
    h("span", { class: "jitscope-ledger-sign", "data-what": row.what, "aria-hidden": "true" }, SIGNS[row.what] ?? "●"),
    h("strong", {}, row.function),
    failed ? null : h("span", { class: "jitscope-figure", title: stages }, seconds(cost)),
    h(
      "span",
      { class: "jitscope-muted jitscope-ledger-facts" },
      ...facts.flatMap((fact) => (fact ? [h("span", {}, fact), " "] : [])),
    ),
    row.because ? h("span", { class: "jitscope-ledger-because" }, row.because) : null,
  ];
  const attributes = {
    class: "jitscope-ledger-row",
    "data-id": row.id,
    "data-what": row.what,
    "data-cell": row.cell_id,
    title: row.signature,
  };
  if (!row.cell_id || !host.goto) return h("div", attributes, ...parts);
  const position = {
    file: row.cell_id,
    cell: row.cell,
    line: 1,
    end_line: 1,
    column: 0,
    end_column: 0,
    function: row.function,
    text: "",
  };
  return h(
    "button",
    {
      ...attributes,
      type: "button",
      "aria-label": `${row.function}, ${row.what}${row.cell ? `, ${row.cell}` : ""}. ${row.because}`,
      onclick: () => host.goto!(position),
    },
    ...parts,
  );
}

type Mode = "list" | "time" | "tree";
interface LedgerMemory {
  mode: Mode;
  open: string[];
}

const MODES: { id: Mode; title: string; hint: string }[] = [
  { id: "list", title: "newest", hint: "all compilations, the newest on top" },
  { id: "time", title: "timeline", hint: "what was spent on each, in the order of the session" },
  { id: "tree", title: "by caller", hint: "by the cell that made the call, and by function" },
];
const AT_ONCE = 200; // rows made before anyone asks

const costOf = ({ seconds: { trace, lower, compile } }: LedgerRow): number => trace + lower + compile;
const isCompiled = ({ what }: LedgerRow): boolean => what === "compiled" || what === "recompiled";

function summed(rows: LedgerRow[]): string {
  const compiled = rows.filter(isCompiled);
  const spent = compiled.reduce((sum, row) => sum + costOf(row), 0);
  return compiled.length ? `${plural(compiled.length, "compilation")}, ${seconds(spent)}` : "nothing compiled";
}

/** A list that makes its later items when somebody asks. */
function long(items: LedgerRow[], make: (row: LedgerRow) => HTMLElement, label: string): HTMLElement {
  const list = h("ul", { "aria-label": label });
  const add = (from: number): void => {
    list.append(...items.slice(from, from + AT_ONCE).map((row) => h("li", {}, make(row))));
    const left = items.length - from - AT_ONCE;
    if (left <= 0) return;
    const button = h("button", { type: "button", class: "jitscope-link" }, `${left.toLocaleString("en")} more`);
    const item = h("li", { class: "jitscope-ledger-more" }, button);
    button.addEventListener("click", () => (item.remove(), add(from + AT_ONCE)));
    list.append(item);
  };
  add(0);
  return list;
}

/** One bar for each compilation, one after the other: what the session spent on them. */
function timeline(rows: LedgerRow[], host: Host): HTMLElement {
  const compiled = [...rows].filter(isCompiled).sort((a, b) => a.id - b.id);
  const whole = compiled.reduce((sum, row) => sum + costOf(row), 0) || 1;
  const starts = new Map<LedgerRow, number>();
  compiled.reduce((sum, row) => (starts.set(row, sum), sum + costOf(row)), 0);
  const one = (row: LedgerRow): HTMLElement => {
    const style = { "--start": `${(100 * starts.get(row)!) / whole}%`, "--share": `${(100 * costOf(row)) / whole}%` };
    const bar = h("span", { class: "jitscope-bar", "data-what": row.what, style });
    return h("div", {}, rowElement(row, host), h("span", { class: "jitscope-track", "aria-hidden": "true" }, bar));
  };
  const said = "Time to trace, lower and compile, one after the other; what lies between is left out.";
  return h(
    "div",
    { class: "jitscope-timeline" },
    h("p", { class: "jitscope-muted" }, said),
    long(compiled, one, "Compilations in their order"),
  );
}

function grouped(rows: LedgerRow[], key: (row: LedgerRow) => string): [string, LedgerRow[]][] {
  const found = new Map<string, LedgerRow[]>();
  for (const row of rows) found.set(key(row), [...(found.get(key(row)) ?? []), row]);
  return [...found];
}

function tree(rows: LedgerRow[], host: Host, open: Set<string>): HTMLElement {
  const branch = (key: string, name: string, inside: LedgerRow[], ...children: HTMLElement[]): HTMLElement => {
    const summary = h("summary", {}, h("strong", {}, name), " ", h("span", { class: "jitscope-muted" }, summed(inside)));
    const element = h("details", { open: open.has(key) }, summary, ...children);
    element.addEventListener("toggle", () => (element.open ? open.add(key) : open.delete(key)));
    return element;
  };
  const cells = grouped(rows, (row) => row.cell ?? "outside of cells").map(([cell, inside]) =>
    branch(
      cell,
      cell,
      inside,
      ...grouped(inside, (row) => row.function).map(([name, own]) =>
        branch(`${cell}/${name}`, name, own, long(own, (row) => rowElement(row, host), `Compilations of ${name}`)),
      ),
    ),
  );
  return h("div", { class: "jitscope-ledger-tree" }, ...cells);
}

const MOST_OPERATIONS = 12;

/** Small programs for operations outside of jit: all of them in a sentence, then by operation and line, the dearest first. */
function smallPrograms(small: NonNullable<LedgerDoc["small"]>): HTMLElement {
  const list = h("ul", { "aria-label": "Small programs by operation and line" });
  const add = (from: number, most: number): void => {
    list.append(...small.operations.slice(from, from + most).map((one) => h("li", {}, one.said)));
    const left = small.operations.slice(from + most);
    if (!left.length) return;
    const spent = seconds(left.reduce((sum, one) => sum + one.seconds, 0));
    const button = h("button", { type: "button", class: "jitscope-link" }, `${left.length.toLocaleString("en")} more, ${spent}`);
    const item = h("li", { class: "jitscope-ledger-more" }, button);
    button.addEventListener("click", () => (item.remove(), add(from + most, AT_ONCE)));
    list.append(item);
  };
  add(0, MOST_OPERATIONS);
  return h("section", { class: "jitscope-ledger-small" }, h("p", {}, small.sentence), list);
}

export function ledgerView(doc: LedgerDoc & { note?: string }, host: Host, memory?: LedgerMemory): View {
  const rows = [...doc.rows].sort((a, b) => b.id - a.id);
  const open = new Set(memory?.open ?? grouped(rows, (row) => row.cell ?? "outside of cells").map(([cell]) => cell));
  let mode: Mode = memory?.mode ?? "list";
  const place = h("div", {});
  const show = (next: Mode): void => {
    mode = next;
    if (mode === "time") place.replaceChildren(timeline(rows, host));
    else if (mode === "tree") place.replaceChildren(tree(rows, host, open));
    else place.replaceChildren(long(rows, (row) => rowElement(row, host), "Compilations of this session"));
  };
  const header = h(
    "header",
    {},
    h("h2", {}, "jitscope"),
    rows.length ? h("p", { class: "jitscope-muted" }, summed(rows)) : null,
    rows.length ? choice("Order", MODES, mode, (id) => show(id as Mode)) : null,
  );
  const empty =
    doc.note || "Nothing was compiled yet. Put %%jit at the top of a cell with functions, or call a function wrapped by jit.";
  const small = doc.small?.programs ? smallPrograms(doc.small) : null;
  if (rows.length) show(mode);
  else if (!small) place.append(h("p", { class: "jitscope-empty" }, empty));
  return {
    element: h("div", { class: "jitscope-ledger" }, header, place, small),
    memory: (): LedgerMemory => ({ mode, open: [...open] }),
    dispose() {},
  };
}
