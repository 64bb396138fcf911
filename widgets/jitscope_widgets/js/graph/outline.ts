// The same graph for screen readers and the keyboard: a tree of which only the surroundings of the focused node are
// made, so that 50,000 nodes cost nothing.
import { lineNumber } from "../calls";
import { h } from "../dom";
import { insideText, numberText } from "./looks";
import type { GraphView } from "./view";

const AROUND = 20;
const MOST_TYPES = 4; // that are said of one node
let made = 0;

export class Outline {
  readonly element: HTMLElement;
  private readonly prefix = `jitscope-node-${++made}`;
  private asked = false;

  constructor(private readonly graph: GraphView) {
    this.element = h("div.jitscope-outline", {
      role: "tree",
      tabindex: "0",
      "aria-label": `Graph: ${graph.document.title || graph.document.level}. Arrow keys follow the data, Enter opens, question mark lists the keys.`,
    });
    this.refresh();
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
    const all = [...model.visible()];
    const focus = marks.focus === null ? -1 : all.indexOf(model.shown(marks.focus));
    const around = new Set(all.slice(Math.max(0, focus - AROUND), Math.max(0, focus) + AROUND));
    // the scopes that it is in, so that the levels can be followed up
    if (focus >= 0) for (let at = model.parent[all[focus]!]!; at !== model.root; at = model.parent[at]!) around.add(at);
    this.element.replaceChildren(...all.filter((node) => around.has(node)).map((node) => this.item(node)));
    if (focus < 0) this.element.removeAttribute("aria-activedescendant");
    else this.element.setAttribute("aria-activedescendant", `${this.prefix}-${all[focus]}`);
  }

  private item(node: number): HTMLElement {
    const { model, marks } = this.graph;
    const parent = model.parent[node]!;
    return h(
      "div",
      {
        role: "treeitem",
        id: `${this.prefix}-${node}`,
        "data-node": model.node(node).id,
        "aria-level": model.depth[node],
        "aria-posinset": model.slot[node]! + 1,
        "aria-setsize": model.childrenOf(parent).length,
        "aria-selected": String(marks.selected === node),
        "aria-expanded": model.isScope(node) ? String(model.open(node)) : null,
      },
      this.words(node),
    );
  }

  private words(node: number): string {
    const { model, options } = this.graph;
    const shown = model.node(node);
    const line = options.lines.of(shown);
    const more = shown.types.length - MOST_TYPES;
    const types = [...shown.types.slice(0, MOST_TYPES), ...(more > 0 ? [`${more} more`] : [])].join(", ");
    const parts = [shown.label, types, line === null ? "" : `line ${lineNumber(line)}`];
    if (shown.transforms?.length) parts.push(`made by ${shown.transforms.join(", ")}`);
    if (model.isScope(node)) parts.push(insideText(model, node));
    if (model.isRepeat(node))
      parts.push(
        `block ${model.blockOf(node) + 1} of ${model.allChildrenOf(node).length} is shown, brackets change it`,
      );
    parts.push(model.shareText(node), shown.number ? `${shown.number.name} ${numberText(shown)}` : "");
    return parts.filter(Boolean).join(", ");
  }
}
