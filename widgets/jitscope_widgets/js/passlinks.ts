// Which pass touched which equation, and what became of it: the links between the passes of a program and everything else.
import type { PassesDoc, PassState, Position } from "./documents";
import { plural } from "./dom";
import { place } from "./graph/tooltip";
import { touches } from "./links";

/** Something that happened to equations, in words: "fused by fusion". */
export interface Told {
  words: string;
  count: number;
  state: number;
}

const WHAT = {
  fused: "fused",
  library: "handed to a library",
  merged: "merged with equal ones",
  gone: "removed or rewritten",
};

export class PassLinks {
  private known: Map<string, number[]> | null = null;
  private readonly homes: Set<string>;

  constructor(
    private readonly doc: PassesDoc,
    private readonly nameOf: (state: number) => string,
  ) {
    this.homes = new Set(Object.values(doc.positions).map(({ file }) => file));
  }

  /** The states that each path is named in, in order. */
  private get statesOf(): Map<string, number[]> {
    if (!this.known) {
      const known = (this.known = new Map<string, number[]>());
      this.doc.states.forEach((state, at) => {
        for (const path of pathsOf(state)) {
          const list = known.get(path);
          if (list) list.push(at);
          else known.set(path, [at]);
        }
      });
    }
    return this.known;
  }

  /** The states in which something changed that stems from these equations, or from what is in them. */
  statesFor(selected: Set<string>): Set<number> {
    const found = new Set<number>();
    if (selected.size)
      for (const [path, states] of this.statesOf) if (touches([path], selected)) for (const state of states) found.add(state);
    return found;
  }

  /** What became of these equations, in the order of the passes. */
  fatesOf(selected: Set<string>): Told[] {
    return this.inWords(this.doc.fates.filter(({ path }) => touches([path], selected)));
  }

  private inWords(fates: PassesDoc["fates"]): Told[] {
    const found = new Map<string, Told>();
    for (const { what, state } of fates) {
      const words = `${WHAT[what]} by ${this.nameOf(state)}`;
      const known = found.get(words);
      if (known) known.count++;
      else found.set(words, { words, count: 1, state });
    }
    return [...found.values()].sort((a, b) => a.state - b.state);
  }

  /** How a line is called: by number alone where all of the program was written in one cell or file. */
  lineOf(position: Position): string {
    return this.homes.size < 2
      ? `line ${position.line}`
      : place({ ...position, end_line: position.line, end_column: 0, column: 0 });
  }

  /** Each line of the source whose operations a pass took in or away, with what became of them; in the order of the source. */
  lines(): { line: string; position: Position; told: Told[] }[] {
    const lines = new Map<string, { line: string; position: Position; fates: PassesDoc["fates"] }>();
    for (const fate of this.doc.fates) {
      const position = this.doc.positions[fate.path];
      if (!position) continue;
      const line = this.lineOf(position);
      const known = lines.get(line);
      if (known) known.fates.push(fate);
      else lines.set(line, { line, position, fates: [fate] });
    }
    const files = [...new Set([...lines.values()].map(({ position }) => position.file))];
    return [...lines.values()]
      .sort(({ position: a }, { position: b }) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line)
      .map(({ line, position, fates }) => ({ line, position, told: this.inWords(fates) }));
  }

  /** The equations that were written in a line. */
  pathsOfLine(line: string): string[] {
    return Object.entries(this.doc.positions).flatMap(([path, position]) => (this.lineOf(position) === line ? [path] : []));
  }

  /** How people call what is selected: by its lines, if they are few. */
  called(selected: Set<string>): string {
    const lines = new Set<string>();
    for (const [path, position] of Object.entries(this.doc.positions)) {
      if (touches([path], selected)) lines.add(this.lineOf(position));
      if (lines.size > 3) return plural(selected.size, "selected equation");
    }
    return lines.size ? [...lines].join(", ") : plural(selected.size, "selected equation");
  }
}

export function* pathsOf(state: PassState): Iterable<string> {
  const seen = new Set<string>();
  for (const row of state.rows) for (const path of row.paths) seen.add(path);
  for (const path of state.also ?? []) seen.add(path);
  yield* seen;
}
