// What belongs together: lines of the user's code, equations, HLO instructions, kernels. The link is the equation path.
import type { CompilationDoc, GraphDoc, GraphNode, Kernel, Position, SourceDoc } from "./documents";

type Placed = Pick<GraphNode, "positions" | "paths"> & { id?: string };

/** The line of a node and its colour. */
export interface Lines {
  of(node: Placed): number | null;
  linesOf(node: Placed): number[];
  hue(line: number): number;
}

export interface Selected {
  /** Equation paths; a path stands for everything inside it too. */
  paths: Set<string>;
  lines: Set<number>;
  kernels: Set<string>;
  /** The very thing that was picked. */
  node: { level: string; id: string } | null;
}

export const NOTHING: Selected = { paths: new Set(), lines: new Set(), kernels: new Set(), node: null };

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
  private readonly hues = new Map<number, number>();
  private readonly pathsOfLine = new Map<number, Set<string>>();

  constructor(
    private readonly source: SourceDoc | null,
    private readonly jaxpr: GraphDoc | null,
    private readonly kernels: Kernel[] = [],
  ) {
    for (const node of jaxpr?.nodes ?? []) this.ownLines.set(node.id, this.ownLinesOf(node));
    for (const node of jaxpr?.nodes ?? []) for (const line of this.linesOf(node)) this.note(line, node.id);
    if (!jaxpr)
      for (const kernel of kernels)
        for (const line of this.linesOf(kernel)) for (const path of kernelPaths(kernel)) this.note(line, path);
    for (const mark of source?.marks ?? []) for (const id of mark.nodes) this.note(mark.line, id);
    // colours in the order of the lines, so that neighbours differ and a re-run keeps them
    [...this.pathsOfLine.keys()].sort((a, b) => a - b).forEach((line, i) => this.hues.set(line, i));
  }

  static of(compilation: CompilationDoc): Links {
    return new Links(compilation.source, compilation.graph, compilation.fusion?.kernels ?? []);
  }

  private note(line: number, id: string): void {
    const known = this.pathsOfLine.get(line);
    if (known) known.add(id);
    else this.pathsOfLine.set(line, new Set([id]));
  }

  private isHere(position: Position): boolean {
    if (!this.source) return true;
    const { file, first_line: first, lines } = this.source;
    return position.file === file && position.line >= first && position.line < first + lines.length;
  }

  private readonly known = new WeakMap<Placed, number[]>();
  private readonly ownLines = new Map<string, number[]>(); // of jaxpr nodes, by id

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
    return [...new Set(node.positions.filter((p) => this.isHere(p)).map((p) => p.line))];
  }

  private linesAbove(path: string): number[] {
    for (let at = path; at; at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
      const lines = this.ownLines.get(at);
      if (lines?.length) return lines;
    }
    return [];
  }

  /** The one line a node comes from; null when there is none or it comes from several. */
  of = (node: Placed): number | null => {
    const lines = this.linesOf(node);
    return lines.length === 1 ? lines[0]! : null;
  };

  hue = (line: number): number => this.hues.get(line) ?? 0;

  hasLine(line: number): boolean {
    return this.pathsOfLine.has(line);
  }

  // from any thing to the whole selection

  private complete(paths: Iterable<string>, lines: Iterable<number>, node: Selected["node"]): Selected {
    const all = new Set(paths);
    const kernels = this.kernels.filter((kernel) => touches(kernelPaths(kernel), all)).map((kernel) => kernel.name);
    return { paths: all, lines: new Set(lines), kernels: new Set(kernels), node };
  }

  fromLine(line: number): Selected {
    return this.complete(this.pathsOfLine.get(line) ?? [], [line], null);
  }

  fromNode(graph: GraphDoc, level: string, id: string): Selected {
    const node = graph.nodes.find((other) => other.id === id);
    if (!node) return { ...NOTHING, node: { level, id } };
    const paths = pathsOf(graph, node);
    return this.complete(paths, this.linesOfPaths(paths, this.linesOf(node)), { level, id });
  }

  fromPath(path: string): Selected {
    return this.complete([path], this.linesOfPaths([path], []), this.jaxpr ? { level: "jaxpr", id: path } : null);
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

  private linesOfPaths(paths: string[], known: number[]): Set<number> {
    if (known.length) return new Set(known);
    const wanted = new Set(paths);
    const lines = new Set(paths.flatMap((path) => this.linesAbove(path)));
    if (wanted.size && this.jaxpr)
      for (const node of this.jaxpr.nodes)
        if (touches([node.id], wanted)) for (const line of this.linesOf(node)) lines.add(line);
    return lines;
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

export function kernelPaths(kernel: Kernel): string[] {
  return [...new Set([...kernel.paths, ...kernel.members.flatMap((member) => member.paths)])];
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
