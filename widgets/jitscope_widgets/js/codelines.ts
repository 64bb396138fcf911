// Program text in lines with how deep in loops each is: bars at the left, and words for those who do not see them.
import { clear, grouped, h } from "./dom";

export interface CodeLine {
  number: string;
  text: string;
  /** In how many loops it is. */
  depth: number;
  hot: boolean;
  /** It heads a block of code. */
  header?: boolean;
}

const BLOCK = 500; // lines made at once
const DEEPEST = 4; // bars drawn

export function codePane(label: string, lines: CodeLine[], coloured: (text: string) => DocumentFragment, from = 0): HTMLElement {
  const pane = h("div", { class: "jitscope-code-lines-pane", tabindex: 0, role: "region", "aria-label": label });
  const body = h("div", { class: "jitscope-code-body" });
  const more = h("button", { type: "button", class: "jitscope-button" });
  const above = h("button", { type: "button", class: "jitscope-button" }, `${grouped(from)} lines above`);
  let made = from;
  const add = () => {
    const next = lines.slice(made, made + BLOCK);
    body.append(...next.map((line, at) => lineElement(line, lines[made + at - 1], coloured)));
    made += next.length;
    if (made < lines.length) {
      more.textContent = `${grouped(lines.length - made)} more`;
      pane.append(more);
    } else more.remove();
  };
  more.addEventListener("click", add);
  above.addEventListener("click", () => {
    above.remove();
    made = 0;
    clear(body);
    add();
    pane.focus();
  });
  pane.append(...(from ? [above] : []), body);
  add();
  return pane;
}

function lineElement(line: CodeLine, before: CodeLine | undefined, coloured: (text: string) => DocumentFragment): HTMLElement {
  const bars = Array.from({ length: Math.min(line.depth, DEEPEST) }, () => h("i", {}));
  const entered = line.depth !== (before?.depth ?? 0) && !line.header;
  return h(
    "div",
    { class: "jitscope-code-line", "data-depth": line.depth, "data-hot": line.hot, "data-header": line.header ?? false },
    h("span", { class: "jitscope-code-number", "aria-hidden": "true" }, line.number),
    h("span", { class: "jitscope-code-bars", "aria-hidden": "true", title: line.depth ? `in ${line.depth} loop${line.depth > 1 ? "s" : ""}` : null }, ...bars),
    h(
      "code",
      {},
      entered ? h("span", { class: "jitscope-code-depth" }, line.depth ? `↻ loop depth ${line.depth}` : "↧ outside the loops") : null,
      line.header ? line.text : coloured(line.text),
    ),
  );
}
