// Small drawings for buttons, in the colour of the text.
import { h, s } from "./dom";

const PATHS = {
  open: "M2.5 5.5v8h8M5.5 2.5h8v8h-8zM9.5 4.5v4M7.5 6.5h4",
  close: "M2.5 5.5v8h8M5.5 2.5h8v8h-8zM7.5 6.5h4",
  larger: "M8 3v10M3 8h10",
  smaller: "M3 8h10",
  fit: "M5.5 6h5v4h-5zM2.5 5V2.5H5M11 2.5h2.5V5M13.5 11v2.5H11M5 13.5H2.5V11",
  full: "M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9",
  save: "M8 2.5v7.5M4.5 7 8 10.5 11.5 7M3 13.5h10",
  help: "M6 6c0-2.7 4.2-2.7 4.2 0 0 1.6-2.2 1.7-2.2 3.5M8 12v.8",
} as const;

type IconName = keyof typeof PATHS;

export function iconButton(name: IconName, label: string, attributes: Record<string, unknown> = {}): HTMLButtonElement {
  return h(
    "button.jitscope-icon-button",
    { "aria-label": label, title: label, ...attributes },
    s("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, s("path", { d: PATHS[name] })),
  );
}
