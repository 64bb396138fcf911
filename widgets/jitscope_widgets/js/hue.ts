// The colour of a source line as an element: Okabe–Ito hues, then the same with patterns.
import { h } from "./dom";
import { HUES } from "./theme";

export function swatch(index: number): HTMLElement {
  return h("span.jitscope-swatch", {
    "data-pattern": Math.floor(index / HUES) % 3,
    style: { "--hue": `var(--js-hue-${index % HUES})` },
    "aria-hidden": "true",
  });
}
