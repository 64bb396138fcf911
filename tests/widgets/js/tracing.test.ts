import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../../widgets/jitscope_widgets/js/graph/model";
import { between, drawnOf, reach } from "../../../widgets/jitscope_widgets/js/graph/tracing";
import { graph, synthetic } from "./graphs";

const SAMPLE = Model.of(
  graph(["a", "b", "c", "d", "e", "s", "s/x", "s/y"], ["a>b", "b>c", "a>d", "d>s/x", "s/x>s/y", "s/y>e", "c>e"]),
);
const at = (id: string, model = SAMPLE) => model.index.get(id)!;
const names = (nodes: Iterable<number>, model = SAMPLE) => [...nodes].map((i) => model.node(i).id).sort();

test("all producers and all users", () => {
  assert.deepEqual(names(reach(SAMPLE, at("c"), "producers").nodes), ["a", "b", "c"]);
  assert.deepEqual(names(reach(SAMPLE, at("d"), "users").nodes), ["d", "e", "s/x", "s/y"]);
});

test("a scope stands for all that is in it", () => {
  const found = reach(SAMPLE, at("s"), "producers");
  assert.deepEqual(names(found.nodes), ["a", "d", "s", "s/x", "s/y"]);
  assert.ok(![...found.edges].some((e) => SAMPLE.from[e] === at("s/x")), "its own edges are no news");
});

test("the ways between two nodes, whichever was picked first", () => {
  const found = between(SAMPLE, at("e"), at("a"))!;
  assert.deepEqual([SAMPLE.node(found.from).id, SAMPLE.node(found.to).id], ["a", "e"]);
  assert.deepEqual(names(found.nodes), ["a", "b", "c", "d", "e", "s/x", "s/y"]);
  assert.deepEqual(names(between(SAMPLE, at("a"), at("c"))!.nodes), ["a", "b", "c"]);
  assert.equal(between(SAMPLE, at("c"), at("s/x")), null);
});

test("what a scope takes reaches what is in it, and the other way round", () => {
  const model = Model.of(graph(["i", "cond", "cond/x", "y"], ["i>cond", "cond/x>y"]));
  assert.ok(reach(model, at("i", model), "users").nodes.has(at("y", model)));
  assert.ok(reach(model, at("y", model), "producers").nodes.has(at("i", model)));
});

test("closed scopes are drawn for what was traced in them", () => {
  const found = between(SAMPLE, at("a"), at("s/y"))!;
  assert.deepEqual(names(drawnOf(SAMPLE, found)), ["a", "d", "s"]);
});

test("a way is the same as walking edge by edge", () => {
  const model = Model.of(synthetic(400));
  const operations = model.nodes.flatMap((_, i) => (model.isScope(i) ? [] : [i]));
  const reachable = (start: number, ends: Int32Array, others: Int32Array) => {
    const seen = new Set([start]);
    for (let grew = true; grew; ) {
      grew = false;
      ends.forEach((end, e) => {
        if (seen.has(end) && others[e]! >= 0 && !seen.has(others[e]!)) {
          seen.add(others[e]!);
          grew = true;
        }
      });
    }
    return seen;
  };
  for (const one of [operations[5]!, operations[50]!]) {
    const other = operations[operations.length - 10]!;
    const down = reachable(one, model.from, model.to);
    const up = reachable(other, model.to, model.from);
    const wanted = [...down].filter((i) => up.has(i)).sort((a, b) => a - b);
    const found = between(model, one, other);
    const leaves = [...(found?.nodes ?? [])].filter((i) => !model.isScope(i)).sort((a, b) => a - b);
    assert.deepEqual(leaves, wanted);
  }
});
