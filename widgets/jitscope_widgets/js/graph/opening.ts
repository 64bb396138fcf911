// Opening and closing a scope: the clicked box keeps its place, the others move there in 150 ms (at once for people
// who want less motion).
import type { Stand } from "./camera";
import type { Motion } from "./draw";
import type { Rect } from "./layout";
import type { Model } from "./model";
import type { GraphView } from "./view";

const DURATION_MS = 150;
const MOST_MOVED = 1500;
const MOST_OPENED = 3000; // boxes, when all scopes are opened

export function toggle(graph: GraphView, node: number): void {
  const { model, layout, marks } = graph;
  if (!model.isScope(node)) return;
  if (model.isBlock(node)) {
    toggle(graph, model.parent[node]!);
    return;
  }
  const start = performance.now();
  moveWith(graph, node, () => {
    model.setOpen(node, !model.open(node));
    layout.changed(node);
  });
  if (model.open(node)) approach(graph, node);
  if (marks.focus !== null) marks.focus = model.shown(marks.focus);
  graph.trace.redraw();
  graph.perf.toggleMs = performance.now() - start;
  graph.outline.refresh();
  graph.ask();
}

/** What was opened comes into view, and large enough to be read, on the way of its boxes. */
function approach(graph: GraphView, node: number): void {
  graph.divide();
  const { camera, layout, view, motion } = graph;
  if (!view.w) return;
  const from = standOf(camera);
  camera.approach(layout.rect(node), view);
  if (!motion) return;
  motion.camera = { from, to: standOf(camera) };
  Object.assign(camera, from);
}

const standOf = ({ k, x, y }: Stand): Stand => ({ k, x, y });

/** Changes the picture; a node keeps its place on the screen. */
export function moveWith(graph: GraphView, node: number, change: () => void): void {
  const { layout, camera } = graph;
  const start = performance.now();
  const before = layout.rect(node);
  const moving = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  const places = moving ? placesOf(graph) : null;
  change();
  const after = layout.rect(node);
  const dx = after.x - before.x;
  const dy = after.y - before.y;
  camera.x -= dx * camera.k;
  camera.y -= dy * camera.k;
  if (places) graph.motion = motionFrom(places, before, dx, dy, start);
}

/** Opens scopes, outermost first, until no more boxes can be drawn. Trees of arguments and results stay closed. */
export function openSome(model: Model): void {
  let shown = model.childrenOf(model.root).length;
  for (let level = [model.root]; level.length; ) {
    const next: number[] = [];
    for (const scope of level)
      if (model.open(scope))
        next.push(...model.childrenOf(scope).filter((i) => model.isScope(i) && model.node(i).what !== "tree"));
    for (const scope of next) {
      const more = model.childrenOf(scope).length;
      if (shown + more > MOST_OPENED) continue;
      model.setOpen(scope, true);
      shown += more;
    }
    level = next;
  }
}

/** Where the boxes were, seen from where the picture is now. */
function motionFrom(places: Map<number, Rect>, clicked: Rect, dx: number, dy: number, start: number): Motion {
  for (const rect of places.values()) {
    rect.x += dx;
    rect.y += dy;
  }
  return { from: places, origin: { ...clicked, x: clicked.x + dx, y: clicked.y + dy }, start, t: 0 };
}

function placesOf({ model, layout }: GraphView): Map<number, Rect> {
  const places = new Map<number, Rect>();
  for (const node of model.visible()) {
    places.set(node, layout.rect(node));
    if (places.size > MOST_MOVED) break;
  }
  return places;
}

/** False when the motion is over. */
export function advance(motion: Motion, camera: Stand, now: number): boolean {
  const t = (now - motion.start) / DURATION_MS;
  motion.t = t < 1 ? 1 - (1 - t) ** 2 : 1; // slows down at the end
  if (motion.camera) {
    const { from, to } = motion.camera;
    for (const part of ["k", "x", "y"] as const) camera[part] = from[part] + (to[part] - from[part]) * motion.t;
  }
  return t < 1;
}
