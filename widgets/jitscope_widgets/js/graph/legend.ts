// What the signs of a graph mean: those that its nodes have.
import type { GraphDoc } from "../documents";
import { h } from "../dom";
import { TABLES } from "../sentences";
import { signOf } from "./looks";

export function legend({ nodes, level }: GraphDoc): HTMLElement {
  const signs = new Set(nodes.map((node) => signOf(node).trim()));
  const [backward, what] = TABLES.transforms.transpose;
  const rows: [string, string][] = signs.has(backward!) ? [[backward!, what!]] : [];
  if (nodes.some(({ what }) => what === "repeat")) rows.push(["× n", "equal blocks"]);
  if (nodes.some(({ kind }) => kind === "library")) rows.push(["⬡", "library call"]);
  if (level === "hlo" && nodes.some(({ kind, fused_into }) => kind === "fusion" || fused_into))
    rows.push(["tinted", "fused into one kernel"]);
  if (level === "hlo" && nodes.some(({ others }) => others?.length))
    rows.push(["+ n % others", "what is in its kernels of other parts"]);
  const line = nodes.find(({ positions }) => positions.length)?.positions[0]?.line;
  if (line) rows.push([String(line), "its line in your code"]);
  if (nodes.some(({ scope }) => scope)) rows.push(["▸", "opens by a click"]);
  return h("p.jitscope-legend", ...rows.map(([sign, what]) => h("span", h("code", sign), ` ${what}`)));
}
