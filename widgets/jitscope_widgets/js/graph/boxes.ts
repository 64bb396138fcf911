// The boxes: one node each. A closed scope is a box too, and so is an open one that is too far away to look into.
import { lineNumber } from "../calls";
import { changeOf } from "./changes";
import { SMALLEST_TEXT, type Scene } from "./draw";
import type { Rect } from "./layout";
import { isBold, lookOf, STRIPE, type Look } from "./looks";
import { fitText, meter, type Pen, type Style, type TextStyle } from "./pen";

const LARGEST_SCALE = 1.6; // letters grow with the picture only so far

export function outline(
  { layout, marks, palette }: Scene,
  i: number,
  normal: string,
): { stroke: string; width: number } {
  const { colours } = palette;
  const { mark } = layout.model.node(i);
  if (mark === "stop") return { stroke: colours.error, width: 2.5 };
  if (mark === "path") return { stroke: colours.accent, width: 2 };
  if (marks.selected === i) return { stroke: colours.accent, width: 2.5 };
  if (marks.hits.has(i)) return { stroke: colours.hit, width: 2.5 };
  if (marks.related.has(i)) return { stroke: colours.accent, width: 2 };
  if (marks.hover === i) return { stroke: colours.fg, width: 1.5 };
  return { stroke: normal, width: 1 };
}

export function focusRing({ marks, palette }: Scene, pen: Pen, i: number, { x, y, w, h }: Rect): void {
  if (marks.focus === i) pen.box(x - 4, y - 4, w + 8, h + 8, 9, { stroke: palette.colours.focus, width: 2 });
}

/** Is everything but what was traced, and not this, drawn faintly? */
export const isFaint = ({ marks }: Scene, i: number): boolean => marks.traced !== null && !marks.traced.has(i);

/** Gives false when there was no room for the name. */
export function drawBox(scene: Scene, pen: Pen, i: number, rect: Rect, behind: string): boolean {
  const { layout, palette, marks, camera } = scene;
  const look = lookOf(layout.model, i);
  const { fill: usual, border } = fillOf(scene, look);
  const change = changeOf(layout.model.node(i));
  const plain = change ? palette.colours[change.fill] : usual;
  const faint = isFaint(scene, i);
  const marked = marks.related.has(i) || marks.selected === i;
  const fill = faint ? behind : marked ? palette.colours["accent-soft"] : plain;
  const dash = dashOf(look, camera.k);
  drawShape(scene, pen, look, rect, { fill, dash, ...outline(scene, i, faint ? palette.colours.border : border) });
  focusRing(scene, pen, i, rect);
  if (rect.h < 5) return false;
  if (!faint) drawStripe(scene, pen, i, look, rect);
  return rect.h >= SMALLEST_TEXT + 3 && drawLabel(scene, pen, i, look, rect, fill);
}

/** Folds, what differentiation made and what is gone have a dashed border. */
function dashOf({ shape, sign }: Look, k: number): number[] | undefined {
  if (shape === "fold") return [5, 4];
  return (sign.startsWith("↩") || sign.startsWith("−")) && k > 0.3 ? [6, 2] : undefined;
}

function fillOf({ palette: { colours } }: Scene, { shape }: Look): { fill: string; border: string } {
  if (shape === "small") return { fill: colours["small-node"], border: colours.border };
  if (shape === "pill" || shape === "tree") return { fill: colours.panel, border: colours["strong-border"] };
  if (shape === "library") return { fill: colours.library, border: colours["strong-border"] };
  if (shape === "fusion") return { fill: colours.hull, border: colours["hull-border"] };
  return { fill: colours.node, border: colours["strong-border"] };
}

/** How many sheets lie behind: there is more inside, or there are more of these. */
const SHEETS: Partial<Record<Look["shape"], number>> = { scope: 1, fusion: 1, fold: 1, repeat: 2, tree: 1 };

function drawShape({ camera: { k } }: Scene, pen: Pen, { shape }: Look, { x, y, w, h }: Rect, style: Style): void {
  if (shape === "library") {
    const cut = Math.min(10 * k, w / 4);
    const [right, bottom, middle] = [x + w, y + h, y + h / 2];
    pen.polygon([x + cut, y, right - cut, y, right, middle, right - cut, bottom, x + cut, bottom, x, middle], style);
    return;
  }
  const radius = shape === "pill" || shape === "tree" ? h / 2 : shape === "small" ? 4 * k : 6 * k;
  for (let sheet = SHEETS[shape] ?? 0; sheet > 0; sheet--)
    pen.box(x + 3 * sheet * k, y + 3 * sheet * k, w, h, radius, { ...style, width: 1 });
  pen.box(x, y, w, h, radius, style);
}

/** The colour of the source line; from the eighth line on with gaps in it. */
function drawStripe(
  { layout, palette, camera: { k }, lineOf, hueOf }: Scene,
  pen: Pen,
  i: number,
  look: Look,
  rect: Rect,
): void {
  const line = lineOf(layout.model.node(i));
  if (line === null) return;
  const index = hueOf(line);
  const { hues } = palette;
  const inset = hasSlantedSides(look) ? 12 * k : 4 * k;
  const [x, y, w, h] = [rect.x + inset, rect.y + 5 * k, STRIPE * 0.8 * k, rect.h - 10 * k];
  const pieces = 1 + 2 * (Math.floor(index / hues.length) % 3);
  for (let piece = 0; piece < pieces; piece += 2)
    pen.box(x, y + (h * piece) / pieces, w, h / pieces, 1.5 * k, { fill: hues[index % hues.length] });
}

const hasSlantedSides = ({ shape }: Look): boolean => shape === "library" || shape === "pill" || shape === "tree";

/** The name, the number of the line where there is room for both, and what is inside a closed scope. */
function drawLabel(scene: Scene, pen: Pen, i: number, look: Look, rect: Rect, background: string): boolean {
  const { layout, palette, lineOf } = scene;
  const { k } = scene.camera;
  const { id } = layout.model.node(i);
  const line = lineOf(layout.model.node(i));
  const size = (px: number) => Math.max(SMALLEST_TEXT, px * Math.min(k, LARGEST_SCALE));
  const text = (px: number, colour: string, more: Partial<TextStyle> = {}) => ({
    px: size(px),
    family: palette.code,
    colour,
    background,
    ...more,
  });
  const arrow = layout.model.isScope(i) ? "▸ " : "";
  const weight = isBold(look) ? 600 : 400;
  const muted = look.shape === "small" || isFaint(scene, i);
  const name = text(look.px, muted ? palette.colours.muted : palette.colours.fg, { weight });
  const small = text(11, palette.colours.muted);
  const left = rect.x + (line === null ? 10 : 13) * k + (hasSlantedSides(look) ? (line === null ? 2 : 7) * k : 0);
  let right = rect.x + rect.w - (look.shape === "library" ? 14 : look.shape === "small" ? 6 : 9) * k;
  const below = look.sub && [look.sub, layout.model.shareText(i)].filter(Boolean).join(" · ");
  const two = below !== "" && rect.h >= 2 * SMALLEST_TEXT + 8;
  const y = rect.y + rect.h * (two ? 0.33 : 0.5);
  const number = line === null ? "" : String(lineNumber(line));
  const wide = meter.width(number, small.px, palette.code) + 5 * k;
  const whole = arrow + look.sign + look.main;
  // the name goes before the number
  if (number && right - wide - left >= meter.width(whole, name.px, palette.code, weight)) {
    pen.text(number, right, y, { ...small, align: "right" }, { id, what: "line" });
    right -= wide;
  }
  const main = fitText(whole, right - left + 1, name.px, palette.code, weight);
  if (!main) return false;
  // beside nothing else, in the middle
  const free = line === null && !two && !arrow ? rect.w - meter.width(main, name.px, palette.code, weight) : 0;
  pen.text(main, Math.max(left, rect.x + free / 2), y, name, { id, what: "node" });
  const sub = two ? fitText(below, rect.x + rect.w - 9 * k - left, small.px, palette.code) : "";
  if (sub) pen.text(sub, left + (arrow ? 16 * k : 0), rect.y + rect.h * 0.7, small, { id, what: "node" });
  return true;
}
