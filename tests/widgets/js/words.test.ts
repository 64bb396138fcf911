import assert from "node:assert/strict";
import table from "../../../widgets/jitscope_widgets/numbers.json";
import { test } from "node:test";
import { hloTokens, pythonTokens } from "../../../widgets/jitscope_widgets/js/highlight";
import { bytes, quantity, seconds, withUnit, percent } from "../../../widgets/jitscope_widgets/js/numbers";
import { Scale } from "../../../widgets/jitscope_widgets/js/parts/scale";
import { say } from "../../../widgets/jitscope_widgets/js/sentences";
import { contrast, parseColour } from "../../../widgets/jitscope_widgets/js/theme";

test("three significant digits with a unit, as in Python", () => {
  for (const [value, unit, text] of table.samples) assert.equal(withUnit(value as number, unit as string), text);
  for (const [share, text] of table.shares) assert.equal(percent(share as number), text);
  assert.equal(seconds(0.0613), "61.3 ms");
  assert.equal(bytes(1792), "1.79 kB");
});

test("what is counted has round numbers at its axis, as in Python", () => {
  const heights = (high: number, count: number) => new Scale({ title: "in use", low: 0, high }, 0, 100).heights(count);
  assert.deepEqual(heights(15e3, 4), [0, 5e3, 10e3, 15e3]);
  assert.deepEqual(heights(2.5e6, 4), [0, 1e6, 2e6]);
  assert.deepEqual(heights(228, 2), [0, 200]);
  assert.deepEqual(heights(5, 2), [0, 5]);
  assert.deepEqual(heights(1, 4), [0, 1]);
});

test("modelled and unknown quantities are marked", () => {
  assert.equal(quantity({ value: 9800, unit: "B", origin: "modelled", note: "" }), "≈ 9.8 kB");
  assert.equal(quantity({ value: null, unit: "s", origin: "unknown", note: "" }), "?");
  assert.equal(quantity({ value: Number.NaN, unit: "s", origin: "measured", note: "" }), "?");
});

test("an at sign begins a decorator at the start of a line alone", () => {
  const marked = (text: string) =>
    pythonTokens(text)
      .filter(([kind]) => kind === "op")
      .map(([, piece]) => piece);
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

test("sentences shared with the still views have their places filled", () => {
  assert.equal(say("numbers laid over", { what: "cost" }), "after the names: cost");
  assert.equal(say("numbers laid over", { what: "ms" }), "after the names: ms");
});
