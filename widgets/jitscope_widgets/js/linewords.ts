// The lines of positions in words.
import type { Host, Position } from "./documents";
import { h } from "./dom";
import { home, place } from "./graph/tooltip";

/** "In [2] lines 3, 5; model.py line 2"; without their homes "lines 3, 5". */
export function linesInWords(positions: Position[], withHomes = true): string {
  const homes = new Map<string, Set<number>>();
  for (const position of positions) {
    const where = withHomes ? `${home(position)} ` : "";
    homes.set(where, (homes.get(where) ?? new Set()).add(position.line));
  }
  const said = [...homes].map(
    ([home, lines]) => `${home}${lines.size > 1 ? "lines" : "line"} ${[...lines].sort((a, b) => a - b).join(", ")}`,
  );
  return said.join("; ");
}

export function positionLink(position: Position, host: Host): HTMLElement {
  const text = place(position);
  if (!host.goto) return h("span", text);
  return h("button.jitscope-link", { onclick: () => host.goto!(position) }, text);
}
