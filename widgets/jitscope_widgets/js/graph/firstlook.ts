// What is open when a graph is first seen: the outermost scopes, as far as a person can take the picture in. Arguments and
// results stay folded (what matters is what is done with them), and kernels are one thing each.
import type { Model } from "./model";

const BUDGET = 60; // boxes

export function openFirst(model: Model): void {
  const holdsScopes = (scope: number) => children(model, scope).some((child) => model.isScope(child));
  // first how the program is built, then what its smallest parts are made of
  const shown = openWhere(model, children(model, model.root).length, holdsScopes);
  openWhere(model, shown, () => true);
}

/** Opens what holds something with a mark. */
export function openMarked(model: Model): void {
  model.nodes.forEach(({ mark }, i) => {
    for (let at = i; mark && at !== model.root; at = model.parent[at]!) model.setOpen(at, model.isScope(at));
  });
}

/** Opens what is wanted and fits, level by level; gives the number of boxes then. */
function openWhere(model: Model, shown: number, wanted: (scope: number) => boolean): number {
  for (let level = [model.root]; level.length;) {
    const next: number[] = [];
    const inner = level.flatMap((outer) => children(model, outer)).filter((child) => model.isScope(child));
    // those first that tell most with the fewest boxes
    for (const scope of inner.sort((a, b) => worth(model, b) - worth(model, a) || a - b)) {
      const more = children(model, scope).length - 1;
      if (!model.open(scope) && mayOpen(model, scope) && wanted(scope) && shown + more <= BUDGET) {
        model.setOpen(scope, true);
        shown += more;
      }
      if (model.open(scope)) next.push(scope);
    }
    level = next;
  }
  return shown;
}

const worth = (model: Model, scope: number): number => model.inside[scope]! / children(model, scope).length;

function mayOpen(model: Model, scope: number): boolean {
  const { kind, what } = model.node(scope);
  return kind !== "fold" && kind !== "fusion" && what !== "tree";
}

/** What stands in an open scope; of a repeat what stands in its block. */
function children(model: Model, scope: number): number[] {
  const own = model.childrenOf(scope);
  return model.isRepeat(scope) ? model.childrenOf(own[0]!) : own;
}
