// A view that came as data (../../view): each kind of part has one function that draws it.
import type { CompilationDoc, Host, Position } from "../documents";
import { clear, h } from "../dom";
import { isNothing, Links, Selection, touches, type Selected } from "../links";
import type { View } from "../mount";
import { SEVERITIES, severityIcon } from "../severity";
import { fixView } from "../fixes";
import { actionPart } from "./action";
import { besideCode, cardPart, cardsPart, ignorePart } from "./cards";
import { chartPart } from "./chart";
import { codePart } from "./code";
import { diffPart } from "./diff";
import type { Card, Part, Ref, Section } from "./forms";
import { graphPart } from "./graph";
import { heatmapPart } from "./heatmap";
import { words } from "./inline";
import { choicePart, factsPart, listPart, sectionPart, sentencePart } from "./layout";
import { groupedPart, tablePart } from "./table";
import { besidePart, stepsPart } from "./steps";
import { tilesPart } from "./tiles";
import { timelinePart } from "./timeline";

/** What a view has round it. */
export interface Around {
  host: Host;
  links: Links;
  selection: Selection;
  root: HTMLElement;
  compilation?: CompilationDoc;
  memory?: unknown;
  /** Asks the kernel for a further form of the document; null where there is no kernel to ask. */
  ask?: ((options: Record<string, unknown>) => Promise<unknown>) | null;
  /** The place of an instrument's view; undefined where none can be. */
  instrument?: (name: string) => HTMLElement;
}

/** A place on an axis that a chart and the tables below it look at together. */
export class Cursor {
  at: number | null = null;
  usual: number | null = null;
  private readonly followers: ((at: number | null) => void)[] = [];

  follow(follower: (at: number | null) => void): void {
    this.followers.push(follower);
    follower(this.at);
  }

  move(at: number | null): void {
    this.at = at;
    for (const follower of this.followers) follower(at);
  }
}

/** What the parts of one view share: the selection, what an earlier view remembered, things to end. */
export class Stage {
  readonly ends: (() => void)[] = [];
  readonly themes: (() => void)[] = [];
  /** For tests and for other code on the page. */
  readonly api: Record<string, unknown> = {};
  private readonly states = new Map<string, () => unknown>();
  private readonly cursors = new Map<string, Cursor>();
  private readonly known: Record<string, unknown>;
  /** What the picked line stems from (`Ref.same`), until something is picked elsewhere. */
  private same = "";
  private picking = false;

  constructor(
    readonly around: Around,
    private readonly shownAnew: (parts: Part[]) => void,
    private readonly parts: Part[] = [],
  ) {
    this.known = (around.memory ?? {}) as Record<string, unknown>;
    around.selection.onChange(() => this.picking || (this.same = "")); // before those of the parts
  }

  /** What a part of this name was last like, here or in an earlier view; from now on `state` says it. */
  remember<State>(name: string, usual: State, state: () => State): State {
    const last = (this.states.get(name)?.() ?? this.known[name]) as State | undefined;
    this.states.set(name, state);
    return last ?? usual;
  }

  memory(): Record<string, unknown> {
    return Object.fromEntries([...this.states].map(([name, state]) => [name, state()]));
  }

  cursor(name: string): Cursor {
    const found = this.cursors.get(name) ?? new Cursor();
    this.cursors.set(name, found);
    return found;
  }

  /** Another form of this view in its place. */
  show(parts: Part[]): void {
    this.shownAnew(parts);
  }

  /** The section of a name as another form of this view has it, in the place of this one's. */
  renew(name: string, parts: Part[], within: HTMLElement): void {
    const [own, found] = [sectionNamed(this.parts, name), sectionNamed(parts, name)];
    if (!own || !found) {
      this.show(parts);
      return;
    }
    own.parts = found.parts;
    const place = within.closest<HTMLElement>("[data-name]");
    const fresh = elementsOf([own], this);
    place?.replaceWith(...fresh);
    fresh[0]?.querySelector<HTMLElement>("input, button")?.focus();
  }

  // what is selected

  pick(ref: Ref | undefined): void {
    const { selection, host } = this.around;
    const selected = ref && this.selected(ref);
    this.same = ref?.same ?? "";
    this.picking = true;
    if (selected) selection.set(selected);
    else selection.clear();
    this.picking = false;
    if (ref?.step) this.cursor(ref.step[0]).move(ref.step[1]);
    if (ref?.position) host.goto?.(ref.position);
  }

  /** What was written in a line; null where the program has no such line. */
  private lineOf(position: Position): Selected | null {
    const place = this.around.links.placeOf(position);
    return place !== null && this.around.links.hasLine(place) ? this.around.links.fromLine(place) : null;
  }

  private selected({ paths = [], kernels = [], node, position }: Ref): Selected | null {
    const { links, compilation } = this.around;
    const graph = compilation?.graph;
    if (node && graph?.nodes.some(({ id }) => id === node)) return links.fromNode(graph, "jaxpr", node);
    if (!paths.length && !kernels.length) return position ? this.lineOf(position) : null;
    if (!paths.length)
      return kernels.length === 1 ? links.fromKernelNamed(kernels[0]!) : links.fromKernelsNamed(kernels);
    const found = paths.length === 1 ? links.fromPath(paths[0]!) : links.fromPaths(paths);
    return kernels.length ? { ...found, kernels: new Set(kernels) } : found;
  }

  /** Whether a part that stands for `ref` belongs to what is selected. */
  belongs({ paths = [], kernels = [], node, position, same }: Ref, selected: Selected): boolean {
    if (same && same === this.same) return true;
    if (isNothing(selected)) return false;
    if (position && !paths.length && !kernels.length && !node) {
      const place = this.around.links.placeOf(position);
      return place !== null && selected.lines.has(place);
    }
    if (node && selected.node) return selected.node.id === node;
    if (touches(paths, selected.paths)) return true;
    return (!selected.paths.size || !paths.length) && kernels.some((name) => selected.kernels.has(name));
  }

  goto(position: Position): (() => void) | null {
    const { host } = this.around;
    return host.goto ? () => host.goto!(position) : null;
  }
}

/** The section of a name, wherever in a view it stands. */
function sectionNamed(value: unknown, name: string): Section | undefined {
  if (!value || typeof value !== "object") return undefined;
  const { part, name: own } = value as { part?: string; name?: string };
  if (part === "section" && own === name) return value as Section;
  for (const inner of Object.values(value)) {
    const found = inner && typeof inner === "object" ? sectionNamed(inner, name) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** The elements of some parts. */
export function elementsOf(parts: Part[], stage: Stage): HTMLElement[] {
  return parts.flatMap((part) => elementOf(part, stage) ?? []);
}

function elementOf(part: Part, stage: Stage): HTMLElement | null {
  switch (part.part) {
    case "sentence":
      return sentencePart(part, stage);
    case "section":
      return sectionPart(part, stage);
    case "card":
      return cardPart(part, stage);
    case "cards":
      return cardsPart(part, stage);
    case "ignore":
      return ignorePart(part);
    case "facts":
      return factsPart(part, stage);
    case "choice":
      return choicePart(part, stage);
    case "table":
      return tablePart(part, stage);
    case "grouped":
      return groupedPart(part, stage);
    case "chart":
      return chartPart(part, stage);
    case "heatmap":
      return heatmapPart(part);
    case "timeline":
      return timelinePart(part, stage);
    case "code":
      return codePart(part, stage);
    case "diff":
      return diffPart(part, stage);
    case "instrument":
      return (
        stage.around.instrument?.(part.name) ?? (part.without ? h("div", ...elementsOf(part.without, stage)) : null)
      );
    case "graph":
      return graphPart(part, stage);
    case "tiles":
      return tilesPart(part);
    case "action":
      return actionPart(part, stage);
    case "edit":
      return fixView(part.fix);
    case "list":
      return listPart(part, stage);
    case "beside":
      return besidePart(part, stage);
    case "steps":
      return stepsPart(part, stage);
  }
}

/** A view of parts. */
export function partsView(parts: Part[], around: Around, kind: string): View {
  const element = h("div.jitscope-parts", { "data-kind": kind });
  let stage!: Stage;
  const end = () => {
    for (const one of stage?.ends.splice(0) ?? []) one();
  };
  const show = (shown: Part[]) => {
    const memory = stage ? stage.memory() : around.memory;
    end();
    stage = new Stage({ ...around, memory }, show, shown);
    clear(element);
    element.append(...elementsOf(shown, stage));
  };
  show(parts);
  return {
    element,
    api: stage.api,
    memory: () => stage.memory(),
    themed: () => stage.themes.forEach((one) => void one()),
    dispose: end,
  };
}

/** A view that begins with a headline, as that line alone until it is opened. */
export function foldedView(parts: Part[], around: Around, kind: string): View {
  const [first, ...others] = parts;
  if (first?.part !== "sentence" || !others.length) return partsView(parts, around, kind);
  const view = partsView(others, around, kind);
  const tones = others.flatMap((part) => (part.part === "cards" ? part.cards.map(({ tone }) => tone) : []));
  const gravest = SEVERITIES.find((severity) => tones.includes(severity));
  const summary = h("summary", gravest ? severityIcon(gravest) : null, words(first.content));
  return { ...view, element: h("details.jitscope-folded", summary, view.element) };
}

/** A card of a view by itself, for the tooltip of an editor. */
export function tooltipCard(card: Card): HTMLElement {
  const around = { host: {}, root: document.body, links: new Links(null, null), selection: new Selection() };
  return cardPart(besideCode(card), new Stage(around, () => {}));
}

/** What stands where a document was saved by a version whose views are not made any more. */
export function partsMissing(title: string): View {
  const said = `${title || "This"} was saved by an earlier version of jitscope, without the view that is shown here. Run the cell again to see it, or open the notebook with jitscope view in a terminal.`;
  return { element: h("p.jitscope-empty", said), dispose() {} };
}
