// A list of which one entry is in the tab order; arrows go to the others, Enter or a click picks.

export class Roving {
  constructor(
    private readonly list: HTMLElement,
    private readonly entries: string,
    private readonly pick: (entry: HTMLElement) => void,
    onEscape: () => void,
  ) {
    list.addEventListener("click", (event) => {
      const entry = (event.target as HTMLElement).closest<HTMLElement>(entries);
      if (!entry) return;
      this.focus(entry);
      pick(entry);
    });
    list.addEventListener("keydown", (event) => {
      const all = this.all();
      const at = all.indexOf((event.target as HTMLElement).closest<HTMLElement>(entries)!);
      if (at < 0) return;
      const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 };
      if (event.key in steps) this.focus(all[steps[event.key]!]);
      else if (event.key === "Enter" || event.key === " ") this.pick(all[at]!);
      else if (event.key === "Escape") onEscape();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    this.renew();
  }

  private all(): HTMLElement[] {
    return [...this.list.querySelectorAll<HTMLElement>(this.entries)];
  }

  /** The entries are others now. */
  renew(): void {
    this.all()[0]?.setAttribute("tabindex", "0");
  }

  private focus(entry: HTMLElement | undefined): void {
    if (!entry) return;
    for (const other of this.all()) other.tabIndex = other === entry ? 0 : -1;
    entry.focus();
  }
}
