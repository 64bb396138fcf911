// What was measured of kernels and lines, in words and bars that several views share.
import type { Bounds, CompilationDoc, TimedKernel } from "./documents";
import { grouped, h } from "./dom";

export const BOUNDS: Record<NonNullable<TimedKernel["bound"]>, [string, string]> = {
  memory: ["◆", "at this machine's rates, moving its bytes would take longer than its arithmetic"],
  arithmetic: ["▲", "at this machine's rates, its arithmetic would take longer than moving its bytes"],
  overhead: ["●", "at this machine's rates, neither would take a tenth of its time"],
  unknown: ["?", "what it moves or computes is not known"],
};

/** A full bar up to the least, a hatched one from there to the most. */
export function shareBar({ least, most }: Bounds, whole: number): HTMLElement {
  const style = { "--least": `${(100 * least) / (whole || 1)}%`, "--most": `${(100 * most) / (whole || 1)}%` };
  return h("span", { class: "jitscope-share-bar", style, "aria-hidden": "true" });
}

/** The part of the time of a kernel's fast runs that its bytes or operations explain at the machine's rates. */
export function explained({ needs, low }: TimedKernel): number | null {
  return needs === null || !low ? null : Math.min(1, needs / low);
}

export function whatOf(kernel: TimedKernel): string {
  if (kernel.kind === "fusion") return `fusion of ${grouped(kernel.operations)}`;
  return kernel.kind === "library" ? `${kernel.opcode} (library call)` : kernel.opcode;
}

/** The shares that a profile measured, for the kernels of its compilation. */
export function takeShares({ fusion, instruments }: CompilationDoc): void {
  const shares = new Map(instruments?.profile?.kernels.map(({ name, share }) => [name, share]));
  for (const kernel of fusion?.kernels ?? []) if (shares.has(kernel.name)) kernel.share = shares.get(kernel.name)!;
}
