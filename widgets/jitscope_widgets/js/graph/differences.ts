// What is particular to one of the equal blocks of a repeat: "params['layers'][2]".
import type { Model } from "./model";

/** The names of what comes in, as far as they differ between the blocks; nameless values are left out. */
export function particular(model: Model, block: number): string[] {
  const blocks = model.allChildrenOf(model.parent[block]!);
  const isFirst = blocks[0] === block;
  // `params` of a block: name in the first block → name in this one
  const pairs = Object.entries(model.node(isFirst ? blocks[1]! : block).params);
  const found = pairs.map(([first, own]) => (isFirst ? upToDifference(first, own) : upToDifference(own, first)));
  return [...new Set(found.filter((name) => name !== ""))];
}

/** `params['layers'][2]` of `params['layers'][2]['wq']` and `params['layers'][0]['wq']`. */
function upToDifference(name: string, other: string): string {
  if (name === other || !name.includes("[")) return "";
  let at = 0;
  while (at < name.length && name[at] === other[at]) at++;
  const end = name.indexOf("]", at);
  return end < 0 ? name : name.slice(0, end + 1);
}
