// How each kind of node looks and how big it is.
import type { Model } from "./model";
import type { ShownNode } from "./hulls";
import { meter } from "./pen";

export type ShapeName = "box" | "pill" | "small" | "library" | "scope" | "fusion";

export interface Look {
  shape: ShapeName;
  px: number; // font size at zoom 1
  main: string;
  sub: string;
  height: number;
}

/** Operations that only move or repeat values; drawn small so that the arithmetic stands out. */
const QUIET = new Set([
  "broadcast_in_dim",
  "broadcast",
  "convert_element_type",
  "convert",
  "reshape",
  "bitcast",
  "squeeze",
  "expand_dims",
  "copy",
  "get-tuple-element",
  "tuple",
  "parameter",
  "constant",
  "iota",
  "pjit_inputs",
  "stop_gradient",
]);

const LONGEST = 26;
export const STRIPE = 5;

function short(text: string): string {
  // the end tells generated names apart: multiply_subtract_fusion.3
  return text.length > LONGEST ? `${text.slice(0, 15)}…${text.slice(-10)}` : text;
}

function insideText(model: Model, node: number): string {
  const count = model.inside[node]!;
  const word = model.document.level === "jaxpr" ? "equation" : "operation";
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

export function lookOf(model: Model, i: number): Look {
  const node = model.node(i);
  const main = short(node.label || node.id);
  if (model.isScope(i)) {
    const shape = node.kind === "fusion" || node.kind === "hull" ? "fusion" : "scope";
    return { shape, px: 13, main, sub: insideText(model, i), height: 42 };
  }
  if (node.kind === "input" || node.kind === "output") return { shape: "pill", px: 12, main, sub: "", height: 26 };
  if (node.kind === "library") return { shape: "library", px: 13, main, sub: "library call", height: 42 };
  if (node.kind === "fusion") return { shape: "fusion", px: 13, main, sub: "", height: 32 };
  if (isQuiet(node)) return { shape: "small", px: 11, main, sub: "", height: 22 };
  return { shape: "box", px: 13, main, sub: "", height: 30 };
}

export function isQuiet(node: ShownNode): boolean {
  return node.kind === "constant" || (node.kind !== "input" && QUIET.has(node.label));
}

/** Sizes are for letters a little larger than drawn: they still fit when zoomed out as far as text stays legible. */
const MEASURE_PX = 13.75;

/** The width that the label, the colour stripe and the line number need. */
export function sizeOf(
  model: Model,
  i: number,
  family: string,
  lineOf: (node: ShownNode) => number | null,
): { w: number; h: number } {
  const look = lookOf(model, i);
  const arrow = model.isScope(i) ? 16 : 0;
  const line = lineOf(model.node(i));
  const badge = line === null ? 0 : meter.width(String(line), MEASURE_PX, family) + 8;
  const weight = look.shape === "scope" || look.shape === "fusion" ? 600 : 400;
  const main = meter.width(look.main, MEASURE_PX, family, weight) + arrow + badge;
  const sub = look.sub ? meter.width(look.sub, MEASURE_PX, family) + arrow : 0;
  const padding = look.shape === "small" ? 20 : look.shape === "library" ? 36 : 25;
  return { w: Math.ceil(Math.max(main, sub, 18) + padding), h: look.height };
}
