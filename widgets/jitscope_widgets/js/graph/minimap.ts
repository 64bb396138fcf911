// The whole picture in a strip beside the graph, with a frame round what is seen of it. A press there moves the picture.
import { fits } from "./camera";
import { h, type Disposables } from "../dom";
import type { GraphView } from "./view";

const WIDEST = 110;
const MARGIN = 8;
const NARROWEST = 640; // of the room for both; in less the graph has all
const LOWEST = 160;
const MOST_BOXES = 4000;

type Size = { w: number; h: number };

export class Minimap {
  readonly element = h("canvas.jitscope-minimap", { "aria-hidden": "true", hidden: true });
  private drawn: { canvas: HTMLCanvasElement; version: number; dark: string } | null = null;
  private scale = 1;
  private pressed = false;

  constructor(
    private readonly graph: GraphView,
    all: Disposables,
  ) {
    all.listen(this.element, "pointerdown", (event: PointerEvent) => {
      this.pressed = true;
      this.element.setPointerCapture(event.pointerId);
      this.go(event);
      event.preventDefault();
    });
    all.listen(this.element, "pointermove", (event: PointerEvent) => this.pressed && this.go(event));
    for (const end of ["pointerup", "pointercancel"]) all.listen(this.element, end, () => (this.pressed = false));
  }

  private go(event: PointerEvent): void {
    const { camera, view } = this.graph;
    const box = this.element.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) / this.scale, (event.clientY - box.top) / this.scale];
    this.graph.pan(view.w / 2 - (x * camera.k + camera.x), view.h / 2 - (y * camera.k + camera.y));
  }

  private scaleOf(size: Size, room: Size): number {
    return Math.min(Math.min(WIDEST, room.w * 0.2) / size.w, (room.h - 2 * MARGIN) / size.h);
  }

  /** How wide a strip it takes beside the graph; none where all of the picture is in view at first. */
  strip(size: Size, room: Size): number {
    if (room.w < NARROWEST || room.h < LOWEST || fits(size, room)) return 0;
    return this.extent(size.w, this.scaleOf(size, room)) + 2 * MARGIN;
  }

  private extent(length: number, scale: number): number {
    return Math.max(14, Math.round(length * scale));
  }

  /** After each drawing of the picture. */
  draw(): void {
    const { camera, view, layout } = this.graph;
    const size = layout.size();
    this.element.hidden = !this.graph.strip;
    if (this.element.hidden) return;
    this.scale = this.scaleOf(size, { w: view.w + this.graph.strip, h: view.h });
    const [w, h] = [this.extent(size.w, this.scale), this.extent(size.h, this.scale)];
    const ratio = devicePixelRatio || 1;
    const { colours } = this.graph.colours();
    const picture = this.picture(w, h, ratio);
    if (this.element.width !== w * ratio || this.element.height !== h * ratio) {
      this.element.width = w * ratio;
      this.element.height = h * ratio;
      this.element.style.width = `${w}px`;
      this.element.style.height = `${h}px`;
    }
    const context = this.element.getContext("2d");
    if (!context) return;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(picture, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const seen = (value: number, offset: number) => (value - offset) * (this.scale / camera.k);
    const [x, y] = [Math.max(0.5, seen(0, camera.x)), Math.max(0.5, seen(0, camera.y))];
    const right = Math.min(w - 0.5, seen(view.w, camera.x));
    const bottom = Math.min(h - 0.5, seen(view.h, camera.y));
    context.strokeStyle = colours.accent;
    context.lineWidth = 1.5;
    context.globalAlpha = 0.16;
    context.fillStyle = colours.accent;
    context.fillRect(x, y, Math.max(3, right - x), Math.max(3, bottom - y));
    context.globalAlpha = 1;
    context.strokeRect(x, y, Math.max(3, right - x), Math.max(3, bottom - y));
  }

  /** The boxes, drawn anew only when something was opened or closed. */
  private picture(w: number, h: number, ratio: number): HTMLCanvasElement {
    const { layout } = this.graph;
    const { colours } = this.graph.colours();
    const known = this.drawn;
    if (known && known.version === layout.version && known.dark === colours.bg && known.canvas.width === w * ratio)
      return known.canvas;
    const canvas = document.createElement("canvas");
    canvas.width = w * ratio;
    canvas.height = h * ratio;
    const context = canvas.getContext("2d")!;
    context.fillStyle = colours.panel;
    context.fillRect(0, 0, canvas.width, canvas.height);
    this.boxes(context, ratio);
    this.drawn = { canvas, version: layout.version, dark: colours.bg };
    return canvas;
  }

  private boxes(context: CanvasRenderingContext2D, ratio: number): void {
    const { model, layout } = this.graph;
    const { colours } = this.graph.colours();
    const s = this.scale * ratio;
    let left = MOST_BOXES;
    const walk = (scope: number, ox: number, oy: number) => {
      const placed = layout.level(scope);
      model.childrenOf(scope).forEach((child, i) => {
        if (left-- < 0) return;
        const [x, y] = [ox + placed.x[i]!, oy + placed.y[i]!];
        const [bw, bh] = [Math.max(1, placed.childW[i]! * s), Math.max(1, placed.childH[i]! * s)];
        const open = model.isScope(child) && model.open(child);
        context.fillStyle = open ? colours.frame : colours["strong-border"];
        context.fillRect(x * s, y * s, bw, bh);
        if (!open) return;
        context.strokeStyle = colours.edge;
        context.lineWidth = 0.5 * ratio;
        context.strokeRect(x * s, y * s, bw, bh);
        if (bh < 3) return;
        const inset = layout.inset(child);
        walk(child, x + inset.x, y + inset.y);
      });
    };
    walk(model.root, 0, 0);
  }
}
