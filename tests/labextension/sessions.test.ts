import assert from "node:assert/strict";
import { test } from "node:test";
import { ledgerIn, Sessions } from "../../labextension/src/sessions";

const tick = () => new Promise((resolve) => setTimeout(resolve));
const ledger = (ids: number[]) => ({ kind: "ledger", version: 1, rows: ids.map((id) => ({ id })) });
const message = (ids: number[]) => ({ content: { data: { type: "ledger", document: ledger(ids) } } });

class Signal {
  private handlers: ((sender: unknown, args: unknown) => void)[] = [];
  connect(handler: (sender: unknown, args: unknown) => void) {
    this.handlers.push(handler);
  }
  emit(args?: unknown) {
    for (const handler of this.handlers) handler(null, args);
  }
}

class FakeComm {
  onMsg: (message: unknown) => void = () => {};
  onClose: () => void = () => {};
  opened = false;
  open() {
    this.opened = true;
  }
}

class FakeKernel {
  made: FakeComm[] = [];
  target: ((comm: FakeComm, opening: unknown) => void) | null = null;
  isDisposed = false;
  constructor(
    readonly id: string,
    private hasExtension: boolean,
  ) {}
  registerCommTarget(_: string, target: (comm: FakeComm, opening: unknown) => void) {
    this.target = target;
  }
  async requestCommInfo() {
    return { content: { status: "ok", comms: this.hasExtension ? { a: { target_name: "jitscope" } } : {} } };
  }
  createComm() {
    const comm = new FakeComm();
    this.made.push(comm);
    return comm;
  }
}

class FakePanel {
  disposed = new Signal();
  sessionContext: any;
  constructor(kernel: FakeKernel) {
    this.sessionContext = {
      ready: Promise.resolve(),
      kernelChanged: new Signal(),
      statusChanged: new Signal(),
      session: { kernel },
    };
  }
}

function open(kernel: FakeKernel) {
  const panel = new FakePanel(kernel);
  const tracker = {
    widgetAdded: new Signal(),
    currentChanged: new Signal(),
    forEach: (f: (p: unknown) => void) => f(panel),
    currentWidget: panel,
  };
  const sessions = new Sessions(tracker as any);
  const ids = () => sessions.current()?.ledger?.rows.map((row) => row.id) ?? null;
  return { panel, sessions, ids };
}

test("only ledger messages count", () => {
  assert.equal(ledgerIn(null), null);
  assert.equal(ledgerIn({ type: "other" }), null);
  assert.equal(ledgerIn({ type: "ledger", document: {} }), null);
  assert.equal(ledgerIn({ type: "ledger", document: ledger([1]) })?.rows.length, 1);
});

test("a kernel that loads the extension opens a comm to us", async () => {
  const kernel = new FakeKernel("k", false);
  const { ids } = open(kernel);
  await tick();
  assert.equal(kernel.made.length, 0); // a kernel without the extension is left in peace
  assert.equal(ids(), null);
  const comm = new FakeComm();
  kernel.target!(comm, { content: { data: {} } });
  comm.onMsg(message([1, 2]));
  assert.deepEqual(ids(), [1, 2]);
});

test("after a reload of the page we open the comm", async () => {
  const kernel = new FakeKernel("k", true);
  const { ids } = open(kernel);
  await tick();
  assert.ok(kernel.made[0]!.opened);
  kernel.made[0]!.onMsg(message([5]));
  assert.deepEqual(ids(), [5]);
});

test("a restart and another kernel start an empty ledger", async () => {
  const kernel = new FakeKernel("k", true);
  const { panel, ids } = open(kernel);
  await tick();
  kernel.made[0]!.onMsg(message([5]));
  panel.sessionContext.statusChanged.emit("restarting");
  assert.equal(ids(), null);
  const next = new FakeKernel("other", true);
  panel.sessionContext.session.kernel = next;
  panel.sessionContext.kernelChanged.emit();
  await tick();
  next.made[0]!.onMsg(message([1]));
  assert.deepEqual(ids(), [1]);
});

test("a closed notebook is forgotten and listeners hear of every change", async () => {
  const kernel = new FakeKernel("k", true);
  const { panel, sessions, ids } = open(kernel);
  await tick();
  let heard = 0;
  sessions.onChange(() => heard++);
  kernel.made[0]!.onMsg(message([1]));
  panel.disposed.emit();
  assert.equal(heard, 2);
  assert.equal(ids(), null);
});
