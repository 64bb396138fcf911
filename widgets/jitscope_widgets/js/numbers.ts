// Numbers for people: three significant digits with a unit; measured plain, modelled with "≈", unknown as "?".
import type { Quantity } from "./documents";

const TIME: [number, string][] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
const SIZE: [number, string][] = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];
const COUNT: [number, string][] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];

export function threeDigits(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || !Number.isFinite(value)) return String(value);
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(size) + 1e-12));
  const text = value.toFixed(Math.min(decimals, 12));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function scaled(value: number, steps: [number, string][]): string {
  // a value that would round up to 1000 of a unit belongs to the next one
  const step = steps.find(([size]) => Math.abs(value) >= size * 0.9995) ?? steps[steps.length - 1]!;
  return `${threeDigits(value / step[0])} ${step[1]}`.trim();
}

export function seconds(value: number): string {
  return value === 0 ? "0 s" : scaled(value, TIME);
}

export function bytes(value: number): string {
  return Math.abs(value) < 1000 ? `${value} B` : scaled(value, SIZE);
}

export function count(value: number): string {
  return Math.abs(value) < 1e4 ? value.toLocaleString("en") : scaled(value, COUNT);
}

function withUnit(value: number, unit: string): string {
  if (unit === "s") return seconds(value);
  if (unit === "B" || unit === "bytes") return bytes(value);
  return `${count(value)}${unit ? " " + unit : ""}`;
}

export function quantity(q: Quantity): string {
  if (q.value === null || q.origin === "unknown") return "?";
  return (q.origin === "modelled" ? "≈ " : "") + withUnit(q.value, q.unit);
}

/** Where a quantity comes from, for the hover text. */
export function origin(q: Quantity): string {
  const note = q.note ? `: ${q.note}` : "";
  return q.origin + note;
}
