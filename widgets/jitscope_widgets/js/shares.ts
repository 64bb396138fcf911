// Shares of the measured time from least to most, in words.
import type { Bounds } from "./documents";
import { percent } from "./numbers";

/** "41 %", "9–12 %", "≤ 3 %". */
export function shareText({ least, most }: Bounds): string {
  const [low, high] = [percent(least), percent(most)];
  if (low === high) return high;
  return least < 0.0005 ? `≤ ${high}` : `${low.replace(/ %$/, "")}–${high}`;
}
