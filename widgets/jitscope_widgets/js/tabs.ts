// Tabs as the ARIA patterns want them: arrows move, the panel is made when it is first seen.
import { h } from "./dom";

export interface Tab {
  id: string;
  title: string;
  badge?: string;
  make(): HTMLElement;
}

export interface Tabs {
  bar: HTMLElement;
  body: HTMLElement;
  show(id: string): void;
  current(): string;
  badge(id: string, text: string): void;
  /** Makes a panel anew, at once where it is on show, else when it is next. */
  renew(id: string): void;
  /** One more, at the end. */
  add(tab: Tab): void;
}

let count = 0;

export function tabs(list: Tab[], first: string, label: string, changed: (id: string) => void): Tabs {
  const prefix = `jitscope-tabs-${++count}`;
  let now = "";
  const panels = new Map<string, HTMLElement>();
  const buttonOf = (tab: Tab): HTMLElement =>
    h(
      "button",
      {
        role: "tab",
        id: `${prefix}-${tab.id}`,
        "data-tab": tab.id,
        "aria-controls": `${prefix}-${tab.id}-panel`,
        class: "jitscope-tab",
        onclick: () => show(tab.id),
      },
      tab.title,
      h("span.jitscope-badge", { hidden: !tab.badge }, tab.badge),
    );
  const buttons = list.map(buttonOf);
  const strip = h("div.jitscope-tabs", { role: "tablist", "aria-label": label }, ...buttons);
  const bar = h("div.jitscope-tabbar", strip);
  const body = h("div.jitscope-panels");

  function show(id: string): void {
    const tab = list.find((other) => other.id === id) ?? list[0]!;
    now = tab.id;
    for (const button of buttons) {
      const chosen = button.dataset.tab === now;
      button.setAttribute("aria-selected", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
    }
    for (const panel of panels.values()) panel.hidden = true;
    let panel = panels.get(now);
    if (!panel) {
      panel = h("div", {
        role: "tabpanel",
        id: `${prefix}-${now}-panel`,
        "aria-labelledby": `${prefix}-${now}`,
        "data-panel": now,
        class: "jitscope-panel-body",
      });
      panels.set(now, panel);
      body.append(panel);
      panel.append(tab.make());
    }
    panel.hidden = false;
    reveal();
    changed(now);
  }

  /** In a bar that is too narrow for them, the chosen tab is in sight. */
  function reveal(): void {
    const chosen = buttons.find((button) => button.dataset.tab === now);
    if (!chosen || strip.scrollWidth <= strip.clientWidth) return;
    const [bounds, box] = [strip.getBoundingClientRect(), chosen.getBoundingClientRect()];
    if (box.left < bounds.left) strip.scrollLeft -= bounds.left - box.left;
    else if (box.right > bounds.right) strip.scrollLeft += box.right - bounds.right;
  }

  /** Marks the ends behind which there are more; what fits where there are no marks needs none. */
  function mark(): void {
    const fits = strip.scrollWidth <= bar.clientWidth + 1;
    bar.toggleAttribute("data-before", !fits && strip.scrollLeft > 1);
    bar.toggleAttribute("data-after", !fits && strip.scrollLeft + strip.clientWidth < strip.scrollWidth - 1);
  }
  strip.addEventListener("scroll", mark, { passive: true });
  new ResizeObserver(() => {
    reveal();
    mark();
  }).observe(strip);

  strip.addEventListener("keydown", (event) => {
    const at = list.findIndex((tab) => tab.id === now);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: list.length - 1 }[event.key];
    if (to === undefined) return;
    const next = (to + list.length) % list.length;
    show(list[next]!.id);
    buttons[next]!.focus();
    event.preventDefault();
    event.stopPropagation();
  });

  function badge(id: string, text: string): void {
    const place = buttons.find((button) => button.dataset.tab === id)?.querySelector<HTMLElement>(".jitscope-badge");
    if (!place) return;
    place.textContent = text;
    place.hidden = !text;
    mark();
  }

  function renew(id: string): void {
    panels.get(id)?.remove();
    panels.delete(id);
    if (id === now) show(id);
  }

  function add(tab: Tab): void {
    const button = buttonOf(tab);
    button.setAttribute("aria-selected", "false");
    button.tabIndex = -1;
    list.push(tab);
    buttons.push(button);
    strip.append(button);
    mark();
  }

  if (first) show(first);
  return { bar, body, show, current: () => now, badge, renew, add };
}

/** A row of choices of which one holds: radio buttons that look like one switch. */
export function choice(
  label: string,
  options: { id: string; title: string; hint?: string }[],
  first: string,
  changed: (id: string) => void,
): HTMLElement {
  const name = `jitscope-choice-${++count}`;
  return h(
    "fieldset.jitscope-choice",
    h("legend.jitscope-hidden", label),
    ...options.map(({ id, title, hint }) =>
      h(
        "label",
        { title: hint },
        h("input", { type: "radio", name, value: id, checked: id === first, onchange: () => changed(id) }),
        h("span", title),
      ),
    ),
  );
}
