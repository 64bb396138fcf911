// What each kernel took and what bounds it: the slowest lines first, the kernels, the machine's roofline.
import type { Kernel, Position, ProfileDoc, Quantity, TimedKernel } from "./documents";
import { h, plural } from "./dom";
import { swatch } from "./hue";
import { python } from "./highlight";
import type { Links, Selection } from "./links";
import { BOUNDS, boundText, explained, runText, shareBar, timedText, whatOf, whyBound } from "./measured";
import type { View } from "./mount";
import { origin, percent, quantity, seconds, withUnit } from "./numbers";
import { roofline } from "./roofline";
import { Roving } from "./roving";
import { costOf, say } from "./sentences";
import { shareText } from "./shares";

const MANY = 50; // runs of kernels in a call, of which recording costs each something
const FIRST = 20; // rows shown at first
const FEW = 3; // lines that are named where any of them may be the slowest

interface ProfileAround {
  links: Links | null;
  selection: Selection | null;
  kernels: Kernel[];
}

type ProfileLine = ProfileDoc["lines"][number];

function figure(q: Quantity): HTMLElement {
  return h("span", { class: "jitscope-figure", title: origin(q), "data-origin": q.origin }, quantity(q));
}

class ProfileView {
  readonly element: HTMLElement;
  private readonly place = ({ cell, file, line }: Position) => `${cell ?? file.split("/").pop()}, line ${line}`;

  constructor(
    private readonly doc: ProfileDoc,
    private readonly around: ProfileAround,
  ) {
    this.element = h(
      "div",
      { class: "jitscope-profile" },
      this.slowest(),
      this.sum(),
      this.lines(),
      h("h4", {}, "Kernels"),
      this.bounds(),
      this.kernels(),
      h("h4", {}, "Against what this machine can do"),
      roofline(doc, (kernel) => this.pick(kernel)),
      costOf(doc.cost),
    );
  }

  private own(): ProfileLine[] {
    const found = this.doc.lines.filter((line) => line.own);
    return found.sort((a, b) => b.own!.least + b.own!.most - a.own!.least - a.own!.most || a.position.line - b.position.line);
  }

  private slowest(): HTMLElement | null {
    const own = this.own();
    const least = Math.max(...own.map((line) => line.own!.least));
    const [line, ...others] = own.filter(({ own: one }) => one!.most > least || one!.least === least);
    if (!line) return null;
    if (others.every((other) => other.own!.most <= line.own!.least))
      return h(
        "p",
        { class: "jitscope-slowest" },
        h("strong", {}, shareText(line.own!)),
        h("span", {}, ` of the kernels' time is spent in ${this.place(line.position)}, the slowest line:`),
        h("code", {}, python(line.position.text.trim())),
      );
    const said = [line, ...others.slice(0, FEW - 1)].map((one, i) => `${this.place(one.position)} (${shareText(one.own!)}${i ? "" : " of the kernels' time"})`);
    if (others.length >= FEW) said.push(`and ${others.length + 1 - FEW} more`);
    return h("p", { class: "jitscope-slowest" }, say("slowest of", { count: others.length + 1, lines: said.join("; ") }));
  }

  /** What a call takes and how that is made up. */
  private sum(): HTMLElement {
    const { doc } = this;
    const alone = doc.kernels.filter((kernel) => kernel.share !== null);
    const runs = alone.reduce((total, kernel) => total + kernel.runs, 0);
    const [wall, recorded] = [doc.wall.value, doc.recorded.value];
    const slower = wall !== null && recorded !== null && recorded > Math.max(1.05 * wall, doc.high.value ?? 0) ? recorded - wall : null;
    const spread = doc.low.value === doc.high.value ? ["one call alone"] : [figure(doc.low), " to ", figure(doc.high)];
    const together = (doc.together.value ?? 0) > 1e-6 ? [", ", figure(doc.together), " of that at the same time as others"] : [];
    return h(
      "p",
      { class: "jitscope-profile-sum" },
      doc.call ? "A run of the program takes " : "A call takes ",
      h("strong", {}, figure(doc.wall)),
      h("span", { class: "jitscope-muted" }, " (", ...spread, `, on ${doc.on}). `),
      "While it was recorded it took ",
      figure(doc.recorded),
      ": ",
      figure(doc.busy),
      ` in ${timedText(doc)}`,
      ...together,
      ", ",
      figure(doc.between),
      " between kernels and for dispatch.",
      slower && runs >= MANY
        ? h(
            "span",
            { class: "jitscope-muted" },
            ` ${say("recording costs", { cost: seconds(slower), each: seconds(slower / runs) })}`,
          )
        : null,
    );
  }

  private lines(): HTMLElement | null {
    const own = this.own();
    if (!own.length) return null;
    const whole = Math.max(...own.map((line) => line.own!.most));
    const body = h("div", { class: "jitscope-profile-lines", role: "listbox", "aria-label": "Lines by their share of the kernels' time" });
    const row = (line: ProfileLine) => {
      const at = this.around.links?.placeOf(line.position) ?? null;
      const said = `${shareText(line.own!)} of the kernels' time; with what it calls ${shareText(line.whole)}`;
      return h(
        "div",
        { class: "jitscope-profile-line", role: "option", tabindex: "-1", "aria-selected": "false", "data-line": at, title: said },
        h("span", { class: "jitscope-profile-share" }, shareText(line.own!)),
        shareBar(line.own!, whole),
        at !== null && this.around.links?.hasLine(at) ? swatch(this.around.links.hue(at)) : h("span", { class: "jitscope-swatch", "data-none": "" }),
        h("span", { class: "jitscope-muted" }, this.place(line.position)),
        h("code", {}, python(line.position.text.trim())),
      );
    };
    const { links, selection } = this.around;
    const pick = (entry: HTMLElement) => {
      if (links && selection && entry.dataset.line) selection.set(links.fromLine(Number(entry.dataset.line)));
    };
    grow(body, own, 8, row, "line");
    new Roving(body, ".jitscope-profile-line", pick, () => selection?.clear());
    selection?.onChange(({ lines }) => {
      for (const entry of body.querySelectorAll<HTMLElement>(".jitscope-profile-line"))
        entry.setAttribute("aria-selected", String(!!entry.dataset.line && lines.has(Number(entry.dataset.line))));
    });
    const legend = "Full bar: kernels of this line alone. Hatched: kernels that it shares with other lines, whose time cannot be split.";
    return h("div", {}, h("h4", {}, "Lines"), body, h("p", { class: "jitscope-muted" }, legend));
  }

  /** What bounds the kernels, by their time, as one bar. */
  private bounds(): HTMLElement {
    const sums = new Map<string, number>();
    for (const { bound, share } of this.doc.kernels)
      if (bound && share !== null) sums.set(bound, (sums.get(bound) ?? 0) + share);
    const parts = [...sums].sort((a, b) => b[1] - a[1]).filter(([, share]) => share > 0);
    return h(
      "div",
      { class: "jitscope-bounds" },
      h(
        "div",
        { class: "jitscope-bounds-bar", "aria-hidden": "true" },
        ...parts.map(([bound, share]) => h("span", { "data-bound": bound, style: { width: `${100 * share}%` } })),
      ),
      h(
        "p",
        {},
        ...parts.map(([bound, share]) =>
          h(
            "span",
            { class: "jitscope-bounds-part", title: BOUNDS[bound as keyof typeof BOUNDS][1] },
            h("span", { class: "jitscope-bounds-key", "data-bound": bound, "aria-hidden": "true" }, BOUNDS[bound as keyof typeof BOUNDS][0]),
            ` ${bound} ${percent(share)}`,
          ),
        ),
        h("span", { class: "jitscope-muted" }, "of the kernels' time"),
      ),
    );
  }

  private kernels(): HTMLElement {
    const table = new KernelTable(this.doc, this.around.links, (kernel) => this.pick(kernel));
    this.around.selection?.onChange(({ kernels }) => table.mark(kernels));
    return table.element;
  }

  private pick(kernel: TimedKernel): void {
    const { links, selection, kernels } = this.around;
    const known = kernels.find((other) => other.name === kernel.name);
    if (links && selection && known) selection.set(links.fromKernel(known));
  }
}

/** Rows, the first few at once and the rest behind a button. */
function grow<T>(body: HTMLElement, items: T[], first: number, row: (item: T) => HTMLElement, noun: string): void {
  body.replaceChildren(...items.slice(0, items.length > first + 3 ? first : items.length).map(row));
  if (items.length <= first + 3) return;
  const more = h("button", { type: "button", class: "jitscope-fold" }, plural(items.length - first, `more ${noun}`));
  const holder = body instanceof HTMLTableSectionElement ? h("tr", {}, h("td", { colspan: 9 }, more)) : more;
  more.addEventListener("click", (event) => {
    event.stopPropagation();
    holder.remove();
    body.append(...items.slice(first).map(row));
  });
  body.append(holder);
}

interface Column {
  title: string;
  hint: string;
  /** What rows are sorted by; the largest first. */
  by?: (kernel: TimedKernel) => number;
  cell: (kernel: TimedKernel) => (Node | string)[];
}

class KernelTable {
  readonly element: HTMLElement;
  private readonly body = h("tbody");
  private readonly heads: HTMLElement[];
  private sorted = 2;
  private marked: Set<string> = new Set();

  constructor(
    private readonly doc: ProfileDoc,
    private readonly links: Links | null,
    private readonly pick: (kernel: TimedKernel) => void,
  ) {
    this.heads = this.columns.map((column, at) => this.head(column, at));
    const head = h("thead", {}, h("tr", {}, ...this.heads));
    const table = h("table", { class: "jitscope-profile-kernels", "aria-label": "Kernels by their time" }, head, this.body);
    this.element = h("div", { class: "jitscope-profile-scroll", tabindex: "0", role: "region", "aria-label": "Kernels by their time" }, table);
    this.draw();
  }

  private readonly columns: Column[] = [
    { title: "kernel", hint: "as the Fusion tab numbers them", cell: (k) => [this.button(k)] },
    { title: "is", hint: "a fusion of so many operations, or the operation", cell: (k) => [whatOf(k)] },
    { title: "share", hint: "of the time of all kernels", by: (k) => k.total, cell: (k) => this.share(k) },
    { title: "all runs", hint: "seconds of all its runs in one call", by: (k) => k.total, cell: (k) => [seconds(k.total)] },
    { title: "one run", hint: "on average, and their number in a call", by: (k) => k.total / k.runs, cell: (k) => [this.run(k)] },
    { title: "bytes", hint: "read and written in one run, by XLA's model", by: (k) => k.bytes ?? -1, cell: (k) => [modelled(k.bytes, "B")] },
    { title: "arithmetic", hint: "operations in one run, by XLA's model", by: (k) => k.flops ?? -1, cell: (k) => [modelled(k.flops, "flop")] },
    { title: "bound by", hint: "and the part of its time in fast runs that this explains", by: (k) => explained(k) ?? -1, cell: (k) => [this.bound(k)] },
    { title: "lines", hint: "in which what it computes was written", cell: (k) => this.lines(k) },
  ];

  private head({ title, hint, by }: Column, at: number): HTMLElement {
    if (!by) return h("th", { scope: "col", title: hint }, title);
    const button = h("button", { type: "button", class: "jitscope-sort", title: `${hint}; sort by it` }, title);
    button.addEventListener("click", () => ((this.sorted = at), this.draw()));
    return h("th", { scope: "col" }, button);
  }

  private draw(): void {
    const by = this.columns[this.sorted]!.by!;
    this.heads.forEach((head, at) => head.setAttribute("aria-sort", at === this.sorted ? "descending" : "none"));
    const kernels = [...this.doc.kernels].sort((a, b) => by(b) - by(a));
    grow(this.body, kernels, FIRST, (kernel) => this.row(kernel), "kernel");
  }

  private row(kernel: TimedKernel): HTMLElement {
    const cells = this.columns.map(({ cell }) => h("td", {}, ...cell(kernel)));
    const known = this.marked.has(kernel.name);
    return h("tr", { "data-kernel": kernel.name, "data-kind": kernel.kind, "data-related": known }, ...cells);
  }

  mark(kernels: Set<string>): void {
    this.marked = kernels;
    for (const row of this.body.querySelectorAll<HTMLElement>("tr[data-kernel]")) row.toggleAttribute("data-related", kernels.has(row.dataset.kernel!));
  }

  private button(kernel: TimedKernel): HTMLElement {
    const title = kernel.loop ? `${kernel.name}, in the loop ${kernel.loop}` : kernel.name;
    const button = h("button", { type: "button", class: "jitscope-link", title, onclick: () => this.pick(kernel) }, kernel.called);
    return kernel.loop ? h("span", {}, h("span", { title, "aria-hidden": "true" }, "↻ "), button) : button;
  }

  private share(kernel: TimedKernel): (Node | string)[] {
    if (kernel.share === null) return [h("span", { class: "jitscope-muted" }, "its kernels count")];
    const whole = Math.max(...this.doc.kernels.map(({ share }) => share ?? 0));
    return [h("span", { class: "jitscope-profile-share" }, percent(kernel.share)), shareBar({ least: kernel.share, most: kernel.share }, whole)];
  }

  private run(kernel: TimedKernel): HTMLElement {
    const title = `${seconds(kernel.low)} to ${seconds(kernel.high)} (10th to 90th percentile), median ${seconds(kernel.median)}`;
    return h("span", { title }, runText(kernel));
  }

  private bound(kernel: TimedKernel): HTMLElement | string {
    if (!kernel.bound) return "";
    return h(
      "span",
      { class: "jitscope-bounds-part", title: whyBound(kernel) },
      h("span", { class: "jitscope-bounds-key", "data-bound": kernel.bound, "aria-hidden": "true" }, BOUNDS[kernel.bound][0]),
      ` ${boundText(kernel)}`,
    );
  }

  private lines(kernel: TimedKernel): (Node | string)[] {
    return kernel.lines.slice(0, 6).flatMap((at) => {
      const { position } = this.doc.lines[at]!;
      const place = this.links?.placeOf(position) ?? null;
      const mark = place !== null && this.links!.hasLine(place) ? [swatch(this.links!.hue(place))] : [];
      return [...mark, h("span", { title: position.text.trim() }, String(position.line)), " "];
    }).concat(kernel.lines.length > 6 ? [`… ${kernel.lines.length - 6} more`] : []);
  }
}

function modelled(value: number | null, unit: string): string {
  return value === null ? "?" : `≈ ${withUnit(value, unit)}`;
}

export function profileView(doc: ProfileDoc, around: Partial<ProfileAround> = {}): View {
  const { element } = new ProfileView(doc, { links: null, selection: null, kernels: [], ...around });
  return { element, dispose() {} };
}
