// The trace replayed: each step lights the line that ran and adds the equation that it recorded.
import type { CompilationDoc, GraphNode, Position } from "./documents";
import { grouped, h, plural } from "./dom";
import { isLeftOut } from "./envelope";
import { hlo } from "./highlight";
import { swatch } from "./hue";
import { touches, type Links, type Selection } from "./links";
import type { View } from "./mount";
import { place } from "./graph/tooltip";
import { sourcePane } from "./source";

export interface TraceMemory {
  at: number;
}

export interface TraceOptions {
  compilation: CompilationDoc;
  links: Links;
  selection: Selection;
  memory?: TraceMemory;
}

/** A step of the trace: what goes in, an equation, or an inner jaxpr that begins. */
interface TraceStep {
  kind: "input" | "enter" | "equation";
  node: GraphNode;
  depth: number;
}

const WINDOW = 120; // lines of the jaxpr that are drawn
const BEAT = 250; // ms between two steps while it plays

/**
 * The steps of a program's trace. An equation that holds an inner jaxpr is recorded after what is in it: the step before says that
 * the inner jaxpr begins.
 */
function traceSteps(nodes: GraphNode[]): TraceStep[] {
  const steps: TraceStep[] = [];
  const open: { node: GraphNode; depth: number }[] = [];
  const close = (until: string | null) => {
    while (open.length && !until?.startsWith(`${open[open.length - 1]!.node.id}/`)) {
      const { node, depth } = open.pop()!;
      if (node.paths.length) steps.push({ kind: "equation", node, depth });
    }
  };
  for (const node of nodes) {
    if (node.kind === "input" || node.kind === "constant") {
      if (!node.id.includes("/")) steps.push({ kind: "input", node, depth: 0 });
      continue;
    }
    if (node.kind !== "equation" && node.kind !== "scope") continue;
    close(node.id);
    if (node.kind === "equation") steps.push({ kind: "equation", node, depth: open.length });
    else {
      steps.push({ kind: "enter", node, depth: open.length });
      open.push({ node, depth: open.length });
    }
  }
  close(null);
  return steps;
}

class TraceView implements View {
  readonly element: HTMLElement;
  private readonly steps: TraceStep[];
  private readonly slider: HTMLInputElement;
  private readonly said = h("p.jitscope-replay-said", { "aria-live": "polite" });
  private readonly list = h("ol.jitscope-replay-list", { "aria-label": "The jaxpr so far", tabindex: 0 });
  private readonly player = h("button.jitscope-button", { onclick: () => this.play() }, "▶ Play");
  private at: number;
  private clock: ReturnType<typeof setInterval> | null = null;
  private own = false;

  constructor(private readonly options: TraceOptions) {
    const { compilation, links, selection, memory } = options;
    this.steps = traceSteps(compilation.graph.nodes);
    const first = this.steps.findIndex(({ kind }) => kind !== "input"); // what goes in may be hundreds of arrays
    this.at = Math.max(0, Math.min(memory?.at ?? first, this.steps.length - 1));
    this.slider = h("input.jitscope-replay-slider", {
      type: "range",
      min: 0,
      max: Math.max(0, this.steps.length - 1),
      value: this.at,
      "aria-label": "Step of the trace",
      oninput: () => {
        this.stop();
        this.show(Number(this.slider.value));
      },
    });
    const button = (by: number, sign: string, label: string) =>
      h(
        "button.jitscope-button",
        {
          "aria-label": label,
          title: label,
          onclick: () => {
            this.stop();
            this.show(this.at + by);
          },
        },
        sign,
      );
    this.element = h(
      "div.jitscope-replay",
      h("p.jitscope-sentence", this.headline()),
      h(
        "div.jitscope-replay-controls",
        button(-1, "‹", "The step before"),
        this.slider,
        button(1, "›", "The next step"),
        this.player,
      ),
      this.said,
      h(
        "div.jitscope-replay-columns",
        compilation.source ? sourcePane(compilation.source, links, selection).element : null,
        this.list,
      ),
      this.steps.some(({ kind }) => kind === "enter")
        ? h(
            "p.jitscope-muted",
            "An inner jaxpr is shown where it is used. Where its function was traced before, or a transformation made it, it was recorded earlier.",
          )
        : null,
    );
    this.draw();
    requestAnimationFrame(() => this.scrolled()); // it is on the page then
    selection.onChange(({ paths }) => this.selected(paths));
  }

  memory(): TraceMemory {
    return { at: this.at };
  }

  dispose(): void {
    this.stop();
  }

  private headline(): string {
    const recorded = this.steps.filter(({ kind }) => kind === "equation");
    const equations = recorded.reduce((sum, { node }) => sum + Math.max(1, node.paths.length), 0);
    const inputs = this.steps.filter(({ kind }) => kind === "input").length;
    return `${this.options.compilation.function} was traced: ${plural(inputs, "input")}, ${plural(equations, "equation")} recorded`;
  }

  /** Moves to a step, and lights its line in all panes. */
  private show(at: number): void {
    const last = this.steps.length - 1;
    this.at = Math.max(0, Math.min(at, last));
    if (this.at === last) this.stop();
    const { links, selection } = this.options;
    const { node, kind } = this.steps[this.at]!;
    this.own = true;
    if (kind === "input" || !node.paths.length) selection.clear();
    else selection.set(links.fromPath(node.id));
    this.own = false;
    this.draw();
  }

  /** What another pane picked is shown: the step that recorded it. */
  private selected(paths: Set<string>): void {
    if (this.own || !paths.size) return;
    const belongs = ({ node, kind }: TraceStep) => kind === "equation" && touches(node.paths, paths);
    if (!belongs(this.steps[this.at]!)) {
      const first = this.steps.findIndex(belongs);
      if (first >= 0) this.at = first;
    }
    this.draw();
  }

  private draw(): void {
    const step = this.steps[this.at];
    if (!step) return;
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", `step ${this.at + 1} of ${this.steps.length}: ${this.inWords(step)}`);
    this.said.replaceChildren(
      h("strong", `Step ${grouped(this.at + 1)} of ${grouped(this.steps.length)}: `),
      this.inWords(step),
      this.where(step) ?? "",
    );
    const from = Math.max(0, this.at + 1 - WINDOW);
    const earlier = from ? [h("li.jitscope-muted", `… ${plural(from, "step")} before`)] : [];
    this.list.replaceChildren(
      ...earlier,
      ...this.steps.slice(from, this.at + 1).map((one, i) => this.line(one, from + i)),
    );
    this.scrolled();
  }

  private scrolled(): void {
    this.list.scrollTop = this.list.scrollHeight;
  }

  private inWords({ kind, node }: TraceStep): string {
    if (kind === "input")
      return `${node.kind === "constant" ? "a captured value" : "an argument"}, ${node.label}: ${node.types.join(", ")}`;
    if (kind === "enter")
      return node.paths.length ? `the inner jaxpr of ${node.label} begins` : `its part “${node.label}” begins`;
    const by = node.transforms?.length ? `, made by ${node.transforms.join(" and ")}` : "";
    return `${node.label} is recorded${by}`;
  }

  private where({ kind, node }: TraceStep): HTMLElement | null {
    const position: Position | undefined = kind === "equation" ? node.positions[0] : undefined;
    return position
      ? h(
          "span.jitscope-muted",
          `, written in ${place({ ...position, end_line: position.line, end_column: 0, column: 0 })}`,
        )
      : null;
  }

  private line(step: TraceStep, index: number): HTMLElement {
    const { node, kind, depth } = step;
    const { links } = this.options;
    const number = kind === "equation" ? links.of(node) : null;
    const text =
      kind === "enter"
        ? `{ ${node.label}`
        : kind === "input"
          ? `${node.text || node.label}`
          : node.text.split("\n")[0]!.trim();
    return h(
      "li",
      {
        "data-kind": kind,
        "data-node": node.id,
        "aria-current": index === this.at ? "step" : null,
        style: { "--depth": String(Math.min(depth, 8)) },
        onclick: () => {
          this.stop();
          this.show(index);
        },
      },
      number !== null && links.hasLine(number)
        ? swatch(links.hue(number))
        : h("span.jitscope-swatch", { "data-none": "" }),
      h("code", hlo(text.length > 240 ? `${text.slice(0, 240)} …` : text)),
    );
  }

  private play(): void {
    if (this.clock !== null) {
      this.stop();
      return;
    }
    if (this.at === this.steps.length - 1) this.show(0);
    this.clock = setInterval(() => this.show(this.at + 1), BEAT);
    this.player.textContent = "❚❚ Pause";
  }

  private stop(): void {
    if (this.clock === null) return;
    clearInterval(this.clock);
    this.clock = null;
    this.player.textContent = "▶ Play";
  }
}

export function tracePane(options: TraceOptions): View {
  const { graph } = options.compilation;
  if (graph.nodes.some(({ kind }) => kind === "equation" || kind === "scope" || kind === "input"))
    return new TraceView(options);
  const why = isLeftOut(graph)
    ? "This program was left out of the saved notebook to keep it small."
    : "The trace of this program is not kept.";
  return { element: h("p.jitscope-empty", why), dispose() {} };
}
