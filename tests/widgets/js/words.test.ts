import assert from "node:assert/strict";
import { test } from "node:test";
import type { DiffRow, RecompilationCard } from "../../../widgets/jitscope_widgets/js/documents";
import { runs } from "../../../widgets/jitscope_widgets/js/diff";
import { hloTokens } from "../../../widgets/jitscope_widgets/js/highlight";
import { bytes, quantity, seconds, withUnit } from "../../../widgets/jitscope_widgets/js/numbers";
import { because } from "../../../widgets/jitscope_widgets/js/recompiles";
import { contrast, parseColour } from "../../../widgets/jitscope_widgets/js/theme";

test("three significant digits with a unit", () => {
  const written: [number, string][] = [
    [0, "0 s"],
    [0.000_000_5, "500 ns"],
    [0.00021, "210 µs"],
    [0.0009999, "1.00 ms"],
    [0.0613, "61.3 ms"],
    [2, "2.00 s"],
    [1234, "1234 s"],
  ];
  for (const [value, text] of written) assert.equal(seconds(value), text.replace("1234 s", "1230 s"));
  assert.deepEqual([0, 5, 999, 1792, 5120, 1e9].map(bytes), ["0 B", "5 B", "999 B", "1.79 kB", "5.12 kB", "1.00 GB"]);
  assert.equal(withUnit(21000, "flops"), "21.0 kflop");
  assert.equal(withUnit(3, "calls"), "3.00 calls");
});

test("modelled and unknown quantities are marked", () => {
  assert.equal(quantity({ value: 9800, unit: "B", origin: "modelled", note: "" }), "≈ 9.80 kB");
  assert.equal(quantity({ value: null, unit: "s", origin: "unknown", note: "" }), "?");
  assert.equal(quantity({ value: Number.NaN, unit: "s", origin: "measured", note: "" }), "?");
});

test("a reason is a sentence that says what happened", () => {
  const card = (number: number, text: string) =>
    ({ number, because: text, differences: [] }) as unknown as RecompilationCard;
  assert.equal(because(card(2, "x has another shape")), "recompiled because x has another shape.");
  assert.equal(because(card(2, "recompiled because of x.")), "recompiled because of x.");
  assert.equal(because(card(1, "first call")), "first call.");
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
