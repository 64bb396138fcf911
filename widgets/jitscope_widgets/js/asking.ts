// A button that has the kernel do something, after which the document comes anew.
import { h } from "./dom";
import { sentence } from "./mount";

/** `busy` is what stands beside it meanwhile; `ask` fails with a sentence. */
export function askingButton(title: string, busy: string, ask: () => void | Promise<void>): HTMLElement {
  const answer = h("span", { class: "jitscope-muted", role: "status", "aria-live": "polite" });
  const button = h("button", { type: "button", class: "jitscope-button" }, title);
  button.addEventListener("click", async () => {
    button.disabled = true;
    answer.textContent = busy;
    try {
      await ask();
    } catch (error) {
      answer.textContent = sentence(error);
      button.disabled = false;
    }
  });
  return h("span", { class: "jitscope-asking" }, button, answer);
}
