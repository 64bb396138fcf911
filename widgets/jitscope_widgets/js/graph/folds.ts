// No level draws more than 30 boxes and a few arguments and results: what was written in one line is folded, then what is
// too wide or too long. A fold is a scope that the document does not have; it holds a run of the level, so the graph of folds
// has no circle.
import type { Position } from "../documents";
import { grouped } from "../dom";
import type { ShownNode } from "./hulls";
import { runsByLine, type WrittenAt } from "./linefolds";
import { meeting, nest, PIECE, type Nesting } from "./nesting";
import type { Work } from "./slices";
import { depths, topological, type Pairs } from "./topology";

const MOST_IN_LEVEL = 30;
const MOST_SIDE_BY_SIDE = 24;
const KEPT_SIDE_BY_SIDE = 17;
const MOST_PILLS = 10;
const KEPT_PILLS = 6;
const PART = 30;
/** So many boxes stay at the beginning and at the end of a long level. */
const ENDS = { head: 20, tail: 8 };
/** Where so few scopes are between these, they stay too. */
const ENDS_ROUND_SCOPES = { head: 5, tail: 3 };
const MOST_LANDMARKS = 10;

/** The nodes and their scopes, as far as they are known while folds are made. */
interface Draft {
  nodes: ShownNode[];
  parent: number[];
  written: (node: number) => Position | null;
}

/** What is beside each other in a scope, and how values flow between. */
interface Level {
  children: number[];
  pairs: Pairs;
}

/** The nesting with folds; their nodes are appended to `nodes`. */
export function* foldBigLevels(
  nodes: ShownNode[],
  parent: number[],
  from: Int32Array,
  to: Int32Array,
  writtenAt: WrittenAt,
): Work<Nesting> {
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
  const draft = { nodes, parent, written: (node: number) => written(nodes, nesting, node, writtenAt) };
  const before = nodes.length;
  for (const [scope, pairs] of big) {
    const level = { children: nesting.children[scope]!, pairs };
    const outer = scope === nesting.root ? -1 : scope;
    yield* foldLevel(draft, yield* foldLines(draft, level, outer), outer);
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

/** Where a node was written; of a kernel that computes several lines, its last operation. */
function written(nodes: ShownNode[], { children }: Nesting, node: number, writtenAt: WrittenAt): Position | null {
  const own = writtenAt(nodes[node]!);
  const members = nodes[node]!.kind === "fusion" ? (children[node] ?? []) : [];
  return own ?? members.reduceRight<Position | null>((found, member) => found ?? writtenAt(nodes[member]!), null);
}

/** What is left beside each other where, in a long level, the boxes of one line are one. What has a name already stays by itself. */
function* foldLines(draft: Draft, level: Level, scope: number): Work<Level> {
  const { children, pairs } = level;
  const boxes = children.filter((child) => !isPill(draft.nodes[child]!.kind));
  if (boxes.length <= MOST_IN_LEVEL) return level;
  const places = children.map((child) => placeOf(draft, child));
  const keys = places.map((place) => place && keyOf(place));
  yield;
  if (new Set(keys.filter(Boolean)).size < 2) return level;
  const long = runsByLine(keys, pairs).filter((run) => run.length > 1);
  yield;
  const unit = Int32Array.from(children);
  for (const run of long) {
    const members = run.map((item) => children[item]!);
    const place = run.map((item) => places[item]).find(Boolean) as Position;
    const fold = addFold(draft, place.text.trim() || `line ${grouped(place.line)}`, members, scope, place);
    for (const item of run) unit[item] = fold;
    if (members.length > MOST_PILLS) yield* foldLevel(draft, { children: members, pairs: among(pairs, run) }, fold);
  }
  const left = [...new Set(unit)];
  return { children: left, pairs: between(left, unit, pairs) };
}

/** Where a box was written; null of what stays by itself, "" of what is with what reads it. */
function placeOf({ nodes, written }: Draft, child: number): Position | null | "" {
  const node = nodes[child]!;
  if (isPill(node.kind) || isScope(node)) return null;
  return written(child) ?? (node.paths.length ? null : "");
}

const keys = new WeakMap<Position, string>();

function keyOf(place: Position): string {
  let key = keys.get(place);
  if (key === undefined) keys.set(place, (key = `${place.line} ${place.file}`));
  return key;
}

/** The pairs of some items, which are numbered anew. */
function among({ from, to }: Pairs, items: number[]): Pairs {
  const place = new Map(items.map((item, i) => [item, i]));
  const found: Pairs = { from: [], to: [] };
  from.forEach((a, e) => {
    const [left, right] = [place.get(a), place.get(to[e]!)];
    if (left === undefined || right === undefined) return;
    found.from.push(left);
    found.to.push(right);
  });
  return found;
}

function* foldLevel(draft: Draft, { children, pairs }: Level, scope: number): Work<void> {
  const order = topological(children.length, pairs);
  yield;
  const depth = depths(order, pairs);
  yield;
  const unit = foldWide(draft, children, order, depth, scope);
  yield;
  const units = [...new Set(order.map((item) => unit[item]!))];
  const isBox = (node: number) => !isPill(draft.nodes[node]!.kind);
  if (units.filter(isBox).length <= MOST_IN_LEVEL) return;
  const ordered = inOrder(units, unit, pairs);
  yield;
  yield* foldLong(draft, ordered.filter(isBox), scope);
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
    const members = parted(
      draft,
      more.map((item) => children[item]!),
      kept,
      scope,
    );
    const fold = addFold(draft, `+ ${grouped(more.length)} more`, members, scope);
    for (const item of more) unit[item] = fold;
  }
  return unit;
}

/** Boxes without edges between them, in parts where they are many; `before` others come first. */
function parted(draft: Draft, members: number[], before: number, scope: number): number[] {
  if (members.length <= PART || isPill(draft.nodes[members[0]!]!.kind)) return members;
  const found: number[] = [];
  for (let i = 0; i < members.length; i += PART) {
    const part = members.slice(i, i + PART);
    const label = `${grouped(before + i + 1)} – ${grouped(before + i + part.length)}`;
    found.push(part.length > 1 ? addFold(draft, label, part, scope) : part[0]!);
  }
  return found;
}

const isPill = (kind: string): boolean => kind === "input" || kind === "output" || kind === "constant";

/** The units, producers before users. */
function inOrder(units: number[], unit: Int32Array, pairs: Pairs): number[] {
  return Array.from(topological(units.length, between(units, unit, pairs)), (i) => units[i]!);
}

/** The pairs of what now stands for each item. */
function between(units: number[], unit: Int32Array, { from, to }: Pairs): Pairs {
  const place = new Map(units.map((node, i) => [node, i]));
  const found: Pairs = { from: [], to: [] };
  from.forEach((a, e) => {
    const [left, right] = [place.get(unit[a]!)!, place.get(unit[to[e]!]!)!];
    if (left === right) return;
    found.from.push(left);
    found.to.push(right);
  });
  return found;
}

/** A long level: its beginning and its end stay, and where there are few scopes, these; the runs between are folded. */
function* foldLong(draft: Draft, units: number[], scope: number): Work<void> {
  const scopes = Array.from(units.keys()).filter((i) => isScope(draft.nodes[units[i]!]!));
  const between = ({ head, tail }: typeof ENDS) => scopes.filter((i) => i >= head && i < units.length - tail);
  let landmarks = between(ENDS_ROUND_SCOPES);
  if (landmarks.length > MOST_LANDMARKS) landmarks = [];
  const { head, tail } = landmarks.length ? ENDS_ROUND_SCOPES : ENDS;
  const end = units.length - tail;
  let start = head;
  for (const stop of [...landmarks, end]) {
    if (stop - start > 1) yield* foldRun(draft, units.slice(start, stop), start, scope);
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

function addFold({ nodes, parent }: Draft, label: string, members: number[], scope: number, place?: Position): number {
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
    positions: place ? [place] : [],
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
