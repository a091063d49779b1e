import { clamp } from "../../shared/numbers";

export const GUTTER = 84; // pixels for the names at the left
const RIGHT = 14;
const CLOSEST = 10; // steps that are shown at least

/** Where steps are from left to right: all of them, or those in view. */
export class Axis {
  width = GUTTER + 120;
  /** The first step in view. */
  from = 0;
  zoom = 1;

  /** @param length In steps; beside a longer episode it is that one's. */
  constructor(public length: number) {}

  /** How many steps are in view. */
  get visible(): number {
    return Math.max(1, this.length) / this.zoom;
  }

  /** The end of the view, in steps. */
  get until(): number {
    return this.from + this.visible;
  }

  x(step: number): number {
    return GUTTER + ((step - this.from) * (this.width - GUTTER - RIGHT)) / this.visible;
  }

  step(x: number): number {
    return this.from + this.stepsIn(x - GUTTER);
  }

  /** How many steps some pixels show. */
  stepsIn(pixels: number): number {
    return (pixels * this.visible) / (this.width - GUTTER - RIGHT);
  }

  /** Zoom so that a step stays where it is. */
  setZoom(zoom: number, around: number): void {
    const share = (around - this.from) / this.visible;
    this.zoom = clamp(zoom, 1, Math.max(1, this.length / CLOSEST));
    this.moveTo(around - share * this.visible);
  }

  /** Let the view begin at a step, as far as it goes. */
  moveTo(from: number): void {
    this.from = clamp(from, 0, Math.max(0, this.length - this.visible));
  }
}
