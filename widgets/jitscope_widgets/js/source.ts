// The user's code beside the graph: the calls that wrote the program as an outline, the code of one of them below. Each line that
// became operations has its colour and can be picked.
import type { Marked } from "./calls";
import type { SourceDoc } from "./documents";
import { h, plural } from "./dom";
import { python } from "./highlight";
import { swatch } from "./hue";
import type { Links, Selection } from "./links";
import { Roving } from "./roving";
import { say } from "./sentences";
import { shareInWords, shareText } from "./shares";

interface SourcePane {
  element: HTMLElement;
}

/** The code that the calls below `root` belong to; that of the call `first` is shown at first. */
export function sourcePane(source: SourceDoc, links: Links, selection: Selection, root = 0, first = root): SourcePane {
  return new Pane(source, links, selection, root, first);
}

class Pane implements SourcePane {
  readonly element: HTMLElement;
  private readonly title = h("div.jitscope-pane-title");
  private readonly list = h("div.jitscope-source-lines", { role: "listbox" });
  private readonly outline: HTMLElement | null;
  private readonly items = new Map<number, HTMLElement>(); // of the outline, by call
  private lines: HTMLElement[] = [];
  private readonly roving: Roving;
  private readonly calls: Set<number>;
  private call = -1;

  constructor(
    source: SourceDoc,
    private readonly links: Links,
    private readonly selection: Selection,
    private readonly root: number,
    first: number,
  ) {
    this.calls = new Set(source.calls.length ? links.calls!.inOrder(root) : []);
    this.outline = this.calls.size > 1 ? this.makeOutline() : null;
    this.element = h("div.jitscope-source", this.outline, this.title, this.list);
    this.roving = new Roving(
      this.list,
      "[data-marked]",
      (line) => this.pick(line),
      () => selection.clear(),
    );
    if (source.calls.length) this.show(first);
    selection.onChange((selected) => {
      const call = links.callOf(selected, this.call, this.calls);
      if (call !== null) this.show(call);
      this.mark();
    });
  }

  private makeOutline(): HTMLElement {
    const calls = this.links.calls!;
    for (const call of this.calls) {
      const { name, label } = calls.functionOf(call);
      const { forward, backward } = calls.total(call);
      const other = label === calls.functionOf(this.root).label ? "" : label;
      const item = h(
        "div.jitscope-function",
        {
          role: "treeitem",
          "data-call": call,
          "aria-level": calls.depthOf(call) + 1,
          "aria-selected": "false",
          tabindex: "-1",
          style: { "--depth": String(Math.min(calls.depthOf(call), 12)) },
          title: `${name}, ${label}: ${inWords({ nodes: [], forward, backward, calls: [] })}`,
        },
        h("code", name),
        other ? h("span.jitscope-muted", other) : null,
        h(
          "span.jitscope-count",
          this.items.size ? (forward + backward).toLocaleString("en") : plural(forward + backward, "equation"),
        ),
      );
      this.items.set(call, item);
    }
    const outline = h(
      "div.jitscope-functions",
      {
        role: "tree",
        "aria-label": "Functions that wrote the program, with their equations",
      },
      ...this.items.values(),
    );
    const open = (item: HTMLElement) => {
      const call = Number(item.dataset.call);
      this.show(call);
      this.selection.set(this.links.fromCall(call));
    };
    new Roving(outline, "[data-call]", open, () => this.selection.clear());
    return outline;
  }

  /** Shows the code of a call. */
  private show(call: number): void {
    if (call === this.call) return;
    this.call = call;
    const { name, label, first_line: first, lines } = this.links.calls!.functionOf(call);
    for (const [other, item] of this.items) item.setAttribute("aria-current", String(other === call));
    this.items.get(call)?.scrollIntoView?.({ block: "nearest" });
    this.title.textContent = this.outline ? `${name} · ${label}` : label;
    this.list.setAttribute("aria-label", `Source of ${name}, ${label}`);
    this.lines = lines.map((text, i) => this.line(text, first + i));
    if (!lines.length) this.list.replaceChildren(h("p.jitscope-empty", say("no code")));
    else this.list.replaceChildren(...this.lines);
    this.roving.renew();
  }

  private line(text: string, number: number): HTMLElement {
    const { links, call } = this;
    const marked = links.calls!.marked(call, number);
    const place = links.calls!.placeOf(call, number);
    const told = marked ? this.told(marked) : "";
    return h(
      "div.jitscope-line",
      {
        "data-line": place,
        "data-marked": marked !== null,
        role: "option",
        "aria-selected": "false",
        tabindex: marked ? "-1" : null,
        "aria-disabled": marked ? null : "true",
        title: told || null,
      },
      h("span.jitscope-line-number", { "aria-hidden": "true" }, number),
      marked && links.hasLine(place) ? swatch(links.hue(place)) : h("span.jitscope-swatch", { "data-none": "" }),
      h("span.jitscope-hidden", `line ${number}: `),
      h("code", text ? python(text) : " "),
      told ? h("span.jitscope-hidden", `; ${told}`) : null,
      marked ? this.counts(marked) : null,
    );
  }

  private told(marked: Marked): string {
    const { count, share } = this.links.kernelsOf(marked);
    const part = share ? `, ${shareInWords(share)} of the kernels' time` : "";
    const inside = marked.calls.map((call) => this.links.calls!.functionOf(call).name);
    const calls = inside.length ? `, with what it calls (${[...new Set(inside)].join(", ")})` : "";
    return `${inWords(marked)}${calls}${count ? `; ${plural(count, "kernel")}${part}` : ""}`;
  }

  private counts(marked: Marked): HTMLElement {
    const { share } = this.links.kernelsOf(marked);
    return h(
      "span.jitscope-count",
      { "aria-hidden": "true" },
      marked.forward ? h("span", marked.forward.toLocaleString("en")) : null,
      marked.backward ? h("span.jitscope-backward", `↩${marked.backward.toLocaleString("en")}`) : null,
      share && share.most >= 0.0005
        ? h("span.jitscope-heat", { style: heat(share.least, share.estimate ?? share.most) }, shareText(share))
        : null,
    );
  }

  private pick(line: HTMLElement): void {
    const place = Number(line.dataset.line);
    const now = this.selection.current;
    if (now.lines.size === 1 && now.lines.has(place) && !now.node) this.selection.clear();
    else this.selection.set(this.links.fromLine(place, this.call));
  }

  private mark(): void {
    const { lines: chosen, paths } = this.selection.current;
    const stretches = this.links.stretches(this.selection.current);
    for (const line of this.lines) {
      underline(line.querySelector("code")!, stretches.get(Number(line.dataset.line)) ?? []);
      line.setAttribute("aria-selected", String(chosen.has(Number(line.dataset.line))));
      line.classList.toggle("jitscope-selected", chosen.has(Number(line.dataset.line)));
    }
    const now = paths.size ? this.links.callOf(this.selection.current, this.call, this.calls) : null;
    for (const [call, item] of this.items) item.setAttribute("aria-selected", String(call === now));
  }
}

/** Underlines stretches of a line, given as columns in bytes of UTF-8 (as Python counts them). */
function underline(code: HTMLElement, stretches: [number, number][]): void {
  for (const old of code.querySelectorAll(".jitscope-columns")) old.replaceWith(...old.childNodes);
  code.normalize();
  if (!stretches.length) return;
  const bytes = new TextEncoder().encode(code.textContent ?? "");
  const characters = (column: number) => new TextDecoder().decode(bytes.slice(0, column)).length;
  const inside = stretches.map(([from, to]) => [characters(from), characters(to)] as const);
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  const nodes: Text[] = [];
  while (texts.nextNode()) nodes.push(texts.currentNode as Text);
  let at = 0;
  for (const node of nodes) {
    const is = (place: number) => inside.some(([from, to]) => from <= place && place < to);
    const pieces: HTMLElement[] = [];
    for (let from = 0, to = 0; from < node.length; from = to) {
      while (to < node.length && is(at + to) === is(at + from)) to++;
      pieces.push(h("span", { class: is(at + from) ? "jitscope-columns" : null }, node.data.slice(from, to)));
    }
    at += node.length;
    if (pieces.some((piece) => piece.className))
      node.replaceWith(...pieces.map((piece) => (piece.className ? piece : piece.firstChild!)));
  }
}

function inWords({ forward, backward }: Marked): string {
  if (!backward) return plural(forward, "equation");
  return forward
    ? `${plural(forward, "equation")} and ${backward.toLocaleString("en")} more for the backward pass`
    : `${plural(backward, "equation")} for the backward pass`;
}

/** A band under a share: full up to the least, hatched from there to the most. */
function heat(least: number, most: number): Record<string, string> {
  return { "--least": `${100 * least}%`, "--most": `${100 * most}%` };
}
