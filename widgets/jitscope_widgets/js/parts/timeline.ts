// What went on when, in lanes: zoomed with the wheel or + and -, moved by dragging or with the arrow keys.
import { flowing } from "../breaks";
import { clear, h, s } from "../dom";
import type { Selected } from "../links";
import { seconds } from "../numbers";
import type { Span, Timeline } from "./forms";
import { legend } from "./legend";
import { Scale } from "./scale";
import type { Stage } from "./view";

const LEFT = 96;
const RIGHT = 14;
const LANE = 26;
const FOOT = 24;
const THIN = 4; // a box so narrow has no room for its border
const MOST = 400; // boxes that are drawn one by one; of more, the longest of those that begin at one pixel
/** The width of one, about. */
const LETTER = 6.5;

class TimelineView {
  readonly element: HTMLElement;
  private readonly plot: HTMLElement;
  private readonly answer = h("p.jitscope-chart-answer", { role: "status", "aria-live": "polite" });
  private width = 0;
  private from: number;
  private to: number;
  private boxes: [SVGElement, Span][] = [];
  private readonly order: Span[];
  private focused = 0;

  constructor(
    private readonly part: Timeline,
    private readonly stage: Stage,
  ) {
    [this.from, this.to] = stage.remember<[number, number]>(`timeline ${part.name}`, [0, part.end], () => [
      this.from,
      this.to,
    ]);
    this.order = [...part.spans].sort((a, b) => a.start - b.start);
    this.plot = h("div.jitscope-timeline-plot", {
      tabindex: 0,
      role: "group",
      "aria-label": `${part.name}: + and - zoom, arrow keys move, Tab goes through what is drawn`,
      onkeydown: (event: KeyboardEvent) => this.key(event),
    });
    this.plot.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.plot.addEventListener("pointerdown", (event) => this.drag(event));
    const button = (text: string, label: string, act: () => void) =>
      h("button.jitscope-button", { "aria-label": label, title: label, onclick: act }, text);
    const tools = h(
      "div.jitscope-timeline-tools",
      button("−", "zoom out", () => this.zoom(2)),
      button("+", "zoom in", () => this.zoom(0.5)),
      button("all", "show all of it", () => this.view(0, part.end)),
      this.answer,
    );
    this.answer.append(...flowing(part.summary));
    const about = { class: "jitscope-timeline-part", "aria-label": part.name };
    this.element = h("figure", about, tools, this.plot, this.legend());
    // drawn as soon as its width is known
    const watch = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry!.contentRect.width);
      if (width > 40 && width !== this.width) {
        this.width = width;
        this.draw();
      }
    });
    watch.observe(this.plot);
    stage.ends.push(() => watch.disconnect());
    stage.around.selection.onChange((selected) => this.mark(selected));
  }

  private legend(): HTMLElement | null {
    const tones = new Set(this.order.map(({ tone }) => tone).filter((tone) => tone && tone !== "gap"));
    return this.part.tones && tones.size
      ? legend(
          [...tones].map((tone) => [tone, tone!]),
          this.part.tones,
        )
      : null;
  }

  private draw(): void {
    const { part, width } = this;
    const height = LANE * part.lanes.length;
    const scale = new Scale({ title: "", low: this.from, high: this.to, unit: "s" }, LEFT, width - RIGHT);
    const picture = s("svg", { width, height: height + FOOT, role: "presentation" });
    for (const [n, name] of part.lanes.entries())
      picture.append(
        s("rect", {
          class: "jitscope-timeline-lane",
          x: LEFT,
          y: LANE * n + 2,
          width: width - LEFT - RIGHT,
          height: LANE - 4,
        }),
        s("text", { class: "jitscope-chart-label", x: LEFT - 8, y: LANE * n + 17, "text-anchor": "end" }, name),
      );
    const seen = this.seen(scale);
    const covered = coveredFrom(seen);
    this.boxes = seen.map((span, n) => {
      const [x, end] = [scale.at(span.start), scale.at(span.end)];
      const wide = Math.max(1, end - x);
      const free = Math.min(end, scale.at(covered[n]!)) - x;
      const box = s(
        "g",
        { class: "jitscope-timeline-span", "data-of": span.tone || null, "data-thin": wide < THIN ? "" : null },
        s("rect", { x, y: LANE * span.lane + 4, width: wide, height: LANE - 8 }),
      );
      const name = [span.text, span.text.split(", ")[0]!].find((text) => text.length * LETTER + 6 <= free);
      if (name) box.append(s("text", { x: x + 4, y: LANE * span.lane + 17 }, name));
      box.addEventListener("pointerover", () => this.answer.replaceChildren(...flowing(told(span))));
      box.addEventListener("click", () => this.stage.pick(span.ref));
      return [box, span] as [SVGElement, Span];
    });
    picture.append(...this.boxes.map(([box]) => box));
    for (const value of round(this.from, this.to, width < 520 ? 3 : 6))
      picture.append(
        s(
          "text",
          {
            class: "jitscope-chart-label",
            x: scale.at(value),
            y: height + 16,
            "text-anchor": scale.at(value) > width - RIGHT - 30 ? "end" : "middle",
          },
          seconds(value),
        ),
      );
    clear(this.plot);
    this.plot.append(picture);
    this.mark(this.stage.around.selection.current);
  }

  /** What is in sight; where boxes are too narrow to be told apart, the longest of those that begin at one pixel. */
  private seen(scale: Scale): Span[] {
    const inside = this.order.filter(({ start, end }) => end >= this.from && start <= this.to);
    if (inside.length <= MOST) return inside;
    const longest = new Map<string, Span>();
    for (const span of inside) {
      const key = `${span.lane} ${Math.floor(scale.at(span.start))}`;
      const known = longest.get(key);
      if (!known || known.end - known.start < span.end - span.start) longest.set(key, span);
    }
    return [...longest.values()].sort((a, b) => a.start - b.start);
  }

  private view(from: number, to: number): void {
    const length = Math.min(to - from, this.part.end);
    this.from = Math.max(0, Math.min(from, this.part.end - length));
    this.to = this.from + length;
    this.draw();
  }

  private zoom(by: number, round = (this.from + this.to) / 2): void {
    const least = this.part.end / 1e6;
    const length = Math.max(least, (this.to - this.from) * by);
    const share = (round - this.from) / (this.to - this.from || 1);
    this.view(round - share * length, round + (1 - share) * length);
  }

  private timeAt(event: MouseEvent): number {
    const { left } = this.plot.getBoundingClientRect();
    const share = (event.clientX - left - LEFT) / (this.width - LEFT - RIGHT || 1);
    return this.from + Math.min(1, Math.max(0, share)) * (this.to - this.from);
  }

  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.altKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event));
  }

  private drag(event: PointerEvent): void {
    const start = event.clientX;
    const [from, to] = [this.from, this.to];
    const move = (next: PointerEvent) => {
      const by = ((start - next.clientX) / (this.width - LEFT - RIGHT || 1)) * (to - from);
      if (Math.abs(start - next.clientX) > 3) this.view(from + by, to + by);
    };
    const end = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  }

  private key(event: KeyboardEvent): void {
    const step = (this.to - this.from) / 8;
    const inside = this.order;
    const acts: Record<string, () => void> = {
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      ArrowLeft: () => this.view(this.from - step, this.to - step),
      ArrowRight: () => this.view(this.from + step, this.to + step),
      ArrowDown: () => this.look((this.focused + 1) % inside.length),
      ArrowUp: () => this.look((this.focused + inside.length - 1) % inside.length),
      Enter: () => this.stage.pick(inside[this.focused]?.ref),
      Home: () => this.view(0, this.part.end),
      Escape: () => this.stage.around.selection.clear(),
    };
    const act = acts[event.key];
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  }

  private look(n: number): void {
    const span = this.order[n];
    if (!span) return;
    this.focused = n;
    this.answer.replaceChildren(...flowing(told(span)));
    if (span.end < this.from || span.start > this.to)
      this.view(span.start - (this.to - this.from) / 2, span.start + (this.to - this.from) / 2);
    for (const [box, one] of this.boxes) box.toggleAttribute("data-focused", one === span);
  }

  private mark(selected: Selected): void {
    for (const [box, { ref }] of this.boxes)
      box.toggleAttribute("data-related", Boolean(ref && this.stage.belongs(ref, selected)));
  }
}

/** Where the next box of its lane lies over each of these boxes, which are in the order of their starts: one thread runs a part of another
 * kernel while it waits. */
function coveredFrom(spans: readonly Span[]): number[] {
  const next = new Map<number, number>();
  const found: number[] = [];
  for (const { lane, start } of [...spans].reverse()) {
    found.push(next.get(lane) ?? Number.POSITIVE_INFINITY);
    next.set(lane, start);
  }
  return found.reverse();
}

/** At most so many round numbers between two. */
function round(from: number, to: number, count: number): number[] {
  const least = (to - from) / count || 1;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((n) => n * power).find((size) => size >= least * (1 - 1e-9))!;
  const first = Math.ceil(from / step - 1e-9);
  return Array.from({ length: Math.floor(to / step + 1e-9) - first + 1 }, (_, n) => (first + n) * step);
}

const told = ({ title, text, start, end }: Span): string =>
  title || `${text}: ${seconds(end - start)}, from ${seconds(start)} on`;

export function timelinePart(part: Timeline, stage: Stage): HTMLElement {
  return new TimelineView(part, stage).element;
}
