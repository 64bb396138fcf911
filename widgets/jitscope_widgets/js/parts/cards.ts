// Cards: what is told by itself. Many of them can be chosen by what they are of.
import { h } from "../dom";
import { applyButton } from "../fixes";
import { severityIcon } from "../severity";
import type { Card, Cards, Ignore, Part } from "./forms";
import { inline } from "./inline";
import { elementsOf, type Stage } from "./view";

const IGNORE = "jitscope:ignore";

export interface IgnoreRequest {
  /** The sharp bit that nobody wants to hear of in this session. */
  id: string;
  /** The cell it was found in. */
  cell: string;
  tell(sentence: string): void;
}

export function cardPart(card: Card, stage: Stage): HTMLElement {
  const { tone, opened, name } = card;
  const attributes = { class: "jitscope-card", "data-tone": tone, "data-name": name || null };
  const head = [tone && tone !== "plain" ? severityIcon(tone) : null, h("span", ...inline(card.head, stage))];
  if (opened == null) return h("article", attributes, h("header", ...head), ...elementsOf(card.parts, stage));
  const element = h("details", attributes, h("summary", ...head));
  element.open = name ? stage.remember(`card ${name}`, opened, () => element.open) : opened;
  const fill = () =>
    element.open && element.childElementCount === 1 && element.append(...elementsOf(card.parts, stage));
  element.addEventListener("toggle", fill);
  fill();
  return element;
}

export function cardsPart(part: Cards, stage: Stage): HTMLElement {
  const { cards, filters = [], first = 200 } = part;
  const list = h("div.jitscope-cards", { role: "group", "aria-label": part.name });
  const chosen: string[] = [
    ...stage.remember<string[]>(
      `cards ${part.name}`,
      filters.map(() => ""),
      () => chosen,
    ),
  ];
  const add = (found: Card[], from: number, most: number): void => {
    list.append(...found.slice(from, from + most).map((card) => cardPart(card, stage)));
    const left = found.length - from - most;
    if (left <= 0) return;
    const button = h("button.jitscope-link", `${left.toLocaleString("en")} more`);
    button.addEventListener("click", () => {
      button.remove();
      add(found, from + most, 200);
    });
    list.append(button);
  };
  const show = () => {
    const found = cards.filter(({ tags = [] }) => chosen.every((tag, n) => !tag || tags[n] === tag));
    list.replaceChildren();
    add(found, 0, first);
  };
  const fields = filters.flatMap(
    (name, n) =>
      filter(
        name,
        cards.map(({ tags = [] }) => tags[n] ?? ""),
        chosen[n] ?? "",
        (tag) => {
          chosen[n] = tag;
          show();
        },
      ) ?? [],
  );
  chosen.forEach((tag, n) => {
    if (!cards.some(({ tags = [] }) => tags[n] === tag)) chosen[n] = ""; // nothing of it is left
  });
  show();
  return h("div", fields.length ? h("div.jitscope-cards-filters", ...fields) : null, list);
}

/** What cards are of, to choose one of it; null where there is nothing to choose. */
function filter(name: string, tags: string[], now: string, choose: (tag: string) => void): HTMLElement | null {
  const all = [...new Set(tags)];
  if (all.length < 2) return null;
  const count = (tag: string) => tags.filter((one) => one === tag).length;
  const options = all.map((tag) => h("option", { value: tag, selected: tag === now }, `${tag} (${count(tag)})`));
  const field = h("select", { "aria-label": name }, h("option", { value: "" }, `every ${name}`), ...options);
  field.addEventListener("change", () => choose(field.value));
  return field;
}

export function ignorePart({ id, file = "", here }: Ignore): HTMLElement {
  const status = h("span.jitscope-muted", { role: "status" });
  const tell = (sentence: string) => void (status.textContent = sentence);
  const ask = (event: Event) => {
    const detail: IgnoreRequest = { id, cell: file, tell };
    const asked = new CustomEvent(IGNORE, { bubbles: true, cancelable: true, composed: true, detail });
    if (event.currentTarget!.dispatchEvent(asked)) tell(`Run %sharpbits --ignore ${id}`);
  };
  const title = "In this session. To keep it: c.JitscopeMagics.ignore in IPython's configuration";
  const everywhere = h("button.jitscope-link", { title, onclick: ask }, "everywhere");
  const inLine = here ? [...applyButton(here, "here", "jitscope-link"), " or "] : [];
  return h("p.jitscope-ignore.jitscope-muted", `Ignore ${id} `, ...inLine, everywhere, status);
}

/** A card without what is in sight where it is shown: for an editor's tooltip. */
export function besideCode(card: Card): Card {
  const pointed = (part: Part) => part.part === "code" && part.lines?.some(({ stretch }) => stretch);
  const head = Array.isArray(card.head)
    ? card.head.filter((piece) => typeof piece === "string" || piece.part !== "place")
    : card.head;
  return { ...card, head, parts: card.parts.filter((part) => !pointed(part)) };
}
