// Far away: names stay as large as the screen needs them. A scope whose inside is too small to be read is one box with its
// name and its share of the time; of boxes too small for their names, the most important are named beside them.
import { isFaint, outline } from "./boxes";
import { SMALLEST_TEXT, type Scene } from "./draw";
import type { Rect } from "./layout";
import { insideText, lookOf, type Look } from "./looks";
import { fitText, meter, type Pen, type TextStyle } from "./pen";

/** Below this zoom the letters inside a scope cannot be read. */
const FAR = 0.42;
const PX = 12;
const MOST_LABELS = 150;

/** Is an open scope so small on the screen that it is better seen as one? */
export function isFarScope({ camera, layout }: Scene, i: number, rect: Rect): boolean {
  if (layout.model.isBlock(i)) return false;
  if (camera.k >= FAR) return false;
  return rect.h < 70 || (rect.w < 190 && rect.h < 420);
}

/** Gives false when there was no room for the name. */
export function drawFarScope(scene: Scene, pen: Pen, i: number, rect: Rect, behind: string): boolean {
  const { layout, palette } = scene;
  const { model } = layout;
  const { colours } = palette;
  const look = lookOf(model, i);
  const faint = isFaint(scene, i);
  const fused = look.shape === "fusion";
  const fill = faint ? behind : fused ? colours.hull : colours.node;
  const border = faint ? colours.border : fused ? colours["hull-border"] : colours["strong-border"];
  pen.box(rect.x, rect.y, rect.w, rect.h, 4, { fill, ...outline(scene, i, border) });
  const words = [look.sign + look.main, insideText(model, i), model.shareText(i)].filter(Boolean);
  if (meter.width(words[0]!, PX, palette.code, 600) > rect.w - 6 || rect.h < PX + 6) return false;
  const most = Math.floor((rect.h - 4) / (PX + 3));
  const lines = words.slice(0, most);
  const { id } = model.node(i);
  const top = rect.y + rect.h / 2 - ((lines.length - 1) * (PX + 3)) / 2;
  lines.forEach((line, n) => {
    const weight = n ? 400 : 600;
    const px = n ? SMALLEST_TEXT : PX;
    const text = fitText(line, rect.w - 8, px, palette.code, weight);
    const colour = n || faint ? colours.muted : colours.fg;
    const style = { px, family: palette.code, colour, weight, align: "center" as const, background: fill };
    if (text) pen.text(text, rect.x + rect.w / 2, top + n * (PX + 3), style, { id, what: "node" });
  });
  return true;
}

export interface FarLabel {
  node: number;
  rect: Rect;
  behind: string;
}

/** How much a name is worth: the dearest operations first, what only moves values last. */
function worth({ layout: { model }, marks }: Scene, { node }: FarLabel, { shape }: Look): number {
  if (marks.selected === node || marks.focus === node || marks.hover === node) return 1e9;
  const kind = { repeat: 6, scope: 5, tree: 4, fold: 5, fusion: 4, library: 4, box: 3, pill: 2, small: 0 }[shape];
  return kind * 1000 + Math.min(900, model.inside[node]!) + Math.log2(1 + model.node(node).bytes);
}

export function drawFarLabels(scene: Scene, pen: Pen, labels: FarLabel[], taken: Rect[]): void {
  const { layout, palette, view } = scene;
  const { colours } = palette;
  const found = labels
    .filter(({ node }) => !isFaint(scene, node))
    .map((label) => ({ ...label, look: lookOf(layout.model, label.node) }))
    .filter(({ rect }) => rect.y > 0 && rect.y + rect.h < view.h)
    .map((label) => ({ ...label, worth: worth(scene, label, label.look) }))
    .sort((a, b) => b.worth - a.worth || a.rect.y - b.rect.y);
  const inTheWay = new Places(taken);
  for (const { rect } of labels) inTheWay.add(rect);
  let written = 0;
  for (const { node, rect, behind, look } of found) {
    if (written >= MOST_LABELS) return;
    const text = [look.sign + look.main, layout.model.shareText(node)].filter(Boolean).join(" · ");
    const w = meter.width(text, SMALLEST_TEXT, palette.code);
    const y = rect.y + rect.h / 2 - SMALLEST_TEXT / 2;
    const beside = { x: rect.x + rect.w + 5, y, w, h: SMALLEST_TEXT };
    const other = { ...beside, x: rect.x - 5 - w };
    const free = [beside, other].find((box) => box.x > 2 && box.x + w < view.w - 2 && inTheWay.isFree(box));
    if (!free) continue;
    inTheWay.add(free);
    written++;
    const style: TextStyle = {
      px: SMALLEST_TEXT,
      family: palette.code,
      colour: colours.fg,
      background: behind,
      clear: true,
    };
    pen.text(text, free.x, y + SMALLEST_TEXT / 2, style, { id: layout.model.node(node).id, what: "far" });
  }
}

/** Which part of the picture has something in it already: boxes in rows of a grid. */
class Places {
  private readonly rows = new Map<number, Rect[]>();

  constructor(taken: Rect[]) {
    for (const rect of taken) this.add(rect);
  }

  private *rowsOf({ y, h }: Rect): Generator<number> {
    for (let row = Math.floor((y - 2) / 16); row <= Math.floor((y + h + 2) / 16); row++) yield row;
  }

  add(rect: Rect): void {
    for (const row of this.rowsOf(rect)) {
      const known = this.rows.get(row);
      if (known) known.push(rect);
      else this.rows.set(row, [rect]);
    }
  }

  isFree(box: Rect): boolean {
    for (const row of this.rowsOf(box))
      for (const other of this.rows.get(row) ?? [])
        if (
          box.x - 3 < other.x + other.w &&
          box.x + box.w + 3 > other.x &&
          box.y - 2 < other.y + other.h &&
          box.y + box.h + 2 > other.y
        )
          return false;
    return true;
  }
}
