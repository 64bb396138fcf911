// Which view draws which document.
import { CellView } from "./cell";
import type { AnyDocument, CellDoc, CompilationDoc, GraphDoc, GraphNode, Host, Position } from "./documents";
import { Links, Selection } from "./links";
import type { View } from "./mount";
import type { Part } from "./parts/forms";
import { partsView } from "./parts/view";
import { viewOf } from "./viewdata";
import { graphView, sourceView } from "./single";

type Open = (document: any, host: Host, memory: any, root: HTMLElement) => View;

/** A compilation alone is shown as a cell with just that one. */
function compilationView(doc: CompilationDoc, host: Host, memory: any, root: HTMLElement): View {
  const cell: CellDoc = {
    kind: "cell",
    version: 1,
    cell: "",
    cell_id: null,
    compilations: [doc],
    reused: [],
    left_alone: [],
    error: null,
    note: "",
  };
  return new CellView(cell, host, memory ?? { open: true }, root);
}

const VIEWS: Record<string, Open> = {
  cell: (doc, host, memory, root) => new CellView(doc, host, memory, root),
  compilation: compilationView,
  graph: graphView,
  source: (doc) => sourceView(doc),
};

/** The equations that a document names with their positions, as far as links need them. */
function equations({ positions, title }: { positions?: unknown; title?: string }): GraphDoc | null {
  if (!positions || Array.isArray(positions)) return null;
  const nodes = Object.entries(positions as Record<string, Position>).map(
    ([path, position]): GraphNode => ({
      id: path,
      kind: "equation",
      label: path,
      scope: null,
      types: [],
      bytes: 0,
      text: "",
      params: {},
      paths: [path],
      positions: [position],
      fused_into: null,
    }),
  );
  return { kind: "graph", version: 1, level: "jaxpr", title: title ?? "", nodes, edges: [] };
}

/** A view that came with its document. */
function alone(parts: Part[], doc: AnyDocument, host: Host, memory: unknown, root: HTMLElement): View {
  const links =
    doc.kind === "fusion"
      ? new Links(null, null, doc.kernels)
      : new Links(null, equations(doc as { positions?: unknown; title?: string }));
  return partsView(parts, { host, root, memory, links, selection: new Selection() }, doc.kind);
}

export function openView(shown: AnyDocument, host: Host, memory: unknown, root: HTMLElement): View {
  const kind = shown?.kind ?? "nothing";
  const parts = viewOf(shown);
  const open = Object.hasOwn(VIEWS, kind) ? VIEWS[kind] : undefined;
  if (parts && !open) return alone(parts, shown, host, memory, root);
  if (!open)
    throw new Error(
      `it is of the kind “${kind}” and came without its view: an earlier version saved it, or a later one`,
    );
  if (shown.version !== 1) throw new Error(`it has version ${String(shown.version)}, and this view knows version 1`);
  return open(shown, host, memory, root);
}
