// Instruments: costly documents about one compilation, made when somebody asks for them. This is the frame round their views.
import type { CompilationDoc, Host, Offer } from "./documents";
import { clear, h } from "./dom";
import { decode, lacks } from "./envelope";
import type { Links, Selection } from "./links";
import { sentence, type View } from "./mount";
import { partsMissing, partsView } from "./parts/view";
import { viewOf } from "./viewdata";

/** What the view of an instrument has round it. */
interface Surroundings {
  compilation: CompilationDoc;
  links: Links;
  selection: Selection;
  host: Host;
  root: HTMLElement;
  /** What an earlier view of this instrument remembered. */
  memory?: any;
  /** Asks the kernel for a further document of this instrument; null where there is no kernel to ask. */
  ask: ((options: Record<string, unknown>) => Promise<any>) | null;
}

export type InstrumentName = string;

/** The view that came with the document. */
function fromParts(doc: { kind: string; title: string }, around: Surroundings): View {
  const parts = viewOf(doc);
  return parts ? partsView(parts, around, doc.kind) : partsMissing(doc.title);
}

const PATIENCE = 3; // seconds after which it is said how to end what takes long

const offers = new WeakMap<Host, Promise<Offer[]>>();

/** What a kernel says of its instruments; each view asks once. */
function offersOf(host: Host): Promise<Offer[]> {
  const known =
    offers.get(host) ??
    host.offers?.().catch(() => {
      offers.delete(host);
      return [];
    }) ??
    Promise.resolve([]);
  offers.set(host, known);
  return known;
}

/** The instruments that the kernel has beside those that a view has places for. */
export async function furtherInstruments(host: Host, known: Iterable<string>): Promise<Offer[]> {
  const all = new Set(known);
  return (await offersOf(host)).filter(({ name }) => !all.has(name));
}

/** What an instrument was asked and did not answer yet. */
interface Asked {
  start: number;
  step: string;
  answer: Promise<any>;
}

const waiting = new WeakMap<Host, Map<string, Asked>>();

/** What was asked of a compilation's instruments and is still on its way, by name: a view that takes the place of the one that asked
 * waits for it, too. */
export function waitingFor(host: Host, compilation: CompilationDoc): Map<InstrumentName, Promise<any>> {
  const found = new Map<InstrumentName, Promise<any>>();
  for (const [key, { answer }] of waiting.get(host) ?? []) {
    const [id, name] = key.split(" ") as [string, string];
    if (Number(id) === compilation.id) found.set(name, answer);
  }
  return found;
}

/** Asks an instrument, or takes the question that is on its way. */
function asked(host: Host, id: number, name: InstrumentName): Asked {
  const all = waiting.get(host) ?? new Map<string, Asked>();
  waiting.set(host, all);
  const key = `${id} ${name}`;
  const known = all.get(key);
  if (known) return known;
  const made: Asked = { start: performance.now(), step: "looking", answer: Promise.resolve() };
  all.set(key, made);
  made.answer = host.instrument!(id, name, {}, (step) => (made.step = step))
    .then(decode)
    .finally(() => all.delete(key));
  return made;
}

/** One instrument of one compilation: what it found, or a button that has it look. */
export class InstrumentPane implements View {
  readonly element = h("div.jitscope-instrument");
  private view: View | null = null;
  private gone = false;

  constructor(
    private readonly name: InstrumentName,
    private readonly around: Omit<Surroundings, "ask">,
    private readonly arrived: () => void = () => {},
  ) {
    this.element.dataset.instrument = name;
    this.draw();
  }

  private draw(): void {
    this.view?.dispose();
    this.view = null;
    const found = (this.around.compilation.instruments as Record<string, any> | undefined)?.[this.name];
    clear(this.element);
    if (!found) return void this.element.append(this.offer());
    const { host } = this.around;
    const ask = host.instrument ? (options: Record<string, unknown>) => this.ask(options) : null;
    this.view = fromParts(found, { ...this.around, ask });
    this.element.append(this.view.element);
  }

  private ask(options: Record<string, unknown>): Promise<any> {
    const { compilation, host } = this.around;
    return host.instrument!(compilation.id, this.name, options).then(decode);
  }

  /** Draws it anew from what the kernel knows by now. */
  async renew(): Promise<void> {
    const { compilation, host } = this.around;
    if (!host.instrument) return;
    const found = await this.ask({}).catch(() => null);
    if (!found) return;
    compilation.instruments = { ...compilation.instruments, [this.name]: found };
    this.around.memory = this.memory();
    this.draw();
  }

  private offer(): HTMLElement {
    const about = h("p.jitscope-sentence");
    const price = h("p.jitscope-muted");
    if (!this.around.host.instrument) return h("div.jitscope-offer", h("p.jitscope-muted", this.missing()));
    const answer = h("span.jitscope-muted", { role: "status", "aria-live": "polite" });
    const button = h("button.jitscope-button", { "data-run": this.name }, `Show ${this.name}`);
    button.addEventListener("click", () => void this.run(button, answer));
    const { host, compilation } = this.around;
    if (waitingFor(host, compilation).has(this.name)) void this.run(button, answer);
    void offersOf(this.around.host).then((all) => {
      const offer = all.find(({ name }) => name === this.name);
      if (!offer) return;
      button.textContent = offer.button;
      about.textContent = offer.shows;
      price.textContent = offer.costs;
    });
    return h("div.jitscope-offer", about, price, h("p.jitscope-asking", button, answer));
  }

  /** What a saved output says of what it does not have. */
  private missing(): string {
    return lacks(this.around.compilation).includes("findings")
      ? "Not in the saved output: nobody asked for it, or it did not fit. Run the cell again to see it."
      : `Not in the saved output. Run the cell again to see it; %%jit --with ${this.name} keeps it.`;
  }

  private async run(button: HTMLButtonElement, answer: HTMLElement): Promise<void> {
    const { compilation, host } = this.around;
    const looked = asked(host, compilation.id, this.name);
    const tell = () => {
      const seconds = Math.round((performance.now() - looked.start) / 1000);
      answer.textContent = `${looked.step} … ${seconds} s${seconds >= PATIENCE ? "; interrupting the kernel ends it" : ""}`;
    };
    button.disabled = true;
    tell();
    const clock = setInterval(tell, 500);
    try {
      const found = await looked.answer;
      compilation.instruments = { ...compilation.instruments, [this.name]: found };
      this.arrived();
      if (this.gone) return;
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
    this.gone = true;
    this.view?.dispose();
  }
}
