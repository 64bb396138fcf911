// The documents of docs/documents.md, as types. Views read nothing else.
import type { GraphNode, Position } from "./forms";

export type * from "./forms";

export type NodeKind = GraphNode["kind"];

/** What the surroundings of a view can do for it; everything is optional. */
export interface Host {
  /** Time steady runs of a compilation in a live kernel. */
  measure?(id: number): void | Promise<void>;
  /** All that the compilation at a place of the document holds, from a live kernel, packed. */
  fetch?(at: number): Promise<string>;
  /** The document as a page of HTML that needs nothing else. */
  page?(): Promise<string>;
  /** Show the place in the notebook. */
  goto?(position: Position): void;
}
