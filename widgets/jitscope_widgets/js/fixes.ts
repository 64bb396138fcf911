// A fix: what to do in words, what its edits make of the lines, and one button that makes them. JupyterLab listens to the
// event and edits the cell; elsewhere the new lines are copied.
import type { Edit, Fix } from "./documents";
import { h, prose } from "./dom";
import { python } from "./highlight";

const APPLY = "jitscope:apply";

/** What the button asks for. Whoever edits the cell prevents the event's default, and tells how it went. */
export interface ApplyRequest {
  /** The cell's id. */
  cell: string;
  edits: Edit[];
  /** The lines from the first edit's to the last edit's, as they were run; null where nobody knows them. */
  before: string[] | null;
  tell(sentence: string, done: boolean): void;
}

interface Changed {
  sign: "-" | "+" | " " | "…";
  number: number | null;
  text: string;
}

const AROUND = 2; // unchanged lines that are kept beside a changed one
const MOST = 400; // lines that are compared each with each

const firstLine = (fix: Fix): number => Math.min(...fix.edits.map(({ line }) => line));
const lastLine = (fix: Fix): number => Math.max(...fix.edits.map(({ end_line }) => end_line));

export function before(fix: Fix): string[] | null {
  if (fix.before || !fix.edits.length) return fix.before ?? null;
  const [first, last] = [firstLine(fix), lastLine(fix)];
  return first === last && fix.position?.line === first && fix.position.text ? [fix.position.text] : null;
}

/** Columns count characters as Python does, not UTF-16 units. */
export function unitsOf(text: string, column: number): number {
  if (!/[\ud800-\udbff]/.test(text)) return Math.min(column, text.length);
  return [...text].slice(0, column).join("").length;
}

/** The lines with the edits made in them; `first` is the number of their first. */
export function edited(lines: string[], edits: Edit[], first: number): string[] {
  const made = [...lines];
  for (const edit of [...edits].sort((a, b) => b.line - a.line || b.column - a.column)) {
    const [start, end] = [edit.line - first, edit.end_line - first];
    const [from, to] = [made[start] ?? "", made[end] ?? ""];
    const text = from.slice(0, unitsOf(from, edit.column)) + edit.text + to.slice(unitsOf(to, edit.end_column));
    made.splice(start, end - start + 1, ...text.split("\n"));
  }
  return made;
}

export function difference(fix: Fix): Changed[] {
  const old = before(fix);
  return old ? folded(compared(old, edited(old, fix.edits, firstLine(fix)), firstLine(fix))) : [];
}

function compared(old: string[], now: string[], first: number): Changed[] {
  const least = Math.min(old.length, now.length);
  let [head, tail] = [0, 0];
  while (head < least && old[head] === now[head]) head++;
  while (tail < least - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const stays = (at: number): Changed => ({ sign: " ", number: first + at, text: old[at]! });
  return [
    ...Array.from({ length: head }, (_, at) => stays(at)),
    ...middle(old.slice(head, old.length - tail), now.slice(head, now.length - tail), first + head),
    ...Array.from({ length: tail }, (_, at) => stays(old.length - tail + at)),
  ];
}

/** By the longest common subsequence of lines. */
function middle(old: string[], now: string[], first: number): Changed[] {
  const common = old.length > MOST || now.length > MOST ? null : table(old, now);
  const [gone, come]: Changed[][] = [[], []];
  const found: Changed[] = [];
  const flush = () => found.push(...gone!.splice(0), ...come!.splice(0));
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (common && i < old.length && j < now.length && old[i] === now[j]) {
      flush();
      found.push({ sign: " ", number: first + i, text: old[i]! });
      [i, j] = [i + 1, j + 1];
    } else if (j >= now.length || (i < old.length && (!common || common[i + 1]![j]! >= common[i]![j + 1]!))) {
      gone!.push({ sign: "-", number: first + i, text: old[i++]! });
    } else come!.push({ sign: "+", number: null, text: now[j++]! });
  }
  flush();
  return found;
}

function table(old: string[], now: string[]): number[][] {
  const longest = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      longest[i]![j] =
        old[i] === now[j] ? longest[i + 1]![j + 1]! + 1 : Math.max(longest[i + 1]![j]!, longest[i]![j + 1]!);
  return longest;
}

function folded(lines: Changed[]): Changed[] {
  const changed = lines.flatMap((line, at) => (line.sign === " " ? [] : [at]));
  const kept = (at: number) => changed.some((other) => Math.abs(other - at) <= AROUND);
  return lines.flatMap((line, at): Changed[] => {
    if (kept(at)) return [line];
    return at === 0 || kept(at - 1) ? [{ sign: "…", number: null, text: "" }] : [];
  });
}

const SAID: Record<Changed["sign"], string> = { "-": "removed: ", "+": "added: ", " ": "", "…": "unchanged lines" };

function differenceElement(fix: Fix): HTMLElement | null {
  const lines = difference(fix);
  if (!lines.length) return null;
  const indents = lines.filter(({ text }) => text.trim()).map(({ text }) => text.length - text.trimStart().length);
  const indent = Math.min(...indents); // what all lines have in common says nothing
  return h(
    "div.jitscope-fix-lines",
    { role: "group", "aria-label": "What the fix changes" },
    ...lines.map(({ sign, number, text }) =>
      h(
        "div.jitscope-fix-line",
        { "data-sign": sign },
        h("span.jitscope-fix-number", { "aria-hidden": "true" }, number),
        h("span.jitscope-fix-sign", { "aria-hidden": "true" }, sign === "-" ? "−" : sign),
        h("code", SAID[sign] ? h("span.jitscope-hidden", SAID[sign]) : null, python(text.slice(indent))),
      ),
    ),
  );
}

const places = (fix: Fix): string => {
  const [first, last] = [firstLine(fix), lastLine(fix)];
  const lines = first === last ? `line ${first}` : `lines ${first} to ${last}`;
  return fix.position?.cell ? `${lines} of ${fix.position.cell}` : lines;
};

async function copy(fix: Fix): Promise<string> {
  const old = before(fix);
  const text = old ? edited(old, fix.edits, firstLine(fix)) : fix.edits.map((edit) => edit.text);
  try {
    await navigator.clipboard.writeText(text.join("\n"));
  } catch {
    return "The browser does not let this page copy. Select the new lines above and copy them.";
  }
  return old ? `Copied. Paste it over ${places(fix)}.` : `Copied: the new text for ${places(fix)}.`;
}

/** The button of some edits of a cell, and the line that says how it went. */
export function applyButton(fix: Fix, label: string, kind = "jitscope-button"): HTMLElement[] {
  const status = h("span.jitscope-muted", { role: "status" });
  const button = h("button", { class: kind }, label);
  const tell = (sentence: string, done: boolean) => {
    status.textContent = sentence;
    // not disabled: that would take the focus away
    if (done) button.setAttribute("aria-disabled", "true");
  };
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    if (button.ariaDisabled === "true") return;
    const detail: ApplyRequest = { cell: fix.position?.file ?? "", edits: fix.edits, before: before(fix), tell };
    const asked = new CustomEvent(APPLY, { bubbles: true, cancelable: true, composed: true, detail });
    if (button.dispatchEvent(asked)) void copy(fix).then((sentence) => tell(sentence, false));
  });
  return [button, status];
}

export function fixView(fix: Fix): HTMLElement {
  return h(
    "div.jitscope-fix",
    fix.text ? h("p", h("strong", "Fix: "), prose(fix.text)) : null,
    differenceElement(fix),
    fix.checked ? h("p.jitscope-muted", "✓ ", prose(fix.checked)) : null,
    fix.edits.length ? h("p.jitscope-fix-do", ...applyButton(fix, "Apply fix")) : null,
  );
}
