// What a profile measured of kernels, where other views look for it.
import type { CompilationDoc, Kernel } from "./documents";

const parts = new WeakMap<Kernel, Record<string, number>>();

/** The estimated part of a kernel's time that each of its equations takes; undefined where it was not profiled, or computes one alone. */
export const equationsOf = (kernel: Kernel): Record<string, number> | undefined => parts.get(kernel);

/** The shares that a profile measured, and how it splits them, for the kernels of its compilation. */
export function takeShares({ fusion, instruments }: CompilationDoc): void {
  const timed = new Map(instruments?.profile?.kernels.map((kernel) => [kernel.name, kernel]));
  for (const kernel of fusion?.kernels ?? []) {
    const found = timed.get(kernel.name);
    if (!found) continue;
    kernel.share = found.share;
    if (found.equations) parts.set(kernel, found.equations);
  }
}
