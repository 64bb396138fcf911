// The documents of docs/documents.md, as types. Views read nothing else.

export type Origin = "measured" | "modelled" | "unknown";

export interface Quantity {
  value: number | null;
  unit: string;
  origin: Origin;
  note: string;
}

export interface Position {
  file: string;
  cell: string | null;
  line: number;
  end_line: number;
  column: number;
  end_column: number;
  function: string;
  text: string;
  named_scope?: string;
}

export interface SourceFunction {
  name: string;
  label: string;
  file: string;
  cell: string | null;
  first_line: number;
  lines: string[];
}

export interface SourceDoc {
  kind: "source";
  version: 1;
  functions: SourceFunction[];
  calls: { function: number; parent: number | null; line: number | null }[];
  marks: { call: number; line: number; nodes: string[]; forward: number; backward: number }[];
}

export type NodeKind =
  | "input"
  | "constant"
  | "equation"
  | "output"
  | "instruction"
  | "fusion"
  | "library"
  | "scope"
  | "group";

/** What a group stands for. */
export type GroupKind = "tree" | "function" | "named scope" | "repeat" | "instance";
export type Transform = "jvp" | "transpose" | "vmap";

export interface GraphNode {
  id: string;
  kind: NodeKind;
  label: string;
  scope: string | null;
  types: string[];
  bytes: number;
  text: string;
  params: Record<string, string>;
  paths: string[];
  positions: Position[];
  call?: number | null;
  fused_into: string | null;
  /** Of groups: what they stand for, and how many arrays, nodes or equal blocks that is. */
  what?: GroupKind;
  count?: number;
  /** What made an equation from the one that was written: "jvp", "transpose", "vmap", in order. */
  transforms?: Transform[];
}

export interface GraphEdge {
  from: string;
  to: string;
  type: string;
  bytes: number;
}

export interface GraphDoc {
  kind: "graph";
  version: 1;
  level: "jaxpr" | "hlo";
  title: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
}

export interface Member {
  name: string;
  opcode: string;
  type: string;
  paths: string[];
}

export interface Kernel {
  name: string;
  kind: "fusion" | "library" | "loop" | "copy" | "other";
  opcode: string;
  type: string;
  members: Member[];
  paths: string[];
  positions: Position[];
  text: string;
  note: string;
  /** Of the measured time of all kernels; null or absent where they were not timed. */
  share?: number | null;
}

export interface DiffLine {
  number: number;
  text: string;
  name: string;
  paths: string[];
}

export interface DiffRow {
  kind: "same" | "changed" | "removed" | "added" | "fused";
  left: DiffLine | null;
  right: DiffLine | null;
  caption: string;
}

export interface FusionDoc {
  kind: "fusion";
  version: 1;
  title: string;
  before: GraphDoc;
  after: GraphDoc;
  kernels: Kernel[];
  rows: DiffRow[];
  summary: {
    before: number;
    after: number;
    kernels: number;
    fusions: number;
    library: number;
    sentence: string;
  };
}

export interface Stage {
  name: string;
  seconds: Quantity;
}

export interface TimingDoc {
  kind: "timing";
  version: 1;
  title: string;
  stages: Stage[];
  total: Quantity;
  steady: null | {
    median: Quantity;
    low: Quantity;
    high: Quantity;
    runs: number;
    source: "button" | "cell";
  };
  can_measure: boolean;
}

export interface Difference {
  part: string;
  path: string;
  before: string;
  after: string;
  detail: string;
}

export interface RecompilationCard {
  function: string;
  number: number;
  because: string;
  differences: Difference[];
  against: string;
  cost: Quantity;
  position: Position | null;
  cell: string | null;
}

export interface RecompilationsDoc {
  kind: "recompilations";
  version: 1;
  title: string;
  cards: RecompilationCard[];
}

export interface DiagnosticsDoc {
  kind: "diagnostics";
  version: 1;
  items: {
    id: string;
    severity: "error" | "warning" | "info";
    message: string;
    position: Position | null;
    fix: string;
  }[];
}

export interface CompilationDoc {
  kind: "compilation";
  version: 1;
  id: number;
  function: string;
  signature: string;
  equations: number;
  cache: "compiled" | "reused";
  headline: string;
  source: SourceDoc | null;
  jaxpr: string;
  graph: GraphDoc;
  fusion: FusionDoc | null;
  timing: TimingDoc;
  recompilations: RecompilationsDoc;
  cost: { flops: Quantity; bytes: Quantity; memory: Quantity };
}

export interface CellDoc {
  kind: "cell";
  version: 1;
  cell: string;
  cell_id: string | null;
  compilations: CompilationDoc[];
  reused: { function: string; calls: number }[];
  left_alone: { name: string; reason: string }[];
  error: null | { type: string; message: string; position: Position | null };
  note: string;
}

export interface LedgerRow {
  id: number;
  function: string;
  signature: string;
  cell: string | null;
  cell_id: string | null;
  what: "compiled" | "recompiled" | "reused" | "failed";
  because: string;
  seconds: { trace: number; lower: number; compile: number };
  equations: number;
  calls: number;
}

export interface LedgerDoc {
  kind: "ledger";
  version: 1;
  rows: LedgerRow[];
}

export type AnyDocument =
  | SourceDoc
  | GraphDoc
  | FusionDoc
  | TimingDoc
  | RecompilationsDoc
  | DiagnosticsDoc
  | CompilationDoc
  | CellDoc
  | LedgerDoc;

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
