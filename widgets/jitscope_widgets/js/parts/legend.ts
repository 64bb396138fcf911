// What the colours of a picture stand for.
import { h } from "../dom";

/** A key of each tone with its words, behind what all of them say. */
export function legend(tones: readonly (readonly [string | undefined, string])[], before = ""): HTMLElement {
  const entries = tones.map(([tone, words]) =>
    h("span", h("span.jitscope-chart-key", { "data-of": tone, "aria-hidden": "true" }), words),
  );
  return h("p.jitscope-chart-legend", before && h("span", before), ...entries);
}
