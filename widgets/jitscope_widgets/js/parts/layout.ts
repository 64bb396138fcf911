// Sentences, sections, facts and choices.
import { h } from "../dom";
import { choice } from "../tabs";
import type { Choice, Facts, List, Section, Sentence } from "./forms";
import { inline } from "./inline";
import { elementsOf, type Stage } from "./view";

const CLASSES: Record<string, string> = {
  headline: "jitscope-sentence",
  note: "jitscope-muted",
  warning: "jitscope-warning",
};
const BUTTONS = 6; // options that are shown beside each other; more are a list to open

export function sentencePart(part: Sentence, stage: Stage): HTMLElement {
  const sign = part.kind === "warning" ? [h("span", { "aria-hidden": "true" }, "▲ ")] : [];
  return h(
    "p",
    { class: part.kind && CLASSES[part.kind], title: part.title || undefined, "data-drawn": part.drawn },
    ...sign,
    ...inline(part.content, stage),
  );
}

/** Null where nothing is in it: an action has no place where there is no kernel. */
export function sectionPart(part: Section, stage: Stage): HTMLElement | null {
  const note = part.note ? [" ", h("span.jitscope-muted", part.note)] : [];
  if (part.opened == null) {
    const inside = elementsOf(part.parts, stage);
    const head = part.title ? h("h4", part.title, ...note) : null;
    return inside.length
      ? h(
          "section.jitscope-part-section",
          {
            "data-name": part.name || undefined,
            "aria-label": part.title || undefined,
          },
          head,
          ...inside,
        )
      : null;
  }
  const element: HTMLDetailsElement = h("details.jitscope-part-section", h("summary", part.title, ...note));
  element.open = stage.remember(`section ${part.title}`, part.opened, () => element.open);
  const fill = () =>
    element.open && element.childElementCount === 1 && element.append(...elementsOf(part.parts, stage));
  element.addEventListener("toggle", fill);
  fill();
  return element;
}

export function listPart(part: List, stage: Stage): HTMLElement {
  return h(
    "ol.jitscope-part-list",
    { "aria-label": part.name },
    ...part.items.map((item) => h("li", ...inline(item, stage))),
  );
}

export function factsPart(part: Facts, stage: Stage): HTMLElement {
  const entries = part.entries.flatMap(([name, content]) => [h("dt", name), h("dd", ...inline(content, stage))]);
  return h("dl.jitscope-facts", ...entries);
}

export function choicePart(part: Choice, stage: Stage): HTMLElement {
  const names = part.options.map(([name]) => name);
  const place = h("div");
  const made = new Map<string, HTMLElement[]>(); // what was looked at stays as it was left
  let now: string = stage.remember<string>(`choice ${part.name}`, part.first || names[0] || "", () => now);
  const show = (name: string) => {
    const found = part.options.find(([one]) => one === name) ?? part.options[0];
    now = found?.[0] ?? "";
    const elements = made.get(now) ?? elementsOf(found?.[1] ?? [], stage);
    made.set(now, elements);
    place.replaceChildren(...elements);
  };
  show(now);
  if (names.length <= BUTTONS)
    return h(
      "div.jitscope-part-choice",
      choice(
        part.name,
        names.map((id) => ({ id, title: id })),
        now,
        show,
      ),
      place,
    );
  const list = h(
    "select",
    { "aria-label": part.name },
    ...names.map((name) => h("option", { value: name, selected: name === now }, name)),
  );
  list.addEventListener("change", () => show(list.value));
  return h("div.jitscope-part-choice", h("label", `${part.name} `, list), place);
}
