// What can be asked of a graph: plain words, regular expressions, and filters such as op:dot dtype:f32 size:>1MB.
// All parts of a query must hold. A part with a minus before it must not.
import { lineNumber } from "../calls";
import type { ShownNode } from "./hulls";
import { isBackward } from "./looks";

/** What a query may look at beside the node. */
export interface Facts {
  linesOf(node: ShownNode): number[];
  /** Numbers and names of the kernels that compute it. */
  kernelsOf(node: ShownNode): string[];
  /** Were the kernels of this program timed? */
  timed: boolean;
  /** Share of the measured time, 0 … 1; null when it was not measured. */
  shareOf(node: ShownNode): number | null;
}

type Test = (node: ShownNode) => boolean;

interface Query {
  test: Test;
  /** What cannot be understood, as a sentence; "" when all can. */
  problem: string;
}

type Filter = (value: string, facts: Facts) => Test;

/** name, example, what it finds */
export const FILTERS: [string, string, string][] = [
  ["op", "op:dot", "operations whose name begins so"],
  ["dtype", "dtype:f32", "results of this type"],
  ["shape", "shape:64,*", "results of this shape; * is any length"],
  ["size", "size:>1MB", "results of this many bytes"],
  ["line", "line:21", "from this line of your code, or line:20-25"],
  ["kernel", "kernel:3", "computed in this kernel, by number or name"],
  ["time", "time:>1%", "in kernels with this share of the measured time"],
  ["number", "number:>0.1", "numbers of your own, laid over the graph by with_numbers"],
  ["is", "is:backward", "backward, input, output, constant, fusion, library, scope, group"],
];

const UNITS: Record<string, number> = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, "%": 0.01 };

const EXAMPLES: Record<string, string> = { time: ">1%", number: ">0.1" };

class Unclear extends Error {}

/** ">1MB", "10-20kB", "<=4%": a test of a number. Without a sign the number itself is meant. */
function range(text: string, what: string): (value: number) => boolean {
  const number = (part: string): number => {
    const found = /^(-?[\d.]+(?:e[+-]?\d+)?)([a-z%]*)$/i.exec(part);
    const unit = found?.[2] ? UNITS[found[2].toLowerCase()] : 1;
    if (!found || unit === undefined || !Number.isFinite(Number(found[1])))
      throw new Unclear(`“${what}:${text}”: a number is needed, such as ${EXAMPLES[what] ?? ">1MB"}`);
    return Number(found[1]) * unit;
  };
  const compared = /^(<=|>=|<|>)(.+)$/.exec(text);
  if (compared) {
    const limit = number(compared[2]!);
    const sign = compared[1]!;
    return (value) =>
      sign === "<" ? value < limit : sign === ">" ? value > limit : sign === "<=" ? value <= limit : value >= limit;
  }
  const between = /^(-?[\d.]+(?:e[+-]?\d+)?[a-z%]*)-(.+)$/i.exec(text);
  const [from, to] = between ? [number(between[1]!), number(between[2]!)] : [number(text), number(text)];
  return (value) => value >= from && value <= to;
}

function isType(type: string): { dtype: string; shape: string } | null {
  const found = /^([a-z]\w*)(?:\[([^\]]*)\])?/i.exec(type);
  return found ? { dtype: found[1]!, shape: found[2] ?? "" } : null;
}

function shapeTest(wanted: string): (shape: string) => boolean {
  const sizes = wanted.replace(/[[\]()]/g, "").split(/[,x×]/);
  return (shape) => {
    const own = shape.split(",");
    return own.length === sizes.length && sizes.every((size, i) => size === "*" || size === own[i]);
  };
}

const WHAT: Record<string, Test> = {
  backward: isBackward,
  input: ({ kind }) => kind === "input",
  output: ({ kind }) => kind === "output",
  constant: ({ kind }) => kind === "constant",
  fusion: ({ kind }) => kind === "fusion" || kind === "hull",
  library: ({ kind }) => kind === "library",
  scope: ({ kind }) => kind === "scope",
  group: ({ kind }) => kind === "group",
};

const MAKE: Record<string, Filter> = {
  op: (value) => (node) => node.kind !== "fold" && node.label.toLowerCase().startsWith(value),
  dtype: (value) => (node) => node.types.some((type) => isType(type)?.dtype.toLowerCase() === value),
  shape: (value) => {
    const fits = shapeTest(value);
    return (node) => node.types.some((type) => fits(isType(type)?.shape ?? ""));
  },
  size: (value) => {
    const fits = range(value, "size");
    return (node) => node.types.length > 0 && fits(node.bytes);
  },
  line: (value, facts) => {
    const fits = range(value, "line");
    return (node) => facts.linesOf(node).some((place) => fits(lineNumber(place)));
  },
  kernel: (value, facts) => (node) => facts.kernelsOf(node).some((kernel) => kernel.toLowerCase() === value),
  time: (value, facts) => {
    const fits = range(value, "time");
    if (!facts.timed) throw new Unclear("the kernels of this program were not timed");
    return (node) => {
      const share = facts.shareOf(node);
      return share !== null && fits(share);
    };
  },
  number: (value) => {
    const fits = range(value, "number");
    return ({ number }) => number !== undefined && fits(number.value);
  },
  is: (value) => {
    const test = WHAT[value];
    if (!test) throw new Unclear(`“is:${value}”: known are ${Object.keys(WHAT).join(", ")}`);
    return test;
  },
};

const textOf = (node: ShownNode) => `${node.label} ${node.id} ${node.text}`;

/** With the lines that it was written in, their functions, and that it is a library's. */
const widely = (node: ShownNode) =>
  [
    textOf(node),
    ...node.positions.flatMap(({ text, function: name }) => [text.trim(), name]),
    node.kind === "library" ? "library call" : "",
  ].join(" ");

function expression(part: string, text: typeof textOf): Test {
  const [, source, flags] = /^\/(.*)\/(i?)$/.exec(part)!;
  try {
    const wanted = new RegExp(source!, flags);
    return (node) => node.kind !== "fold" && wanted.test(text(node));
  } catch {
    throw new Unclear(`${part} is no regular expression`);
  }
}

function word(part: string, text: typeof textOf): Test {
  const wanted = part.replace(/^"|"$/g, "").toLowerCase();
  return (node) => node.kind !== "fold" && text(node).toLowerCase().includes(wanted);
}

function testOf(part: string, facts: Facts, text: typeof textOf): Test {
  if (part.startsWith("-") && part.length > 1) {
    const test = testOf(part.slice(1), facts, text);
    return (node) => node.kind !== "fold" && !test(node);
  }
  if (/^\/.*\/i?$/.test(part) && part.length > 1) return expression(part, text);
  const named = /^(\w+):(.*)$/.exec(part);
  const make = named && MAKE[named[1]!.toLowerCase()];
  if (!make) return word(part, text);
  const value = named[2]!.replace(/^"|"$/g, "").toLowerCase();
  return value ? make(value, facts) : () => true; // still being typed
}

/** Parts at spaces; a regular expression and what is in quotes may hold spaces. */
export function partsOf(text: string): string[] {
  return text.match(/-?\/(?:\\.|[^/\\])+\/i?(?=\s|$)|-?(?:\w+:)?"[^"]*"?|\S+/g) ?? [];
}

/** `wide`: words are looked for in the code that wrote a node, too. */
export function parse(text: string, facts: Facts, wide = false): Query {
  try {
    const tests = partsOf(text).map((part) => testOf(part, facts, wide ? widely : textOf));
    return { test: (node) => tests.length > 0 && tests.every((test) => test(node)), problem: "" };
  } catch (error) {
    if (!(error instanceof Unclear)) throw error;
    return { test: () => false, problem: error.message };
  }
}
