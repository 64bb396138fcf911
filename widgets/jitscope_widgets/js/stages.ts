// The stages that a program goes through, one at a time: how it was traced, what transformations and XLA's passes made of it.
import { h } from "./dom";
import type { InstrumentName } from "./instruments";
import type { View } from "./mount";
import { choice } from "./tabs";
import { tracePane, type TraceMemory, type TraceOptions } from "./trace";

export interface StagesMemory {
  stage?: string;
  trace?: TraceMemory;
}

/** A stage that an instrument looks into. */
const LOOKED_INTO: { id: InstrumentName; title: string; hint: string }[] = [
  { id: "passes", title: "Passes", hint: "what each of XLA's passes did" },
];

export interface StagesOptions extends Omit<TraceOptions, "memory"> {
  memory?: StagesMemory;
  instrument(name: InstrumentName): HTMLElement;
}

export function stagesPane(options: StagesOptions): View {
  const { memory } = options;
  const made = new Map<string, HTMLElement>();
  let trace: View | null = null;
  let stage = "";
  const body = h("div", { class: "jitscope-stage-body" });
  const make = (id: string) => {
    if (id !== "trace") return options.instrument(id as InstrumentName);
    trace = tracePane({ ...options, memory: memory?.trace });
    return trace.element;
  };
  const show = (id: string) => {
    stage = id;
    if (!made.has(id)) {
      const element = make(id);
      made.set(id, element);
      body.append(element);
    }
    for (const [other, element] of made) element.hidden = other !== id;
  };
  const stages = [{ id: "trace", title: "Trace", hint: "how the program was recorded, step by step" }, ...LOOKED_INTO];
  const first = stages.some(({ id }) => id === memory?.stage) ? memory!.stage! : "trace";
  const element = h("div", { class: "jitscope-stages" }, choice("Stage of the compiler", stages, first, show), body);
  show(first);
  return {
    element,
    memory: (): StagesMemory => ({ stage, trace: (trace?.memory?.() as TraceMemory) ?? memory?.trace }),
    dispose: () => trace?.dispose(),
  };
}
