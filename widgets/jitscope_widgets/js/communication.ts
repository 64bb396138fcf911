// What the devices of a program exchange: its collectives, and how arguments and results lie.
import type { CommunicationDoc, Host, Position } from "./documents";
import { grouped, h, plural } from "./dom";
import { isNothing, Links, Selection, touches, type Selected } from "./links";
import type { View } from "./mount";
import { bytes, seconds } from "./numbers";
import { Roving } from "./roving";

interface Around {
  host: Host;
  links: Links;
  selection: Selection;
}

type Collective = CommunicationDoc["collectives"][number];
type Total = CommunicationDoc["totals"][number];
type Value = CommunicationDoc["values"][number];

const MEANING: Record<Collective["what"], string> = {
  "all-reduce": "adds (or takes the largest of) what devices have; each gets the result",
  "all-gather": "each device gets the parts of all",
  "reduce-scatter": "adds what devices have; each gets one part of the result",
  "all-to-all": "each device sends another part to each other one",
  "collective-permute": "each device sends what it has to one other",
  "collective-broadcast": "one device sends what it has to all",
  "ragged-all-to-all": "each device sends parts of different sizes to the others",
};

function total({ what, count, runs, gives }: Total): string {
  if (runs === null) return `${grouped(count)} × ${what} in the program, how often they run is not known`;
  return `${grouped(runs)} × ${what}, ${bytes(gives ?? 0)} from each device`;
}

function headline({ devices, mesh, totals }: CommunicationDoc): string {
  const axes = mesh.map(({ name, size }) => `${name} ${size}`).join(" × ");
  const said = totals.length ? `In one run: ${totals.map(total).join("; ")}.` : "The devices exchange nothing.";
  return `${plural(devices, "device")}${axes ? ` (${axes})` : ""}. ${said}`;
}

function among({ axes, groups, what }: Collective): string {
  if (axes?.length) return `along ${axes.join(", ")}`;
  if (!groups) return "between devices that are not known";
  const shown = groups.slice(0, 4).map((group) => `{${group.join(what === "collective-permute" ? "→" : ",")}}`);
  return `between ${shown.join(" ")}${groups.length > 4 ? " …" : ""}`;
}

function types({ types: of }: Collective): string {
  return of.length > 3 ? `${of.slice(0, 3).join(", ")} and ${of.length - 3} more` : of.join(", ");
}

function lies({ role, asked, lies: found, differs }: Value): string {
  const has = found ?? "unknown";
  if (asked === null) return role === "result" ? `${has}, not asked of jit` : has;
  if (differs) return `${has}, though ${asked} was asked`;
  return `${has}, as ${role === "result" ? "asked" : "given"}`;
}

const BYTES = "Bytes are those that one device gives and gets in one run of the collective, by the types in the optimised program";

function note({ measured }: CommunicationDoc): string {
  if (!measured) return `${BYTES}; times were not measured (%communication --measure).`;
  return `${BYTES}. Times are what a device spends in all runs of it in one run of the program, waiting for others included: the median of ${measured.runs} measured runs on ${measured.on}.`;
}

function spread({ seconds: took }: Collective): string {
  return took ? `, 10th to 90th percentile ${seconds(took.low)} to ${seconds(took.high)}, ${seconds(took.least)} on the device that waits least` : "";
}

function leftOut({ left_out: { collectives, values } }: CommunicationDoc): string {
  const parts = [collectives ? `${grouped(collectives)} more collectives` : "", values ? `${grouped(values)} more arguments and results` : ""].filter(Boolean);
  return parts.length ? `${parts.join(" and ")} are not kept in this document.` : "";
}

class CommunicationView {
  readonly element: HTMLElement;
  private readonly rows: HTMLElement;
  private readonly several: boolean;
  private picked: number | null = null;

  constructor(
    private readonly doc: CommunicationDoc,
    private readonly around: Around,
  ) {
    this.several = new Set(Object.values(doc.positions).map(({ file }) => file)).size > 1;
    this.rows = h("div", { class: "jitscope-communication-rows", role: "listbox", "aria-label": "Collectives" });
    const names = ["collective", "runs", "a device gives → gets", "devices", "of", "written in"];
    this.rows.append(h("div", { class: "jitscope-communication-names", role: "presentation" }, ...names.map((name) => h("span", {}, name))));
    this.rows.append(...doc.collectives.map((one, n) => this.row(one, n)));
    this.rows.querySelector(".jitscope-communication-row")?.setAttribute("tabindex", "0");
    const rest = leftOut(doc);
    this.element = h(
      "div",
      { class: "jitscope-communication" },
      h("p", { class: "jitscope-sentence" }, headline(doc)),
      ...(doc.collectives.length ? [this.rows, h("p", { class: "jitscope-muted" }, note(doc))] : []),
      ...(doc.values.length ? [h("h4", {}, "How arguments and results lie"), this.values()] : []),
      rest ? h("p", { class: "jitscope-muted" }, rest) : null,
    );
    new Roving(this.rows, ".jitscope-communication-row", (row) => this.pick(Number(row.dataset.collective)), () => (around.selection.clear(), (this.picked = null)));
    around.selection.onChange((selected) => this.mark(selected));
    this.mark(around.selection.current);
  }

  private positions({ paths }: Collective): Position[] {
    return paths.flatMap((path) => this.doc.positions[path] ?? []);
  }

  /** The lines it stems from; the text of the line where that is one. */
  private place(one: Collective): string {
    const positions = this.positions(one);
    if (!positions.length) return "line unknown";
    const home = ({ cell, file, line }: Position) => (this.several ? `${cell ?? file.split(/[\\/]/).pop()} line ${line}` : `line ${line}`);
    const lines = [...new Set(positions.map(home))];
    const texts = [...new Set(positions.map(({ text }) => text.trim()))];
    return texts.length === 1 ? `${lines.join(", ")}: ${texts[0]}` : lines.join(", ");
  }

  private row(one: Collective, n: number): HTMLElement {
    const count = one.runs === null ? "× unknown" : `×${grouped(one.runs)}`;
    const runs = one.seconds ? `${count}, ${seconds(one.seconds.median)}` : count;
    const told = `${one.what} (${MEANING[one.what]}), ${runs}${spread(one)}, ${bytes(one.gives)} → ${bytes(one.gets)}, ${among(one)}, of ${one.types.join(", ")}, ${this.place(one)}; instruction ${one.name}`;
    return h(
      "div",
      { class: "jitscope-communication-row", role: "option", "aria-selected": "false", "data-collective": n, tabindex: -1, title: told },
      h("strong", {}, one.what),
      h("span", {}, runs),
      h("span", { class: "jitscope-communication-bytes" }, `${bytes(one.gives)} → ${bytes(one.gets)}`),
      h("span", {}, among(one)),
      h("code", {}, types(one)),
      h("code", {}, this.place(one)),
    );
  }

  private values(): HTMLElement {
    const head = h("tr", {}, ...["argument or result", "lies as", "each device has", "size"].map((name) => h("th", { scope: "col" }, name)));
    const rows = this.doc.values.map((value) =>
      h(
        "tr",
        { "data-differs": value.differs ? "" : null },
        h("td", {}, value.name, " ", h("code", {}, value.type)),
        h("td", {}, lies(value)),
        h("td", {}, h("code", {}, value.part)),
        h("td", { class: "jitscope-communication-bytes" }, bytes(value.bytes)),
      ),
    );
    return h("div", { class: "jitscope-communication-values", tabindex: 0, role: "region", "aria-label": "How arguments and results lie" }, h("table", {}, h("tbody", {}, head, ...rows)));
  }

  private pick(n: number): void {
    const one = this.doc.collectives[n];
    if (!one) return;
    this.picked = n;
    const { links, selection, host } = this.around;
    const [path] = one.paths;
    if (path === undefined) selection.clear();
    else selection.set(links.fromPath(path));
    const [position] = this.positions(one);
    if (position) host.goto?.(position);
  }

  private mark(selected: Selected): void {
    if (isNothing(selected)) this.picked = null;
    for (const row of this.rows.querySelectorAll<HTMLElement>(".jitscope-communication-row")) {
      const n = Number(row.dataset.collective);
      const related = !isNothing(selected) && (n === this.picked || touches(this.doc.collectives[n]!.paths, selected.paths));
      row.toggleAttribute("data-related", related);
      row.setAttribute("aria-selected", String(related));
    }
  }
}

export function communicationView(doc: CommunicationDoc, around: Around): View {
  return { element: new CommunicationView(doc, around).element, dispose() {} };
}

/** The document by itself. */
export function communicationAlone(doc: CommunicationDoc, host: Host): View {
  return communicationView(doc, { host, links: new Links(null, null), selection: new Selection() });
}
