// Taking things home: the graph as SVG, the document as JSON.
import { h } from "./dom";
import { iconButton } from "./icons";

function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function fileName(name: string): string {
  return name.replace(/[^\w.-]+/g, "_").slice(0, 60) || "jitscope";
}

export interface Exports {
  name: string;
  document: unknown;
  svg(): string | null;
}

/** A button with a small menu below it. */
export function exportMenu(exports: () => Exports): HTMLElement {
  const item = (title: string, action: (what: Exports) => void) =>
    h("button", { type: "button", role: "menuitem", onclick: () => (action(exports()), close()) }, title);
  const menu = h(
    "div",
    { class: "jitscope-menu", role: "menu", hidden: true },
    item("This graph as SVG", ({ name, svg }) => {
      const text = svg();
      if (text) save(`${fileName(name)}.svg`, "image/svg+xml", text);
    }),
    item("The document as JSON", ({ name, document }) =>
      save(`${fileName(name)}.json`, "application/json", JSON.stringify(document, null, 1)),
    ),
  );
  const button = iconButton("save", "export", { "aria-haspopup": "menu", "aria-expanded": "false" });
  const open = () => {
    menu.hidden = false;
    button.setAttribute("aria-expanded", "true");
    menu.querySelector("button")!.focus();
  };
  const close = () => {
    menu.hidden = true;
    button.setAttribute("aria-expanded", "false");
  };
  button.addEventListener("click", () => (menu.hidden ? open() : close()));
  const element = h("span", { class: "jitscope-export" }, button, menu);
  element.addEventListener("keydown", (event) => {
    const items = [...menu.querySelectorAll("button")];
    const at = items.indexOf(document.activeElement as HTMLButtonElement);
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
