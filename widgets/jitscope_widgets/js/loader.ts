// What a widget carries: a loader of the view code. The code itself comes from the page (labextension, exported page)
// or, once per page, from the kernel.

interface Model {
  get(name: string): any;
  send(content: unknown): void;
  on(name: string, handler: (...args: any[]) => void): void;
  off(name: string, handler: (...args: any[]) => void): void;
}
interface Live {
  update(document: unknown): void;
  dispose(): void;
}
interface Code {
  mount(element: HTMLElement, document: unknown, host?: unknown): Live;
}
type Page = { jitscopeView?: Code | Promise<Code>; jitscopeAsked?: Promise<Code> };

const page = globalThis as Page;

/** Resolves when `pick` accepts an event: a custom message, or that the document came anew. */
function wait<T>(model: Model, limit: number, pick: (message: any) => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      model.off("msg:custom", read);
      model.off("change:document", change);
    };
    const attempt = (message: any) => {
      try {
        const found = pick(message);
        if (found !== undefined) (stop(), resolve(found));
      } catch (error) {
        (stop(), reject(error));
      }
    };
    const read = (message: any) => attempt(message);
    const change = () => attempt({ type: "document" });
    const timer = setTimeout(() => (stop(), reject(new Error("The kernel did not answer."))), limit);
    model.on("msg:custom", read);
    model.on("change:document", change);
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

/** Ask the kernel for steady times; done when the document comes anew. */
function measure(model: Model, id: number): Promise<void> {
  const answer = wait(model, 300000, (m) => {
    if (m?.type === "measure-failed" && m.id === id) throw new Error(m.message);
    return m?.type === "document" || undefined;
  });
  model.send({ type: "measure", id });
  return answer.then(() => undefined);
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  let live: Live | undefined;
  let gone = false;
  const change = () => live?.update(model.get("document"));
  model.on("change:document", change);
  viewCode(model)
    .then(({ mount }) => {
      if (!gone) live = mount(el, model.get("document"), { measure: (id: number) => measure(model, id) });
    })
    .catch((error) => {
      el.textContent = `jitscope cannot show this view here: ${String(error?.message ?? error).replace(/\.$/, "")}.`;
    });
  return () => {
    gone = true;
    model.off("change:document", change);
    live?.dispose();
  };
}

export default { render };
