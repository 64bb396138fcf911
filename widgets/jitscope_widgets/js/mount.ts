// mount(element, document, host): the one door into the views.
import { h } from "./dom";
import { decode, whole } from "./envelope";
import { followTheme } from "./theme";
import type { AnyDocument, Host } from "./documents";
import { openView } from "./views";
import css from "./theme.css";

/** What every view gives: an element, a way to take a newer document, an end. */
export interface View {
  element: HTMLElement;
  dispose(): void;
  /** What the view wants its successor to know (open panes, camera …). */
  memory?: () => unknown;
  /** For tests and for other code on the page. */
  api?: Record<string, unknown>;
  themed?(): void;
}

export interface Live {
  /** A document, or the text that an output carries of one. */
  update(document: AnyDocument | string): void;
  /** Says a sentence below the view; an empty one takes it away. */
  note(sentence: string): void;
  dispose(): void;
}

function addStyles(element: HTMLElement): void {
  const root = element.getRootNode();
  const place = root instanceof ShadowRoot ? root : document.head;
  if (place.querySelector("style[data-jitscope]")) return;
  const style = h("style", { "data-jitscope": __VERSION__ });
  style.textContent = css;
  place.append(style);
}

export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function sorry(error: unknown): View {
  console.error("jitscope:", error);
  const text = `jitscope could not draw this view: ${sentence(error)}. Your results are not affected.`;
  return { element: h("p.jitscope-sad", { role: "status" }, text), dispose() {} };
}

/** Puts an element of ours alone on the page, with styles and theme. */
export function stage(element: HTMLElement, content: HTMLElement): { dispose(): void } {
  const root = Object.assign(h("div.jitscope", content), { __jitscope: {} });
  addStyles(element);
  element.replaceChildren(root);
  return followTheme(root, () => undefined);
}

export function mount(
  element: HTMLElement,
  shown: AnyDocument | string,
  given: Host = {},
  options: { strict?: boolean } = {},
): Live {
  const root = h("div.jitscope");
  const remark = h("p.jitscope-note", { role: "status" });
  remark.hidden = true;
  // JupyterLab can show places in the notebook to whichever view asks
  const host: Host = { goto: (globalThis as { jitscopeGoto?: Host["goto"] }).jitscopeGoto, ...given };
  let view: View | null = null;

  let asked = 0;
  const take = (next: AnyDocument | string) => {
    const request = ++asked;
    if (typeof next !== "string") return show(next, view?.memory?.());
    void decode(next)
      .then((read) => request === asked && show(read, view?.memory?.()))
      .catch((error) => request === asked && root.replaceChildren(sorry(error).element));
  };
  const show = (next: AnyDocument, memory: unknown) => {
    view?.dispose();
    try {
      view = openView(next, host, memory, root);
    } catch (error) {
      if (options.strict) throw error;
      view = sorry(error);
    }
    root.replaceChildren(view.element, remark);
    const api = Object.defineProperty(view.api ?? {}, "document", { get: () => whole(next) });
    Object.assign(root, { __jitscope: api });
    Object.assign(element, { __jitscope: api });
  };

  addStyles(element);
  element.replaceChildren(root);
  const theme = followTheme(root, () => view?.themed?.());
  try {
    take(shown);
  } catch (error) {
    theme.dispose();
    throw error;
  }

  return {
    update: take,
    note(said) {
      remark.textContent = said;
      remark.hidden = !said;
    },
    dispose() {
      asked++;
      theme.dispose();
      view?.dispose();
      view = null;
      root.remove();
    },
  };
}
