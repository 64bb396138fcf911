import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../../widgets/jitscope_widgets/js/graph/model";
import { depths, topological } from "../../../widgets/jitscope_widgets/js/graph/topology";
import { graph, layoutOf, synthetic } from "./graphs";

const ids = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);
const chain = (count: number) => ids(count - 1).map((id, i) => `${id}>n${i + 1}`);

test("no level of a long flat graph has more than a few boxes, and nothing is lost", () => {
  const model = Model.of(synthetic(20000, { branching: 0 }));
  for (let scope = 0; scope <= model.root; scope++) assert.ok(model.childrenOf(scope).length <= 150);
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
  assert.ok(["… 5 more", "… 49 more"].every((label) => shown.includes(label)));
  assert.equal(shown.length, 20 + 2 * scopes.length + 1 + 8);
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
