// The JupyterLab plugin: view code for widgets and saved outputs, the side panel, sharp bits in the cells, and their fixes.
import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette } from "@jupyterlab/apputils";
import { IEditorExtensionRegistry } from "@jupyterlab/codemirror";
import { INotebookTracker } from "@jupyterlab/notebook";
import { applyFixes } from "./applying";
import { Bits } from "./bits";
import { HeatedCells } from "./heat";
import { provideGoTo } from "./cells";
import { SidePanel } from "./panel";
import { provideViewCode } from "./viewcode";
import { provideKeep, provideSaved, watchOutputs } from "./outputs";
import { Sessions } from "./sessions";

const plugin: JupyterFrontEndPlugin<void> = {
  id: "jitscope:plugin",
  description: "The compilations and sharp bits of the session, and the views of their outputs.",
  autoStart: true,
  requires: [INotebookTracker, IEditorExtensionRegistry],
  optional: [ILayoutRestorer, ICommandPalette],
  activate(
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    registry: IEditorExtensionRegistry,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
  ) {
    provideViewCode();
    provideGoTo(tracker);
    provideSaved(tracker);
    provideKeep(tracker);
    watchOutputs(tracker);
    applyFixes(tracker);
    const sessions = new Sessions(tracker);
    const bits = new Bits(app, tracker, sessions);
    bits.register(registry);
    bits.addCommands(palette);
    new HeatedCells(tracker).register(registry);
    const panel = new SidePanel(sessions);
    app.shell.add(panel, "left", { rank: 900, type: "jitscope" });
    restorer?.add(panel, panel.id);
  },
};

export default plugin;
