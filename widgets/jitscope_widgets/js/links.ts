// What belongs together: lines of the user's code, equations, HLO instructions, kernels. The link is the equation path.
import { CallTree, LINES, lineNumber, type Marked } from "./calls";
import { equationsOf } from "./measured";
import type { Bounds, CompilationDoc, GraphDoc, GraphEdge, GraphNode, Kernel, Position, SourceDoc } from "./documents";

type Placed = Pick<GraphNode, "positions" | "paths"> & { id?: string };

/** The line of a node and its colour. Lines of all files are told apart: see `lineNumber`. */
export interface Lines {
  of(node: Placed): number | null;
  linesOf(node: Placed): number[];
  where(node: Placed): Position | null;
  hue(line: number): number;
}

export interface Selected {
  /** Equation paths; a path stands for everything inside it too. */
  paths: Set<string>;
  lines: Set<number>;
  kernels: Set<string>;
  /** The very thing that was picked. */
  node: { level: string; id: string } | null;
  /** The values that were picked on their way from that node. */
  edges?: GraphEdge[];
}

const NOTHING: Selected = { paths: new Set(), lines: new Set(), kernels: new Set(), node: null };

export function isNothing(s: Selected): boolean {
  return !s.paths.size && !s.lines.size && !s.kernels.size && !s.node;
}

/** Is one of `paths` selected, or inside a selected one? */
export function touches(paths: string[], selected: Set<string>): boolean {
  if (!selected.size) return false;
  return paths.some((path) => {
    for (let at = path; at; at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) if (selected.has(at)) return true;
    return false;
  });
}

export class Links implements Lines {
  readonly calls: CallTree | null;
  private readonly places = new Map<string, Map<number, number | null>>(); // by file, by line
  private readonly files = new Map<string, number>(); // without source: in the order in which nodes name them

  constructor(
    private readonly source: SourceDoc | null,
    private readonly jaxpr: GraphDoc | null,
    readonly kernels: Kernel[] = [],
  ) {
    this.calls = source?.functions.length ? new CallTree(source) : null;
  }

  static of(compilation: CompilationDoc): Links {
    return new Links(compilation.source, compilation.graph, compilation.fusion?.kernels ?? []);
  }

  // what large programs have much of is made when it is first asked for

  private jaxprNodes: Map<string, GraphNode> | null = null;

  private jaxprNode(id: string): GraphNode | undefined {
    this.jaxprNodes ??= new Map(
      this.jaxpr?.nodes.flatMap((node) => [node.id, ...node.paths].map((path) => [path, node])),
    );
    return this.jaxprNodes.get(id);
  }

  /** Where equations were written. */
  positionsOf(paths: string[]): Position[] {
    return [...new Set(paths.flatMap((path) => this.jaxprNode(path)?.positions ?? []))];
  }

  private callsOfPaths: Map<string, number[]> | null = null;

  private callsOfPath(path: string): number[] {
    if (!this.callsOfPaths) {
      const found = (this.callsOfPaths = new Map<string, number[]>());
      const note = (id: string, call: number) => found.get(id)?.push(call) ?? found.set(id, [call]);
      for (const { call, nodes } of this.source?.marks ?? []) for (const id of nodes) note(id, call);
      for (const { id, call } of this.jaxpr?.nodes ?? [])
        if (typeof call === "number" && !found.has(id)) note(id, call);
    }
    return this.callsOfPaths.get(path) ?? [];
  }

  /** Lines that have the colour of another one: of two programs, those that are alike. */
  alike: ReadonlyMap<number, number> = new Map();
  private hues: Map<number, number> | null = null;

  /** Colours in the order of the lines, so that neighbours differ and a re-run keeps them. */
  private get hueOfLine(): Map<number, number> {
    if (!this.hues) {
      const lines = new Set<number>();
      const note = (line: number | null) => line !== null && lines.add(line);
      for (const { positions } of this.jaxpr?.nodes ?? this.kernels)
        for (const position of positions) note(this.place(position));
      for (const { call, line } of this.source?.marks ?? []) note(this.calls!.placeOf(call, line));
      const own = [...lines].filter((line) => !lines.has(this.alike.get(line) ?? NaN)).sort((a, b) => a - b);
      this.hues = new Map(own.map((line, i) => [line, i]));
      for (const line of lines) if (!this.hues.has(line)) this.hues.set(line, this.hues.get(this.alike.get(line)!)!);
    }
    return this.hues;
  }

  private pathsOfLines: Map<number, Set<string>> | null = null;

  private pathsOfLine(line: number): Set<string> {
    if (!this.pathsOfLines) {
      const found = (this.pathsOfLines = new Map<number, Set<string>>());
      const note = (at: number, id: string) => {
        const known = found.get(at);
        if (known) known.add(id);
        else found.set(at, new Set([id]));
      };
      for (const node of this.jaxpr?.nodes ?? []) for (const at of this.linesOf(node)) note(at, node.id);
      if (!this.jaxpr)
        for (const kernel of this.kernels)
          for (const at of this.linesOf(kernel)) for (const path of kernelPaths(kernel)) note(at, path);
      for (const mark of this.source?.marks ?? [])
        for (const id of mark.nodes) note(this.calls!.placeOf(mark.call, mark.line), id);
    }
    return this.pathsOfLines.get(line) ?? new Set();
  }

  /** The line of a position, see `LINES`; null where the program has no code there. */
  placeOf(position: Pick<Position, "file" | "line">): number | null {
    return this.place(position);
  }

  private place({ file, line }: Pick<Position, "file" | "line">): number | null {
    let lines = this.places.get(file);
    if (!lines) this.places.set(file, (lines = new Map()));
    let place = lines.get(line);
    if (place === undefined)
      lines.set(line, (place = this.calls ? this.calls.place(file, line) : this.numbered(file, line)));
    return place;
  }

  private numbered(file: string, line: number): number {
    if (!this.files.has(file)) this.files.set(file, this.files.size);
    return this.files.get(file)! * LINES + line;
  }

  private readonly known = new WeakMap<Placed, number[]>();

  /** The lines of this source that a thing comes from. What a called function did belongs to the line of the call. */
  linesOf = (node: Placed): number[] => {
    let lines = this.known.get(node);
    if (!lines) {
      lines = this.ownLinesOf(node);
      if (!lines.length)
        lines = [
          ...new Set((node.paths.length ? node.paths : [node.id ?? ""]).flatMap((path) => this.linesAbove(path))),
        ];
      this.known.set(node, lines);
    }
    return lines;
  };

  private ownLinesOf(node: Placed): number[] {
    return [...new Set(node.positions.map((p) => this.place(p)).filter((line) => line !== null))];
  }

  private linesAbove(path: string): number[] {
    const node = this.placedAbove(path);
    return node ? this.ownLinesOf(node) : [];
  }

  /** The innermost equation round a path whose line is known. */
  private placedAbove(path: string): GraphNode | null {
    for (let at = path; at; at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
      const node = this.jaxprNode(at);
      if (node && this.ownLinesOf(node).length) return node;
    }
    return null;
  }

  /** The one line a node comes from; null when there is none or it comes from several. What two programs have both in a line of this
   * number comes from one. */
  of = (node: Placed): number | null => {
    const lines = this.linesOf(node);
    const [line, other] = lines;
    if (lines.length === 2 && this.areAlike(line!, other!) && lineNumber(line!) === lineNumber(other!)) return line!;
    return lines.length === 1 ? line! : null;
  };

  /** Where the one line stands that a node comes from; null where there is none or it comes from several. */
  where = (node: Placed): Position | null => {
    const [path, other] = node.paths;
    if (node.positions.length || path === undefined || other !== undefined) return this.whereOf(node);
    let found = this.wheres.get(path);
    if (found === undefined) this.wheres.set(path, (found = this.whereOf({ positions: [], paths: [path] })));
    return found;
  };

  private readonly wheres = new Map<string, Position | null>();

  private whereOf(node: Placed): Position | null {
    const line = this.of(node);
    if (line === null) return null;
    const above = node.paths.flatMap((path) => this.placedAbove(path)?.positions ?? []);
    return [...node.positions, ...above].find((position) => this.place(position) === line) ?? null;
  }

  /** The function that a line stands in, "" where there is only one. */
  nameOf(line: number): string {
    return this.calls && this.calls.source.functions.length > 1 ? (this.calls.function(line)?.name ?? "") : "";
  }

  private areAlike(line: number, other: number): boolean {
    return this.alike.get(line) === other || this.alike.get(other) === line;
  }

  hue = (line: number): number => this.hueOfLine.get(line) ?? 0;

  hasLine(line: number): boolean {
    return this.hueOfLine.has(line);
  }

  /** Of these calls the one that wrote what is selected; the one that is `shown`, where its code, with the
   * functions defined in it, wrote some of it. */
  callOf(selected: Selected, shown: number, calls?: Set<number>): number | null {
    let first: number | null = null;
    for (const path of selected.paths)
      for (let at = path; at; at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
        const own = this.callsOfPath(at).filter((one) => calls?.has(one) ?? true);
        const call = own[own.length - 1];
        if (call === undefined) continue;
        if (own.some((one) => one === shown || this.calls?.holds(shown, one))) return shown;
        first ??= call;
        break;
      }
    return first;
  }

  /** What a line of a call became: how many kernels have a part in it, and its share of the measured time, null where nothing was. */
  kernelsOf(marked: Marked): { count: number; share: Bounds | null } {
    const paths = new Set(marked.nodes);
    const found = { count: 0, share: null as Bounds | null };
    for (const kernel of this.kernels) {
      if (!touches(kernelPaths(kernel), paths)) continue;
      if (kernel.kind !== "loop") found.count++;
      if (typeof kernel.share !== "number") continue;
      found.share = withKernel(found.share ?? { least: 0, most: 0, estimate: 0 }, kernel, (path) =>
        touches([path], paths),
      );
    }
    return found;
  }

  // from any thing to the whole selection

  private complete(paths: Iterable<string>, lines: Iterable<number>, node: Selected["node"]): Selected {
    const all = new Set(paths);
    const kernels = this.kernels.filter((kernel) => touches(kernelPaths(kernel), all)).map((kernel) => kernel.name);
    return { paths: all, lines: new Set(lines), kernels: new Set(kernels), node };
  }

  /** What was written in a line, in one call or in all, and by the functions that it calls. */
  fromLine(line: number, call?: number): Selected {
    const called = this.calls?.nodesAt(line, call) ?? [];
    return this.complete(call === undefined ? [...this.pathsOfLine(line), ...called] : called, [line], null);
  }

  /** All that a call wrote, and what it called. */
  fromCall(call: number): Selected {
    return this.complete(this.calls?.nodesIn(call) ?? [], [], null);
  }

  fromNode(graph: GraphDoc, level: string, id: string): Selected {
    const node = graph.nodes.find((other) => other.id === id);
    if (!node) return { ...NOTHING, node: { level, id } };
    const paths = pathsInside(graph, node);
    const own = this.linesOf(node);
    const lines =
      node.kind === "scope" || node.kind === "group"
        ? [...own, ...this.linesOfPaths(paths, [])]
        : this.linesOfPaths(paths, own);
    return this.complete(paths, lines, { level, id });
  }

  fromPath(path: string): Selected {
    return this.complete(
      [path],
      this.linesOfPaths([path], []),
      this.jaxpr ? { level: "jaxpr", id: this.jaxprNode(path)?.id ?? path } : null,
    );
  }

  fromPaths(paths: string[]): Selected {
    return this.complete(paths, this.linesOfPaths(paths, []), null);
  }

  fromKernel(kernel: Kernel): Selected {
    const selected = this.complete(
      kernelPaths(kernel),
      this.linesOfPaths(kernelPaths(kernel), this.linesOf(kernel)),
      null,
    );
    return { ...selected, kernels: new Set([kernel.name]) };
  }

  /** Null for a name that no kernel has. */
  fromKernelNamed(name: string): Selected | null {
    const kernel = this.kernels.find((other) => other.name === name);
    return kernel ? this.fromKernel(kernel) : null;
  }

  /** Several kernels together; null where there is none of these names. */
  fromKernelsNamed(names: string[]): Selected | null {
    const wanted = new Set(names);
    const found = this.kernels.filter(({ name }) => wanted.has(name));
    if (!found.length) return null;
    const selected = this.fromPaths(found.flatMap(kernelPaths));
    return { ...selected, kernels: new Set(found.map(({ name }) => name)) };
  }

  private linesOfPaths(paths: string[], known: number[]): Set<number> {
    if (known.length) return new Set(known);
    const wanted = new Set(paths);
    const lines = new Set(paths.flatMap((path) => this.linesAbove(path)));
    if (wanted.size && this.jaxpr)
      for (const node of this.jaxpr.nodes)
        if (touches([node.id], wanted)) for (const line of this.linesOf(node)) lines.add(line);
    return lines;
  }

  /** The stretches of lines (columns in bytes, by line) in which what is selected was written; of lines that are selected as a whole, none. */
  stretches({ paths, lines }: Selected): Map<number, [number, number][]> {
    const found = new Map<number, [number, number][]>();
    const whole = new Set(lines);
    for (const { id, positions } of paths.size ? (this.jaxpr?.nodes ?? []) : [])
      for (const position of id.startsWith("e") ? positions : []) {
        const line = this.place(position);
        if (line === null || !lines.has(line)) continue;
        if (!touches([id], paths)) whole.delete(line);
        else
          found.set(line, [
            ...(found.get(line) ?? []),
            [position.column, position.end_line > position.line ? Infinity : position.end_column],
          ]);
      }
    for (const line of whole) found.delete(line);
    return found;
  }

  /** Ids of the nodes of a graph that belong to a selection. */
  related(graph: GraphDoc, selected: Selected): string[] {
    if (!selected.paths.size) return [];
    return graph.nodes.filter((node) => touches(pathsOf(graph, node), selected.paths)).map((node) => node.id);
  }
}

export function pathsOf(graph: GraphDoc, node: GraphNode): string[] {
  return node.paths.length || graph.level !== "jaxpr" ? node.paths : [node.id];
}

/** The paths of a node, or of what is in a group. */
function pathsInside(graph: GraphDoc, node: GraphNode): string[] {
  if (node.kind !== "group") return pathsOf(graph, node);
  const inside = new Set([node.id]); // a group stands before what it holds
  for (const { id, scope } of graph.nodes) if (scope !== null && inside.has(scope)) inside.add(id);
  return graph.nodes
    .filter((other) => other.kind !== "group" && inside.has(other.id))
    .flatMap((other) => pathsOf(graph, other));
}

/** A share of the time with that of a kernel of which some equations count: all of it where all do, else an estimated part. */
export function withKernel(share: Bounds, kernel: Kernel, counts: (path: string) => boolean): Bounds {
  const own = kernel.share ?? 0;
  const whole = kernelPaths(kernel).every(counts);
  const equations = equationsOf(kernel);
  const parts =
    equations && Object.entries(equations).reduce((sum, [path, part]) => sum + (counts(path) ? part : 0), 0);
  const found: Bounds = { least: share.least + (whole ? own : 0), most: share.most + own };
  const part = whole ? 1 : parts === undefined ? undefined : Math.min(1, parts);
  if (share.estimate !== undefined && part !== undefined) found.estimate = share.estimate + own * part;
  return found;
}

const pathsOfKernels = new WeakMap<Kernel, string[]>();

export function kernelPaths(kernel: Kernel): string[] {
  let paths = pathsOfKernels.get(kernel);
  if (!paths) {
    paths = [...new Set([...kernel.paths, ...kernel.members.flatMap((member) => member.paths)])];
    pathsOfKernels.set(kernel, paths);
  }
  return paths;
}

/** The one selection that all panes share. */
export class Selection {
  current: Selected = NOTHING;
  private readonly listeners: ((selected: Selected) => void)[] = [];

  onChange(listener: (selected: Selected) => void): void {
    this.listeners.push(listener);
    listener(this.current);
  }

  set(selected: Selected): void {
    this.current = selected;
    for (const listener of this.listeners) listener(selected);
  }

  clear(): void {
    this.set(NOTHING);
  }
}
