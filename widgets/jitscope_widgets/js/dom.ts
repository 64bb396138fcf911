// Making elements. Strings become text nodes, never markup.
import { flowing } from "./breaks";

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, unknown>;

function setAttribute(element: Element, name: string, value: unknown): void {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on") && typeof value === "function")
    element.addEventListener(name.slice(2), value as EventListener);
  else if (name === "style" && typeof value === "object") {
    for (const [key, text] of Object.entries(value as Record<string, string>))
      (element as HTMLElement).style.setProperty(key, text);
  } else element.setAttribute(name, value === true ? "" : String(value));
}

/** Whether what is in it is laid out in lines. */
const isFlowing = (element: Element): boolean =>
  element instanceof HTMLElement && !["OPTION", "STYLE", "SCRIPT", "TITLE", "TEXTAREA"].includes(element.tagName);

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) element.append(child);
    else element.append(...(isFlowing(element) ? flowing(String(child)) : [String(child)]));
  }
  return element;
}

/** An element: `h("p.muted", { title }, "text", other)`, its classes behind the dots, attributes where there are any. */
export function h<K extends keyof HTMLElementTagNameMap>(
  kind: K | `${K}.${string}`,
  ...[first, ...children]: [first?: Child | Attributes, ...Child[]]
): HTMLElementTagNameMap[K] {
  const [tag, ...classes] = kind.split(".") as [K, ...string[]];
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  if (tag === "button") element.setAttribute("type", "button"); // no form is sent here
  if (typeof first === "object" && first && !(first instanceof Node)) return fill(element, first, children);
  return fill(element, {}, [first, ...children]);
}

export function s(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

export function clear(element: Element): void {
  element.replaceChildren();
}

/** Scrolls a list, and nothing else, to an entry of it. */
export function revealIn(list: HTMLElement, entry: HTMLElement): void {
  const [row, seen] = [entry.getBoundingClientRect(), list.getBoundingClientRect()];
  if (row.top < seen.top || row.bottom > seen.bottom) list.scrollTop += row.top - seen.top - seen.height / 3;
}

/** Words with `code` in them, as a sentence. */
export function prose(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const said = /^(this|the|an?|each|both|these|no|every|its|one|here) /.test(text)
    ? text[0]!.toUpperCase() + text.slice(1)
    : text;
  said
    .split(/`([^`\n]+)`/)
    .forEach((piece, i) => void fragment.append(...(i % 2 ? [h("code", {}, piece)] : flowing(piece))));
  return fragment;
}

/** Things to undo when a view goes away. */
export class Disposables {
  private actions: (() => void)[] = [];

  add(action: () => void): void {
    this.actions.push(action);
  }

  listen(target: EventTarget, type: string, handler: (event: any) => void, options?: AddEventListenerOptions): void {
    target.addEventListener(type, handler, options);
    this.add(() => target.removeEventListener(type, handler, options));
  }

  dispose(): void {
    for (const action of this.actions.splice(0).reverse()) action();
  }
}

const FORMAT = new Intl.NumberFormat("en");

/** "12,345" */
export const grouped = (count: number): string => FORMAT.format(count);

export function plural(count: number, word: string): string {
  if (count === 1) return `${grouped(count)} ${word}`;
  if (/[^aeiou]y$/.test(word)) return `${grouped(count)} ${word.slice(0, -1)}ies`;
  return `${grouped(count)} ${word}${/(x|s|ch|sh)$/.test(word) ? "es" : "s"}`;
}
