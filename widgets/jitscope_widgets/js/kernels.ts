// The kernels of the compiled program, with the operations that each of them took in.
import table from "../looks.json";
import { lineNumber } from "./calls";
import type { Boundary, Kernel } from "./documents";
import { grouped, h, plural } from "./dom";
import { swatch } from "./hue";
import { hlo } from "./highlight";
import type { Links, Selection } from "./links";
import { percent } from "./numbers";
import { say } from "./sentences";

const KINDS: Record<Kernel["kind"], [string, string]> = {
  fusion: ["▣", "fusion"],
  library: ["⬡", "library call"],
  loop: ["↻", "loop"],
  copy: ["◇", "copy"],
  other: ["□", "operation"],
};

const MOVES = new Set(table.moves);
const COUNTER = /^(pred|[su]\d+)\[\]/;
const FIRST = 12; // kernels shown at first
const MOST_BOUNDARIES = 20; // of one kernel
const AT_ONCE = 60; // kernels made before anyone asks

export function what(kernel: Kernel): string {
  const [, word] = KINDS[kernel.kind] ?? KINDS.other;
  if (kernel.kind === "fusion") return `fusion of ${grouped(kernel.members.length)}`;
  return word === kernel.opcode ? word : `${word}: ${kernel.opcode}`;
}

function lineList(kernel: Kernel, links: Links): HTMLElement {
  const lines = links.linesOf(kernel).sort((a, b) => a - b);
  const names = [...new Set(lines.map((line) => links.nameOf(line)))];
  const inFunction = (name: string, at: number) => {
    const own = lines.filter((line) => links.nameOf(line) === name);
    const end = (i: number) => (i === own.length - 1 && at < names.length - 1 ? ";" : "");
    return [
      [name && `${name},`, own.length > 1 ? "lines" : "line"].filter(Boolean).join(" "),
      ...own.flatMap((line, i) => [swatch(links.hue(line)), h("span", {}, lineNumber(line) + end(i))]),
    ];
  };
  return h(
    "span",
    { class: "jitscope-kernel-lines" },
    ...(lines.length ? names.flatMap(inFunction) : [kernel.kind === "copy" && !kernel.paths.length ? "added by XLA" : "origin unknown"]),
  );
}

function memberList(kernel: Kernel, links: Links, selection: Selection): HTMLElement {
  const members = kernel.members.map((member) =>
    h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: "jitscope-member",
          "data-member": member.name,
          "data-opcode": member.opcode,
          title: `${member.name}  ${member.type}`,
          onclick: () => selection.set(links.fromPaths(member.paths)),
        },
        h("span", {}, member.opcode),
        h("span", { class: "jitscope-muted" }, member.type),
      ),
    ),
  );
  return h("ul", { class: "jitscope-members" }, ...members);
}

/** "kernel 1", "loop 1", "kernel 2", …: loops are counted by themselves, the work is in the kernels that they repeat. */
export function kernelNames(kernels: Kernel[]): string[] {
  const counts = { kernel: 0, loop: 0 };
  return kernels.map(({ kind }) => {
    const word = kind === "loop" ? "loop" : "kernel";
    return `${word} ${++counts[word]}`;
  });
}

/** A printed type; of a tuple of many, such as what a loop hands on, the first (words.py does the same). */
function typeWords(type: string): string {
  const parts = type.startsWith("(") ? (type.match(/\w+\[[^\]]*\](\{[^}]*\})?/g) ?? []) : [];
  return parts.length > 5 ? `(${parts.slice(0, 3).join(", ")}, … ${parts.length - 3} more)` : type;
}

const onlyMoves = ({ kind, members }: Kernel): boolean =>
  kind !== "loop" && members.length > 0 && members.every(({ opcode, type }) => MOVES.has(opcode) || COUNTER.test(type));

/** The kernels with their names as they are listed, and what is said of that order (kernel_order.py does the same). */
export function listed(kernels: Kernel[]): { named: [string, Kernel][]; said: string } {
  const share = (kernel: Kernel) => kernel.share ?? 0;
  const timed = kernels.some(share);
  const names = kernelNames(kernels);
  const named = kernels
    .map((kernel, i): [string, Kernel] => [names[i]!, kernel])
    .sort(([, a], [, b]) => (timed ? share(b) - share(a) : Number(onlyMoves(a)) - Number(onlyMoves(b))));
  if (named.every(([, kernel], i) => kernel === kernels[i])) return { named, said: "" };
  return { named, said: say(timed ? "kernels by time" : "kernels by kind") };
}

/** What stands between this kernel and those that read it or that it reads. */
function boundaryList(kernel: Kernel, boundaries: Boundary[], named: Map<string, string>, selection: Selection): HTMLElement | null {
  const own = boundaries.filter(({ from, to }) => named.has(from) && named.has(to) && (from === kernel.name || to === kernel.name));
  if (!own.length) return null;
  const items = own.slice(0, MOST_BOUNDARIES).map(({ from, to, observed }) => {
    const other = from === kernel.name ? to : from;
    const pick = () => selection.set({ ...selection.current, kernels: new Set([kernel.name, other]) });
    const seen = observed.map(({ text }) => text).join("; ") || say("nothing seen");
    const way = from === kernel.name ? "which reads it" : "which it reads";
    return h("li", {}, h("button", { type: "button", class: "jitscope-link", onclick: pick }, named.get(other)!), `, ${way}: ${seen}`);
  });
  const more = own.length - items.length;
  return h(
    "details",
    { class: "jitscope-boundaries" },
    h("summary", {}, `Not fused with ${plural(own.length, "neighbour")}`),
    h("p", { class: "jitscope-muted" }, say("seen between")),
    h("ul", {}, ...items, more ? h("li", { class: "jitscope-muted" }, `and ${grouped(more)} more`) : null),
  );
}

function kernelElement(kernel: Kernel, name: string, links: Links, selection: Selection, neighbours: () => HTMLElement | null): HTMLElement {
  const [sign] = KINDS[kernel.kind] ?? KINDS.other;
  const place = h("div", {});
  const summary = h(
    "summary",
    {},
    h("span", { class: "jitscope-kernel-sign", "aria-hidden": "true" }, sign),
    h("span", { class: "jitscope-kernel-number" }, name),
    h("span", { class: "jitscope-kernel-what" }, what(kernel)),
    h("code", { class: "jitscope-kernel-type", title: kernel.type }, typeWords(kernel.type)),
    typeof kernel.share === "number"
      ? h("span", { class: "jitscope-kernel-share", title: "share of the measured time of all kernels" }, percent(kernel.share))
      : null,
    lineList(kernel, links),
  );
  const element = h(
    "details",
    { class: "jitscope-kernel", "data-kernel": kernel.name, "data-kind": kernel.kind },
    summary,
    h(
      "div",
      { class: "jitscope-kernel-body" },
      kernel.note ? h("p", {}, kernel.note) : null,
      h(
        "p",
        { class: "jitscope-muted" },
        h("code", {}, kernel.name),
        ` · ${plural(kernel.members.length, "operation")}`,
      ),
      kernel.members.length ? memberList(kernel, links, selection) : null,
      place,
      kernel.text
        ? h(
            "pre",
            { class: "jitscope-program" },
            hlo(kernel.text.length > 4000 ? kernel.text.slice(0, 4000) + " …" : kernel.text),
          )
        : null,
    ),
  );
  element.addEventListener("toggle", () => element.open && !place.hasChildNodes() && place.append(neighbours() ?? ""), { once: true });
  summary.addEventListener("click", () => selection.set(links.fromKernel(kernel)));
  selection.onChange(({ kernels }) => element.toggleAttribute("data-related", kernels.has(kernel.name)));
  return element;
}

export function kernelList(kernels: Kernel[], links: Links, selection: Selection, boundaries: Boundary[] = []): HTMLElement {
  if (!kernels.length)
    return h(
      "p",
      { class: "jitscope-empty" },
      "This program needs no kernel: its results are its arguments or constants.",
    );
  const { named, said } = listed(kernels);
  const names = new Map(named.map(([name, kernel]) => [kernel.name, name]));
  const make = (from: number, to: number) =>
    named
      .slice(from, to)
      .map(([name, kernel]) =>
        kernelElement(kernel, name, links, selection, () => boundaryList(kernel, boundaries, names, selection)),
      );
  const list = h("div", { class: "jitscope-kernels" }, ...make(0, kernels.length > FIRST + 3 ? FIRST : kernels.length));
  if (kernels.length > FIRST + 3) list.append(...rest(kernels.length, make));
  return said ? h("div", {}, h("p", { class: "jitscope-muted" }, said), list) : list;
}

/** The kernels after the first few, behind a button. */
function rest(count: number, make: (from: number, to: number) => HTMLElement[]): HTMLElement[] {
  const made = Math.min(count, AT_ONCE);
  const more = h("div", { hidden: true }, ...make(FIRST, made));
  const button = h("button", { type: "button", class: "jitscope-fold" }, `${grouped(count - FIRST)} more`);
  button.addEventListener("click", () => {
    button.remove();
    more.hidden = false;
    if (made < count) more.append(...make(made, count));
    more.querySelector("summary")?.focus();
  });
  return [more, button];
}
