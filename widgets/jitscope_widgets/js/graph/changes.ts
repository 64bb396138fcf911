// What a pass did to an operation: a sign, a word, a colour.
import type { PassRow } from "../documents";
import type { ColourName } from "../theme";

export const CHANGES: Record<PassRow["kind"], { sign: string; word: string; fill: ColourName }> = {
  removed: { sign: "−", word: "removed", fill: "before" },
  added: { sign: "+", word: "added", fill: "after" },
  changed: { sign: "≠", word: "changed", fill: "before-strong" },
  rewired: { sign: "↺", word: "reads other operands", fill: "accent-soft" },
  fused: { sign: "⊂", word: "went into a kernel", fill: "hull" },
  moved: { sign: "→", word: "moved", fill: "library" },
};

/** What a pass did to a node of the graph of its changes; null for all others. */
export function changeOf(node: { mark?: string }): (typeof CHANGES)[PassRow["kind"]] | null {
  return node.mark !== undefined && Object.hasOwn(CHANGES, node.mark) ? CHANGES[node.mark as PassRow["kind"]] : null;
}
