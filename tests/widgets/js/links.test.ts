import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { CellDoc } from "../../../widgets/jitscope_widgets/js/documents";
import { Links, touches } from "../../../widgets/jitscope_widgets/js/links";

const cell: CellDoc = JSON.parse(readFileSync("tests/widgets/fixtures/dense_selu_cell.json", "utf8"));
const compilation = cell.compilations[0]!;
const links = Links.of(compilation);
const { before, after, kernels } = compilation.fusion!;
const fusion = kernels[1]!;

test("a path stands for everything inside it", () => {
  assert.ok(touches(["e8/e2"], new Set(["e8"])));
  assert.ok(!touches(["e8"], new Set(["e8/e2"])));
  assert.ok(!touches(["e81"], new Set(["e8"])));
});

test("a line leads to its equations, instructions and kernels", () => {
  const selected = links.fromLine(3);
  assert.deepEqual([...selected.paths].sort(), ["e4", "e5", "e6"]);
  assert.deepEqual([...selected.kernels], [fusion.name]);
  assert.ok(links.related(before, selected).includes("subtract.9"));
  assert.ok(links.related(after, selected).includes(fusion.name));
  assert.ok(!links.related(after, selected).includes("dot.1"));
});

test("an instruction leads back to its line", () => {
  const selected = links.fromNode(before, "before", "compare.12");
  assert.deepEqual([...selected.lines], [4]);
  assert.deepEqual(links.related(compilation.graph, selected), ["e7"]);
});

test("an instruction without positions finds its lines by path", () => {
  const blank = { ...before, nodes: before.nodes.map((node) => ({ ...node, positions: [] })) };
  assert.deepEqual([...links.fromNode(blank, "before", "subtract.9").lines], [3]);
});

test("a kernel leads to all its lines", () => {
  assert.deepEqual([...links.fromKernel(fusion).lines].sort(), [2, 3, 4, 5]);
});

test("hues follow the order of the lines; a node of several lines has none of its own", () => {
  assert.deepEqual([2, 3, 4, 5].map(links.hue), [0, 1, 2, 3]);
  assert.equal(links.of(fusion), null);
  assert.equal(links.of(compilation.graph.nodes.find((node) => node.id === "e4")!), 3);
});

test("a scope leads to its own line and to those of all that is in it", () => {
  const place = (line: number) => ({
    file: "f",
    cell: null,
    line,
    end_line: line,
    column: 0,
    end_column: 1,
    function: "f",
    text: "",
  });
  const node = (id: string, kind: string, scope: string | null, line: number) =>
    ({ id, kind, scope, label: id, types: [], paths: kind === "group" ? [] : [id], positions: [place(line)] }) as any;
  const nodes = [
    node("e0", "equation", null, 2),
    node("e1", "scope", null, 7),
    node("e1/e0", "equation", "e1", 4),
    node("e1/e1", "equation", "e1", 5),
  ];
  const graph = {
    ...compilation.graph,
    nodes: [...nodes, node("g0", "group", null, 9), node("e2", "equation", "g0", 3)],
  };
  const own = new Links(null, graph);
  const picked = (id: string) => [...own.fromNode(graph, "jaxpr", id).lines].sort();
  assert.deepEqual([picked("e0"), picked("e1"), picked("e1/e1"), picked("g0")], [[2], [4, 5, 7], [5], [3, 9]]);
});
