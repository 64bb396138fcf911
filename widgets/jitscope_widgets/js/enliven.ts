// Static HTML that comes alive: elements that carry their document, compressed, in `data-jitscope-document`.
import { decode } from "./envelope";
import { mount } from "./mount";

export const CARRIER = "[data-jitscope-document]:not([data-jitscope-alive])";

async function enlivenOne(element: HTMLElement): Promise<boolean> {
  element.dataset.jitscopeAlive = "trying"; // never twice, even while we wait
  const place = document.createElement("div");
  try {
    const shown = await decode(element.dataset.jitscopeDocument ?? "");
    element.append(place);
    mount(place, shown, {}, { strict: element.childElementCount > 1 }); // where no picture stands, a sentence is better than nothing
    element.replaceChildren(place);
    element.classList.remove("jitscope"); // the view inside has it now
    element.classList.add("jitscope-live");
    element.dataset.jitscopeAlive = "yes";
    return true;
  } catch (error) {
    place.remove(); // the static picture stays
    element.dataset.jitscopeAlive = "no";
    console.info("jitscope keeps the static picture:", error);
    return false;
  }
}

/** Brings every block under `root` to life; gives how many came. */
export async function enliven(root: ParentNode = document): Promise<number> {
  const found = [...root.querySelectorAll<HTMLElement>(CARRIER)];
  const alive = await Promise.all(found.map(enlivenOne));
  return alive.filter(Boolean).length;
}
