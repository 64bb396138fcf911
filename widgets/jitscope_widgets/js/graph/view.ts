// One graph on the screen: canvas, camera, what is open, what is marked.
import type { GraphDoc, GraphEdge, Kernel } from "../documents";
import { Disposables, h } from "../dom";
import { readPalette, type Palette } from "../theme";
import type { Lines } from "../links";
import { Camera } from "./camera";
import { Painter, type Hot, type Marks, type Motion, type Scene } from "./draw";
import { Finding } from "./finding";
import { openFirst, openMarked } from "./firstlook";
import { inspection } from "./inspect";
import { Keyboard } from "./keyboard";
import { Layout } from "./layout";
import { sizeOf } from "./looks";
import { Minimap } from "./minimap";
import type { Model } from "./model";
import { advance, moveWith, openSome, toggle } from "./opening";
import { CanvasPen, SvgPen } from "./pen";
import { Pointer } from "./pointer";
import { Outline } from "./outline";
import type { Facts } from "./query";
import { Shares } from "./shares";
import { hoverText, Tooltip } from "./tooltip";
import { TraceBar } from "./tracebar";

export interface GraphMemory {
  open: string[];
  blocks?: [string, number][];
  camera: { k: number; x: number; y: number };
  /** The size that the picture was made to fit, if nobody has moved it since. */
  fittedTo?: { w: number; h: number };
}

export interface GraphOptions {
  root: HTMLElement;
  lines: Lines;
  kernels?: Kernel[];
  /** A node was picked, or values on their way from it. */
  pick(node: string | null, edges?: GraphEdge[]): void;
  memory?: GraphMemory;
  help?(): void;
  search?(): void;
  back?(): void;
}

export class GraphView {
  readonly element: HTMLElement;
  readonly document: GraphDoc;
  readonly layout: Layout;
  readonly camera = new Camera();
  readonly marks: Marks = {
    selected: null,
    related: new Set(),
    hits: new Set(),
    focus: null,
    hover: null,
    edges: new Set(),
    traced: null,
  };
  readonly canvas = h("canvas", { "aria-hidden": "true" });
  readonly tooltip = new Tooltip();
  readonly perf = { modelMs: 0, layoutMs: 0, drawMs: 0, firstFrameMs: 0, toggleMs: 0 };
  readonly shares: Shares;
  readonly finding = new Finding(this);
  readonly trace: TraceBar;
  readonly facts: Facts;
  readonly api: ReturnType<typeof inspection>;
  view = { w: 0, h: 0 };
  /** The width beside the view that the small map takes. */
  strip = 0;
  private dividedAt = -1; // the layout that it was found for
  hot: Hot[] = [];
  private palette: Palette | null = null;
  motion: Motion | null = null;
  private frame = 0;
  private fitted = false;
  private fittedTo: GraphMemory["fittedTo"] | null = null;
  private asFitted = ""; // the camera after the last `fit` that kept the picture readable
  private waiting: (() => void)[] = [];
  private readonly all = new Disposables();
  readonly outline: Outline;
  private readonly minimap: Minimap;

  /** `born`: when it was asked for. */
  constructor(
    readonly model: Model,
    readonly options: GraphOptions,
    private readonly born = performance.now(),
  ) {
    this.document = model.document;
    this.perf.modelMs = performance.now() - born;
    this.shares = new Shares(model, options.kernels ?? []);
    model.shareText = (i) => this.shares.text(i);
    this.facts = this.makeFacts();
    this.layout = new Layout(model, (node) => sizeOf(model, node, this.colours().code, options.lines.of));
    if (options.memory) this.remember(options.memory);
    else openFirst(model);
    this.outline = new Outline(this);
    this.trace = new TraceBar(this);
    this.minimap = new Minimap(this, this.all);
    this.element = h(
      "div.jitscope-graph",
      this.canvas,
      this.outline.element,
      this.minimap.element,
      this.trace.element,
      this.tooltip.element,
    );
    this.listen();
    this.api = inspection(this);
  }

  private listen(): void {
    const keyboard = new Keyboard(this);
    this.all.listen(this.outline.element, "keydown", (event) => keyboard.press(event));
    this.all.listen(this.outline.element, "focus", () =>
      this.focus(this.marks.selected ?? this.marks.focus ?? this.firstNode(), false),
    );
    this.all.listen(this.outline.element, "blur", () => this.focus(null, false));
    new Pointer(this, this.all);
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(this.element);
    this.all.add(() => observer.disconnect());
  }

  private makeFacts(): Facts {
    const { lines } = this.options;
    const index = (id: string) => this.model.index.get(id)!;
    return {
      linesOf: (node) => lines.linesOf(node),
      kernelsOf: (node) => this.shares.kernelsOf(index(node.id)),
      timed: this.shares.timed,
      shareOf: (node) => this.shares.of(index(node.id))?.most ?? null,
    };
  }

  private remember({ open: names, blocks, camera, fittedTo }: GraphMemory): void {
    const { model } = this;
    const open = new Set(names);
    model.nodes.forEach((node, i) => void model.setOpen(i, open.has(node.id)));
    for (const [id, block] of blocks ?? []) if (model.index.has(id)) model.chooseBlock(model.index.get(id)!, block);
    Object.assign(this.camera, camera);
    this.fitted = true;
    this.fittedTo = fittedTo ?? null;
    if (fittedTo) this.asFitted = [camera.k, camera.x, camera.y].join();
  }

  memory(): GraphMemory {
    const { model } = this;
    const scopes = model.nodes.map((node, i) => ({ id: node.id, i })).filter(({ i }) => model.isScope(i));
    const open = scopes.filter(({ i }) => model.open(i)).map(({ id }) => id);
    const blocks = scopes
      .filter(({ i }) => model.isRepeat(i) && model.blockOf(i) > 0)
      .map(({ id, i }): [string, number] => [id, model.blockOf(i)]);
    const { k, x, y } = this.camera;
    return { open, blocks, camera: { k, x, y }, fittedTo: this.isAsFitted() ? this.view : undefined };
  }

  colours(): Palette {
    return (this.palette ??= readPalette(this.options.root));
  }

  /** Colours and fonts are what they are only once the view is in the page, and change with the host's theme. */
  themed(): void {
    const font = this.palette?.code;
    this.palette = null;
    if (this.colours().code !== font) this.layout.remeasure();
    this.ask();
  }

  private firstNode(): number | null {
    return this.model.childrenOf(this.model.root)[0] ?? null;
  }

  private resize(): void {
    if (this.takeRoom()) this.paint();
  }

  /** What was opened may need the map, and what was closed may do without. */
  divide(): void {
    if (this.dividedAt !== this.layout.version) this.takeRoom();
  }

  /** Divides the element between the picture and the small map; says whether that changed anything. */
  private takeRoom(): boolean {
    const { clientWidth: w, clientHeight: h } = this.element;
    if (!w || !h) return false;
    if (!this.view.w) this.themed();
    this.strip = this.minimap.strip(this.layout.size(), { w, h });
    this.dividedAt = this.layout.version;
    const view = { w: w - this.strip, h };
    if (view.w === this.view.w && h === this.view.h) return false;
    this.view = view;
    this.element.style.setProperty("--map", `${this.strip}px`);
    this.sizeCanvas();
    const isBack = view.w === this.fittedTo?.w && h === this.fittedTo.h;
    this.fittedTo = null;
    if (!this.fitted || (this.isAsFitted() && !isBack)) this.fit(true);
    return true;
  }

  private sizeCanvas(): void {
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.view.w * ratio);
    this.canvas.height = Math.round(this.view.h * ratio);
  }

  /** Whether nobody has moved the picture since it was made to fit. */
  private isAsFitted(): boolean {
    const { k, x, y } = this.camera;
    return [k, x, y].join() === this.asFitted;
  }

  fit(readable = false): void {
    if (!this.view.w) this.resize(); // asked for before the first frame
    if (!this.view.w) return;
    this.divide();
    const start = performance.now();
    const size = this.layout.size();
    this.perf.layoutMs = performance.now() - start;
    const { layout } = this;
    this.camera.fit(
      size,
      this.view,
      readable,
      (w, h) => layout.middle(w, h),
      (left, right) => (readable ? layout.above(left, right) : 0),
    );
    this.fitted = true;
    this.asFitted = readable ? [this.camera.k, this.camera.x, this.camera.y].join() : "";
    this.ask();
  }

  /** Height that shows the whole graph at natural size, within reason. */
  /** As high as what is drawn, within half of a large window. */
  wishedHeight(): number {
    const most = Math.max(580, 0.5 * innerHeight);
    return Math.round(Math.min(most, Math.max(260, this.layout.size().h * 0.92 + 44)));
  }

  ask(): void {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.paint());
  }

  scene(): Scene {
    const { layout, camera, view, marks, motion } = this;
    const { of: lineOf, hue: hueOf } = this.options.lines;
    return { layout, camera, view, palette: this.colours(), marks, motion, lineOf, hueOf, hot: [] };
  }

  private paint(): void {
    this.divide();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const context = this.canvas.getContext("2d");
    if (!context || !this.view.w) {
      this.tellSettled();
      return;
    }
    const start = performance.now();
    if (this.motion && !advance(this.motion, this.camera, start)) this.motion = null;
    const ratio = this.canvas.width / this.view.w;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.colours().colours.bg;
    context.fillRect(0, 0, this.view.w, this.view.h);
    const scene = this.scene();
    new Painter(scene, new CanvasPen(context)).draw();
    this.hot = scene.hot;
    this.minimap.draw();
    this.trace.place();
    this.perf.drawMs = performance.now() - start;
    if (!this.perf.firstFrameMs) this.perf.firstFrameMs = performance.now() - this.born;
    if (this.motion) this.ask();
    else this.tellSettled();
  }

  private tellSettled(): void {
    for (const tell of this.waiting.splice(0)) tell();
  }

  /** Resolves when nothing moves and all is drawn. */
  settled(): Promise<void> {
    if (!this.frame && !this.motion) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  toggle(node: number): void {
    toggle(this, node);
  }

  /** Closes all, or opens as much as can be drawn. */
  setAll(open: boolean): void {
    this.opened(() => open && openSome(this.model));
  }

  /** Closes all, and opens what `opens` does. */
  private opened(opens: () => void): void {
    const { model, layout } = this;
    model.nodes.forEach((_, i) => void model.setOpen(i, false));
    opens();
    layout.allChanged();
    this.fit(true);
    this.outline.refresh();
  }

  /** Opens what holds something with a mark, and closes the rest. */
  openMarked(): void {
    this.opened(() => openMarked(this.model));
  }

  /** Draws another block of a repeat. */
  step(repeat: number, by: number): void {
    const { model, marks } = this;
    const before = model.blockOf(repeat);
    if (marks.focus !== null) marks.focus = repeat; // what had it may be hidden now
    model.chooseBlock(repeat, before + by);
    if (model.blockOf(repeat) === before) return;
    moveWith(this, repeat, () => this.layout.changed(repeat));
    this.trace.redraw();
    this.outline.refresh();
    this.ask();
  }

  /** The keyboard moved: what it stands on is picked. */
  walk(node: number): void {
    this.focus(node);
    this.options.pick(this.model.node(node).id);
  }

  /** Opens what is needed to see a node, and moves it into view. */
  show(node: number, centre = false): void {
    const { model, layout } = this;
    for (let at = node; at !== model.root; at = model.parent[at]!) {
      const scope = model.parent[at]!;
      if (model.isHidden(at)) model.chooseBlock(scope, model.allChildrenOf(scope).indexOf(at));
      else if (scope === model.root || model.open(scope)) continue;
      model.setOpen(scope, true);
      layout.changed(scope);
    }
    const rect = layout.rect(node);
    if (centre) this.camera.centre(rect, this.view);
    else this.camera.reveal(rect, this.view);
    this.trace.redraw();
    this.ask();
  }

  // marks

  focus(node: number | null, move = true): void {
    this.marks.focus = node;
    if (node !== null && move) this.camera.reveal(this.layout.rect(node), this.view);
    this.outline.refresh();
    this.ask();
  }

  /** The selection as this graph shows it. */
  mark(selected: string | null, related: Iterable<string>, edges?: GraphEdge[]): void {
    const { model, marks } = this;
    const index = (id: string) => model.index.get(id);
    marks.selected = selected === null ? null : (index(selected) ?? null);
    marks.related = new Set(
      [...related]
        .map(index)
        .filter((i): i is number => i !== undefined)
        .map((i) => model.shown(i)),
    );
    this.trace.selected(marks.selected);
    if (edges && marks.selected !== null)
      marks.edges = new Set(
        model.edgesOf(marks.selected, "out").filter((e) => edges.includes(model.document.edges[e]!)),
      );
    this.outline.refresh();
    this.ask();
  }

  hover(node: number | null, sx = 0, sy = 0): string {
    if (this.marks.hover !== node) {
      this.marks.hover = node;
      this.ask();
    }
    if (node === null) {
      this.tooltip.hide();
      return "";
    }
    const lines = hoverText(this.model, node);
    this.tooltip.show(lines, sx, sy, this.view);
    return lines.join("\n");
  }

  zoom(factor: number): void {
    this.camera.zoomAt(factor, this.view.w / 2, this.view.h / 2);
    this.ask();
  }

  pan(dx: number, dy: number): void {
    this.camera.x += dx;
    this.camera.y += dy;
    this.ask();
  }

  svg(): string {
    const { w, h } = this.layout.size();
    const camera = new Camera();
    camera.x = camera.y = 20;
    const pen = new SvgPen();
    new Painter({ ...this.scene(), camera, view: { w: w + 40, h: h + 40 }, motion: null }, pen).draw();
    return pen.finish(w + 40, h + 40, this.colours().colours.bg, this.document.title);
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    this.all.dispose();
  }
}
