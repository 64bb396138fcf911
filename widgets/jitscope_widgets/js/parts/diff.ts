// Two programs side by side, line by line. Unchanged runs are folded; what became one is bracketed under one caption.
import type { DiffLine, DiffRow } from "../documents";
import { h, plural } from "../dom";
import { touches, type Selected } from "../links";
import { Roving } from "../roving";
import { textOf } from "./code";
import type { Diff, Run } from "./forms";
import type { Stage } from "./view";

const BLOCK = 300; // rows made at once when they are asked for
const SCREENS = 200; // lines that a few screens hold
const FUSED_SHOWN = 16; // operations of one kernel shown at first

type Side = "left" | "right";
type Mark = [number, number] | null;
/** A row, and what differs on its left and on its right. */
interface Pair {
  row: DiffRow;
  marks: { left: Mark; right: Mark };
}

export const diffPart = (part: Diff, stage: Stage): HTMLElement => new DiffView(part, stage).element;

class DiffView {
  readonly element: HTMLElement;
  private readonly linked: { paths: string[]; element: HTMLElement }[] = [];
  private sides = 0; // how many sides of rows were made
  private selected: Selected | null = null;
  private readonly roving: Roving;

  constructor(
    private readonly part: Diff,
    private readonly stage: Stage,
  ) {
    const head = part.sides.map((side) => h("span", side));
    this.element = h(
      "div.jitscope-diff",
      { role: "group", "aria-label": part.name, tabindex: "0" },
      h("div.jitscope-diff-head", ...head),
    );
    this.roving = new Roving(
      this.element,
      ".jitscope-pickable",
      (side) => this.pick(side),
      () => stage.around.selection.clear(),
    );
    this.addRuns(this.runs(), 0);
    stage.around.selection.onChange((selected) => this.mark(selected));
  }

  private runs(): [Run, Pair[]][] {
    const { pairs, runs, marks = [] } = this.part;
    let [at, changed] = [0, 0];
    return runs.map((run) => [
      run,
      pairs.slice(at, (at += run.count)).map((row) => {
        const mark = run.kind === "changed" && row.left && row.right ? marks[changed++] : undefined;
        return { row, marks: { left: mark ? [mark[0], mark[1]] : null, right: mark ? [mark[2], mark[3]] : null } };
      }),
    ]);
  }

  /** As many runs as a few screens hold; the others when the reader comes near the end. */
  private addRuns(all: [Run, Pair[]][], from: number): void {
    const enough = this.sides + SCREENS;
    let at = from;
    while (at < all.length && this.sides < enough) this.addRun(...all[at++]!);
    this.roving.renew();
    if (at >= all.length) return;
    const more = h("button.jitscope-fold", "more");
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
    this.stage.ends.push(() => observer.disconnect());
  }

  private addRun(run: Run, pairs: Pair[]): void {
    if (run.kind === "folded") this.element.append(this.folded(pairs));
    else if (run.kind === "fused") this.element.append(this.fused(run.caption ?? "", pairs));
    else this.fill(this.element, pairs);
  }

  /** What went into one on the left, that one on the right, a bracket between. */
  private fused(caption: string, pairs: Pair[]): HTMLElement {
    const column = (which: Side) => {
      const place = h("div", { class: `jitscope-fused-${which}` });
      const lines = pairs.flatMap(({ row }) => row[which] ?? []);
      this.inBlocks(place, lines, FUSED_SHOWN, (line) => this.side(which, line, null, "fused"));
      return place;
    };
    return h(
      "div.jitscope-fused",
      { role: "group", "aria-label": caption },
      h("div.jitscope-fused-caption", caption),
      h("div.jitscope-fused-body", column("left"), column("right")),
    );
  }

  private folded(pairs: Pair[]): HTMLElement {
    const button = h("button.jitscope-fold", plural(pairs.length, "unchanged line"));
    button.addEventListener("click", () => {
      const place = h("div");
      this.fill(place, pairs);
      button.replaceWith(place);
      this.mark(this.selected);
    });
    return button;
  }

  private fill(place: HTMLElement, pairs: Pair[]): void {
    this.inBlocks(place, pairs, BLOCK, (pair) => this.row(pair));
  }

  /** Makes the first elements at once, and more when asked. */
  private inBlocks<T>(place: HTMLElement, all: T[], block: number, make: (one: T) => HTMLElement, from = 0): void {
    const end = all.length - from - block < 4 ? all.length : from + block;
    for (const one of all.slice(from, end)) place.append(make(one));
    if (end >= all.length) return;
    const more = h("button.jitscope-fold", plural(all.length - end, "more line"));
    more.addEventListener("click", () => {
      more.remove();
      this.inBlocks(place, all, BLOCK, make, end);
      this.mark(this.selected);
    });
    place.append(more);
  }

  private row({ row, marks }: Pair): HTMLElement {
    const noted: Side = row.left || !row.right ? "right" : "left"; // where there is room, or beside what came of it
    const sides = (["left", "right"] as const).map((which) =>
      this.side(which, row[which], marks[which], row.kind, which === noted ? row.caption : ""),
    );
    return h("div.jitscope-row", { "data-kind": row.kind }, ...sides);
  }

  /** One side of a row; `note` says what happened, beside the line or where there is none. A line that has an origin can be picked. */
  private side(which: Side, line: DiffLine | null, mark: Mark, kind: string, note = ""): HTMLElement {
    this.sides++;
    const sign = kind === "same" ? "" : which === "left" ? "−" : "+";
    const content = line ? this.line(line, mark, sign) : [];
    if (note) content.push(h("span.jitscope-row-note", note));
    const paths = line?.paths ?? [];
    const element = h(
      "div",
      {
        class: `jitscope-side jitscope-${which}${paths.length ? " jitscope-pickable" : ""}`,
        tabindex: paths.length ? -1 : null,
        "data-none": line === null,
      },
      ...content,
    );
    if (paths.length) this.linked.push({ paths, element });
    return element;
  }

  private line({ number, text }: DiffLine, mark: Mark, sign: string): HTMLElement[] {
    const indent = text.length - text.trimStart().length;
    const stretch: Mark = mark && [Math.max(0, mark[0] - indent), mark[1] - indent];
    const body = textOf({ text: text.trim(), stretch }, this.part.language);
    return [
      h("span.jitscope-number", number),
      h("code.jitscope-code", { "data-sign": sign, style: { "--indent": `${indent}ch` } }, ...body),
    ];
  }

  private pick(side: HTMLElement): void {
    const found = this.linked.find(({ element }) => element === side);
    if (found) this.stage.pick({ paths: found.paths });
  }

  private mark(selected: Selected | null): void {
    this.selected = selected;
    for (const { paths, element } of this.linked)
      element.toggleAttribute("data-related", !!selected && touches(paths, selected.paths));
  }
}
