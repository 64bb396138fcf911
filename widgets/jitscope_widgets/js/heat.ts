// Tells the page what share of the time the lines of cells take, so that their editors can show it.
import type { Bounds, CompilationDoc, ProfileDoc } from "./documents";
import { partOf } from "./envelope";

/** A line of a cell with its share of the kernels' time, with what it calls; `whole` is the largest share of all lines. */
export interface HeatLine extends Bounds {
  cell: string;
  line: number;
  text: string;
  function: string;
  /** The share of what was written in the line itself; null where it only calls. */
  own: Bounds | null;
}

export type HeatRequest = HeatLine[];

const MOST_READ = 4; // compilations that are read although they are closed

function linesOf({ title, lines }: ProfileDoc): HeatLine[] {
  return lines
    .filter(({ position, whole }) => position.cell !== null && whole.most >= 0.0005)
    .map(({ position, own, whole }) => ({
      ...whole,
      own,
      cell: position.file,
      line: position.line,
      text: position.text,
      function: title,
    }));
}

/** Sends the lines of a profile to whoever shows the cells. */
export function announce(from: EventTarget, compilations: CompilationDoc[]): void {
  const found = compilations.flatMap(({ instruments }) => (instruments?.profile ? linesOf(instruments.profile) : []));
  if (found.length)
    from.dispatchEvent(new CustomEvent<HeatRequest>("jitscope:heat", { bubbles: true, composed: true, detail: found }));
}

/** As `announce`, of what an output carries, where the page shows the cells: a profile that was asked for with the cell is seen at once. */
export async function announceCarried(from: HTMLElement, compilations: CompilationDoc[]): Promise<void> {
  if (!("jitscopeHeat" in globalThis) || compilations.length > MOST_READ) return;
  const read = await Promise.all(
    compilations.map((one) => {
      const part = partOf(one);
      return part && part.without !== "everything" ? part.load().catch(() => one) : one;
    }),
  );
  // a view is made before it is put into its place
  for (let frame = 0; frame < 40 && !from.isConnected; frame++) await new Promise(requestAnimationFrame);
  announce(from, read);
}
