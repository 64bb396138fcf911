// A saved view whose widget's kernel is gone: its document is shown, and nobody is asked for the widget, which the console would tell as an error.
import type { NotebookPanel } from "@jupyterlab/notebook";
import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";
import { carrierIn } from "./outputs";

const WIDGET = "application/vnd.jupyter.widget-view+json";
const STEP = 50; // ms
const PATIENCE = 2000; // ms that a widget may take to come, once those of the kernel are there
const LONGEST = 30_000; // ms that these may take

/** The widgets of a kernel, and whether all that it had are there. */
interface Widgets {
  restoredStatus: boolean;
  has_model(id: string): boolean;
}

/** What draws a widget, as far as that is known of it. */
interface WidgetRenderer extends IRenderMime.IRenderer {
  _manager?: { promise: Promise<Partial<Widgets>> } | null;
}

/** Whether a kernel has no such widget, and gets none. */
async function isGone(widgets: Widgets, id: string): Promise<boolean> {
  let rest = PATIENCE;
  for (let waited = 0; rest > 0 && waited < LONGEST; waited += STEP) {
    if (widgets.has_model(id)) return false;
    await new Promise((resolve) => setTimeout(resolve, STEP));
    if (widgets.restoredStatus) rest -= STEP;
  }
  return rest <= 0;
}

function withoutAsking(renderer: WidgetRenderer): WidgetRenderer {
  const drawn = renderer.renderModel.bind(renderer);
  renderer.renderModel = async (model) => {
    const { model_id: id } = (model.data[WIDGET] ?? {}) as { model_id?: string };
    const carrier = id ? carrierIn(model.data["text/html"]) : null;
    const widgets = carrier && (await renderer._manager?.promise);
    if (carrier && id && widgets?.has_model && (await isGone(widgets as Widgets, id)))
      renderer.node.replaceChildren(carrier);
    else await drawn(model);
  };
  return renderer;
}

/** Has the renderers of a notebook looked at as they are made: what draws widgets is registered anew when a kernel comes. */
export function watchWidgets({ content: { rendermime } }: NotebookPanel): void {
  const made = rendermime.createRenderer.bind(rendermime);
  rendermime.createRenderer = (mimeType) => (mimeType === WIDGET ? withoutAsking(made(mimeType)) : made(mimeType));
}
