// What was measured of kernels and lines, in words and bars that several views share.
import type { Bounds, CompilationDoc, ProfileDoc, TimedKernel } from "./documents";
import { grouped, h, plural } from "./dom";
import { percent, seconds, withUnit } from "./numbers";
import { say } from "./sentences";

export const BOUNDS: Record<NonNullable<TimedKernel["bound"]>, [string, string]> = {
  memory: ["◆", "moving its bytes would take at least half of its time at this machine's rates, and longer than its arithmetic"],
  arithmetic: ["▲", "its arithmetic would take at least half of its time at this machine's rates, and longer than moving its bytes"],
  overhead: ["●", "a kernel that computes one element takes at least half as long"],
  neither: ["○", "at this machine's rates, neither moving its bytes nor its arithmetic would take half of its time"],
  unknown: ["?", "what it moves or computes is not known"],
};

/** A full bar up to the least, a hatched one from there to the most. */
export function shareBar({ least, most }: Bounds, whole: number): HTMLElement {
  const style = { "--least": `${(100 * least) / (whole || 1)}%`, "--most": `${(100 * most) / (whole || 1)}%` };
  return h("span", { class: "jitscope-share-bar", style, "aria-hidden": "true" });
}

/** The part of the time of a kernel's fast runs that its bytes or operations explain at the machine's rates. */
export function explained({ needs, fast }: TimedKernel): number | null {
  return needs === null || !fast ? null : needs / fast;
}

/** "memory 61 %": what bounds a kernel, and how much of its time that explains; "neither: arithmetic 12 %": what comes nearest. */
export function boundText(kernel: TimedKernel): string {
  const part = explained(kernel);
  if (kernel.bound === null || part === null || kernel.bound === "overhead") return kernel.bound ?? "";
  const shown = part <= 1 ? percent(part) : `over ${percent(1)}`;
  return kernel.bound === "neither" ? `neither: ${kernel.nearest} ${shown}` : `${kernel.bound} ${shown}`;
}

export function whyBound(kernel: TimedKernel): string {
  if (kernel.why || !kernel.bound) return kernel.why;
  return (explained(kernel) ?? 0) > 1 ? say("faster than measured") : BOUNDS[kernel.bound][1];
}

/** The kernels that a call's time is made up of: "12 kernels", "10 of 12 kernels", "12 kernels and 1 loop". */
export function timedText(doc: ProfileDoc): string {
  const timed = doc.kernels.filter(({ share }) => share !== null);
  const loops = timed.filter(({ kind }) => kind === "loop").length;
  const shown = timed.length - loops;
  const all = plural(doc.count, "kernel");
  const kernels = shown < doc.count ? say("some of the kernels", { shown: grouped(shown), kernels: all }) : all;
  return loops ? say("and loops in one piece", { kernels, loops: plural(loops, "loop") }) : kernels;
}

/** "40 × 2.75 µs", on average: together they are `total`. */
export function runText({ runs, total }: TimedKernel): string {
  return `${runs === 1 ? "" : `${withUnit(runs, "")} × `}${seconds(total / runs)}`;
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
