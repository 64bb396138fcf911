import assert from "node:assert/strict";
import { test } from "node:test";
import type { GraphNode } from "../../../widgets/jitscope_widgets/js/documents";
import type { Layout, Rect } from "../../../widgets/jitscope_widgets/js/graph/layout";
import { pool } from "../../../widgets/jitscope_widgets/js/graph/straighten";
import { graph, layoutOf, synthetic } from "./graphs";

const SAMPLES = {
  chain: graph(["a", "b", "c"], ["a>b", "b>c"]),
  diamond: graph(["a", "b", "c", "d"], ["a>b", "a>c", "b>d", "c>d", "a>d"]),
  nested: graph(["x", "s", "s/a", "s/t", "s/t/b", "y"], ["x>s/a", "s/a>s/t/b", "x>s/t/b", "s/t/b>y", "s/a>y"]),
  circle: graph(["a", "s", "s/b", "s/c"], ["a>s/b", "s/c>a"]),
  loop: graph(["a", "b", "c"], ["a>b", "b>c", "c>a", "b>b"]),
  loose: graph(
    Array.from({ length: 40 }, (_, i) => `n${i}`),
    [],
  ),
  deep: synthetic(400),
  flat: synthetic(300, { branching: 0 }),
};

function boxes(layout: Layout): { node: number; rect: Rect; frame: boolean }[] {
  const { model } = layout;
  return [...model.visible()].map((node) => ({
    node,
    rect: layout.rect(node),
    frame: model.isScope(node) && model.open(node),
  }));
}

const crosses = (a: Rect, b: Rect, slack = 0.5) =>
  a.x + slack < b.x + b.w && b.x + slack < a.x + a.w && a.y + slack < b.y + b.h && b.y + slack < a.y + a.h;

for (const [name, document] of Object.entries(SAMPLES))
  for (const open of ["all", "none"] as const) {
    test(`${name}, ${open} open: no box over another, everything inside its scope`, () => {
      const layout = layoutOf(document, open);
      const all = boxes(layout);
      const closed = all.filter((box) => !box.frame);
      for (let i = 0; i < closed.length; i++)
        for (let j = i + 1; j < closed.length; j++)
          assert.ok(!crosses(closed[i]!.rect, closed[j]!.rect), `${closed[i]!.node} over ${closed[j]!.node}`);
      for (const { node, rect } of all) {
        const scope = layout.model.parent[node]!;
        if (scope === layout.model.root) continue;
        const outer = layout.rect(scope);
        assert.ok(rect.x > outer.x && rect.x + rect.w < outer.x + outer.w, `${node} sticks out of its scope`);
        assert.ok(rect.y >= outer.y + 30 && rect.y + rect.h < outer.y + outer.h, `${node} sticks out of its scope`);
      }
    });

    test(`${name}, ${open} open: no line runs through a box`, () => {
      const layout = layoutOf(document, open);
      const walk = (scope: number) => {
        const placed = layout.level(scope);
        const children = layout.model.childrenOf(scope);
        for (const s of placed.strokes)
          for (const [x, y] of pointsOf(s))
            children.forEach((child, i) => {
              const inside =
                x > placed.x[i]! + 0.5 &&
                x < placed.x[i]! + placed.childW[i]! - 0.5 &&
                y > placed.y[i]! + 0.5 &&
                y < placed.y[i]! + placed.childH[i]! - 0.5;
              assert.ok(!inside, `a line runs through ${layout.model.node(child).id}`);
            });
        for (const child of children) if (layout.model.isScope(child) && layout.model.open(child)) walk(child);
      };
      walk(layout.model.root);
    });
  }

function* pointsOf(s: {
  x1: number;
  y1: number;
  bottom: number;
  x2: number;
  top: number;
  y2: number;
}): Generator<[number, number]> {
  for (let i = 0; i <= 10; i++) yield [s.x1, s.y1 + ((s.bottom - s.y1) * i) / 10];
  for (let i = 0; i <= 20; i++) {
    const t = i / 20;
    const side = 3 * t * t - 2 * t * t * t;
    yield [s.x1 + (s.x2 - s.x1) * side, s.bottom + (s.top - s.bottom) * (t * t * t + 1.5 * t * (1 - t))];
  }
  for (let i = 0; i <= 10; i++) yield [s.x2, s.top + ((s.y2 - s.top) * i) / 10];
}

test("data flows downwards", () => {
  const layout = layoutOf(SAMPLES.nested);
  const { model } = layout;
  const top = (id: string) => layout.rect(model.index.get(id)!).y;
  assert.ok(top("x") < top("s") && top("s/a") < top("s/t") && top("s") < top("y"));
});

test("a chain is drawn as one straight line", () => {
  const layout = layoutOf(SAMPLES.chain);
  const middles = boxes(layout).map(({ rect }) => Math.round(rect.x + rect.w / 2));
  assert.equal(new Set(middles).size, 1);
});

test("a part of a wide picture is seen from the first thing in it", () => {
  const [lefts, rights] = [0, 1].map((side) => Array.from({ length: 6 }, (_, i) => `${side}${i}`)) as [
    string[],
    string[],
  ];
  const chain = rights.slice(1).map((id, i) => `${rights[i]}>${id}`);
  const layout = layoutOf(
    graph(["wide".repeat(20), ...lefts, ...rights], [...chain, `${"wide".repeat(20)}>${rights[3]}`]),
  );
  const all = boxes(layout).map(({ rect }) => rect);
  const top = Math.min(...all.map(({ y }) => y));
  assert.equal(layout.above(-1e6, 1e6), 0);
  for (const { x, w } of all) {
    const here = all.filter((box) => Math.min(box.x + box.w, x + w) - Math.max(box.x, x) > box.w / 2);
    assert.equal(layout.above(x, x + w), Math.min(...here.map(({ y }) => y)) - top);
  }
  assert.equal(layout.above(-1e6, -1e5), 0);
});

test("opening and closing a scope gives the same picture again", () => {
  const layout = layoutOf(SAMPLES.deep, "none");
  const before = boxes(layout).map(({ rect }) => rect);
  const scope = layout.model.childrenOf(layout.model.root).find((child) => layout.model.isScope(child))!;
  for (const open of [true, false]) {
    layout.model.setOpen(scope, open);
    layout.changed(scope);
    layout.size();
  }
  assert.deepEqual(
    boxes(layout).map(({ rect }) => rect),
    before,
  );
});

test("hit finds the innermost box", () => {
  const layout = layoutOf(SAMPLES.nested);
  for (const { node, rect, frame } of boxes(layout)) {
    const y = frame ? rect.y + 5 : rect.y + rect.h / 2;
    assert.equal(layout.hit(rect.x + rect.w / 2, y), node);
  }
  assert.equal(layout.hit(-10, -10), null);
});

test("lines that would fill the picture become two ends", () => {
  const scopes = Array.from({ length: 28 }, (_, i) => `s${i}`);
  const parts = scopes.flatMap((scope) => Array.from({ length: 12 }, (_, i) => `${scope}/p${i}`));
  const all = parts.flatMap((part, i) => [`${part}>${parts[i + 12] ?? part}`, `${part}>${parts.at(-1)}`]);
  const layout = layoutOf(graph([...scopes, ...parts], all));
  const placed = layout.level(layout.model.root);
  assert.ok(placed.stubs.length > 0);
  assert.ok(layout.structure(layout.model.root).chains.count < 5000);
});

test("pool gives the nearest non-decreasing sequence", () => {
  const values = Float64Array.from([3, 1, 2, 5, 4]);
  pool(values, new Float64Array(5).fill(1));
  assert.deepEqual([...values], [2, 2, 2, 4.5, 4.5]);
});

test("a result that is a number stands with the results, not above the arguments", () => {
  const results: Record<string, Partial<GraphNode>> = { r: { kind: "output" }, n: { kind: "output" } };
  const layout = layoutOf(graph(["n", "a", "b", "r"], ["a>b", "b>r"], results));
  const top = (id: string) => layout.rect(layout.model.index.get(id)!).y;
  assert.equal(top("n"), top("r"));
  assert.ok(top("n") > top("b"));
});
