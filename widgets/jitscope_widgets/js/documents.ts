// The documents of docs/documents.md, as types. Views read nothing else.
import type { CompilationDoc, GraphNode, Position } from "./forms";

export type * from "./forms";

/** The documents of a compilation that are made on demand, by name. */
export type Instruments = NonNullable<CompilationDoc["instruments"]>;

/** An instrument that can be asked: what its button says, a sentence on what it shows, one on what it costs. */
export interface Offer {
  name: string;
  title: string;
  button: string;
  shows: string;
  costs: string;
}

export type NodeKind = GraphNode["kind"];

/** What the surroundings of a view can do for it; everything is optional. */
export interface Host {
  /** Time steady runs of a compilation in a live kernel. */
  measure?(id: number): void | Promise<void>;
  /** Compile a program once more, to find out where its kernels stem from. */
  again?(id: number): void | Promise<void>;
  /** All that the compilation at a place of the document holds, from a live kernel, packed. */
  fetch?(at: number): Promise<string>;
  /** What an instrument says of a compilation, from a live kernel, packed; with options, a further document of it. `told`: the step it is at. */
  instrument?(
    id: number,
    name: string,
    options: Record<string, unknown>,
    told?: (step: string) => void,
  ): Promise<string>;
  /** What instruments a live kernel has. */
  offers?(): Promise<Offer[]>;
  /** The document as a page of HTML that needs nothing else. */
  page?(): Promise<string>;
  /** Show the place in the notebook. */
  goto?(position: Position): void;
}
