// The jaxpr before and after each transformation, with what stems from what.
import type { CodeProgram, Host, TransformationsDoc } from "./documents";
import { h, plural } from "./dom";
import { hlo } from "./highlight";
import { swatch } from "./hue";
import { Links, Selection, touches } from "./links";
import type { View } from "./mount";
import { Roving } from "./roving";
import { costOf, say, TABLES } from "./sentences";

interface TransformationsOptions {
  doc: TransformationsDoc;
  host: Host;
  links: Links;
  selection: Selection;
  memory?: { at: number };
}

type Step = TransformationsDoc["steps"][number];
type Line = CodeProgram["lines"][number];

const DOES: Record<Step["transform"], string> = {
  jvp: "Beside each value that depends on what is differentiated, its tangent is computed.",
  linearize: "Partial evaluation: what depends on values alone is split from what is linear in the tangents; the first hands over residuals.",
  transpose: "The linear program, run backwards: from cotangents of its results to those of its arguments.",
  vmap: "The program of one example becomes that of all of them.",
};

class TransformationsView implements View {
  readonly element: HTMLElement;
  private readonly body = h("div", { class: "jitscope-steps-body", "aria-live": "polite" });
  private readonly buttons: HTMLElement[];
  private at: number;
  private picked: number | null = null; // an origin without equations in the compiled program

  constructor(private readonly options: TransformationsOptions) {
    const { doc, selection, memory } = options;
    this.at = Math.max(0, Math.min(memory?.at ?? 0, doc.steps.length - 1));
    this.buttons = doc.steps.map(({ transform, function: name, depth }, i) =>
      h(
        "li",
        {},
        h(
          "button",
          { type: "button", class: "jitscope-step", "data-step": i, style: { "--depth": String(Math.min(depth, 6)) }, onclick: () => this.show(i) },
          h("strong", {}, `${i + 1}. ${transform}`),
          h("span", {}, ` of ${name}`),
        ),
      ),
    );
    const list = h("ol", { class: "jitscope-steps-list", "aria-label": "Transformations, those inside of others first" }, ...this.buttons);
    this.element = h(
      "div",
      { class: "jitscope-steps" },
      h("p", { class: "jitscope-sentence" }, this.headline()),
      doc.steps.length ? list : null,
      this.body,
      ...doc.missed.map((why) => h("p", { class: "jitscope-muted" }, `Not shown: ${why}.`)),
      costOf(doc.cost),
    );
    this.show(this.at);
    selection.onChange(() => this.mark());
  }

  memory(): { at: number } {
    return { at: this.at };
  }

  dispose(): void {}

  private headline(): string {
    const { steps, left_out: more, title } = this.options.doc;
    if (!steps.length) return say("no transformation");
    return `Tracing ${title} went through ${plural(steps.length + more, "transformation")}${more ? `; the first ${steps.length} are shown` : ""}`;
  }

  private show(at: number): void {
    this.at = at;
    this.buttons.forEach((item, i) => {
      if (i === at) item.firstElementChild!.setAttribute("aria-current", "step");
      else item.firstElementChild!.removeAttribute("aria-current");
    });
    const step = this.options.doc.steps[at];
    if (!step) return;
    this.body.replaceChildren(
      h("p", {}, DOES[step.transform]),
      h(
        "div",
        { class: "jitscope-steps-columns" },
        h("section", {}, h("h4", {}, "before"), this.program(step.before, "before")),
        h("section", {}, ...step.after.flatMap((one) => [h("h4", {}, `after: ${one.title}`), this.program(one, `after: ${one.title}`)])),
      ),
      this.legend(step),
    );
    this.mark();
  }

  private legend(step: Step): HTMLElement {
    const made = new Set([step.before, ...step.after].flatMap(({ lines }) => lines.flatMap(({ transforms }) => transforms)));
    const keys = Object.entries(TABLES.transforms).filter(([name]) => made.has(name as Line["transforms"][number]));
    const words = [...keys.map(([, [sign, word]]) => `${sign} ${word}`), "pick a line to see what stems from the same place"];
    return h("p", { class: "jitscope-muted" }, words.join(" · "));
  }

  private program(program: CodeProgram, label: string): HTMLElement {
    const list = h("div", { class: "jitscope-steps-program", role: "listbox", "aria-label": label }, ...program.lines.map((line) => this.line(line)));
    new Roving(list, "[data-origin]", (entry) => this.pick(Number(entry.dataset.origin)), () => this.clear());
    if (!program.left_out) return list;
    return h("div", {}, list, h("p", { class: "jitscope-muted" }, `and ${plural(program.left_out, "more line")}`));
  }

  private line({ text, origin: from, transforms }: Line): HTMLElement {
    const { doc, links } = this.options;
    const found = from === null ? undefined : doc.origins[from];
    const hue = found ? links.linesOf({ positions: [found.position], paths: found.paths })[0] : undefined;
    const indent = /^ */.exec(text)![0].length;
    const signs = transforms.map((name) => TABLES.transforms[name][0]).join("");
    return h(
      "div",
      {
        class: "jitscope-steps-line",
        role: "option",
        "aria-selected": "false",
        "data-origin": from,
        tabindex: from === null ? null : -1,
        title: found ? `line ${found.position.line}: ${found.position.text.trim()}` : null,
        style: { "--depth": String(Math.min(indent / 2, 8)) },
      },
      hue !== undefined && links.hasLine(hue) ? swatch(links.hue(hue)) : h("span", { class: "jitscope-swatch", "data-none": "" }),
      h("span", { class: "jitscope-steps-sign", "aria-label": transforms.map((name) => `made by ${name}`).join(", ") || null, role: signs ? "img" : null }, signs),
      h("code", {}, hlo(text.trim().length > 300 ? `${text.trim().slice(0, 300)} …` : text.trim())),
    );
  }

  private pick(number: number): void {
    const { doc, links, selection } = this.options;
    const { paths } = doc.origins[number]!;
    this.picked = number;
    selection.set(links.fromPaths(paths));
  }

  private clear(): void {
    this.picked = null;
    this.options.selection.clear();
  }

  /** Marks what stems from what is selected, here or in another pane. */
  private mark(): void {
    const { doc, selection } = this.options;
    const { paths } = selection.current;
    const own = this.picked !== null ? doc.origins[this.picked]! : null;
    if (own && paths.size && !touches(own.paths, paths)) this.picked = null; // something else was picked elsewhere
    const chosen = new Set<number>();
    doc.origins.forEach((one, i) => touches(one.paths, paths) && chosen.add(i));
    if (this.picked !== null && !(own!.paths.length && !paths.size)) chosen.add(this.picked);
    for (const line of this.body.querySelectorAll<HTMLElement>("[data-origin]"))
      line.setAttribute("aria-selected", String(chosen.has(Number(line.dataset.origin))));
  }
}

export function transformationsPane(options: TransformationsOptions): View {
  return new TransformationsView(options);
}

/** A document of transformations by itself. */
export function transformationsView(doc: TransformationsDoc, host: Host, memory: { at: number } | undefined): View {
  return transformationsPane({ doc, host, memory, links: new Links(null, null), selection: new Selection() });
}
