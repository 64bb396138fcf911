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
  fusion?: unknown;
  stages?: StagesMemory;
  own?: Record<string, unknown>;
  instruments?: Partial<Record<InstrumentName, unknown>>;
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
  private fusion: View | null = null;
  private stages: View | null = null;
  private readonly own = new Map<string, View>();
  private readonly instruments = new Map<InstrumentName, InstrumentPane>();
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
          if (this.instruments.has(name)) return;
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
    const { compilation, memory, host, root } = this.options;
    if (!compilation.fusion)
      return h(
        "p.jitscope-empty",
        compilation.cache === "reused"
          ? "This program was reused; its passes were recorded when it was compiled."
          : "What XLA did to this program was not recorded.",
      );
    const parts = viewOf(compilation.fusion);
    const { links, selection } = this;
    const ask = host.again ? async () => host.again!(compilation.id) : null;
    const instrument = (name: string) => this.makeInstrument(name).element;
    this.fusion = parts
      ? partsView(
          parts,
          { compilation, links, selection, host, root, memory: memory?.fusion, ask, instrument },
          "fusion",
        )
      : partsMissing(compilation.function);
    return this.fusion.element;
  }

  private makeStages(): HTMLElement {
    const { links, selection } = this;
    const { compilation, memory } = this.options;
    this.stages = stagesPane({
      compilation,
      links,
      selection,
      memory: memory?.stages,
      instrument: (name) => this.makeInstrument(name),
      silent: compilation.silent ?? [],
    });
    return this.stages.element;
  }

  private makeTiming(): HTMLElement {
    const { element } = this.makeOwn(this.options.compilation.timing, "timing", this.measuring());
    return h("div.jitscope-timing", element, h("h3", "Time per kernel"), this.makeInstrument("profile").element);
  }

  private measuring(): Around["ask"] {
    const { compilation, host } = this.options;
    const { measure } = host;
    return measure ? async () => measure.call(host, compilation.id) : null;
  }

  /** What comes with every compilation, drawn from its parts. */
  private makeOwn(doc: { kind: string }, name: string, ask: Around["ask"] = null): View {
    const { compilation, host, root, memory } = this.options;
    const { links, selection } = this;
    const parts = viewOf(doc);
    const view = parts
      ? partsView(parts, { compilation, links, selection, host, root, memory: memory?.own?.[name], ask }, doc.kind)
      : partsMissing(compilation.function);
    this.own.set(name, view);
    return view;
  }

  private makeInstrument(name: InstrumentName): InstrumentPane {
    const { compilation, host, root, memory } = this.options;
    const { links, selection } = this;
    const around = { compilation, links, selection, host, root, memory: memory?.instruments?.[name] };
    const pane = new InstrumentPane(name, around, () => this.arrived(name));
    this.instruments.set(name, pane);
    return pane;
  }

  /** What was measured of kernels shows wherever they do; values that are not finite are marked in the graph. */
  private arrived(name: InstrumentName): void {
    const { compilation, root } = this.options;
    this.options.arrived?.();
    if (name === "values") this.pane?.show(this.pane.level);
    if (name !== "profile") return;
    takeShares(compilation);
    if (compilation.instruments?.machine) void this.instruments.get("machine")?.renew();
    void this.timed();
    this.options.memory = this.memory();
    this.pane?.dispose();
    this.fusion?.dispose();
    this.pane = this.fusion = null;
    for (const tab of ["graph", "fusion"]) this.tabs.renew(tab);
    announce(root, [compilation]);
  }

  /** The list of kernels with what was measured of them, and what a run takes, as the kernel knows it by now. */
  private async timed(): Promise<void> {
    const { compilation } = this.options;
    const [fusion, timing] = [await this.known("fusion"), await this.known("timing")];
    this.options.memory = this.memory();
    if (timing) {
      Object.assign(compilation.timing, { view: timing });
      const before = this.own.get("timing");
      const after = this.makeOwn(compilation.timing, "timing", this.measuring());
      before?.element.replaceWith(after.element);
      before?.dispose();
    }
    if (!fusion || !compilation.fusion) return;
    Object.assign(compilation.fusion, { view: fusion });
    this.fusion?.dispose();
    this.fusion = null;
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
      fusion: this.fusion?.memory?.() ?? this.options.memory?.fusion,
      stages: (this.stages?.memory?.() as StagesMemory) ?? this.options.memory?.stages,
      own: {
        ...this.options.memory?.own,
        ...Object.fromEntries([...this.own].map(([name, view]) => [name, view.memory?.()])),
      },
      instruments: {
        ...this.options.memory?.instruments,
        ...Object.fromEntries([...this.instruments].map(([name, pane]) => [name, pane.memory()])),
      },
    };
  }

  themed(): void {
    this.pane?.themed();
    this.fusion?.themed?.();
    for (const pane of [...this.instruments.values(), ...this.own.values()]) pane.themed?.();
  }

  dispose(): void {
    this.pane?.dispose();
    this.fusion?.dispose();
    this.stages?.dispose();
    for (const pane of [...this.instruments.values(), ...this.own.values()]) pane.dispose();
  }
}
