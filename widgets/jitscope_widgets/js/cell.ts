// What a %%jit cell did: a line per function, and the panes of the one that was opened.
import type { CellDoc, CompilationDoc, Host } from "./documents";
import { clear, h, plural } from "./dom";
import { groups, headline, type Group } from "./headline";
import type { View } from "./mount";
import { Panes, type PanesMemory } from "./panes";
import { positionLink } from "./recompiles";

interface CellMemory {
  open: boolean;
  name: string;
  id: number | null;
  panes?: PanesMemory;
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

function asides(doc: CellDoc, host: Host): HTMLElement[] {
  const found: HTMLElement[] = [];
  if (doc.error) {
    const { type, message, position } = doc.error;
    found.push(
      h(
        "div",
        { class: "jitscope-error", role: "status" },
        h("p", {}, h("strong", {}, type), message ? `: ${message}` : ""),
        position
          ? h("p", {}, positionLink(position, host), position.text ? h("code", {}, position.text.trim()) : null)
          : null,
      ),
    );
  }
  if (doc.note) found.push(h("p", { class: "jitscope-note" }, doc.note));
  if (doc.reused.length) {
    const list = doc.reused.map(({ function: name, calls }) => `${name} (${plural(calls, "call")})`).join(", ");
    found.push(h("p", { class: "jitscope-note" }, "reused without compiling: ", list));
  }
  if (doc.left_alone.length) {
    found.push(
      h(
        "details",
        { class: "jitscope-left-alone" },
        h("summary", {}, `${plural(doc.left_alone.length, "definition")} left as plain Python`),
        h("ul", {}, ...doc.left_alone.map(({ name, reason }) => h("li", {}, h("code", {}, name), ` (${reason})`))),
      ),
    );
  }
  if (!doc.compilations.length && !found.length)
    found.push(h("p", { class: "jitscope-note" }, "Nothing was compiled in this cell."));
  return found;
}

export class CellView implements View {
  readonly element: HTMLElement;
  readonly api: Record<string, unknown>;
  private readonly groups: Group[];
  private readonly lines = h("div", { class: "jitscope-headlines" });
  private readonly body = h("div", { class: "jitscope-body" });
  private readonly store: Store;
  private readonly state: CellMemory;
  private panes: Panes | null = null;
  private shownAll = false;

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
    this.element = h("div", { class: "jitscope-cell" }, this.lines, this.body, ...asides(doc, host));
    this.api = this.makeApi();
    this.draw();
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
    const { open, name } = this.state;
    const focused = (this.root.getRootNode() as Document).activeElement as HTMLElement | null;
    const inLine = focused && this.lines.contains(focused) ? focused.dataset.function : undefined;
    const shown = this.shownAll ? this.groups : this.groups.slice(0, SHOWN_LINES);
    const lines = shown.map((group) => headline(group, open && group.name === name, () => this.toggle(group.name)));
    this.lines.replaceChildren(...lines);
    const more = this.groups.length - shown.length;
    if (more)
      this.lines.append(
        h(
          "button",
          { type: "button", class: "jitscope-link", onclick: () => ((this.shownAll = true), this.draw()) },
          `${plural(more, "more function")}`,
        ),
      );
    if (inLine) lines.find((line) => line.dataset.function === inLine)?.focus();
    this.drawPanes();
  }

  private drawPanes(): void {
    this.panes?.dispose();
    this.panes = null;
    clear(this.body);
    const compilation = this.compilation();
    if (!this.state.open || !compilation) return;
    this.panes = new Panes({
      compilation,
      exported: this.doc,
      host: this.host,
      memory: this.state.panes,
      root: this.root,
      picker: this.picker(compilation),
      tabChanged: (tab) => {
        this.state.panes = { ...this.state.panes, tab };
        this.store.write(this.state);
      },
    });
    this.body.append(this.panes.element);
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
      this.state.panes = { tab: this.panes?.tabs.current() ?? "graph" };
      Object.assign(this.state, { name: chosen.function, id: chosen.id });
      this.draw();
      this.body.querySelector("select")?.focus();
    });
    return h("label", { class: "jitscope-picker" }, h("span", {}, "function"), select);
  }

  memory(): CellMemory {
    return { ...this.state, panes: this.panes?.memory() ?? this.state.panes };
  }

  themed(): void {
    this.panes?.themed();
  }

  dispose(): void {
    this.panes?.dispose();
  }
}
