// Shares of the measured time in words: what was measured, or an estimate between bounds.
import type { Bounds } from "./documents";
import { percent } from "./numbers";

/** "41 %" where it was measured, "~ 34 %" where it is estimated; "9–12 %", "≤ 3 %" where there is no estimate. */
export function shareText({ least, most, estimate }: Bounds): string {
  const [low, high] = [percent(least), percent(most)];
  if (low === high) return high;
  if (estimate !== undefined) return `~ ${percent(estimate)}`;
  return least < 0.0005 ? `≤ ${high}` : `${low.replace(/ %$/, "")}–${high}`;
}

/** The same with its bounds: "an estimated 34 % (30 % to 60 % by its kernels)". */
export function shareInWords({ least, most, estimate }: Bounds): string {
  const [low, high] = [percent(least), percent(most)];
  if (estimate === undefined || low === high) return shareText({ least, most });
  const bounds = least < 0.0005 ? `at most ${high}` : `${low} to ${high}`;
  return `an estimated ${percent(estimate)} (${bounds} by its kernels)`;
}

/** The one number of a share. */
export const middle = ({ least, most, estimate }: Bounds): number => estimate ?? (least + most) / 2;
