// The list of keys.
import { h } from "./dom";
import { KEYS } from "./graph/keyboard";

export class Help {
  private dialog: HTMLDialogElement | null = null;

  constructor(private readonly root: HTMLElement) {}

  show(): void {
    this.dialog ??= this.make();
    if (!this.dialog.isConnected) this.root.append(this.dialog);
    this.dialog.showModal();
  }

  private make(): HTMLDialogElement {
    const dialog = h(
      "dialog.jitscope-help",
      { "aria-label": "Keys of the graph" },
      h("h3", "Keys of the graph"),
      h("dl", ...KEYS.flatMap(([key, text]) => [h("dt", h("kbd", key)), h("dd", text)])),
      h(
        "p.jitscope-muted",
        "Drag moves the picture; Ctrl + wheel zooms, the wheel alone once the graph has the focus.",
      ),
      h("form", { method: "dialog" }, h("button.jitscope-button", "Close")),
    );
    dialog.addEventListener("keydown", (event) => event.stopPropagation());
    return dialog;
  }
}
