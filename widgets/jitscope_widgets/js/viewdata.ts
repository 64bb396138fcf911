// The view that came with a document, as parts: Python makes it where the document is packed (../envelope.py).
import type { CompilationDoc } from "./documents";
import type { Part, Row } from "./parts/forms";

/** Undefined for documents whose kind is not drawn from parts, and for those of earlier versions. */
export function viewOf(doc: unknown): Part[] | undefined {
  const view = (doc as { view?: Part[] } | null)?.view;
  if (view && !whole.has(view)) {
    whole.add(view);
    complete(view, [], doc as Record<string, unknown>);
  }
  // earlier versions made a part of the view of a fusion, which began with no sentence
  return (doc as { kind?: string } | null)?.kind === "fusion" && view?.[0]?.part !== "sentence" ? undefined : view;
}

const whole = new WeakSet<Part[]>(); // views that are complete

/** Puts rows that stood before (`again`, their number among all) where they stand once more, and what stands in the document (`at`, its
 *  place there) where the view shows it. A view has a hundred thousand values, most of them in the cells of rows, where none stands. */
function complete(value: any, rows: Row[], doc: Record<string, unknown>): void {
  if (value.cells !== undefined) rows.push(value as Row);
  for (const name in value) {
    const inner = value[name];
    if (typeof inner !== "object" || inner === null || name === "cells" || name === "ref") continue;
    if (typeof inner.again === "number") value[name] = rows[inner.again];
    else if (Array.isArray(inner.at)) value[name] = (inner.at as string[]).reduce<any>((found, at) => found[at], doc);
    else complete(inner, rows, doc);
  }
}

/** What the line of a program says of an instrument: it came beside the view, a NaN before a slow line. */
export function standsOut({ unusual, instruments }: CompilationDoc): string | undefined {
  const told = [instruments?.values, instruments?.profile].map(
    (found) => (found as { stands_out?: string } | undefined)?.stands_out,
  );
  return told.find(Boolean) ?? unusual;
}

/** A document, and those in it, without their views: as they were made. */
export function withoutViews<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutViews) as Value;
  if (!value || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(
    ([name]) => !((name === "view" || name === "stands_out") && "kind" in value),
  );
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutViews(inner)])) as Value;
}
