// No level draws more than a few hundred boxes: what is too long or too wide is folded. A fold is a scope that the document
// does not have; it holds a run of the level, so the graph of folds has no circle.
import { grouped } from "../dom";
import type { ShownNode } from "./hulls";
import { meeting, nest, PIECE, type Nesting } from "./nesting";
import type { Work } from "./slices";
import { depths, topological, type Pairs } from "./topology";

const MOST_IN_LEVEL = 150;
const MOST_SIDE_BY_SIDE = 24;
const KEPT_SIDE_BY_SIDE = 17;
const MOST_PILLS = 10;
const KEPT_PILLS = 6;
const HEAD = 20;
const TAIL = 8;
const PART = 40;
/** So many scopes of a long level stay between its beginning and its end, and so few boxes between them. */
const MOST_LANDMARKS = 20;
const FEW = 3;

/** The nodes and their scopes, as far as they are known while folds are made. */
interface Draft {
  nodes: ShownNode[];
  parent: number[];
}

/** The nesting with folds; their nodes are appended to `nodes`. */
export function* foldBigLevels(nodes: ShownNode[], parent: number[], from: Int32Array, to: Int32Array): Work<Nesting> {
  const nesting = yield* nest(parent);
  const big = new Map<number, Pairs>();
  nesting.children.forEach((list, scope) => {
    if (list!.length > MOST_PILLS && nodes[scope]?.what !== "repeat") big.set(scope, { from: [], to: [] });
  });
  if (!big.size) return nesting;
  const slot = yield* slots(nesting);
  for (let e = 0; e < from.length; e++) {
    if (from[e]! >= 0)
      meeting(nesting, from[e]!, to[e]!, (scope, left, right) => {
        const pairs = big.get(scope);
        pairs?.from.push(slot[left]!);
        pairs?.to.push(slot[right]!);
      });
    if (e % PIECE === 0) yield;
  }
  const draft = { nodes, parent };
  const before = nodes.length;
  for (const [scope, pairs] of big) {
    yield* foldLevel(draft, nesting.children[scope]!, pairs, scope === nesting.root ? -1 : scope);
  }
  return nodes.length > before ? yield* nest(parent) : nesting;
}

function* slots({ children, root }: Nesting): Work<Int32Array> {
  const slot = new Int32Array(root);
  for (const list of children) {
    list?.forEach((child, i) => void (slot[child] = i));
    yield;
  }
  return slot;
}

function* foldLevel(draft: Draft, children: number[], pairs: Pairs, scope: number): Work<void> {
  const order = topological(children.length, pairs);
  yield;
  const depth = depths(order, pairs);
  yield;
  const unit = foldWide(draft, children, order, depth, scope);
  yield;
  const units = [...new Set(order.map((item) => unit[item]!))];
  if (units.length <= MOST_IN_LEVEL) return;
  const ordered = inOrder(units, unit, pairs);
  yield;
  yield* foldLong(draft, ordered, scope);
}

/** Many items side by side: the first stay, the others go into one box. Gives what now stands for each child. */
function foldWide(draft: Draft, children: number[], order: Int32Array, depth: Int32Array, scope: number): Int32Array {
  const unit = Int32Array.from(children);
  const rows = new Map<string, number[]>();
  for (const item of order) {
    // arguments and results never share a fold with operations; nothing leads from one of them to another
    const { kind } = draft.nodes[children[item]!]!;
    const key = isPill(kind) ? kind : String(depth[item]);
    const row = rows.get(key);
    if (row) row.push(item);
    else rows.set(key, [item]);
  }
  for (const [key, row] of rows) {
    const [most, kept] = isPill(key) ? [MOST_PILLS, KEPT_PILLS] : [MOST_SIDE_BY_SIDE, KEPT_SIDE_BY_SIDE];
    if (row.length <= most) continue;
    const more = row.sort((a, b) => a - b).slice(kept);
    const members = more.map((item) => children[item]!);
    const fold = addFold(draft, `+ ${grouped(more.length)} more`, members, scope);
    for (const item of more) unit[item] = fold;
  }
  return unit;
}

const isPill = (kind: string): boolean => kind === "input" || kind === "output" || kind === "constant";

/** The units, producers before users. */
function inOrder(units: number[], unit: Int32Array, { from, to }: Pairs): number[] {
  const place = new Map(units.map((node, i) => [node, i]));
  const among: Pairs = { from: [], to: [] };
  from.forEach((a, e) => {
    const [left, right] = [place.get(unit[a]!)!, place.get(unit[to[e]!]!)!];
    if (left === right) return;
    among.from.push(left);
    among.to.push(right);
  });
  return Array.from(topological(units.length, among), (i) => units[i]!);
}

/** A long level: its beginning and its end stay, and where there are few scopes, these; the runs between are folded. */
function* foldLong(draft: Draft, units: number[], scope: number): Work<void> {
  const end = units.length - TAIL;
  const landmarks: number[] = [];
  for (let i = HEAD; i < end; i++) if (isScope(draft.nodes[units[i]!]!)) landmarks.push(i);
  let start = HEAD;
  for (const stop of landmarks.length <= MOST_LANDMARKS ? [...landmarks, end] : [end]) {
    if (stop - start > FEW) yield* foldRun(draft, units.slice(start, stop), start, scope);
    start = stop + 1;
  }
}

const isScope = ({ kind }: ShownNode): boolean => kind === "group" || kind === "scope";

/** A run of a long level, which begins with box number `start` of it, as one box, in parts of parts. */
function* foldRun(draft: Draft, between: number[], start: number, scope: number): Work<void> {
  let parts = between.map((node, i) => ({ node, first: start + i, last: start + i }));
  while (parts.length > PART) {
    const next: typeof parts = [];
    for (let i = 0; i < parts.length; i += PART) {
      const members = parts.slice(i, i + PART);
      const [first, last] = [members[0]!.first, members.at(-1)!.last];
      const label = `${grouped(first + 1)} – ${grouped(last + 1)}`;
      next.push({
        node: addFold(
          draft,
          label,
          members.map((part) => part.node),
          scope,
        ),
        first,
        last,
      });
      yield;
    }
    parts = next;
  }
  const nodes = parts.map((part) => part.node);
  addFold(draft, `… ${grouped(between.length)} more`, nodes, scope);
}

function addFold({ nodes, parent }: Draft, label: string, members: number[], scope: number): number {
  const fold = nodes.length;
  nodes.push({
    id: `fold:${scope < 0 ? "" : nodes[scope]!.id}:${fold}`,
    kind: "fold",
    label,
    scope: scope < 0 ? null : nodes[scope]!.id,
    types: [],
    bytes: 0,
    text: mostly(nodes, members),
    params: {},
    paths: [],
    positions: [],
    fused_into: null,
    count: members.length,
  });
  parent.push(scope);
  for (const member of members) parent[member] = fold;
  return fold;
}

/** The names of the members in which most equations are. */
function mostly(nodes: ShownNode[], members: number[]): string {
  const counts = new Map<string, number>();
  for (const member of members) {
    const { kind, label, text, count } = nodes[member]!;
    const names = kind === "fold" ? text.split(", ") : [label];
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + (count ?? 1) / names.length);
  }
  const names = [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  return names.slice(0, 3).join(", ");
}
