// Saved outputs (a notebook opened without a kernel) come alive: their HTML carries the document.
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import { viewCode } from "./viewcode";

const CARRIER = "[data-jitscope-document]:not([data-jitscope-alive])";

function enlivenIn(node: HTMLElement): void {
  if (node.querySelector(CARRIER)) void viewCode().then(({ enliven }) => enliven(node));
}

function watch(panel: NotebookPanel): void {
  const node = panel.content.node;
  let waiting = 0;
  const observer = new MutationObserver(() => {
    // many changes come together; look once
    if (!waiting) waiting = window.setTimeout(() => ((waiting = 0), enlivenIn(node)), 50);
  });
  observer.observe(node, { childList: true, subtree: true });
  panel.disposed.connect(() => observer.disconnect());
  enlivenIn(node);
}

export function watchOutputs(tracker: INotebookTracker): void {
  tracker.widgetAdded.connect((_, panel) => watch(panel));
  tracker.forEach(watch);
}
