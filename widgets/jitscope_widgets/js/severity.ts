// How grave a sharp bit is, as a word and as a shape: shapes differ, not colours alone.
import type { Diagnostic } from "./documents";
import { s } from "./dom";

export type Severity = Diagnostic["severity"];

export const NAMES: Record<Severity, string> = { error: "error", warning: "warning", info: "remark" };
export const SEVERITIES = Object.keys(NAMES) as Severity[];

// a cross in an octagon, a bang in a triangle, an i in a circle
const SHAPES: Record<Severity, [outline: string, sign: string]> = {
  error: ["M5 1.5h6L14.5 5v6L11 14.5H5L1.5 11V5z", "M5.5 5.5l5 5M10.500 5.500l-5 5"],
  warning: ["M8 1.800 15 14H1z", "M8 6v4M8 12v.4"],
  info: ["M8 1.500a6.500 6.500 0 1 0 0 13 6.500 6.500 0 1 0 0-13z", "M8 7.500v4M8 4.700v.4"],
};

export function severityIcon(severity: Severity, size = 14): SVGElement {
  const [outline, sign] = SHAPES[severity];
  return s(
    "svg",
    {
      viewBox: "0 0 16 16",
      width: size,
      height: size,
      class: "jitscope-severity",
      "data-severity": severity,
      "aria-hidden": "true",
    },
    s("path", { d: outline, class: "jitscope-severity-outline" }),
    s("path", { d: sign, class: "jitscope-severity-sign" }),
  );
}
