// Documents as outputs carry them: pieces of base64, compressed; what a compilation holds is read when it is opened.
import { expand } from "./compact";
import type { AnyDocument, CellDoc, CompilationDoc, GraphDoc } from "./documents";
import { withoutViews } from "./viewdata";

type Held = Pick<CompilationDoc, "source" | "jaxpr" | "graph" | "fusion">;

/** What is still to be read of a compilation, and what was left out to keep the output small. */
export interface Part {
  /** Where the compilation stands in its document. */
  at: number;
  /** What the saved output lacks, in words; "" when it has all, "everything" for a mere row. */
  without: string;
  load(): Promise<CompilationDoc>;
}

const parts = new WeakMap<object, Part>();
const lacking = new WeakMap<object, string>();

/** What a compilation lacks that was read from a saved output, in words; "" when it has all there was. */
export const lacks = (compilation: CompilationDoc): string => lacking.get(compilation) ?? "";

/** What is to be loaded before a compilation can be opened; undefined when it is there. */
export const partOf = (compilation: CompilationDoc): Part | undefined => parts.get(compilation);

/** Was this graph left out of a saved output? Its title says so (document_forms.py). */
export const isLeftOut = ({ nodes, title }: GraphDoc): boolean =>
  !nodes.length && title.includes("left out of the saved output");

export async function decode(text: string): Promise<AnyDocument> {
  const pieces = text.trim().split(/\s+/);
  const said = await read(pieces[0]!);
  const shown = said.document as AnyDocument;
  const all = shown.kind === "compilation" ? [shown] : ((shown as CellDoc).compilations ?? []);
  for (const { at, piece, without } of said.parts ?? []) {
    const shell = all[at]!;
    let loading: Promise<CompilationDoc> | undefined;
    const load = () =>
      (loading ??= read(pieces[piece]!).then((held: Held) => {
        const loaded = { ...shell, ...held };
        lacking.set(loaded, without);
        return loaded;
      }));
    parts.set(shell, { at, without, load });
  }
  for (const at of said.rows ?? []) {
    const row = all[at]!;
    parts.set(row, { at, without: "everything", load: async () => row });
  }
  return shown;
}

/** A compilation with all that a piece from the kernel holds of it. */
export async function completed(shell: CompilationDoc, piece: string): Promise<CompilationDoc> {
  return { ...shell, ...((await read(piece)) as Held) };
}

/** A document with everything that is at hand in it. */
export async function whole(shown: AnyDocument): Promise<AnyDocument> {
  const one = async (compilation: CompilationDoc) => (await partOf(compilation)?.load()) ?? compilation;
  if (shown.kind === "compilation") return withoutViews(await one(shown));
  if (shown.kind !== "cell") return withoutViews(shown);
  return withoutViews({ ...shown, compilations: await Promise.all(shown.compilations.map(one)) });
}

async function read(piece: string): Promise<any> {
  const stream = new Blob([bytes(piece)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return expand(JSON.parse(await new Response(stream).text()));
}

function bytes(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const found = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) found[i] = text.charCodeAt(i);
  return found;
}
