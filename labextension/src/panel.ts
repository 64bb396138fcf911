// The side panel: the session's compilations, newest first; a click goes to the cell.
import type { NotebookPanel } from "@jupyterlab/notebook";
import type { Message } from "@lumino/messaging";
import { Widget } from "@lumino/widgets";
import type { Sessions } from "./sessions";
import { viewCode } from "./viewcode";
import { goToCell, type Place } from "./cells";

type Live = { update(document: unknown): void; dispose(): void };

export class LedgerPanel extends Widget {
  private live: Live | null = null;
  private waiting = false;

  constructor(private sessions: Sessions) {
    super();
    this.id = "jitscope-panel";
    this.title.label = "";
    this.title.caption = "jitscope: compilations of this session";
    this.title.iconClass = "jitscope-panel-icon";
    this.addClass("jitscope-panel");
    this.node.setAttribute("aria-label", "jitscope compilations");
    this.node.tabIndex = -1;
    sessions.onChange(() => this.refresh());
  }

  protected onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.refresh();
  }

  protected onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    const first = this.node.querySelector<HTMLElement>("button, [tabindex='0']");
    (first ?? this.node).focus();
  }

  /** Draws what is known now; hidden panels draw nothing. */
  private refresh(): void {
    if (this.waiting || !this.isVisible) return;
    this.waiting = true;
    void viewCode().then(({ mount }) => {
      this.waiting = false;
      if (this.isDisposed) return;
      const document = this.shown();
      if (this.live) this.live.update(document);
      else this.live = mount(this.node, document, { goto: (place) => this.goTo(place) });
    });
  }

  private shown(): any {
    const current = this.sessions.current();
    const note = !current
      ? "Open a notebook to see what it compiles."
      : current.ledger === null
        ? "jitscope is not loaded in this notebook. Run %load_ext jitscope in a cell; its compilations then appear here."
        : "";
    return { kind: "ledger", version: 1, rows: current?.ledger?.rows ?? [], note };
  }

  private goTo(place: Place): void {
    const panel: NotebookPanel | undefined = this.sessions.current()?.panel;
    if (panel) void goToCell(panel, place);
  }
}
