// What a widget carries: a loader of the view code. The code itself comes from the page (labextension, exported page)
// or, once per page, from the kernel; the document from the page's own copy of the output, or from the kernel too.

interface Model {
  get(name: string): any;
  send(content: unknown): void;
  on(name: string, handler: (...args: any[]) => void): void;
  off(name: string, handler: (...args: any[]) => void): void;
}
interface Live {
  update(document: string): void;
  note(sentence: string): void;
  dispose(): void;
}
interface Code {
  mount(element: HTMLElement, document: string, host?: unknown): Live;
}
type Page = {
  jitscopeView?: Code | Promise<Code>;
  jitscopeAsked?: Promise<Code>;
  /** JupyterLab's extension finds the document in the HTML of the output that an element is in. */
  jitscopeSaved?(element: HTMLElement): Promise<string | null>;
  /** It writes what an output says now into the notebook. */
  jitscopeKeep?(element: HTMLElement, data: Record<string, string>): boolean;
};

const page = globalThis as Page;

/** Resolves when `pick` accepts a custom message. */
function wait<T>(model: Model, limit: number, pick: (message: any) => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      model.off("msg:custom", read);
    };
    const read = (message: any) => {
      try {
        const found = pick(message);
        if (found !== undefined) {
          stop();
          resolve(found);
        }
      } catch (error) {
        stop();
        reject(error);
      }
    };
    const timer = setTimeout(() => {
      stop();
      reject(new Error("the kernel did not answer"));
    }, limit);
    model.on("msg:custom", read);
  });
}

async function fromKernel(model: Model): Promise<Code> {
  const answer = wait(model, 30000, (m) => {
    if (m?.type !== "view-code") return undefined;
    if (!m.code) throw new Error(m.message || "the kernel has no view code");
    return String(m.code);
  });
  model.send({ type: "view-code?" });
  const url = URL.createObjectURL(new Blob([await answer], { type: "text/javascript" }));
  try {
    return await import(/* @vite-ignore */ url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

async function viewCode(model: Model): Promise<Code> {
  if (page.jitscopeView) return page.jitscopeView;
  page.jitscopeAsked ??= fromKernel(model);
  try {
    return await page.jitscopeAsked;
  } catch (error) {
    page.jitscopeAsked = undefined; // the next widget may ask again
    throw error;
  }
}

/** Ask the kernel for steady times, or to compile a program once more; done when the document comes anew. */
function anew(model: Model, what: "measure" | "again", id: number): Promise<void> {
  const answer = wait(model, 300000, (m) => {
    if (m?.type === `${what}-failed` && m.id === id) throw new Error(m.message);
    return m?.type === "document" || undefined;
  });
  model.send({ type: what, id });
  return answer.then(() => undefined);
}

/** Ask the kernel for all that one compilation holds. */
function fetchPart(model: Model, at: number): Promise<string> {
  const answer = wait(model, 60000, (m) => {
    if (m?.type !== "part" || m.at !== at) return undefined;
    if (!m.data) throw new Error(m.message || "the kernel no longer has it");
    return String(m.data);
  });
  model.send({ type: "part?", at });
  return answer;
}

/** Ask the kernel what instruments there are. */
function offers(model: Model): Promise<unknown[]> {
  const answer = wait(model, 60000, (m) => (m?.type === "offers" ? (m.data as unknown[]) : undefined));
  model.send({ type: "offers?" });
  return answer;
}

let tokens = 0;

/** Ask the kernel what an instrument says of a compilation; it may compile, and run, for long. */
function look(
  model: Model,
  id: number,
  name: string,
  options: Record<string, unknown>,
  told?: (step: string) => void,
): Promise<string> {
  const token = `${Date.now()}-${++tokens}`;
  const answer = wait(model, 1800000, (m) => {
    if (m?.type === "instrument-step" && m.token === token) told?.(String(m.step));
    if (m?.type !== "instrument" || m.token !== token) return undefined;
    if (!m.data) throw new Error(m.message || "the kernel found nothing");
    return String(m.data);
  });
  model.send({ type: "instrument", id, name, options, token });
  return answer;
}

/** Ask the kernel for a page of HTML with the document and the view code. */
function fetchPage(model: Model): Promise<string> {
  const answer = wait(model, 60000, (m) => {
    if (m?.type !== "page") return undefined;
    if (!m.data) throw new Error(m.message || "the kernel could not write it");
    return String(m.data);
  });
  model.send({ type: "page?" });
  return answer;
}

/** Shows the documents that come; asks for the first where the page does not have it. */
async function follow(model: Model, el: HTMLElement, show: (text: string) => void): Promise<void> {
  const saved = model.get("changes") ? null : await page.jitscopeSaved?.(el);
  if (saved && !model.get("changes")) show(saved);
  else model.send({ type: "document?" });
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  let live: Live | undefined;
  let gone = false;
  const host = {
    measure: (id: number) => anew(model, "measure", id),
    again: (id: number) => anew(model, "again", id),
    fetch: (at: number) => fetchPart(model, at),
    page: () => fetchPage(model),
    offers: () => offers(model),
    instrument: (id: number, name: string, options: Record<string, unknown>, told?: (step: string) => void) =>
      look(model, id, name, options, told),
  };
  const sorry = (why: unknown) => {
    el.textContent = `jitscope cannot show this view here: ${String(why).replace(/\.$/, "")}.`;
  };
  const code = viewCode(model);
  const show = (text: string) =>
    void code.then(
      ({ mount }) => {
        if (gone) return;
        if (live) live.update(text);
        else live = mount(el, text, host);
      },
      () => undefined,
    );
  const read = (message: any) => {
    if (message?.type === "saved" && page.jitscopeKeep?.(el, message.data))
      live?.note(
        message.remarks?.length
          ? `The saved notebook, which is kept small, holds less than this view. ${message.remarks.join(" ")}`
          : "",
      );
    if (message?.type !== "document") return;
    if (message.data) show(String(message.data));
    else sorry(message.remarks?.[0] ?? "its document is too large");
  };
  model.on("msg:custom", read);
  code.then(() => follow(model, el, show)).catch((error) => sorry(error?.message ?? error));
  return () => {
    gone = true;
    model.off("msg:custom", read);
    live?.dispose();
  };
}

export default { render };
