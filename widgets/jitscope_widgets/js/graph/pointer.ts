// Mouse and touch: drag moves, a click picks or opens, ctrl+wheel (or the wheel once the graph has the focus) zooms.
import type { Disposables } from "../dom";
import type { GraphEdge } from "../documents";
import type { Hot } from "./draw";
import { edgesAt } from "./edgepick";
import { FRAME } from "./placing";
import type { GraphView } from "./view";

const SLACK = 4;
const DOUBLE_MS = 350;

export class Pointer {
  private start: { x: number; y: number; moved: boolean } | null = null;
  private last = { node: -1, at: 0 };
  private readonly touches = new Map<number, { x: number; y: number }>();

  constructor(
    private readonly graph: GraphView,
    all: Disposables,
  ) {
    const { canvas } = graph;
    all.listen(canvas, "pointerdown", (event) => this.down(event));
    all.listen(canvas, "pointermove", (event) => this.move(event));
    all.listen(canvas, "pointerup", (event) => this.up(event));
    all.listen(canvas, "pointercancel", (event) => this.cancel(event));
    all.listen(canvas, "pointerleave", () => graph.hover(null));
    all.listen(canvas, "wheel", (event) => this.wheel(event), { passive: false });
  }

  private at(event: MouseEvent): { x: number; y: number } {
    const box = this.graph.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private nodeAt(event: MouseEvent): number | null {
    const { x, y } = this.at(event);
    const point = this.graph.camera.toPicture(x, y);
    return this.graph.layout.hit(point.x, point.y);
  }

  private hotAt(event: MouseEvent): Hot | undefined {
    const { x, y } = this.at(event);
    return this.graph.hot.find((hot) => x >= hot.x && y >= hot.y && x <= hot.x + hot.w && y <= hot.y + hot.h);
  }

  /** The values that flow there, where no operation stands. */
  private edgesAt(event: MouseEvent, node: number | null): GraphEdge[] {
    const { model } = this.graph;
    const free = node === null || (model.isScope(node) && model.open(node) && !this.onArrow(event, node));
    const { x, y } = this.at(event);
    return free ? edgesAt(this.graph, x, y) : [];
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const point = this.at(event);
    this.touches.set(event.pointerId, point);
    this.start = { ...point, moved: this.touches.size > 1 };
    this.graph.canvas.setPointerCapture(event.pointerId);
    this.graph.api.takeFocus();
    event.preventDefault();
  }

  private move(event: PointerEvent): void {
    const point = this.at(event);
    const known = this.touches.get(event.pointerId);
    if (!known || !this.start) {
      const hot = this.hotAt(event);
      const node = hot ? null : this.nodeAt(event);
      this.graph.hover(node, point.x, point.y);
      this.graph.canvas.style.cursor = node === null && !hot && !this.edgesAt(event, node).length ? "grab" : "pointer";
      return;
    }
    if (Math.hypot(point.x - this.start.x, point.y - this.start.y) > SLACK) this.start.moved = true;
    if (!this.start.moved) return;
    this.graph.hover(null);
    this.graph.canvas.style.cursor = "grabbing";
    if (this.touches.size === 2) this.pinch(event.pointerId, point);
    else this.graph.pan(point.x - known.x, point.y - known.y);
    this.touches.set(event.pointerId, point);
  }

  private pinch(id: number, point: { x: number; y: number }): void {
    const own = this.touches.get(id)!;
    const [, other] = [...this.touches].find(([key]) => key !== id)!;
    const before = Math.hypot(own.x - other.x, own.y - other.y);
    const after = Math.hypot(point.x - other.x, point.y - other.y);
    if (before > 0) this.graph.camera.zoomAt(after / before, other.x, other.y);
    this.graph.ask();
  }

  private up(event: PointerEvent): void {
    this.touches.delete(event.pointerId);
    const click = this.start && !this.start.moved;
    if (!this.touches.size) this.start = null;
    if (!click) return;
    const hot = this.hotAt(event);
    if (hot) {
      this.graph.step(hot.node, hot.step);
      return;
    }
    const node = this.nodeAt(event);
    const edges = this.edgesAt(event, node);
    if (edges.length && !event.shiftKey) {
      this.graph.marks.focus = this.graph.model.index.get(edges[0]!.from) ?? null;
      this.graph.options.pick(edges[0]!.from, edges);
      return;
    }
    if (event.shiftKey && node !== null && this.graph.marks.selected !== null) return void this.graph.trace.path(node);
    this.graph.options.pick(node === null ? null : this.graph.model.node(node).id);
    if (node === null) return;
    this.graph.marks.focus = node;
    // a closed scope opens at the first click; an open one closes by its header's arrow
    const { model } = this.graph;
    const again = this.last.node === node && event.timeStamp - this.last.at < DOUBLE_MS; // a double click is one click
    this.last = { node, at: event.timeStamp };
    if (model.isScope(node) && !again && (!model.open(node) || this.onArrow(event, node))) this.graph.toggle(node);
  }

  private onArrow(event: MouseEvent, node: number): boolean {
    const { x, y } = this.at(event);
    const point = this.graph.camera.toPicture(x, y);
    const rect = this.graph.layout.rect(node);
    return point.y - rect.y < FRAME.header;
  }

  private cancel(event: PointerEvent): void {
    this.touches.delete(event.pointerId);
    this.start = null;
  }

  private wheel(event: WheelEvent): void {
    const focused = this.graph.element.contains(document.activeElement);
    if (!event.ctrlKey && !event.metaKey && !focused) return; // the page scrolls
    event.preventDefault();
    const { x, y } = this.at(event);
    if (event.shiftKey) this.graph.pan(-event.deltaY, 0);
    else {
      this.graph.camera.zoomAt(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), x, y);
      this.graph.ask();
    }
  }
}
