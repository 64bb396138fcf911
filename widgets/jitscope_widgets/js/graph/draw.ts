// The painter: walks the open scopes that are in view and draws them. Text is never smaller than 11 px: where there is
// no room for that, there is no text.
import type { Palette } from "../theme";
import type { Camera } from "./camera";
import { edgeLabels } from "./labels";
import type { Layout, Rect } from "./layout";
import type { Stroke } from "./placing";
import { lookOf, STRIPE, type Look } from "./looks";
import type { ShownNode } from "./hulls";
import { fitText, meter, type Pen, type Style } from "./pen";

export const SMALLEST_TEXT = 11;

/** What is marked, and how. */
export interface Marks {
  selected: number | null; // the node that was picked
  related: Set<number>; // nodes that belong to the selection in any pane
  hits: Set<number>; // found by the search
  focus: number | null; // where the keyboard is
  hover: number | null;
  edges: Set<number>; // document edges of the picked node
}

/** While something opens or closes: boxes on their way from old places to new ones. */
export interface Motion {
  from: Map<number, Rect>;
  origin: Rect;
  start: number; // ms
  t: number; // 0 … 1
}

export interface Scene {
  layout: Layout;
  camera: Camera;
  view: { w: number; h: number };
  palette: Palette;
  marks: Marks;
  motion: Motion | null;
  /** Line of the user's code and its colour. */
  lineOf(node: ShownNode): number | null;
  hueOf(line: number): number;
}

export function edgeWidth(bytes: number): number {
  return 1 + Math.min(7, Math.max(0, Math.log10(Math.max(bytes, 1)) - 1)) * 0.45;
}

export class Painter {
  constructor(
    private readonly scene: Scene,
    private readonly pen: Pen,
  ) {}

  draw(): void {
    this.level(this.scene.layout.model.root, 0, 0, this.scene.palette.colours.bg);
  }

  private toScreen(stroke: Stroke, ox: number, oy: number): Stroke {
    const { k, x, y } = this.scene.camera;
    return {
      x1: (stroke.x1 + ox) * k + x,
      y1: (stroke.y1 + oy) * k + y,
      bottom: (stroke.bottom + oy) * k + y,
      x2: (stroke.x2 + ox) * k + x,
      top: (stroke.top + oy) * k + y,
      y2: (stroke.y2 + oy) * k + y,
    };
  }

  /** Rows of a level that can be seen, with one more on either side for the lines. */
  private rowsInView(top: Float64Array, bottom: Float64Array, oy: number): [number, number] {
    const { camera, view } = this.scene;
    const low = -camera.y / camera.k - oy;
    const high = (view.h - camera.y) / camera.k - oy;
    let [a, b] = [0, top.length];
    while (a < b) {
      const middle = (a + b) >> 1;
      if (bottom[middle]! < low) a = middle + 1;
      else b = middle;
    }
    let last = a;
    while (last < top.length && top[last]! <= high) last++;
    return [Math.max(0, a - 1), Math.min(top.length, last + 1)];
  }

  private level(scope: number, ox: number, oy: number, background: string): void {
    const { layout } = this.scene;
    const placed = layout.level(scope);
    const { ordered, level, byRow } = layout.structure(scope);
    const [first, last] = this.rowsInView(placed.rowTop, placed.rowBottom, oy);
    const segments: number[] = [];
    for (let r = first; r < last; r++) for (const i of byRow[r]!) segments.push(i);
    this.strokes(scope, segments, ox, oy);
    this.stubs(scope, ox, oy);
    if (this.scene.camera.k >= 0.8 && !this.scene.motion)
      edgeLabels(this.scene, this.pen, scope, first, last, ox, oy, background);
    for (let r = first; r < last; r++)
      for (const item of ordered.rows[r]!) {
        if (item >= level.children.length) continue;
        this.node(level.children[item]!, {
          x: ox + placed.x[item]!,
          y: oy + placed.y[item]!,
          w: placed.childW[item]!,
          h: placed.childH[item]!,
        });
      }
  }

  private strokes(scope: number, segments: number[], ox: number, oy: number): void {
    const { layout, camera, view, palette, marks, motion } = this.scene;
    const placed = layout.level(scope);
    const { chains, level } = layout.structure(scope);
    const plain = new Map<number, Stroke[]>();
    const marked = new Map<number, Stroke[]>();
    for (const i of segments) {
      const stroke = this.toScreen(placed.strokes[i]!, ox, oy);
      const right = Math.max(stroke.x1, stroke.x2);
      if (right < 0 || Math.min(stroke.x1, stroke.x2) > view.w || stroke.y2 < 0 || stroke.y1 > view.h) continue;
      const segment = chains.segments[i]!;
      const line = chains.lines[segment.line]!;
      const width = Math.max(0.5, edgeWidth(line.bytes) * Math.min(1, camera.k * 1.2));
      // a piece of a line belongs to all ends that it leads to
      const ends =
        segment.end >= 0
          ? [line.ends[segment.end]!]
          : line.ends.filter((end) => chains.rank[end.to]! > chains.rank[segment.down]!);
      const isMarked =
        marks.edges.size > 0 && ends.some((end) => level.edges[end.edge]!.edges.some((e) => marks.edges.has(e)));
      const list = isMarked ? marked : plain;
      const key = Math.round(width * 4) / 4 + (line.turned ? 100 : 0);
      const known = list.get(key);
      if (known) known.push(stroke);
      else list.set(key, [stroke]);
    }
    const alpha = motion ? motion.t : 1;
    const draw = (lists: Map<number, Stroke[]>, stroke: string, more: number) => {
      for (const [key, list] of lists)
        this.pen.strokes(list, { stroke, width: (key % 100) + more, dash: key >= 100 ? [4, 3] : undefined, alpha });
    };
    draw(plain, palette.colours.edge, 0);
    draw(marked, palette.colours.accent, 0.75);
  }

  /** Ends of lines that are too long to be drawn. */
  private stubs(scope: number, ox: number, oy: number): void {
    const { layout, camera, palette, view } = this.scene;
    for (const stub of layout.level(scope).stubs)
      for (const [px, py, way] of [
        [stub.x1, stub.y1, 1],
        [stub.x2, stub.y2, -1],
      ] as const) {
        const x = (px + ox) * camera.k + camera.x;
        const y = (py + oy) * camera.k + camera.y;
        if (x < 0 || x > view.w || y < 0 || y > view.h || camera.k < 0.3) continue;
        const far = y + way * 10 * camera.k;
        this.pen.strokes([{ x1: x, y1: y, bottom: y, x2: x, top: far, y2: far }], {
          stroke: palette.colours.edge,
          dash: [2, 2],
        });
        this.pen.box(x - 2, far - 2, 4, 4, 2, { fill: palette.colours.edge });
      }
  }

  private moved(node: number, rect: Rect): Rect {
    const { motion } = this.scene;
    if (!motion) return rect;
    const from = motion.from.get(node) ?? { ...motion.origin, h: Math.min(motion.origin.h, rect.h) };
    const t = motion.t;
    const between = (a: number, b: number) => a + (b - a) * t;
    return {
      x: between(from.x, rect.x),
      y: between(from.y, rect.y),
      w: between(from.w, rect.w),
      h: between(from.h, rect.h),
    };
  }

  private node(i: number, place: Rect): void {
    const { layout, camera, view } = this.scene;
    const at = this.moved(i, place);
    const rect = {
      x: at.x * camera.k + camera.x,
      y: at.y * camera.k + camera.y,
      w: at.w * camera.k,
      h: at.h * camera.k,
    };
    if (rect.x > view.w || rect.y > view.h || rect.x + rect.w < 0 || rect.y + rect.h < 0) return;
    const { model } = layout;
    if (model.isScope(i) && model.open(i)) this.frame(i, rect, place);
    else this.leaf(i, rect);
  }

  private outline(i: number, normal: string): { stroke: string; width: number } {
    const { marks, palette } = this.scene;
    if (marks.selected === i) return { stroke: palette.colours.accent, width: 2.5 };
    if (marks.hits.has(i)) return { stroke: palette.colours.hit, width: 2.5 };
    if (marks.related.has(i)) return { stroke: palette.colours.accent, width: 2 };
    if (marks.hover === i) return { stroke: palette.colours.fg, width: 1.5 };
    return { stroke: normal, width: 1 };
  }

  private focusRing(i: number, rect: Rect): void {
    if (this.scene.marks.focus !== i) return;
    this.pen.box(rect.x - 4, rect.y - 4, rect.w + 8, rect.h + 8, 9, {
      stroke: this.scene.palette.colours.focus,
      width: 2,
    });
  }

  private frame(i: number, rect: Rect, place: Rect): void {
    const { layout, camera, palette } = this.scene;
    const node = layout.model.node(i);
    const hull = node.kind === "hull" || node.kind === "fusion";
    const fill = hull ? palette.colours.hull : layout.model.depth[i]! % 2 ? palette.colours.frame : palette.colours.bg;
    const border = hull ? palette.colours["hull-border"] : palette.colours["strong-border"];
    this.pen.box(rect.x, rect.y, rect.w, rect.h, 8 * camera.k, {
      fill,
      ...this.outline(i, border),
      dash: node.kind === "hull" ? [5, 4] : undefined,
    });
    this.focusRing(i, rect);
    if (rect.h < 6) return; // too far away to see what is inside
    const inset = layout.inset(i);
    this.level(i, place.x + inset.x, place.y + inset.y, fill);
    this.caption(i, rect, fill);
  }

  private caption(i: number, rect: Rect, background: string): void {
    const { camera, palette, layout } = this.scene;
    const px = Math.max(SMALLEST_TEXT, 12 * Math.min(camera.k, 1.3));
    if (30 * camera.k < px + 4) return;
    const look = lookOf(layout.model, i);
    const hull = layout.model.node(i).kind === "hull";
    const text = hull ? `▾ becomes ${look.main} · ${look.sub}` : `▾ ${look.main} · ${look.sub}`;
    // the caption stays in view while any of its frame does
    const left = Math.max(rect.x + 10 * camera.k, Math.min(8, rect.x + rect.w - 60));
    const room = rect.x + rect.w - 10 * camera.k - left;
    const shown =
      meter.width(text, px, palette.code, 600) <= room ? text : fitText(`▾ ${look.main}`, room, px, palette.code, 600);
    if (!shown) return;
    this.pen.text(
      shown,
      left,
      rect.y + 15 * camera.k,
      { px, family: palette.code, colour: palette.colours.fg, weight: 600, background, clear: true },
      { id: layout.model.node(i).id, what: "caption" },
    );
  }

  private fillOf(look: Look): { fill: string; border: string } {
    const { colours } = this.scene.palette;
    if (look.shape === "small") return { fill: colours["small-node"], border: colours.border };
    if (look.shape === "pill") return { fill: colours.panel, border: colours["strong-border"] };
    if (look.shape === "library") return { fill: colours.library, border: colours["strong-border"] };
    if (look.shape === "fusion") return { fill: colours.hull, border: colours["hull-border"] };
    return { fill: colours.node, border: colours["strong-border"] };
  }

  private leaf(i: number, rect: Rect): void {
    const { layout, camera, palette, marks } = this.scene;
    const look = lookOf(layout.model, i);
    let { fill, border } = this.fillOf(look);
    if (marks.related.has(i) || marks.selected === i) fill = palette.colours["accent-soft"];
    const style: Style = { fill, ...this.outline(i, border) };
    this.shape(look, rect, style);
    this.focusRing(i, rect);
    if (rect.h < 5) return;
    this.stripe(i, look, rect);
    if (rect.h >= SMALLEST_TEXT + 3) this.label(i, look, rect, fill);
    void camera;
  }

  private shape(look: Look, { x, y, w, h }: Rect, style: Style): void {
    const { k } = this.scene.camera;
    if (look.shape === "library") {
      const cut = Math.min(10 * k, w / 4);
      this.pen.polygon(
        [x + cut, y, x + w - cut, y, x + w, y + h / 2, x + w - cut, y + h, x + cut, y + h, x, y + h / 2],
        style,
      );
      return;
    }
    if (look.shape === "scope" || look.shape === "fusion")
      // a second sheet behind: there is more inside
      this.pen.box(x + 3 * k, y + 3 * k, w, h, 6 * k, { ...style, width: 1 });
    this.pen.box(x, y, w, h, look.shape === "pill" ? h / 2 : look.shape === "small" ? 4 * k : 6 * k, style);
  }

  /** The colour of the source line; from the eighth line on with gaps in it. */
  private stripe(i: number, look: Look, rect: Rect): void {
    const { scene } = this;
    const line = scene.lineOf(scene.layout.model.node(i));
    if (line === null) return;
    const index = scene.hueOf(line);
    const { hues } = scene.palette;
    const fill = hues[index % hues.length]!;
    const { k } = scene.camera;
    const inset = look.shape === "library" || look.shape === "pill" ? 12 * k : 4 * k;
    const [x, y, w, h] = [rect.x + inset, rect.y + 5 * k, STRIPE * 0.8 * k, rect.h - 10 * k];
    const pieces = 1 + 2 * (Math.floor(index / hues.length) % 3);
    for (let piece = 0; piece < pieces; piece += 2)
      this.pen.box(x, y + (h * piece) / pieces, w, h / pieces, 1.5 * k, { fill });
  }

  private label(i: number, look: Look, rect: Rect, background: string): void {
    const { layout, camera, palette, lineOf } = this.scene;
    const node = layout.model.node(i);
    const { k } = camera;
    const line = lineOf(node);
    const scale = Math.min(k, 1.6);
    const px = Math.max(SMALLEST_TEXT, look.px * scale);
    const arrow = layout.model.isScope(i) ? "▸ " : "";
    const family = palette.code;
    const weight = look.shape === "scope" || look.shape === "fusion" ? 600 : 400;
    const left =
      rect.x +
      (look.shape === "library" || look.shape === "pill" ? (line === null ? 12 : 20) : line === null ? 10 : 13) * k;
    let right = rect.x + rect.w - (look.shape === "library" ? 14 : look.shape === "small" ? 6 : 9) * k;
    const two = look.sub !== "" && rect.h >= 2 * SMALLEST_TEXT + 8;
    const y = rect.y + rect.h * (two ? 0.33 : 0.5);
    if (line !== null) {
      const text = String(line);
      const linePx = Math.max(SMALLEST_TEXT, 11 * scale);
      const wide = meter.width(text, linePx, family);
      // the name goes before the number
      if (right - wide - 5 * k - left >= meter.width(arrow + look.main, px, family, weight)) {
        this.pen.text(
          text,
          right,
          y,
          { px: linePx, family, colour: palette.colours.muted, align: "right", background },
          { id: node.id, what: "line" },
        );
        right -= wide + 6 * k;
      }
    }
    const main = fitText(arrow + look.main, right - left + 1, px, family, weight);
    if (!main) return;
    const colour = look.shape === "small" ? palette.colours.muted : palette.colours.fg;
    this.pen.text(main, left, y, { px, family, colour, weight, background }, { id: node.id, what: "node" });
    if (!two) return;
    const sub = fitText(look.sub, rect.x + rect.w - 9 * k - left, Math.max(SMALLEST_TEXT, 11 * scale), family);
    if (sub)
      this.pen.text(
        sub,
        left + (arrow ? 16 * k : 0),
        rect.y + rect.h * 0.7,
        { px: Math.max(SMALLEST_TEXT, 11 * scale), family, colour: palette.colours.muted, background },
        { id: node.id, what: "node" },
      );
  }
}
