// Two programs against each other: which is faster and how sure that is, what they cost, what is in one alone.
import type { ComparedEquation, ComparedKernel, ComparisonDoc, Host, Position, Quantity } from "./documents";
import { grouped, h, plural, s } from "./dom";
import { JointView } from "./joint";
import { linesInWords } from "./linewords";
import type { View } from "./mount";
import { origin, quantity, withUnit } from "./numbers";
import { say, TABLES } from "./sentences";

type Side = "a" | "b";
function ratio(value: number): string {
  return Math.abs(value - 1) >= 0.05 ? String(Number(value.toPrecision(3))) : value.toFixed(3);
}

function verdict({ a, b, verdict: found, ratio: centre, low, high, pairs }: ComparisonDoc): HTMLElement {
  const interval = say("interval", { low: ratio(low), high: ratio(high), pairs: plural(pairs, "pair") });
  const none = found === "no difference found";
  return h(
    "p",
    { class: "jitscope-verdict", "data-verdict": found },
    h("strong", {}, none ? "No difference in time was found" : `${b.title} is ${found}`),
    `: ${none ? b.title : "it"} takes `,
    h("strong", {}, `${ratio(centre)} ×`),
    ` as long as ${a.title} (${interval}${none ? ", which includes 1" : ""}).`,
  );
}

/** The interval of the ratio on a line, with 1 marked. */
function interval({ low, high, ratio: centre }: ComparisonDoc): SVGElement {
  const reach = Math.max(Math.abs(Math.log(low)), Math.abs(Math.log(high)), 0.1) * 1.25;
  const [width, height] = [480, 52];
  const at = (value: number) => width / 2 + (Math.log(value) / reach) * (width / 2 - 30);
  const text = (x: number, said: string, anchor: string) => s("text", { x, y: 46, "text-anchor": anchor, class: "jitscope-roof-label" }, said);
  const picture = s("svg", { class: "jitscope-interval", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Ratio ${ratio(centre)}, 99 % interval ${ratio(low)} to ${ratio(high)}` });
  picture.append(
    s("path", { class: "jitscope-roof-grid", d: `M30 22H${width - 30}` }),
    s("path", { class: "jitscope-roof-line", d: `M${at(1)} 10V34` }),
    s("path", { class: "jitscope-interval-bar", d: `M${at(low)} 22H${at(high)}` }),
    s("circle", { class: "jitscope-interval-centre", cx: at(centre), cy: 22, r: 5 }),
    text(at(1), "1: equal", "middle"),
    text(2, "B faster", "start"),
    text(width - 2, "B slower", "end"),
  );
  return picture;
}

function figure(q: Quantity): HTMLElement {
  return h("span", { class: "jitscope-figure", title: origin(q), "data-origin": q.origin }, quantity(q));
}

function figures(doc: ComparisonDoc): HTMLElement {
  const rows = Object.entries(TABLES.compared).map(([name, title]) => {
    const [one, other] = [doc.a, doc.b].map((side) => side[name as keyof typeof TABLES.compared]) as [Quantity, Quantity];
    const times = one.value && other.value && name !== "wall" ? `× ${ratio(other.value / one.value)}` : ""; // that of times is the verdict's
    return h("tr", {}, h("th", { scope: "row" }, title), h("td", {}, figure(one)), h("td", {}, figure(other)), h("td", {}, times));
  });
  const head = h("tr", {}, h("td"), h("th", { scope: "col" }, `A: ${doc.a.title}`), h("th", { scope: "col" }, `B: ${doc.b.title}`), h("td"));
  return h("table", { class: "jitscope-compared" }, h("thead", {}, head), h("tbody", {}, ...rows));
}

const ranOn = ({ a, b }: ComparisonDoc): string => (a.on === b.on ? say("both ran on", { on: a.on }) : say("ran on", { a: a.on, b: b.on }));

/** Which of the two was not compiled now, and what its time is then. */
function compiling(doc: ComparisonDoc): string {
  const notes = (["a", "b"] as const).map((side) => [side.toUpperCase(), doc[side].compile.note] as const);
  return notes.flatMap(([side, note]) => (note ? [say("compiling noted", { side, note })] : [])).join(" ");
}

/** Which arguments are donated, where that differs. */
function donations({ a, b }: ComparisonDoc): string {
  if (!a.donated || !b.donated || a.donated.join() === b.donated.join()) return "";
  const [one, other] = [a.donated, b.donated].map((names) => names.join(", ") || "nothing") as [string, string];
  return say("donations", { a: one, b: other });
}

function results({ results: found }: ComparisonDoc): string {
  if (found.why) return say("not compared", { why: found.why });
  if (found.equal) return say("results equal");
  if (found.absolute.value === null) return say("results differ", { where: found.where });
  const [absolute, relative] = [found.absolute, found.relative].map(({ value }) => withUnit(value ?? 0, ""));
  return say("results apart", { absolute: absolute!, relative: relative!, where: found.where });
}

interface Part<T> {
  common: number;
  rewired?: number;
  a: T[];
  b: T[];
  only_a: number;
  only_b: number;
}

function part<T extends { times?: number }>(found: Part<T>, noun: string, row: (one: T) => (Node | string | null)[]): HTMLElement {
  const rewired = found.rewired ? ` (${grouped(found.rewired)} of them read${found.rewired === 1 ? "s" : ""} other operands)` : "";
  const said = `${plural(found.common, noun)} in both${rewired}, ${found.only_a.toLocaleString("en")} only in A, ${found.only_b.toLocaleString("en")} only in B`;
  const list = (side: Side, sign: string, title: string) => {
    const more = found[`only_${side}`] - found[side].reduce((sum, { times }) => sum + (times ?? 1), 0);
    return h(
      "div",
      { class: "jitscope-only", "data-side": side },
      h("h4", {}, title),
      ...found[side].map((one) => h("p", {}, h("span", { "aria-hidden": "true" }, sign), " ", (one.times ?? 1) > 1 ? `${grouped(one.times!)} × ` : "", ...row(one))),
      more > 0 ? h("p", { class: "jitscope-muted" }, `and ${plural(more, `more ${noun}`)}`) : null,
      found[`only_${side}`] ? null : h("p", { class: "jitscope-muted" }, "none"),
    );
  };
  const differs = found.only_a + found.only_b > 0;
  return h(
    "details",
    { open: differs && found.only_a + found.only_b <= 24 },
    h("summary", {}, said),
    differs ? h("div", { class: "jitscope-onlys" }, list("a", "−", "only in A"), list("b", "+", "only in B")) : null,
  );
}

function lineOf(position: Position | null, host: Host): Node | string {
  if (!position) return "";
  const text = ` ${position.cell ?? position.file.split("/").pop()}, line ${position.line}`;
  if (!host.goto || !position.cell) return h("span", { class: "jitscope-muted" }, text);
  return h("button", { type: "button", class: "jitscope-link", onclick: () => host.goto!(position) }, text.trim());
}

const linesOf = ({ positions }: ComparedKernel): HTMLElement => h("span", { class: "jitscope-muted" }, ` ${linesInWords(positions ?? [])}`);

/** ` (exponential, 2 add)` */
const detailsOf = ({ details }: ComparedKernel): HTMLElement | null => (details ? h("span", { class: "jitscope-kernel-details" }, ` (${details})`) : null);

function kernelText({ kind, operations, opcode, type }: ComparedKernel): string {
  const several = operations > 1 ? (TABLES["kernels of several"] as Record<string, string>)[kind] : undefined;
  return `${several ? `${several} of ${operations}` : opcode}: ${type}`;
}

export function comparisonView(doc: ComparisonDoc, host: Host, root: HTMLElement): View {
  const differs = doc.joint?.graph.nodes.some(({ mark }) => mark);
  const joint = doc.joint && differs ? new JointView(doc.joint, { a: doc.a.title, b: doc.b.title }, host, root) : null;
  const element = h(
    "div",
    { class: "jitscope-comparison" },
    verdict(doc),
    interval(doc),
    figures(doc),
    h("p", {}, `${ranOn(doc)} ${results(doc)}`),
    donations(doc) ? h("p", { class: "jitscope-donations" }, donations(doc)) : null,
    compiling(doc) ? h("p", { class: "jitscope-muted jitscope-compiling" }, compiling(doc)) : null,
    joint?.element ?? null,
    part<ComparedEquation>(doc.equations, "equation", (one) => [h("code", {}, one.text), " ", lineOf(one.position, host)]),
    part(doc.kernels, "kernel", (one) => [h("code", { title: one.name }, kernelText(one)), detailsOf(one), linesOf(one)]),
    h("p", { class: "jitscope-muted" }, say("comparison", { method: doc.method, time: quantity(doc.cost) })),
  );
  return {
    element,
    api: {
      get graph() {
        return joint?.graph?.api;
      },
    },
    themed: () => joint?.graph?.themed(),
    dispose: () => joint?.dispose(),
  };
}
