// Finding a cell by its id and bringing it, or a line in it, before the user's eyes.
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import type { Position } from "../../widgets/jitscope_widgets/js/documents";

export type Place = Pick<Position, "file" | "line" | "column">;

/** Gives false when the notebook has no such cell (any more). */
export async function goToCell(panel: NotebookPanel, place: Place): Promise<boolean> {
  const notebook = panel.content;
  const index = notebook.widgets.findIndex((cell) => cell.model.id === place.file);
  if (index < 0) return false;
  notebook.activeCellIndex = index;
  notebook.deselectAll();
  await notebook.scrollToItem(index, "smart").catch(() => undefined);
  showLine(panel, index, place);
  notebook.activate();
  return true;
}

/** Puts the cursor on the line, if the cell still has it. */
function showLine(panel: NotebookPanel, index: number, { line, column }: Place): void {
  const editor = panel.content.widgets[index]?.editor;
  if (!editor || line > editor.lineCount) return;
  const position = { line: line - 1, column };
  editor.setCursorPosition(position);
  editor.revealPosition(position);
}

/** Lets every view on the page show places in the notebook in front. */
export function provideGoTo(tracker: INotebookTracker): void {
  const goTo = (place: Place) => {
    const panel = tracker.currentWidget;
    if (panel) void goToCell(panel, place);
  };
  Object.assign(globalThis, { jitscopeGoto: goTo });
}
