// The stages that a program goes through, one at a time: how it was traced, what transformations and XLA's passes made of it.
import { h } from "./dom";
import type { InstrumentName, InstrumentPane } from "./instruments";
import type { View } from "./mount";
import { choice } from "./tabs";
import { tracePane, type TraceMemory, type TraceOptions } from "./trace";

export interface StagesMemory {
  stage?: string;
  trace?: TraceMemory;
}

/** Stages that an instrument looks into. */
const LOOKED_INTO: { id: string; title: string; hint: string; instrument: InstrumentName }[] = [
  {
    id: "transformations",
    title: "Transformations",
    hint: "the jaxpr before and after each jvp, linearize, transpose, vmap",
    instrument: "transformations",
  },
  { id: "passes", title: "Passes", hint: "what each of XLA's passes did", instrument: "passes" },
  {
    id: "code",
    title: "LLVM and machine code",
    hint: "the processor's instructions of each kernel, with their loops, and LLVM's IR",
    instrument: "machine",
  },
];

interface StagesOptions extends Omit<TraceOptions, "memory"> {
  memory?: StagesMemory;
  instrument(name: InstrumentName): InstrumentPane;
  /** Instruments that have nothing to say of this program. */
  silent: string[];
}

export function stagesPane(options: StagesOptions): View {
  const { memory } = options;
  const made = new Map<string, HTMLElement>(); // by stage
  let trace: View | null = null;
  let stage = "";
  const body = h("div.jitscope-stage-body");
  const make = (id: string) => {
    const looked = LOOKED_INTO.find((other) => other.id === id);
    if (looked) return options.instrument(looked.instrument).element;
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
    for (const element of made.values()) element.hidden = element !== made.get(id);
  };
  const stages = [
    { id: "trace", title: "Trace", hint: "how the program was recorded, step by step" },
    ...LOOKED_INTO.filter(({ instrument }) => !options.silent.includes(instrument)),
  ];
  const first = stages.some(({ id }) => id === memory?.stage) ? memory!.stage! : "trace";
  const element = h("div.jitscope-stages", choice("Stage of the compiler", stages, first, show), body);
  show(first);
  return {
    element,
    memory: (): StagesMemory => ({ stage, trace: (trace?.memory?.() as TraceMemory) ?? memory?.trace }),
    dispose: () => trace?.dispose(),
  };
}
