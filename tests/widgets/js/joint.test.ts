import assert from "node:assert/strict";
import { test } from "node:test";
import type { GraphDoc, SourceDoc } from "../../../widgets/jitscope_widgets/js/documents";
import { changedCall } from "../../../widgets/jitscope_widgets/js/joint";

function source(...nodes: string[][]): SourceDoc {
  const marks = nodes.map((ids, call) => ({ call, line: 1, nodes: ids, forward: ids.length, backward: 0 }));
  return { kind: "source", version: 1, functions: [], calls: [], marks } as unknown as SourceDoc;
}

function graph(marks: Record<string, string>, ...edges: [string, string][]): GraphDoc {
  const ids = new Set(["a", "b", "c", "d", "new1", "new2", ...Object.keys(marks)]);
  const nodes = [...ids].map((id) => ({ id, mark: marks[id] }));
  return { nodes, edges: edges.map(([from, to]) => ({ from, to })) } as unknown as GraphDoc;
}

test("a program opens on the call that has most of what it has alone", () => {
  const code = source(["a", "new1"], [], ["b", "new2", "new3"]);
  assert.equal(changedCall(code, graph({ new1: "added", new2: "added", new3: "added", a: "rewired" })), 2);
});

test("one that has nothing alone opens where it reads other operands, else next to what the other one has", () => {
  const code = source(["a", "b"], ["c"], ["d"]);
  assert.equal(changedCall(code, graph({ new1: "added", c: "rewired" }, ["d", "new1"])), 1);
  assert.equal(changedCall(code, graph({ new1: "added" }, ["d", "new1"])), 2);
  assert.equal(changedCall(code, graph({})), 0);
});
