// Two programs side by side. Unchanged runs are folded; what became one kernel is bracketed under one caption.
import type { DiffLine, DiffRow } from "./documents";
import { h, plural } from "./dom";
import { hlo, hloTokens } from "./highlight";
import { touches, type Links, type Selected, type Selection } from "./links";

const CONTEXT = 2; // unchanged lines kept beside a change
const BLOCK = 300; // rows made at once when they are asked for
const SCREENS = 200; // lines that a few screens hold
const FUSED_SHOWN = 16; // operations of one kernel shown at first

export type Run =
  | { kind: "rows"; rows: DiffRow[] }
  | { kind: "folded"; rows: DiffRow[] }
  | { kind: "fused"; rows: DiffRow[]; caption: string };

/** Rows of one kind belong together; fused ones only while they lead to the same kernel. */
function endOfRun(rows: DiffRow[], start: number): number {
  const { kind, caption } = rows[start]!;
  let kernels = rows[start]!.right ? 1 : 0;
  let end = start + 1;
  for (; end < rows.length && rows[end]!.kind === kind; end++) {
    if (kind !== "fused") continue;
    if (rows[end]!.caption && rows[end]!.caption !== caption) break;
    if (rows[end]!.right && ++kernels > 1) break;
  }
  return end;
}

/** Rows grouped: long unchanged runs folded, neighbouring fused rows of one kernel together. */
export function runs(rows: DiffRow[]): Run[] {
  const found: Run[] = [];
  const push = (kind: "rows" | "folded", list: DiffRow[]) => {
    const last = found[found.length - 1];
    if (!list.length) return;
    if (last?.kind === kind) last.rows.push(...list);
    else found.push({ kind, rows: [...list] });
  };
  for (let i = 0; i < rows.length;) {
    const end = endOfRun(rows, i);
    const kind = rows[i]!.kind;
    const list = rows.slice(i, end);
    if (kind === "fused") found.push({ kind: "fused", rows: list, caption: rows[i]!.caption });
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
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end]![1] === b[b.length - 1 - end]![1])
    end++;
  const fragment = document.createDocumentFragment();
  const join = (part: [string, string][]) => part.map(([, piece]) => piece).join("");
  fragment.append(hlo(join(a.slice(0, start))));
  const middle = join(a.slice(start, a.length - end));
  if (middle) fragment.append(h("mark", {}, hlo(middle)));
  fragment.append(hlo(join(a.slice(a.length - end))));
  return fragment;
}

function lineElements(line: DiffLine, other: DiffLine | null, kind: string, sign: string): HTMLElement[] {
  const text = line.text.trim();
  const body = kind === "changed" && other ? changed(text, other.text.trim()) : hlo(text);
  const indent = line.text.length - line.text.trimStart().length;
  return [
    h("span", { class: "jitscope-number" }, line.number),
    h("code", { class: "jitscope-code", "data-sign": sign, style: { "--indent": `${indent}ch` } }, body),
  ];
}

type Side = "left" | "right";

/** One side of a row; `note` says what happened, beside the line or where there is none. */
function side(which: Side, line: DiffLine | null, other: DiffLine | null, kind: string, note = ""): HTMLElement {
  const sign = kind === "same" ? "" : which === "left" ? "−" : "+";
  const content = line ? lineElements(line, other, kind, sign) : [];
  if (note) content.push(h("span", { class: "jitscope-row-note" }, note));
  return h("div", { class: `jitscope-side jitscope-${which}`, "data-none": line === null }, ...content);
}

export class Diff {
  readonly element: HTMLElement;
  private readonly made: { paths: string[]; element: HTMLElement }[] = [];
  private sides = 0; // how many sides of rows were made
  private selected: Selected | null = null;

  constructor(
    rows: DiffRow[],
    private readonly links: Links,
    private readonly selection: Selection,
  ) {
    this.element = h("div", { class: "jitscope-diff", role: "group", "aria-label": "Program before and after fusion", tabindex: "0" });
    this.element.append(
      h(
        "div",
        { class: "jitscope-diff-head" },
        h("span", {}, "before"),
        h("span", {}, "after"),
      ),
    );
    this.addRuns(runs(rows), 0);
    if (!rows.length) this.element.append(h("p", { class: "jitscope-empty" }, "The two programs are not known."));
    selection.onChange((selected) => this.mark(selected));
  }

  /** As many runs as a few screens hold; the others when the reader comes near the end. */
  private addRuns(all: Run[], from: number): void {
    const enough = this.sides + SCREENS;
    let at = from;
    while (at < all.length && this.sides < enough) this.addRun(all[at++]!);
    if (at >= all.length) return;
    const more = h("button", { type: "button", class: "jitscope-fold" }, "more");
    const observer = new IntersectionObserver((seen) => seen.some((entry) => entry.isIntersecting) && go(), {
      root: this.element,
      rootMargin: "400px",
    });
    const go = () => {
      observer.disconnect();
      more.remove();
      this.addRuns(all, at);
      this.mark(this.selected);
    };
    more.addEventListener("click", go);
    this.element.append(more);
    observer.observe(more);
  }

  private addRun(run: Run): void {
    if (run.kind === "folded") return this.element.append(this.folded(run.rows));
    if (run.kind === "rows") return this.fill(this.element, run.rows);
    this.element.append(this.fused(run.caption, run.rows));
  }

  /** What went into one kernel on the left, the kernel on the right, a bracket between. */
  private fused(caption: string, rows: DiffRow[]): HTMLElement {
    const column = (which: Side) => {
      const place = h("div", { class: `jitscope-fused-${which}` });
      const lines = rows.flatMap((row) => row[which] ?? []);
      this.inBlocks(place, lines, FUSED_SHOWN, (line) => this.watch(side(which, line, null, "fused"), line.paths));
      return place;
    };
    return h(
      "div",
      { class: "jitscope-fused", role: "group", "aria-label": caption },
      h("div", { class: "jitscope-fused-caption" }, caption),
      h("div", { class: "jitscope-fused-body" }, column("left"), column("right")),
    );
  }

  private folded(rows: DiffRow[]): HTMLElement {
    const button = h("button", { type: "button", class: "jitscope-fold" }, `${plural(rows.length, "unchanged line")}`);
    button.addEventListener("click", () => {
      const place = h("div", {});
      this.fill(place, rows);
      button.replaceWith(place);
      this.mark(this.selected);
    });
    return button;
  }

  private fill(place: HTMLElement, rows: DiffRow[]): void {
    this.inBlocks(place, rows, BLOCK, (row) => this.row(row));
  }

  /** Makes the first elements at once, and more when asked. */
  private inBlocks<T>(place: HTMLElement, all: T[], block: number, make: (one: T) => HTMLElement, from = 0): void {
    const end = all.length - from - block < 4 ? all.length : from + block;
    for (const one of all.slice(from, end)) place.append(make(one));
    if (end >= all.length) return;
    const more = h("button", { type: "button", class: "jitscope-fold" }, `${plural(all.length - end, "more line")}`);
    more.addEventListener("click", () => {
      more.remove();
      this.inBlocks(place, all, BLOCK, make, end);
      this.mark(this.selected);
    });
    place.append(more);
  }

  private row(row: DiffRow): HTMLElement {
    const element = h("div", { class: "jitscope-row", "data-kind": row.kind });
    const noted: Side = row.left || !row.right ? "right" : "left"; // where there is room, or beside what came of it
    for (const which of ["left", "right"] as const) {
      const other = which === "left" ? row.right : row.left;
      element.append(
        this.watch(
          side(which, row[which], other, row.kind, which === noted ? row.caption : ""),
          row[which]?.paths ?? [],
        ),
      );
    }
    return element;
  }

  /** A line that has an origin can be picked and is marked with its selection. */
  private watch(element: HTMLElement, paths: string[]): HTMLElement {
    this.sides++;
    if (!paths.length) return element;
    this.made.push({ paths, element });
    element.classList.add("jitscope-pickable");
    element.addEventListener("click", () => this.selection.set(this.links.fromPaths(paths)));
    return element;
  }

  private mark(selected: Selected | null): void {
    this.selected = selected;
    for (const { paths, element } of this.made)
      element.toggleAttribute("data-related", !!selected && touches(paths, selected.paths));
  }
}
