import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import loader from "../../../widgets/jitscope_widgets/js/loader";

const page = globalThis as { jitscopeView?: unknown; jitscopeAsked?: unknown; jitscopeSaved?: unknown };
const tick = () => new Promise((resolve) => setTimeout(resolve));

class FakeModel {
  sent: any[] = [];
  private handlers = new Map<string, Set<(...args: any[]) => void>>();
  constructor(private changes = 0) {}
  get(name: string) {
    return name === "changes" ? this.changes : undefined;
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
  set(data: string) {
    this.changes++;
    this.emit("msg:custom", { type: "document", data });
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
  delete page.jitscopeSaved;
});

test("takes the view code and the saved document of the page, shows newer documents, and ends", async () => {
  const view = fakeView();
  page.jitscopeView = Promise.resolve(view);
  page.jitscopeSaved = async () => "first";
  const model = new FakeModel();
  const end = loader.render({ model, el: {} as HTMLElement });
  await tick();
  model.set("second");
  await tick();
  end();
  model.set("third");
  await tick();
  assert.deepEqual(view.shown, ["first", "second", "gone"]);
  assert.deepEqual(model.sent, []);
});

test("asks the kernel where the page has no document, or an older one", async () => {
  const view = fakeView();
  page.jitscopeView = view;
  for (const [saved, changes] of [
    [null, 0],
    ["old", 1],
  ] as const) {
    page.jitscopeSaved = async () => saved;
    const model = new FakeModel(changes);
    loader.render({ model, el: {} as HTMLElement });
    await tick();
    assert.deepEqual(model.sent, [{ type: "document?" }]);
  }
  assert.deepEqual(view.shown, []);
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
  model.set("first");
  await tick();
  const good = view.host().measure(7);
  assert.deepEqual(model.sent, [{ type: "document?" }, { type: "measure", id: 7 }]);
  model.set("measured");
  await good;
  const bad = view.host().measure(8);
  model.emit("msg:custom", { type: "measure-failed", id: 8, message: "it has callbacks" });
  await assert.rejects(bad, /it has callbacks/);
  const again = view.host().again(9);
  assert.deepEqual(model.sent.at(-1), { type: "again", id: 9 });
  model.emit("msg:custom", { type: "again-failed", id: 9, message: "it is gone" });
  await assert.rejects(again, /it is gone/);
  end();
});

test("fetches what was left out", async () => {
  const view = fakeView();
  page.jitscopeView = view;
  const model = new FakeModel();
  loader.render({ model, el: {} as HTMLElement });
  await tick();
  model.set("first");
  await tick();
  const part = view.host().fetch(3);
  assert.deepEqual(model.sent.at(-1), { type: "part?", at: 3 });
  model.emit("msg:custom", { type: "part", at: 2, data: "other" });
  model.emit("msg:custom", { type: "part", at: 3, data: "packed" });
  assert.equal(await part, "packed");
  const bad = view.host().fetch(4);
  model.emit("msg:custom", { type: "part", at: 4, data: "", message: "it is gone" });
  await assert.rejects(bad, /it is gone/);
});
