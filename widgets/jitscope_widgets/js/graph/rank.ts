// First step of the layout: which row each item of a level stands in. Values flow downwards.

interface RankInput {
  count: number;
  edges: { from: number; to: number }[];
  /** Items that must stand in the first row (in-ports) and in the last (out-ports). */
  top: Set<number>;
  bottom: Set<number>;
  /** Results, which stand below all else where nothing is joined to them: a number that the function gives as it is. */
  ends?: Set<number>;
  /** The most items to stand side by side. */
  perRow?: number;
}

export interface Ranks {
  rank: Int32Array;
  /** Edges that had to be turned round because they close a circle. */
  turned: Uint8Array;
}

interface Neighbours {
  out: number[][];
  in: number[][];
}

function neighbours(input: RankInput, turned: Uint8Array): Neighbours {
  const lists = {
    out: Array.from({ length: input.count }, (): number[] => []),
    in: Array.from({ length: input.count }, (): number[] => []),
  };
  input.edges.forEach(({ from, to }, i) => {
    const [a, b] = turned[i] ? [to, from] : [from, to];
    lists.out[a]!.push(b);
    lists.in[b]!.push(a);
  });
  return lists;
}

/** Depth-first; marks the edges that lead back into the path being walked. */
function turnCircles(input: RankInput): Uint8Array {
  const turned = new Uint8Array(input.edges.length);
  const out = Array.from({ length: input.count }, (): number[] => []);
  input.edges.forEach((edge, i) => void out[edge.from]!.push(i));
  const state = new Uint8Array(input.count); // 1: on the path, 2: done
  const next = new Int32Array(input.count);
  for (let start = 0; start < input.count; start++) {
    if (state[start]) continue;
    const path = [start];
    state[start] = 1;
    while (path.length) {
      const at = path[path.length - 1]!;
      const edge = out[at]![next[at]!++];
      if (edge === undefined) {
        state[at] = 2;
        path.pop();
        continue;
      }
      const to = input.edges[edge]!.to;
      if (state[to] === 1) turned[edge] = 1;
      else if (!state[to]) {
        state[to] = 1;
        path.push(to);
      }
    }
  }
  return turned;
}

function topological(count: number, { out, in: into }: Neighbours): number[] {
  const waiting = into.map((list) => list.length);
  const order: number[] = [];
  for (let i = 0; i < count; i++) if (!waiting[i]) order.push(i);
  for (let k = 0; k < order.length; k++) for (const to of out[order[k]!]!) if (--waiting[to]! === 0) order.push(to);
  return order;
}

/** Items nobody is joined to: one beside each row of the others, or in rows of their own. */
function rankLoose(loose: number[], rank: Int32Array, first: number, rows: number): void {
  const perRow = rows > 2 ? Math.ceil(loose.length / (rows - 1)) : Math.max(4, Math.ceil(Math.sqrt(loose.length * 2)));
  loose.forEach((item, k) => void (rank[item] = first + Math.floor(k / perRow)));
}

/** Moves items without producers (arguments, constants) down to just above their first user. */
function sink(order: number[], rank: Int32Array, { out, in: into }: Neighbours, fixed: Set<number>): void {
  for (let k = order.length - 1; k >= 0; k--) {
    const item = order[k]!;
    if (fixed.has(item) || into[item]!.length || !out[item]!.length) continue;
    rank[item] = Math.min(...out[item]!.map((user) => rank[user]!)) - 1;
  }
}

/** Moves items that have more users than producers down as well: fewer long lines. */
function tighten(order: number[], rank: Int32Array, { out, in: into }: Neighbours): void {
  for (let k = order.length - 1; k >= 0; k--) {
    const item = order[k]!;
    const producers = into[item]!;
    // every producer with another user lower down draws its line there anyway: moving costs nothing
    const free =
      producers.length > 0 &&
      producers.every((p) => out[p]!.some((other) => other !== item && rank[other]! > rank[item]!));
    if (!free || !out[item]!.length) continue;
    rank[item] = Math.max(rank[item]!, Math.min(...out[item]!.map((user) => rank[user]!)) - 1);
  }
}

const MOST_PER_ROW = 9;

/** Many items side by side make a wide picture: they stand in several rows instead, in the order given. */
function wrapRows(order: number[], rank: Int32Array, fixed: Set<number>, perRow: number): void {
  const rows = new Map<number, number[]>();
  for (const item of order) {
    if (fixed.has(item)) continue;
    const row = rows.get(rank[item]!);
    if (row) row.push(item);
    else rows.set(rank[item]!, [item]);
  }
  const last = order.reduce((most, item) => Math.max(most, rank[item]!), 0);
  const shift = new Int32Array(last + 2); // rows that are new above each row
  for (let r = 0; r <= last; r++)
    shift[r + 1] = shift[r]! + Math.max(0, Math.ceil((rows.get(r)?.length ?? 0) / perRow) - 1);
  if (!shift[last + 1]) return;
  for (const item of order) rank[item]! += shift[rank[item]!]!;
  for (const row of rows.values()) row.forEach((item, i) => void (rank[item]! += Math.floor(i / perRow)));
}

export function assignRanks(input: RankInput): Ranks {
  const turned = turnCircles(input);
  const lists = neighbours(input, turned);
  const order = topological(input.count, lists);
  const rank = new Int32Array(input.count);
  const first = input.top.size ? 1 : 0;
  const loose: number[] = [];
  for (const item of order) {
    if (!input.top.has(item) && rank[item]! < first) rank[item] = first;
    if (!lists.in[item]!.length && !lists.out[item]!.length && !input.top.has(item)) loose.push(item);
    for (const to of lists.out[item]!) if (rank[to]! <= rank[item]!) rank[to] = rank[item]! + 1;
  }
  tighten(order, rank, lists);
  sink(order, rank, lists, input.top);
  const rows = order.reduce((most, item) => Math.max(most, rank[item]! + 1), 0);
  const joined = rows > first + 1;
  rankLoose(joined ? loose.filter((item) => !input.ends?.has(item)) : loose, rank, first, rows);
  if (joined) for (const item of loose) if (input.ends?.has(item)) rank[item] = rows - 1;
  wrapRows(order, rank, new Set([...input.top, ...loose]), input.perRow ?? MOST_PER_ROW);
  let last = 0;
  for (let i = 0; i < input.count; i++) if (!input.bottom.has(i)) last = Math.max(last, rank[i]!);
  for (const item of input.bottom) rank[item] = last + 1;
  return { rank, turned };
}
