// The structure of one level: rows and order. It depends on the document alone and is made once.
import { makeChains, type Chains } from "./chains";
import type { LevelGraph } from "./levels";
import { orderRows, type Ordered } from "./order";
import { place, type Placed, type Shape } from "./placing";
import { assignRanks } from "./rank";

const PER_ROW_OF_TREE = 4;

export class LevelLayout {
  readonly chains: Chains;
  readonly ordered: Ordered;
  /** Segments by the row they start in, for culling. */
  readonly byRow: number[][];
  readonly into: number[][]; // segments that end at an item, from left to right
  readonly linesFrom: Map<number, number[]>;
  readonly firstSegments: number[][]; // per line: the segments that leave its item

  /** `arriving`: the nodes outside whose values enter, in the order in which their lines arrive. */
  constructor(
    readonly level: LevelGraph,
    arriving: number[] = [],
  ) {
    const base = level.children.length;
    const bottom = base + level.inPorts.length;
    const items = bottom + level.outPorts.length;
    const ranks = assignRanks({
      count: items,
      edges: level.edges,
      top: new Set(level.inPorts.map((_, i) => base + i)),
      bottom: new Set(level.outPorts.map((_, i) => bottom + i)),
      ends: new Set(level.results),
      perRow: level.narrow ? PER_ROW_OF_TREE : undefined,
    });
    this.chains = makeChains(level, ranks);
    this.ordered = orderRows(this.chains, this.portsInOrder(arriving));
    this.byRow = this.ordered.rows.map(() => []);
    this.into = Array.from({ length: items }, () => []);
    this.linesFrom = new Map();
    this.firstSegments = this.chains.lines.map(() => []);
    this.index(items);
  }

  private portsInOrder(arriving: number[]): number[] {
    const { inPorts, children } = this.level;
    const wanted = new Map(arriving.map((node, i) => [node, i]));
    const order = inPorts.map((_, port) => port);
    order.sort(
      (a, b) => (wanted.get(inPorts[a]!) ?? inPorts.length) - (wanted.get(inPorts[b]!) ?? inPorts.length) || a - b,
    );
    return order.map((port) => children.length + port);
  }

  /** The nodes whose lines arrive at a child, from left to right. */
  arrivingAt(item: number): number[] {
    const { lines, segments } = this.chains;
    return this.into[item]!.flatMap((i) => {
      const line = lines[segments[i]!.line]!;
      return line.turned ? [] : [this.outsideOf(line.from)];
    });
  }

  private index(items: number): void {
    const { segments, rank, lines } = this.chains;
    const place = this.ordered.place;
    segments.forEach((segment, i) => {
      this.byRow[rank[segment.up]!]!.push(i);
      if (segment.down < items) this.into[segment.down]!.push(i);
      if (segment.up === lines[segment.line]!.from) this.firstSegments[segment.line]!.push(i);
    });
    for (const list of this.into) list.sort((a, b) => place[segments[a]!.up]! - place[segments[b]!.up]!);
    lines.forEach((line, l) => {
      const known = this.linesFrom.get(line.from);
      if (known) known.push(l);
      else this.linesFrom.set(line.from, [l]);
    });
  }

  /** Types of the values that flow into an item. */
  typesInto(item: number): string[] {
    const { segments, lines } = this.chains;
    return this.into[item]!.map((i) => {
      const { line, end } = segments[i]!;
      return this.level.edges[lines[line]!.ends[end]!.edge]!.type;
    });
  }

  /** Children come first, then in-ports, then out-ports (all these are items), then waypoints. */
  get base(): number {
    return this.level.children.length;
  }

  get items(): number {
    return this.base + this.level.inPorts.length + this.level.outPorts.length;
  }

  /** The node that an in-port or child stands for when it enters a scope of this level. */
  outsideOf(item: number): number {
    const { children, inPorts } = this.level;
    return item < children.length ? children[item]! : inPorts[item - children.length]!;
  }

  place(shapes: Shape[]): Placed {
    return place(this, shapes);
  }
}
