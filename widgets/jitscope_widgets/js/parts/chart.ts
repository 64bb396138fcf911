// A chart: areas and lines, marks that can be picked, a place on the axis across that is looked at.
import { flowing } from "../breaks";
import { clear, grouped, h, s } from "../dom";
import type { Selected } from "../links";
import type { Band, Chart, Point, Series } from "./forms";
import { legend } from "./legend";
import { Scale } from "./scale";
import type { Cursor, Stage } from "./view";

const LEFT = 78;
const RIGHT = 14;
const ABOVE = 22;
const BELOW = 38;
const HEIGHT = 176; // of the plot, in pixels
const SMALL = 80; // of one that stands beside others
const SQUARE = 300; // of one with marks to tell apart
const STRIP = 18; // below the plot, for the names of bands
const LETTER = 7.5; // pixels of a letter of a label
const NAMED = 30; // pixels from which on a band has room for a name

class ChartView {
  readonly element: HTMLElement;
  private readonly plot: HTMLElement;
  private readonly answer: HTMLElement;
  private readonly cursor: Cursor;
  private readonly height: number;
  private width = 0;
  private across!: Scale;
  private up!: Scale;
  private marks: [SVGElement, Point][] = [];
  private line: SVGElement | null = null;

  constructor(
    private readonly chart: Chart,
    private readonly stage: Stage,
  ) {
    this.height = chart.small ? SMALL : this.pickable.length ? SQUARE : HEIGHT;
    this.cursor = stage.cursor(chart.name);
    this.cursor.usual = chart.at ?? null;
    const at = stage.remember<number | null>(`chart ${chart.name}`, chart.at ?? null, () => this.cursor.at);
    this.answer = h("p.jitscope-chart-answer", { role: "status", "aria-live": "polite" });
    this.plot = h("div.jitscope-chart-plot", { ...this.role() });
    this.element = h(
      "figure.jitscope-chart",
      { "data-small": (chart.small && !chart.steps) || undefined, "aria-label": chart.name },
      this.legend(),
      this.plot,
      this.below(),
    );
    this.measure(760);
    const watch = new ResizeObserver(([entry]) => this.draw(Math.floor(entry!.contentRect.width)));
    watch.observe(this.plot);
    stage.ends.push(() => watch.disconnect());
    if (chart.steps) this.cursor.move(at === null ? null : this.within(at));
    this.cursor.follow(() => this.show());
    stage.around.selection.onChange((selected) => this.mark(selected));
  }

  private get pickable(): Point[] {
    return (this.chart.points ?? []).filter(({ shape }) => shape !== "flag");
  }

  private role(): Record<string, unknown> {
    const { chart } = this;
    if (!chart.steps) return {};
    return {
      role: "slider",
      tabindex: 0,
      "aria-label": `${chart.steps[0]!.toUpperCase()}${chart.steps.slice(1)} of the ${chart.across.title}`,
      "aria-valuemin": 1,
      "aria-valuemax": chart.across.high,
      onkeydown: (event: KeyboardEvent) => this.key(event),
      onclick: (event: MouseEvent) => this.cursor.move(this.stepAt(event)),
      onmousemove: (event: MouseEvent) => (this.plot.title = this.told(this.stepAt(event))),
    };
  }

  private legend(): HTMLElement | null {
    if (this.chart.small && !this.chart.steps) return null;
    const named = (this.chart.series ?? []).filter(({ kind, up }) => kind !== "line" && up.some(Boolean));
    if (!named.length) return null;
    const bands = new Set((this.chart.bands ?? []).map(({ text }) => text.split(", ")[0]!));
    return legend([
      ...named.map(({ name, title, tone }): [string | undefined, string] => [tone || undefined, title || name]),
      ...(bands.size ? [["band", [...bands].join(", ")] as [string, string]] : []),
    ]);
  }

  private below(): HTMLElement | null {
    if (this.chart.steps) {
      if (this.chart.at == null) return this.answer;
      const back = h(
        "button.jitscope-button",
        { onclick: () => this.cursor.move(this.cursor.usual) },
        "Go to the peak",
      );
      this.cursor.follow((at) => (back.hidden = at === this.cursor.usual));
      return h("div.jitscope-chart-below", this.answer, back);
    }
    if (!this.pickable.length) return null;
    this.answer.textContent = "Point at a mark, or go through them with the arrow keys, to read its figures.";
    return this.answer;
  }

  private draw(width: number): void {
    if (width < 40 || width === this.width) return;
    this.width = width;
    this.measure(width);
    const { chart } = this;
    const picture = s("svg", {
      width,
      height: this.foot + BELOW,
      role: this.pickable.length ? "group" : "img",
      "aria-label": chart.summary,
    });
    this.line = chart.steps ? s("path", { class: "jitscope-chart-cursor" }) : null;
    picture.append(
      ...this.bands(),
      ...this.names(),
      ...this.grid(),
      ...this.series(),
      ...this.flags(),
      ...this.points(),
      ...this.labels(),
    );
    if (this.line) picture.append(this.line);
    clear(this.plot);
    this.plot.append(picture);
    this.show();
    this.mark(this.stage.around.selection.current);
  }

  private measure(width: number): void {
    this.across = new Scale(this.chart.across, LEFT, width - RIGHT);
    this.up = new Scale(this.chart.up, ABOVE + this.height, ABOVE);
  }

  private bands(): SVGElement[] {
    return (this.chart.bands ?? []).map(({ start, end, text }) => {
      const [x, last] = [this.across.at(start), this.across.at(end)];
      const box = s("rect", {
        class: "jitscope-chart-band",
        x,
        y: ABOVE,
        width: Math.max(1, last - x),
        height: this.height + STRIP,
      });
      box.append(s("title", {}, text));
      return box;
    });
  }

  /** The names of bands below them: those with room for one, of bands in each other the longest. */
  private names(): SVGElement[] {
    const taken: Band[] = [];
    for (const band of [...(this.chart.bands ?? [])].sort((a, b) => b.end - b.start - (a.end - a.start)))
      if (
        this.across.at(band.end) - this.across.at(band.start) > NAMED &&
        !taken.some(({ start, end }) => start < band.end && band.start < end)
      )
        taken.push(band);
    return taken.map(({ start, end, text }) => {
      const [x, last] = [this.across.at(start), this.across.at(end)];
      const room = Math.floor((last - x) / 6.5);
      return s(
        "text",
        { class: "jitscope-chart-label", x: (x + last) / 2, y: ABOVE + this.height + 13, "text-anchor": "middle" },
        shortened(text, room),
      );
    });
  }

  /** Where what stands below the plot begins. */
  private get foot(): number {
    return ABOVE + this.height + (this.chart.bands?.length ? STRIP : 0);
  }

  private grid(): SVGElement[] {
    const { across, up, chart } = this;
    const label = (x: number, y: number, anchor: string, text: string) =>
      s("text", { class: "jitscope-chart-label", x, y, "text-anchor": anchor }, text);
    const rows = up
      .heights(chart.small ? 2 : 4)
      .flatMap((value) => [
        s("path", { class: "jitscope-chart-grid", d: `M${LEFT} ${up.at(value)}H${this.width - RIGHT}` }),
        label(LEFT - 6, up.at(value) + 4, "end", up.written(value)),
      ]);
    const { foot } = this;
    const count = this.width < 520 || chart.small ? 2 : 4;
    const values: [number, string][] = chart.steps
      ? across.steps(count).map((step) => [step + 0.5, grouped(step + 1)])
      : across.ticks(count).map((value) => [value, across.written(value)]);
    const columns = values.map(([value, text]) => {
      const x = across.at(value);
      const over = x + (LETTER * text.length) / 2 > this.width; // at the right end
      return label(over ? this.width : x, foot + 15, over ? "end" : "middle", text);
    });
    const title = chart.steps ? `${chart.steps} of the ${chart.across.title}` : chart.across.title;
    const fits = (LETTER * title.length) / 2 < (this.width - LEFT) / 2;
    return [
      ...rows,
      ...columns,
      label(fits ? (LEFT + this.width) / 2 : this.width - 2, foot + 32, fits ? "middle" : "end", title),
    ];
  }

  private series(): SVGElement[] {
    let below: number[] | null = null;
    return (this.chart.series ?? []).flatMap((one) => {
      if (one.kind === "line") return this.lineOf(one);
      if (one.kind === "bars") return this.barsOf(one);
      const low: number[] = below ?? one.up.map(() => 0);
      const high = low.map((v, n) => v + one.up[n]!);
      below = high;
      return this.areaOf(one, low, high);
    });
  }

  private lineOf({ across, up, dashed, name, title }: Series): SVGElement {
    const line = s("path", {
      class: "jitscope-chart-line",
      "data-dashed": dashed ? "" : null,
      d: `M${across.map((x, n) => `${this.across.at(x)} ${this.up.at(up[n]!)}`).join("L")}`,
    });
    line.append(s("title", {}, title || name));
    return line;
  }

  private barsOf({ across, up, tone }: Series): SVGElement[] {
    const { chart } = this;
    return across.flatMap((start, n) => {
      const value = up[n]!;
      if (!(value > 0)) return [];
      const end = across[n + 1] ?? chart.across.high;
      const [x, y] = [this.across.at(start), this.up.at(value)];
      const bar = s("rect", {
        class: "jitscope-chart-area",
        "data-of": tone || null,
        x: x + 0.5,
        y,
        width: Math.max(0.5, this.across.at(end) - x - 1),
        height: Math.max(0.5, ABOVE + this.height - y),
      });
      bar.append(
        s(
          "title",
          {},
          `${this.up.written(value)} ${chart.up.title}, from ${this.across.written(start)} to ${this.across.written(end)}`,
        ),
      );
      return [bar];
    });
  }

  private areaOf({ across, tone }: Series, low: number[], high: number[]): SVGElement {
    const ends = [...across.slice(1), this.chart.across.high];
    const edge = (heights: number[]) =>
      heights.flatMap((v, n) => [
        `${this.across.at(across[n]!)},${this.up.at(v)}`,
        `${this.across.at(ends[n]!)},${this.up.at(v)}`,
      ]);
    return s("path", {
      class: "jitscope-chart-area",
      "data-of": tone || null,
      d: `M${[...edge(high), ...edge(low).reverse()].join(" ")}Z`,
    });
  }

  private flags(): SVGElement[] {
    return (this.chart.points ?? [])
      .filter(({ shape }) => shape === "flag")
      .flatMap(({ across, up, text }) => {
        const [x, y] = [this.across.at(across), this.up.at(up)];
        const wide = LETTER * (text.length + 2);
        const anchor = x > this.width * 0.6 && x - wide > LEFT ? "end" : "start";
        const from = anchor === "end" ? x : Math.max(LEFT, Math.min(x, this.width - wide));
        return [
          s("path", { class: "jitscope-chart-flag", d: `M${x} ${y}V${ABOVE + this.height}` }),
          s(
            "text",
            { class: "jitscope-chart-peak", x: from, y: Math.max(14, y - 6), "text-anchor": anchor },
            `▼ ${text}`,
          ),
        ];
      });
  }

  /** What stands at the ends of lines, where no mark lies if there is such a place. */
  private labels(): SVGElement[] {
    const marks = this.pickable.map(
      (point) => [this.across.at(point.across), this.up.at(point.up), 1.3 * radius(point)] as const,
    );
    return (this.chart.series ?? []).flatMap(({ label, across, up }) => {
      if (!label) return [];
      const width = LETTER * label.length;
      const free = ([x, y]: readonly [number, number]) =>
        marks.every(([px, py, r]) => px + r < x - width || px - r > x || py + r < y - 14 || py - r > y + 4);
      const [end, level] = [this.across.at(across[across.length - 1]!), this.up.at(up[up.length - 1]!)];
      const places = [0, 1, 2, 3, 4].flatMap((n) => [-6, 16].map((dy) => [end - 60 * n, level + dy] as const));
      const [x, y] = places.find(free) ?? places[0]!;
      return [s("text", { class: "jitscope-chart-label jitscope-chart-said", x, y, "text-anchor": "end" }, label)];
    });
  }

  // marks that stand for something

  private points(): SVGElement[] {
    this.marks = this.pickable.map((point, n) => {
      const mark = s("path", {
        class: "jitscope-chart-mark",
        "data-of": point.tone || null,
        d: outline(point, this.across.at(point.across), this.up.at(point.up)),
        tabindex: n ? -1 : 0,
        role: "button",
        "aria-label": point.text,
      });
      const tell = () => this.answer.replaceChildren(...flowing(point.text));
      mark.addEventListener("pointerover", tell);
      mark.addEventListener("focus", tell);
      mark.addEventListener("click", () => this.stage.pick(point.ref));
      mark.addEventListener("keydown", (event) => this.walk(event as KeyboardEvent, n));
      return [mark, point] as [SVGElement, Point];
    });
    return this.marks.map(([mark]) => mark).reverse(); // the largest lie below, so that small ones can be reached
  }

  private walk(event: KeyboardEvent, n: number): void {
    const to = {
      ArrowRight: n + 1,
      ArrowDown: n + 1,
      ArrowLeft: n - 1,
      ArrowUp: n - 1,
      Home: 0,
      End: this.marks.length - 1,
    }[event.key];
    if (to !== undefined) {
      const next = this.marks[Math.min(this.marks.length - 1, Math.max(0, to))]![0];
      for (const [mark] of this.marks) mark.setAttribute("tabindex", mark === next ? "0" : "-1");
      next.focus();
    } else if (event.key === "Enter" || event.key === " ") this.stage.pick(this.marks[n]![1].ref);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private mark(selected: Selected): void {
    for (const [mark, { ref }] of this.marks)
      mark.toggleAttribute("data-related", Boolean(ref && this.stage.belongs(ref, selected)));
  }

  // a step that is looked at

  private show(): void {
    const { chart } = this;
    const at = this.cursor.at;
    if (!chart.steps || at === null) return;
    this.line?.setAttribute(
      "d",
      at === this.cursor.usual ? "" : `M${this.across.at(at + 0.5)} ${ABOVE}v${this.height}`,
    );
    const told = this.told(at);
    this.plot.setAttribute("aria-valuenow", String(at + 1));
    this.plot.setAttribute("aria-valuetext", told);
    this.answer.replaceChildren(...flowing(told));
  }

  /** What there is at a step: the whole, and each area's part. */
  private told(step: number): string {
    const { chart, up } = this;
    if (chart.told) return chart.told[step] ?? "";
    const areas = (chart.series ?? []).filter(({ kind }) => kind !== "line");
    const values = areas.map(({ across, up: heights }) => {
      const n = across.findIndex((start) => start > step);
      return heights[Math.max(0, (n < 0 ? across.length : n) - 1)] ?? 0;
    });
    const parts = areas.flatMap(({ name }, n) => (values[n] ? [`${name} ${up.written(values[n]!)}`] : []));
    const whole = values.reduce((sum, value) => sum + value, 0);
    const word = chart.steps!;
    return `${word[0]!.toUpperCase()}${word.slice(1)} ${grouped(step + 1)} of ${grouped(chart.across.high)}: ${up.written(whole)} ${chart.up.title}${parts.length ? `: ${parts.join(", ")}` : ""}`;
  }

  private stepAt(event: MouseEvent): number {
    return this.within(Math.floor(this.across.value(event.clientX - this.plot.getBoundingClientRect().left)));
  }

  private within(step: number): number {
    return Math.max(0, Math.min(step, this.chart.across.high - 1));
  }

  private key(event: KeyboardEvent): void {
    const length = this.chart.across.high;
    const now = this.cursor.at ?? 0;
    const page = Math.max(1, Math.round(length / 20));
    const steps: Record<string, number> = {
      ArrowRight: 1,
      ArrowUp: 1,
      ArrowLeft: -1,
      ArrowDown: -1,
      PageUp: page,
      PageDown: -page,
      Home: -now,
      End: length,
    };
    const by = steps[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.cursor.move(this.within(now + by));
  }
}

/** A name in so many letters: without what is behind its comma before anything is cut, since half a number is another one. */
/** `body of the loop, 64 iterations`, `body of the loop`, `loop`, ``: the longest that has room. */
function shortened(text: string, letters: number): string {
  const name = text.split(", ")[0]!;
  return [text, name, name.split(" ").at(-1)!].find(({ length }) => length <= letters) ?? "";
}

const radius = ({ size = 0 }: Point): number => 4 + 16 * Math.sqrt(Math.max(0, size));

/** The outline of a mark whose area goes with its size. */
function outline(point: Point, x: number, y: number): string {
  const { shape } = point;
  const r = radius(point);
  if (shape === "diamond")
    return `M${x} ${y - 1.3 * r}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}l${-1.3 * r} ${-1.3 * r}z`;
  if (shape === "triangle") return `M${x} ${y - 1.2 * r}l${1.2 * r} ${2.1 * r}h${-2.4 * r}z`;
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}

export function chartPart(part: Chart, stage: Stage): HTMLElement {
  return new ChartView(part, stage).element;
}
