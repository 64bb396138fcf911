// What the devices of a program exchange: its collectives, and how arguments and results lie.
import type { CommunicationDoc, Host, Position } from "./documents";
import { grouped, h, plural } from "./dom";
import { linesInWords } from "./linewords";
import { isNothing, Links, Selection, touches, type Selected } from "./links";
import type { View } from "./mount";
import { bytes, seconds } from "./numbers";
import { Roving } from "./roving";
import { say, TABLES } from "./sentences";

interface Around {
  host: Host;
  links: Links;
  selection: Selection;
}

type Collective = CommunicationDoc["collectives"][number];
type Total = CommunicationDoc["totals"][number];
type Value = CommunicationDoc["values"][number];

function total({ what, count, runs, gives }: Total): string {
  if (runs === null) return say("collectives, runs unknown", { count: grouped(count), what });
  return say("collectives", { runs: grouped(runs), what, bytes: bytes(gives ?? 0) });
}

function headline({ devices, mesh, totals }: CommunicationDoc): string {
  const axes = mesh.map(({ name, size }) => `${name} ${size}`).join(" × ");
  const over = axes ? say("devices", { devices: plural(devices, "device"), axes }) : plural(devices, "device");
  return totals.length ? say("exchanged", { devices: over, totals: totals.map(total).join("; ") }) : say("nothing exchanged", { devices: over });
}

function among({ axes, groups, what }: Collective): string {
  if (axes?.length) return say("along", { axes: axes.join(", ") });
  if (!groups) return say("between unknown");
  const shown = groups.slice(0, 4).map((group) => `{${group.join(what === "collective-permute" ? "→" : ",")}}`);
  return say("between", { groups: shown.join(" ") + (groups.length > 4 ? " …" : "") });
}

function types({ types: of }: Collective): string {
  return of.length > 3 ? `${of.slice(0, 3).join(", ")} and ${of.length - 3} more` : of.join(", ");
}

function lies({ role, asked, lies: found, differs }: Value): string {
  const has = found ?? "unknown";
  if (asked === null) return role === "result" ? say("not asked", { found: has }) : has;
  if (differs) return say("differs", { found: has, asked });
  return say(role === "result" ? "as asked" : "as given", { found: has });
}

function note({ measured }: CommunicationDoc): string {
  if (!measured) return say("times not measured", { bytes: say("bytes") });
  return say("times measured", { bytes: say("bytes"), ...measured });
}

function spread({ seconds: took }: Collective): string {
  return took ? `, ${say("spread", { low: seconds(took.low), high: seconds(took.high), least: seconds(took.least) })}` : "";
}

function leftOut({ left_out: { collectives, values } }: CommunicationDoc): string {
  const parts = [collectives ? `${grouped(collectives)} more collectives` : "", values ? `${grouped(values)} more arguments and results` : ""].filter(Boolean);
  return parts.length ? say("not kept", { what: parts.join(" and ") }) : "";
}

function ofPasses(lines: string, paths: string[], backward: Set<string>): string {
  const count = paths.filter((path) => backward.has(path)).length;
  return count ? say(count === paths.length ? "backward" : "partly backward", { lines }) : lines;
}

class CommunicationView {
  readonly element: HTMLElement;
  private readonly rows: HTMLElement;
  private readonly several: boolean;
  private readonly backward: Set<string>;
  private picked: number | null = null;

  constructor(
    private readonly doc: CommunicationDoc,
    private readonly around: Around,
  ) {
    this.several = new Set(Object.values(doc.positions).map(({ file }) => file)).size > 1;
    this.backward = new Set(doc.backward);
    this.rows = h("div", { class: "jitscope-communication-rows", role: "listbox", "aria-label": "Collectives" });
    this.rows.append(h("div", { class: "jitscope-communication-names", role: "presentation" }, ...TABLES["columns of collectives"].map((name) => h("span", {}, name))));
    this.rows.append(...doc.collectives.map((one, n) => this.row(one, n)));
    this.rows.querySelector(".jitscope-communication-row")?.setAttribute("tabindex", "0");
    const rest = leftOut(doc);
    this.element = h(
      "div",
      { class: "jitscope-communication" },
      h("p", { class: "jitscope-sentence" }, headline(doc)),
      ...(doc.collectives.length ? [this.rows, h("p", { class: "jitscope-muted" }, note(doc))] : []),
      ...(doc.values.length ? [h("h4", {}, "Shardings of arguments and results"), this.values()] : []),
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
    const lines = ofPasses(linesInWords(positions, this.several), one.paths, this.backward);
    const texts = [...new Set(positions.map(({ text }) => text.trim()))];
    return texts.length === 1 ? `${lines}: ${texts[0]}` : lines;
  }

  private row(one: Collective, n: number): HTMLElement {
    const count = one.runs === null ? "× unknown" : `×${grouped(one.runs)}`;
    const runs = one.seconds ? `${count}, ${seconds(one.seconds.median)}` : count;
    const told = `${one.what} (${TABLES.collectives[one.what]}), ${runs}${spread(one)}, ${bytes(one.gives)} → ${bytes(one.gets)}, ${among(one)}, of ${one.types.join(", ")}, ${this.place(one)}; instruction ${one.name}`;
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
    const head = h("tr", {}, ...TABLES["columns of layouts"].map((name) => h("th", { scope: "col" }, name)));
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
    return h("div", { class: "jitscope-communication-values", tabindex: 0, role: "region", "aria-label": "Shardings of arguments and results" }, h("table", {}, h("tbody", {}, head, ...rows)));
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
