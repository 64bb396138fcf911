// Long names go on in the next line where a person would break them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { breaksIn, quantitiesIn } from "../../../widgets/jitscope_widgets/js/breaks";
import { Scale } from "../../../widgets/jitscope_widgets/js/parts/scale";
import samples from "../breaks.json";
import quantities from "../quantities.json";

for (const [text, parts] of samples as [string, string[]][])
  test(text, () => {
    const ends = [0, ...breaksIn(text), text.length];
    assert.deepEqual(
      ends.slice(1).map((end, n) => text.slice(ends[n], end)),
      parts,
    );
  });

for (const [text, whole] of quantities as [string, string[]][])
  test(`quantities in: ${text}`, () => {
    assert.deepEqual(
      quantitiesIn(text).map(([start, end]) => text.slice(start, end)),
      whole,
    );
  });

test("some of few and of many steps", () => {
  const steps = (high: number) => new Scale({ title: "steps", low: 0, high }, 0, 100).steps(4);
  assert.deepEqual(steps(5), [0, 1, 2, 3, 4]);
  assert.deepEqual(steps(2), [0, 1]);
  assert.deepEqual(steps(161), [0, 40, 80, 120, 160]);
});
