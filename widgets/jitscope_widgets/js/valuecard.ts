// What is known of a value, beside the graph: its name, what is wrong with it, and the closer look that the view of the values has.
import type { GraphDoc, Host, ValueRow, ValuesDoc } from "./documents";
import { grouped, h, plural } from "./dom";
import { type Links, Selection } from "./links";
import type { Part } from "./parts/forms";
import { partsView } from "./parts/view";
import { viewOf } from "./viewdata";

const isBad = (row: ValueRow): boolean => row.nan > 0 || row.inf > 0;

/** "✕ 3 NaN, 1 Inf, since iteration 5" */
function badness(row: ValueRow): string {
  const parts = [row.nan ? `${grouped(row.nan)} NaN` : "", row.inf ? `${grouped(row.inf)} Inf` : ""].filter(Boolean);
  const since = row.iterations && row.first_bad !== null ? `, since iteration ${grouped(row.first_bad)}` : "";
  return parts.length ? `✕ ${parts.join(", ")}${since}` : "";
}

/** "on 8 devices", "the same on 8 devices"; "" for a value that is one for all. */
function onDevices({ devices }: ValueRow): string {
  return devices ? `${devices.alike ? "the same " : ""}on ${plural(devices.count, "device")}` : "";
}

/** The parts of the row that has the section of a name. */
function partsOf(view: Part[], name: string): Part[] | undefined {
  const rows = view.flatMap((part) => (part.part === "table" ? part.rows : []));
  return rows.find(({ parts }) => parts?.some((part) => part.part === "section" && part.name === name))?.parts;
}

/** A value with its figures and pictures, as its row in the table of values shows them when it is opened. */
export function valueCard(row: ValueRow, values: ValuesDoc, host: Host, links: Links): HTMLElement {
  const bad = badness(row);
  const parts = partsOf(viewOf(values) ?? [], `value ${row.path}:${row.result}`);
  const name = row.result ? `${row.label}, result ${row.result}` : row.label;
  const card = h(
    "div.jitscope-value-card",
    { "data-path": row.path },
    h(
      "p.jitscope-value-name",
      h("strong", name),
      " ",
      h("code", row.type),
      row.devices ? h("span.jitscope-muted", ` ${onDevices(row)}`) : null,
    ),
    bad ? h("p.jitscope-value-wrong", bad) : null,
  );
  if (parts) card.append(partsView(parts, { host, links, selection: new Selection(), root: card }, "value").element);
  return card;
}

/** By the calls that are scopes: the operations inside whose values others read. Values stand at the operations that make them. */
function given(graph: GraphDoc): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { from, to } of graph.edges)
    for (let at = from.lastIndexOf("/"); at > 0; at = from.lastIndexOf("/", at - 1)) {
      const scope = from.slice(0, at);
      if (to.startsWith(`${scope}/`)) break;
      found.set(scope, (found.get(scope) ?? new Set()).add(from));
    }
  return found;
}

/** The values of a node: its own, or those that leave it. */
export function valuesOfNode(graph: GraphDoc, id: string, { rows }: ValuesDoc): ValueRow[] {
  const own = rows.filter(({ path }) => path === id);
  const inside = own.length ? undefined : given(graph).get(id);
  return inside ? rows.filter(({ path }) => inside.has(path)) : own;
}

/** The graph with what is not finite named so, and outlined as what is wrong. */
export function withBadness(graph: GraphDoc, values: ValuesDoc | undefined): GraphDoc {
  if (!values || values.first_bad === null) return graph;
  const rows = new Map<string, ValueRow[]>();
  for (const row of values.rows) rows.set(row.path, [...(rows.get(row.path) ?? []), row]);
  for (const [scope, inside] of given(graph))
    if (!rows.has(scope))
      rows.set(
        scope,
        [...inside].flatMap((id) => rows.get(id) ?? []),
      );
  const nodes = graph.nodes.map((node) => {
    const bad = rows.get(node.id)?.filter(isBad) ?? [];
    if (!bad.length) return node;
    const words = [bad.some(({ nan }) => nan) ? "NaN" : "", bad.some(({ inf }) => inf) ? "Inf" : ""].filter(Boolean);
    return { ...node, label: `${node.label} ✕ ${words.join(" ")}`, mark: "stop" as const };
  });
  return { ...graph, nodes };
}
