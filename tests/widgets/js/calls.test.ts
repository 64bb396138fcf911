import assert from "node:assert/strict";
import { test } from "node:test";
import { CallTree, LINES, lineNumber } from "../../../widgets/jitscope_widgets/js/calls";
import type { GraphDoc, SourceDoc } from "../../../widgets/jitscope_widgets/js/documents";
import { Links } from "../../../widgets/jitscope_widgets/js/links";

const fun = (name: string, file: string, first_line: number, lines: number) => ({
  name,
  label: file,
  file,
  cell: null,
  first_line,
  lines: Array.from({ length: lines }, (_, i) => `line ${first_line + i}`),
});

// outer calls scale in lines 3 and 4; scale stands in another file
const source: SourceDoc = {
  kind: "source",
  version: 1,
  functions: [fun("outer", "a.py", 1, 5), fun("scale", "b.py", 3, 2)],
  calls: [
    { function: 0, parent: null, line: null },
    { function: 1, parent: 0, line: 4 },
    { function: 1, parent: 0, line: 3 },
  ],
  marks: [
    { call: 0, line: 4, nodes: ["e4"], forward: 1, backward: 0 },
    { call: 1, line: 4, nodes: ["e2", "e3"], forward: 1, backward: 1 },
    { call: 2, line: 4, nodes: ["e0", "e1"], forward: 2, backward: 0 },
  ],
};
const tree = new CallTree(source);

test("calls come in the order of the lines they stand in", () => {
  assert.deepEqual([...tree.inOrder()], [0, 2, 1]);
  assert.deepEqual(
    [0, 1, 2].map((call) => tree.depthOf(call)),
    [0, 1, 1],
  );
});

test("a line has what was written in it and what it calls", () => {
  const line = tree.marked(0, 4)!;
  assert.deepEqual([line.nodes.sort(), line.forward, line.backward, line.calls], [["e2", "e3", "e4"], 2, 1, [1]]);
  assert.equal(tree.marked(0, 2), null);
  assert.deepEqual(tree.nodesIn(0).sort(), ["e0", "e1", "e2", "e3", "e4"]);
});

// step is defined in outer, in lines 2 and 3, and called through a function of another file in line 4
const round: SourceDoc = {
  ...source,
  functions: [fun("outer", "a.py", 1, 5), fun("scan", "b.py", 3, 2), fun("step", "a.py", 2, 2)],
  calls: [
    { function: 0, parent: null, line: null },
    { function: 1, parent: 0, line: 4 },
    { function: 2, parent: 1, line: 3 },
  ],
  marks: [
    { call: 1, line: 3, nodes: ["e0"], forward: 1, backward: 0 },
    { call: 2, line: 3, nodes: ["e0/e0", "e0/e1"], forward: 1, backward: 1 },
  ],
};

test("a line of a nested function is marked in the code round it, and counted once", () => {
  const nested = new CallTree(round);
  const line = nested.marked(0, 3)!;
  assert.deepEqual([line.nodes, line.forward, line.backward, line.calls], [["e0/e0", "e0/e1"], 1, 1, []]);
  assert.equal(nested.marked(0, 2), null);
  assert.deepEqual(nested.nodesIn(0).sort(), ["e0", "e0/e0", "e0/e1"]);
  assert.deepEqual(
    [nested.holds(0, 2), nested.holds(0, 1), nested.holds(1, 2), nested.holds(2, 0)],
    [true, false, false, false],
  );
});

test("a line of a nested function has in the code round it what it calls", () => {
  const calls = [...round.calls, { function: 1, parent: 2, line: 2 }];
  const marks = [...round.marks, { call: 3, line: 4, nodes: ["e0/e2"], forward: 1, backward: 0 }];
  const nested = new CallTree({ ...round, calls, marks });
  const line = nested.marked(0, 2)!;
  assert.deepEqual([line.nodes, line.forward, line.backward, line.calls], [["e0/e2"], 1, 0, []]);
  assert.deepEqual(nested.marked(0, 3)!.nodes, ["e0/e0", "e0/e1"]);
  assert.deepEqual(nested.nodesIn(0).sort(), ["e0", "e0/e0", "e0/e1", "e0/e2"]);
});

test("the code round a nested function stays on show where that wrote what is picked", () => {
  const graph: GraphDoc = { kind: "graph", version: 1, level: "jaxpr", title: "outer", nodes: [], edges: [] };
  const links = new Links(round, graph);
  const picked = links.fromLine(3, 0);
  assert.deepEqual([...picked.paths].sort(), ["e0/e0", "e0/e1"]);
  assert.equal(links.callOf(picked, 0), 0);
  assert.equal(links.callOf(picked, 1), 2);
});

test("lines of different files are told apart", () => {
  assert.equal(tree.place("a.py", 4), 4);
  assert.equal(tree.place("b.py", 4), LINES + 4);
  assert.equal(lineNumber(LINES + 4), 4);
  assert.equal(tree.place("b.py", 9), null);
  assert.equal(tree.place("c.py", 4), null);
  assert.equal(tree.function(LINES + 4)!.name, "scale");
});

test("a selection finds the call that wrote it, the one shown first", () => {
  const graph: GraphDoc = { kind: "graph", version: 1, level: "jaxpr", title: "outer", nodes: [], edges: [] };
  const links = new Links(source, graph);
  assert.deepEqual([...links.fromLine(LINES + 4).paths].sort(), ["e0", "e1", "e2", "e3"]);
  assert.deepEqual([...links.fromLine(LINES + 4, 1).paths].sort(), ["e2", "e3"]);
  assert.equal(links.callOf(links.fromLine(LINES + 4), 2), 2);
  assert.equal(links.callOf(links.fromPath("e3"), 0), 1);
  assert.equal(links.callOf(links.fromPath("e9"), 0), null);
});
