// Long names go on in the next line where a person would break them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { breaksIn } from "../../../widgets/jitscope_widgets/js/breaks";
import samples from "../breaks.json";

for (const [text, parts] of samples as [string, string[]][])
  test(text, () => {
    const ends = [0, ...breaksIn(text), text.length];
    assert.deepEqual(
      ends.slice(1).map((end, n) => text.slice(ends[n], end)),
      parts,
    );
  });
