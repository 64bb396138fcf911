// The compilations of one function in one cell as a table: which came why, and how long each took.
import type { CompilationDoc } from "./documents";
import { h, plural } from "./dom";
import { secondsOf, type Group } from "./headline";
import { seconds } from "./numbers";

const FEWEST = 3;

function why({ because, recompilations }: CompilationDoc): string {
  return because || recompilations.cards.map((card) => card.because).join("; ");
}

/** Null for a function with one or two compilations: the menu has them. */
export function compilationsTable(
  { name, compilations }: Group,
  now: CompilationDoc,
  choose: (one: CompilationDoc) => void,
): HTMLElement | null {
  if (compilations.length < FEWEST) return null;
  const slowest = Math.max(...compilations.map((one) => secondsOf([one]) ?? 0));
  const rows = compilations.map((one, at) => {
    const spent = secondsOf([one]);
    const open = () => choose(one);
    return h(
      "tr",
      { "aria-current": one === now ? "true" : null },
      h("td", h("button.jitscope-link", { onclick: open, title: one.signature }, `${at + 1}`)),
      h("td", spent === null ? "?" : seconds(spent), spent === slowest && spent ? h("small", " slowest") : null),
      h("td", one.headline),
      h("td", why(one)),
    );
  });
  const spent = secondsOf(compilations);
  return h(
    "details.jitscope-compilations",
    h(
      "summary",
      `${plural(rows.length, "compilation")} of ${name}${spent === null ? "" : `, ${seconds(spent)} in all`}`,
    ),
    h(
      "div.jitscope-scroll",
      { tabindex: "0", role: "region", "aria-label": `Compilations of ${name}` },
      h(
        "table",
        h(
          "thead",
          h("tr", ...["number", "took", "program", "because"].map((title) => h("th", { scope: "col" }, title))),
        ),
        h("tbody", ...rows),
      ),
    ),
  );
}
