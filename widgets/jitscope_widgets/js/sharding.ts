// Which device has which part of an array: tiles in colours. The counterpart of sharding_view.py.
import type { ShardingDoc } from "./documents";
import { grouped, h, plural } from "./dom";
import type { View } from "./mount";
import { bytes } from "./numbers";
import { say } from "./sentences";
import { HUES } from "./theme";

type Tile = ShardingDoc["tiles"][number];

const MOST = 24; // devices named in a tile
const TEXTURES = 4; // plain and three kinds of stripes: where the hues are used up, they begin again in the next one

function each(doc: ShardingDoc): string {
  const size = doc.bytes === null ? "" : `, ${bytes(doc.bytes)}`;
  if (doc.devices === 1) return say("one device", { bytes: size });
  if (doc.tiles.length + doc.left_out === 1) return say("replicated", { bytes: size });
  const same = doc.copies === 1 ? "" : doc.copies ? say("copies", { copies: doc.copies }) : say("copies differ");
  return say("cut", { part: doc.part, bytes: size, copies: same });
}

function headline(doc: ShardingDoc): string {
  const axes = doc.mesh.map(({ name, size }) => `${name} ${size}`).join(" × ");
  const spec = doc.spec === null ? "" : `, ${doc.spec}`;
  const memory = doc.memory === null || doc.memory === "device" ? "" : `, in ${doc.memory} memory`;
  return `${doc.title ? `${doc.title}: ` : ""}${doc.type} over ${plural(doc.devices, "device")}${axes ? ` (${axes})` : ""}${spec}${memory}. ${each(doc)}`;
}

function cut(doc: ShardingDoc): string {
  return doc.axes
    .flatMap(({ size, parts, along }, n) => (parts > 1 ? [say("axis cut", { axis: n, size: grouped(size), parts, along: along.length ? ` along ${along.join(", ")}` : "" })] : []))
    .join("; ");
}

function whatIsDrawn({ drawn, axes, rows, columns }: ShardingDoc): string {
  if (!drawn) return say("not flat");
  if (axes.length <= 2) return "";
  const rest = axes.map((_, n) => n).filter((n) => n !== rows && n !== columns);
  return say("axes drawn", { rows: String(rows), columns: String(columns), rest: rest.join(", ") });
}

function owners({ devices }: Tile): string {
  const split = devices.map((name) => [name.slice(0, Math.max(0, name.lastIndexOf(" "))), name.slice(name.lastIndexOf(" ") + 1)] as const);
  const same = split.every(([kind]) => kind === split[0]![0]);
  const shown = devices.slice(0, MOST).map((name, n) => (n && same ? split[n]![1] : name));
  const rest = devices.length - shown.length;
  return shown.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

function cell(tile: Tile, n: number): HTMLElement {
  const index = `[${tile.index.join(", ")}]`;
  return h("td", { "data-tile": n, "data-texture": Math.floor(n / HUES) % TEXTURES, title: index, style: { "--hue": `var(--js-hue-${n % HUES})` } }, owners(tile));
}

function grid({ tiles, rows, columns }: ShardingDoc): HTMLElement[] {
  const at = (tile: Tile, axis: number | null) => (axis === null ? 0 : tile.at[axis]!);
  const height = 1 + Math.max(...tiles.map((tile) => at(tile, rows)));
  const width = 1 + Math.max(...tiles.map((tile) => at(tile, columns)));
  const places = new Map(tiles.map((tile, n) => [at(tile, rows) * width + at(tile, columns), n]));
  const tile = (row: number, column: number) => places.get(row * width + column)!;
  const count = (n: number) => Array.from({ length: n }, (_, i) => i);
  const head = count(width).map((c) => h("th", { scope: "col" }, columns === null ? "" : tiles[tile(0, c)]!.index[columns]!));
  const lines = count(height).map((r) => {
    const name = rows === null ? [] : [h("th", { scope: "row" }, tiles[tile(r, 0)]!.index[rows]!)];
    return h("tr", {}, ...name, ...count(width).map((c) => cell(tiles[tile(r, c)]!, tile(r, c))));
  });
  return columns === null ? lines : [h("tr", {}, rows === null ? null : h("td", { class: "jitscope-tiles-corner" }), ...head), ...lines];
}

function list({ tiles }: ShardingDoc): HTMLElement[] {
  const names = h("tr", {}, h("th", { scope: "col" }, "part"), h("th", { scope: "col" }, "devices"));
  return [names, ...tiles.map((tile, n) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, `[${tile.index.join(", ")}]`)), cell(tile, n)))];
}

export function shardingView(doc: ShardingDoc): View {
  const lines = [cut(doc), whatIsDrawn(doc), doc.left_out ? say("parts not kept", { parts: plural(doc.left_out, "more part") }) : ""];
  const rows = doc.drawn && !doc.left_out ? grid(doc) : list(doc);
  const element = h(
    "div",
    { class: "jitscope-sharding" },
    h("p", { class: "jitscope-sentence" }, headline(doc)),
    ...lines.filter(Boolean).map((line) => h("p", { class: "jitscope-muted" }, line)),
    h("div", { class: "jitscope-tiles", tabindex: 0, role: "region", "aria-label": "Which device has which part" }, h("table", {}, h("tbody", {}, ...rows))),
  );
  return { element, dispose() {} };
}
