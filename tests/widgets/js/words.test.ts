import assert from "node:assert/strict";
import table from "../../../widgets/jitscope_widgets/numbers.json";
import { test } from "node:test";
import type { DiffRow, Kernel } from "../../../widgets/jitscope_widgets/js/documents";
import { runs } from "../../../widgets/jitscope_widgets/js/diff";
import { hloTokens, pythonTokens } from "../../../widgets/jitscope_widgets/js/highlight";
import { what } from "../../../widgets/jitscope_widgets/js/kernels";
import { bytes, quantity, seconds, withUnit, percent } from "../../../widgets/jitscope_widgets/js/numbers";
import { say } from "../../../widgets/jitscope_widgets/js/sentences";
import { contrast, parseColour } from "../../../widgets/jitscope_widgets/js/theme";

test("three significant digits with a unit, as in Python", () => {
  for (const [value, unit, text] of table.samples) assert.equal(withUnit(value as number, unit as string), text);
  for (const [share, text] of table.shares) assert.equal(percent(share as number), text);
  assert.equal(seconds(0.0613), "61.3 ms");
  assert.equal(bytes(1792), "1.79 kB");
});

test("modelled and unknown quantities are marked", () => {
  assert.equal(quantity({ value: 9800, unit: "B", origin: "modelled", note: "" }), "≈ 9.8 kB");
  assert.equal(quantity({ value: null, unit: "s", origin: "unknown", note: "" }), "?");
  assert.equal(quantity({ value: Number.NaN, unit: "s", origin: "measured", note: "" }), "?");
});

function rows(kinds: string): DiffRow[] {
  const names: Record<string, DiffRow["kind"]> = { s: "same", c: "changed", f: "fused", r: "removed" };
  return [...kinds].map((k, i) => ({
    kind: names[k]!,
    left: { number: i, text: `${i}`, name: "", paths: [] },
    right: null,
    caption: "",
  }));
}

test("long unchanged runs are folded, with lines kept beside a change", () => {
  const shape = (kinds: string) => runs(rows(kinds)).map((run) => `${run.kind} ${run.rows.length}`);
  assert.deepEqual(shape("ssssss"), ["rows 6"]);
  assert.deepEqual(shape("sssssssss"), ["folded 9"]);
  assert.deepEqual(shape("sssssssssc"), ["folded 7", "rows 3"]);
  assert.deepEqual(shape("csssssssssc"), ["rows 3", "folded 5", "rows 3"]);
  assert.deepEqual(shape("sffffs"), ["rows 1", "fused 4", "rows 1"]);
});

test("rows of two kernels do not run together", () => {
  const list = rows("ffff");
  list[0]!.caption = "2 operations became 1 kernel";
  list[2]!.caption = "another 2";
  assert.deepEqual(
    runs(list).map((run) => run.rows.length),
    [2, 2],
  );
});

test("an at sign begins a decorator at the start of a line alone", () => {
  const marked = (text: string) => pythonTokens(text).filter(([kind]) => kind === "op").map(([, piece]) => piece);
  assert.deepEqual(marked("    @jax.jit"), ["@jax.jit"]);
  assert.deepEqual(marked("    y = x @w + A@b.T"), []);
});

test("tokens lose nothing", () => {
  const text = '  %add.4 = f32[64,7]{1,0} add(%a, %b), metadata={op_name="e3 <b>"} // note';
  assert.equal(
    hloTokens(text)
      .map(([, piece]) => piece)
      .join(""),
    text,
  );
  const kinds = new Map(hloTokens(text).map(([kind, piece]) => [piece, kind]));
  assert.equal(kinds.get("%add.4"), "name");
  assert.equal(kinds.get("f32[64,7]{1,0}"), "type");
  assert.equal(kinds.get("add"), "op");
});

test("contrast as WCAG computes it", () => {
  assert.equal(Math.round(contrast([0, 0, 0], [255, 255, 255])), 21);
  assert.deepEqual([...parseColour("color(srgb 1 0.5 0 / 0.5)")], [255, 128, 0]);
  assert.equal(parseColour("rgba(1, 2, 3, 0.25)").alpha, 0.25);
});

test("kernels are named by what they are", () => {
  const kernel = (kind: Kernel["kind"], opcode: string, members = 1): Kernel =>
    ({ kind, opcode, members: Array.from({ length: members }) }) as unknown as Kernel;
  const kernels = [kernel("fusion", "fusion", 6), kernel("copy", "copy"), kernel("library", "dot"), kernel("other", "reduce")];
  assert.deepEqual(kernels.map(what), ["fusion of 6", "copy", "library call: dot", "operation: reduce"]);
});

test("sentences shared with the still views have their places filled", () => {
  assert.equal(say("numbers laid over", { what: "cost" }), "after the names: cost");
  assert.equal(say("numbers laid over", { what: "ms" }), "after the names: ms");
});
