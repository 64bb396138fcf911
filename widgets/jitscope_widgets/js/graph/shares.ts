// Which kernels compute a node, and what share of the measured time that is. A fused kernel's time is measured as a whole: a node
// that only part of a kernel comes from has a least, a most, and an estimate between them.
import type { Bounds, Kernel } from "../documents";
import { kernelNames } from "../kernels";
import { kernelPaths, touches, withKernel } from "../links";
import { middle, shareText } from "../shares";
import type { Model } from "./model";

export class Shares {
  private readonly byPath = new Map<string, number[]>();
  private readonly byName = new Map<string, number>();
  private readonly names: string[];
  private readonly known = new Map<number, Bounds | null>();
  readonly timed: boolean;

  constructor(
    private readonly model: Model,
    private readonly kernels: Kernel[],
  ) {
    this.names = kernelNames(kernels);
    this.timed = kernels.some(({ share }) => typeof share === "number");
    kernels.forEach((kernel, k) => {
      this.byName.set(kernel.name, k);
      for (const path of kernelPaths(kernel)) {
        const list = this.byPath.get(path);
        if (list) list.push(k);
        else this.byPath.set(path, [k]);
      }
    });
  }

  /** Numbers and names: "3", "kernel 3", "fusion.2". */
  kernelsOf(i: number): string[] {
    return [...this.indicesOf(i)].flatMap((k) => [
      this.names[k]!.replace(/^\w+ /, ""),
      this.names[k]!,
      this.kernels[k]!.name,
    ]);
  }

  /** Null where nothing was measured. */
  of(i: number): Bounds | null {
    if (!this.timed) return null;
    let share = this.known.get(i);
    if (share === undefined) this.known.set(i, (share = this.sum(i)));
    return share;
  }

  /** "12 %", "~ 9 %"; "" where nothing was measured or hardly any time is spent. */
  text(i: number): string {
    const share = this.of(i);
    return !share || middle(share) < 0.0005 ? "" : shareText(share);
  }

  private sum(i: number): Bounds {
    let share: Bounds = { least: 0, most: 0, estimate: 0 };
    const inside = this.pathsIn(i);
    const { id } = this.model.node(i);
    for (const k of this.indicesOf(i)) {
      const kernel = this.kernels[k]!;
      share = withKernel(share, kernel, kernel.name === id ? () => true : (path) => touches([path], inside));
    }
    return share;
  }

  /** In the optimised program a node is a kernel or part of one; in others paths tell. */
  private indicesOf(i: number): Set<number> {
    const found = new Set<number>();
    const { byName, byPath, model } = this;
    for (let at = i; at !== model.root; at = model.parent[at]!) {
      const { id, fused_into: into } = model.node(at);
      const k = byName.get(id) ?? (into === null ? undefined : byName.get(into));
      if (k !== undefined) return new Set([k]);
    }
    const add = (node: number) => {
      const k = byName.get(model.node(node).id);
      if (k !== undefined) found.add(k);
      if (model.document.level === "jaxpr")
        for (const path of pathsOf(model, node)) for (const index of byPath.get(path) ?? []) found.add(index);
      for (const child of model.allChildrenOf(node)) add(child);
    };
    add(i);
    return found;
  }

  private pathsIn(i: number): Set<string> {
    const paths = new Set(pathsOf(this.model, i));
    for (const child of this.model.allChildrenOf(i)) for (const path of this.pathsIn(child)) paths.add(path);
    return paths;
  }
}

function pathsOf(model: Model, i: number): string[] {
  const { id, paths, kind } = model.node(i);
  return paths.length || kind !== "equation" ? paths : [id];
}
