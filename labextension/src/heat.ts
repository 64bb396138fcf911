// Measured shares of the time in the cells of notebooks: views announce them, the editors of the cells show them.
import type { Cell } from "@jupyterlab/cells";
import { EditorExtensionRegistry, type IEditorExtensionRegistry } from "@jupyterlab/codemirror";
import type { INotebookTracker } from "@jupyterlab/notebook";
import { ViewPlugin, type EditorView, type ViewUpdate } from "@codemirror/view";
import type { HeatLine, HeatRequest } from "../../widgets/jitscope_widgets/js/heat";
import { middle } from "../../widgets/jitscope_widgets/js/shares";
import { viewOf } from "./bits";
import { heat, showHeat } from "./heatgutter";

export class HeatedCells {
  private readonly known = new Map<string, HeatLine[]>(); // by cell

  constructor(private tracker: INotebookTracker) {
    Object.assign(globalThis, { jitscopeHeat: true }); // views then announce what their outputs carry
    document.addEventListener("jitscope:heat", (event) => this.take((event as CustomEvent<HeatRequest>).detail));
  }

  register(registry: IEditorExtensionRegistry): void {
    const watcher = ViewPlugin.define((view) => {
      setTimeout(() => this.met(view));
      return { update: (update) => this.edited(update) };
    });
    registry.addExtension({
      name: "jitscope-heat",
      factory: ({ inline }) => (inline ? EditorExtensionRegistry.createImmutableExtension([heat, watcher]) : null),
    });
  }

  private take(lines: HeatLine[]): void {
    const cells = new Map<string, Map<number, HeatLine>>();
    for (const one of lines) {
      const own = cells.get(one.cell) ?? new Map<number, HeatLine>();
      const other = own.get(one.line); // of several programs, the one in which the line takes most
      if (!other || middle(other) < middle(one)) own.set(one.line, one);
      cells.set(one.cell, own);
    }
    for (const [cell, own] of cells) {
      this.known.set(cell, [...own.values()]);
      for (const shown of this.cells()) if (shown.model.id === cell) this.show(shown);
    }
  }

  private cells(): Cell[] {
    const found: Cell[] = [];
    this.tracker.forEach((panel) => void found.push(...panel.content.widgets));
    return found;
  }

  private cellOf(view: EditorView): Cell | undefined {
    return this.cells().find((cell) => viewOf(cell) === view);
  }

  private show(cell: Cell): void {
    const view = viewOf(cell);
    const lines = this.known.get(cell.model.id);
    if (view && lines) showHeat(view, lines);
  }

  /** Editors are made when their cell comes into sight. */
  private met(view: EditorView): void {
    const cell = this.cellOf(view);
    if (cell) this.show(cell);
  }

  private edited({ docChanged, view }: ViewUpdate): void {
    if (!docChanged || !this.known.size) return;
    const cell = this.cellOf(view);
    if (cell) this.known.delete(cell.model.id);
  }
}
