// What kernels are called.
import type { Kernel } from "./documents";

/** "kernel 1", "loop 1", "kernel 2", …: loops are counted by themselves, the work is in the kernels that they repeat. */
export function kernelNames(kernels: Kernel[]): string[] {
  const counts = { kernel: 0, loop: 0 };
  return kernels.map(({ kind }) => {
    const word = kind === "loop" ? "loop" : "kernel";
    return `${word} ${++counts[word]}`;
  });
}
