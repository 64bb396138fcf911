// What was compiled or traced again: one card for each function and cause. recompiles.py is the text of it.
import type { CompilationDoc, Host, Matrix, Position, RecompilationCard, RecompilationsDoc, RecompilationSite } from "./documents";
import { grouped, h, plural } from "./dom";
import { fixView } from "./fixes";
import { origin, quantity, seconds } from "./numbers";
import { place } from "./graph/tooltip";
import type { View } from "./mount";
import { say } from "./sentences";

const OPEN = 3; // cards that are open from the start
export const MOST = 5; // cards below a cell

const count = (cards: RecompilationCard[]): number => cards.reduce((sum, card) => sum + card.compilations, 0);

export const recompilationCount = (doc: RecompilationsDoc): number => count(doc.cards);

/** How often a function was compiled again in a cell: each card once, which all programs have that it tells of. */
export function recompilationsOf(compilations: CompilationDoc[]): number {
  const cards = compilations.flatMap(({ recompilations }) => recompilations.cards);
  const told = new Map(cards.map((card) => [JSON.stringify([card.function, card.cause, card.because, card.definition]), card]));
  return count([...told.values()]);
}

export function positionLink(position: Position, host: Host): HTMLElement {
  const text = place(position);
  if (!host.goto) return h("span", {}, text);
  return h("button", { type: "button", class: "jitscope-link", onclick: () => host.goto!(position) }, text);
}

/** "299 recompilations and 2 retraces, 12.3 s lost" */
export function counted(card: RecompilationCard): string {
  const parts = [
    card.compilations ? plural(card.compilations, "recompilation") : "",
    card.retraces ? plural(card.retraces, "retrace") : "",
  ].filter(Boolean);
  const told = parts.join(" and ") || (card.cause === "stale" ? "keeps an old value" : "run again");
  const lost = quantity(card.seconds);
  return lost === "?" ? told : `${told}, ${lost} lost`;
}

const times = ({ compilations, retraces }: RecompilationSite): string =>
  compilations + retraces === 1 ? "once" : `${grouped(compilations + retraces)} times`;

function sites(card: RecompilationCard, host: Host): HTMLElement | null {
  const lines = card.sites.flatMap((site) => {
    if (!site.position) return [];
    const text = site.position.text.trim();
    const said = `${times(site)}, ${seconds(site.seconds)}`;
    return [
      h(
        "li",
        {},
        h("span", { class: "jitscope-muted" }, "called from ", positionLink(site.position, host), `, ${said}`),
        text ? h("code", { class: "jitscope-call" }, text) : null,
        ...(site.led ?? []).map((one) =>
          h("span", { class: "jitscope-muted" }, ", led to by ", positionLink(one, host), ` ${one.text.trim()}`),
        ),
      ),
    ];
  });
  if (card.sites_left) lines.push(h("li", { class: "jitscope-muted" }, `and from ${plural(card.sites_left, "more line")}`));
  return lines.length ? h("ul", { class: "jitscope-sites" }, ...lines) : null;
}

function matrixTable(matrix: Matrix, name: string): HTMLElement | null {
  if (!matrix.rows.length) return null;
  const at = matrix.columns_left ? matrix.columns_left_after : matrix.columns.length;
  const around = (cells: HTMLElement[], gap: () => HTMLElement): HTMLElement[] =>
    matrix.columns_left ? [...cells.slice(0, at), gap(), ...cells.slice(at)] : cells;
  const heads = matrix.columns.map(({ label, what, calls }) => {
    const how = what === "reused" ? "traced again, the program was known" : "compiled";
    return h("th", { scope: "col", title: `${how}; ${calls === null ? "calls not counted" : plural(calls, "call")}` }, label);
  });
  const gapHead = () => h("th", { scope: "col" }, "…");
  const gap = () => h("td", { class: "jitscope-muted" }, `${grouped(matrix.columns_left)} more`);
  const rows = matrix.rows.map(({ path, cells, changed }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("code", {}, path)),
      ...around(
        cells.map((text, column) =>
          h(
            "td",
            { "data-changed": changed[column] },
            changed[column] ? h("span", { class: "jitscope-hidden" }, "changed: ") : null,
            h("code", {}, text),
          ),
        ),
        gap,
      ),
    ),
  );
  const rest = matrix.rows_left ? `; ${plural(matrix.rows_left, "more row")} left out` : "";
  return h(
    "div",
    {},
    h(
      "div",
      { class: "jitscope-matrix", tabindex: "0", role: "region", "aria-label": `Keys of ${name}` },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "program"), ...around(heads, gapHead))),
        h("tbody", {}, ...rows),
      ),
    ),
    h("p", { class: "jitscope-legend jitscope-muted" }, say("marked") + rest),
  );
}

function cardElement(card: RecompilationCard, host: Host, open: boolean): HTMLElement {
  return h(
    "details",
    { class: "jitscope-card", open, "data-cause": card.cause, "data-function": card.function },
    h(
      "summary",
      {},
      h("span", { class: "jitscope-card-sign", "aria-hidden": "true" }, "▲ "),
      h("strong", {}, card.function),
      ": ",
      h("span", {}, card.because),
      h("span", { class: "jitscope-card-cost", title: origin(card.seconds) }, counted(card)),
    ),
    sites(card, host),
    matrixTable(card.matrix, card.function),
    card.fix ? fixView(card.fix) : null,
  );
}

/** The cards below a cell: the one that cost most open, the others a line each. */
export function cardsOfCell(doc: RecompilationsDoc | undefined, host: Host): HTMLElement[] {
  const cards = doc?.cards ?? [];
  const shown = cards.slice(0, MOST).map((card, at) => cardElement(card, host, at === 0));
  const left = cards.length - shown.length;
  if (left) shown.push(h("p", { class: "jitscope-note" }, `${plural(left, "more cause")}: %recompiles shows all.`));
  return shown;
}

interface RecompilesMemory {
  open: string[];
}

export function recompilesView(doc: RecompilationsDoc, host: Host, memory?: RecompilesMemory): View {
  const name = (card: RecompilationCard): string => `${card.function}/${card.cause}`;
  const cards = doc.cards.map((card, at) => cardElement(card, host, memory?.open.includes(name(card)) ?? at < OPEN));
  const element = h(
    "div",
    { class: "jitscope-recompiles" },
    cards.length ? null : h("p", { class: "jitscope-empty" }, say("nothing compiled")),
    ...cards,
  );
  return {
    element,
    memory: (): RecompilesMemory => ({
      open: doc.cards.filter((_, at) => (cards[at] as HTMLDetailsElement).open).map(name),
    }),
    dispose() {},
  };
}
