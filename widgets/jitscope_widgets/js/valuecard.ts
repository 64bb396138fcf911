// A closer look at one value: statistics, a histogram, a small picture of the array.
import type { GraphDoc, ValueDetail, ValueRow, ValuesDoc } from "./documents";
import { grouped, h, plural, s } from "./dom";
import { percent, withUnit } from "./numbers";

const LEVELS = "0123456789abcdef";

export const figure = (value: number | null): string => (value === null ? "–" : withUnit(value, ""));

export const isBad = (row: ValueRow): boolean => row.nan > 0 || row.inf > 0;

/** "✕ 3 NaN, 1 Inf, since iteration 5" */
export function badness(row: ValueRow): string {
  const parts = [row.nan ? `${grouped(row.nan)} NaN` : "", row.inf ? `${grouped(row.inf)} Inf` : ""].filter(Boolean);
  const since = row.iterations && row.first_bad !== null ? `, since iteration ${grouped(row.first_bad)}` : "";
  return parts.length ? `✕ ${parts.join(", ")}${since}` : "";
}

export function valueName(row: ValueRow): string {
  return row.result ? `${row.label}, result ${row.result}` : row.label;
}

/** "on 8 devices", "the same on 8 devices"; "" for a value that is one for all. */
export function onDevices({ devices }: ValueRow): string {
  return devices ? `${devices.alike ? "the same " : ""}on ${plural(devices.count, "device")}` : "";
}

export const zeroShare = (row: ValueRow): number => (row.size ? row.zeros / row.size : 0);

export function statistics(row: ValueRow): HTMLElement {
  const entry = (name: string, text: string) => [h("dt", {}, name), h("dd", {}, text)];
  return h(
    "dl",
    { class: "jitscope-value-figures" },
    ...entry("min", figure(row.min)),
    ...entry("max", figure(row.max)),
    ...entry("mean", figure(row.mean)),
    ...entry("std", figure(row.std)),
    ...entry("zeros", row.size ? percent(zeroShare(row)) : "–"),
    ...entry("elements", grouped(row.size)),
    ...(row.iterations ? entry("iterations", grouped(row.iterations)) : []),
    ...(row.devices ? entry("devices", grouped(row.devices.count)) : []),
  );
}

function histogramPicture(histogram: NonNullable<ValueDetail["histogram"]>): HTMLElement {
  const { counts, low, high, log, zeros } = histogram;
  const most = Math.max(1, ...counts);
  const width = 280 / Math.max(1, counts.length);
  const label = `Histogram ${log ? "of magnitudes, logarithmic" : "of values"}, from ${figure(low)} to ${figure(high)}; at most ${plural(most, "element")} in a bin`;
  const bars = counts.map((count, n) => {
    const from = log ? low * (high / low) ** (n / counts.length) : low + ((high - low) * n) / counts.length;
    const to = log ? low * (high / low) ** ((n + 1) / counts.length) : low + ((high - low) * (n + 1)) / counts.length;
    const bar = s("rect", { x: n * width + 0.5, width: Math.max(0.5, width - 1), y: 80 * (1 - count / most), height: (80 * count) / most, class: "jitscope-value-bar" });
    bar.append(s("title", {}, `${grouped(count)} from ${figure(from)} to ${figure(to)}`));
    return bar;
  });
  return h(
    "figure",
    { class: "jitscope-value-figure" },
    s("svg", { viewBox: "0 0 280 81", role: "img", "aria-label": label }, ...bars, s("path", { d: "M0,80.5H280", class: "jitscope-memory-grid" })),
    h("figcaption", {}, h("span", {}, figure(low)), h("span", { class: "jitscope-muted" }, log ? `magnitude, logarithmic${zeros ? `; ${grouped(zeros)} zeros beside` : ""}` : `tallest: ${grouped(most)}`), h("span", {}, figure(high))),
  );
}

function arrayPicture(picture: NonNullable<ValueDetail["picture"]>): HTMLElement {
  const { rows, columns, cells, low, high, folded } = picture;
  const side = rows === 1 ? 14 : 8;
  const of = new Map<string, string>();
  [...cells].forEach((cell, n) => of.set(cell, `${of.get(cell) ?? ""}M${(n % columns) * side},${Math.floor(n / columns) * side}h${side}v${side}h${-side}z`));
  const bad = [...of.keys()].some((cell) => !LEVELS.includes(cell));
  const label = `Picture of the array: ${folded}; from ${figure(low)}, faint, to ${figure(high)}, strong${bad ? "; crossed: NaN or Inf" : ""}`;
  const paths = [...of].map(([cell, d]) => {
    const level = LEVELS.indexOf(cell);
    return level < 0 ? s("path", { d, class: "jitscope-value-bad" }, s("title", {}, cell === "n" ? "NaN" : "Inf")) : s("path", { d, class: "jitscope-value-cell", "fill-opacity": 0.04 + (0.96 * level) / 15 });
  });
  const crosses = [...cells].flatMap((cell, n) => {
    if (LEVELS.includes(cell)) return [];
    const [x, y] = [(n % columns) * side, Math.floor(n / columns) * side];
    return [s("path", { d: `M${x + 2},${y + 2}l${side - 4},${side - 4}m0,${4 - side}l${4 - side},${side - 4}`, class: "jitscope-value-cross" })];
  });
  const svg = s("svg", { viewBox: `0 0 ${columns * side} ${rows * side}`, width: columns * side, height: rows * side, role: "img", "aria-label": label }, ...paths, ...crosses);
  return h(
    "figure",
    { class: "jitscope-value-figure" },
    svg,
    h("figcaption", {}, h("span", {}, `faint ${figure(low)}`), h("span", {}, `strong ${figure(high)}`), bad ? h("span", {}, "✕ NaN or Inf") : null),
    h("p", { class: "jitscope-muted" }, folded),
  );
}

/** What each device has of a value, one row for each. */
function partsTable(parts: ValueDetail["parts"]): HTMLElement {
  const cells = (name: string, ...texts: (string | HTMLElement)[]) => h("tr", {}, h("th", { scope: "row" }, name), ...texts.map((text) => h("td", {}, text)));
  const wrong = (nan: number, inf: number) => [nan ? `✕ ${grouped(nan)} NaN` : "", inf ? `✕ ${grouped(inf)} Inf` : ""].filter(Boolean).join(", ");
  const head = h("tr", {}, ...["device", "min", "max", "mean", "not finite"].map((name) => h("th", { scope: "col" }, name)));
  const rows = parts.map(({ place, min, max, mean, nan, inf }) => cells(place, figure(min), figure(max), figure(mean), h("span", { class: "jitscope-value-wrong" }, wrong(nan, inf))));
  return h("div", { class: "jitscope-value-parts", tabindex: 0, role: "region", "aria-label": "The value on each device" }, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)));
}

/** The figures of a value, and its closer look where there is one. */
export function valueCard(row: ValueRow, detail: ValueDetail | undefined): HTMLElement {
  const bad = badness(row);
  return h(
    "div",
    { class: "jitscope-value-card", "data-path": row.path },
    h("p", { class: "jitscope-value-name" }, h("strong", {}, valueName(row)), " ", h("code", {}, row.type), row.devices ? h("span", { class: "jitscope-muted" }, ` ${onDevices(row)}`) : null),
    bad ? h("p", { class: "jitscope-value-wrong" }, bad) : null,
    statistics(row),
    detail && detail.iteration !== null ? h("p", { class: "jitscope-muted" }, `Iteration ${grouped(detail.iteration)} (from 0):`) : null,
    detail?.histogram ? histogramPicture(detail.histogram) : null,
    detail?.picture ? arrayPicture(detail.picture) : null,
    detail?.first.length ? h("p", {}, h("span", { class: "jitscope-muted" }, detail.parts.length ? `first elements on ${detail.parts[0]!.place} ` : "first elements "), h("code", {}, detail.first.join(", "))) : null,
    detail?.parts.length ? partsTable(detail.parts) : null,
  );
}

/** By the calls that are scopes: the operations inside whose values others read. Values stand at the operations that make them. */
function given(graph: GraphDoc): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { from, to } of graph.edges)
    for (let at = from.lastIndexOf("/"); at > 0; at = from.lastIndexOf("/", at - 1)) {
      const scope = from.slice(0, at);
      if (to.startsWith(`${scope}/`)) break;
      found.set(scope, (found.get(scope) ?? new Set()).add(from));
    }
  return found;
}

/** The values of a node: its own, or those that leave it. */
export function valuesOfNode(graph: GraphDoc, id: string, { rows }: ValuesDoc): ValueRow[] {
  const own = rows.filter(({ path }) => path === id);
  const inside = own.length ? undefined : given(graph).get(id);
  return inside ? rows.filter(({ path }) => inside.has(path)) : own;
}

/** The graph with what is not finite named so, and outlined as what is wrong. */
export function withBadness(graph: GraphDoc, values: ValuesDoc | undefined): GraphDoc {
  if (!values || values.first_bad === null) return graph;
  const rows = new Map<string, ValueRow[]>();
  for (const row of values.rows) rows.set(row.path, [...(rows.get(row.path) ?? []), row]);
  for (const [scope, inside] of given(graph)) if (!rows.has(scope)) rows.set(scope, [...inside].flatMap((id) => rows.get(id) ?? []));
  const nodes = graph.nodes.map((node) => {
    const bad = rows.get(node.id)?.filter(isBad) ?? [];
    if (!bad.length) return node;
    const words = [bad.some(({ nan }) => nan) ? "NaN" : "", bad.some(({ inf }) => inf) ? "Inf" : ""].filter(Boolean);
    return { ...node, label: `${node.label} ✕ ${words.join(" ")}`, mark: "stop" as const };
  });
  return { ...graph, nodes };
}
