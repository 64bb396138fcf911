import assert from "node:assert/strict";
import { test } from "node:test";
import { particular } from "../../../widgets/jitscope_widgets/js/graph/differences";
import { Layout } from "../../../widgets/jitscope_widgets/js/graph/layout";
import { Model } from "../../../widgets/jitscope_widgets/js/graph/model";
// @ts-expect-error plain JavaScript, shared with the scripts
import { grouped } from "../fixtures/grouped.mjs";

function network(open: string[]): Model {
  const model = Model.of(grouped(12));
  for (const id of open) model.setOpen(model.index.get(id)!, true);
  return model;
}

const named = (model: Model, id: string) => model.index.get(id)!;
const layoutFor = (model: Model) => new Layout(model, (i) => ({ w: 40 + model.node(i).label.length * 8, h: 30 }));

test("of a repeat one block is drawn", () => {
  const model = network(["g0"]);
  const drawn = [...model.visible()].map((i) => model.node(i).id);
  assert.ok(drawn.includes("g0/0") && !drawn.includes("g0/1"));
  model.chooseBlock(named(model, "g0"), 4);
  assert.deepEqual(
    [...model.visible()].map((i) => model.node(i).id).filter((id) => /^g0\/\d+$/.test(id)),
    ["g0/4"],
  );
});

test("a step beyond the last block stays there", () => {
  const model = network(["g0"]);
  model.chooseBlock(named(model, "g0"), 99);
  assert.equal(model.blockOf(named(model, "g0")), 11);
});

test("what is hidden in another block is shown as the repeat", () => {
  const model = network(["g0"]);
  const inThird = model.allChildrenOf(named(model, "g0/2")).find((i) => model.isOperation(i))!;
  assert.equal(model.node(model.shown(inThird)).id, "g0");
  model.chooseBlock(named(model, "g0"), 2);
  assert.equal(model.shown(inThird), inThird);
});

test("a block gets its values from outside and from the block before it", () => {
  const model = network(["g0"]);
  const from = (block: number) => {
    model.chooseBlock(named(model, "g0"), block);
    return model
      .level(named(model, "g0"))
      .inPorts.map((i) => model.node(i).id)
      .sort();
  };
  assert.deepEqual(from(0), ["e0", "in:params"]);
  assert.deepEqual(from(3), ["g0/2", "in:params"]);
});

test("every block is drawn alike", () => {
  const model = network(["g0"]);
  const layout = layoutFor(model);
  const heights = [1, 2, 10].map((block) => {
    model.chooseBlock(named(model, "g0"), block);
    layout.changed(named(model, "g0"));
    return Math.round(layout.rect(named(model, "g0")).h);
  });
  assert.equal(new Set(heights).size, 1);
});

test("a closed scope of many values has one line, an open one a line for each", () => {
  const lines = (model: Model) =>
    model
      .level(model.root)
      .edges.filter(({ from }) => model.node(model.childrenOf(model.root)[from]!).id === "in:params");
  assert.deepEqual([...new Set(lines(network([])).map(({ source }) => source))], [-1]);
  assert.ok(new Set(lines(network(["in:params"])).map(({ source }) => source)).size === 12);
});

test("a block says what is particular to it", () => {
  const model = network(["g0"]);
  assert.deepEqual(particular(model, named(model, "g0/2")), ["params['blocks'][2]"]);
  assert.deepEqual(particular(model, named(model, "g0/0")), ["params['blocks'][0]"]);
});
