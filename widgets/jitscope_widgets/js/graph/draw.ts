// The painter: walks the open scopes that are in view and draws them. Text is never smaller than 11 px: where there is
// no room for that, there is no text.
import type { Palette } from "../theme";
import { drawBox } from "./boxes";
import type { Camera, Stand } from "./camera";
import { drawFarLabels, drawFarScope, isFarScope, type FarLabel } from "./far";
import { drawCaption, drawFrame } from "./frames";
import type { ShownNode } from "./hulls";
import { edgeLabels } from "./labels";
import type { Layout, Rect } from "./layout";
import { drawLines, drawStubs } from "./lines";
import type { Pen } from "./pen";

export const SMALLEST_TEXT = 11;

/** What is marked, and how. */
export interface Marks {
  selected: number | null; // the node that was picked
  related: Set<number>; // nodes that belong to the selection in any pane
  hits: Set<number>; // found by the search
  focus: number | null; // where the keyboard is
  hover: number | null;
  edges: Set<number>; // document edges of the picked node, or of what was traced
  traced: Set<number> | null; // on a path, or among the users or producers; all else is drawn faintly
}

/** A place on the screen that does something else than pick the node. */
export interface Hot extends Rect {
  node: number;
  step: -1 | 1; // to the next block of a repeat
}

/** While something opens or closes: boxes on their way from old places to new ones. */
export interface Motion {
  from: Map<number, Rect>;
  origin: Rect;
  start: number; // ms
  t: number; // 0 … 1
  /** The picture moves and grows on the way, too. */
  camera?: { from: Stand; to: Stand };
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
  /** Filled while drawing. */
  hot: Hot[];
}

/** One level on its way to the screen: where its corner is in the picture, and what is behind it. */
export interface Ground {
  scope: number;
  x: number;
  y: number;
  background: string;
  /** Rows in view, with one more on either side for the lines. */
  first: number;
  last: number;
}

export class Painter {
  private readonly far: FarLabel[] = [];
  private readonly taken: Rect[] = [];

  constructor(
    private readonly scene: Scene,
    private readonly pen: Pen,
  ) {}

  draw(): void {
    this.level(this.scene.layout.model.root, 0, 0, this.scene.palette.colours.bg);
    if (!this.scene.motion) drawFarLabels(this.scene, this.pen, this.far, this.taken);
  }

  private level(scope: number, x: number, y: number, background: string): void {
    const { scene, pen } = this;
    const { layout, camera, motion } = scene;
    const placed = layout.level(scope);
    const { ordered, level } = layout.structure(scope);
    const [first, last] = this.rowsInView(placed.rowTop, placed.rowBottom, y);
    const ground = { scope, x, y, background, first, last };
    drawLines(scene, pen, ground);
    drawStubs(scene, pen, ground);
    if (camera.k >= 0.8 && !motion) edgeLabels(scene, pen, ground);
    for (let r = first; r < last; r++)
      for (const item of ordered.rows[r]!) {
        if (item >= level.children.length) continue;
        const place = { x: x + placed.x[item]!, y: y + placed.y[item]! };
        this.node(level.children[item]!, { ...place, w: placed.childW[item]!, h: placed.childH[item]! }, background);
      }
  }

  private rowsInView(top: Float64Array, bottom: Float64Array, y: number): [number, number] {
    const { camera, view } = this.scene;
    const low = -camera.y / camera.k - y;
    const high = (view.h - camera.y) / camera.k - y;
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

  private node(i: number, place: Rect, behind: string): void {
    const { layout, camera, view } = this.scene;
    const { model } = layout;
    const at = this.moved(i, place);
    const rect = {
      x: at.x * camera.k + camera.x,
      y: at.y * camera.k + camera.y,
      w: at.w * camera.k,
      h: at.h * camera.k,
    };
    if (rect.x > view.w || rect.y > view.h || rect.x + rect.w < 0 || rect.y + rect.h < 0) return;
    const open = model.isScope(i) && model.open(i);
    if (open && !isFarScope(this.scene, i, rect)) {
      this.frame(i, rect, place, behind);
      return;
    }
    const named = (open ? drawFarScope : drawBox)(this.scene, this.pen, i, rect, behind);
    if (named) this.taken.push(rect);
    else this.far.push({ node: i, rect, behind });
  }

  private frame(i: number, rect: Rect, place: Rect, behind: string): void {
    const background = drawFrame(this.scene, this.pen, i, rect, behind);
    const inset = this.scene.layout.inset(i);
    this.level(i, place.x + inset.x, place.y + inset.y, background);
    const caption = drawCaption(this.scene, this.pen, i, rect, background);
    if (caption) this.taken.push(caption);
  }

  /** Where a box is now: on its way while something opens or closes. */
  private moved(node: number, rect: Rect): Rect {
    const { motion } = this.scene;
    if (!motion) return rect;
    const from = motion.from.get(node) ?? { ...motion.origin, h: Math.min(motion.origin.h, rect.h) };
    const between = (a: number, b: number) => a + (b - a) * motion.t;
    return {
      x: between(from.x, rect.x),
      y: between(from.y, rect.y),
      w: between(from.w, rect.w),
      h: between(from.h, rect.h),
    };
  }
}
