// An array of shades; what is not finite is crossed out.
import { h, s } from "../dom";
import type { Heatmap } from "./forms";

const LEVELS = "0123456789abcdef";

export function heatmapPart({ name, summary, columns, cells, note }: Heatmap): HTMLElement {
  const wide = Math.max(1, columns);
  const rows = Math.ceil(cells.length / wide);
  const side = rows === 1 ? 14 : Math.max(3, Math.min(8, Math.floor(200 / Math.max(rows, wide))));
  const places = new Map<string, [number, number][]>();
  [...cells].forEach((cell, n) => {
    const place: [number, number] = [(n % wide) * side, Math.floor(n / wide) * side];
    places.get(cell)?.push(place) ?? places.set(cell, [place]);
  });
  const paths = [...places].map(([cell, found]) =>
    LEVELS.includes(cell) ? shade(cell, found, side) : crosses(cell, found, side),
  );
  const picture = s(
    "svg",
    {
      viewBox: `0 0 ${wide * side} ${rows * side}`,
      width: wide * side,
      height: rows * side,
      role: "img",
      "aria-label": summary,
    },
    ...paths,
  );
  return h(
    "figure.jitscope-heatmap",
    { "aria-label": name },
    picture,
    note ? h("figcaption.jitscope-muted", note) : null,
  );
}

function shade(cell: string, places: [number, number][], side: number): SVGElement {
  const d = places.map(([x, y]) => `M${x},${y}h${side}v${side}h${-side}z`).join("");
  return s("path", { d, class: "jitscope-heatmap-cell", "fill-opacity": 0.04 + (0.96 * LEVELS.indexOf(cell)) / 15 });
}

function crosses(cell: string, places: [number, number][], side: number): SVGElement {
  const d = places
    .map(([x, y]) => `M${x + 2},${y + 2}l${side - 4},${side - 4}m0,${4 - side}l${4 - side},${side - 4}`)
    .join("");
  return s("path", { d, class: "jitscope-heatmap-cross" }, s("title", {}, cell === "n" ? "NaN" : "Inf"));
}
