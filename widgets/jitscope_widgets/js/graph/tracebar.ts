// What can be asked about the picked node: all that it depends on, all that depends on it, the ways to another node. The
// answer is drawn; all else becomes faint.
import { h, plural } from "../dom";
import { between, drawnOf, reach, type Traced, type Way } from "./tracing";
import type { GraphView } from "./view";

const SPACE = 8; // between the bar and the border

export class TraceBar {
  readonly element = h("div.jitscope-trace", { role: "group", "aria-label": "Follow values", hidden: true });
  private readonly said = h("span.jitscope-trace-said", { role: "status", "aria-live": "polite" });
  private traced: Traced | null = null;
  private at: number | null = null;

  constructor(private readonly graph: GraphView) {
    const button = (text: string, title: string, onclick: () => void) =>
      h("button.jitscope-trace-button", { title, onclick }, text);
    this.element.append(
      button("↑ all producers", "everything that this value is computed from (key p)", () => this.follow("producers")),
      button("↓ all users", "everything that is computed from this value (key u)", () => this.follow("users")),
      this.said,
      button("✕", "show all again (Esc)", () => this.clear()),
    );
    this.element.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") {
        this.clear();
        this.graph.api.takeFocus();
      }
    });
  }

  /** Something was picked, or nothing any more. */
  selected(node: number | null): void {
    const { model, marks } = this.graph;
    if (node === this.at && this.traced) return;
    this.at = node;
    this.traced = null;
    marks.traced = null;
    marks.edges = new Set(node === null ? [] : [...model.edgesOf(node, "in"), ...model.edgesOf(node, "out")]);
    this.element.hidden = node === null;
    this.element.toggleAttribute("data-traced", false);
    this.said.textContent = "Shift + click another: the paths between";
  }

  follow(way: Way): string {
    if (this.at === null) return "";
    const { model } = this.graph;
    const traced = reach(model, this.at, way);
    const own = model.inside[this.at]! + (model.isOperation(this.at) ? 1 : 0);
    const count = this.operations(traced) - own;
    return this.draw(
      traced,
      count ? `${plural(count, "operation")} ${way === "users" ? "use it" : "lead to it"}` : `no ${way}`,
    );
  }

  /** The paths between the picked node and another one. */
  path(other: number): string {
    if (this.at === null || this.at === other) return "";
    const { model } = this.graph;
    const found = between(model, this.at, other);
    if (!found) {
      const name = (i: number) => model.node(i).label;
      return this.draw(null, `no values flow between ${name(this.at)} and ${name(other)}`);
    }
    const ends = [found.from, found.to].filter((i) => model.isOperation(i)).length;
    const count = Math.max(0, this.operations(found) - ends);
    const text = count ? `${plural(count, "operation")} between` : "joined directly";
    return this.draw(found, `${model.node(found.from).label} → ${model.node(found.to).label}: ${text}`);
  }

  private operations({ nodes }: Traced): number {
    let count = 0;
    for (const node of nodes) if (this.graph.model.isOperation(node)) count++;
    return count;
  }

  private draw(traced: Traced | null, said: string): string {
    this.traced = traced;
    this.said.textContent = said;
    this.element.toggleAttribute("data-traced", traced !== null);
    this.redraw();
    return said;
  }

  /** What is drawn for the traced nodes changes with what is open. */
  redraw(): void {
    const { model, marks } = this.graph;
    if (!this.traced) return;
    marks.traced = drawnOf(model, this.traced);
    marks.edges = this.traced.edges;
    this.graph.ask();
  }

  /** False when there was nothing to clear. */
  clear(): boolean {
    if (!this.traced) return false;
    const node = this.at;
    this.at = null;
    this.traced = null;
    this.selected(node);
    this.graph.ask();
    return true;
  }

  /** Goes where it does not cover what was picked: to the other side of the picture. */
  place(): void {
    const { model, layout, camera } = this.graph;
    if (this.at === null || this.element.hidden) return;
    const rect = layout.rect(model.shown(this.at));
    const [left, top] = [rect.x * camera.k + camera.x, rect.y * camera.k + camera.y];
    const { offsetWidth: w, offsetHeight: h } = this.element;
    const isBelow =
      left < w + 2 * SPACE && left + rect.w * camera.k > 0 && top < h + 2 * SPACE && top + rect.h * camera.k > 0;
    this.element.toggleAttribute("data-low", isBelow);
  }

  /** Ids of the nodes that were traced; null when all are drawn alike. */
  ids(): string[] | null {
    return this.traced && [...this.traced.nodes].map((i) => this.graph.model.node(i).id);
  }
}
