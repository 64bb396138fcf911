import assert from "node:assert/strict";
import { test } from "node:test";
import { before, difference, edited, unitsOf } from "../../../widgets/jitscope_widgets/js/fixes";
import type { Edit, Fix } from "../../../widgets/jitscope_widgets/js/documents";

const edit = (line: number, column: number, end_line: number, end_column: number, text: string): Edit => ({
  line,
  column,
  end_line,
  end_column,
  text,
});
const fix = (edits: Edit[], lines?: string[]): Fix => ({ text: "", edits, checked: "", position: null, before: lines });
const shown = (one: Fix) => difference(one).map(({ sign, number, text }) => `${sign}${number ?? ""} ${text}`);

test("edits are made from the end, so that none moves another", () => {
  assert.deepEqual(edited(["abc", "def"], [edit(3, 0, 3, 1, "X"), edit(3, 2, 4, 1, "\n")], 3), ["Xb", "ef"]);
  assert.deepEqual(edited(["return x"], [edit(1, 7, 1, 8, "y,\n    z")], 1), ["return y,", "    z"]);
});

test("columns count characters, as in Python", () => {
  assert.equal(unitsOf("a😀b", 2), 3);
  assert.deepEqual(edited(["s = '😀😀' + x"], [edit(1, 11, 1, 12, "y")], 1), ["s = '😀😀' + y"]);
});

test("the difference has the lines that change, and some beside them", () => {
  const lines = ["a", "b", "c", "d", "e", "f", "g", "h"];
  assert.deepEqual(shown(fix([edit(11, 0, 11, 1, "A"), edit(18, 0, 18, 1, "H")], lines)), [
    "-11 a",
    "+ A",
    " 12 b",
    " 13 c",
    "… ",
    " 16 f",
    " 17 g",
    "-18 h",
    "+ H",
  ]);
  assert.deepEqual(shown(fix([edit(2, 0, 3, 1, "one\nb\ntwo")], ["b", "c"])), ["+ one", " 2 b", "-3 c", "+ two"]);
});

test("a single line is known from the fix's position", () => {
  const one = { ...fix([edit(4, 0, 4, 1, "y")]), position: { line: 4, text: "x + 1" } as Fix["position"] };
  assert.deepEqual(before(one), ["x + 1"]);
  assert.deepEqual(shown(one), ["-4 x + 1", "+ y + 1"]);
  assert.equal(before(fix([edit(4, 0, 4, 1, "y")])), null);
});
