// The view that came with a document, as parts: Python makes it where the document is packed (../envelope.py).
import type { Part } from "./parts/forms";

/** Undefined for documents whose kind is not drawn from parts, and for those of earlier versions. */
export function viewOf(doc: unknown): Part[] | undefined {
  return (doc as { view?: Part[] } | null)?.view;
}

/** A document without its view: as it was made. */
export function withoutView<Doc extends object>(doc: Doc): Doc {
  const { view: _, ...rest } = doc as Doc & { view?: unknown };
  return rest as Doc;
}
