// What tests and other code on the page can ask a graph.
import { contrast, parseColour } from "../theme";
import { Painter } from "./draw";
import { RecordingPen } from "./pen";
import type { GraphView } from "./view";

type Point = [number, number];

export function inspection(graph: GraphView) {
  const { model, layout, camera } = graph;

  const screen = (x: number, y: number): Point => [x * camera.k + camera.x, y * camera.k + camera.y];
  const index = (id: string): number => {
    const i = model.index.get(id);
    if (i === undefined) throw new Error(`no node “${id}” in this graph`);
    return i;
  };

  function texts() {
    const pen = new RecordingPen();
    new Painter({ ...graph.scene(), motion: null }, pen).draw();
    return pen.texts;
  }

  /** Every text that is drawn now. */
  function labels() {
    return texts().map((text) => ({
      ...text,
      contrast: Math.round(contrast(parseColour(text.colour), parseColour(text.background)) * 100) / 100,
    }));
  }

  /** Every node that is shown now, also outside the picture. */
  function nodes() {
    const written = new Map(
      texts()
        .filter((t) => t.what === "node" || t.what === "caption")
        .map((t) => [t.id, t.fontPx]),
    );
    return [...model.visible()].map((i) => {
      const node = model.node(i);
      const rect = layout.rect(i);
      const [x, y] = screen(rect.x, rect.y);
      const [w, h] = [rect.w * camera.k, rect.h * camera.k];
      const onScreen = x < graph.view.w && y < graph.view.h && x + w > 0 && y + h > 0;
      return {
        id: node.id,
        kind: node.kind,
        label: node.label,
        x,
        y,
        w,
        h,
        fontPx: written.get(node.id) ?? 0,
        open: model.isScope(i) ? model.open(i) : null,
        blocks: model.isRepeat(i) ? model.allChildrenOf(i).length : 0, // of which one is shown
        depth: model.depth[i]!,
        onScreen,
      };
    });
  }

  /** What joins the shown nodes: one entry for each pair, as it follows from the document. */
  function edges() {
    const found = new Map<string, { from: string; to: string }>();
    for (let e = 0; e < model.from.length; e++) {
      if (model.from[e]! < 0) continue;
      const [from, to] = [model.shown(model.from[e]!), model.shown(model.to[e]!)];
      if (from !== to) found.set(`${from},${to}`, { from: model.node(from).id, to: model.node(to).id });
    }
    return [...found.values()];
  }

  /** The lines as drawn, piece by piece: down, across in the space between two rows, down. */
  function strokes() {
    const found: Point[][] = [];
    const walk = (scope: number, ox: number, oy: number) => {
      const placed = layout.level(scope);
      for (const s of placed.strokes)
        found.push(
          (
            [
              [s.x1, s.y1],
              [s.x1, s.bottom],
              [s.x2, s.top],
              [s.x2, s.y2],
            ] as Point[]
          ).map(([x, y]) => screen(x + ox, y + oy)),
        );
      model.childrenOf(scope).forEach((child, i) => {
        if (!model.isScope(child) || !model.open(child)) return;
        const inset = layout.inset(child);
        walk(child, ox + placed.x[i]! + inset.x, oy + placed.y[i]! + inset.y);
      });
    };
    walk(model.root, 0, 0);
    return found;
  }

  return {
    nodes,
    labels,
    edges,
    strokes,
    perf: graph.perf,
    settled: () => graph.settled(),
    visibleCount: () =>
      [...model.visible()].filter((i) => !["hull", "fold", "group"].includes(model.node(i).kind)).length,
    expandAll: () => graph.setAll(true),
    collapseAll: () => graph.setAll(false),
    toggle: (id: string) => graph.toggle(index(id)),
    select: (id: string | null) => {
      if (id !== null) graph.show(index(id));
      graph.options.pick(id);
    },
    focus: (id: string) => graph.focus(index(id)),
    takeFocus: () => graph.element.querySelector<HTMLElement>("[role=tree]")!.focus({ preventScroll: true }),
    hover: (id: string) => {
      const rect = layout.rect(index(id));
      const [x, y] = screen(rect.x + rect.w / 2, rect.y + rect.h / 2);
      return graph.hover(index(id), x, y);
    },
    search: (text: string) => graph.finding.search(text).map((i) => model.node(i).id),
    nextHit: (step: number): string => graph.finding.next(step),
    /** Draws the block of a repeat with this number, from 1. */
    block: (id: string, number: number) => graph.step(index(id), number - 1 - model.blockOf(index(id))),
    follow: (way: "producers" | "users") => graph.trace.follow(way),
    path: (id: string) => graph.trace.path(index(id)),
    traced: () => graph.trace.ids(),
    fit: () => graph.fit(),
    panBy: (dx: number, dy: number) => graph.pan(dx, dy),
    zoomTo: (k: number) => graph.zoom(k / camera.k),
    svg: () => graph.svg(),
  };
}
