import assert from "node:assert/strict";
import { test } from "node:test";
import type { GraphDoc, SourceDoc } from "../../../widgets/jitscope_widgets/js/documents";
import { changedCall, counterparts } from "../../../widgets/jitscope_widgets/js/joint";
import { Links } from "../../../widgets/jitscope_widgets/js/links";

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

test("a line has the colour of the one that it has most in common with", () => {
  const lines = (...marks: [number, string[]][]) =>
    ({ marks: marks.map(([line, nodes]) => ({ call: 0, line, nodes })) }) as unknown as SourceDoc;
  const [one, other] = [lines([3, ["a"]], [4, ["b", "c"]]), lines([3, ["new", "a"]], [4, ["b"]], [5, ["c"]])];
  const places = (call: number, line: number) => 100 * call + line;
  assert.deepEqual(
    [...counterparts([one, other], [0, 7], places)],
    [
      [703, 3],
      [704, 4],
    ],
  );
  assert.deepEqual([...counterparts([one, one], [0, 0], places)], []);
  const links = new Links(null, {
    nodes: [1, 2, 7, 8].map((line) => ({ id: `e${line}`, positions: [{ file: "x", line }], paths: [] })),
  } as unknown as GraphDoc);
  links.alike = new Map([[8, 2]]);
  const [first, second, third, fourth] = [1, 2, 7, 8].map((line) => links.hue(links.placeOf({ file: "x", line })!));
  assert.deepEqual([first, second, third, fourth], [0, 1, 2, 1]);
});
