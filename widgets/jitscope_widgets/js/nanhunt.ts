// Where a NaN comes from: the answer first, then the numbers, the fix, and the way to the result.
import type { Numbers, Host, NanHuntDoc, Position, HuntStep } from "./documents";
import { h } from "./dom";
import { fixView } from "./fixes";
import { python } from "./highlight";
import { quantity } from "./numbers";
import type { GraphMemory } from "./graph/view";
import { positionLink } from "./recompiles";
import type { View } from "./mount";
import { say, TABLES } from "./sentences";
import { wayGraph } from "./waygraph";

const TALLEST = 360; // pixels of the graph

const number = (value: number): string => (Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-4) ? value.toExponential(3) : String(Number(value.toPrecision(6))));

/** What there is to say of an array beside its elements. */
export function facts(array: Numbers): string {
  const said: string[] = [];
  const { smallest, largest, size } = array;
  if (smallest !== null && largest !== null && size > 1) said.push(`finite from ${number(smallest)} to ${number(largest)}`);
  if (array.nans) said.push(`${array.nans.toLocaleString("en")} of ${size.toLocaleString("en")} NaN`);
  if (array.infinities) said.push(`${array.infinities.toLocaleString("en")} of ${size.toLocaleString("en")} infinite`);
  if (array.index?.length) said.push(`element [${array.index.join(", ")}] is ${array.element}`);
  return said.join(", ");
}

function line(position: Position, host: Host): HTMLElement {
  const characters = [...position.text.trimEnd()];
  const indent = position.text.length - position.text.trimStart().length;
  const end = position.end_line === position.line ? position.end_column : characters.length;
  const piece = (from: number, to?: number) => python(characters.slice(from, to).join(""));
  const shown = h("code", {}, piece(indent, position.column), h("mark", {}, piece(position.column, end)), piece(end));
  return h("p", { class: "jitscope-hunt-line" }, positionLink(position, host), " ", shown);
}

function loops(step: HuntStep): HTMLElement[] {
  return step.iterations.map((one) =>
    h(
      "p",
      {},
      "In iteration ",
      h("strong", {}, one.number.toLocaleString("en")),
      one.count === null ? "" : ` of ${one.count.toLocaleString("en")}`,
      " (from 0) of the loop",
      one.position ? ` in line ${one.position.line}` : "",
      ".",
    ),
  );
}

function table(arrays: Numbers[]): HTMLElement {
  const rows = arrays.map((one) =>
    h(
      "tr",
      { "data-bad": one.nans > 0 || one.infinities > 0 },
      h("th", { scope: "row" }, one.name),
      h("td", {}, h("code", {}, one.type)),
      h("td", {}, h("code", {}, one.text), facts(one) ? h("div", { class: "jitscope-muted" }, facts(one)) : null),
    ),
  );
  return h("table", { class: "jitscope-hunt-values" }, h("tbody", {}, ...rows));
}

function operation(heading: string, step: HuntStep, arrays: Numbers[], host: Host): HTMLElement {
  const marks = step.transforms.map((one) => TABLES.transforms[one][1]);
  return h(
    "section",
    { class: "jitscope-hunt-part" },
    h("h4", {}, heading, " ", h("span", { class: "jitscope-muted" }, [step.primitive, `equation ${step.path}`, ...marks].join(", "))),
    step.position ? line(step.position, host) : null,
    ...loops(step),
    table(arrays),
  );
}

function route(doc: NanHuntDoc, host: Host): HTMLElement | null {
  if (!doc.route.length) return null;
  const count = doc.route.length + doc.left_out;
  const rows = doc.route.map((one) =>
    h(
      "li",
      {},
      h("code", {}, one.primitive),
      " ",
      one.position ? positionLink(one.position, host) : null,
      " ",
      h("span", { class: "jitscope-muted" }, [one.path, ...one.transforms.map((mark) => TABLES.transforms[mark][1])].join(", ")),
    ),
  );
  if (doc.left_out) rows.splice(rows.length / 2, 0, h("li", { class: "jitscope-muted" }, `… ${doc.left_out} more …`));
  const said = `From there to the result: ${count} ${count === 1 ? "equation" : "equations"}`;
  return h("details", { class: "jitscope-hunt-route" }, h("summary", {}, said), h("ol", {}, ...rows));
}

export function nanHuntView(doc: NanHuntDoc, host: Host, memory: GraphMemory | undefined, root: HTMLElement): View {
  const graph = doc.graph ? wayGraph(doc.graph, memory, root, TALLEST) : null;
  const bad = doc.found || doc.operation !== null;
  const cause = doc.cause ? `${doc.cause[0].toUpperCase()}${doc.cause.slice(1)}.` : "";
  const first = doc.what === "NaN" ? "The first NaN" : "The first infinity";
  const element = h(
    "div",
    { class: "jitscope-hunt", role: "region", "aria-label": "Where the NaN comes from" },
    h("p", { class: "jitscope-hunt-answer" }, bad ? "▲ " : "✓ ", doc.sentence),
    cause ? h("p", { class: "jitscope-hunt-cause" }, cause) : null,
    doc.where ? h("section", { class: "jitscope-hunt-part" }, h("h4", {}, "The where that does not take it"), line(doc.where, host)) : null,
    doc.operation ? operation(first, doc.operation, doc.values, host) : null,
    doc.infinity ? operation("The infinity before it", doc.infinity.step, doc.infinity.values, host) : null,
    doc.given.length ? h("section", { class: "jitscope-hunt-part" }, h("h4", {}, "It was there already"), table(doc.given)) : null,
    ...doc.fixes.map(fixView),
    graph ? h("section", { class: "jitscope-hunt-part" }, h("h4", {}, "The way from there to the result"), graph.element) : null,
    route(doc, host),
    doc.differs ? h("p", {}, "▲ ", doc.differs) : null,
    h("p", { class: "jitscope-muted" }, say("hunt", { time: quantity(doc.seconds) })),
  );
  return { ...graph, element, dispose: () => graph?.dispose() };
}
