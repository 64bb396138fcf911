// Fixes: a button anywhere on the page asks for edits of a cell; they are made as one step that can be undone.
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import { unitsOf, type ApplyRequest } from "../../widgets/jitscope_widgets/js/fixes";
import { goToCell } from "./cells";

interface Source {
  getSource(): string;
  updateSource(start: number, end: number, value: string): void;
  transact(made: () => void): void;
  undoManager?: { stopCapturing(): void } | null;
}

/** By how many lines the lines moved since the cell ran; null when they are no longer there. */
export function moved(lines: string[], before: string[] | null, first: number): number | null {
  if (!before) return 0;
  const fits = (at: number) => before.every((line, i) => lines[at + i] === line);
  if (fits(first - 1)) return 0;
  const places = lines.flatMap((_, at) => (fits(at) ? [at] : []));
  return places.length === 1 ? places[0]! - (first - 1) : null;
}

/** Makes the edits in a cell's text, from the end, so that none moves another. */
export function applyTo(source: Source, { edits, before }: Pick<ApplyRequest, "edits" | "before">): number | null {
  const lines = source.getSource().split("\n");
  const by = moved(lines, before, Math.min(...edits.map(({ line }) => line)));
  if (by === null || edits.some(({ end_line }) => end_line + by > lines.length)) return null;
  const starts = lines.map(() => 0);
  for (let at = 1; at < lines.length; at++) starts[at] = starts[at - 1]! + lines[at - 1]!.length + 1;
  const offset = (line: number, column: number) => starts[line - 1 + by]! + unitsOf(lines[line - 1 + by]!, column);
  source.undoManager?.stopCapturing(); // what was typed before is undone by itself
  source.transact(() => {
    for (const { line, column, end_line, end_column, text } of [...edits].sort(
      (a, b) => b.line - a.line || b.column - a.column,
    ))
      source.updateSource(offset(line, column), offset(end_line, end_column), text);
  });
  source.undoManager?.stopCapturing();
  return by;
}

function find(tracker: INotebookTracker, id: string, near: Node): NotebookPanel | null {
  const found: NotebookPanel[] = [];
  tracker.forEach((panel) => void (panel.content.widgets.some((cell) => cell.model.id === id) && found.push(panel)));
  return (
    found.find(({ node }) => node.contains(near)) ??
    found.find((panel) => panel === tracker.currentWidget) ??
    found[0] ??
    null
  );
}

function apply(tracker: INotebookTracker, event: CustomEvent<ApplyRequest>): void {
  const { cell: id, edits, before, tell } = event.detail;
  const panel = find(tracker, id, event.target as Node);
  const cell = panel?.content.widgets.find(({ model }) => model.id === id);
  if (!panel || !cell) return; // the button copies instead
  event.preventDefault();
  if (cell.model.getMetadata("editable") === false || cell.readOnly) {
    tell("This cell is read-only.", false);
    return;
  }
  const by = applyTo(cell.model.sharedModel as unknown as Source, { edits, before });
  if (by === null) {
    tell("The cell was edited since: these lines are no longer in it. Run it again for a fix that fits.", false);
    return;
  }
  const line = Math.min(...edits.map((edit) => edit.line)) + by;
  tell("Done. Undo takes it back; run the cell to see the difference.", true);
  void goToCell(panel, { file: id, line, column: edits[0]!.column });
}

export function applyFixes(tracker: INotebookTracker): void {
  document.addEventListener("jitscope:apply", (event) => apply(tracker, event as CustomEvent<ApplyRequest>));
}
