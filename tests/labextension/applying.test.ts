import assert from "node:assert/strict";
import { test } from "node:test";
import type { Edit } from "../../widgets/jitscope_widgets/js/documents";
import { applyTo, moved } from "../../labextension/src/applying";
import { lookedIn } from "../../labextension/src/sessions";

class Source {
  steps = 0;
  constructor(private text: string) {}
  getSource = () => this.text;
  updateSource(start: number, end: number, value: string) {
    this.text = this.text.slice(0, start) + value + this.text.slice(end);
  }
  transact(made: () => void) {
    this.steps++;
    made();
  }
}

const edit = (line: number, column: number, end_line: number, end_column: number, text: string): Edit => ({
  line,
  column,
  end_line,
  end_column,
  text,
});

test("edits are one step, and stand where the lines stand now", () => {
  const source = new Source("a\nb = 1\nc = 2");
  assert.equal(
    applyTo(source, { edits: [edit(2, 4, 2, 5, "10"), edit(3, 4, 3, 5, "x\n+ 1")], before: ["b = 1", "c = 2"] }),
    0,
  );
  assert.equal(source.getSource(), "a\nb = 10\nc = x\n+ 1");
  assert.equal(source.steps, 1);

  const shifted = new Source("# new\n\na\nb = '😀' + 1");
  assert.equal(applyTo(shifted, { edits: [edit(2, 10, 2, 11, "2")], before: ["b = '😀' + 1"] }), 2);
  assert.equal(shifted.getSource(), "# new\n\na\nb = '😀' + 2");
});

test("nothing is edited where the lines are no longer there, or are there twice", () => {
  for (const text of ["a\nb = 3", "x\ny\nb = 1\nb = 1", ""]) {
    const source = new Source(text);
    assert.equal(applyTo(source, { edits: [edit(2, 4, 2, 5, "10")], before: ["b = 1"] }), null);
    assert.equal(source.getSource(), text);
  }
  assert.equal(moved(["b = 1", "b = 1"], ["b = 1"], 2), 0);
});

test("messages that are no sharp bits are left alone", () => {
  assert.equal(lookedIn(null), null);
  assert.equal(lookedIn({ type: "ledger", document: { rows: [] } }), null);
  assert.equal(lookedIn({ type: "diagnostics", document: {} }), null);
  const message = { type: "diagnostics", document: { items: [] }, cells: null, seconds: 0 };
  assert.equal(lookedIn(message), message);
});
