// Taking things home: the graph as SVG, PNG or DOT, everything as a page of HTML or as JSON.
import type { AnyDocument, GraphDoc, Host } from "./documents";
import { h } from "./dom";
import { dot } from "./dot";
import { whole } from "./envelope";
import { iconButton } from "./icons";
import { pageOf, png, viewScript } from "./taking";

function save(name: string, data: Blob): void {
  const url = URL.createObjectURL(data);
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function fileName(name: string): string {
  return name.replace(/[^\w.-]+/g, "_").slice(0, 60) || "jitscope";
}

interface Exports {
  name: string;
  document: AnyDocument;
  host: Host;
  /** The graph on show as a picture, and as data. */
  svg(): string | null;
  graph(): GraphDoc | null;
}

type Kind = "svg" | "png" | "dot" | "html" | "json";

const TITLES: [Kind, string][] = [
  ["svg", "This graph as SVG"],
  ["png", "This graph as PNG"],
  ["dot", "This graph as DOT, for Graphviz"],
  ["html", "Everything as a page of HTML"],
  ["json", "Everything as JSON"],
];

async function write(kind: Kind, { name, document, host, svg, graph }: Exports): Promise<void> {
  const file = `${fileName(name)}.${kind}`;
  const picture = kind === "svg" || kind === "png" ? svg() : null;
  if (kind === "json")
    save(file, new Blob([JSON.stringify(await whole(document), null, 1)], { type: "application/json" }));
  else if (kind === "html") save(file, new Blob([await pageOf(document, host, name)], { type: "text/html" }));
  else if (kind === "dot") {
    const shown = graph();
    if (shown) save(file, new Blob([dot(shown)], { type: "text/vnd.graphviz" }));
  } else if (picture) {
    save(file, kind === "svg" ? new Blob([picture], { type: "image/svg+xml" }) : await png(picture));
  }
}

/** What can be written here: a page needs a kernel, or the view code that stands in this page. */
function possible(kind: Kind, { host, graph }: Exports): boolean {
  if (kind === "html") return Boolean(host.page ?? viewScript());
  return kind === "json" || graph() !== null;
}

/** A button with a small menu below it. */
export function exportMenu(exports: () => Exports): HTMLElement {
  const problem = h("p.jitscope-menu-problem", { role: "status" });
  const items = TITLES.map(([kind, title]) => {
    const act = () =>
      write(kind, exports()).then(close, (error) => {
        problem.textContent = `This could not be written: ${error instanceof Error ? error.message : String(error)}.`;
      });
    return h("button", { role: "menuitem", "data-kind": kind, onclick: () => void act() }, title);
  });
  const list = h("div", { role: "menu", "aria-label": "Export" }, ...items);
  const menu = h("div.jitscope-menu", { hidden: true }, list, problem);
  const button = iconButton("save", "export", { "aria-haspopup": "menu", "aria-expanded": "false" });
  const open = () => {
    problem.textContent = "";
    for (const item of items) item.disabled = !possible(item.dataset.kind as Kind, exports());
    menu.hidden = false;
    button.setAttribute("aria-expanded", "true");
    menu.querySelector<HTMLElement>("button:enabled")!.focus();
  };
  const close = () => {
    menu.hidden = true;
    button.setAttribute("aria-expanded", "false");
  };
  button.addEventListener("click", () => (menu.hidden ? open() : close()));
  const element = h("span.jitscope-export", button, menu);
  element.addEventListener("keydown", (event) => {
    const items = [...menu.querySelectorAll<HTMLButtonElement>("button:enabled")];
    const at = items.indexOf(event.target as HTMLButtonElement);
    if (event.key === "Escape" && !menu.hidden) {
      close();
      button.focus();
    } else if (event.key === "ArrowDown" && at >= 0) items[(at + 1) % items.length]!.focus();
    else if (event.key === "ArrowUp" && at >= 0) items[(at + items.length - 1) % items.length]!.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  element.addEventListener("focusout", (event) => {
    if (!element.contains(event.relatedTarget as Node | null)) close();
  });
  return element;
}
