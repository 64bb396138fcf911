import assert from "node:assert/strict";
import { test } from "node:test";
import type { GraphNode, Position } from "../../../widgets/jitscope_widgets/js/documents";
import type { WrittenAt } from "../../../widgets/jitscope_widgets/js/graph/linefolds";
import { Model } from "../../../widgets/jitscope_widgets/js/graph/model";
import { depths, topological } from "../../../widgets/jitscope_widgets/js/graph/topology";
import { graph, layoutOf, synthetic } from "./graphs";

const ids = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);
const chain = (count: number) => ids(count - 1).map((id, i) => `${id}>n${i + 1}`);

const label = (model: Model) => (i: number) => model.node(i).label;
const at = (line: number): Partial<GraphNode> => ({
  positions: [{ file: "a.py", line, function: "f", text: `  line_${line} = …` } as Position],
});
const byPosition: WrittenAt = ({ positions }) => (positions.length === 1 ? positions[0]! : null);

test("no level of a long flat graph has more than a few boxes, and nothing is lost", () => {
  const model = Model.of(synthetic(20000, { branching: 0 }));
  const isBox = (i: number) => !["input", "output", "constant"].includes(model.node(i).kind);
  for (let scope = 0; scope <= model.root; scope++) assert.ok(model.childrenOf(scope).filter(isBox).length <= 30);
  const leaves = model.nodes.filter((_, i) => !model.isScope(i));
  assert.equal(leaves.length, 20000);
  assert.equal(model.inside[model.root], 20000);
});

test("the beginning and the end of a long level stay in sight", () => {
  const model = Model.of(graph(ids(1000), chain(1000)));
  const labels = model.childrenOf(model.root).map((i) => model.node(i).label);
  assert.ok(labels.includes("n0") && labels.includes("n999") && !labels.includes("n500"));
  assert.ok(labels.includes("… 972 more"));
});

test("where a long level has few scopes these stay in sight, and what is most in a fold is said first", () => {
  const names = ids(400);
  const document = graph(names, chain(400));
  const scopes = names.filter((_, i) => i % 50 === 25);
  for (const node of document.nodes)
    if (scopes.includes(node.id)) Object.assign(node, { kind: "group", what: "function", count: 2, label: "layer" });
  for (const id of scopes)
    for (const part of ["a", "b"]) document.nodes.push({ ...graph([`${id}${part}`], []).nodes[0]!, scope: id });
  const labels = (model: Model) => model.childrenOf(model.root).map((i) => model.node(i).label);
  const shown = labels(Model.of(document));
  assert.equal(shown.filter((label) => label === "layer").length, scopes.length);
  assert.ok(["… 20 more", "… 49 more"].every((label) => shown.includes(label)));
  assert.equal(shown.length, 5 + 2 * scopes.length + 1 + 3);
});

test("a long level is folded by line, whatever the order, and what a line alone reads is with it", () => {
  const names = ids(40);
  const more: Record<string, Partial<GraphNode>> = { k: { label: "k" }, c: { kind: "constant" } };
  names.forEach((id, i) => void (more[id] = at(1 + Math.floor(i / 10))));
  // the weights of the last line stand first
  const weights = ids(3).map((id) => `w${id}`);
  for (const id of weights) more[id] = at(4);
  const edges = [...chain(40), ...weights.map((id) => `${id}>n35`), "k>n15", "c>n5"];
  const model = Model.of(graph(["c", "k", ...weights, ...names], edges, more), byPosition);
  const shown = model.childrenOf(model.root);
  assert.deepEqual(shown.map(label(model)).sort(), ["c", "line_1 = …", "line_2 = …", "line_3 = …", "line_4 = …"]);
  const sizes = shown.map((i) => [model.node(i).positions[0]?.line, model.inside[i]]);
  assert.deepEqual(
    sizes.filter(([line]) => line),
    [1, 2, 3, 4].map((line) => [line, 10 + (line === 2 ? 1 : line === 4 ? 3 : 0)]),
  );
  assert.deepEqual(Model.of(graph(names.slice(0, 30), chain(30), more), byPosition).nodes.length, 30);
});

test("a kernel of several lines is with the line of its last operation, and what has a name stays by itself", () => {
  const names = ids(36);
  const more: Record<string, Partial<GraphNode>> = {};
  names.forEach((id, i) => void (more[id] = at(i < 18 ? 1 : 2)));
  more.n18 = { kind: "fusion", paths: ["e1", "e2"] };
  more.n10 = { kind: "group", what: "function" };
  const parts = ["n18/a", "n18/b", "n10/a"];
  Object.assign(more, { "n18/a": at(1), "n18/b": at(2) });
  const model = Model.of(graph([...names, ...parts], chain(36), more), byPosition);
  const inside = (i: number) => model.allChildrenOf(i).map(label(model));
  const shown = model.childrenOf(model.root);
  assert.deepEqual(shown.map(label(model)).sort(), ["line_1 = …", "line_1 = …", "line_2 = …", "n10"]);
  assert.ok(inside(shown.find((i) => label(model)(i) === "line_2 = …")!).includes("n18"));
});

test("lines that are written in turn close no circle", () => {
  const names = ids(60);
  const more = Object.fromEntries(names.map((id, i) => [id, at(1 + (Math.floor(i / 3) % 2))]));
  const model = Model.of(graph(names, chain(60), more), byPosition);
  const { edges, children } = model.level(model.root);
  assert.ok(children.length <= 30);
  const order = topological(children.length, { from: edges.map((e) => e.from), to: edges.map((e) => e.to) });
  for (const { from, to } of edges) assert.ok(order.indexOf(from) < order.indexOf(to));
});

test("many side by side become a few and the rest", () => {
  const document = graph(
    ["a", ...ids(60), "z"],
    ids(60).flatMap((id) => [`a>${id}`, `${id}>z`]),
  );
  const model = Model.of(document);
  const labels = model.childrenOf(model.root).map((i) => model.node(i).label);
  assert.equal(labels.length, 2 + 17 + 1);
  assert.ok(labels.includes("+ 43 more"));
  const fold = model.childrenOf(model.root).find((i) => label(model)(i) === "+ 43 more")!;
  assert.deepEqual(model.allChildrenOf(fold).map(label(model)), ["18 – 47", "48 – 60"]);
});

test("folds close no circle: data still flows downwards", () => {
  const document = synthetic(3000, { branching: 0, longShare: 0.2 });
  const layout = layoutOf(document, "none");
  for (let scope = 0; scope <= layout.model.root; scope++)
    if (scope === layout.model.root || layout.model.isScope(scope))
      assert.ok(
        layout.structure(scope).chains.lines.every((line) => !line.turned),
        `a line of ${scope} is turned`,
      );
});

test("rows are never wide", () => {
  const document = graph(
    ["a", ...ids(20), "z"],
    ids(20).flatMap((id) => [`a>${id}`, `${id}>z`]),
  );
  const layout = layoutOf(document);
  const rows = new Map<number, number>();
  for (const node of layout.model.visible()) {
    const { y } = layout.rect(node);
    rows.set(y, (rows.get(y) ?? 0) + 1);
  }
  assert.ok(Math.max(...rows.values()) <= 9);
});

test("topological keeps the order given where it can", () => {
  const pairs = { from: [3, 0, 1], to: [0, 1, 2] };
  assert.deepEqual([...topological(5, pairs)], [3, 0, 1, 2, 4]);
  assert.deepEqual([...depths(topological(5, pairs), pairs)], [1, 2, 3, 0, 0]);
  assert.equal(topological(2, { from: [0, 1], to: [1, 0] }).length, 2); // a circle does not hang
});
