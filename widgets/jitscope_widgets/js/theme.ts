// Light or dark, as the surroundings are; and the resolved colours that a canvas needs.
import { Disposables } from "./dom";

type Rgb = [number, number, number];

export function parseColour(text: string): Rgb & { alpha?: number } {
  const numbers = (text.match(/-?[\d.]+(e-?\d+)?%?/g) ?? []).map(parseFloat);
  const scale = text.startsWith("color(") ? 255 : 1;
  const rgb = [0, 1, 2].map((i) => Math.round((numbers[i] ?? 0) * scale)) as Rgb & { alpha?: number };
  rgb.alpha = numbers.length > 3 ? numbers[3]! : 1;
  return rgb;
}

function channel(value: number): number {
  const v = value / 255;
  return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
}

function luminance([r, g, b]: Rgb): number {
  return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
}

/** WCAG contrast of two opaque colours, 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Dark when the first ancestor that paints a background paints it dark; else as the system likes it. */
function isDark(element: Element): boolean {
  for (let at: Element | null = element.parentElement; at; at = at.parentElement) {
    const colour = parseColour(getComputedStyle(at).backgroundColor);
    if (colour.alpha! > 0.5) return luminance(colour) < 0.35;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Keeps `data-theme` on `root` right, and tells when it (or the host's theme) changed. */
export function followTheme(root: HTMLElement, changed: () => void): Disposables {
  const all = new Disposables();
  const look = () => {
    root.dataset.theme = isDark(root) ? "dark" : "light";
    changed();
  };
  // themes arrive as attributes of body, followed by a stylesheet that loads a little later
  const later = () => {
    look();
    setTimeout(look, 300);
  };
  const observer = new MutationObserver(later);
  for (const node of [document.documentElement, document.body])
    observer.observe(node, {
      attributes: true,
      attributeFilter: ["class", "style", "data-jp-theme-name", "data-jp-theme-light", "data-theme", "theme"],
    });
  all.add(() => observer.disconnect());
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"])
    all.listen(matchMedia(query), "change", later);
  look();
  if (!root.isConnected) requestAnimationFrame(look); // it is put into its place in a moment
  return all;
}

const NAMES = [
  "bg",
  "panel",
  "fg",
  "muted",
  "border",
  "strong-border",
  "accent",
  "accent-soft",
  "error",
  "edge",
  "node",
  "small-node",
  "frame",
  "hull",
  "hull-border",
  "library",
  "hit",
  "focus",
  "before",
  "after",
  "before-strong",
] as const;
export type ColourName = (typeof NAMES)[number];

/** The colours of the theme as the browser resolves them, and the fonts. */
export interface Palette {
  colours: Record<ColourName, string>;
  hues: string[];
  code: string;
  ui: string;
}

export const HUES = 7;

export function readPalette(root: HTMLElement): Palette {
  const probe = document.createElement("span");
  probe.style.display = "none";
  probe.style.setProperty("forced-color-adjust", "none"); // a canvas is not recoloured: it takes the theme's colours itself
  root.append(probe);
  const read = (name: string) => {
    probe.style.color = `var(--js-${name})`;
    const rgb = parseColour(getComputedStyle(probe).color);
    return `rgb(${rgb[0]},${rgb[1]},${rgb[2]})`;
  };
  const font = (name: string) => {
    probe.style.fontFamily = `var(--js-${name})`;
    return getComputedStyle(probe).fontFamily;
  };
  const colours = Object.fromEntries(NAMES.map((name) => [name, read(name)])) as Record<ColourName, string>;
  const hues = Array.from({ length: HUES }, (_, i) => read(`hue-${i}`));
  const palette = { colours, hues, code: font("code"), ui: font("ui") };
  probe.remove();
  return palette;
}
