// Why a function was compiled again: one card per recompilation.
import type { Difference, Host, Position, RecompilationCard, RecompilationsDoc } from "./documents";
import { h } from "./dom";
import { origin, quantity } from "./numbers";
import { place } from "./graph/tooltip";
import type { View } from "./mount";

export function isFirst(card: RecompilationCard): boolean {
  return card.number <= 1 || card.differences.some((difference) => difference.part === "first");
}

/** The reason as a sentence that says what happened. */
export function because(card: RecompilationCard): string {
  const reason = card.because.trim().replace(/\.$/, "");
  const verb = isFirst(card) ? "compiled" : "recompiled";
  if (!reason) return `${verb}.`;
  if (/^((re)?compiled|first)\b/i.test(reason)) return `${reason}.`;
  return `${verb} because ${reason}.`;
}

export function recompilationCount(doc: RecompilationsDoc): number {
  return doc.cards.filter((card) => !isFirst(card)).length;
}

export function positionLink(position: Position, host: Host): HTMLElement {
  const text = place(position);
  if (!host.goto) return h("span", {}, text);
  return h("button", { type: "button", class: "jitscope-link", onclick: () => host.goto!(position) }, text);
}

function differenceRow({ part, path, before, after, detail }: Difference): HTMLElement {
  return h(
    "tr",
    {},
    h("td", {}, part),
    h("td", {}, h("code", {}, path)),
    h(
      "td",
      {},
      h("code", { class: "jitscope-before" }, before || "–"),
      h("span", { class: "jitscope-arrow", "aria-label": "became" }, " → "),
      h("code", { class: "jitscope-after" }, after || "–"),
    ),
    h("td", { class: "jitscope-muted" }, detail),
  );
}

function differenceTable(differences: Difference[]): HTMLElement | null {
  const rows = differences.filter((difference) => difference.part !== "first");
  if (!rows.length) return null;
  return h(
    "table",
    { class: "jitscope-differences" },
    h(
      "thead",
      {},
      h("tr", {}, ...["what", "where", "before → after", ""].map((title) => h("th", { scope: "col" }, title))),
    ),
    h("tbody", {}, ...rows.map(differenceRow)),
  );
}

function cardElement(card: RecompilationCard, host: Host): HTMLElement {
  const where = card.position ? positionLink(card.position, host) : card.cell ? h("span", {}, card.cell) : null;
  const first = isFirst(card);
  return h(
    "article",
    { class: "jitscope-card", "data-number": card.number, "data-first": first },
    h(
      "header",
      {},
      h("span", { class: "jitscope-card-number", "aria-hidden": "true" }, first ? "●" : "▲"),
      h("strong", {}, `${card.function}, compilation ${card.number}`),
      where ? h("span", { class: "jitscope-muted" }, where) : null,
      h(
        "span",
        { class: "jitscope-card-cost", title: origin(card.cost) },
        "cost ",
        h("span", { class: "jitscope-figure" }, quantity(card.cost)),
      ),
    ),
    h("p", { class: "jitscope-because" }, because(card)),
    differenceTable(card.differences),
    card.position?.text ? h("pre", { class: "jitscope-call" }, card.position.text.trim()) : null,
    card.against && !first ? h("p", { class: "jitscope-muted" }, "compared with ", card.against) : null,
  );
}

export function recompilesView(doc: RecompilationsDoc, host: Host): View {
  const cards = doc.cards.map((card) => cardElement(card, host));
  const again = recompilationCount(doc);
  const element = h(
    "div",
    { class: "jitscope-recompiles" },
    again === 0
      ? h("p", { class: "jitscope-empty" }, "No recompilation: every call fitted a program that was already there.")
      : null,
    ...cards,
  );
  return { element, dispose() {} };
}
