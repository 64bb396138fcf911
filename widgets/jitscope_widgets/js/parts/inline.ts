// What stands in sentences and cells.
import { flowing, isQuantity } from "../breaks";
import { h } from "../dom";
import { swatch } from "../hue";
import type { Content, Inline } from "./forms";
import type { Stage } from "./view";

const each = (content: Content): Inline[] => (Array.isArray(content) ? content : [content]);

/** A content without tones; pictures have no words. */
export function words(content: Content): string {
  return each(content).map(wordsOf).join("");
}

function wordsOf(piece: Inline): string {
  if (typeof piece === "string") return piece;
  if (piece.part === "text") return piece.text;
  if (piece.part === "place") return piece.code ? `${piece.text}: ${piece.code}` : piece.text;
  return "";
}

/** What a cell is sorted by: its number, else its words. */
export function order(content: Content): number | string {
  for (const piece of each(content)) {
    if (typeof piece === "string") continue;
    if (piece.part === "text" && typeof piece.order === "number") return piece.order;
    if (piece.part === "bar") return piece.most ?? piece.least;
    if (piece.part === "stretch") return piece.start;
  }
  return words(content);
}

/** Within a grid, whose own keys lead to its rows, links are no tab stops. */
export function inline(content: Content, stage: Stage, inGrid = false): (HTMLElement | string)[] {
  return each(content).flatMap((piece) => {
    const made = elementOf(piece, stage, inGrid);
    return typeof made === "string" ? flowing(made) : made;
  });
}

const percent = (share: number): string => `${(100 * Math.min(1, Math.max(0, share))).toFixed(2)}%`;

function elementOf(piece: Inline, stage: Stage, inGrid: boolean): HTMLElement | string {
  if (typeof piece === "string") return piece;
  switch (piece.part) {
    case "text": {
      if (!piece.tone && !piece.title) return piece.text;
      const tag = piece.tone === "code" ? "code" : piece.tone === "strong" ? "strong" : "span";
      const whole = piece.tone === "strong" && isQuantity(piece.text) ? " jitscope-whole" : "";
      const toned = h(tag, { class: `jitscope-tone${whole}`, "data-tone": piece.tone, title: piece.title });
      toned.append(...flowing(piece.text));
      return toned;
    }
    case "place": {
      const go = stage.goto(piece.position);
      const code = piece.code ? [" ", h("code", piece.code)] : [];
      const title = piece.code ? null : piece.position.text.trim();
      const { links } = stage.around;
      const line = piece.hue ? links.placeOf(piece.position) : null;
      const hue = line !== null && links.hasLine(line) ? swatch(links.hue(line)) : null;
      const name = go
        ? h(
            "button.jitscope-link",
            {
              tabindex: inGrid ? -1 : null,
              onclick: (event: Event) => {
                event.stopPropagation();
                go();
              },
            },
            piece.text,
          )
        : h("span", piece.text);
      return h("span.jitscope-place", { title }, hue, name, ...code);
    }
    case "bar": {
      const rest = piece.most == null ? 0 : piece.most - piece.least;
      const style = { "--least": percent(piece.least), "--rest": percent(rest) };
      return h(
        "span.jitscope-share",
        { "data-of": piece.tone || undefined, title: piece.title, style },
        h("span"),
        rest > 0 ? h("i") : null,
      );
    }
    case "stretch": {
      const whole = piece.length || 1;
      const style = { "--from": percent(piece.start / whole), "--to": percent(1 - piece.end / whole) };
      const mark = piece.mark == null ? null : h("i", { style: { "--at": percent(piece.mark / whole) } });
      return h(
        "span.jitscope-stretch",
        { title: piece.title },
        h("span", { "data-of": piece.tone || undefined, style }),
        mark,
      );
    }
  }
}
