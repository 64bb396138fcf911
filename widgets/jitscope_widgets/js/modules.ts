// The modules, scopes and functions of a program as a table that opens: what is in each, in how many equal blocks, and its share of the time.
import { lineNumber } from "./calls";
import type { CompilationDoc, GraphDoc, GraphNode, Host } from "./documents";
import { grouped, h } from "./dom";
import type { Links, Selection } from "./links";
import type { Column, Row, Table } from "./parts/forms";
import { partsView } from "./parts/view";
import { shareText } from "./shares";

const FEWEST = 3; // rows that are worth an outline
const OPENED = 30; // equations that a row holds which is open at first, at least
const NAMED = 4; // operations that a row names

interface Around {
  compilation: CompilationDoc;
  host: Host;
  links: Links;
  selection: Selection;
  root: HTMLElement;
  /** Shows a group in the graph. */
  reveal(id: string): void;
}

const isModule = ({ kind, what }: GraphNode): boolean => kind === "scope" || (kind === "group" && what !== "tree");

class Outlined {
  private readonly children = new Map<string | null, GraphNode[]>();
  /** The group that a selection of paths is shown at, by its first path. */
  readonly places = new Map<string, string>();

  constructor(
    private readonly graph: GraphDoc,
    private readonly links: Links,
    private readonly timed: boolean,
  ) {
    for (const node of graph.nodes) {
      const list = this.children.get(node.scope);
      if (list) list.push(node);
      else this.children.set(node.scope, [node]);
    }
  }

  rows(): Row[] {
    return this.inside([null]);
  }

  /** The rows of scopes that hold the same: each stands for what is at its place in all of them. */
  private inside(scopes: (string | null)[]): Row[] {
    const [first, ...others] = scopes.map((scope) => (this.children.get(scope) ?? []).filter(isModule));
    return first!.map((node, i) => this.row([node, ...others.flatMap((list) => list[i] ?? [])]));
  }

  private row(nodes: GraphNode[]): Row {
    const node = nodes[0]!;
    const blocks =
      node.what === "repeat"
        ? nodes.flatMap(({ id }) => (this.children.get(id) ?? []).map((one) => one.id))
        : nodes.map(({ id }) => id);
    const paths = nodes.flatMap(({ id }) => [...this.links.fromNode(this.graph, "jaxpr", id).paths]);
    const { count, share } = this.links.kernelsOf({ nodes: paths } as Parameters<Links["kernelsOf"]>[0]);
    const equations = nodes.reduce((sum, { id }) => sum + this.equations(id), 0);
    const line = this.links.of(node);
    const backward = this.isBackward(node) && !node.label.includes("(backward)") ? " (backward)" : "";
    if (nodes.length > 1 && paths.length) this.places.set(paths[0]!, node.id);
    return {
      cells: [
        [
          `${node.label}${backward}`,
          nodes.length > 1 ? { part: "text", text: `, in each of ${nodes.length}`, tone: "muted" } : "",
        ],
        { part: "text", text: grouped(equations), order: equations },
        { part: "text", text: grouped(count), order: count },
        ...(this.timed
          ? [
              {
                part: "text" as const,
                text: share ? shareText(share) : "",
                order: share ? (share.estimate ?? share.least) : 0,
              },
            ]
          : []),
        line === null ? "" : { part: "text", text: `line ${lineNumber(line)}`, order: line },
        { part: "text", text: this.operations(blocks[0]!), tone: "muted" },
      ],
      ref: nodes.length > 1 ? { paths } : { node: node.id },
      rows: this.inside(blocks),
      opened: equations >= OPENED && node.what !== "line" && node.kind !== "scope",
    };
  }

  private readonly known = new Map<string, number>();

  private equations(id: string): number {
    let count = this.known.get(id);
    if (count === undefined) {
      count = 0;
      for (const node of this.children.get(id) ?? [])
        count += (node.kind !== "group" && node.paths.length ? 1 : 0) + this.equations(node.id); // a branch or body has no path
      this.known.set(id, count);
    }
    return count;
  }

  /** Whether most equations of a group were made by a transposition. */
  private isBackward({ id }: GraphNode): boolean {
    const all = this.leaves(id);
    return all.filter(({ transforms }) => transforms?.includes("transpose")).length * 2 > all.length;
  }

  private leaves(id: string): GraphNode[] {
    return (this.children.get(id) ?? []).flatMap((node) => (node.kind === "equation" ? [node] : this.leaves(node.id)));
  }

  /** The operations that stand in a scope itself: `mul × 3, add, exp`. */
  private operations(id: string): string {
    const counts = new Map<string, number>();
    for (const node of this.children.get(id) ?? [])
      if (node.kind === "equation") counts.set(node.label, (counts.get(node.label) ?? 0) + 1);
    const named = [...counts].sort(([, a], [, b]) => b - a).map(([name, n]) => (n > 1 ? `${name} × ${n}` : name));
    return named.slice(0, NAMED).join(", ") + (named.length > NAMED ? ", …" : "");
  }
}

/** The outline of a program's graph, made when it is opened; null for a program without modules. */
export function modulesOutline({ compilation, host, links, selection, root, reveal }: Around): HTMLElement | null {
  const { graph, fusion } = compilation;
  const groups = graph.nodes.filter((node) => isModule(node) && node.what !== "instance").length;
  if (groups < FEWEST) return null;
  const element = h(
    "details.jitscope-modules",
    h("summary", "Outline", h("span.jitscope-muted", " modules, functions and blocks, with their share")),
  );
  const fill = () => {
    const timed = (fusion?.kernels ?? []).some(({ share }) => typeof share === "number");
    const outlined = new Outlined(graph, links, timed);
    const rows = outlined.rows();
    const columns: Column[] = [
      { title: "module or function", kind: "text" },
      { title: "equations", kind: "number", help: "in it, in all blocks" },
      { title: "kernels", kind: "number", help: "that compute something of it; one may compute something of several" },
      ...(timed ? [{ title: "share", kind: "number" as const, help: "of the measured time of all kernels" }] : []),
      { title: "called in", kind: "short" },
      { title: "operations of its own", kind: "text" },
    ];
    const table: Table = { part: "table", name: "Modules, functions and blocks", columns, rows, first: 20 };
    const view = partsView(
      [table],
      { compilation, host: { ...host, goto: undefined }, links, selection, root },
      "modules",
    );
    const show = () => {
      const { node, paths } = selection.current;
      const at = node?.id ?? outlined.places.get([...paths][0] ?? "");
      if (at) reveal(at);
    };
    view.element.addEventListener("click", show);
    view.element.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && show());
    element.append(view.element);
  };
  element.addEventListener("toggle", () => element.open && element.childElementCount === 1 && fill());
  return element;
}
