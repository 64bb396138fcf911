// What stands beside the mouse: the operation, what it gives, and the line of the user's code that asked for it.
import { h } from "../dom";
import type { Position } from "../documents";
import { insideText, numberText } from "./looks";
import type { Model } from "./model";

export function place(position: Position): string {
  const columns =
    position.line === position.end_line && position.end_column > position.column
      ? `, columns ${position.column + 1}-${position.end_column}`
      : "";
  return `${home(position)}, line ${position.line}${columns}`;
}

/** The cell or file of a position, as `words.home` says it. */
export function home({ cell, file }: Position): string {
  return cell ?? (/^<.*\(.*>$/s.test(file) ? "the expression" : file.split(/[\\/]/).pop()!);
}

const MADE: Record<string, string> = {
  jvp: "its derivative (jvp)",
  transpose: "its backward pass (transpose)",
  vmap: "its batched form (vmap)",
};

export function hoverText(model: Model, i: number): string[] {
  const node = model.node(i);
  const own = node.number ? `${node.number.name} ${numberText(node)}` : "";
  const title = [node.label, node.types.join(", "), model.shareText(i), own].filter(Boolean).join("  ");
  const made = node.transforms?.length
    ? [`made by ${node.transforms.map((name) => MADE[name] ?? name).join(", then ")}`]
    : [];
  const inside = model.isScope(i) ? [insideText(model, i)] : [];
  const first = node.positions[0];
  if (first) return [title, first.text.trim(), place(first), ...made, ...inside];
  if (node.kind === "hull") return [node.text];
  if (inside.length || ["input", "constant", "output"].includes(node.kind)) return [title, ...inside];
  return [title, "no line of code is known for this operation"];
}

export class Tooltip {
  readonly element = h("div.jitscope-tooltip", { role: "tooltip", hidden: true });

  show(lines: string[], x: number, y: number, view: { w: number; h: number }): void {
    const [title, code, ...where] = lines;
    this.element.replaceChildren(
      h("div.jitscope-tooltip-title", title),
      ...(code ? [h("div", { class: where.length ? "jitscope-tooltip-code" : "jitscope-muted" }, code)] : []),
      ...where.map((line) => h("div.jitscope-muted", line)),
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
