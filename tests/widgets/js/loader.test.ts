import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import loader from "../../../widgets/jitscope_widgets/js/loader";

const page = globalThis as { jitscopeView?: unknown; jitscopeAsked?: unknown };
const tick = () => new Promise((resolve) => setTimeout(resolve));

class FakeModel {
  sent: any[] = [];
  private handlers = new Map<string, Set<(...args: any[]) => void>>();
  constructor(private document: unknown = { kind: "cell" }) {}
  get(name: string) {
    return name === "document" ? this.document : undefined;
  }
  send(content: unknown) {
    this.sent.push(content);
  }
  on(name: string, handler: (...args: any[]) => void) {
    this.handlers.set(name, (this.handlers.get(name) ?? new Set()).add(handler));
  }
  off(name: string, handler: (...args: any[]) => void) {
    this.handlers.get(name)?.delete(handler);
  }
  emit(name: string, ...args: any[]) {
    for (const handler of [...(this.handlers.get(name) ?? [])]) handler(...args);
  }
  set(document: unknown) {
    this.document = document;
    this.emit("change:document");
  }
}

function fakeView() {
  const shown: unknown[] = [];
  let host: any;
  const mount = (_: unknown, document: unknown, given: unknown) => {
    shown.push(document);
    host = given;
    return { update: (next: unknown) => shown.push(next), dispose: () => shown.push("gone") };
  };
  return { mount, shown, host: () => host };
}

afterEach(() => {
  delete page.jitscopeView;
  delete page.jitscopeAsked;
});

test("takes the page's view code, shows newer documents, and ends", async () => {
  const view = fakeView();
  page.jitscopeView = Promise.resolve(view);
  const model = new FakeModel("first");
  const end = loader.render({ model, el: {} as HTMLElement });
  await tick();
  model.set("second");
  end();
  model.set("third");
  assert.deepEqual(view.shown, ["first", "second", "gone"]);
  assert.deepEqual(model.sent, []);
});

test("asks the kernel once for all widgets; a refusal is one sentence, and the next widget may ask again", async () => {
  const [one, two] = [new FakeModel(), new FakeModel()];
  const [left, right] = [{} as HTMLElement, {} as HTMLElement];
  loader.render({ model: one, el: left });
  loader.render({ model: two, el: right });
  await tick();
  assert.deepEqual([...one.sent, ...two.sent], [{ type: "view-code?" }]);
  one.emit("msg:custom", { type: "view-code", code: "", message: "The views are not built." });
  await tick();
  assert.equal(left.textContent, "jitscope cannot show this view here: The views are not built.");
  assert.equal(right.textContent, left.textContent);
  assert.equal(page.jitscopeAsked, undefined);
});

test("measures: done when the document comes anew, failed with the kernel's sentence", async () => {
  const view = fakeView();
  page.jitscopeView = view;
  const model = new FakeModel();
  const end = loader.render({ model, el: {} as HTMLElement });
  await tick();
  const good = view.host().measure(7);
  assert.deepEqual(model.sent, [{ type: "measure", id: 7 }]);
  model.set("measured");
  await good;
  const bad = view.host().measure(8);
  model.emit("msg:custom", { type: "measure-failed", id: 8, message: "it has callbacks" });
  await assert.rejects(bad, /it has callbacks/);
  end();
});
