// Numbers for people: three significant digits with a unit; measured plain, modelled with "≈", unknown as "?".
// The text views (quantities.py) write them the same way, from the same table.
import table from "../numbers.json";
import type { Quantity } from "./documents";

type Scale = [number, string][];
const UNITS = table.units as unknown as Record<string, Scale>;
const NAMES: Record<string, string> = table.names;

/** Three significant digits, no zeros at the end; very large and small ones with their power of ten. */
function digits(value: number): string {
  if (value === 0) return "0";
  const [mantissa, power] = value.toExponential(2).split("e") as [string, string];
  const exponent = Number(power);
  if (exponent < -3 || exponent >= 7) return `${Number(mantissa)}e${exponent}`;
  return Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: Math.max(0, 2 - exponent) });
}

export function withUnit(value: number, unit: string): string {
  const scale = UNITS[NAMES[unit] ?? unit];
  if (!scale) return `${digits(value)} ${unit}`.trimEnd();
  if (value === 0) return `0 ${scale.find(([factor]) => factor === 1)![1]}`;
  const rounded = Number(value.toPrecision(3)); // 999.9 µs is 1 ms
  const [factor, name] = scale.find(([size]) => Math.abs(rounded) >= size) ?? scale[scale.length - 1]!;
  return `${digits(rounded / factor)} ${name}`;
}

export const seconds = (value: number): string => withUnit(value, "s");
export const bytes = (value: number): string => withUnit(value, "B");

/** A share of a whole: "41 %", "1.2 %". */
export function percent(share: number): string {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  return `${(100 * share).toFixed(share >= 0.0995 || !share ? 0 : 1)} %`;
}

export function quantity(q: Quantity): string {
  if (q.value === null || q.origin === "unknown" || !Number.isFinite(q.value)) return "?";
  return (q.origin === "modelled" ? "≈ " : "") + withUnit(q.value, q.unit);
}

/** Where a quantity comes from, for the hover text. */
export function origin(q: Quantity): string {
  return q.note ? `${q.origin}: ${q.note}` : q.origin;
}
