// What is open when a graph is first seen: the outermost scopes, as far as a person can take the picture in. Arguments and
// results stay folded (what matters is what is done with them), and kernels are one thing each.
import { isBackward } from "./looks";
import type { Model } from "./model";

const BUDGET = 64; // boxes
/** So many boxes may there be for what comes after the model: its backward pass, what lines made libraries do. */
const BUDGET_AFTER = 30;
/** What holds a smaller part of the equations is no landmark. */
const LEAST_PART = 0.03;

export function openFirst(model: Model): void {
  const least = model.inside[model.root]! * LEAST_PART;
  const isModel = (scope: number) => !isBackward(model.node(scope)) && model.node(scope).what !== "line";
  const isLandmark = (scope: number) => isModel(scope) && model.inside[scope]! >= least;
  const holdsScopes = (scope: number) => children(model, scope).some((child) => model.isScope(child));
  const all = () => true;
  let shown = children(model, model.root).length;
  // first how the program is built, then what its smallest parts are made of
  const wishes: [(scope: number) => boolean, number][] = [
    [isLandmark, BUDGET],
    [isModel, BUDGET_AFTER],
    [all, BUDGET_AFTER],
  ];
  for (const [wanted, budget] of wishes) {
    shown = openWhere(model, shown, (scope) => wanted(scope) && holdsScopes(scope), budget);
    shown = openWhere(model, shown, wanted, budget);
  }
}

/** Opens what holds something with a mark. */
export function openMarked(model: Model): void {
  model.nodes.forEach(({ mark }, i) => {
    for (let at = i; mark && at !== model.root; at = model.parent[at]!) model.setOpen(at, model.isScope(at));
  });
}

/** Opens what is wanted and fits, level by level; gives the number of boxes then. */
function openWhere(model: Model, shown: number, wanted: (scope: number) => boolean, budget: number): number {
  for (let level = [model.root]; level.length; ) {
    const next: number[] = [];
    const inner = level.flatMap((outer) => children(model, outer)).filter((child) => model.isScope(child));
    // those first that tell most with the fewest boxes
    for (const scope of inner.sort((a, b) => worth(model, b) - worth(model, a) || a - b)) {
      const more = children(model, scope).length - 1;
      if (!model.open(scope) && mayOpen(model, scope) && wanted(scope) && shown + more <= budget) {
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
