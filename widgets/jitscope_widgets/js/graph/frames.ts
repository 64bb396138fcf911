// The frames of open scopes, and their captions.
import { SMALLEST_TEXT, type Scene } from "./draw";
import { particular } from "./differences";
import { focusRing, outline } from "./boxes";
import { grouped } from "../dom";
import type { Rect } from "./layout";
import { lookOf } from "./looks";
import { fitText, meter, type Pen, type TextStyle } from "./pen";
import { FRAME } from "./placing";

const FAR_PX = 12;

/** Gives the colour that the frame is filled with. */
export function drawFrame(scene: Scene, pen: Pen, i: number, rect: Rect, behind: string): string {
  const { layout, camera, palette } = scene;
  const { colours } = palette;
  const { kind, what } = layout.model.node(i);
  if (layout.model.isBlock(i)) return behind; // the frame of the repeat is round it already
  const fused = kind === "hull" || kind === "fusion";
  const fill = fused ? colours.hull : behind === colours.frame ? colours.bg : colours.frame;
  const border = fused ? colours["hull-border"] : colours["strong-border"];
  const dash = kind === "hull" || kind === "fold" ? [5, 4] : undefined;
  if (what === "repeat") drawSheets(scene, pen, rect, fill, border);
  pen.box(rect.x, rect.y, rect.w, rect.h, 8 * camera.k, { fill, dash, ...outline(scene, i, border) });
  focusRing(scene, pen, i, rect);
  return fill;
}

/** Edges of more sheets behind a repeat: there are more of these. */
function drawSheets({ camera: { k } }: Scene, pen: Pen, rect: Rect, fill: string, stroke: string): void {
  for (const step of [6, 3])
    pen.box(rect.x + step * k, rect.y + step * k, rect.w, rect.h, 8 * k, { fill, stroke, width: 1 });
}

/** Where a caption starts, its style, and the room it has. It stays in view while any of its frame does. */
function place({ camera, palette }: Scene, rect: Rect, background: string) {
  const { k } = camera;
  const px = Math.max(SMALLEST_TEXT, 12 * Math.min(k, 1.3));
  const left = Math.max(rect.x + 10 * k, Math.min(8, rect.x + rect.w - 60));
  const style: TextStyle = {
    px,
    family: palette.code,
    colour: palette.colours.fg,
    weight: 600,
    background,
    clear: true,
  };
  return { px, left, room: rect.x + rect.w - 10 * k - left, y: rect.y + (FRAME.header / 2) * k, style };
}

/** Gives the place that the caption takes when the frame is too far away to keep one free for it. */
export function drawCaption(scene: Scene, pen: Pen, i: number, rect: Rect, background: string): Rect | null {
  const { layout, camera, palette } = scene;
  const { model } = layout;
  const at = place(scene, rect, background);
  if (FRAME.header * camera.k < at.px + 4)
    return model.isBlock(i) ? null : drawFarCaption(scene, pen, i, rect, background);
  if (model.isBlock(i)) return drawDifferences(scene, pen, i, at);
  const look = lookOf(model, i);
  const node = model.node(i);
  const name = `▾ ${node.kind === "hull" ? "becomes " : look.sign}${look.main}`;
  const stepper = model.isRepeat(i) ? stepperWidth(scene, i, at.px) : 0;
  const room = at.room - stepper;
  const wide = (text: string) => meter.width(text, at.px, palette.code, 600);
  const words = [look.sub, model.shareText(i)].filter(Boolean);
  const candidates = words.map((_, n) => [name, ...words.slice(0, words.length - n)].join(" · "));
  const free = gaps(scene, i, rect, at.left, at.left + room);
  const [left, text] = free.flatMap(([from, to]): [number, string][] => {
    const fits = [...candidates, name].find((line) => wide(line) <= to - from);
    return fits ? [[from, fits]] : [];
  })[0] ?? [at.left, candidates.find((line) => wide(line) <= room) ?? fitText(name, room, at.px, palette.code, 600)];
  if (text) pen.text(text, left, at.y, at.style, { id: node.id, what: "caption" });
  if (stepper) drawStepper(scene, pen, i, left + wide(text) + 10, at);
  return null;
}

/** The room in the header of a frame between the lines that come in from above, from left to right. */
function gaps({ layout, camera }: Scene, i: number, rect: Rect, left: number, right: number): [number, number][] {
  const { level } = layout.structure(i);
  const placed = layout.level(i);
  const inset = layout.inset(i).x;
  const lines = level.inPorts.map(
    (_, port) => rect.x + (inset + placed.x[level.children.length + port]! + 1) * camera.k,
  );
  const ends = lines.filter((x) => x > left && x < right).sort((a, b) => a - b);
  return [left - LINE_SPACE, ...ends].map((x, n) => [x + LINE_SPACE, (ends[n] ?? right + LINE_SPACE) - LINE_SPACE]);
}

const LINE_SPACE = 6;

/** Over the upper edge of the frame, as large as the screen needs it. */
function drawFarCaption({ layout, palette }: Scene, pen: Pen, i: number, rect: Rect, background: string): Rect | null {
  const look = lookOf(layout.model, i);
  const words = [look.sign + look.main, layout.model.shareText(i)].filter(Boolean).join(" · ");
  const left = Math.max(rect.x, 2) + 4;
  const text = fitText(words, rect.x + rect.w - 8 - left, FAR_PX, palette.code, 600);
  if (!text) return null;
  const style = { px: FAR_PX, family: palette.code, colour: palette.colours.fg, weight: 600, background, clear: true };
  const y = rect.y + FAR_PX / 2 + 3;
  pen.text(text, left, y, style, { id: layout.model.node(i).id, what: "caption" });
  return { x: left, y: y - FAR_PX / 2, w: meter.width(text, FAR_PX, palette.code, 600), h: FAR_PX };
}

/** What is particular to the block of a repeat that is drawn. */
function drawDifferences({ layout, palette, camera }: Scene, pen: Pen, i: number, at: ReturnType<typeof place>): null {
  const { id } = layout.model.node(i);
  const own = particular(layout.model, i);
  if (!own.length) return null;
  const px = Math.max(SMALLEST_TEXT, 11 * Math.min(camera.k, 1.3));
  const text = fitText(`with ${own.join(", ")}`, at.room, px, palette.code);
  if (text)
    pen.text(
      text,
      at.left,
      at.y,
      { ...at.style, px, weight: 400, colour: palette.colours.muted },
      { id, what: "caption" },
    );
  return null;
}

// the stepper: ‹ 3 of 12 ›

const BUTTON = 20;

function stepperText({ layout: { model } }: Scene, i: number): string {
  return `${grouped(model.blockOf(i) + 1)} of ${grouped(model.allChildrenOf(i).length)}`;
}

function stepperWidth(scene: Scene, i: number, px: number): number {
  return meter.width(stepperText(scene, i), px, scene.palette.ui) + 2 * BUTTON + 14;
}

function drawStepper(scene: Scene, pen: Pen, i: number, x: number, at: ReturnType<typeof place>): void {
  const { layout, palette, hot } = scene;
  const { model } = layout;
  const { colours } = palette;
  const { id } = model.node(i);
  const text = stepperText(scene, i);
  const wide = meter.width(text, at.px, palette.ui);
  const [top, h] = [at.y - BUTTON / 2, BUTTON];
  const last = model.allChildrenOf(i).length - 1;
  pen.box(x, top, wide + 2 * BUTTON, h, h / 2, { fill: colours.panel, stroke: colours["strong-border"] });
  for (const [sign, step, left] of [
    ["‹", -1, x],
    ["›", 1, x + wide + BUTTON],
  ] as const) {
    const more = step < 0 ? model.blockOf(i) > 0 : model.blockOf(i) < last;
    const style = { ...at.style, px: 14, background: colours.panel, clear: false, align: "center" as const };
    const colour = more ? colours.accent : colours["strong-border"];
    if (more) pen.text(sign, left + BUTTON / 2, at.y - 1, { ...style, colour }, { id, what: "line" });
    hot.push({ x: left - 3, y: top - 3, w: BUTTON + 6, h: h + 6, node: i, step });
  }
  const style = { ...at.style, weight: 400, family: palette.ui, background: colours.panel, clear: false };
  pen.text(text, x + BUTTON, at.y, style, { id, what: "line" });
}
