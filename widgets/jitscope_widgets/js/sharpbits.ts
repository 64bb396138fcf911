// Sharp bits: a card for each, with the line, the cause, the evidence and the fix; as a list with filters, and alone.
import type { Diagnostic, DiagnosticsDoc, Host, Position } from "./documents";
import { h, plural, prose } from "./dom";
import { applyButton, fixView } from "./fixes";
import { place } from "./graph/tooltip";
import { python } from "./highlight";
import type { View } from "./mount";
import { NAMES, SEVERITIES, severityIcon, type Severity } from "./severity";

const IGNORE = "jitscope:ignore";

export interface IgnoreRequest {
  /** The sharp bit that nobody wants to hear of in this session. */
  id: string;
  /** The cell it was found in. */
  cell: string;
  tell(sentence: string): void;
}

/** "3 sharp bits: 1 error, 2 warnings" */
export function counted(items: Diagnostic[]): string {
  const kinds = SEVERITIES.map((severity) => [items.filter((item) => item.severity === severity).length, severity] as const);
  const told = kinds.filter(([count]) => count).map(([count, severity]) => plural(count, NAMES[severity]));
  return `${plural(items.length, "sharp bit")}: ${told.join(", ")}`;
}

function sourceLine({ position, severity }: Diagnostic): HTMLElement | null {
  if (!position?.text.trim()) return null;
  const line = position.text.trimEnd();
  const characters = [...line];
  const indent = line.length - line.trimStart().length;
  const start = Math.min(Math.max(position.column, indent), characters.length);
  const end = position.end_line === position.line ? Math.min(position.end_column, characters.length) : characters.length;
  const piece = (from: number, to: number) => python(characters.slice(from, to).join(""));
  return h(
    "pre",
    { class: "jitscope-bit-line" },
    h("span", { class: "jitscope-fix-number" }, `${position.line} `),
    piece(indent, start),
    end > start ? h("span", { class: "jitscope-bit-mark", "data-severity": severity }, piece(start, end)) : null,
    piece(Math.max(end, start), characters.length),
  );
}

function ignoreButton(item: Diagnostic): HTMLElement[] {
  const status = h("span", { class: "jitscope-muted", role: "status" });
  const tell = (sentence: string) => void (status.textContent = sentence);
  const ask = (event: Event) => {
    const detail: IgnoreRequest = { id: item.id, cell: item.position?.file ?? "", tell };
    const asked = new CustomEvent(IGNORE, { bubbles: true, cancelable: true, composed: true, detail });
    if (event.currentTarget!.dispatchEvent(asked)) tell(`Run %sharpbits --ignore ${item.id}`);
  };
  const button = h(
    "button",
    { type: "button", class: "jitscope-link", title: "In this session. To keep it: c.JitscopeMagics.ignore in IPython's configuration", onclick: ask },
    "everywhere",
  );
  return [button, status];
}

/** What is said of one sharp bit below its head; `brief` where the code itself is in sight. */
export function body(item: Diagnostic, brief = false): HTMLElement[] {
  const here = item.silence ? applyButton(item.silence, "here", "jitscope-link") : [];
  const parts = [
    brief ? null : sourceLine(item),
    h("p", { class: "jitscope-bit-message" }, prose(item.message)),
    item.evidence.length ? h("pre", { class: "jitscope-bit-evidence" }, item.evidence.join("\n")) : null,
    item.fix ? fixView(item.fix) : null,
    item.why
      ? h(
          "details",
          { class: "jitscope-bit-why" },
          h("summary", {}, "Why"),
          h("p", {}, h("strong", {}, prose(`${item.title}. `)), prose(item.why)),
        )
      : null,
    h("p", { class: "jitscope-bit-ignore jitscope-muted" }, `Ignore ${item.id} `, ...here, here.length ? " or " : "", ...ignoreButton(item)),
  ];
  return parts.filter((part) => part !== null);
}

/** "line 3": the cell stands above. */
function lineLink(position: Position, host: Host): HTMLElement {
  const text = `line ${position.line}`;
  const attributes = { type: "button", class: "jitscope-link", "aria-label": place(position), title: place(position) };
  if (!host.goto) return h("span", { class: "jitscope-muted" }, text);
  return h("button", { ...attributes, onclick: () => host.goto!(position) }, text);
}

function head(item: Diagnostic, host: Host | null): HTMLElement {
  return h(
    "header",
    {},
    severityIcon(item.severity),
    h("span", { class: "jitscope-hidden" }, `${NAMES[item.severity]}: `),
    h("code", { class: "jitscope-bit-id" }, item.id),
    item.position && host ? lineLink(item.position, host) : null,
  );
}

/** One sharp bit, for the editor's tooltip: the code is in sight. */
export function bitCard(item: Diagnostic): HTMLElement {
  return h("article", { class: "jitscope-bit", "data-severity": item.severity }, head(item, null), ...body(item, true));
}

function byCell(items: Diagnostic[]): [string, Diagnostic[]][] {
  const found = new Map<string, [string, Diagnostic[]]>();
  for (const item of items) {
    const key = item.position?.file ?? "";
    const [name, known] = found.get(key) ?? [item.position?.cell ?? key, []];
    found.set(key, [name, [...known, item]]);
  }
  return [...found.values()];
}

function cards(items: Diagnostic[], label: string, host: Host): HTMLElement {
  const card = (item: Diagnostic) =>
    h("li", { class: "jitscope-bit", "data-severity": item.severity, "data-bit": item.id }, head(item, host), ...body(item));
  return h("ul", { class: "jitscope-bits", "aria-label": label || null }, ...items.map(card));
}

/** Those of the cell above: one line, which opens. */
export function bitsOfCell(doc: DiagnosticsDoc | undefined, host: Host): HTMLElement | null {
  if (!doc?.items.length) return null;
  const gravest = SEVERITIES.find((severity) => doc.items.some((item) => item.severity === severity))!;
  return h(
    "details",
    { class: "jitscope-cell-bits" },
    h("summary", {}, severityIcon(gravest), counted(doc.items)),
    cards(doc.items, "Sharp bits", host),
  );
}

interface Filter {
  severity: Severity | "all";
  id: string;
}

export function diagnosticsView(doc: DiagnosticsDoc, host: Host, memory?: Filter): View {
  const filter: Filter = { severity: memory?.severity ?? "all", id: memory?.id ?? "" };
  const list = h("div", {});
  const show = () => {
    const wanted = doc.items.filter(
      (item) => (filter.severity === "all" || item.severity === filter.severity) && (!filter.id || item.id === filter.id),
    );
    const group = ([cell, items]: [string, Diagnostic[]]) => [
      cell ? h("h3", { class: "jitscope-bits-cell" }, cell) : null,
      cards(items, cell, host),
    ];
    list.replaceChildren(...byCell(wanted).flatMap(group).filter((part) => part !== null));
    if (!wanted.length) list.append(h("p", { class: "jitscope-empty" }, "None of this kind."));
  };
  if (!doc.items.length) return { element: empty(doc.note), dispose() {} };
  const tools = filters(doc.items, filter, show);
  show();
  const element = h(
    "section",
    { class: "jitscope-bits-view", "aria-label": "Sharp bits" },
    h("div", { class: "jitscope-bits-head" }, h("p", { class: "jitscope-muted" }, counted(doc.items)), tools),
    list,
  );
  return { element, memory: () => filter, dispose() {} };
}

/** Choices of severity and id; none where there is nothing to choose. */
function filters(items: Diagnostic[], filter: Filter, changed: () => void): HTMLElement | null {
  const ids = [...new Set(items.map((item) => item.id))].sort();
  const kinds = SEVERITIES.filter((severity) => items.some((item) => item.severity === severity));
  if (filter.id && !ids.includes(filter.id)) filter.id = "";
  if (filter.severity !== "all" && !kinds.includes(filter.severity)) filter.severity = "all";
  const choose = (label: string, options: [string, string][], now: string, take: (value: string) => void) =>
    options.length > 2
      ? h(
          "select",
          { "aria-label": label, onchange: (event: Event) => (take((event.target as HTMLSelectElement).value), changed()) },
          ...options.map(([value, text]) => h("option", { value, selected: value === now }, text)),
        )
      : null;
  const severity = choose(
    "Severity",
    [["all", "every severity"], ...kinds.map((kind): [string, string] => [kind, `${NAMES[kind]}s`])],
    filter.severity,
    (value) => (filter.severity = value as Filter["severity"]),
  );
  const id = choose("Sharp bit", [["", "every id"], ...ids.map((id): [string, string] => [id, id])], filter.id, (value) => (filter.id = value));
  return severity || id ? h("div", { class: "jitscope-bits-filters" }, severity, id) : null;
}

const NOTHING = "No sharp bits were found by looking at the code of these cells and at what they compiled. ";

function empty(note?: string): HTMLElement {
  if (note) return h("p", { class: "jitscope-empty" }, note);
  return h("p", { class: "jitscope-empty" }, NOTHING, h("code", {}, "%sharpbits on"), " looks at the values of runs too.");
}
