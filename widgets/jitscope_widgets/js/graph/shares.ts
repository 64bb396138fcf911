// Which kernels compute a node, and what share of the measured time that is. A fused kernel's time is measured as a whole: a node
// that only part of a kernel comes from has a least, a most, and an estimate between them. The share of what is round several kernels is
// that of its equations, in all levels; what XLA made beside them (copies for a loop) is told apart.
import type { Bounds, Kernel } from "../documents";
import { kernelNames } from "../kernels";
import { kernelPaths, touches, withKernel } from "../links";
import { percent } from "../numbers";
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

  /** "12 %", "~ 9 %", "~ 69 % + 30 % copies"; "" where nothing was measured or hardly any time is spent. */
  text(i: number): string {
    const share = this.of(i);
    if (!share) return "";
    const told = middle(share) < 0.0005 ? [] : [shareText(share)];
    const { part, isCopies } = this.beside(i, share);
    if (part >= 0.0005) told.push(`${percent(part)} ${isCopies ? "copies" : "others"}`);
    return told.join(" + ");
  }

  private sum(i: number): Bounds {
    let share: Bounds = { least: 0, most: 0, estimate: 0 };
    const inside = this.pathsOfAll(i);
    const { id } = this.model.node(i);
    for (const k of this.indicesOf(i)) {
      const kernel = this.kernels[k]!;
      if (typeof kernel.share !== "number") continue;
      if (kernel.name === id) share = withKernel(share, kernel, () => true);
      else if (kernelPaths(kernel).length) share = withKernel(share, kernel, (path) => touches([path], inside));
    }
    return share;
  }

  /** What kernels in a node of XLA's graphs take beside its equations: copies of no equation, and parts that are other equations'. */
  private beside(i: number, { least, most, estimate }: Bounds): { part: number; isCopies: boolean } {
    if (this.model.document.level === "jaxpr" || this.kernelOf(i) !== undefined) return { part: 0, isCopies: false };
    const own = [...this.indicesOf(i)].map((k) => this.kernels[k]!);
    const made = own.filter((kernel) => !kernelPaths(kernel).length);
    const ofOthers = estimate === undefined || least === most ? 0 : most - estimate;
    const isCopies = made.every(({ kind }) => kind === "copy") && ofOthers < 0.0005;
    return { part: ofOthers + made.reduce((sum, { share }) => sum + (share ?? 0), 0), isCopies };
  }

  /** The kernel that a node is, or is in. A loop whose kernels were timed is what is round them. */
  private kernelOf(i: number): number | undefined {
    const { byName, kernels, model } = this;
    for (let at = i; at !== model.root; at = model.parent[at]!) {
      const { id, fused_into: into } = model.node(at);
      const k = byName.get(id) ?? (into === null ? undefined : byName.get(into));
      if (k !== undefined && (kernels[k]!.kind !== "loop" || typeof kernels[k]!.share === "number")) return k;
    }
    return undefined;
  }

  /** In the optimised program a node is a kernel or part of one; in others paths tell. */
  private indicesOf(i: number): Set<number> {
    const found = new Set<number>();
    const { byName, byPath, model } = this;
    const kernel = this.kernelOf(i);
    if (kernel !== undefined) return new Set([kernel]);
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

  /** Of a group of XLA's only those of its own equations. */
  private pathsOfAll(i: number): Set<string> {
    const paths = this.pathsIn(i);
    for (const path of this.model.node(i).others ?? []) paths.delete(path);
    return paths;
  }

  private pathsIn(i: number, found = new Set<string>()): Set<string> {
    for (const path of pathsOf(this.model, i)) found.add(path);
    for (const child of this.model.allChildrenOf(i)) this.pathsIn(child, found);
    return found;
  }
}

function pathsOf(model: Model, i: number): string[] {
  const { id, paths, kind } = model.node(i);
  return paths.length || kind !== "equation" ? paths : [id];
}
