// The JupyterLab plugin: view code for widgets and saved outputs, and the side panel.
import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from "@jupyterlab/application";
import { INotebookTracker } from "@jupyterlab/notebook";
import { provideGoTo } from "./cells";
import { LedgerPanel } from "./panel";
import { provideViewCode } from "./viewcode";
import { provideSaved, watchOutputs } from "./outputs";
import { Sessions } from "./sessions";

const plugin: JupyterFrontEndPlugin<void> = {
  id: "jitscope:plugin",
  description: "The compilations of the session, and the views of their outputs.",
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ILayoutRestorer],
  activate(app: JupyterFrontEnd, tracker: INotebookTracker, restorer: ILayoutRestorer | null) {
    provideViewCode();
    provideGoTo(tracker);
    provideSaved(tracker);
    watchOutputs(tracker);
    const sessions = new Sessions(tracker);
    const panel = new LedgerPanel(sessions);
    app.shell.add(panel, "left", { rank: 900, type: "jitscope" });
    restorer?.add(panel, panel.id);
  },
};

export default plugin;
