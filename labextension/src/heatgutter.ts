// The share of the measured time that each line of a cell takes, as a band beside it. Knows CodeMirror and one cell's text alone.
import { Compartment, StateEffect, StateField, type Extension } from "@codemirror/state";
import { EditorView, GutterMarker, gutter, type ViewUpdate } from "@codemirror/view";
import type { HeatLine } from "../../widgets/jitscope_widgets/js/heat";
import { middle, shareInWords, shareText } from "../../widgets/jitscope_widgets/js/shares";

type Heat = ReadonlyMap<number, HeatLine>; // by line, from 1

const NONE: Heat = new Map();
const setHeat = StateEffect.define<Heat>();

/** What was measured belongs to the code that was measured: an edit clears it. */
const field = StateField.define<Heat>({
  create: () => NONE,
  update(heat, { docChanged, effects }) {
    if (docChanged) heat = NONE;
    for (const effect of effects) if (effect.is(setHeat)) heat = effect.value;
    return heat;
  },
});

/** "41 % of the kernels' time …" */
function toldOf({ least, most, estimate, own, function: name }: HeatLine): string {
  const share = { least, most, estimate };
  const whole = `${shareInWords(share)} of the time of the kernels of ${name}`;
  const shared = least < most ? "; at least kernels of this line alone, at most all that it has a part in" : "";
  if (!own) return `${whole}, in what it calls${shared}`;
  const inside = shareText(own) === shareText(share) ? "" : ` (${shareText(own)} without what it calls)`;
  return `${whole}${inside}${shared}`;
}

class Band extends GutterMarker {
  constructor(private heat: HeatLine) {
    super();
  }
  eq(other: Band): boolean {
    return this.heat === other.heat;
  }
  toDOM(): Node {
    const { least, most, estimate } = this.heat;
    const band = document.createElement("span");
    band.className = "jitscope-heat";
    band.style.setProperty("--least", `${100 * least}%`);
    band.style.setProperty("--most", `${100 * (estimate ?? most)}%`);
    band.title = toldOf(this.heat);
    const figure = document.createElement("span");
    figure.textContent = shareText({ least, most, estimate });
    band.append(figure);
    return band;
  }
}

const bands = gutter({
  class: "jitscope-heat-gutter",
  lineMarker(view, line) {
    const heat = view.state.field(field, false)?.get(view.state.doc.lineAt(line.from).number);
    return heat ? new Band(heat) : null;
  },
  lineMarkerChange: ({ startState, state }: ViewUpdate) => startState.field(field, false) !== state.field(field, false),
});

const place = new Compartment();

/** The gutter is there while there is something in it. */
const room = EditorView.updateListener.of(({ view, state, startState }) => {
  const before = startState.field(field, false);
  const now = state.field(field, false);
  if (before !== now && !now?.size && place.get(state) === bands)
    setTimeout(() => view.dispatch({ effects: place.reconfigure([]) }));
});

const told = EditorView.contentAttributes.compute([field], (state): Record<string, string> => {
  const lines = [...state.field(field)].sort(([, a], [, b]) => middle(b) - middle(a)).slice(0, 3);
  if (!lines.length) return {};
  return { "aria-details": lines.map(([line, heat]) => `line ${line}: ${toldOf(heat)}`).join("; ") };
});

/** For every editor; takes no room before it is given something to show. */
export const heat: Extension = [field, room, told, place.of([])];

/** Shows the shares of lines that still read as they did when they were measured. */
export function showHeat(view: EditorView, lines: HeatLine[]): void {
  const { doc } = view.state;
  if (!view.state.field(field, false)) return;
  const known = lines.filter(({ line, text }) => line <= doc.lines && doc.line(line).text === text);
  const found: Heat = known.length === lines.length ? new Map(known.map((one) => [one.line, one])) : NONE;
  const effects: StateEffect<unknown>[] = [setHeat.of(found)];
  if (found.size && place.get(view.state) !== bands) effects.push(place.reconfigure(bands));
  view.dispatch({ effects });
}
