// Numbers for people: three significant digits with a unit; measured plain, modelled with "≈", unknown as "?".
// The text views (quantities.py) write them the same way.
import type { Quantity } from "./documents";

type Scale = [number, string][];
const TIME: Scale = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
  [1e-9, "ns"],
];
const SIZE: Scale = [
  [1e12, "TB"],
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
  [1, "B"],
];
const WORK: Scale = [
  [1e12, "Tflop"],
  [1e9, "Gflop"],
  [1e6, "Mflop"],
  [1e3, "kflop"],
  [1, "flop"],
];

const SCALES: Record<string, Scale> = { s: TIME, seconds: TIME, B: SIZE, bytes: SIZE, flop: WORK, flops: WORK };

function threeDigits(value: number): string {
  const exponent = value ? Math.floor(Math.log10(Math.abs(value)) + 1e-12) : 0;
  if (exponent < -3 || exponent >= 6) return value.toExponential(2);
  if (exponent >= 4) return Number(value.toPrecision(3)).toLocaleString("en");
  return value.toFixed(Math.max(0, 2 - exponent));
}

export function withUnit(value: number, unit: string): string {
  const scale = SCALES[unit];
  if (!scale) return `${threeDigits(value)} ${unit}`.trimEnd();
  if (value === 0) return `0 ${scale === TIME ? "s" : scale[scale.length - 1]![1]}`;
  const rounded = Number(value.toPrecision(3)); // 999.9 µs is 1.00 ms
  const [factor, name] = scale.find(([size]) => Math.abs(rounded) >= size) ?? scale[scale.length - 1]!;
  if (factor === 1 && scale !== TIME && Number.isInteger(value)) return `${value} ${name}`;
  return `${threeDigits(rounded / factor)} ${name}`;
}

export const seconds = (value: number): string => withUnit(value, "s");
export const bytes = (value: number): string => withUnit(value, "B");

export function quantity(q: Quantity): string {
  if (q.value === null || q.origin === "unknown" || !Number.isFinite(q.value)) return "?";
  return (q.origin === "modelled" ? "≈ " : "") + withUnit(q.value, q.unit);
}

/** Where a quantity comes from, for the hover text. */
export function origin(q: Quantity): string {
  return q.note ? `${q.origin}: ${q.note}` : q.origin;
}
