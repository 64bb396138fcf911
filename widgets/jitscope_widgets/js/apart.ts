// Why the operation that makes a value and one that reads it are in two kernels: XLA's own reason where it was asked for, else what can be seen.
import type { CompilationDoc, GraphDoc, GraphNode, Kernel } from "./documents";
import { h } from "./dom";
import { kernelNames } from "./kernels";
import { kernelPaths, pathsOf, touches } from "./links";
import { say, TABLES } from "./sentences";

const MEANING: Record<string, string> = TABLES.fusion_reasons;
const MOST = 3; // readers of which something is said

/** XLA's reason in plain words, its own where there are none. */
const inPlainWords = (reason: string): string => MEANING[reason] ?? reason;

interface Context {
  compilation: CompilationDoc;
  showFusion?: () => void;
}

/** One line for each of the readers: in one kernel with the maker, or why not. */
export function whyApart(
  maker: GraphNode,
  readers: GraphNode[],
  graph: GraphDoc,
  { compilation, showFusion }: Context,
): HTMLElement[] {
  const kernels = (compilation.fusion?.kernels ?? []).filter(({ kind }) => kind !== "loop");
  if (!kernels.length) return [];
  const names = new Map(
    kernelNames(compilation.fusion!.kernels).map((name, i) => [compilation.fusion!.kernels[i]!.name, name]),
  );
  const holding = (node: GraphNode): Kernel[] => {
    const paths = new Set(pathsOf(graph, node));
    return graph.level === "jaxpr" || node.paths.length
      ? kernels.filter((kernel) => touches(kernelPaths(kernel), paths))
      : [];
  };
  const gives = holding(maker);
  const said = new Map<string, HTMLElement>();
  for (const reader of readers) {
    const reads = holding(reader);
    const both = gives.find((one) => reads.includes(one));
    if (both)
      said.set(both.name, h("span.jitscope-apart", h("span.jitscope-muted", "fused: both in "), names.get(both.name)!));
    else for (const [key, line] of linesOf(gives, reads, names, compilation, showFusion)) said.set(key, line);
  }
  return [...said.values()].slice(0, MOST);
}

function* linesOf(
  gives: Kernel[],
  reads: Kernel[],
  names: Map<string, string>,
  compilation: CompilationDoc,
  showFusion?: () => void,
): Generator<[string, HTMLElement]> {
  const pairs = compilation.instruments?.reasons?.pairs ?? [];
  const asked = compilation.instruments?.reasons !== undefined;
  for (const { from, to, observed } of compilation.fusion?.boundaries ?? []) {
    if (!gives.some(({ name }) => name === from) || !reads.some(({ name }) => name === to)) continue;
    const reason = pairs.find(({ giver, reader }) => giver.kernel === from && reader.kernel === to)?.reason;
    const seen = observed.map(({ text }) => text).join("; ") || say("nothing seen");
    const ask =
      !asked && showFusion ? [" ", h("button.jitscope-link", { onclick: showFusion }, "XLA's own reason")] : [];
    const told = reason
      ? [inPlainWords(reason)]
      : [asked ? `${say("xla says nothing")}; what can be seen: ${seen}` : seen, ...ask];
    yield [
      `${from} ${to}`,
      h(
        "span.jitscope-apart",
        { title: reason ? `XLA: ${reason}` : null },
        h("span.jitscope-muted", `not fused, ${names.get(from)} and ${names.get(to)}: `),
        ...told,
      ),
    ];
  }
}
