// What stands beside the mouse: the operation, what it gives, and the line of the user's code that asked for it.
import { h } from "../dom";
import type { Position } from "../documents";
import type { ShownNode } from "./hulls";

export function place(position: Position): string {
  const columns =
    position.line === position.end_line && position.end_column > position.column
      ? `, columns ${position.column + 1}–${position.end_column}`
      : "";
  return `${position.cell ?? position.file}, line ${position.line}${columns}`;
}

export function hoverText(node: ShownNode): string[] {
  const types = node.types.length ? `${node.label}  ${node.types.join(", ")}` : node.label;
  const first = node.positions[0];
  if (first) return [types, first.text.trim(), place(first)];
  if (node.kind === "hull") return [node.text];
  if (node.kind === "input" || node.kind === "constant" || node.kind === "output") return [types];
  return [types, "no line of code is known for this operation"];
}

export class Tooltip {
  readonly element = h("div", { class: "jitscope-tooltip", role: "tooltip", hidden: true });

  show(lines: string[], x: number, y: number, view: { w: number; h: number }): void {
    const [title, code, where] = lines;
    this.element.replaceChildren(
      h("div", { class: "jitscope-tooltip-title" }, title),
      ...(code ? [h("div", { class: where ? "jitscope-tooltip-code" : "jitscope-muted" }, code)] : []),
      ...(where ? [h("div", { class: "jitscope-muted" }, where)] : []),
    );
    this.element.hidden = false;
    const { offsetWidth: w, offsetHeight: height } = this.element;
    const left = Math.max(4, Math.min(x + 14, view.w - w - 4));
    const top = y + 20 + height > view.h ? Math.max(4, y - height - 10) : y + 20;
    this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
