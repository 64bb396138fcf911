// The bytes in use over the schedule as a picture: areas stacked by kind, the peak marked, a step that is looked at.
import type { MemoryBuffer, MemoryDoc } from "./documents";
import { grouped, h, s } from "./dom";
import { bytes } from "./numbers";
import { TABLES } from "./sentences";

export type Kind = MemoryBuffer["kind"];

/** In the order in which they are stacked, from the bottom. */
export const KINDS = Object.entries(TABLES.memory) as [Kind, string][];

const WIDTH = 1000; // in units of the picture, which is as wide as its place
const HEIGHT = 170;

/** The end of an axis: a round number not below `most`. */
function nice(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return power * [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => step * power >= most * (1 - 1e-9))!;
}

export class MemoryChart {
  readonly element: HTMLElement;
  private readonly cursor = h("div", { class: "jitscope-memory-cursor" });
  private readonly lives = s("g", { class: "jitscope-memory-lives" });
  private readonly top: number;
  private readonly totals: number[];
  private readonly slider: HTMLElement;

  constructor(
    private readonly doc: MemoryDoc,
    private readonly stepped: (step: number) => void,
  ) {
    const { curve, peak } = doc;
    this.totals = curve.positions.map((_, n) => KINDS.reduce((sum, [kind]) => sum + curve[kind][n]!, 0));
    this.top = nice(peak.bytes);
    const picture = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    for (let n = 0; n <= 4; n++) picture.append(s("path", { d: `M0,${(HEIGHT * n) / 4}H${WIDTH}`, class: "jitscope-memory-grid" }));
    for (const scope of doc.scopes)
      if (scope.text !== "condition of the loop")
        picture.append(s("rect", { x: this.x(scope.start), width: this.x(scope.end + 1) - this.x(scope.start), y: 0, height: HEIGHT, class: "jitscope-memory-scope" }));
    picture.append(...this.areas(), this.lives);
    this.slider = h(
      "div",
      {
        class: "jitscope-memory-plot",
        role: "slider",
        tabindex: 0,
        "aria-label": "Step of the schedule",
        "aria-valuemin": 1,
        "aria-valuemax": doc.length,
        onkeydown: (event: KeyboardEvent) => this.key(event),
        onclick: (event: MouseEvent) => this.pointed(event),
        onmousemove: (event: MouseEvent) => (this.slider.title = this.told(this.stepAt(event))),
      },
      picture,
      this.peakMark(),
      this.cursor,
    );
    this.element = h("div", { class: "jitscope-memory-chart" }, this.legend(), this.axis(), this.slider, this.scopeNames(), this.steps());
  }

  /** The bytes in use at a step. */
  at(step: number): { total: number; kinds: Record<Kind, number>; instruction: string } {
    const { curve } = this.doc;
    let n = curve.positions.findIndex((position) => position > step);
    n = Math.max(0, (n < 0 ? curve.positions.length : n) - 1);
    const kinds = Object.fromEntries(KINDS.map(([kind]) => [kind, curve[kind][n] ?? 0])) as Record<Kind, number>;
    return { total: this.totals[n] ?? 0, kinds, instruction: curve.positions[n] === step ? curve.instructions[n]! : "" };
  }

  told(step: number): string {
    const { total, kinds, instruction } = this.at(step);
    const parts = KINDS.flatMap(([kind, word]) => (kinds[kind] ? [`${word} ${bytes(kinds[kind])}`] : []));
    return `Step ${grouped(step + 1)} of ${grouped(this.doc.length)}${instruction ? ` (${instruction})` : ""}: ${bytes(total)} in use: ${parts.join(", ")}`;
  }

  show(step: number): void {
    this.cursor.style.setProperty("--at", `${(100 * (step + 0.5)) / this.doc.length}%`);
    this.cursor.hidden = step === this.doc.peak.position;
    this.slider.setAttribute("aria-valuenow", String(step + 1));
    this.slider.setAttribute("aria-valuetext", this.told(step));
    this.now = step;
  }

  private now = 0;

  /** Draws from when to when some buffers live. */
  mark(buffers: MemoryBuffer[]): void {
    this.lives.replaceChildren(
      ...buffers.slice(0, 40).map(({ born, dies }, n) => {
        const x = this.x(born);
        return s("rect", { x, width: Math.max(2, this.x(dies + 1) - x), y: HEIGHT - 5 - 6 * (n % 20), height: 4 });
      }),
    );
  }

  private x(step: number): number {
    return Math.round((10 * WIDTH * step) / this.doc.length) / 10;
  }

  private y(amount: number): number {
    return Math.round(10 * HEIGHT * (1 - amount / this.top)) / 10;
  }

  private areas(): SVGElement[] {
    const { positions, ...curve } = this.doc.curve;
    const ends = [...positions.slice(1), this.doc.length];
    let below = positions.map(() => 0);
    return KINDS.map(([kind]) => {
      const above = below.map((low, n) => low + curve[kind][n]!);
      const line = (heights: number[]) => heights.flatMap((v, n) => [`${this.x(positions[n]!)},${this.y(v)}`, `${this.x(ends[n]!)},${this.y(v)}`]);
      const d = `M${[...line(above), ...line(below).reverse()].join(" ")}Z`;
      below = above;
      return s("path", { d, class: "jitscope-memory-area", "data-of": kind });
    });
  }

  /** Loops, branches and calls below the picture, each where it is: those with room for a name, loops before what is in or round them. */
  private scopeNames(): HTMLElement {
    const { scopes, length } = this.doc;
    const wide = scopes.filter(({ start, end, text }) => end - start > length / 12 && text !== "condition of the loop");
    const taken: typeof scopes = [];
    for (const scope of wide.sort((a, b) => Number(b.iterations !== null) - Number(a.iterations !== null) || b.end - b.start - (a.end - a.start)))
      if (!taken.some(({ start, end }) => start <= scope.end && scope.start <= end)) taken.push(scope);
    const names = taken.map(({ start, end, text }) =>
      h("span", { title: text, style: { "--from": `${(100 * start) / length}%`, "--to": `${100 - (100 * (end + 1)) / length}%` } }, text),
    );
    return h("div", { class: "jitscope-memory-scopes", hidden: !names.length }, ...names);
  }

  private peakMark(): HTMLElement {
    const { position, bytes: size } = this.doc.peak;
    const at = (100 * (position + 0.5)) / this.doc.length;
    const style = { "--at": `${at}%`, "--top": `${(100 * this.y(size)) / HEIGHT}%` };
    return h("div", { class: "jitscope-memory-peak", style, "data-side": at > 55 ? "left" : "right" }, h("span", {}, `▼ peak ${bytes(size)}`));
  }

  private legend(): HTMLElement {
    const { kinds } = this.doc.peak;
    const entries = KINDS.filter(([kind]) => kinds[kind] || this.doc.curve[kind].some(Boolean)).map(([kind, word]) =>
      h("span", {}, h("span", { class: "jitscope-memory-key", "data-of": kind, "aria-hidden": "true" }), `${word} ${bytes(kinds[kind])}`),
    );
    return h("p", { class: "jitscope-memory-legend" }, "In use at the peak: ", ...entries);
  }

  private axis(): HTMLElement {
    const marks = [4, 3, 2, 1, 0].map((n) => h("span", {}, bytes((this.top * n) / 4)));
    return h("div", { class: "jitscope-memory-axis", "aria-hidden": "true" }, ...marks);
  }

  private steps(): HTMLElement {
    const { length } = this.doc;
    const marks = length > 4 ? [0, Math.floor(length / 2), length - 1] : [0, length - 1];
    return h("div", { class: "jitscope-memory-steps", "aria-hidden": "true" }, ...marks.map((step, n) => h("span", {}, n ? grouped(step + 1) : `step ${step + 1}`)));
  }

  private stepAt(event: MouseEvent): number {
    const { left, width } = this.slider.getBoundingClientRect();
    return this.within(Math.floor((this.doc.length * (event.clientX - left)) / (width || 1)));
  }

  private within(step: number): number {
    return Math.max(0, Math.min(step, this.doc.length - 1));
  }

  private pointed(event: MouseEvent): void {
    this.stepped(this.stepAt(event));
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.round(this.doc.length / 20));
    const steps: Record<string, number> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: page, PageDown: -page, Home: -this.now, End: this.doc.length };
    const by = steps[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.stepped(this.within(this.now + by));
  }
}
