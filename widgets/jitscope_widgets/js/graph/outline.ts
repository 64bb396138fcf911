// The same graph for screen readers and the keyboard: a tree of which only the surroundings of the focused node are
// made, so that 50,000 nodes cost nothing.
import { h } from "../dom";
import type { GraphView } from "./view";

const AROUND = 20;
let made = 0;

export class Outline {
  readonly element: HTMLElement;
  private readonly prefix = `jitscope-node-${++made}`;
  private asked = false;

  constructor(private readonly graph: GraphView) {
    this.element = h("div", {
      class: "jitscope-outline",
      role: "tree",
      tabindex: "0",
      "aria-label": `Graph: ${graph.document.title || graph.document.level}. Arrow keys follow the data, Enter opens, question mark lists the keys.`,
    });
  }

  refresh(): void {
    if (this.asked) return;
    this.asked = true;
    queueMicrotask(() => {
      this.asked = false;
      this.fill();
    });
  }

  private fill(): void {
    const { model, marks } = this.graph;
    const focus = marks.focus;
    if (focus === null) {
      this.element.removeAttribute("aria-activedescendant");
      this.element.replaceChildren();
      return;
    }
    const siblings = model.childrenOf(model.parent[focus]!);
    const place = model.slot[focus]!;
    const first = Math.max(0, place - AROUND);
    const items = siblings.slice(first, place + AROUND).map((node, i) => this.item(node, first + i, siblings.length));
    this.element.replaceChildren(...items);
    this.element.setAttribute("aria-activedescendant", `${this.prefix}-${focus}`);
  }

  private item(node: number, place: number, count: number): HTMLElement {
    const { model, marks, options } = this.graph;
    const shown = model.node(node);
    const line = options.lines.of(shown);
    const parts = [shown.label, shown.types.join(", "), line === null ? "" : `line ${line}`];
    if (model.isScope(node)) parts.push(`${model.inside[node]} inside`);
    return h(
      "div",
      {
        role: "treeitem",
        id: `${this.prefix}-${node}`,
        "data-node": shown.id,
        "aria-level": model.depth[node],
        "aria-posinset": place + 1,
        "aria-setsize": count,
        "aria-selected": String(marks.selected === node),
        "aria-expanded": model.isScope(node) ? String(model.open(node)) : null,
      },
      parts.filter(Boolean).join(", "),
    );
  }
}
