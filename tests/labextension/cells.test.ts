import assert from "node:assert/strict";
import { test } from "node:test";
import { goToCell } from "../../labextension/src/cells";

function fakePanel(ids: string[]) {
  const seen: unknown[] = [];
  const editor = {
    lineCount: 3,
    setCursorPosition: (position: unknown) => seen.push(["cursor", position]),
    revealPosition: () => {},
  };
  const content = {
    widgets: ids.map((id) => ({ model: { id }, editor })),
    activeCellIndex: -1,
    deselectAll() {},
    activate: () => seen.push("activate"),
    scrollToItem: async (index: number) => void seen.push(["scroll", index]),
  };
  return { panel: { content } as any, content, seen };
}

test("a place leads to its cell and line", async () => {
  const { panel, content, seen } = fakePanel(["a", "b"]);
  assert.equal(await goToCell(panel, { file: "b", line: 2, column: 4 }), true);
  assert.equal(content.activeCellIndex, 1);
  assert.deepEqual(seen, [["scroll", 1], ["cursor", { line: 1, column: 4 }], "activate"]);
});

test("a line that the cell does not have any more leaves the cursor alone", async () => {
  const { panel, seen } = fakePanel(["a"]);
  await goToCell(panel, { file: "a", line: 9, column: 0 });
  assert.deepEqual(seen, [["scroll", 0], "activate"]);
});

test("a cell that is gone is no error", async () => {
  const { panel, seen } = fakePanel(["a"]);
  assert.equal(await goToCell(panel, { file: "gone", line: 1, column: 0 }), false);
  assert.deepEqual(seen, []);
});
