// What part of the picture is seen, and how large.
import type { Rect } from "./layout";

const ZOOM = { least: 0.002, most: 2.5 };
/** Letters are as large as they are drawn anywhere. */
const READABLE = 0.85;

const MARGIN = 20;

/** How far a picture can be enlarged until it fills a view. */
const filling = (size: Size, view: Size): number =>
  Math.min((view.w - 2 * MARGIN) / size.w, (view.h - 2 * MARGIN) / size.h);

/** Whether all of a picture can be in view, readable. */
export const fits = (size: Size, view: Size): boolean => filling(size, view) >= 0.8;

type Size = { w: number; h: number };

/** Where the camera stands. */
export type Stand = Pick<Camera, "k" | "x" | "y">;

export class Camera {
  k = 1;
  x = 0; // screen = picture * k + (x, y)
  y = 0;

  zoomAt(factor: number, sx: number, sy: number): void {
    const k = Math.min(ZOOM.most, Math.max(ZOOM.least, this.k * factor));
    this.x = sx - ((sx - this.x) * k) / this.k;
    this.y = sy - ((sy - this.y) * k) / this.k;
    this.k = k;
  }

  /** Everything in view, though never so small that labels cannot be read: then the top is shown, round what `middle` gives for a part
   * of the picture so wide and so high, from what `above` gives as the first thing between its left and its right. */
  fit(
    size: Size,
    view: Size,
    readable: boolean,
    middle = (_w: number, _h: number) => size.w / 2,
    above = (_left: number, _right: number) => 0,
  ): void {
    const whole = filling(size, view);
    const least = readable ? (fits(size, view) ? whole : READABLE) : ZOOM.least;
    this.k = Math.min(1.1, Math.max(least, whole || 1));
    const [w, h] = [size.w * this.k, size.h * this.k];
    this.x = (view.w - w) / 2;
    // too wide: the middle of what is there, but no more empty space than the margin
    if (w > view.w)
      this.x = Math.max(
        view.w - MARGIN - w,
        Math.min(MARGIN, view.w / 2 - middle(view.w / this.k, view.h / this.k) * this.k),
      );
    const first = above(-this.x / this.k, (view.w - this.x) / this.k) * this.k;
    this.y = h <= view.h - 2 * MARGIN + 1 ? (view.h - h) / 2 : MARGIN - Math.min(first, h + 2 * MARGIN - view.h);
  }

  /** The least movement that brings a box into view. */
  reveal(rect: Rect, view: { w: number; h: number }): void {
    const margin = 24;
    const [left, top] = [rect.x * this.k + this.x, rect.y * this.k + this.y];
    const [w, h] = [Math.min(rect.w * this.k, view.w - 2 * margin), Math.min(rect.h * this.k, view.h - 2 * margin)];
    if (left < margin) this.x += margin - left;
    else if (left + w > view.w - margin) this.x -= left + w - (view.w - margin);
    if (top < margin) this.y += margin - top;
    else if (top + h > view.h - margin) this.y -= top + h - (view.h - margin);
  }

  /** Shows a box that was opened: large enough to be read, from its top where it is higher than the view. */
  approach(rect: Rect, view: { w: number; h: number }): void {
    const margin = 24;
    if (this.k < READABLE) {
      const k = Math.min(
        1,
        Math.max(READABLE, Math.min((view.w - 2 * margin) / rect.w, (view.h - 2 * margin) / rect.h)),
      );
      this.zoomAt(k / this.k, this.x + (rect.x + rect.w / 2) * this.k, this.y + rect.y * this.k);
    }
    this.reveal(rect, view);
    const free = view.w - rect.w * this.k;
    if (free < 2 * margin) this.x = free / 2 - rect.x * this.k; // wider than the view: its middle
  }

  centre(rect: Rect, view: { w: number; h: number }): void {
    this.x = view.w / 2 - (rect.x + rect.w / 2) * this.k;
    this.y = view.h / 2 - (rect.y + Math.min(rect.h, view.h / this.k) / 2) * this.k;
  }

  toPicture(sx: number, sy: number): { x: number; y: number } {
    return { x: (sx - this.x) / this.k, y: (sy - this.y) / this.k };
  }
}
