// Second step: every value becomes one line that runs down through the rows and forks to its users.
// Where it passes a row it takes room there (a waypoint), so no line crosses a box.
import type { LevelGraph } from "./levels";
import type { Ranks } from "./rank";

export interface Line {
  from: number; // item
  source: number; // see LevelEdge.source
  ends: { to: number; edge: number }[];
  chain: number[]; // waypoints, one per row between
  turned: boolean; // drawn upwards
  bytes: number;
}

/** A piece of a line between two neighbouring rows. `end` is -1 where the line goes on. */
interface Segment {
  up: number; // item or waypoint
  down: number;
  line: number;
  end: number; // index into line.ends
}

/** An edge too long to draw through everything: two short ends and a mark. */
interface Stub {
  edge: number;
  from: number;
  to: number;
}

export interface Chains {
  count: number; // items and waypoints
  rank: Int32Array;
  lines: Line[];
  segments: Segment[];
  stubs: Stub[];
}

function group(level: LevelGraph, { turned }: Ranks): Line[] {
  const lines = new Map<string, Line>();
  level.edges.forEach((edge, i) => {
    const back = turned[i] === 1;
    const [from, to] = back ? [edge.to, edge.from] : [edge.from, edge.to];
    const key = back ? `back ${i}` : `${from},${edge.source}`;
    let line = lines.get(key);
    if (!line) lines.set(key, (line = { from, source: edge.source, ends: [], chain: [], turned: back, bytes: 0 }));
    line.ends.push({ to, edge: i });
    line.bytes = Math.max(line.bytes, edge.bytes);
  });
  return [...lines.values()];
}

/** The longest reach of a line such that all waypoints together stay within bounds. */
function reachLimit(lines: Line[], rank: Int32Array, items: number): number {
  const reach = lines.map((line) => Math.max(...line.ends.map((end) => rank[end.to]! - rank[line.from]!)));
  const allowed = Math.max(4000, 4 * items);
  let limit = Math.max(1, ...reach);
  const total = (cap: number) => reach.reduce((sum, r) => sum + Math.min(r, cap) - 1, 0);
  while (limit > 3 && total(limit) > allowed) limit = Math.floor(limit / 2);
  return Math.max(limit, 3);
}

export function makeChains(level: LevelGraph, ranks: Ranks): Chains {
  const items = level.children.length + level.inPorts.length + level.outPorts.length;
  const lines = group(level, ranks);
  const limit = lines.length ? reachLimit(lines, ranks.rank, items) : 0;
  const rank: number[] = Array.from(ranks.rank);
  const segments: Segment[] = [];
  const stubs: Stub[] = [];
  lines.forEach((line, l) => {
    const first = ranks.rank[line.from]!;
    const near = line.ends.filter((end) => ranks.rank[end.to]! - first <= limit);
    for (const end of line.ends) if (!near.includes(end)) stubs.push({ edge: end.edge, from: line.from, to: end.to });
    line.ends = near;
    const last = Math.max(first, ...near.map((end) => ranks.rank[end.to]!));
    let at = line.from;
    for (let row = first + 1; row < last; row++) {
      const waypoint = rank.push(row) - 1;
      line.chain.push(waypoint);
      segments.push({ up: at, down: waypoint, line: l, end: -1 });
      at = waypoint;
    }
    near.forEach((end, e) => {
      const above = ranks.rank[end.to]! - 1;
      const up = above === first ? line.from : line.chain[above - first - 1]!;
      segments.push({ up, down: end.to, line: l, end: e });
    });
  });
  return { count: rank.length, rank: Int32Array.from(rank), lines, segments, stubs };
}
