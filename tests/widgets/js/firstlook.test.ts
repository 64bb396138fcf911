import assert from "node:assert/strict";
import { test } from "node:test";
import { openFirst } from "../../../widgets/jitscope_widgets/js/graph/firstlook";
import { Model } from "../../../widgets/jitscope_widgets/js/graph/model";
// @ts-expect-error plain JavaScript, shared with the scripts
import { grouped } from "../fixtures/grouped.mjs";
import { graph, synthetic } from "./graphs";

function opened(model: Model): string[] {
  openFirst(model);
  return model.nodes.filter((_, i) => model.isScope(i) && model.open(i) && !model.isBlock(i)).map((node) => node.id);
}

test("a small program is seen whole", () => {
  const model = Model.of(graph(["x", "s", "s/a", "s/t", "s/t/b", "y"], ["x>s/a", "s/a>s/t/b", "s/t/b>y"]));
  assert.deepEqual(opened(model), ["s", "s/t"]);
});

test("the blocks of a network are open, its arguments and results are not", () => {
  const model = Model.of(grouped(12));
  const open = opened(model);
  assert.ok(open.includes("g0") || open.includes("g1"), "a block is open");
  assert.ok(!open.some((id) => /^(in|out):/.test(id)));
});

for (const [name, document] of Object.entries({
  network: grouped(48),
  flat: synthetic(5000, { branching: 0 }),
  scoped: synthetic(5000),
}))
  test(`${name}: the first look has operations or blocks, and not too many`, () => {
    const model = Model.of(document);
    openFirst(model);
    const shown = [...model.visible()].filter((i) => !(model.isScope(i) && model.open(i)));
    assert.ok(shown.length <= 80, `${shown.length} boxes`);
    assert.ok(shown.some((i) => model.isOperation(i) || model.inside[i]! > 0));
  });
