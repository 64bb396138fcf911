// The boxes: one node each, or the frame of an open scope.
import { SMALLEST_TEXT, type Scene } from "./draw";
import type { Rect } from "./layout";
import { lookOf, STRIPE, type Look } from "./looks";
import { fitText, meter, type Pen, type Style, type TextStyle } from "./pen";
import { FRAME } from "./placing";

const LARGEST_SCALE = 1.6; // letters grow with the picture only so far

function outline({ marks, palette }: Scene, i: number, normal: string): { stroke: string; width: number } {
  const { colours } = palette;
  if (marks.selected === i) return { stroke: colours.accent, width: 2.5 };
  if (marks.hits.has(i)) return { stroke: colours.hit, width: 2.5 };
  if (marks.related.has(i)) return { stroke: colours.accent, width: 2 };
  if (marks.hover === i) return { stroke: colours.fg, width: 1.5 };
  return { stroke: normal, width: 1 };
}

function focusRing({ marks, palette }: Scene, pen: Pen, i: number, { x, y, w, h }: Rect): void {
  if (marks.focus === i) pen.box(x - 4, y - 4, w + 8, h + 8, 9, { stroke: palette.colours.focus, width: 2 });
}

// open scopes

/** Gives the colour that the frame is filled with. */
export function drawFrame(scene: Scene, pen: Pen, i: number, rect: Rect): string {
  const { layout, camera, palette } = scene;
  const { colours } = palette;
  const { kind } = layout.model.node(i);
  const fused = kind === "hull" || kind === "fusion";
  const fill = fused ? colours.hull : layout.model.depth[i]! % 2 ? colours.frame : colours.bg;
  const border = fused ? colours["hull-border"] : colours["strong-border"];
  const dash = kind === "hull" ? [5, 4] : undefined;
  pen.box(rect.x, rect.y, rect.w, rect.h, 8 * camera.k, { fill, dash, ...outline(scene, i, border) });
  focusRing(scene, pen, i, rect);
  return fill;
}

/** The caption of an open scope; it stays in view while any of its frame does. */
export function drawCaption(
  { layout, camera, palette }: Scene,
  pen: Pen,
  i: number,
  rect: Rect,
  background: string,
): void {
  const { k } = camera;
  const px = Math.max(SMALLEST_TEXT, 12 * Math.min(k, 1.3));
  if (FRAME.header * k < px + 4) return;
  const look = lookOf(layout.model, i);
  const node = layout.model.node(i);
  const left = Math.max(rect.x + 10 * k, Math.min(8, rect.x + rect.w - 60));
  const room = rect.x + rect.w - 10 * k - left;
  const name = `▾ ${node.kind === "hull" ? "becomes " : ""}${look.main}`;
  const whole = `${name} · ${look.sub}`;
  const fits = meter.width(whole, px, palette.code, 600) <= room;
  const text = fits ? whole : fitText(name, room, px, palette.code, 600);
  if (!text) return;
  const style = { px, family: palette.code, colour: palette.colours.fg, weight: 600, background, clear: true };
  pen.text(text, left, rect.y + (FRAME.header / 2) * k, style, { id: node.id, what: "caption" });
}

// everything else

export function drawBox(scene: Scene, pen: Pen, i: number, rect: Rect): void {
  const { layout, palette, marks } = scene;
  const look = lookOf(layout.model, i);
  const { fill: plain, border } = fillOf(scene, look);
  const fill = marks.related.has(i) || marks.selected === i ? palette.colours["accent-soft"] : plain;
  drawShape(scene, pen, look, rect, { fill, ...outline(scene, i, border) });
  focusRing(scene, pen, i, rect);
  if (rect.h < 5) return;
  drawStripe(scene, pen, i, look, rect);
  if (rect.h >= SMALLEST_TEXT + 3) drawLabel(scene, pen, i, look, rect, fill);
}

function fillOf({ palette: { colours } }: Scene, { shape }: Look): { fill: string; border: string } {
  if (shape === "small") return { fill: colours["small-node"], border: colours.border };
  if (shape === "pill") return { fill: colours.panel, border: colours["strong-border"] };
  if (shape === "library") return { fill: colours.library, border: colours["strong-border"] };
  if (shape === "fusion") return { fill: colours.hull, border: colours["hull-border"] };
  return { fill: colours.node, border: colours["strong-border"] };
}

function drawShape({ camera: { k } }: Scene, pen: Pen, { shape }: Look, { x, y, w, h }: Rect, style: Style): void {
  if (shape === "library") {
    const cut = Math.min(10 * k, w / 4);
    const [right, bottom, middle] = [x + w, y + h, y + h / 2];
    pen.polygon([x + cut, y, right - cut, y, right, middle, right - cut, bottom, x + cut, bottom, x, middle], style);
    return;
  }
  // a second sheet behind: there is more inside
  if (shape === "scope" || shape === "fusion") pen.box(x + 3 * k, y + 3 * k, w, h, 6 * k, { ...style, width: 1 });
  pen.box(x, y, w, h, shape === "pill" ? h / 2 : shape === "small" ? 4 * k : 6 * k, style);
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

const hasSlantedSides = ({ shape }: Look): boolean => shape === "library" || shape === "pill";

/** The name, the number of the line where there is room for both, and what is inside a closed scope. */
function drawLabel(scene: Scene, pen: Pen, i: number, look: Look, rect: Rect, background: string): void {
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
  const weight = look.shape === "scope" || look.shape === "fusion" ? 600 : 400;
  const name = text(look.px, look.shape === "small" ? palette.colours.muted : palette.colours.fg, { weight });
  const small = text(11, palette.colours.muted);
  const left = rect.x + (line === null ? 10 : 13) * k + (hasSlantedSides(look) ? (line === null ? 2 : 7) * k : 0);
  let right = rect.x + rect.w - (look.shape === "library" ? 14 : look.shape === "small" ? 6 : 9) * k;
  const two = look.sub !== "" && rect.h >= 2 * SMALLEST_TEXT + 8;
  const y = rect.y + rect.h * (two ? 0.33 : 0.5);
  const number = line === null ? "" : String(line);
  const wide = meter.width(number, small.px, palette.code) + 5 * k;
  // the name goes before the number
  if (number && right - wide - left >= meter.width(arrow + look.main, name.px, palette.code, weight)) {
    pen.text(number, right, y, { ...small, align: "right" }, { id, what: "line" });
    right -= wide;
  }
  const main = fitText(arrow + look.main, right - left + 1, name.px, palette.code, weight);
  if (!main) return;
  pen.text(main, left, y, name, { id, what: "node" });
  const sub = two ? fitText(look.sub, rect.x + rect.w - 9 * k - left, small.px, palette.code) : "";
  if (sub) pen.text(sub, left + (arrow ? 16 * k : 0), rect.y + rect.h * 0.7, small, { id, what: "node" });
}
