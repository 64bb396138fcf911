// The one line that a person reads in two seconds.
import type { BusyCall, CompilationDoc, RecompilationCard, Stage } from "./documents";
import { grouped, h, plural } from "./dom";
import { origin, percent, quantity, seconds } from "./numbers";
import { standsOut } from "./viewdata";

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

/** The steps that make a program; the others run it. */
const MAKING = new Set<Stage["name"]>(["trace", "lower", "compile", "load"]);

/** The steps before the first run of some compilations, or null where one is unknown. */
function stagesOf(compilations: CompilationDoc[]): Stage[] | null {
  const stages = compilations.flatMap(({ timing }) => timing.stages.filter((stage) => MAKING.has(stage.name)));
  return stages.length && stages.every((stage) => stage.seconds.value !== null) ? stages : null;
}

/** How long they took to trace, lower and compile; null where that is unknown. */
export function secondsOf(compilations: CompilationDoc[]): number | null {
  return stagesOf(compilations)?.reduce((total, stage) => total + stage.seconds.value!, 0) ?? null;
}

function compiledIn(group: Group): HTMLElement | null {
  const compiled = group.compilations.filter(({ cache }) => cache !== "reused");
  if (!compiled.length) return h("span.jitscope-fact", "reused, nothing compiled");
  const stages = stagesOf(compiled);
  if (!stages) return null;
  const verb = compiled.every(({ cache }) => cache === "loaded") ? "loaded from disk" : "compiled";
  const note =
    compiled.length > 1
      ? `${compiled.length} programs, traced, lowered and ${verb}`
      : stages.map((stage) => `${stage.name} ${quantity(stage.seconds)}`).join(", ");
  const words = compiled.length > 1 ? `${verb} ${compiled.length} times in ` : `${verb} in `;
  return h("span.jitscope-fact", { title: note }, words, h("b", seconds(secondsOf(compiled)!)));
}

function runsIn({ timing, profiled, instruments }: CompilationDoc): HTMLElement | null {
  const median = (timing.steady ?? profiled)?.median ?? instruments?.profile?.wall;
  if (!median) return null;
  return h("span.jitscope-fact", { title: origin(median) }, "runs in ", h("b", quantity(median)));
}

/** What two cards have in common that tell of the same. */
export const cardKey = ({ function: name, cause, because, definition }: RecompilationCard): string =>
  JSON.stringify([name, cause, because, definition]);

/** How often a function was compiled again: each card once, which all programs have that it tells of. */
export function recompilationsOf(compilations: CompilationDoc[]): number {
  const cards = compilations.flatMap(({ recompilations }) => recompilations.cards);
  const told = new Map(cards.map((card) => [cardKey(card), card]));
  return [...told.values()].reduce((sum, card) => sum + card.compilations, 0);
}

function again({ compilations }: Group): HTMLElement | null {
  const count = recompilationsOf(compilations);
  return count ? h("span.jitscope-again", "▲ ", plural(count, "recompilation")) : null;
}

/** What stands out beside recompilations: a NaN, a slow line. */
function unusual(compilation: CompilationDoc): HTMLElement | null {
  const said = standsOut(compilation);
  return said ? h("span.jitscope-unusual", said) : null;
}

/** A recorded call as a strip: how busy it was, from its beginning to its end. */
function callPicture({ seconds: whole, busy }: BusyCall): HTMLElement {
  const part = busy.reduce((sum, one) => sum + one, 0) / busy.length;
  const bars = busy.map((one) => h("i", { style: { height: `${100 * one}%` } }));
  const words = `One recorded call of ${seconds(whole)}, from left to right: kernels ran in ${percent(part)} of it`;
  return h("span.jitscope-strip", { "data-of": "call", "aria-hidden": "true", title: words }, ...bars);
}

/** The program as a strip: its parts, as wide as they have equations. */
function programPicture({ parts, equations }: CompilationDoc): HTMLElement | null {
  if (!parts?.length || !equations) return null;
  const words = parts.map(
    ({ label, equations: count, backward }) => `${backward ? "↩ " : ""}${label} · ${grouped(count)}`,
  );
  const pieces = parts.map(({ equations: count, backward }, i) =>
    h("i", {
      "data-backward": String(backward),
      "data-shade": i % 3,
      style: { "flex-grow": String(count) },
      title: words[i],
    }),
  );
  return h("span.jitscope-strip", { "aria-hidden": "true", title: `The program: ${words.join(", ")}` }, ...pieces);
}

/** A small picture: of a recorded call where there is a profile, of the program otherwise. */
function picture(compilation: CompilationDoc): HTMLElement | null {
  const { busy, instruments } = compilation;
  const call = instruments?.profile?.timeline ?? busy;
  return call?.busy?.length ? callPicture({ seconds: call.seconds, busy: call.busy }) : programPicture(compilation);
}

/** The line of a function; `whole` gives what was read of a compilation since. */
export function headline(
  group: Group,
  open: boolean,
  toggle: () => void,
  whole = (shell: CompilationDoc) => shell,
): HTMLElement {
  const last = group.compilations[group.compilations.length - 1]!;
  const facts = [
    h("span.jitscope-facts-program", last.headline),
    compiledIn(group),
    runsIn(whole(last)),
    again(group),
    unusual(whole(last)),
    h(
      "span.jitscope-opener",
      { "aria-hidden": "true" },
      picture(whole(last)),
      h("span.jitscope-open-hint", open ? "close" : "graph, kernels, times", " ", h("kbd", "↵")),
    ),
  ];
  return h(
    "button.jitscope-headline",
    {
      "aria-expanded": String(open),
      "data-function": group.name,
      onclick: toggle,
      title: last.signature,
    },
    h("span.jitscope-disclosure", { "aria-hidden": "true" }, "▸"),
    h("strong", group.name),
    ...facts,
  );
}
