// The ledgers and sharp bits of all open notebooks, kept up to date over the comm target "jitscope".
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import type { Kernel, KernelMessage } from "@jupyterlab/services";
import type { Diagnostic, DiagnosticsDoc, LedgerDoc } from "../../widgets/jitscope_widgets/js/documents";
import type { Card, Part } from "../../widgets/jitscope_widgets/js/parts/forms";

const TARGET = "jitscope";
const PAUSE = 400; // ms after the last edit before the kernel is asked
const SHARE = 0.05; // of the kernel's time, that looks may take

/** Reads a comm message; gives the ledger in it, or null. */
export function ledgerIn(data: unknown): LedgerDoc | null {
  const message = data as { type?: unknown; document?: LedgerDoc } | null;
  if (message?.type !== "ledger" || !Array.isArray(message.document?.rows)) return null;
  return message.document;
}

interface Looked {
  document: DiagnosticsDoc & { view: Part[] };
  /** The cells that were looked at; null: all that were run. */
  cells: string[] | null;
  seconds: number;
}

/** Reads a comm message; gives the sharp bits in it, or null. */
export function lookedIn(data: unknown): Looked | null {
  const message = data as ({ type?: unknown } & Looked) | null;
  return message?.type === "diagnostics" && Array.isArray(message.document?.items) ? message : null;
}

/** A sharp bit with the card that says it. */
export type Bit = Diagnostic & { card: Card };
export type Bits = Map<string, Bit[]>; // by cell

/** One notebook: listens to whichever kernel it has now. */
export class Session {
  ledger: LedgerDoc | null = null;
  /** Null where no kernel looks. */
  bits: Bits | null = null;
  private comm: Kernel.IComm | null = null;
  private kernelId: string | undefined;
  private waiting: ReturnType<typeof setTimeout> | undefined;
  private wanted = false;
  private seconds = 0;

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
      if (status === "idle" && this.wanted && !this.waiting) this.look();
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
    this.edited();
  }

  private take(data: unknown): void {
    const ledger = ledgerIn(data);
    if (ledger) this.ledger = ledger;
    const looked = lookedIn(data);
    if (looked) this.takeBits(looked);
    if (ledger || looked) this.changed();
  }

  /** Cells that could not be read keep what was found in them before. */
  private takeBits({ document, cells, seconds }: Looked): void {
    const own = new Set(this.cells().map(({ id }) => id));
    const found: Bits = new Map();
    const cards = document.view.flatMap((part) => (part.part === "cards" ? part.cards : []));
    for (const [n, item] of document.items.entries()) {
      const cell = item.position?.file ?? "";
      if (own.has(cell)) found.set(cell, [...(found.get(cell) ?? []), { ...item, card: cards[n]! }]);
    }
    const read = cells ? new Set(cells) : null;
    for (const [cell, items] of this.bits ?? []) if (read && own.has(cell) && !read.has(cell)) found.set(cell, items);
    this.bits = found;
    this.seconds = seconds;
  }

  /** All that is known, in the order of the notebook. */
  items(): Bit[] {
    return this.bits ? this.cells().flatMap(({ id }) => this.bits!.get(id) ?? []) : [];
  }

  private cells(): { id: string; text: string }[] {
    const found = [];
    for (const cell of this.panel.content.model?.cells ?? [])
      if (cell.type === "code") found.push({ id: cell.id, text: cell.sharedModel.getSource() });
    return found;
  }

  // --- asking -------------------------------------------------------------------------------------------------------

  /** The text changed: the kernel looks at it after a pause, when it is idle. */
  edited(): void {
    if (!this.comm) return;
    this.wanted = true;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(
      () => {
        this.waiting = undefined;
        this.look();
      },
      Math.max(PAUSE, (1000 * this.seconds) / SHARE),
    );
  }

  private look(): void {
    const { panel, comm } = this;
    if (panel.isDisposed || !comm || panel.sessionContext.session?.kernel?.status !== "idle") return; // later, when it is
    this.wanted = false;
    this.send({ type: "look", cells: this.cells() });
  }

  /** Nobody wants to hear of a sharp bit in this session. Gives whether there is a kernel to tell. */
  ignore(id: string): boolean {
    return this.send({ type: "ignore", id });
  }

  private send(message: any): boolean {
    if (!this.comm || this.comm.isDisposed) return false;
    this.comm.send(message);
    return true;
  }

  private forget(): void {
    this.comm = null;
    this.wanted = false;
    if (this.ledger === null && this.bits === null) return;
    this.ledger = null;
    this.bits = null;
    this.changed();
  }
}

export class Sessions {
  private known = new Map<NotebookPanel, Session>();
  private listeners: (() => void)[] = [];

  constructor(private tracker: INotebookTracker) {
    tracker.widgetAdded.connect((_, panel) => this.add(panel));
    tracker.currentChanged.connect(() => this.tell());
    tracker.forEach((panel) => void this.add(panel));
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** The session of the notebook in front, if any. */
  current(): Session | null {
    const panel = this.tracker.currentWidget;
    return panel ? (this.known.get(panel) ?? null) : null;
  }

  all(): Session[] {
    return [...this.known.values()];
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
