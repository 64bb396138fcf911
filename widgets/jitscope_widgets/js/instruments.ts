// Instruments: costly documents about one compilation, made when somebody asks for them. This is the frame round their views.
import type { CompilationDoc, Host, Instruments } from "./documents";
import { clear, h } from "./dom";
import { decode } from "./envelope";
import type { Links, Selection } from "./links";
import { machineView } from "./machine";
import { sentence, type View } from "./mount";
import { partsMissing, partsView } from "./parts/view";
import { passesPane } from "./passes";
import { transformationsPane } from "./transformations";
import { profileView } from "./profile";
import { viewOf } from "./viewdata";
import { valuesView } from "./values";

/** What the view of an instrument has round it. */
interface Surroundings {
  compilation: CompilationDoc;
  links: Links;
  selection: Selection;
  host: Host;
  root: HTMLElement;
  /** What an earlier view of this instrument remembered. */
  memory?: any;
  /** Which part of it to show. */
  part?: string;
  /** Asks the kernel for a further document of this instrument; null where there is no kernel to ask. */
  ask: ((options: Record<string, unknown>) => Promise<any>) | null;
}

interface Instrument<Name extends keyof Instruments> {
  /** What the button that has it look says. */
  button: string;
  /** A sentence on what it shows, and one on what it costs. */
  shows: string;
  costs: string;
  view(doc: NonNullable<Instruments[Name]>, around: Surroundings): View;
}

export type InstrumentName = keyof Instruments;

/** The view that came with the document. */
function fromParts(doc: { kind: string; title: string }, around: Surroundings): View {
  const parts = viewOf(doc);
  return parts ? partsView(parts, around, doc.kind) : partsMissing(doc.title);
}

const TABLE: { [Name in InstrumentName]-?: Instrument<Name> } = {
  transformations: {
    button: "Show transformations",
    shows: "The jaxpr before and after each transformation that was called while the function was traced: jvp, linearize, transpose, vmap.",
    costs: "The function's Python code runs once more, on tracers, without what it prints; nothing is compiled or run.",
    view: (doc, { host, links, selection, memory }) => transformationsPane({ doc, host, links, selection, memory }),
  },
  passes: {
    button: "Show passes",
    shows: "What each of XLA's passes did to the program, step by step, and what became of each line.",
    costs: "The program is compiled twice more; it is not run.",
    view: (doc, { host, root, links, selection, memory }) => passesPane({ doc, host, root, links, selection, memory }),
  },
  memory: {
    button: "Show memory",
    shows: "Every buffer of the compiled program over its schedule: what is in use at each step, the peak, and the line of each buffer.",
    costs: "The program is compiled once more; it is not run.",
    view: fromParts,
  },
  profile: {
    button: "Profile kernels",
    shows: "What each kernel and each line of the program takes, and whether memory, arithmetic or overhead bounds it.",
    costs:
      "The program runs again for about two seconds on the arguments of its call, half of the time under XLA's profiler; the first time, a second more to measure this machine.",
    view: (doc, { compilation, links, selection }) => profileView(doc, { links, selection, kernels: compilation.fusion?.kernels ?? [] }),
  },
  values: {
    button: "Show values",
    shows: "What every equation computes on the arguments of the call: statistics, the first NaN, histograms and pictures of the arrays.",
    costs: "The program is run equation by equation, and once as it is compiled; the arguments must still exist.",
    view: (doc, around) => valuesView(doc, around),
  },
  machine: {
    button: "Show machine code and LLVM's IR",
    shows: "The code that each kernel runs: LLVM's IR before and after its passes, and the processor's instructions with their loops.",
    costs: "The program is compiled once more; it is not run.",
    view: (doc, { part, ...around }) => machineView(doc, { ...around, part: part === "llvm" ? "llvm" : "code", shares: sharesIn(around.compilation) }),
  },
  communication: {
    button: "Show communication",
    shows: "What the devices exchange: the collectives of the compiled program with their bytes and lines, and the shardings of arguments and results.",
    costs: "Nothing is compiled or run: it is read from the compiled program.",
    view: fromParts,
  },
};

/** The measured share of kernels, from the profile if there is one. */
function sharesIn({ instruments, fusion }: CompilationDoc): Map<string, number> {
  const kernels: { name: string; share?: number | null }[] = instruments?.profile?.kernels ?? fusion?.kernels ?? [];
  return new Map(kernels.flatMap(({ name, share }) => (typeof share === "number" ? [[name, share] as [string, number]] : [])));
}

/** One instrument of one compilation: what it found, or a button that has it look. */
export class InstrumentPane implements View {
  readonly element = h("div", { class: "jitscope-instrument" });
  private view: View | null = null;
  private part: string | undefined;
  private readonly instrument: Instrument<any>;

  constructor(
    private readonly name: InstrumentName,
    private readonly around: Omit<Surroundings, "ask" | "part">,
    private readonly arrived: () => void = () => {},
  ) {
    this.instrument = TABLE[name];
    this.element.dataset.instrument = name;
    this.draw();
  }

  private draw(): void {
    this.view?.dispose();
    this.view = null;
    const found = this.around.compilation.instruments?.[this.name];
    clear(this.element);
    if (!found) return void this.element.append(this.offer());
    const { host } = this.around;
    const ask = host.instrument ? (options: Record<string, unknown>) => this.ask(options) : null;
    this.view = this.instrument.view(found, { ...this.around, part: this.part, ask });
    this.element.append(this.view.element);
  }

  /** Shows a part of what the instrument found. */
  showPart(part: string): void {
    this.part = part;
    this.view?.showPart?.(part);
  }

  private ask(options: Record<string, unknown>): Promise<any> {
    const { compilation, host } = this.around;
    return host.instrument!(compilation.id, this.name, options).then(decode);
  }

  private offer(): HTMLElement {
    const { shows, costs, button: said } = this.instrument;
    const about = h("p", { class: "jitscope-sentence" }, shows);
    const price = h("p", { class: "jitscope-muted" }, costs);
    if (!this.around.host.instrument)
      return h("div", { class: "jitscope-offer" }, about, h("p", { class: "jitscope-muted" }, "Nobody asked for this while the kernel ran, or it did not fit into the saved output. Run the cell again to see it."));
    const answer = h("span", { class: "jitscope-muted", role: "status", "aria-live": "polite" });
    const button = h("button", { type: "button", class: "jitscope-button", "data-run": this.name }, said);
    button.addEventListener("click", () => void this.run(button, answer));
    return h("div", { class: "jitscope-offer" }, about, price, h("p", { class: "jitscope-asking" }, button, answer));
  }

  private async run(button: HTMLButtonElement, answer: HTMLElement): Promise<void> {
    const start = performance.now();
    const tell = () => (answer.textContent = `looking… ${Math.round((performance.now() - start) / 1000)} s`);
    button.disabled = true;
    tell();
    const clock = setInterval(tell, 1000);
    try {
      const { compilation } = this.around;
      const found = await this.ask({});
      compilation.instruments = { ...compilation.instruments, [this.name]: found };
      this.arrived();
      this.draw();
      this.element.querySelector<HTMLElement>("button, [tabindex='0'], input")?.focus();
    } catch (error) {
      answer.textContent = sentence(error);
      button.disabled = false;
    } finally {
      clearInterval(clock);
    }
  }

  memory(): unknown {
    return this.view?.memory?.();
  }

  themed(): void {
    this.view?.themed?.();
  }

  dispose(): void {
    this.view?.dispose();
  }
}
