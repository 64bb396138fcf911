// The side panel: the session's compilations, newest first, and its sharp bits; a click goes to the line.
import type { NotebookPanel } from "@jupyterlab/notebook";
import { LabIcon } from "@jupyterlab/ui-components";
import type { Message } from "@lumino/messaging";
import { Widget } from "@lumino/widgets";
import type { Sessions } from "./sessions";
import { viewCode } from "./viewcode";
import { goToCell, type Place } from "./cells";

/** Two values into one. */
const icon = new LabIcon({
  name: "jitscope:panel",
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16">
    <g class="jp-icon3" fill="#616161">
      <path d="M3.25 4.5h1.5v1.25c0 1.5.9 1.75 2 2.25.5.23.95.5 1.25.9.3-.4.75-.67 1.25-.9 1.1-.5 2-.75 2-2.25V4.5h1.5v1.25c0 2.45-1.6 3.05-2.87 3.62-.75.34-1.13.6-1.13 1.38h-1.5c0-.78-.38-1.04-1.13-1.380C4.85 8.8 3.25 8.2 3.25 5.750z"/>
      <circle cx="4" cy="3" r="2"/><circle cx="12" cy="3" r="2"/><rect x="5" y="10.5" width="6" height="4.5" rx="1.2"/>
    </g></svg>`,
});

type Live = { update(document: unknown): void; dispose(): void };
type Tabs = Awaited<ReturnType<typeof viewCode>> extends { tabs: (...given: any[]) => infer Made } ? Made : never;

const UNLOADED = "jitscope is not loaded in this notebook. Run %load_ext jitscope in a cell; ";

/** A document that says a sentence. */
const said = (kind: string, content: string) => ({
  kind,
  version: 1,
  view: [{ part: "sentence", content, kind: "note" }],
});

export class SidePanel extends Widget {
  private live: Record<string, Live> = {};
  private tabs: Tabs | null = null;
  private waiting = false;

  constructor(private sessions: Sessions) {
    super();
    this.id = "jitscope-panel";
    this.title.caption = "jitscope: compilations, recompilations and sharp bits of this session";
    this.title.icon = icon;
    this.addClass("jitscope-panel");
    this.node.setAttribute("aria-label", "jitscope");
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
    void viewCode().then((code) => {
      this.waiting = false;
      if (this.isDisposed) return;
      const count = this.sessions.current()?.items().length ?? 0;
      this.tabs ??= this.build(code);
      this.tabs.badge("bits", count ? String(count) : "");
      const documents = { ledger: this.ledger(), recompiles: this.recompiles(), bits: this.bits() };
      for (const [tab, document] of Object.entries(documents)) this.live[tab]?.update(document);
    });
  }

  private build({ mount, stage, tabs }: Awaited<ReturnType<typeof viewCode>>): Tabs {
    const tab = (id: string, title: string, document: () => unknown) => ({
      id,
      title,
      make: () => {
        const place = window.document.createElement("div");
        this.live[id] = mount(place, document() as any, { goto: (at) => this.goTo(at) });
        return place;
      },
    });
    const list = [
      tab("ledger", "Compilations", () => this.ledger()),
      tab("recompiles", "Recompiles", () => this.recompiles()),
      tab("bits", "Sharp bits", () => this.bits()),
    ];
    const made = tabs(list, "", "jitscope", () => undefined);
    const whole = window.document.createElement("div");
    whole.append(made.bar, made.body);
    whole.className = "jitscope-sidebar";
    stage(this.node, whole);
    made.show("ledger");
    return made;
  }

  private ledger(): unknown {
    const current = this.sessions.current();
    if (!current) return said("ledger", "Open a notebook to see what it compiles.");
    return current.ledger ?? said("ledger", `${UNLOADED}its compilations then appear here.`);
  }

  private recompiles(): unknown {
    return (
      this.sessions.current()?.ledger?.recompilations ??
      said("recompilations", "Nothing was compiled or traced more than once.")
    );
  }

  private bits(): unknown {
    const current = this.sessions.current();
    const items = current?.items() ?? [];
    if (items.length)
      return {
        kind: "diagnostics",
        version: 1,
        items,
        view: [
          {
            part: "cards",
            name: "Sharp bits",
            cards: items.map(({ card }) => card),
            filters: ["severity", "sharp bit"],
          },
        ],
      };
    if (!current)
      return said(
        "diagnostics",
        "Open a notebook to see its sharp bits: code that means something else to a tracing compiler than to Python.",
      );
    if (current.bits === null)
      return said(
        "diagnostics",
        `${UNLOADED}what in its code means something else to a tracing compiler than to Python then appears here.`,
      );
    return said(
      "diagnostics",
      "No sharp bits were found by looking at the code of this notebook. %sharpbits on looks at the values of runs too.",
    );
  }

  private goTo(place: Place): void {
    const panel: NotebookPanel | undefined = this.sessions.current()?.panel;
    if (panel) void goToCell(panel, place);
  }
}
