// Steps: a list through whose entries one goes, the parts of the one that is looked at; and sections side by side.
import { h, revealIn } from "../dom";
import { isNothing } from "../links";
import { Roving } from "../roving";
import type { Beside, Step, Steps } from "./forms";
import { elementsOf, type Stage } from "./view";
import { sectionPart } from "./layout";

export function stepsPart(part: Steps, stage: Stage): HTMLElement {
  const { steps, axis } = part;
  const last = steps.length - 1;
  const body = h("div.jitscope-steps-body", { "aria-live": "polite" });
  const buttons = steps.map(stepButton);
  const made = new Map<number, HTMLElement[]>(); // the parts of a step are made when it is looked at
  const cursor = axis ? stage.cursor(axis) : null;
  let at: number = Math.min(
    stage.remember<number>(`steps ${part.name}`, part.at ?? 0, () => at),
    last,
  );
  const show = (to: number) => {
    at = to;
    buttons.forEach((button, n) => {
      if (n === at) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    const elements = made.get(at) ?? elementsOf(steps[at]?.parts ?? [], stage);
    made.set(at, elements);
    body.replaceChildren(...elements);
    const place = steps[at]?.at;
    if (place != null && cursor?.at !== place) cursor?.move(place);
  };
  const list = h("ol.jitscope-steps-list", { "aria-label": part.name }, ...buttons.map((button) => h("li", button)));
  const pick = (n: number) => {
    show(n);
    if (steps[n]?.ref && !axis) stage.pick(steps[n]!.ref);
  };
  new Roving(
    list,
    ".jitscope-step",
    (button) => pick(buttons.indexOf(button)),
    () => stage.around.selection.clear(),
  );
  list.addEventListener("focusin", ({ target }) => {
    const to = buttons.indexOf(target as HTMLElement); // arrows go on, and what they come to is looked at
    if (to >= 0 && to !== at) show(to);
  });
  show(at);
  cursor?.follow((place) => {
    const to = steps.findIndex((step) => step.at != null && step.at === place);
    if (to >= 0 && to !== at) show(to);
  });
  stage.around.selection.onChange((selected) => {
    const related = steps.map(({ ref }) => Boolean(ref && stage.belongs(ref, selected)));
    buttons.forEach((button, n) => void button.toggleAttribute("data-related", related[n]));
    const first = related.indexOf(true);
    if (first >= 0 && !related[at] && !isNothing(selected)) show(first);
    if (first >= 0) revealIn(list, buttons[related[at] ? at : first]!);
  });
  return h("div.jitscope-steps", { "data-beside": part.beside ? "" : null }, list, body);
}

function stepButton({ title, note, depth = 0 }: Step, n: number): HTMLElement {
  const said = note ? [" ", h("span.jitscope-muted", note)] : [];
  return h(
    "button.jitscope-step",
    {
      tabindex: -1,
      "data-step": n,
      style: { "--depth": String(Math.min(depth, 6)) },
    },
    title,
    ...said,
  );
}

export function besidePart(part: Beside, stage: Stage): HTMLElement {
  return h("div.jitscope-beside", ...part.sections.flatMap((section) => sectionPart(section, stage) ?? []));
}
