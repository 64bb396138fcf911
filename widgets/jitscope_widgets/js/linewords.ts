// The lines of positions in words.
import type { Position } from "./documents";

/** "In [2] lines 3, 5; model.py line 2"; without their homes "lines 3, 5". */
export function linesInWords(positions: Position[], withHomes = true): string {
  const homes = new Map<string, Set<number>>();
  for (const { cell, file, line } of positions) {
    const home = withHomes ? `${cell ?? file.split(/[\\/]/).pop()} ` : "";
    homes.set(home, (homes.get(home) ?? new Set()).add(line));
  }
  const said = [...homes].map(([home, lines]) => `${home}${lines.size > 1 ? "lines" : "line"} ${[...lines].sort((a, b) => a - b).join(", ")}`);
  return said.join("; ");
}
