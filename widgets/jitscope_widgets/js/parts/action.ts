// A button that asks the kernel for a further form of a document.
import { h } from "../dom";
import { sentence } from "../mount";
import { viewOf } from "../viewdata";
import type { Action } from "./forms";
import type { Stage } from "./view";

/** Null where there is no kernel to ask. */
export function actionPart(part: Action, stage: Stage): HTMLElement | null {
  const { ask } = stage.around;
  if (!ask) return null;
  const answer = h("span", { class: "jitscope-muted", role: "status", "aria-live": "polite" });
  const button = h("button", { type: "button", class: "jitscope-button" }, part.label);
  button.addEventListener("click", async () => {
    button.disabled = true;
    answer.textContent = part.doing;
    try {
      const found = await ask((part.options ?? {}) as Record<string, unknown>);
      stage.show(viewOf(found) ?? []);
    } catch (error) {
      answer.textContent = sentence(error);
      button.disabled = false;
    }
  });
  return h("p", { class: "jitscope-asking" }, button, answer);
}
