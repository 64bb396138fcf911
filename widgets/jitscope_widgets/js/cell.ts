// What a %%jit cell did: a line per function, and the panes of the one that was opened.
import type { CellDoc, CompilationDoc, Host } from "./documents";
import { compilationsTable } from "./compilations";
import { clear, h, plural } from "./dom";
import { completed, partOf, type Part } from "./envelope";
import { announceCarried } from "./heat";
import { cardKey, groups, headline, type Group } from "./headline";
import { positionLink } from "./linewords";
import { Links, Selection } from "./links";
import { sentence, type View } from "./mount";
import { Panes, type PanesMemory } from "./panes";
import { foldedView, partsMissing, partsView } from "./parts/view";
import { viewOf } from "./viewdata";

interface CellMemory {
  open: boolean;
  name: string;
  id: number | null;
  panes?: PanesMemory;
  own?: Record<string, unknown>;
}

const SHOWN_LINES = 6;

/** What is open survives a reload of the page. */
class Store {
  constructor(private readonly key: string | null) {}

  read(): Partial<CellMemory> {
    try {
      return this.key ? JSON.parse(sessionStorage.getItem(this.key) ?? "{}") : {};
    } catch {
      return {};
    }
  }

  write({ open, name, panes }: CellMemory): void {
    try {
      if (this.key)
        sessionStorage.setItem(this.key, JSON.stringify({ open, name, panes: panes && { tab: panes.tab } }));
    } catch {
      // a page without storage forgets
    }
  }
}

/** A document of the cell itself, not of a program. */
function ownView(
  doc: { kind: string },
  title: string,
  host: Host,
  memory: unknown,
  root: HTMLElement,
  draw = partsView,
): View {
  const parts = viewOf(doc);
  const around = { host, root, memory, links: new Links(null, null), selection: new Selection() };
  return parts ? draw(parts, around, doc.kind) : partsMissing(title);
}

function asides(doc: CellDoc, host: Host, stopped: HTMLElement | undefined): HTMLElement[] {
  const found: HTMLElement[] = [];
  if (doc.note) found.push(h("p.jitscope-note", doc.note));
  if (doc.error) {
    const { type, message, position } = doc.error;
    found.push(
      h(
        "div.jitscope-error",
        { role: "status" },
        h(
          "p",
          h("strong", type),
          ...(position
            ? [" in ", positionLink(position, host), position.text ? h("code", position.text.trim()) : null]
            : []),
        ),
        message ? h("details", h("summary", "what it says, as in the traceback"), h("p", message)) : null,
      ),
    );
    if (stopped) found.push(stopped);
  }
  if (doc.reused.length) {
    const list = doc.reused
      .map(({ function: name, calls, at_least }) => `${name} (${plural(calls, "call")}${at_least ? " or more" : ""})`)
      .join(", ");
    found.push(h("p.jitscope-note", "reused without compiling: ", list));
  }
  if (doc.left_alone.length) {
    found.push(
      h(
        "details.jitscope-left-alone",
        h("summary", `${plural(doc.left_alone.length, "definition")} left alone`),
        h("ul", ...doc.left_alone.map(({ name, reason }) => h("li", h("code", name), ` (${reason})`))),
      ),
    );
  }
  if (!doc.compilations.length && !found.length) found.push(h("p.jitscope-note", "Nothing was compiled in this cell."));
  return found;
}

export class CellView implements View {
  readonly element: HTMLElement;
  readonly api: Record<string, unknown>;
  private readonly groups: Group[];
  private readonly lines = h("div.jitscope-headlines");
  private readonly body = h("div.jitscope-body");
  private readonly store: Store;
  private readonly state: CellMemory;
  private panes: Panes | null = null;
  private readonly own: Record<string, View> = {};
  private shownAll = false;
  private readonly loaded = new Map<CompilationDoc, CompilationDoc>();
  private readonly fetched = new Set<CompilationDoc>();

  constructor(
    private readonly doc: CellDoc,
    private readonly host: Host,
    memory: CellMemory | undefined,
    private readonly root: HTMLElement,
  ) {
    this.groups = groups(doc.compilations);
    this.store = new Store(doc.cell_id ? `jitscope:${doc.cell_id}` : null);
    this.state = { open: false, name: this.groups[0]?.name ?? "", id: null, ...(memory ?? this.store.read()) };
    if (!this.groups.some((group) => group.name === this.state.name)) this.state.name = this.groups[0]?.name ?? "";
    const { error, diagnostics, recompilations } = doc;
    const known = this.state.own ?? {};
    if (error?.stopped)
      this.own.stopped = ownView(error.stopped, `The trace of ${error.stopped.function}`, host, known.stopped, root);
    if (recompilations?.cards.length)
      this.own.again = ownView(recompilations, "What this cell compiled again", host, known.again, root);
    if (diagnostics?.items.length)
      this.own.bits = ownView(diagnostics, "What was said of this cell's code", host, known.bits, root, foldedView);
    this.element = h(
      "div.jitscope-cell",
      this.lines,
      this.body,
      this.own.again?.element ?? null,
      this.own.bits?.element ?? null,
      ...asides(doc, host, this.own.stopped?.element),
    );
    this.api = this.makeApi();
    this.draw();
    void announceCarried(this.element, doc.compilations);
  }

  private makeApi(): Record<string, unknown> {
    const view = this;
    return {
      open: (tab = "graph") => view.open(tab),
      close: () => view.toggle(view.state.name, false),
      select: (what: any) => view.select(what),
      selection: () => {
        const { lines, paths, kernels } = view.opened().selection.current;
        return { lines: [...lines], paths: [...paths], kernels: [...kernels] };
      },
      level: (name: string) => view.opened().pane?.show(name),
      get graph() {
        const pane = view.panes?.pane;
        return pane?.graph ? { ...pane.graph.api, level: (name: string) => pane.show(name) } : null;
      },
    };
  }

  private opened(): Panes {
    if (!this.panes) this.open();
    return this.panes!;
  }

  private open(tab?: string): void {
    if (!this.state.open) this.toggle(this.state.name, true);
    if (tab) this.panes?.tabs.show(tab);
  }

  private select(what: { line?: number; node?: string; path?: string; kernel?: string } | null): void {
    const { selection, links, pane } = this.opened();
    const fusion = this.compilation()?.fusion;
    if (!what) selection.clear();
    else if (what.line !== undefined) selection.set(links.fromLine(what.line));
    else if (what.path !== undefined) selection.set(links.fromPath(what.path));
    else if (what.node !== undefined) pane?.graph?.api.select(what.node);
    else selection.set(links.fromKernel(fusion!.kernels.find((kernel) => kernel.name === what.kernel)!));
  }

  private compilation(): CompilationDoc | undefined {
    const all = this.groups.find((group) => group.name === this.state.name)?.compilations ?? [];
    return all.find((compilation) => compilation.id === this.state.id) ?? all[all.length - 1];
  }

  private toggle(name: string, open = !(this.state.open && this.state.name === name)): void {
    const other = name !== this.state.name;
    this.state.panes = other
      ? { tab: this.panes?.tabs.current() ?? "graph" }
      : (this.panes?.memory() ?? this.state.panes);
    if (other) this.state.id = null;
    Object.assign(this.state, { open, name });
    this.store.write(this.state);
    this.draw();
  }

  private draw(): void {
    this.drawLines();
    this.drawPanes();
  }

  private drawLines(): void {
    const { open, name } = this.state;
    const focused = (this.root.getRootNode() as Document).activeElement as HTMLElement | null;
    const inLine = focused && this.lines.contains(focused) ? focused.dataset.function : undefined;
    const shown = this.shownAll ? this.groups : this.groups.slice(0, SHOWN_LINES);
    const whole = (shell: CompilationDoc) => this.loaded.get(shell) ?? shell;
    const lines = shown.map((group) =>
      headline(group, open && group.name === name, () => this.toggle(group.name), whole),
    );
    this.lines.replaceChildren(...lines);
    const more = this.groups.length - shown.length;
    if (more)
      this.lines.append(
        h(
          "button.jitscope-link",
          {
            onclick: () => {
              this.shownAll = true;
              this.draw();
            },
          },
          `${plural(more, "more function")}`,
        ),
      );
    if (inLine) lines.find((line) => line.dataset.function === inLine)?.focus();
  }

  private drawPanes(): void {
    this.panes?.dispose();
    this.panes = null;
    clear(this.body);
    this.hideTold(null);
    const shell = this.compilation();
    if (!this.state.open || !shell) return;
    const part = partOf(shell);
    const compilation = part ? this.loaded.get(shell) : shell;
    if (compilation) this.showPanes(shell, compilation);
    else {
      this.body.append(h("p.jitscope-note", { role: "status" }, "Reading the program…"));
      void this.load(shell, part!);
    }
  }

  /** Reads what a compilation holds; of a mere row, from the kernel where there is one. */
  private async load(shell: CompilationDoc, part: Part): Promise<void> {
    let problem = "";
    try {
      this.loaded.set(shell, await part.load());
      if (part.without === "everything" && this.host.fetch) await this.complete(shell, part);
    } catch (error) {
      problem = sentence(error);
      if (!this.loaded.has(shell)) this.loaded.set(shell, shell);
    }
    if (this.compilation() !== shell || !this.state.open) return;
    if (this.loaded.get(shell) !== shell || part.without === "everything") this.drawPanes();
    if (problem) this.body.prepend(h("p.jitscope-note", { role: "status" }, `This could not be read: ${problem}.`));
  }

  /** Asks the kernel for what the saved output lacks. */
  private async complete(shell: CompilationDoc, part: Part): Promise<void> {
    const piece = await this.host.fetch!(part.at);
    this.loaded.set(shell, await completed(shell, piece));
    this.fetched.add(shell);
  }

  private showPanes(shell: CompilationDoc, compilation: CompilationDoc): void {
    this.panes = new Panes({
      compilation,
      exported: this.doc,
      host: this.host,
      memory: this.state.panes,
      root: this.root,
      picker: this.picker(shell),
      arrived: () => this.drawLines(),
      tabChanged: (tab) => {
        this.state.panes = { ...this.state.panes, tab };
        this.store.write(this.state);
        this.hideTold(tab === "recompiles" ? compilation : null);
      },
    });
    const group = this.groups.find((one) => one.name === shell.function)!;
    const table = compilationsTable(group, shell, (chosen) => this.choose(chosen));
    for (const part of [table, this.leftOut(shell), this.panes.element]) if (part) this.body.append(part);
  }

  /** The cell's cards of what was compiled again, without those that the open tab of a compilation shows. */
  private hideTold(shown: CompilationDoc | null): void {
    const { element } = this.own.again ?? {};
    if (!element) return;
    const told = new Set(shown?.recompilations.cards.map(cardKey));
    const cards = this.doc.recompilations!.cards;
    const names = new Set(
      cards.filter((card) => told.has(cardKey(card))).map((card) => `${card.function}/${card.cause}`),
    );
    for (const card of element.querySelectorAll<HTMLElement>(".jitscope-card[data-name]"))
      card.hidden = names.has(card.dataset.name!);
    element.hidden = names.size === cards.length;
  }

  /** What the saved output lacks of a compilation, and a way to get it. */
  private leftOut(shell: CompilationDoc): HTMLElement | null {
    const part = partOf(shell);
    if (!part?.without || this.fetched.has(shell)) return null;
    const what = part.without === "everything" ? "the programs and graphs of this compilation" : part.without;
    const said = h("span", `Left out of the saved notebook to keep it small: ${what}. `);
    const place = h("p.jitscope-note.jitscope-left-out", { role: "status" }, said);
    if (!this.host.fetch) {
      said.append("Run the cell again to see it.");
      return place;
    }
    const button = h("button.jitscope-link", "Get it from the kernel");
    button.addEventListener("click", () => {
      button.disabled = true;
      button.textContent = "Asking the kernel…";
      this.complete(shell, part).then(
        () => this.compilation() === shell && this.redrawPanes(),
        (error) => button.replaceWith(`The kernel did not give it: ${sentence(error)}.`),
      );
    });
    place.append(button);
    return place;
  }

  private redrawPanes(): void {
    this.state.panes = this.panes?.memory() ?? this.state.panes;
    this.drawPanes();
  }

  private choose(chosen: CompilationDoc): void {
    this.state.panes = { tab: this.panes?.tabs.current() ?? "graph" };
    Object.assign(this.state, { name: chosen.function, id: chosen.id });
    this.draw();
  }

  /** Which compilation: shown when there are several. */
  private picker(now: CompilationDoc): HTMLElement | null {
    if (this.doc.compilations.length < 2) return null;
    const name = (c: CompilationDoc) => {
      const own = this.groups.find((group) => group.name === c.function)!.compilations;
      return own.length > 1 ? `${c.function}, compilation ${own.indexOf(c) + 1}` : c.function;
    };
    const select = h(
      "select",
      { "aria-label": "Function" },
      ...this.doc.compilations.map((c) =>
        h("option", { value: c.id, selected: c === now, title: c.signature }, name(c)),
      ),
    );
    select.addEventListener("change", () => {
      const chosen = this.doc.compilations.find((c) => String(c.id) === select.value);
      if (!chosen) return;
      this.choose(chosen);
      this.body.querySelector("select")?.focus();
    });
    return h("label.jitscope-picker", h("span", "function"), select);
  }

  memory(): CellMemory {
    const own = Object.fromEntries(Object.entries(this.own).map(([name, view]) => [name, view.memory?.()]));
    return { ...this.state, panes: this.panes?.memory() ?? this.state.panes, own };
  }

  themed(): void {
    this.panes?.themed();
    for (const view of Object.values(this.own)) view.themed?.();
  }

  dispose(): void {
    this.panes?.dispose();
    for (const view of Object.values(this.own)) view.dispose();
  }
}
