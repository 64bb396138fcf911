// The line below the graph: everything about what was picked.
import { whyApart } from "./apart";
import { lineNumber } from "./calls";
import type { CompilationDoc, GraphDoc, GraphNode, Host, ValueRow } from "./documents";
import { grouped, h, plural } from "./dom";
import { edgeDetails } from "./edgedetails";
import { numberText } from "./graph/looks";
import { kernelNames } from "./kernels";
import { bytes } from "./numbers";
import { hlo } from "./highlight";
import type { Links, Selected, Selection } from "./links";
import { positionLink } from "./linewords";
import { valueCard, valuesOfNode } from "./valuecard";

interface DetailsContext {
  host: Host;
  links: Links;
  compilation: CompilationDoc | null;
  graphs: Record<string, GraphDoc>;
  /** Shows the Fusion pane. */
  showFusion?(): void;
}

function params(node: GraphNode): HTMLElement | null {
  const list = Object.entries(node.params).filter(([, value]) => value !== "");
  if (!list.length) return null;
  return h(
    "span.jitscope-params",
    ...list.map(([name, value]) => h("span", h("span.jitscope-muted", `${name} `), h("code", value))),
  );
}

function places(node: GraphNode, host: Host): HTMLElement {
  const seen = new Set<string>();
  const links = node.positions.slice(0, 3).flatMap((position) => {
    const key = `${position.file}:${position.line}:${position.column}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [h("span.jitscope-place", positionLink(position, host))];
  });
  const more = node.positions.length - 3;
  if (more > 0) links.push(h("span.jitscope-muted", `and ${plural(more, "more place")}`));
  if (!links.length)
    links.push(
      h(
        "span.jitscope-muted",
        node.kind === "input" || node.kind === "output" ? node.kind : "no line of code is known",
      ),
    );
  return h("span.jitscope-places", ...links);
}

function kernelsOf(selected: Selected, context: DetailsContext): HTMLElement | null {
  const kernels = context.compilation?.fusion?.kernels ?? [];
  const all = kernelNames(kernels);
  const found = kernels.flatMap((kernel, i) => (selected.kernels.has(kernel.name) ? [{ kernel, name: all[i]! }] : []));
  if (!found.length) return null;
  const names = found.slice(0, 3).map(({ kernel, name }) => {
    const what =
      kernel.kind === "fusion"
        ? `fusion of ${grouped(kernel.members.length)}`
        : kernel.kind === "library"
          ? "library call"
          : (kernel.label ?? kernel.opcode);
    return `${name} (${what})`;
  });
  const text = names.join(", ") + (found.length > 3 ? ` and ${grouped(found.length - 3)} more` : "");
  if (!context.showFusion) return h("span", text);
  return h("button.jitscope-link", { onclick: () => context.showFusion!() }, text);
}

function nodeDetails(node: GraphNode, selected: Selected, context: DetailsContext): HTMLElement[] {
  return [
    h(
      "div.jitscope-details-first",
      h("strong", node.label),
      h("code", node.types.join(", ")),
      node.bytes ? h("span.jitscope-muted", bytes(node.bytes)) : null,
      node.number ? h("span", `${node.number.name} ${numberText(node)}`) : null,
      places(node, context.host),
      madeBy(node) ? h("span.jitscope-muted", madeBy(node)) : null,
      kernelsOf(selected, context),
    ),
    node.text ? h("pre.jitscope-program", hlo(node.text.trim())) : h("span"),
    params(node) ?? h("span"),
    ...valuesOf(node, context),
  ];
}

/** What a node computed, where the values were looked at. */
function valuesOf(node: GraphNode, { compilation, host, links }: DetailsContext): HTMLElement[] {
  const values = compilation?.instruments?.values;
  if (!values) return [];
  const paths = node.paths.length ? node.paths : [node.id];
  const rows = paths.flatMap((path) => valuesOfNode(compilation.graph, path, values)).slice(0, 3);
  return rows.map((row) => valueCard(row, values, host, links));
}

/** "line 4", "softmax lines 16, 17, attention line 29". */
function linesInWords(lines: number[], links: Links): string {
  const names = [...new Set(lines.map((line) => links.nameOf(line)))];
  const parts = names.map((name) => {
    const own = lines.filter((line) => links.nameOf(line) === name).map(lineNumber);
    return `${name ? `${name} ` : ""}${own.length > 1 ? "lines" : "line"} ${own.join(", ")}`;
  });
  return parts.length > 4 ? `${parts.slice(0, 3).join(", ")} and ${parts.length - 3} more functions` : parts.join(", ");
}

/** Which transformations made an equation, in plain words; "" if it stands as it was written. */
function madeBy(node: GraphNode): string {
  const words = { jvp: "for a derivative", transpose: "for the backward pass", vmap: "for a whole batch (vmap)" };
  const made = (node.transforms ?? []).filter((t, _, all) => t !== "jvp" || !all.includes("transpose"));
  return made.length ? `made ${made.map((t) => words[t]).join(", ")} from what is written there` : "";
}

function groupDetails(selected: Selected, context: DetailsContext): HTMLElement[] {
  const lines = [...selected.lines].sort((a, b) => a - b);
  const title = lines.length ? linesInWords(lines, context.links) : "selection";
  const jaxpr = context.graphs.jaxpr;
  const count = jaxpr ? context.links.related(jaxpr, selected).filter((id) => /^e/.test(id)).length : 0;
  const where = lines.length === 1 ? context.links.calls?.function(lines[0]!) : null;
  const text = where ? where.lines[lineNumber(lines[0]!) - where.first_line]?.trim() : "";
  return [
    h(
      "div.jitscope-details-first",
      h("strong", title),
      text ? h("code", text) : null,
      jaxpr ? h("span", plural(count, "equation")) : null,
      kernelsOf(selected, context),
    ),
  ];
}

export function detailsPane(context: DetailsContext, selection: Selection): HTMLElement {
  const element = h("div.jitscope-details", {
    role: "region",
    "aria-label": "Details of the selection",
    "aria-live": "polite",
  });
  selection.onChange((selected) => {
    const node =
      selected.node && context.graphs[selected.node.level]?.nodes.find((other) => other.id === selected.node!.id);
    const { edges } = selected;
    const pick = (id: string) =>
      selection.set(context.links.fromNode(context.graphs[selected.node!.level]!, selected.node!.level, id));
    const values = context.compilation?.instruments?.values;
    const card = (row: ValueRow) => valueCard(row, values!, context.host, context.links);
    const { compilation, showFusion } = context;
    const apart = (maker: GraphNode, readers: GraphNode[]) =>
      compilation ? whyApart(maker, readers, context.graphs[selected.node!.level]!, { compilation, showFusion }) : [];
    if (node && edges?.length)
      element.replaceChildren(
        ...edgeDetails(
          edges,
          context.graphs[selected.node!.level]!,
          values,
          card,
          (maker) => places(maker, context.host),
          pick,
          apart,
        ),
      );
    else if (node) element.replaceChildren(...nodeDetails(node, selected, context));
    else if (selected.lines.size || selected.paths.size) element.replaceChildren(...groupDetails(selected, context));
    else element.replaceChildren(h("span.jitscope-muted", "Pick an operation or a line to see what became of it."));
  });
  return element;
}
