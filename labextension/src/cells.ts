// Finding a cell by its id and bringing it before the user's eyes.
import type { NotebookPanel } from "@jupyterlab/notebook";

export async function goToCell(panel: NotebookPanel, cellId: string): Promise<boolean> {
  const notebook = panel.content;
  const index = notebook.widgets.findIndex((cell) => cell.model.id === cellId);
  if (index < 0) return false;
  notebook.activeCellIndex = index;
  notebook.deselectAll();
  await notebook.scrollToItem(index, "smart").catch(() => undefined);
  notebook.mode = "command";
  notebook.activate();
  return true;
}
