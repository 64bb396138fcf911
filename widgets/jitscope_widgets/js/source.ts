// The user's code beside the graph. Each line that became operations has its colour and can be picked.
import type { SourceDoc } from "./documents";
import { h } from "./dom";
import { python } from "./highlight";
import { swatch } from "./hue";
import type { Links, Selection } from "./links";

export interface SourcePane {
  element: HTMLElement;
}

function lineElement(text: string, number: number, links: Links): HTMLElement {
  const marked = links.hasLine(number);
  return h(
    "div",
    {
      class: "jitscope-line",
      "data-line": number,
      "data-marked": marked,
      role: "option",
      "aria-selected": "false",
      tabindex: marked ? "-1" : null,
      "aria-disabled": marked ? null : "true",
    },
    h("span", { class: "jitscope-line-number", "aria-hidden": "true" }, number),
    marked ? swatch(links.hue(number)) : h("span", { class: "jitscope-swatch", "data-none": "" }),
    h("code", {}, text ? python(text) : " "),
  );
}

export function sourcePane(source: SourceDoc, links: Links, selection: Selection): SourcePane {
  const lines = source.lines.map((text, i) => lineElement(text, source.first_line + i, links));
  const marked = lines.filter((line) => line.dataset.marked !== undefined);
  const list = h(
    "div",
    { class: "jitscope-source-lines", role: "listbox", "aria-label": `Source of ${source.label}` },
    ...lines,
  );
  const element = h(
    "div",
    { class: "jitscope-source" },
    h("div", { class: "jitscope-pane-title" }, source.label),
    list,
  );
  const numberOf = (line: HTMLElement) => Number(line.dataset.line);
  marked[0]?.setAttribute("tabindex", "0");

  const pick = (line: HTMLElement) => {
    const number = numberOf(line);
    const now = selection.current;
    if (now.lines.size === 1 && now.lines.has(number) && !now.node) selection.clear();
    else selection.set(links.fromLine(number));
  };
  const focus = (line: HTMLElement | undefined) => {
    if (!line) return;
    for (const other of marked) other.tabIndex = other === line ? 0 : -1;
    line.focus();
  };

  list.addEventListener("click", (event) => {
    const line = (event.target as HTMLElement).closest<HTMLElement>("[data-marked]");
    if (!line) return;
    focus(line);
    pick(line);
  });
  list.addEventListener("keydown", (event) => {
    const at = marked.indexOf((event.target as HTMLElement).closest<HTMLElement>("[data-marked]")!);
    if (at < 0) return;
    const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: marked.length - 1 };
    if (event.key in steps) focus(marked[steps[event.key]!]);
    else if (event.key === "Enter" || event.key === " ") pick(marked[at]!);
    else if (event.key === "Escape") selection.clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  selection.onChange(({ lines: chosen }) => {
    for (const line of lines) {
      line.setAttribute("aria-selected", String(chosen.has(numberOf(line))));
      line.classList.toggle("jitscope-selected", chosen.has(numberOf(line)));
    }
  });
  return { element };
}
