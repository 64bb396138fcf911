import assert from "node:assert/strict";
import { test } from "node:test";
import { withHulls } from "../../../widgets/jitscope_widgets/js/graph/hulls";
import { Model } from "../../../widgets/jitscope_widgets/js/graph/model";
import { graph, node } from "./graphs";

const NESTED = graph(["x", "s", "s/a", "s/t", "s/t/b", "y"], ["x>s/a", "x>s/t/b", "s/a>s/t/b", "s/t/b>y"]);

function names(model: Model, nodes: Iterable<number>): string[] {
  return [...nodes].map((i) => model.node(i).id).sort();
}

test("closed scopes stand for what they hold", () => {
  const model = Model.of(NESTED);
  assert.deepEqual(names(model, model.visible()), ["s", "x", "y"]);
  assert.deepEqual(names(model, model.neighbours(model.index.get("x")!, "out")), ["s"]);
  model.setOpen(model.index.get("s")!, true);
  assert.deepEqual(names(model, model.visible()), ["s", "s/a", "s/t", "x", "y"]);
  assert.deepEqual(names(model, model.neighbours(model.index.get("x")!, "out")), ["s/a", "s/t"]);
  assert.deepEqual(names(model, model.neighbours(model.index.get("y")!, "in")), ["s/t"]);
});

test("every edge crosses each scope border once, through a port", () => {
  const model = Model.of(NESTED);
  const at = (id: string) => model.level(model.index.get(id)!);
  assert.equal(model.level(model.root).edges.length, 2);
  assert.deepEqual(names(model, at("s").inPorts), ["x"]); // one line for one value, however many use it
  assert.deepEqual(names(model, at("s").outPorts), ["s/t"]);
  assert.deepEqual(names(model, at("s/t").inPorts), ["s/a", "x"]);
});

test("counts leave hulls out", () => {
  const model = Model.of(NESTED);
  assert.equal(model.inside[model.index.get("s")!], 3);
  assert.equal(model.inside[model.root], 6);
});

test("scopes that contain each other do not hang", () => {
  const broken = graph(["a", "b"], ["a>b"], { a: { scope: "b" }, b: { scope: "a" } });
  assert.equal([...Model.of(broken).visible()].length > 0, true);
});

test("edges to unknown nodes are ignored", () => {
  const model = Model.of(graph(["a"], ["a>nowhere", "nowhere>a", "a>a"]));
  assert.equal(model.level(model.root).edges.length, 0);
});

test("a kernel's operations get a hull; a single one does not", () => {
  const nodes = [
    node("a", null, { fused_into: "k" }),
    node("b", null, { fused_into: "k" }),
    node("c", null, { fused_into: "other" }),
  ];
  const shown = withHulls(nodes);
  assert.deepEqual(
    shown.map((n) => [n.id, n.scope]),
    [
      ["a", "hull::k"],
      ["b", "hull::k"],
      ["c", null],
      ["hull::k", null],
    ],
  );
  assert.equal(nodes[0]!.scope, null); // the document is left as it was
});
