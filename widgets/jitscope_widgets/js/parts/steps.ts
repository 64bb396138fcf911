// Steps: a list through whose entries one goes, the parts of the one that is looked at below; and sections side by side.
import { h } from "../dom";
import { Roving } from "../roving";
import type { Beside, Step, Steps } from "./forms";
import { elementsOf, type Stage } from "./view";
import { sectionPart } from "./layout";

export function stepsPart(part: Steps, stage: Stage): HTMLElement {
  const last = part.steps.length - 1;
  const body = h("div", { class: "jitscope-steps-body", "aria-live": "polite" });
  const buttons = part.steps.map(stepButton);
  const made = new Map<number, HTMLElement[]>(); // the parts of a step are made when it is looked at
  let at: number = Math.min(stage.remember<number>(`steps ${part.name}`, 0, () => at), last);
  const show = (to: number) => {
    at = to;
    buttons.forEach((button, n) => (n === at ? button.setAttribute("aria-current", "step") : button.removeAttribute("aria-current")));
    const elements = made.get(at) ?? elementsOf(part.steps[at]?.parts ?? [], stage);
    made.set(at, elements);
    body.replaceChildren(...elements);
  };
  const list = h("ol", { class: "jitscope-steps-list", "aria-label": part.name }, ...buttons.map((button) => h("li", {}, button)));
  new Roving(list, ".jitscope-step", (button) => show(buttons.indexOf(button)), () => {});
  list.addEventListener("focusin", ({ target }) => {
    const to = buttons.indexOf(target as HTMLElement); // arrows go on, and what they come to is looked at
    if (to >= 0 && to !== at) show(to);
  });
  show(at);
  return h("div", { class: "jitscope-steps" }, list, body);
}

function stepButton({ title, note, depth = 0 }: Step, n: number): HTMLElement {
  const said = note ? [" ", h("span", { class: "jitscope-muted" }, note)] : [];
  return h("button", { type: "button", class: "jitscope-step", tabindex: -1, "data-step": n, style: { "--depth": String(Math.min(depth, 6)) } }, title, ...said);
}

export function besidePart(part: Beside, stage: Stage): HTMLElement {
  return h("div", { class: "jitscope-beside" }, ...part.sections.flatMap((section) => sectionPart(section, stage) ?? []));
}
