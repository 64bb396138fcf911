// The ledgers of all open notebooks, kept up to date over the comm target "jitscope".
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import type { Kernel, KernelMessage } from "@jupyterlab/services";
import type { LedgerDoc } from "../../widgets/jitscope_widgets/js/documents";

export const TARGET = "jitscope";

/** Reads a comm message; gives the ledger in it, or null. */
export function ledgerIn(data: unknown): LedgerDoc | null {
  const message = data as { type?: unknown; document?: LedgerDoc } | null;
  if (message?.type !== "ledger" || !Array.isArray(message.document?.rows)) return null;
  return message.document;
}

/** One notebook: listens to whichever kernel it has now. */
class Session {
  ledger: LedgerDoc | null = null;
  private comm: Kernel.IComm | null = null;
  private kernelId: string | undefined;

  constructor(
    readonly panel: NotebookPanel,
    private changed: () => void,
  ) {
    const context = panel.sessionContext;
    void context.ready.then(() => this.connect());
    context.kernelChanged.connect(() => this.connect());
    context.statusChanged.connect((_, status) => {
      if (status === "restarting" || status === "autorestarting") this.forget();
      // a restarted kernel has no ledger until it loads the extension again, which opens a comm to us
    });
  }

  /** The kernel may open a comm (at %load_ext); we open one too, for a page that was reloaded. */
  private connect(): void {
    const kernel = this.panel.sessionContext.session?.kernel ?? null;
    if (kernel?.id === this.kernelId) return;
    this.forget();
    this.kernelId = kernel?.id;
    if (!kernel) return;
    kernel.registerCommTarget(TARGET, (comm, opening) => this.listen(comm, opening.content.data));
    void this.reopen(kernel);
  }

  /** A kernel that has our extension already (the page was reloaded) is asked for its ledger; others are left in peace. */
  private async reopen(kernel: Kernel.IKernelConnection): Promise<void> {
    const info = await kernel.requestCommInfo({ target_name: TARGET }).catch(() => null);
    const comms = info?.content.status === "ok" ? info.content.comms : {};
    if (!Object.keys(comms).length || kernel.isDisposed || this.comm) return;
    const comm = kernel.createComm(TARGET);
    this.listen(comm, null);
    comm.open({});
  }

  private listen(comm: Kernel.IComm, data: unknown): void {
    comm.onMsg = (message: KernelMessage.ICommMsgMsg) => this.take(message.content.data);
    // a kernel without our extension closes the comm at once; that is no error
    comm.onClose = () => {
      if (this.comm === comm) this.comm = null;
    };
    this.comm = comm;
    this.take(data);
  }

  private take(data: unknown): void {
    const ledger = ledgerIn(data);
    if (!ledger) return;
    this.ledger = ledger;
    this.changed();
  }

  private forget(): void {
    this.comm = null;
    if (this.ledger === null) return;
    this.ledger = null;
    this.changed();
  }
}

export class Sessions {
  private known = new Map<NotebookPanel, Session>();
  private listeners: (() => void)[] = [];

  constructor(private tracker: INotebookTracker) {
    tracker.widgetAdded.connect((_, panel) => this.add(panel));
    tracker.currentChanged.connect(() => this.tell());
    tracker.forEach((panel) => this.add(panel));
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** The notebook in front, if any, and its ledger. */
  current(): { panel: NotebookPanel; ledger: LedgerDoc | null } | null {
    const panel = this.tracker.currentWidget;
    return panel ? { panel, ledger: this.known.get(panel)?.ledger ?? null } : null;
  }

  private add(panel: NotebookPanel): void {
    if (this.known.has(panel)) return;
    this.known.set(panel, new Session(panel, () => this.tell()));
    panel.disposed.connect(() => {
      this.known.delete(panel);
      this.tell();
    });
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
