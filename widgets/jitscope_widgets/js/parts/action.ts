// A button that asks the kernel for a further form of a document, or for a part of one.
import { h } from "../dom";
import { sentence } from "../mount";
import { viewOf } from "../viewdata";
import type { Action } from "./forms";
import type { Stage } from "./view";

/** Where there is no kernel to ask: what is said then, else null. */
export function actionPart(part: Action, stage: Stage): HTMLElement | null {
  const { ask } = stage.around;
  if (!ask) return part.without ? h("p.jitscope-muted", part.without) : null;
  const answer = h("span.jitscope-muted", { role: "status", "aria-live": "polite" });
  const button = h("button.jitscope-button", part.label);
  const { number } = part;
  const field =
    number &&
    h("input", {
      type: "number",
      min: number.low,
      max: number.high,
      value: number.at,
      "aria-label": `${number.label}, from ${number.low} to ${number.high}`,
    });
  const act = async () => {
    button.disabled = true;
    answer.textContent = part.doing;
    try {
      const options = {
        ...(part.options as Record<string, unknown>),
        ...(field ? { [number.option]: Number(field.value) } : {}),
      };
      const found = viewOf(await ask(options));
      if (!found)
        answer.textContent = ""; // the whole document comes anew
      else if (part.renews) stage.renew(part.renews, found, button);
      else stage.show(found);
    } catch (error) {
      answer.textContent = sentence(error);
      button.disabled = false;
    }
  };
  button.addEventListener("click", act);
  field?.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") void act();
  });
  const label = field && h("label", `${number.label} `, field, ` of ${number.low} to ${number.high} `);
  return h("p.jitscope-asking", label ?? null, button, answer);
}
