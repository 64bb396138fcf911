// The session's compilations as a list; the newest on top.
import type { Host, LedgerDoc, LedgerRow } from "./documents";
import { h, plural } from "./dom";
import { seconds } from "./numbers";
import type { View } from "./mount";

const SIGNS: Record<LedgerRow["what"], string> = { compiled: "●", recompiled: "▲", reused: "○", failed: "✕" };

function rowElement(row: LedgerRow, host: Host): HTMLElement {
  const cost = row.seconds.trace + row.seconds.lower + row.seconds.compile;
  const stages = `trace ${seconds(row.seconds.trace)}, lower ${seconds(row.seconds.lower)}, compile ${seconds(row.seconds.compile)}`;
  const facts = [row.what, row.cell, plural(row.equations, "equation"), plural(row.calls, "call")];
  const parts = [
    h("span", { class: "jitscope-ledger-sign", "data-what": row.what, "aria-hidden": "true" }, SIGNS[row.what] ?? "●"),
    h("strong", {}, row.function),
    h("span", { class: "jitscope-figure", title: stages }, seconds(cost)),
    h(
      "span",
      { class: "jitscope-muted jitscope-ledger-facts" },
      ...facts.flatMap((fact) => (fact ? [h("span", {}, fact), " "] : [])),
    ),
    row.because ? h("span", { class: "jitscope-ledger-because" }, row.because) : null,
  ];
  const attributes = {
    class: "jitscope-ledger-row",
    "data-id": row.id,
    "data-what": row.what,
    "data-cell": row.cell_id,
    title: row.signature,
  };
  if (!row.cell_id || !host.goto) return h("div", attributes, ...parts);
  const position = {
    file: row.cell_id,
    cell: row.cell,
    line: 1,
    end_line: 1,
    column: 0,
    end_column: 0,
    function: row.function,
    text: "",
  };
  return h(
    "button",
    {
      ...attributes,
      type: "button",
      "aria-label": `${row.function}, ${row.what}${row.cell ? `, ${row.cell}` : ""}. ${row.because}`,
      onclick: () => host.goto!(position),
    },
    ...parts,
  );
}

export function ledgerView(doc: LedgerDoc & { note?: string }, host: Host): View {
  const rows = [...doc.rows].sort((a, b) => b.id - a.id);
  const compiled = rows.filter((row) => row.what === "compiled" || row.what === "recompiled");
  const spent = compiled.reduce((sum, row) => sum + row.seconds.trace + row.seconds.lower + row.seconds.compile, 0);
  const element = h(
    "div",
    { class: "jitscope-ledger" },
    h(
      "header",
      {},
      h("h2", {}, "jitscope"),
      rows.length
        ? h("p", { class: "jitscope-muted" }, `${plural(compiled.length, "compilation")}, ${seconds(spent)}`)
        : null,
    ),
    rows.length
      ? h(
          "ul",
          { "aria-label": "Compilations of this session" },
          ...rows.map((row) => h("li", {}, rowElement(row, host))),
        )
      : h(
          "p",
          { class: "jitscope-empty" },
          doc.note ||
            "Nothing was compiled yet. Put %%jit at the top of a cell with functions, or call a function wrapped by jit.",
        ),
  );
  return { element, dispose() {} };
}
