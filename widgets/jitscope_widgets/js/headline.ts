// The one line that a person reads in two seconds.
import type { CompilationDoc } from "./documents";
import { h, plural } from "./dom";
import { origin, quantity } from "./numbers";
import { recompilationCount } from "./recompiles";

/** Compilations of one function in one cell, oldest first. */
export interface Group {
  name: string;
  compilations: CompilationDoc[];
}

export function groups(compilations: CompilationDoc[]): Group[] {
  const found = new Map<string, Group>();
  for (const compilation of compilations) {
    const known = found.get(compilation.function);
    if (known) known.compilations.push(compilation);
    else found.set(compilation.function, { name: compilation.function, compilations: [compilation] });
  }
  return [...found.values()];
}

function compiledIn({ timing, cache }: CompilationDoc): HTMLElement | null {
  if (cache === "reused") return h("span", { class: "jitscope-fact" }, "reused, nothing compiled");
  const stages = timing.stages.filter((stage) => stage.name !== "first run");
  if (!stages.length || stages.some((stage) => stage.seconds.value === null)) return null;
  const sum = stages.reduce((total, stage) => total + stage.seconds.value!, 0);
  const note = stages.map((stage) => `${stage.name} ${quantity(stage.seconds)}`).join(", ");
  return h(
    "span",
    { class: "jitscope-fact", title: note },
    "compiled in ",
    h("b", {}, quantity({ ...stages[0]!.seconds, value: sum })),
  );
}

function runsIn({ timing }: CompilationDoc): HTMLElement | null {
  if (!timing.steady) return null;
  return h(
    "span",
    { class: "jitscope-fact", title: origin(timing.steady.median) },
    "runs in ",
    h("b", {}, quantity(timing.steady.median)),
  );
}

function again({ recompilations }: CompilationDoc): HTMLElement | null {
  const count = recompilationCount(recompilations);
  return count ? h("span", { class: "jitscope-again" }, "▲ ", plural(count, "recompilation")) : null;
}

export function headline(group: Group, open: boolean, toggle: () => void): HTMLElement {
  const last = group.compilations[group.compilations.length - 1]!;
  const facts = [
    h("span", { class: "jitscope-facts-program" }, last.headline),
    compiledIn(last),
    runsIn(last),
    again(last),
  ];
  return h(
    "button",
    {
      type: "button",
      class: "jitscope-headline",
      "aria-expanded": String(open),
      "data-function": group.name,
      onclick: toggle,
      title: last.signature,
    },
    h("span", { class: "jitscope-disclosure", "aria-hidden": "true" }, "▸"),
    h("strong", {}, group.name),
    ...facts,
  );
}
