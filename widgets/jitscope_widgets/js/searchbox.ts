// The search of a graph: the box, what it found, and what can be asked for.
import { grouped, h } from "./dom";
import { FILTERS } from "./graph/query";
import type { GraphView } from "./graph/view";

let made = 0;

interface SearchOptions {
  graph(): GraphView | null | undefined;
  /** Before something is searched: brings the graph into view. */
  begin?(): void;
}

export class SearchBox {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly answer = h("span.jitscope-muted.jitscope-search-answer", {
    role: "status",
    "aria-live": "polite",
  });
  private readonly help: HTMLElement;

  constructor(private readonly options: SearchOptions) {
    const id = `jitscope-search-help-${++made}`;
    this.input = h("input.jitscope-search", {
      type: "search",
      placeholder: "search, or op:dot size:>1MB",
      "aria-label": "Search the graph",
      "aria-describedby": id,
      autocomplete: "off",
      spellcheck: "false",
    });
    this.help = this.makeHelp(id);
    this.element = h("span.jitscope-search-place", this.input, this.answer, this.help);
    this.listen();
  }

  private listen(): void {
    const { input, help } = this;
    input.addEventListener("input", () => {
      this.options.begin?.();
      this.search();
    });
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") this.leave();
      else return;
      event.preventDefault();
    });
    input.addEventListener("focus", () => this.showHelp());
    this.element.addEventListener("focusout", (event) => {
      if (!this.element.contains(event.relatedTarget as Node | null)) help.hidden = true;
    });
    help.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") {
        input.focus();
        help.hidden = true;
      }
    });
    // a press on the help must not take the focus away from the box
    help.addEventListener("pointerdown", (event) => event.preventDefault());
  }

  private makeHelp(id: string): HTMLElement {
    const row = (example: string, meaning: string) => [
      h("dt", h("button", { onclick: () => this.insert(example) }, example)),
      h("dd", meaning),
    ];
    return h(
      "div.jitscope-search-help",
      { id, hidden: true },
      h(
        "p",
        "Plain words find names and program text. Enter jumps to the next match, Shift + Enter to the one before.",
      ),
      h(
        "dl",
        ...FILTERS.flatMap(([, example, meaning]) => row(example, meaning)),
        ...row("/dot|conv/", "a regular expression"),
        ...row("-op:broadcast", "a minus before anything: all but that"),
      ),
      h("p", "Several parts must all hold: ", h("code", "op:dot line:21 size:>1MB"), "."),
    );
  }

  private insert(example: string): void {
    const { input } = this;
    input.value = [input.value.trim(), example].filter(Boolean).join(" ");
    input.focus();
    this.options.begin?.();
    this.search();
  }

  private showHelp(): void {
    this.help.hidden = this.input.value.trim() !== "";
  }

  private leave(): void {
    this.input.value = "";
    this.search();
    this.help.hidden = true;
    this.options.graph()?.api.takeFocus();
  }

  focus(): void {
    this.input.focus();
  }

  /** Searches again: another graph is shown. */
  search(): void {
    const { value } = this.input;
    const graph = this.options.graph();
    const found = graph?.api.search(value) ?? [];
    this.help.hidden = value.trim() !== "" || this.input !== document.activeElement;
    const count = grouped(found.length);
    this.answer.textContent = !value.trim()
      ? ""
      : graph?.finding.problem ||
        (found.length ? `${count} found${graph?.finding.wide ? " by their code" : ""}` : "none");
  }

  private step(by: number): void {
    const text = this.options.graph()?.api.nextHit(by);
    if (text) this.answer.textContent = text;
  }
}
