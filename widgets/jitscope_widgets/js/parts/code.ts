// Program text, line by line.
import { h } from "../dom";
import { assembly, hlo, llvm, python } from "../highlight";
import type { Selected } from "../links";
import type { Code, CodeLine } from "./forms";
import type { Stage } from "./view";

const STEP = 2000; // lines that are drawn at once

const COLOURS = { python, jaxpr: hlo, hlo, llvm, asm: assembly };

export function codePart(part: Code, stage: Stage): HTMLElement {
  const body = h("div", { class: "jitscope-code-lines" });
  const drawn: [HTMLElement, CodeLine][] = [];
  const mark = (selected: Selected) => {
    for (const [element, { ref }] of drawn) element.toggleAttribute("data-related", Boolean(ref && stage.belongs(ref, selected)));
  };
  const add = (from: number): void => {
    for (const line of part.lines.slice(from, from + STEP)) {
      const element = lineElement(line, part, stage);
      drawn.push([element, line]);
      body.append(element);
    }
    const left = part.lines.length - from - STEP;
    if (left > 0) {
      const more = h("button", { type: "button", class: "jitscope-fold" }, `${left.toLocaleString("en")} more lines`);
      more.addEventListener("click", () => (more.remove(), add(from + STEP), mark(stage.around.selection.current)));
      body.append(more);
    }
  };
  add(0);
  stage.around.selection.onChange(mark);
  return h("div", { class: "jitscope-part-code", role: "region", tabindex: 0, "aria-label": part.name }, body);
}

function textOf({ text, stretch }: CodeLine, language: Code["language"]): (Node | string)[] {
  const coloured = (piece: string) => (language === undefined || language === "text" ? piece : COLOURS[language](piece));
  if (!stretch) return [coloured(text)];
  const characters = [...text]; // columns count characters as Python does
  const piece = (from: number, to?: number) => coloured(characters.slice(from, to).join(""));
  return [piece(0, stretch[0]), h("mark", {}, piece(stretch[0], stretch[1])), piece(stretch[1])];
}

function lineElement(line: CodeLine, { language }: Code, stage: Stage): HTMLElement {
  const number = h("span", { class: "jitscope-code-number", "aria-hidden": "true" }, line.number ?? "");
  const note = line.note ? [" ", h("span", { class: "jitscope-muted" }, line.note)] : [];
  const attributes = { class: "jitscope-code-row", "data-mark": line.mark || undefined };
  if (!line.ref) return h("div", attributes, number, h("code", {}, ...textOf(line, language)), ...note);
  return h("div", { ...attributes, "data-links": "", onclick: () => stage.pick(line.ref) }, number, h("code", {}, ...textOf(line, language)), ...note);
}
