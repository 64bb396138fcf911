// A grid of cells in colours: which device has which part.
import { h } from "../dom";
import { HUES } from "../theme";
import type { Tiles } from "./forms";

const TEXTURES = 4; // plain and three kinds of stripes: where the hues are used up, they begin again in the next one

export function tilesPart(part: Tiles): HTMLElement {
  const places = new Map(part.tiles.map(([row, column], n) => [`${row} ${column}`, n]));
  const height = 1 + Math.max(0, ...part.tiles.map(([row]) => row));
  const width = 1 + Math.max(0, ...part.tiles.map(([, column]) => column));
  const corner = part.rows.length ? h("td.jitscope-tiles-corner") : null;
  const head = part.columns.length
    ? [h("tr", corner, ...part.columns.map((name) => h("th", { scope: "col" }, name)))]
    : [];
  const body = Array.from({ length: height }, (_, row) => {
    const name = part.rows.length ? h("th", { scope: "row" }, part.rows[row]) : null;
    const cells = Array.from({ length: width }, (_, column) => cell(part, places.get(`${row} ${column}`)));
    return h("tr", name, ...cells);
  });
  return h(
    "div.jitscope-tiles",
    { tabindex: 0, role: "region", "aria-label": part.name },
    h("table", h("tbody", ...head, ...body)),
  );
}

function cell({ tiles }: Tiles, n: number | undefined): HTMLElement | null {
  if (n === undefined) return null;
  const [, , text, said] = tiles[n]!;
  return h(
    "td",
    {
      "data-tile": n,
      "data-texture": Math.floor(n / HUES) % TEXTURES,
      title: said,
      style: { "--hue": `var(--js-hue-${n % HUES})` },
    },
    text,
  );
}
