// The forms of documents as types, made from schema.py: python -m tests.widgets.js.forms
export interface Quantity { value: number | null; unit: string; origin: "measured" | "modelled" | "unknown"; note: string }
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
export interface Edit { line: number; column: number; end_line: number; end_column: number; text: string }
export interface Fix { text: string; edits: Edit[]; checked: string; position: Position | null; before?: string[] }
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
export interface GraphNode {
  id: string;
  kind: "input" | "constant" | "equation" | "output" | "instruction" | "fusion" | "library" | "scope" | "group";
  what?: "tree" | "function" | "named scope" | "repeat" | "instance";
  count?: number;
  label: string;
  scope: string | null;
  types: string[];
  bytes: number;
  text: string;
  params: Record<string, string>;
  paths: string[];
  positions: Position[];
  transforms?: ("jvp" | "transpose" | "vmap")[];
  call?: number | null;
  left_out?: number;
  mark?: "path" | "stop" | "removed" | "added" | "changed" | "rewired" | "fused" | "moved";
  number?: { name: string; value: number; unit: string };
  fused_into: string | null;
}
export interface GraphEdge { from: string; to: string; type: string; bytes: number; gone?: boolean }
export interface GraphDoc {
  kind: "graph";
  version: 1;
  level: "jaxpr" | "hlo";
  title: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
}
export interface Member { name: string; opcode: string; type: string; paths: string[] }
export interface Boundary {
  from: string;
  to: string;
  observed: { kind: "library" | "copy" | "reduction" | "broadcast" | "result" | "several users" | "concatenation" | "loop" | "branch" | "call"; text: string }[];
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
  share?: number | null;
}
export interface DiffLine { number: number; text: string; name: string; paths: string[] }
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
  boundaries?: Boundary[];
  rows: DiffRow[];
  summary: { before: number; after: number; kernels: number; fusions: number; library: number; sentence: string; again?: boolean; unknown?: { kernels: number; bytes: number | null; time: number | null } };
}
export interface Stage { name: "trace" | "lower" | "compile" | "load" | "convert arguments" | "first run"; seconds: Quantity }
export interface TimingDoc {
  kind: "timing";
  version: 1;
  title: string;
  stages: Stage[];
  total: Quantity;
  steady: { median: Quantity; low: Quantity; high: Quantity; runs: number; source: "button" | "cell" } | null;
  call?: string;
  can_measure: boolean;
}
export interface Site { position: Position | null; led?: Position[]; compilations: number; retraces: number; seconds: number }
export interface Matrix {
  columns: { label: string; what: "compiled" | "reused"; calls: number | null }[];
  rows: { path: string; cells: string[]; changed: boolean[] }[];
  columns_left: number;
  columns_left_after: number;
  rows_left: number;
}
export interface RecompilationCard {
  function: string;
  cause: "shape" | "dtype" | "weak type" | "static value" | "static object" | "tree structure" | "none" | "call form" | "kind" | "function" | "closure" | "redefined" | "device" | "sharding" | "donation" | "option" | "x64" | "cache" | "stale";
  compilations: number;
  retraces: number;
  because: string;
  seconds: Quantity;
  definition: Position | null;
  sites: Site[];
  sites_left: number;
  matrix: Matrix;
  fix: Fix | null;
  quiet: boolean;
}
export interface RecompilationsDoc { kind: "recompilations"; version: 1; title: string; cards: RecompilationCard[] }
export interface Diagnostic {
  id: string;
  severity: "error" | "warning" | "info";
  title: string;
  message: string;
  why: string;
  evidence: string[];
  origin: "look" | "trace" | "miss" | "run";
  position: Position | null;
  fix: Fix | null;
  silence: Fix | null;
}
export interface DiagnosticsDoc { kind: "diagnostics"; version: 1; items: Diagnostic[]; note?: string }
export interface StoppedDoc {
  kind: "stopped";
  version: 1;
  function: string;
  asked: string;
  graph: GraphDoc;
  stop: string;
  steps: { kind: "argument" | "line" | "stop"; text: string; position: Position | null; nodes: string[] }[];
  left_out: number;
  fixes: Fix[];
}
export interface Numbers {
  name: string;
  type: string;
  text: string;
  smallest: number | null;
  largest: number | null;
  nans: number;
  infinities: number;
  size: number;
  index: number[] | null;
  element: string;
}
export interface Step {
  path: string;
  primitive: string;
  position: Position | null;
  transforms: ("jvp" | "transpose" | "vmap")[];
  iterations: { number: number; count: number | null; position: Position | null }[];
}
export interface NanHuntDoc {
  kind: "nan-hunt";
  version: 1;
  title: string;
  what: "NaN" | "infinity";
  found: boolean;
  sentence: string;
  cause: string;
  sharp_bit: string;
  operation: Step | null;
  where: Position | null;
  values: Numbers[];
  infinity: { step: Step; values: Numbers[] } | null;
  given: Numbers[];
  route: Step[];
  left_out: number;
  graph?: GraphDoc;
  differs: string;
  seconds: Quantity;
  fixes: Fix[];
}
export interface CompilationDoc {
  kind: "compilation";
  version: 1;
  id: number;
  function: string;
  signature: string;
  equations: number;
  cache: "compiled" | "reused" | "loaded";
  headline: string;
  because?: string;
  source: SourceDoc | null;
  jaxpr: string;
  graph: GraphDoc;
  fusion: FusionDoc | null;
  timing: TimingDoc;
  recompilations: RecompilationsDoc;
  cost: { flops: Quantity; bytes: Quantity; memory: Quantity };
  instruments?: { transformations?: TransformationsDoc; passes?: PassesDoc; memory?: MemoryDoc; values?: ValuesDoc; profile?: ProfileDoc; machine?: MachineDoc; communication?: CommunicationDoc };
}
export interface CellDoc {
  kind: "cell";
  version: 1;
  cell: string;
  cell_id: string | null;
  compilations: CompilationDoc[];
  recompilations?: RecompilationsDoc;
  diagnostics?: DiagnosticsDoc;
  reused: { function: string; calls: number; at_least?: boolean }[];
  left_alone: { name: string; reason: string }[];
  error: { type: string; message: string; position: Position | null; stopped?: StoppedDoc } | null;
  note: string;
}
export interface PassRun {
  name: string;
  does: string;
  pipelines: string[];
  round: number;
  rounds: number;
  seconds: Quantity;
  state: number | null;
}
export interface PassRow {
  kind: "removed" | "added" | "changed" | "rewired" | "fused" | "moved";
  before: string | null;
  after: string | null;
  from: string | null;
  to: string | null;
  opcode: string;
  paths: string[];
}
export interface PassState {
  operations: number;
  kernels: number;
  flops: Quantity;
  bytes: Quantity;
  counts: { removed: number; added: number; changed: number; rewired: number; fused: number; moved: number };
  sentence: string;
  rows: PassRow[];
  left_out: number;
  also: string[];
  graph: GraphDoc | null;
  graph_left_out: number;
}
export interface CodeProgram {
  title: string;
  lines: { text: string; origin: number | null; transforms: ("jvp" | "transpose" | "vmap")[] }[];
  left_out: number;
}
export interface TransformationsDoc {
  kind: "transformations";
  version: 1;
  title: string;
  steps: { transform: "jvp" | "linearize" | "transpose" | "vmap"; function: string; depth: number; before: CodeProgram; after: CodeProgram[] }[];
  left_out: number;
  missed: string[];
  origins: { position: Position; paths: string[] }[];
  cost: Quantity;
}
export interface PassesDoc {
  kind: "passes";
  version: 1;
  title: string;
  stages: { name: "passes" | "kernels" | "machine code" | "rest"; does: string; seconds: Quantity }[];
  passes: PassRun[];
  states: PassState[];
  fates: { path: string; state: number; what: "fused" | "library" | "merged" | "gone"; into: string[] }[];
  positions: Record<string, Position>;
  cost: Quantity;
}
export interface MemoryBuffer {
  label: string;
  kind: "argument" | "constant" | "result" | "temporary";
  bytes: number;
  offset: number;
  allocation: number;
  born: number;
  dies: number;
  type: string;
  instruction: string;
  values: number;
  argument: number | null;
  kernel: string | null;
  path: string | null;
  paths: string[];
}
export interface MemoryChange {
  id: string;
  text: string;
  what: "donation" | "checkpoint";
  edits: Edit[];
  position: Position | null;
  tried: { peak: number; reserved: number; temporary: number; aliased: number; flops: Quantity; flops_before: Quantity; seconds: Quantity; note: string } | null;
}
export interface MemoryDoc {
  kind: "memory";
  version: 1;
  title: string;
  sentence: string;
  length: number;
  peak: { position: number; bytes: number; instruction: string; kernel: string | null; paths: string[]; kinds: { argument: number; constant: number; result: number; temporary: number }; buffers: number[]; count: number };
  reserved: { argument: Quantity; constant: Quantity; result: Quantity; temporary: Quantity; aliased: Quantity; total: Quantity };
  curve: { positions: number[]; instructions: string[]; argument: number[]; constant: number[]; result: number[]; temporary: number[] };
  scopes: { instruction: string; text: string; iterations: number | null; start: number; end: number; paths: string[] }[];
  buffers: MemoryBuffer[];
  left_out: { buffers: number; bytes: number };
  changes: MemoryChange[];
  positions: Record<string, Position>;
  cost: Quantity;
}
export interface Bounds { least: number; most: number }
export interface TimedKernel {
  name: string;
  called: string;
  kind: "fusion" | "library" | "loop" | "copy" | "other";
  opcode: string;
  operations: number;
  type: string;
  loop: string | null;
  runs: number;
  median: number;
  low: number;
  high: number;
  fast: number;
  total: number;
  share: number | null;
  flops: number | null;
  bytes: number | null;
  needs: number | null;
  nearest: "memory" | "arithmetic" | null;
  bound: "memory" | "arithmetic" | "overhead" | "neither" | "unknown" | null;
  why: string;
  lines: number[];
}
export interface Hardware {
  measured: string;
  seconds: Quantity;
  bandwidth: { bytes: number; rate: Quantity }[];
  fresh: Quantity;
  dispatch: Quantity;
  peaks: { dtype: string; rate: Quantity }[];
}
export interface ProfileDoc {
  kind: "profile";
  version: 1;
  title: string;
  on: string;
  runs: number;
  count: number;
  call?: string;
  wall: Quantity;
  low: Quantity;
  high: Quantity;
  recorded: Quantity;
  busy: Quantity;
  together: Quantity;
  between: Quantity;
  kernels: TimedKernel[];
  lines: { position: Position; own: Bounds | null; whole: Bounds }[];
  scopes: { name: string; least: number; most: number }[];
  machine: Hardware;
  times: string;
  work: string;
  cost: Quantity;
}
export interface ComparedSide {
  title: string;
  on: string;
  donated?: string[];
  wall: Quantity;
  compile: Quantity;
  memory: Quantity;
  flops: Quantity;
  bytes: Quantity;
}
export interface ComparedKernel {
  name: string;
  kind: "fusion" | "library" | "loop" | "copy" | "other";
  opcode: string;
  operations: number;
  type: string;
  positions?: Position[];
  details?: string;
  times?: number;
}
export interface ComparedEquation { text: string; position: Position | null; times?: number }
export interface ComparisonDoc {
  kind: "comparison";
  version: 1;
  title: string;
  a: ComparedSide;
  b: ComparedSide;
  ratio: number;
  low: number;
  high: number;
  pairs: number;
  method: string;
  verdict: "faster" | "slower" | "no difference found";
  equations: { common: number; rewired?: number; a: ComparedEquation[]; b: ComparedEquation[]; only_a: number; only_b: number };
  joint?: { graph: GraphDoc; left_out: number; sources: { a: SourceDoc | null; b: SourceDoc | null } };
  kernels: { common: number; a: ComparedKernel[]; b: ComparedKernel[]; only_a: number; only_b: number };
  results: { absolute: Quantity; relative: Quantity; where: string; equal: boolean; why: string };
  cost: Quantity;
}
export interface ValueRow {
  path: string;
  result: number;
  label: string;
  type: string;
  iterations: number | null;
  devices: { count: number; alike: boolean } | null;
  first_bad: number | null;
  line: number | null;
  size: number;
  min: number | null;
  max: number | null;
  mean: number | null;
  std: number | null;
  zeros: number;
  nan: number;
  inf: number;
}
export interface ValueDetail {
  path: string;
  result: number;
  iteration: number | null;
  histogram: { low: number; high: number; log: boolean; zeros: number; counts: number[] } | null;
  picture: { rows: number; columns: number; cells: string; low: number; high: number; folded: string } | null;
  first: string[];
  parts: { place: string; min: number | null; max: number | null; mean: number | null; nan: number; inf: number }[];
}
export interface ValuesDoc {
  kind: "values";
  version: 1;
  title: string;
  sentence: string;
  rows: ValueRow[];
  first_bad: number | null;
  details: ValueDetail[];
  loops: { path: string; count: number | null; looked: string }[];
  lines: Position[];
  differs: string;
  remarks: string[];
  cost: Quantity;
}
export interface Collective {
  name: string;
  what: "all-reduce" | "all-gather" | "reduce-scatter" | "all-to-all" | "collective-permute" | "collective-broadcast" | "ragged-all-to-all";
  types: string[];
  gives: number;
  gets: number;
  groups: number[][] | null;
  axes: string[] | null;
  runs: number | null;
  paths: string[];
  seconds?: { median: number; low: number; high: number; least: number } | null;
}
export interface Laid {
  role: "argument" | "result";
  name: string;
  type: string;
  asked: string | null;
  lies: string | null;
  differs: boolean;
  part: string;
  bytes: number;
}
export interface ShardingDoc {
  kind: "sharding";
  version: 1;
  title: string;
  type: string;
  spec: string | null;
  mesh: { name: string; size: number }[];
  memory: string | null;
  devices: number;
  axes: { size: number; parts: number; along: string[] }[];
  part: string;
  bytes: number | null;
  copies: number | null;
  drawn: boolean;
  rows: number | null;
  columns: number | null;
  drawing: string[];
  tiles: { at: number[]; index: string[]; devices: string[] }[];
  left_out: number;
}
export interface CommunicationDoc {
  kind: "communication";
  version: 1;
  title: string;
  devices: number;
  mesh: { name: string; size: number }[];
  collectives: Collective[];
  values: Laid[];
  left_out: { collectives: number; values: number };
  totals: { what: "all-reduce" | "all-gather" | "reduce-scatter" | "all-to-all" | "collective-permute" | "collective-broadcast" | "ragged-all-to-all"; count: number; runs: number | null; gives: number | null }[];
  positions: Record<string, Position>;
  backward: string[];
  measured?: { runs: number; on: string };
}
export interface Mix {
  total: number;
  counts: Record<string, number>;
  reads: number;
  writes: number;
  bits: number | null;
  lanes: string;
}
export interface CodeText { text: string; left_out: number; nesting: number[][] }
export interface CodeFunction {
  name: string;
  machine: "x86-64" | "arm64";
  module: number | null;
  role: "kernel" | "comparator" | "helper" | "unknown";
  note: string;
  kernels: string[];
  lines: number[];
  share: number | null;
  written: Quantity;
  bytes: number;
  mix: Mix;
  undecoded: number;
  loops: { header: number; blocks: number[]; parent: number | null; depth: number; innermost: boolean; mix: Mix; sentence: string }[];
  hot: number | null;
  sentence: string;
  calls: { name: string; count: number }[];
  blocks: { code: string; depth: number; ways: number[] }[] | null;
  left_out: number;
}
export interface MachineDoc {
  kind: "machine";
  version: 1;
  title: string;
  opens?: "llvm" | "code";
  triple: string;
  processor: string;
  sentence: string;
  notes: string[];
  functions: CodeFunction[];
  modules: { name: string; emitter: string; values: string[]; before: CodeText | null; after: CodeText | null }[];
  kernels: { name: string; function: string | null; note: string; share: number | null; lines: number[] }[];
  positions: Position[];
  cost: Quantity;
}
export interface LedgerRow {
  id: number;
  function: string;
  signature: string;
  cell: string | null;
  cell_id: string | null;
  what: "compiled" | "recompiled" | "reused" | "loaded" | "failed";
  because: string;
  seconds: { trace: number; lower: number; compile: number };
  equations: number;
  calls: number | null;
}
export interface SmallOperation {
  operation: string;
  programs: number;
  seconds: number;
  library: string;
  cell: string | null;
  line: number | null;
  text: string;
  said: string;
}
export interface LedgerDoc {
  kind: "ledger";
  version: 1;
  rows: LedgerRow[];
  small?: { programs: number; seconds: number; sentence: string; operations: SmallOperation[] };
  recompilations?: RecompilationsDoc;
}
export type AnyDocument = SourceDoc | GraphDoc | FusionDoc | TimingDoc | RecompilationsDoc | DiagnosticsDoc | StoppedDoc | NanHuntDoc | CompilationDoc | CellDoc | TransformationsDoc | PassesDoc | MemoryDoc | ProfileDoc | ComparisonDoc | ValuesDoc | ShardingDoc | CommunicationDoc | MachineDoc | LedgerDoc;
