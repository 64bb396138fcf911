// Saved outputs of a notebook without a kernel come alive: their HTML carries the document.
import type { CodeCell } from "@jupyterlab/cells";
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import { viewCode } from "./viewcode";
import { watchWidgets } from "./widgetless";

const CARRIER = "[data-jitscope-document]:not([data-jitscope-alive])";
const WIDGET = ".jp-OutputArea-output.jupyter-widgets";

/** The element with the document in the HTML form of a widget; a new one, nothing else of that HTML is used. */
export function carrierIn(html: unknown): HTMLElement | null {
  const text = Array.isArray(html) ? html.join("") : html;
  if (typeof text !== "string" || !text.includes("data-jitscope-document")) return null;
  const parsed = new DOMParser().parseFromString(text, "text/html");
  const found = parsed.querySelector<HTMLElement>("[data-jitscope-document]")?.dataset.jitscopeDocument;
  if (!found) return null;
  const carrier = document.createElement("div");
  carrier.dataset.jitscopeDocument = found;
  return carrier;
}

/** The origin of changes of which a notebook's model tells no view. */
const SILENT = "silent-change";

interface Outputs {
  updateOutputs(start: number, end: number, outputs: unknown[], origin: string): void;
}

/** One output of a cell. */
interface Place {
  panel: NotebookPanel;
  cell: CodeCell;
  at: number;
}

/** What the notebook's file has of an output. */
const inFile = ({ cell, at }: Omit<Place, "panel">): any => cell.model.sharedModel.getOutputs()[at];

const carrierAt = (place: Omit<Place, "panel">): HTMLElement | null => carrierIn(inFile(place)?.data?.["text/html"]);

function placeOf(tracker: INotebookTracker, element: HTMLElement): Place | undefined {
  for (const panel of panelsOf(tracker))
    for (const cell of panel.content.widgets) {
      if (cell.model.type !== "code" || !cell.node.contains(element)) continue;
      const at = (cell as CodeCell).outputArea.widgets.findIndex((output) => output.node.contains(element));
      if (at >= 0) return { panel, cell: cell as CodeCell, at };
    }
  return undefined;
}

/** `globalThis.jitscopeSaved`: the document in the HTML of the output that an element is in, so that no kernel is asked. */
export function provideSaved(tracker: INotebookTracker): void {
  const saved = async (element: HTMLElement): Promise<string | null> => {
    // a view is made before it is put into its place
    for (let attempt = 0; attempt < 40; attempt++) {
      const place = placeOf(tracker, element);
      if (place) return carrierAt(place)?.dataset.jitscopeDocument ?? null;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    return null;
  };
  Object.assign(globalThis, { jitscopeSaved: saved });
}

/**
 * `globalThis.jitscopeKeep`: writes what an output says now into the notebook's file, without drawing it again: its view knows it.
 * Gives whether there is a file to write to.
 */
export function provideKeep(tracker: INotebookTracker): void {
  const keep = (element: HTMLElement, data: Record<string, string>): boolean => {
    const place = placeOf(tracker, element);
    const output = place && inFile(place);
    if (!output?.data) return false;
    const { cell, panel, at } = place!;
    const newer = { ...output, data: { ...output.data, ...data } };
    (cell.model.sharedModel as unknown as Outputs).updateOutputs(at, at + 1, [newer], SILENT);
    if (panel.content.model) panel.content.model.dirty = true;
    return true;
  };
  Object.assign(globalThis, { jitscopeKeep: keep });
}

function panelsOf(tracker: INotebookTracker): NotebookPanel[] {
  const found: NotebookPanel[] = [];
  tracker.forEach((panel) => void found.push(panel));
  return found;
}

/** A widget whose model is gone leaves a line of text where its view should be (and may do so more than once). */
function isDead(node: HTMLElement): boolean {
  return !node.querySelector(".jitscope") && /model not found/.test(node.textContent ?? "");
}

/** Puts the saved view in the place of every widget of ours that has no model any more. */
function rescue(panel: NotebookPanel): void {
  const dead = new Set([...panel.content.node.querySelectorAll<HTMLElement>(WIDGET)].filter(isDead));
  if (!dead.size) return;
  for (const cell of panel.content.widgets) {
    if (cell.model.type !== "code") continue;
    const { outputArea } = cell as CodeCell;
    outputArea.widgets.forEach((output, i) => {
      const node = [...dead].find((one) => output.node.contains(one));
      const carrier = node ? carrierAt({ cell: cell as CodeCell, at: i }) : null;
      if (carrier) node!.replaceChildren(carrier); // the observer brings it to life
    });
  }
}

function look(panel: NotebookPanel): void {
  rescue(panel);
  const { node } = panel.content;
  if (node.querySelector(CARRIER)) void viewCode().then(({ enliven }) => enliven(node));
}

function watch(panel: NotebookPanel): void {
  let waiting = 0;
  const later = () => {
    // many changes come together; look once
    if (!waiting && !panel.isDisposed)
      waiting = window.setTimeout(() => {
        waiting = 0;
        look(panel);
      }, 50);
  };
  watchWidgets(panel);
  const observer = new MutationObserver(later);
  observer.observe(panel.content.node, { childList: true, subtree: true });
  panel.disposed.connect(() => observer.disconnect());
  void panel.context.ready.then(later);
}

export function watchOutputs(tracker: INotebookTracker): void {
  tracker.widgetAdded.connect((_, panel) => watch(panel));
  tracker.forEach(watch);
}
