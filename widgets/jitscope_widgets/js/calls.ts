// The call tree of a source document: which function wrote what, called from where.
import type { SourceDoc, SourceFunction } from "./documents";

/** Lines of all files in one number: which file, and which line in it. Lines of the traced function's file are themselves. */
export const LINES = 1_000_000;

/** What a function without a name is called. */
const LAMBDA = /^(<lambda>|lambda, line \d+)$/;

export function lineNumber(line: number): number {
  return line % LINES;
}

/** The equations of a line: written in it, or by the functions that it calls. */
export interface Marked {
  nodes: string[];
  forward: number;
  backward: number;
  /** The calls that stand in the line. */
  calls: number[];
}

type Equations = Pick<Marked, "nodes" | "forward" | "backward">;

export class CallTree {
  readonly children: number[][];
  private readonly files = new Map<string, number>();
  private readonly lines: Map<number, Marked>[]; // by call, by line number
  private readonly nested: Map<number, Marked>[]; // the same, of functions that are defined in it

  constructor(readonly source: SourceDoc) {
    for (const { file } of source.functions) if (!this.files.has(file)) this.files.set(file, this.files.size);
    this.children = source.calls.map(() => []);
    this.lines = source.calls.map(() => new Map<number, Marked>());
    this.nested = source.calls.map(() => new Map<number, Marked>());
    source.calls.forEach(({ parent, line }, call) => {
      if (parent === null || line === null) return;
      this.children[parent]!.push(call);
      at(this.lines[parent]!, line).calls.push(call);
    });
    for (const mark of source.marks) this.add(mark.call, mark.line, mark);
  }

  /** Notes equations at their line and at the lines of the calls that led there. */
  private add(call: number, line: number, equations: Equations): void {
    note(at(this.lines[call]!, line), equations);
    this.addRound(call, line, equations);
    const { parent, line: above } = this.source.calls[call]!;
    if (parent !== null && above !== null) this.add(parent, above, equations);
  }

  /** Notes equations of a nested function at their line in the code round it. */
  private addRound(call: number, line: number, equations: Equations): void {
    for (let one = call; ; ) {
      const { parent, line: above } = this.source.calls[one]!;
      if (parent === null) return;
      if (above !== line && this.holds(parent, call)) note(at(this.nested[parent]!, line), equations);
      one = parent;
    }
  }

  /** Does the code of a call hold that of a call which it led to, as that of a function holds the functions defined in it? */
  holds(call: number, other: number): boolean {
    let up: number | null = other;
    while (up !== null && up !== call) up = this.source.calls[up]!.parent;
    const [round, inner] = [this.functionOf(call), this.functionOf(other)];
    return up === call && round.file === inner.file && round !== inner && isIn(inner.first_line, round);
  }

  get size(): number {
    return this.source.calls.length;
  }

  functionOf(call: number): SourceFunction {
    return this.source.functions[this.source.calls[call]!.function]!;
  }

  depthOf(call: number): number {
    const { parent } = this.source.calls[call]!;
    return parent === null ? 0 : this.depthOf(parent) + 1;
  }

  /** All calls, each followed by what it calls, in the order of the lines. */
  *inOrder(call = 0): Generator<number> {
    yield call;
    const lineOf = (other: number) => this.source.calls[other]!.line ?? 0;
    for (const child of [...this.children[call]!].sort((a, b) => lineOf(a) - lineOf(b) || a - b))
      yield* this.inOrder(child);
  }

  marked(call: number, line: number): Marked | null {
    const [own, nested] = [this.lines[call]!.get(line), this.nested[call]!.get(line)];
    if (!own || !nested) return own ?? nested ?? null;
    const both = nothing();
    for (const one of [own, nested]) {
      note(both, one);
      both.calls.push(...one.calls);
    }
    return both;
  }

  /** All equations of a call and of what it calls. */
  total(call: number): Marked {
    const total = nothing();
    for (const one of this.lines[call]!.values()) note(total, one);
    return total;
  }

  nodesIn(call: number): string[] {
    return this.total(call).nodes;
  }

  /** The equations of a line, see `LINES`, in one call or in all. */
  nodesAt(place: number, call?: number): string[] {
    const line = lineNumber(place);
    if (call !== undefined) return this.marked(call, line)?.nodes ?? [];
    return this.source.calls.flatMap((_, other) =>
      this.placeOf(other, line) === place ? this.nodesAt(place, other) : [],
    );
  }

  placeOf(call: number, line: number): number {
    return this.files.get(this.functionOf(call).file)! * LINES + line;
  }

  /** The number of a line of a file; null where none of the functions stands there. */
  place(file: string, line: number): number | null {
    const index = this.files.get(file);
    return index === undefined || !this.function(index * LINES + line) ? null : index * LINES + line;
  }

  /** The innermost function round a line; the line in which a lambda begins is that of the function round it. */
  function(place: number): SourceFunction | null {
    const [file, line] = [Math.floor(place / LINES), lineNumber(place)];
    const starts = (one: SourceFunction) => (LAMBDA.test(one.name) && one.first_line === line ? -1 : one.first_line);
    let found: SourceFunction | null = null;
    for (const one of this.source.functions)
      if (this.files.get(one.file) === file && isIn(line, one)) if (!found || starts(one) > starts(found)) found = one;
    return found;
  }
}

function isIn(line: number, one: SourceFunction): boolean {
  return one.first_line <= line && line < one.first_line + Math.max(one.lines.length, 1);
}

function nothing(): Marked {
  return { nodes: [], forward: 0, backward: 0, calls: [] };
}

function at(lines: Map<number, Marked>, line: number): Marked {
  let marked = lines.get(line);
  if (!marked) lines.set(line, (marked = nothing()));
  return marked;
}

function note(marked: Marked, { nodes, forward, backward }: Equations): void {
  for (const id of nodes) marked.nodes.push(id);
  marked.forward += forward;
  marked.backward += backward;
}
