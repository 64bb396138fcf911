// How each kind of node looks and how big it is: the table looks.json, which the still pictures read too.
import table from "../../looks.json";
import { lineNumber } from "../calls";
import type { GraphNode } from "../documents";
import { grouped, plural } from "../dom";
import { withUnit } from "../numbers";
import { TABLES } from "../sentences";
import { changeOf } from "./changes";
import type { Model } from "./model";
import type { ShownNode } from "./hulls";
import { meter } from "./pen";

type ShapeName = "box" | "pill" | "tree" | "small" | "library" | "scope" | "fusion" | "fold" | "repeat";

export interface Look {
  shape: ShapeName;
  px: number; // font size at zoom 1
  sign: string; // before the name: what made it
  main: string;
  sub: string;
  height: number;
  pad: number; // beside the label
}

/** Operations that only move or repeat values; drawn small so that the arithmetic stands out. */
const QUIET = new Set(table.quiet);

const LONGEST = table.longest_label;
export const STRIPE = 5;

function short(text: string): string {
  if (text.length <= LONGEST) return text;
  // the end tells generated names apart: multiply_subtract_fusion.3
  return text.includes(" ") ? `${text.slice(0, LONGEST - 1)}…` : `${text.slice(0, LONGEST - 11)}…${text.slice(-10)}`;
}

const word = (model: Model) => (model.document.level === "jaxpr" ? "equation" : "operation");

/** "98 arrays", "12 equations", "add, mul": what a closed scope says about its inside. */
export function insideText(model: Model, i: number): string {
  const node = model.node(i);
  if (node.what === "tree") return plural(node.count ?? model.allChildrenOf(i).length, "array");
  const all = model.inside[i]!;
  if (node.left_out) return `${plural(all + node.left_out, word(model))}, ${grouped(all)} drawn`;
  const inside = all ? plural(all, word(model)) : plural(model.allChildrenOf(i).length, "array");
  if (model.isRepeat(i)) return `${plural(model.inside[model.childrenOf(i)[0]!]!, word(model))} each`;
  return node.kind === "fold" && node.text ? `${inside}: ${node.text}` : inside;
}

/** Is it part of a backward pass? */
export const isBackward = (node: ShownNode | GraphNode): boolean =>
  !!node.transforms?.includes("transpose") || /\(backward\)/.test(node.label);

/** How a backward pass is told from what was written, and what a pass of XLA did, whatever the colours. */
export function signOf(node: ShownNode | GraphNode): string {
  const change = changeOf(node);
  if (change) return `${change.sign} `;
  return isBackward(node) ? `${TABLES.transforms.transpose[0]} ` : "";
}

/** The number of a user's own at a node; "" where there is none. */
export function numberText({ number }: Pick<ShownNode, "number">): string {
  return number ? withUnit(number.value, number.unit) : "";
}

export function lookOf(model: Model, i: number): Look {
  const node = model.node(i);
  const sign = signOf(node);
  const main = [short(node.label || node.id), numberText(node)].filter(Boolean).join(" · ");
  const look = (shape: ShapeName, like: keyof typeof table.shapes, sub = ""): Look => {
    const { font: px, height, pad } = table.shapes[like];
    return { shape, px, sign, main, sub, height, pad };
  };
  if (model.isScope(i)) {
    const sub = insideText(model, i);
    if (node.what === "tree") return { ...look("tree", "tree"), main: `${main} · ${sub}` };
    if (node.kind === "fusion" || node.kind === "hull") return look("fusion", "fusion", sub);
    if (node.kind === "fold") return look("fold", "scope", sub);
    return look(node.what === "repeat" ? "repeat" : "scope", "scope", sub);
  }
  if (node.kind === "input" || node.kind === "output") return look("pill", "pill");
  if (node.kind === "library") return look("library", "library", "library call");
  if (node.kind === "fusion") return look("fusion", "kernel");
  if (isQuiet(node)) return look("small", "small");
  return look("box", "box");
}

export const isBold = ({ shape }: Look): boolean => ["scope", "fusion", "fold", "repeat"].includes(shape);

export function isQuiet(node: ShownNode): boolean {
  return node.kind === "constant" || (node.kind !== "input" && QUIET.has(node.label));
}

/** Sizes are for letters a little larger than drawn: they still fit when zoomed out as far as text stays legible. */
const MEASURE_PX = 13.75;

/** The room for ‹ 3 of 12 › in the caption of a repeat. */
const STEPPER = 120;

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
  const badge = line === null ? 0 : meter.width(String(lineNumber(line)), MEASURE_PX, family) + 8;
  const weight = isBold(look) ? 600 : 400;
  const main = meter.width(look.sign + look.main, MEASURE_PX, family, weight) + arrow + badge;
  const below = look.sub && [look.sub, model.shareText(i)].filter(Boolean).join(" · ");
  const stepper = model.isRepeat(i) ? STEPPER : 0;
  const sub = below ? meter.width(below, MEASURE_PX, family) + arrow : 0;
  return { w: Math.ceil(Math.max(main + stepper, sub, 18) + look.pad), h: look.height };
}
