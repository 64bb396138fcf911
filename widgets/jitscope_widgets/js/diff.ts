// Two programs side by side. Unchanged runs are folded; what became one kernel is bracketed under one caption.
import type { DiffLine, DiffRow } from "./documents";
import { h, plural } from "./dom";
import { hlo, hloTokens } from "./highlight";
import { touches, type Links, type Selected, type Selection } from "./links";

const CONTEXT = 2; // unchanged lines kept beside a change
const BLOCK = 300; // rows made at once

export type Run = { kind: "rows"; rows: DiffRow[] } | { kind: "folded"; rows: DiffRow[] } | { kind: "fused"; rows: DiffRow[]; caption: string };

/** Rows grouped: long unchanged runs folded, neighbouring fused rows of one kernel together. */
export function runs(rows: DiffRow[]): Run[] {
  const found: Run[] = [];
  const push = (kind: "rows" | "folded", list: DiffRow[]) => {
    const last = found[found.length - 1];
    if (!list.length) return;
    if (last?.kind === kind) last.rows.push(...list);
    else found.push({ kind, rows: [...list] });
  };
  for (let i = 0; i < rows.length; ) {
    let end = i + 1;
    const kind = rows[i]!.kind;
    const caption = rows[i]!.caption;
    while (end < rows.length && rows[end]!.kind === kind && (kind !== "fused" || !rows[end]!.caption || rows[end]!.caption === caption)) end++;
    const list = rows.slice(i, end);
    if (kind === "fused") found.push({ kind: "fused", rows: list, caption });
    else if (kind === "same" && list.length > 2 * CONTEXT + 2) {
      const before = i === 0 ? 0 : CONTEXT;
      const after = end === rows.length ? 0 : CONTEXT;
      push("rows", list.slice(0, before));
      push("folded", list.slice(before, list.length - after));
      push("rows", list.slice(list.length - after));
    } else push("rows", list);
    i = end;
  }
  return found;
}

/** The text of a changed line with what differs from the other side marked: the middle between equal ends. */
function changed(text: string, other: string): Node {
  const [a, b] = [hloTokens(text), hloTokens(other)];
  let start = 0;
  while (start < a.length && start < b.length && a[start]![1] === b[start]![1]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end]![1] === b[b.length - 1 - end]![1]) end++;
  const fragment = document.createDocumentFragment();
  const join = (part: [string, string][]) => part.map(([, piece]) => piece).join("");
  fragment.append(hlo(join(a.slice(0, start))));
  const middle = join(a.slice(start, a.length - end));
  if (middle) fragment.append(h("mark", {}, hlo(middle)));
  fragment.append(hlo(join(a.slice(a.length - end))));
  return fragment;
}

function side(line: DiffLine | null, other: DiffLine | null, which: "left" | "right", kind: string): HTMLElement[] {
  const sign = !line || kind === "same" ? "" : which === "left" ? "−" : "+";
  const cls = `jitscope-side jitscope-${which}`;
  if (!line) return [h("span", { class: `${cls} jitscope-number`, "data-none": "" }), h("span", { class: cls, "data-none": "" })];
  const body = kind === "changed" && other ? changed(line.text.trim(), other.text.trim()) : hlo(line.text.trim());
  const indent = line.text.length - line.text.trimStart().length;
  return [
    h("span", { class: `${cls} jitscope-number` }, line.number),
    h("code", { class: cls, "data-sign": sign, style: { "--indent": `${indent}ch` } }, body),
  ];
}

export class Diff {
  readonly element: HTMLElement;
  private readonly made: { row: DiffRow; element: HTMLElement }[] = [];
  private selected: Selected | null = null;

  constructor(rows: DiffRow[], private readonly links: Links, private readonly selection: Selection) {
    this.element = h("div", { class: "jitscope-diff", role: "table", "aria-label": "Program before and after fusion" });
    this.element.append(
      h("div", { class: "jitscope-diff-head", role: "row" }, h("span", { role: "columnheader" }, "before"), h("span", { role: "columnheader" }, "after")),
    );
    for (const run of runs(rows)) this.addRun(run);
    if (!rows.length) this.element.append(h("p", { class: "jitscope-empty" }, "The two programs are not known."));
    selection.onChange((selected) => this.mark(selected));
  }

  private addRun(run: Run): void {
    if (run.kind === "folded") return this.element.append(this.folded(run.rows));
    if (run.kind === "rows") return this.fill(this.element, run.rows);
    const group = h("div", { class: "jitscope-fused", role: "rowgroup" }, h("div", { class: "jitscope-fused-caption", role: "row" }, run.caption));
    this.fill(group, run.rows);
    this.element.append(group);
  }

  private folded(rows: DiffRow[]): HTMLElement {
    const button = h("button", { type: "button", class: "jitscope-fold" }, `${plural(rows.length, "unchanged line")}`);
    button.addEventListener("click", () => {
      const place = h("div", { role: "rowgroup" });
      this.fill(place, rows);
      button.replaceWith(place);
      this.mark(this.selected);
    });
    return button;
  }

  /** Makes the first rows at once, and more when the end comes near. */
  private fill(place: HTMLElement, rows: DiffRow[], from = 0): void {
    for (const row of rows.slice(from, from + BLOCK)) place.append(this.row(row));
    if (from + BLOCK >= rows.length) return;
    const rest = rows.length - from - BLOCK;
    const more = h("button", { type: "button", class: "jitscope-fold" }, `show ${plural(rest, "more line")}`);
    more.addEventListener("click", () => {
      more.remove();
      this.fill(place, rows, from + BLOCK);
      this.mark(this.selected);
    });
    place.append(more);
  }

  private row(row: DiffRow): HTMLElement {
    const element = h(
      "div",
      { class: "jitscope-row", role: "row", "data-kind": row.kind, title: row.kind !== "fused" && row.caption ? row.caption : null },
      ...side(row.left, row.right, "left", row.kind),
      ...side(row.right, row.left, "right", row.kind),
    );
    const paths = [...(row.left?.paths ?? []), ...(row.right?.paths ?? [])];
    if (paths.length) element.addEventListener("click", () => this.selection.set(this.links.fromPaths(paths)));
    this.made.push({ row, element });
    return element;
  }

  private mark(selected: Selected | null): void {
    this.selected = selected;
    for (const { row, element } of this.made) {
      const left = !!selected && touches(row.left?.paths ?? [], selected.paths);
      const right = !!selected && touches(row.right?.paths ?? [], selected.paths);
      element.toggleAttribute("data-left-related", left);
      element.toggleAttribute("data-right-related", right);
    }
  }
}
