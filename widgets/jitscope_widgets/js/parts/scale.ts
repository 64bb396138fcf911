// Where the values of an axis lie between two pixels, and how they are written.
import { withUnit } from "../numbers";
import type { Axis } from "./forms";

export class Scale {
  private readonly low: number;
  private readonly high: number;

  constructor(
    readonly axis: Axis,
    readonly start: number,
    readonly end: number,
  ) {
    const of = (value: number) => (axis.scale === "log" ? Math.log10(value) : value);
    this.low = of(axis.low);
    this.high = of(axis.high);
  }

  at(value: number): number {
    const place = this.axis.scale === "log" ? Math.log10(value) : value;
    const part = (place - this.low) / (this.high - this.low || 1);
    return Math.round(10 * (this.start + Math.min(1, Math.max(0, part)) * (this.end - this.start))) / 10;
  }

  /** The value at a pixel. */
  value(pixel: number): number {
    const part = Math.min(1, Math.max(0, (pixel - this.start) / (this.end - this.start || 1)));
    const place = this.low + part * (this.high - this.low);
    return this.axis.scale === "log" ? 10 ** place : place;
  }

  ticks(count: number): number[] {
    if (this.axis.scale === "log") {
      const [first, last] = [Math.ceil(this.low - 1e-9), Math.floor(this.high + 1e-9)];
      if (last <= first) return [this.axis.low, this.axis.high];
      const step = Math.max(1, Math.ceil((last - first) / (2 * count)));
      return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, n) => 10 ** (first + n * step));
    }
    return Array.from({ length: count + 1 }, (_, n) => this.axis.low + ((this.axis.high - this.axis.low) * n) / count);
  }

  /** The numbers at an axis that goes up from 0, and counts something: round ones, at most so many above 0. */
  heights(count: number): number[] {
    const { low, high, scale } = this.axis;
    if (scale === "log" || low) return this.ticks(count);
    const power = 10 ** Math.floor(Math.log10(high / count));
    const step = Math.max(1, power * [1, 2, 5, 10].find((size) => size * power >= (high / count) * (1 - 1e-9))!);
    return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, n) => n * step);
  }

  /** Some of the steps of the axis, from 0; each lies between its number and the next. */
  steps(count: number): number[] {
    const last = Math.floor(this.axis.high) - 1;
    return [...new Set(Array.from({ length: count + 1 }, (_, n) => Math.floor((last * n) / count)))];
  }

  written(value: number): string {
    return withUnit(value, this.axis.unit ?? "");
  }
}
