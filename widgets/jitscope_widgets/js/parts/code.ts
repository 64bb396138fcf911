// Program text, line by line. Lines that stand for something can be picked, by pointer or with the arrow keys.
import type { Member } from "../documents";
import { h, plural, revealIn } from "../dom";
import { assembly, hlo, llvm, python } from "../highlight";
import { swatch } from "../hue";
import type { Selected } from "../links";
import { Roving } from "../roving";
import type { Block, Code, CodeLine, Ref } from "./forms";
import type { Stage } from "./view";

const STEP = 2000; // lines that are drawn at once
const DEEPEST = 4; // loops in each other that are drawn

const COLOURS = { python, jaxpr: hlo, hlo, llvm, asm: assembly };

/** What all lines of a program have, so that they begin at the same column. */
interface Gutter {
  numbers: boolean;
  signs: boolean;
  hues: boolean;
  depths: boolean;
}

export function codePart(part: Code, stage: Stage): HTMLElement {
  const lines = [
    ...(part.lines ?? []),
    ...(part.blocks ?? []).flatMap(linesOf),
    ...(part.operations ?? []).map(operation),
  ];
  const linked = lines.some(({ ref }) => ref);
  const gutter = {
    numbers: lines.some(({ number }) => number),
    signs: lines.some(({ sign }) => sign),
    hues: lines.some(({ ref }) => ref && hueOf(ref, stage) !== null),
    depths: lines.some(({ depth }) => depth),
  };
  const body = h("div.jitscope-code-lines", {
    role: linked ? "listbox" : null,
    "aria-label": linked ? part.name : null,
  });
  const place = h(
    "div.jitscope-part-code",
    { ...(linked ? {} : { role: "region", tabindex: 0, "aria-label": part.name }) },
    body,
  );
  const drawn: [HTMLElement, CodeLine][] = [];
  let own = false; // the selection is being set from here
  const mark = (selected: Selected) => {
    for (const [element, { ref }] of drawn) {
      const related = Boolean(ref && stage.belongs(ref, selected));
      element.toggleAttribute("data-related", related);
      if (linked) element.setAttribute("aria-selected", String(related));
    }
    const first = body.querySelector<HTMLElement>("[data-related]");
    if (first && !own) revealIn(place, first);
  };
  const pick = (ref: Ref | undefined) => {
    own = true;
    stage.pick(ref);
    own = false;
  };
  const add = (from: number): void => {
    for (const [n, line] of lines.slice(from, from + STEP).entries()) {
      const element = lineElement(line, part, gutter, linked, stage);
      if ((line.depth ?? 0) !== (lines[from + n - 1]?.depth ?? 0)) body.append(entered(line.depth ?? 0));
      drawn.push([element, line]);
      body.append(element);
    }
    const left = lines.length - from - STEP;
    if (left > 0) {
      const more = h("button.jitscope-fold", plural(left, "more line"));
      more.addEventListener("click", () => {
        more.remove();
        add(from + STEP);
        mark(stage.around.selection.current);
      });
      place.append(more);
    } else if (part.left_out) place.append(h("p.jitscope-muted", `and ${plural(part.left_out, "more line")}`));
  };
  add(0);
  if (linked)
    new Roving(
      body,
      "[data-links]",
      (row) => pick(drawn.find(([element]) => element === row)?.[1].ref),
      () => pick(undefined),
    );
  stage.around.selection.onChange(mark);
  return place;
}

const operation = ({ name, type, opcode, paths }: Member): CodeLine => ({
  text: `${name} = ${type} ${opcode}`,
  ref: { paths },
});

/** The lines of a block, as code_lines.py makes them. */
function linesOf({ text, number = 0, nesting = [], head, mark }: Block): CodeLine[] {
  const depths = new Map(nesting.map(([line, depth]) => [line, depth] as const));
  let depth = 0;
  const lines = text ? text.replace(/\n$/, "").split("\n") : [];
  const made = lines.map((line, at): CodeLine => {
    depth = depths.get(at) ?? depth;
    return number ? { text: line, number: String(number + at), depth, mark } : { ...instruction(line), depth, mark };
  });
  return head ? [{ text: head, depth: depths.get(0), mark }, ...made] : made;
}

function instruction(line: string): { number: string; text: string } {
  const [at = "", name = "", operands = "", remark = ""] = line.split("\t");
  return { number: at, text: `${name.padEnd(12)} ${operands}${remark ? `   ; ${remark}` : ""}`.trimEnd() };
}

export function textOf(
  { text, stretch }: Pick<CodeLine, "text" | "stretch">,
  language: Code["language"],
): (Node | string)[] {
  const coloured = (piece: string) =>
    language === undefined || language === "text" ? piece : COLOURS[language](piece);
  if (!stretch) return [coloured(text)];
  const characters = [...text]; // columns count characters as Python does
  const piece = (from: number, to?: number) => coloured(characters.slice(from, to).join(""));
  return [piece(0, stretch[0]), h("mark", piece(stretch[0], stretch[1])), piece(stretch[1])];
}

/** The colour of the source line that something stems from. */
function hueOf({ paths = [], position }: Ref, stage: Stage): number | null {
  const { links } = stage.around;
  const line = links.linesOf({ positions: position ? [position] : [], paths })[0];
  return line !== undefined && links.hasLine(line) ? links.hue(line) : null;
}

/** How deep in loops the lines below are. */
function entered(depth: number): HTMLElement {
  return h("div.jitscope-code-depth", depth ? `↻ loop depth ${depth}` : "↧ outside the loops");
}

/** A bar for each loop that a line is in. */
function bars(depth: number): HTMLElement {
  const drawn = Array.from({ length: Math.min(depth, DEEPEST) }, () => h("i"));
  return h(
    "span.jitscope-code-bars",
    { "aria-hidden": "true", title: depth ? `in ${plural(depth, "loop")}` : null },
    ...drawn,
  );
}

function lineElement(line: CodeLine, { language }: Code, gutter: Gutter, linked: boolean, stage: Stage): HTMLElement {
  const { ref, sign, position } = { ...line, position: line.ref?.position };
  const hue = ref && hueOf(ref, stage);
  const swatched = hue == null ? h("span.jitscope-swatch", { "data-none": "", "aria-hidden": "true" }) : swatch(hue);
  const attributes = {
    class: "jitscope-code-row",
    "data-mark": line.mark || undefined,
    role: linked ? "option" : null,
    "aria-selected": linked ? "false" : null,
    "data-links": ref ? "" : null,
    "data-same": ref?.same || null,
    tabindex: ref ? -1 : null,
    title: position ? `line ${position.line}: ${position.text.trim()}` : null,
  };
  return h(
    "div",
    attributes,
    gutter.hues ? swatched : null,
    gutter.numbers ? h("span.jitscope-code-number", { "aria-hidden": "true" }, line.number ?? "") : null,
    gutter.depths ? bars(line.depth ?? 0) : null,
    gutter.signs
      ? h("span.jitscope-code-sign", { role: sign ? "img" : null, "aria-label": sign?.[1] ?? null }, sign?.[0] ?? "")
      : null,
    h("code", ...textOf(line, language)),
    ...(line.note ? [" ", h("span.jitscope-muted", line.note)] : []),
  );
}
