// Which values flow along the line under the mouse, and those that enter and leave an operation, one after the other.
import type { GraphEdge } from "../documents";
import { edgesOf } from "./lines";
import type { GraphView } from "./view";

const SLACK = 6; // pixels beside a line that still mean it

/** The edges of the document whose line passes nearest to a place on the screen; none if no line is near. */
export function edgesAt(graph: GraphView, x: number, y: number): GraphEdge[] {
  const { model, layout, camera } = graph;
  const at = camera.toPicture(x, y);
  let best = SLACK / camera.k;
  let found: number[] = [];
  const walk = (scope: number, ox: number, oy: number) => {
    const placed = layout.level(scope);
    placed.strokes.forEach((s, i) => {
      const away = distance(at.x - ox, at.y - oy, [s.x1, s.y1], [s.x1, s.bottom], [s.x2, s.top], [s.x2, s.y2]);
      if (away < best) [best, found] = [away, edgesOf(layout, scope, i)];
    });
    model.childrenOf(scope).forEach((child, i) => {
      if (!model.isScope(child) || !model.open(child)) return;
      const inset = layout.inset(child);
      walk(child, ox + placed.x[i]! + inset.x, oy + placed.y[i]! + inset.y);
    });
  };
  walk(model.root, 0, 0);
  return found.map((e) => model.document.edges[e]!);
}

/** The values that leave a node, then those that enter it, each with all edges along which it does. */
export function valuesAt({ model }: GraphView, node: number): GraphEdge[][] {
  const found = new Map<string, GraphEdge[]>();
  for (const way of ["out", "in"] as const)
    for (const e of model.edgesOf(node, way)) {
      const edge = model.document.edges[e]!;
      const key = `${way} ${edge.from} ${edge.type}`;
      found.set(key, [...(found.get(key) ?? []), edge]);
    }
  return [...found.values()];
}

type Point = [number, number];

function distance(x: number, y: number, ...line: Point[]): number {
  let least = Infinity;
  for (let i = 0; i + 1 < line.length; i++) {
    const [[ax, ay], [bx, by]] = [line[i]!, line[i + 1]!];
    const long = (bx - ax) ** 2 + (by - ay) ** 2;
    const t = long ? Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / long)) : 0;
    least = Math.min(least, Math.hypot(x - ax - t * (bx - ax), y - ay - t * (by - ay)));
  }
  return least;
}
