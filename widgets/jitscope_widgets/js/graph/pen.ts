// What the painter draws with: a canvas, an SVG text for export, or a recorder that notes every text for checks.
import type { Stroke } from "./placing";

export interface Style {
  fill?: string;
  stroke?: string;
  width?: number;
  dash?: number[];
  alpha?: number;
}

export interface TextStyle {
  px: number;
  family: string;
  colour: string;
  weight?: number;
  align?: "left" | "center" | "right";
  /** What is behind the text; checks compare the contrast with it. */
  background: string;
  /** Paint that background under the text, so that lines do not run through it. */
  clear?: boolean;
  alpha?: number;
}

interface TextMeaning {
  id: string;
  what: "node" | "edge" | "caption" | "line" | "far";
}

export interface Pen {
  box(x: number, y: number, w: number, h: number, radius: number, style: Style): void;
  polygon(points: number[], style: Style): void;
  strokes(list: Stroke[], style: Style): void;
  /** `y` is the middle of the text. */
  text(text: string, x: number, y: number, style: TextStyle, meaning: TextMeaning): void;
}

interface Meter {
  width(text: string, px: number, family: string, weight?: number): number;
}

let context: CanvasRenderingContext2D | null = null;
const widths = new Map<string, number>();

/** Text widths, remembered: layouts ask for the same few words again and again. */
export const meter: Meter = {
  width(text, px, family, weight = 400) {
    const key = `${weight} ${px} ${family}\n${text}`;
    let width = widths.get(key);
    if (width === undefined) {
      context ??= document.createElement("canvas").getContext("2d");
      if (!context) return text.length * px * 0.62;
      context.font = `${weight} ${px}px ${family}`;
      width = context.measureText(text).width;
      if (widths.size > 20000) widths.clear();
      widths.set(key, width);
    }
    return width;
  },
};

/** The text shortened to fit, or "" when not even two letters do. */
export function fitText(text: string, room: number, px: number, family: string, weight = 400): string {
  if (meter.width(text, px, family, weight) <= room) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (meter.width(`${text.slice(0, middle)}…`, px, family, weight) <= room) low = middle;
    else high = middle - 1;
  }
  return low >= 2 ? `${text.slice(0, low)}…` : "";
}

export class CanvasPen implements Pen {
  constructor(private readonly c: CanvasRenderingContext2D) {}

  private paint(style: Style): void {
    const { c } = this;
    c.globalAlpha = style.alpha ?? 1;
    if (style.fill) {
      c.fillStyle = style.fill;
      c.fill();
    }
    if (style.stroke) {
      c.strokeStyle = style.stroke;
      c.lineWidth = style.width ?? 1;
      c.setLineDash(style.dash ?? []);
      c.stroke();
    }
    c.globalAlpha = 1;
  }

  box(x: number, y: number, w: number, h: number, radius: number, style: Style): void {
    this.c.beginPath();
    if (radius > 0.5) this.c.roundRect(x, y, w, h, Math.min(radius, h / 2, w / 2));
    else this.c.rect(x, y, w, h);
    this.paint(style);
  }

  polygon(points: number[], style: Style): void {
    this.c.beginPath();
    for (let i = 0; i < points.length; i += 2) this.c.lineTo(points[i]!, points[i + 1]!);
    this.c.closePath();
    this.paint(style);
  }

  strokes(list: Stroke[], style: Style): void {
    const { c } = this;
    c.beginPath();
    for (const s of list) {
      const middle = (s.bottom + s.top) / 2;
      c.moveTo(s.x1, s.y1);
      c.lineTo(s.x1, s.bottom);
      c.bezierCurveTo(s.x1, middle, s.x2, middle, s.x2, s.top);
      c.lineTo(s.x2, s.y2);
    }
    this.paint(style);
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    const { c } = this;
    c.globalAlpha = style.alpha ?? 1;
    c.font = `${style.weight ?? 400} ${style.px}px ${style.family}`;
    c.textAlign = style.align ?? "left";
    c.textBaseline = "middle";
    if (style.clear) {
      const box = textBox(text, x, y, style);
      c.fillStyle = style.background;
      c.fillRect(box.x - 2, box.y - 1, box.w + 4, box.h + 2);
    }
    c.fillStyle = style.colour;
    c.fillText(text, x, y + 0.5);
    c.globalAlpha = 1;
  }
}

function textBox(text: string, x: number, y: number, style: TextStyle): { x: number; y: number; w: number; h: number } {
  const w = meter.width(text, style.px, style.family, style.weight ?? 400);
  const left = style.align === "center" ? x - w / 2 : style.align === "right" ? x - w : x;
  return { x: left, y: y - style.px / 2, w, h: style.px };
}

interface DrawnText extends TextMeaning {
  text: string;
  x: number;
  y: number;
  w: number;
  h: number;
  fontPx: number;
  colour: string;
  background: string;
}

/** Draws nothing and remembers all text. */
export class RecordingPen implements Pen {
  readonly texts: DrawnText[] = [];
  box(): void {}
  polygon(): void {}
  strokes(): void {}
  text(text: string, x: number, y: number, style: TextStyle, meaning: TextMeaning): void {
    const box = textBox(text, x, y, style);
    this.texts.push({ ...meaning, text, ...box, fontPx: style.px, colour: style.colour, background: style.background });
  }
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string) => text.replace(/[&<>"]/g, (c) => ESCAPES[c]!);
const number = (value: number) => String(Math.round(value * 100) / 100);

/** Writes the picture as SVG. */
export class SvgPen implements Pen {
  private readonly parts: string[] = [];

  private style({ fill, stroke, width, dash, alpha }: Style): string {
    let text = ` fill="${fill ?? "none"}"`;
    if (stroke) text += ` stroke="${stroke}" stroke-width="${number(width ?? 1)}"`;
    if (stroke && dash?.length) text += ` stroke-dasharray="${dash.join(" ")}"`;
    if (alpha !== undefined && alpha < 1) text += ` opacity="${number(alpha)}"`;
    return text;
  }

  box(x: number, y: number, w: number, h: number, radius: number, style: Style): void {
    this.parts.push(
      `<rect x="${number(x)}" y="${number(y)}" width="${number(w)}" height="${number(h)}" rx="${number(Math.min(radius, h / 2, w / 2))}"${this.style(style)}/>`,
    );
  }

  polygon(points: number[], style: Style): void {
    this.parts.push(`<polygon points="${points.map(number).join(" ")}"${this.style(style)}/>`);
  }

  strokes(list: Stroke[], style: Style): void {
    const d = list.map((s) => {
      const m = number((s.bottom + s.top) / 2);
      return `M${number(s.x1)} ${number(s.y1)}V${number(s.bottom)}C${number(s.x1)} ${m} ${number(s.x2)} ${m} ${number(s.x2)} ${number(s.top)}V${number(s.y2)}`;
    });
    if (d.length) this.parts.push(`<path d="${d.join("")}"${this.style(style)}/>`);
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    if (style.clear) {
      const box = textBox(text, x, y, style);
      this.box(box.x - 2, box.y - 1, box.w + 4, box.h + 2, 0, { fill: style.background });
    }
    const anchor = { left: "start", center: "middle", right: "end" }[style.align ?? "left"];
    this.parts.push(
      `<text x="${number(x)}" y="${number(y)}" dy=".35em" text-anchor="${anchor}" font-family="${escaped(style.family)}" font-size="${number(style.px)}" font-weight="${style.weight ?? 400}" fill="${style.colour}">${escaped(text)}</text>`,
    );
  }

  finish(width: number, height: number, background: string, title: string): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${number(width)} ${number(height)}" width="${number(width)}" height="${number(height)}" role="img">` +
      `<title>${escaped(title)}</title><rect width="100%" height="100%" fill="${background}"/>${this.parts.join("")}</svg>`
    );
  }
}
