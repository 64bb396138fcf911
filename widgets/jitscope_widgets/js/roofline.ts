// The roofline of this machine with a program's kernels in it: operations per byte across, operations a second up, both as powers of ten.
import type { ProfileDoc, TimedKernel } from "./documents";
import { h, s } from "./dom";
import { BOUNDS, boundText, whatOf, whyBound } from "./measured";
import { say } from "./sentences";
import { percent, quantity, seconds, withUnit } from "./numbers";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [680, 330, 112, 18, 20, 46];
const MOST = 80; // points
const APART = 1.25; // so many times a kernel's place is what an axis ends at, at least, so that no mark lies on its numbers

class Scale {
  private readonly low: number;
  private readonly high: number;

  constructor(
    values: number[],
    private readonly start: number,
    private readonly end: number,
  ) {
    const logs = values.map(Math.log10);
    this.low = Math.floor(Math.min(...logs));
    this.high = Math.ceil(Math.max(...logs));
  }

  at(value: number): number {
    const part = (Math.log10(value) - this.low) / (this.high - this.low || 1);
    return this.start + Math.min(1, Math.max(0, part)) * (this.end - this.start);
  }

  get least(): number {
    return 10 ** this.low;
  }

  decades(): number[] {
    const step = Math.max(1, Math.ceil((this.high - this.low) / 7));
    const found = [];
    for (let n = this.low; n <= this.high; n += step) found.push(10 ** n);
    return found;
  }
}

interface Point {
  kernel: TimedKernel;
  x: number;
  y: number;
}

function pointsOf(doc: ProfileDoc): Point[] {
  return doc.kernels
    .filter(({ share, flops, bytes, fast }) => share !== null && flops && bytes && fast)
    .slice(0, MOST)
    .map((kernel) => ({ kernel, x: kernel.flops! / kernel.bytes!, y: kernel.flops! / kernel.fast }));
}

function shape(kernel: TimedKernel, x: number, y: number): SVGElement {
  const r = radius(kernel);
  const common = { class: "jitscope-roof-mark" };
  if (kernel.bound === "memory") return s("path", { ...common, d: `M${x} ${y - 1.3 * r}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}l${-1.3 * r} ${-1.3 * r}z` });
  if (kernel.bound === "arithmetic")
    return s("path", { ...common, d: `M${x} ${y - 1.2 * r}l${1.2 * r} ${2.1 * r}h${-2.4 * r}z` });
  return s("circle", { ...common, cx: x, cy: y, r });
}

function told({ kernel, x, y }: Point): string {
  const share = `${percent(kernel.share ?? 0)} of the kernels' time`;
  const rates = `${withUnit(Number(x.toPrecision(2)), "operations per byte")}, ${withUnit(y, "flop/s")}`;
  return `${kernel.called}, ${whatOf(kernel)}: ${share}, ${seconds(kernel.fast)} in a fast run, ${rates}; bound by ${boundText(kernel)} (${whyBound(kernel)})`;
}

export function roofline(doc: ProfileDoc, pick: (kernel: TimedKernel) => void): HTMLElement {
  const points = pointsOf(doc);
  const { bandwidth, dispatch, fresh, peaks, measured } = doc.machine;
  if (!points.length || !peaks.length || !bandwidth.length)
    return h("p", { class: "jitscope-muted" }, "No kernel can be placed in the roofline: for none of them are both the bytes and the operations known.");
  const peak = Math.max(...peaks.map(({ rate }) => rate.value ?? 0));
  const near = bandwidth[0]!;
  const far = bandwidth[bandwidth.length - 1]!;
  const across = new Scale([...points.flatMap(({ x }) => [x / APART, x * APART]), (3 * peak) / far.rate.value!, 0.1], LEFT, WIDTH - RIGHT);
  const up = new Scale([...points.flatMap(({ y }) => [y / APART, y * APART]), 2 * peak], HEIGHT - BOTTOM, TOP);
  const picture = s("svg", { class: "jitscope-roofline", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Roofline of this machine" });
  picture.append(...axes(across, up), ...roofs(across, up, peak, near, far), ...marks(points, across, up), said(points, across, up, peak));
  const answer = h("p", { class: "jitscope-roof-told", role: "status", "aria-live": "polite" }, "Point at a kernel, or go through them with the arrow keys, to read its figures.");
  follow(picture, points, answer, pick);
  const rates = bandwidth.map(({ bytes, rate }) => `${withUnit(rate.value ?? 0, "B/s")} for ${withUnit(bytes, "B")}`).join(", ");
  const dtypes = peaks.map(({ dtype, rate }) => `${withUnit(rate.value ?? 0, "flop/s")} in ${dtype}`).join(", ");
  const handed = fresh.value === null ? "" : `memory for large results is handed out at ${withUnit(fresh.value, "B/s")}; `;
  return h(
    "div",
    { class: "jitscope-roof" },
    picture,
    answer,
    h(
      "p",
      { class: "jitscope-muted" },
      "A kernel under the sloping line can at best run at the speed of memory, under the level one at that of arithmetic. ",
      `The dashed line is for ${withUnit(near.bytes, "B")} at a time, the full one for ${withUnit(far.bytes, "B")}. `,
      ...(["memory", "arithmetic", "overhead", "neither"] as const).flatMap((bound) => [`${BOUNDS[bound][0]} bound by ${bound}  `]),
      "· area: share of the time. ",
      `${say("legend of bounds")} `,
      `Measured here (${measured.replace("T", " ").slice(0, 16)} UTC): ${rates}; ${handed}${dtypes}; a kernel of one element takes ${quantity(dispatch)}.`,
    ),
  );
}

function axes(across: Scale, up: Scale): SVGElement[] {
  const found: SVGElement[] = [];
  const label = (x: number, y: number, anchor: string, text: string) =>
    s("text", { x, y, "text-anchor": anchor, class: "jitscope-roof-label" }, text);
  for (const value of across.decades()) {
    found.push(s("path", { class: "jitscope-roof-grid", d: `M${across.at(value)} ${TOP}V${HEIGHT - BOTTOM}` }));
    found.push(label(across.at(value), HEIGHT - BOTTOM + 16, "middle", String(Number(value.toPrecision(1)))));
  }
  for (const value of up.decades()) {
    found.push(s("path", { class: "jitscope-roof-grid", d: `M${LEFT} ${up.at(value)}H${WIDTH - RIGHT}` }));
    found.push(label(LEFT - 6, up.at(value) + 4, "end", withUnit(value, "flop/s")));
  }
  return [...found, label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "middle", "operations per byte")];
}

type Rate = ProfileDoc["machine"]["bandwidth"][number];

function roofs(across: Scale, up: Scale, peak: number, near: Rate, far: Rate): SVGElement[] {
  const found = [near, far].map(({ bytes, rate }, at) => {
    const start = Math.max(across.least, up.least / rate.value!);
    const d = `M${across.at(start)} ${up.at(start * rate.value!)}L${across.at(peak / rate.value!)} ${up.at(peak)}H${WIDTH - RIGHT}`;
    const line = s("path", { class: "jitscope-roof-line", "data-near": at === 0, d });
    line.append(s("title", {}, `${withUnit(rate.value!, "B/s")}, working set of ${withUnit(bytes, "B")}`));
    return line;
  });
  return found;
}

/** What the level line is, where no kernel lies if there is such a place. */
function said(points: Point[], across: Scale, up: Scale, peak: number): SVGElement {
  const text = `peak ${withUnit(peak, "flop/s")}`;
  const width = 9 * text.length; // of the largest letters, those of narrow panes
  const boxes = points.map(({ kernel, x, y }) => [across.at(x), up.at(y), 1.3 * radius(kernel)] as const);
  const free = ([x, y]: readonly [number, number]) => boxes.every(([px, py, r]) => px + r < x - width || px - r > x || py + r < y - 16 || py - r > y + 4);
  const places = [0, 1, 2, 3].flatMap((at) => [-6, 18].map((dy) => [WIDTH - RIGHT - 60 * at, up.at(peak) + dy] as const));
  const [x, y] = places.find(free) ?? places[0]!;
  return s("text", { x, y, "text-anchor": "end", class: "jitscope-roof-label jitscope-roof-said" }, text);
}

const radius = ({ share }: TimedKernel): number => 4 + 16 * Math.sqrt(share ?? 0);

function marks(points: Point[], across: Scale, up: Scale): SVGElement[] {
  return points
    .map((point, at) =>
      s(
        "g",
        { class: "jitscope-roof-point", "data-at": at, "data-bound": point.kernel.bound, tabindex: at ? -1 : 0, role: "button", "aria-label": told(point) },
        shape(point.kernel, across.at(point.x), up.at(point.y)),
      ),
    )
    .reverse(); // the largest lie below, so that small ones can be reached
}

/** Hover and keys tell a point's figures; a click or Enter selects its kernel. */
function follow(picture: SVGElement, points: Point[], answer: HTMLElement, pick: (kernel: TimedKernel) => void): void {
  const of = (event: Event) => (event.target as Element).closest<SVGElement>("[data-at]");
  const tell = (event: Event) => {
    const point = of(event);
    if (point) answer.textContent = told(points[Number(point.dataset.at)]!);
  };
  picture.addEventListener("pointerover", tell);
  picture.addEventListener("focusin", tell);
  picture.addEventListener("click", (event) => {
    const point = of(event);
    if (point) pick(points[Number(point.dataset.at)]!.kernel);
  });
  picture.addEventListener("keydown", (event) => {
    const point = of(event);
    if (!point) return;
    const at = Number(point.dataset.at);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: points.length - 1 }[(event as KeyboardEvent).key];
    if (to !== undefined) {
      const next = picture.querySelector<SVGElement>(`[data-at="${Math.min(points.length - 1, Math.max(0, to))}"]`);
      point.setAttribute("tabindex", "-1");
      next?.setAttribute("tabindex", "0");
      next?.focus();
    } else if (["Enter", " "].includes((event as KeyboardEvent).key)) pick(points[at]!.kernel);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}
