// Sharp bits in an editor: a wavy line under the code, a sign in the gutter, a card beside it on hover, click or by key.
// Knows CodeMirror and one cell's text, nothing of notebooks.
import { Compartment, StateEffect, StateField, type EditorState, type Extension, type Range } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  GutterMarker,
  gutter,
  hoverTooltip,
  showTooltip,
  type DecorationSet,
  type Tooltip,
  type TooltipView,
  type ViewUpdate,
} from "@codemirror/view";
import { unitsOf } from "../../widgets/jitscope_widgets/js/fixes";
import { NAMES, SEVERITIES, severityIcon } from "../../widgets/jitscope_widgets/js/severity";
import type { Bit } from "./sessions";
import { viewCode } from "./viewcode";

export interface Mark {
  from: number;
  to: number;
  item: Bit;
}

const setMarks = StateEffect.define<Bit[]>();
const openCard = StateEffect.define<{ from: number; to: number } | null>();

/** Where an item stands in the text; null where its line has become another. */
function rangeOf(item: Bit, { doc }: EditorState): { from: number; to: number } | null {
  const { position } = item;
  if (!position || position.line > doc.lines) return null;
  const line = doc.line(position.line);
  if (line.text !== position.text) return null;
  const last = position.end_line > position.line && position.end_line <= doc.lines ? doc.line(position.end_line) : line;
  const from = line.from + unitsOf(line.text, position.column);
  const to = last.from + unitsOf(last.text, position.end_column);
  return to > from ? { from, to: Math.min(to, doc.length) } : { from: line.from, to: Math.max(line.to, line.from) };
}

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { changes, docChanged, effects, state }) {
    // what was rewritten is no longer what was looked at
    if (docChanged) marks = marks.update({ filter: (from, to) => !changes.touchesRange(from, to) }).map(changes);
    for (const effect of effects) if (effect.is(setMarks)) marks = Decoration.set(ranges(effect.value, state), true);
    return marks;
  },
  provide: (marks) => EditorView.decorations.from(marks),
});

function ranges(items: Bit[], state: EditorState): Range<Decoration>[] {
  return items.flatMap((item) => {
    const place = rangeOf(item, state);
    if (!place || place.to <= place.from) return [];
    const attributes = { "data-bit": item.id, "data-severity": item.severity };
    return [Decoration.mark({ class: "jitscope-mark", attributes, item }).range(place.from, place.to)];
  });
}

/** The marks between two places, in the order of the text. */
export function marksIn(state: EditorState, from = 0, to = state.doc.length): Mark[] {
  const found: Mark[] = [];
  state
    .field(field, false)
    ?.between(from, to, (start, end, { spec }) => void found.push({ from: start, to: end, item: spec.item }));
  return found;
}

const worst = (marks: Mark[]) => SEVERITIES.find((severity) => marks.some(({ item }) => item.severity === severity))!;

// --- the card ---------------------------------------------------------------------------------------------------------

function fill(place: HTMLElement, marks: Mark[]): () => void {
  let end = () => {};
  let gone = false;
  void viewCode().then(({ tooltipCard, stage }) => {
    if (gone) return;
    const cards = document.createElement("div");
    cards.append(...marks.map(({ item }) => tooltipCard(item.card)));
    const staged = stage(place, cards);
    end = () => staged.dispose();
  });
  return () => {
    gone = true;
    end();
  };
}

function card(marks: Mark[], below: boolean): Pick<Tooltip, "create" | "pos" | "end" | "above"> {
  const from = Math.min(...marks.map((mark) => mark.from));
  const to = Math.max(...marks.map((mark) => mark.to));
  const create = (): TooltipView => {
    const dom = document.createElement("div");
    dom.className = "jitscope-card-tooltip";
    dom.setAttribute("data-lm-suppress-shortcuts", "true"); // Enter is the button's, not the notebook's
    const destroy = fill(dom, marks);
    return { dom, destroy };
  };
  return { pos: from, end: to, above: !below, create };
}

const hover = hoverTooltip(
  (view, pos, side) => {
    const marks = marksIn(view.state, pos, pos).filter(
      ({ from, to }) => (side < 0 ? from < pos : to > pos) || (from < pos && pos < to),
    );
    return marks.length ? { ...card(marks, true) } : null;
  },
  { hoverTime: 250 },
);

/** Opened by key or click: it takes the focus, Escape gives it back. */
function dialog(marks: Mark[]): Tooltip {
  const shown = card(marks, true);
  const create = (view: EditorView): TooltipView => {
    const made = shown.create(view);
    const { dom } = made;
    dom.tabIndex = -1;
    dom.setAttribute("role", "dialog");
    dom.setAttribute(
      "aria-label",
      marks.map(({ item }) => `${NAMES[item.severity]}, ${item.id}: ${item.message}`).join("; "),
    );
    const leave = (focus: boolean) => {
      if (view.state.field(opened, false) === tooltip) close(view);
      if (focus) view.focus();
    };
    dom.addEventListener("keydown", (event) => {
      if (event.key === "Escape") leave(true);
      else if (event.key !== "F8") return event.stopPropagation();
      else dom.dispatchEvent(new CustomEvent("jitscope:step", { bubbles: true, detail: event.shiftKey ? -1 : 1 }));
      event.preventDefault();
      event.stopPropagation();
    });
    dom.addEventListener("focusout", (event) => {
      if (!dom.contains(event.relatedTarget as Node | null) && event.relatedTarget) setTimeout(() => leave(false));
    });
    return { ...made, mount: () => dom.focus({ preventScroll: true }) };
  };
  const tooltip = { ...shown, create };
  return tooltip;
}

const opened = StateField.define<Tooltip | null>({
  create: () => null,
  update(tooltip, { docChanged, effects, state }) {
    if (docChanged) tooltip = null;
    for (const effect of effects) {
      if (!effect.is(openCard)) continue;
      const marks = effect.value ? marksIn(state, effect.value.from, effect.value.to) : [];
      tooltip = marks.length ? dialog(marks) : null;
    }
    return tooltip;
  },
  provide: (tooltip) => showTooltip.from(tooltip),
});

/** Shows the card of a mark, or of all marks of a line, and gives it the focus. */
export function open(view: EditorView, { from, to }: { from: number; to: number }): void {
  view.dispatch({ effects: openCard.of({ from, to }), selection: { anchor: from }, scrollIntoView: true });
}

export function close(view: EditorView): void {
  view.dispatch({ effects: openCard.of(null) });
}

// --- the gutter -------------------------------------------------------------------------------------------------------

class Sign extends GutterMarker {
  constructor(private marks: Mark[]) {
    super();
  }
  eq(other: Sign): boolean {
    return this.marks.length === other.marks.length && this.marks.every(({ item }, i) => item === other.marks[i]!.item);
  }
  toDOM(): Node {
    const sign = document.createElement("span");
    sign.className = "jitscope-sign";
    sign.title = this.marks.map(({ item }) => `${NAMES[item.severity]}: ${item.message}`).join("\n\n");
    sign.append(severityIcon(worst(this.marks), 13));
    return sign;
  }
}

const starting = (state: EditorState, line: { from: number; to: number }) =>
  marksIn(state, line.from, line.to).filter(({ from }) => from >= line.from && from <= line.to);

const signs = gutter({
  class: "jitscope-gutter",
  lineMarker(view, line) {
    const marks = starting(view.state, line);
    return marks.length ? new Sign(marks) : null;
  },
  lineMarkerChange: ({ startState, state }: ViewUpdate) => startState.field(field, false) !== state.field(field, false),
  domEventHandlers: {
    mousedown(view, line) {
      const marks = starting(view.state, line);
      if (!marks.length) return false;
      open(view, { from: marks[0]!.from, to: Math.max(...marks.map(({ to }) => to)) });
      return true;
    },
  },
});

// --- together ---------------------------------------------------------------------------------------------------------

const place = new Compartment();

const told = EditorView.contentAttributes.compute([field], (state): Record<string, string> => {
  const count = marksIn(state).length;
  return count ? { "aria-description": `${count} sharp bit${count === 1 ? "" : "s"}; F8 goes to the next` } : {};
});

/** For every editor; shows nothing, and takes no room, before it is given marks. */
export const marks: Extension = [field, opened, hover, told, place.of([])];

/** Shows these items; null where nobody looks any more. */
export function show(view: EditorView, items: Bit[] | null): void {
  if (!view.state.field(field, false)) return;
  const effects: StateEffect<unknown>[] = [setMarks.of(items ?? [])];
  if ((place.get(view.state) === signs) !== (items !== null)) effects.push(place.reconfigure(items ? signs : []));
  view.dispatch({ effects });
}
