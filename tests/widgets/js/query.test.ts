import assert from "node:assert/strict";
import { test } from "node:test";
import type { Facts } from "../../../widgets/jitscope_widgets/js/graph/query";
import { FILTERS, parse, partsOf } from "../../../widgets/jitscope_widgets/js/graph/query";
import { node } from "./graphs";

const NODES = [
  node("e0", null, { label: "dot_general", types: ["f32[64,20]"], bytes: 5120, text: "c = dot_general a b" }),
  node("e1", null, { label: "dot_general", types: ["bf16[1024,1024]"], bytes: 2097152 }),
  node("e2", null, {
    label: "broadcast_in_dim",
    types: ["f32[]"],
    bytes: 4,
    number: { name: "cost", value: -0.5, unit: "" },
  }),
  node("e3", null, {
    label: "mul",
    types: ["f32[64,7]", "i32[7]"],
    bytes: 1792,
    transforms: ["transpose"],
    number: { name: "cost", value: 0.25, unit: "" },
  }),
  node("in0", null, { kind: "input", label: "params['w']", types: ["f32[20]"], bytes: 80 }),
];
const FACTS: Facts = {
  linesOf: ({ id }) => ({ e0: [21], e1: [21, 22], e3: [30] })[id] ?? [],
  kernelsOf: ({ id }) => (id === "e1" ? ["3", "kernel 3", "dot.1"] : []),
  timed: true,
  shareOf: ({ id }) => ({ e0: 0.004, e1: 0.6 })[id] ?? null,
};

function found(text: string): string[] {
  const { test: fits } = parse(text, FACTS);
  return NODES.filter(fits).map(({ id }) => id);
}

const EXPECTED: Record<string, string[]> = {
  "": [],
  dot: ["e0", "e1"],
  DOT: ["e0", "e1"],
  "op:dot": ["e0", "e1"],
  "op:general": [],
  "dtype:f32": ["e0", "e2", "e3", "in0"],
  "dtype:i32": ["e3"],
  "dtype:f3": [],
  "shape:64,*": ["e0", "e3"],
  "shape:[64,20]": ["e0"],
  "shape:7": ["e3"],
  "size:>1MB": ["e1"],
  "size:<=4": ["e2"],
  "size:1kB-6kB": ["e0", "e3"],
  "line:21": ["e0", "e1"],
  "line:22-30": ["e1", "e3"],
  "kernel:3": ["e1"],
  "kernel:dot.1": ["e1"],
  "time:>1%": ["e1"],
  "time:<1%": ["e0"],
  "number:>0.1": ["e3"],
  "number:<-1e-1": ["e2"],
  "number:-1-0.5": ["e2", "e3"],
  "number:-0.5": ["e2"],
  "is:backward": ["e3"],
  "is:input": ["in0"],
  "op:dot dtype:f32 line:21": ["e0"],
  "-op:dot dtype:f32": ["e2", "e3", "in0"],
  "/^(mul|broad)/": ["e2", "e3"],
  "/DOT/i": ["e0", "e1"],
  "/DOT/": [],
  "-/dot/ -is:input": ["e2", "e3"],
  '"dot_general a"': ["e0"],
  "params['w']": ["in0"],
};
for (const [text, wanted] of Object.entries(EXPECTED))
  test(`“${text}” finds ${wanted.join(", ") || "nothing"}`, () => assert.deepEqual(found(text), wanted));

test("words are found in the code that wrote a node, its function, and what is a library's", () => {
  const place = {
    file: "f.py",
    cell: null,
    line: 3,
    end_line: 3,
    column: 4,
    end_column: 9,
    function: "attention",
    text: "    scores = q @ k.T",
  };
  const nodes = [
    node("e5", null, { label: "dot_general", positions: [place] }),
    node("k1", null, { label: "fusion", kind: "library" }),
  ];
  const widely = (text: string) => nodes.filter(parse(text, FACTS, true).test).map(({ id }) => id);
  assert.deepEqual(widely("scores"), ["e5"]);
  assert.deepEqual(widely("attention -fusion"), ["e5"]);
  assert.deepEqual(widely('"library call"'), ["k1"]);
  assert.deepEqual(nodes.filter(parse("scores", FACTS).test), []);
});

test("what cannot be understood is said", () => {
  assert.match(parse("size:big", FACTS).problem, /a number is needed, such as >1MB/);
  assert.match(parse("time:>x", FACTS).problem, />1%/);
  assert.match(parse("number:big", FACTS).problem, />0\.1/);
  assert.match(parse("is:red", FACTS).problem, /known are backward, /);
  assert.match(parse("time:>1%", { ...FACTS, timed: false }).problem, /were not timed/);
  assert.match(parse("/(/", FACTS).problem, /no regular expression/);
  for (const text of ["op:", "size:>1MB", "nonsense:x", "/a b/"]) assert.equal(parse(text, FACTS).problem, "", text);
});

test("every filter that the help names works", () => {
  for (const [, example] of FILTERS) assert.equal(parse(example, FACTS).problem, "", example);
});

test("parts", () => {
  assert.deepEqual(partsOf(`op:dot /a b/i -"two words" x`), ["op:dot", "/a b/i", `-"two words"`, "x"]);
});
