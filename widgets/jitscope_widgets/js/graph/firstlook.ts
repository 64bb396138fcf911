// What is open when a graph is first seen: the outermost scopes, as far as a person can take the picture in. Arguments and
// results stay folded (what matters is what is done with them), and kernels are one thing each.
import type { Model } from "./model";

const BUDGET = 40; // boxes

export function openFirst(model: Model): void {
  let shown = drawn(model, model.root);
  for (let level = [model.root]; level.length;) {
    const next: number[] = [];
    for (const scope of level)
      for (const child of model.childrenOf(scope)) if (model.isScope(child)) next.push(child);
    // of one depth the small ones first: more of them fit
    level = next
      .sort((a, b) => drawn(model, a) - drawn(model, b) || a - b)
      .filter((scope) => {
        if (model.isBlock(scope)) return true; // open with its repeat
        const more = drawn(model, scope);
        if (!mayOpen(model, scope) || shown + more > BUDGET) return false;
        model.setOpen(scope, true);
        shown += more;
        return true;
      });
  }
}

function mayOpen(model: Model, scope: number): boolean {
  const { kind, what } = model.node(scope);
  return kind !== "fold" && kind !== "fusion" && what !== "tree";
}

/** How many boxes stand in an open scope; a block of a repeat has none of its own. */
function drawn(model: Model, scope: number): number {
  const children = model.childrenOf(scope);
  return model.isRepeat(scope) ? drawn(model, children[0]!) : children.length;
}
