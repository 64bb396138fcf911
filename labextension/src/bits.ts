// Sharp bits in the cells of notebooks: brings what the kernel found into the editors, and the editors' text to the kernel.
import type { JupyterFrontEnd } from "@jupyterlab/application";
import type { ICommandPalette } from "@jupyterlab/apputils";
import type { Cell } from "@jupyterlab/cells";
import { EditorExtensionRegistry, type IEditorExtensionRegistry } from "@jupyterlab/codemirror";
import type { INotebookTracker } from "@jupyterlab/notebook";
import { type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import type { IgnoreRequest } from "../../widgets/jitscope_widgets/js/parts/cards";
import { close, marks, marksIn, open, show, type Mark } from "./marks";
import type { Bit, Session, Sessions } from "./sessions";

const MARKED = "jitscope-marked";

/** The CodeMirror view of a cell; null while the cell is out of sight. */
export function viewOf(cell: Cell): EditorView | null {
  return (cell.editor as { editor?: EditorView } | null)?.editor ?? null;
}

type Place = Mark & { index: number };

export class Bits {
  private last: Bit | null = null;
  private shown = new WeakMap<EditorView, unknown>();

  constructor(
    private app: JupyterFrontEnd,
    tracker: INotebookTracker,
    private sessions: Sessions,
  ) {
    sessions.onChange(() => {
      for (const session of sessions.all()) this.show(session);
    });
    tracker.widgetAdded.connect((_, { content }) => {
      const edited = () => this.sessionOf(content.node)?.edited();
      content.modelContentChanged.connect(() => content.model?.cells.changed.connect(edited));
      content.model?.cells.changed.connect(edited);
    });
    document.addEventListener("jitscope:ignore", (event) => this.ignore(event as CustomEvent<IgnoreRequest>));
    document.addEventListener("jitscope:step", (event) => this.step((event as CustomEvent<number>).detail, true));
  }

  /** Editors are made when their cell comes into sight. */
  register(registry: IEditorExtensionRegistry): void {
    const made = (view: EditorView) => setTimeout(() => this.met(view));
    const edited = (update: ViewUpdate) => {
      if (update.docChanged) this.sessionOf(update.view.dom)?.edited();
    };
    const watcher = ViewPlugin.define((view) => {
      made(view);
      return { update: edited };
    });
    registry.addExtension({
      name: "jitscope-sharp-bits",
      factory: ({ inline }) => (inline ? EditorExtensionRegistry.createImmutableExtension([marks, watcher]) : null),
    });
  }

  private met(view: EditorView): void {
    const session = this.sessionOf(view.dom);
    if (session) this.show(session);
  }

  private sessionOf(node: Node): Session | null {
    return this.sessions.all().find(({ panel }) => panel.node.contains(node)) ?? null;
  }

  private show({ panel, bits }: Session): void {
    panel.toggleClass(MARKED, bits !== null);
    for (const cell of panel.content.widgets) {
      const view = cell.model.type === "code" ? viewOf(cell) : null;
      if (!view) continue;
      const items = bits ? (bits.get(cell.model.id) ?? []) : null;
      if (this.shown.has(view) ? same(this.shown.get(view), items, view) : items === null) continue;
      this.shown.set(view, items);
      show(view, items);
    }
  }

  // --- by key -------------------------------------------------------------------------------------------------------

  addCommands(palette: ICommandPalette | null): void {
    const { commands } = this.app;
    const add = (id: string, label: string, by: number, keys: string[]) => {
      const isEnabled = () => !!this.sessions.current()?.bits;
      commands.addCommand(id, {
        label,
        caption: "Sharp bits that jitscope found in this notebook",
        isEnabled,
        execute: () => this.step(by),
      });
      commands.addKeyBinding({ command: id, keys, selector: `.${MARKED}` });
      palette?.addItem({ command: id, category: "jitscope" });
    };
    add("jitscope:next-sharp-bit", "Next Sharp Bit", 1, ["F8"]);
    add("jitscope:previous-sharp-bit", "Previous Sharp Bit", -1, ["Shift F8"]);
  }

  /** Goes to the sharp bit after (or before) the cursor, round the notebook, and opens its card. */
  step(by: number, fromCard = false): void {
    const session = this.sessions.current();
    if (!session) return;
    const { content } = session.panel;
    const places = content.widgets.flatMap((cell, index) => {
      const view = viewOf(cell);
      const found: Place[] = view
        ? marksIn(view.state).map((mark) => ({ ...mark, index }))
        : (session.bits?.get(cell.model.id) ?? []).map((item) => ({ from: item.position!.line, to: 0, item, index }));
      return found;
    });
    const next = places[(this.indexAfter(session, places, by, fromCard) + places.length) % places.length];
    if (next) void this.goTo(session, next.index, next);
  }

  /** Which of the places comes next: after the one whose card is open, else after (or before) the cursor. */
  private indexAfter({ panel: { content } }: Session, places: Place[], by: number, fromCard: boolean): number {
    const known = fromCard ? places.findIndex(({ item }) => item === this.last) : -1;
    if (known >= 0) return known + by;
    const active = content.activeCellIndex;
    const editing = content.mode === "edit" && content.activeCell;
    const cursor = editing ? (viewOf(editing)?.state.selection.main.head ?? 0) : by > 0 ? -1 : 0;
    const after = places.findIndex(({ index, from }) => index > active || (index === active && from > cursor));
    if (by > 0) return Math.max(after, 0);
    const before = after < 0 ? places.length - 1 : after - 1;
    const here = places[before];
    return here && here.index === active && here.from === cursor ? before - 1 : before;
  }

  private async goTo({ panel }: Session, index: number, { item }: Mark): Promise<void> {
    const { content } = panel;
    content.activeCellIndex = index;
    content.deselectAll();
    await content.scrollToItem(index, "smart").catch(() => undefined);
    content.mode = "edit";
    // the notebook gives the editor the focus in its own time; the card takes it after that
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    const view = viewOf(content.widgets[index]!);
    const mark = view && marksIn(view.state).find((one) => one.item === item);
    this.last = item;
    for (const cell of content.widgets) {
      const other = viewOf(cell);
      if (other && other !== view) close(other);
    }
    if (view && mark) open(view, mark);
  }

  // --- ignoring -----------------------------------------------------------------------------------------------------

  private ignore(event: CustomEvent<IgnoreRequest>): void {
    const { id, cell, tell } = event.detail;
    const has = ({ panel }: Session) => panel.content.widgets.some(({ model }) => model.id === cell);
    const session = this.sessionOf(event.target as Node) ?? this.sessions.all().find(has) ?? this.sessions.current();
    if (!session?.ignore(id)) return;
    event.preventDefault();
    tell(`${id} is ignored in this session.`);
  }
}

/** Whether an editor shows these items: marks that an edit took away are shown again when the kernel says so again. */
function same(before: unknown, items: unknown[] | null, view: EditorView): boolean {
  return JSON.stringify(before) === JSON.stringify(items) && marksIn(view.state).length === (items?.length ?? 0);
}
