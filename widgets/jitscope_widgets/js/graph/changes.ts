// What a pass did to an operation: a sign, a word (as in the still views), a colour.
import type { PassRow } from "../documents";
import type { ColourName } from "../theme";
import { TABLES } from "../sentences";

const FILLS: Record<PassRow["kind"], ColourName> = {
  removed: "before",
  added: "after",
  changed: "before-strong",
  rewired: "accent-soft",
  fused: "hull",
  moved: "library",
};

type Change = { sign: string; word: string; fill: ColourName };

const CHANGES = Object.fromEntries(
  Object.entries(TABLES.changes).map(([kind, [sign, word]]) => [
    kind,
    { sign, word, fill: FILLS[kind as PassRow["kind"]] },
  ]),
) as Record<PassRow["kind"], Change>;

/** What a pass did to a node of the graph of its changes; null for all others. */
export function changeOf(node: { mark?: string }): Change | null {
  return node.mark !== undefined && Object.hasOwn(CHANGES, node.mark) ? CHANGES[node.mark as PassRow["kind"]] : null;
}
