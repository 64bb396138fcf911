// What is said of a value that was picked on its way: its name and type, who makes it, who reads it, what it was.
import type { GraphDoc, GraphEdge, GraphNode, ValueRow, ValuesDoc } from "./documents";
import { h } from "./dom";
import { bytes } from "./numbers";

const MOST = 6; // readers that are named

/** The names under which a program's text has the values of this type that an operation gives. */
function namesOf(maker: GraphNode, type: string): string[] {
  const left = maker.text.includes(" = ") ? maker.text.slice(0, maker.text.indexOf(" = ")) : maker.text;
  const words = left
    .replace(/^ROOT /, "")
    .trim()
    .split(/\s+/)
    .filter(Boolean);
  const typed = words.filter((word) => word.endsWith(`:${type}`)).map((word) => word.slice(0, -type.length - 1));
  return typed.length ? typed : words.length === 1 && !words[0]!.includes(":") ? words : [];
}

/** Which of an operation's results have this type. */
const resultsOf = (maker: GraphNode, type: string): number[] =>
  maker.types.flatMap((one, i) => (one === type ? [i] : []));

export function edgeDetails(
  edges: GraphEdge[],
  graph: GraphDoc,
  values: ValuesDoc | undefined,
  card: (row: ValueRow) => HTMLElement,
  places: (node: GraphNode) => HTMLElement,
  pick: (id: string) => void,
  apart: (maker: GraphNode, readers: GraphNode[]) => HTMLElement[],
): HTMLElement[] {
  const { from, type, bytes: size } = edges[0]!;
  const node = (id: string) => graph.nodes.find((one) => one.id === id);
  const maker = node(from);
  if (!maker) return [];
  const link = (id: string) => h("button.jitscope-link", { onclick: () => pick(id) }, node(id)?.label ?? id);
  const names = namesOf(maker, type);
  const now = edges.some(({ gone }) => !gone);
  const readers = [
    ...new Set(
      graph.edges.filter((edge) => edge.from === from && edge.type === type && !edge.gone === now).map(({ to }) => to),
    ),
  ];
  const others = readers.length - MOST;
  const results = resultsOf(maker, type);
  const one =
    maker.types.length < 2
      ? ""
      : results.length === 1
        ? `, its result ${results[0]} of ${maker.types.length}`
        : `, one of its ${maker.types.length} results`;
  const rows = (values?.rows ?? []).filter(
    ({ path, result }) => graph.level === "jaxpr" && path === maker.id && results.includes(result),
  );
  return [
    h(
      "div.jitscope-details-first",
      h("strong", names.length ? `value ${names.join(" or ")}` : "value"),
      h("code", type),
      size ? h("span.jitscope-muted", bytes(size)) : null,
      places(maker),
    ),
    h("span", h("span.jitscope-muted", "made by "), link(from), one),
    h(
      "span",
      h(
        "span.jitscope-muted",
        now ? "read by " : graph.level === "jaxpr" ? "in A alone read by " : "was read, before the pass, by ",
      ),
      ...readers.slice(0, MOST).flatMap((id, i) => (i ? [", ", link(id)] : [link(id)])),
      others > 0 ? ` and ${others} more` : "",
    ),
    ...(now
      ? apart(
          maker,
          [...new Set(edges.map(({ to }) => to))].flatMap((id) => node(id) ?? []),
        )
      : []),
    ...[...new Set(edges.flatMap(({ note }) => (note ? [note] : [])))].map((note) =>
      h("span.jitscope-edge-note", note),
    ),
    ...rows.slice(0, 3).map(card),
  ];
}
