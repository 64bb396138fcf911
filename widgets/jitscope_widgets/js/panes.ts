// One compilation opened: tabs, search, and the one selection they all share.
import type { AnyDocument, CompilationDoc, GraphDoc, Host } from "./documents";
import { h } from "./dom";
import { decode } from "./envelope";
import { exportMenu } from "./exporting";
import { announce } from "./heat";
import { GraphPane, type GraphPaneMemory } from "./graphpane";
import { recompilationsOf } from "./headline";
import { Help } from "./help";
import { iconButton } from "./icons";
import { furtherInstruments, InstrumentPane, waitingFor, type InstrumentName } from "./instruments";
import { Links, Selection } from "./links";
import { SearchBox } from "./searchbox";
import { stagesPane, type StagesMemory } from "./stages";
import type { View } from "./mount";
import { partsMissing, partsView, type Around } from "./parts/view";
import { tabs, type Tab, type Tabs } from "./tabs";
import { takeShares } from "./measured";
import { viewOf } from "./viewdata";

export interface PanesMemory {
  tab: string;
  graph?: GraphPaneMemory;
  /** What the views below the tabs remember, by name. */
  views?: Record<string, unknown>;
}

interface PanesOptions {
  compilation: CompilationDoc;
  exported: AnyDocument;
  host: Host;
  memory?: PanesMemory;
  root: HTMLElement;
  picker: HTMLElement | null;
  /** Esc with nothing left to go back from. */
  tabChanged?(tab: string): void;
  /** An instrument found something, of which the line of the program may tell. */
  arrived?(): void;
}

/** The instruments that have a place of their own. */
const PLACED = new Set([
  "communication",
  "transformations",
  "passes",
  "machine",
  "profile",
  "memory",
  "values",
  "reasons",
]);

export class Panes {
  readonly element: HTMLElement;
  readonly links: Links;
  readonly selection = new Selection();
  readonly tabs: Tabs;
  pane: GraphPane | null = null;
  /** All but the graph, by name. */
  private readonly views = new Map<string, View>();
  private readonly help: Help;
  private readonly searchBox: SearchBox;

  constructor(private readonly options: PanesOptions) {
    const { compilation, root } = options;
    takeShares(compilation);
    this.links = Links.of(compilation);
    this.help = new Help(root);
    this.searchBox = new SearchBox({
      graph: () => this.pane?.graph,
      begin: () => this.tabs.current() !== "graph" && this.tabs.show("graph"),
    });
    this.tabs = tabs(this.list(), "", `Views of ${compilation.function}`, (id) => this.opened(id));
    this.element = h(
      "div.jitscope-panes",
      h("div.jitscope-toolbar", this.tabs.bar, h("span.jitscope-tools", options.picker, ...this.tools())),
      h("div.jitscope-signature", h("code", { title: compilation.signature }, compilation.signature)),
      this.tabs.body,
    );
    this.tabs.show(options.memory?.tab ?? "graph");
    void this.addFurther();
    this.await();
    announce(root, [compilation]);
  }

  /** Takes what an earlier view of the compilation asked for. A pane that is open takes it by itself. */
  private await(): void {
    const { compilation, host } = this.options;
    for (const [name, answer] of waitingFor(host, compilation))
      answer.then(
        (found) => {
          if (this.views.has(name)) return;
          compilation.instruments = { ...compilation.instruments, [name]: found };
          this.arrived(name);
        },
        () => undefined,
      );
  }

  private list(): Tab[] {
    const { compilation } = this.options;
    const again = recompilationsOf([compilation]);
    return [
      { id: "graph", title: "Graph", make: () => this.makeGraph() },
      { id: "fusion", title: "Fusion", make: () => this.makeFusion() },
      ...(compilation.instruments?.communication ? [this.tabOf("communication", "Communication")] : []),
      { id: "stages", title: "Stages", make: () => this.makeStages() },
      { id: "timing", title: "Timing", make: () => this.makeTiming() },
      { id: "memory", title: "Memory", make: () => this.makeInstrument("memory").element },
      { id: "values", title: "Values", make: () => this.makeInstrument("values").element },
      {
        id: "recompiles",
        title: "Recompiles",
        badge: again ? String(again) : undefined,
        make: () => this.makeOwn(compilation.recompilations, "recompiles").element,
      },
      ...Object.keys(compilation.instruments ?? {})
        .filter((name) => !PLACED.has(name))
        .map((name) => this.tabOf(name, name[0]!.toUpperCase() + name.slice(1))),
    ];
  }

  private tabOf(name: InstrumentName, title: string): Tab {
    return { id: name, title, make: () => this.makeInstrument(name).element };
  }

  /** The kernel may have instruments that no view knows beforehand: each gets a tab. */
  private async addFurther(): Promise<void> {
    const { host, compilation } = this.options;
    for (const { name, title } of await furtherInstruments(host, [
      ...PLACED,
      ...Object.keys(compilation.instruments ?? {}),
    ]))
      this.tabs.add(this.tabOf(name, title));
  }

  private makeGraph(): HTMLElement {
    this.pane = new GraphPane({
      compilation: this.options.compilation,
      host: this.options.host,
      links: this.links,
      selection: this.selection,
      memory: this.options.memory?.graph,
      help: () => this.help.show(),
      search: () => this.searchBox.focus(),
      showFusion: () => this.tabs.show("fusion"),
      root: this.options.root,
    });
    this.pane.changed = () => this.searchBox.search();
    return this.pane.element;
  }

  private makeFusion(): HTMLElement {
    const { compilation, host } = this.options;
    if (!compilation.fusion)
      return h(
        "p.jitscope-empty",
        compilation.cache === "reused"
          ? "This program was reused; its passes were recorded when it was compiled."
          : "What XLA did to this program was not recorded.",
      );
    const ask = host.again ? async () => host.again!(compilation.id) : null;
    const instrument = (name: string) => this.makeInstrument(name).element;
    return this.makeOwn(compilation.fusion, "fusion", { ask, instrument }).element;
  }

  private makeStages(): HTMLElement {
    const { links, selection } = this;
    const { compilation } = this.options;
    const view = stagesPane({
      compilation,
      links,
      selection,
      memory: this.remembered("stages") as StagesMemory | undefined,
      instrument: (name) => this.makeInstrument(name),
      silent: compilation.silent ?? [],
    });
    return this.kept("stages", view).element;
  }

  private makeTiming(): HTMLElement {
    const { element } = this.makeOwn(this.options.compilation.timing, "timing", { ask: this.measuring() });
    return h("div.jitscope-timing", element, h("h3", "Time per kernel"), this.makeInstrument("profile").element);
  }

  private measuring(): Around["ask"] {
    const { compilation, host } = this.options;
    const { measure } = host;
    return measure ? async () => measure.call(host, compilation.id) : null;
  }

  /** What comes with every compilation, drawn from its parts. */
  private makeOwn(doc: { kind: string }, name: string, asking: Pick<Around, "ask" | "instrument"> = {}): View {
    const parts = viewOf(doc);
    const view = parts
      ? partsView(parts, { ...this.around(name), ...asking }, doc.kind)
      : partsMissing(this.options.compilation.function);
    return this.kept(name, view);
  }

  private makeInstrument(name: InstrumentName): InstrumentPane {
    return this.kept(name, new InstrumentPane(name, this.around(name), () => this.arrived(name)));
  }

  private around(name: string): Around & { compilation: CompilationDoc } {
    const { compilation, host, root } = this.options;
    return { compilation, links: this.links, selection: this.selection, host, root, memory: this.remembered(name) };
  }

  private kept<Kind extends View>(name: string, view: Kind): Kind {
    this.views.set(name, view);
    return view;
  }

  private remembered(name: string): unknown {
    return this.options.memory?.views?.[name];
  }

  /** What was measured of kernels shows wherever they do; values that are not finite are marked in the graph. */
  private arrived(name: InstrumentName): void {
    const { compilation, root } = this.options;
    this.options.arrived?.();
    if (name === "values") this.pane?.show(this.pane.level);
    if (name !== "profile") return;
    takeShares(compilation);
    const machine = this.views.get("machine");
    if (compilation.instruments?.machine && machine instanceof InstrumentPane) void machine.renew();
    void this.timed();
    this.options.memory = this.memory();
    this.pane?.dispose();
    this.pane = null;
    this.tabs.renew("graph");
    this.renewFusion();
    announce(root, [compilation]);
  }

  /** The list of kernels with what was measured of them, and what a run takes, as the kernel knows it by now. */
  private async timed(): Promise<void> {
    const { compilation } = this.options;
    const [fusion, timing] = [await this.known("fusion"), await this.known("timing")];
    this.options.memory = this.memory();
    if (timing) {
      Object.assign(compilation.timing, { view: timing });
      const before = this.views.get("timing");
      const after = this.makeOwn(compilation.timing, "timing", { ask: this.measuring() });
      before?.element.replaceWith(after.element);
      before?.dispose();
    }
    if (!fusion || !compilation.fusion) return;
    Object.assign(compilation.fusion, { view: fusion });
    this.renewFusion();
  }

  private renewFusion(): void {
    this.views.get("fusion")?.dispose();
    this.views.delete("fusion");
    this.tabs.renew("fusion");
  }

  /** The view of a part of this compilation, made by the kernel now; undefined where there is none to ask. */
  private async known(name: string): Promise<ReturnType<typeof viewOf>> {
    const { compilation, host } = this.options;
    const found = await host
      .instrument?.(compilation.id, name, {})
      .then(decode)
      .catch(() => null);
    return viewOf(found);
  }

  private tools(): HTMLElement[] {
    const { compilation, exported, host, root } = this.options;
    const full = iconButton("full", "full screen");
    full.addEventListener("click", () => {
      if (document.fullscreenElement === root) void document.exitFullscreen();
      else void root.requestFullscreen?.().catch(() => undefined);
    });
    const help = iconButton("help", "keys", { onclick: () => this.help.show() });
    return [
      this.searchBox.element,
      full,
      exportMenu(() => ({
        name: compilation.function,
        document: exported,
        host,
        svg: () => this.pane?.graph?.svg() ?? null,
        graph: () => this.shownGraph(),
      })),
      help,
    ];
  }

  private shownGraph(): GraphDoc | null {
    const { graph, fusion } = this.options.compilation;
    const levels: Record<string, GraphDoc | undefined> = { jaxpr: graph, before: fusion?.before, after: fusion?.after };
    return levels[this.pane?.level ?? ""] ?? null;
  }

  private opened(id: string): void {
    this.options.tabChanged?.(id);
  }

  memory(): PanesMemory {
    return {
      tab: this.tabs.current(),
      graph: this.pane?.memory() ?? this.options.memory?.graph,
      views: {
        ...this.options.memory?.views,
        ...Object.fromEntries([...this.views].map(([name, view]) => [name, view.memory?.()])),
      },
    };
  }

  themed(): void {
    this.pane?.themed();
    for (const view of this.views.values()) view.themed?.();
  }

  dispose(): void {
    this.pane?.dispose();
    for (const view of this.views.values()) view.dispose();
  }
}
