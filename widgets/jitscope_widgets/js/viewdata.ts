// The view that came with a document, as parts: Python makes it where the document is packed (../envelope.py).
import type { Part, Row } from "./parts/forms";

/** Undefined for documents whose kind is not drawn from parts, and for those of earlier versions. */
export function viewOf(doc: unknown): Part[] | undefined {
  const view = (doc as { view?: Part[] } | null)?.view;
  if (view && !whole.has(view)) {
    whole.add(view);
    withRows(view, []);
    withGraphs(view, doc as Record<string, unknown>);
  }
  return view;
}

const whole = new WeakSet<Part[]>(); // views whose rows are all there

/** Puts rows that stood before (`again`, their number among all) where they stand once more. */
function withRows(value: object, rows: Row[]): void {
  if ("cells" in value) rows.push(value as Row);
  for (const [name, inner] of Object.entries(value)) {
    if (!inner || typeof inner !== "object") continue;
    if (typeof inner.again === "number") (value as Record<string, unknown>)[name] = rows[inner.again];
    else withRows(inner, rows);
  }
}

/** Puts graphs that stand in the document where the view shows them. */
function withGraphs(value: object, doc: Record<string, unknown>): void {
  const place = "part" in value && value.part === "graph" && "document" in value && (value.document as { at?: string[] }).at;
  if (place) (value as Record<string, unknown>).document = place.reduce<any>((inner, name) => inner[name], doc);
  else for (const inner of Object.values(value)) if (inner && typeof inner === "object") withGraphs(inner, doc);
}

/** A document, and those in it, without their views: as they were made. */
export function withoutViews<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutViews) as Value;
  if (!value || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([name]) => !(name === "view" && "kind" in value));
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutViews(inner)])) as Value;
}
