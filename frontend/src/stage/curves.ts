import type { Episode } from "../episode/episode";
import { fit } from "../shared/canvas";
import { byId } from "../shared/elements";
import { colourIn, type Theme } from "../shared/theme";
import type { Curve } from "./drawer";

const HIGH = 74; // pixels
const [LEFT, RIGHT, TOP, BOTTOM] = [8, 8, 16, 6];

const inWords = (value: number): string => (Math.round(value * 100) / 100).toLocaleString("en");

/** Curves over the steps below the picture: the score, and what the world's drawer counts. A click goes to a step. */
export class Curves {
  rows: (Curve & { low: number; high: number })[] = [];
  /** Of the axis in steps: beside a longer episode it is that one's. */
  length: number;
  readonly #box = byId("curves");
  readonly #canvas = byId("curve", HTMLCanvasElement);
  #width = 0;
  #paper: { key: string; canvas: HTMLCanvasElement } | null = null;

  constructor(
    readonly episode: Episode,
    curves: readonly Curve[],
    jump: (step: number) => void,
  ) {
    this.length = episode.steps;
    this.add(curves);
    this.#canvas.addEventListener("click", (event) => {
      jump(Math.round(((event.offsetX - LEFT) / (this.#width - LEFT - RIGHT)) * this.length));
    });
  }

  /** Add those curves that have a value for each moment. */
  add(curves: readonly Curve[]): void {
    const whole = curves.filter(({ values }) => values.length === this.episode.steps + 1);
    this.rows.push(
      ...whole.map((row) => ({ ...row, low: Math.min(0, ...row.values), high: Math.max(0, ...row.values) })),
    );
    this.#box.hidden = !this.rows.length || !this.episode.steps;
    const names = this.rows.map((row) => row.name).join(", ");
    this.#canvas.setAttribute("aria-label", `Curves over the steps: ${names}`);
    this.#paper = null;
  }

  draw(t: number, theme: Theme): void {
    if (this.#box.hidden) return;
    this.#width = this.#box.clientWidth;
    const pen = fit(this.#canvas, this.#width, HIGH);
    pen.clearRect(0, 0, this.#width, HIGH);
    pen.drawImage(this.#lines(theme), 0, 0, this.#width, HIGH);
    pen.font = "11px system-ui, sans-serif";
    let at = LEFT;
    for (const row of this.rows) {
      const value = row.values[t] ?? 0;
      pen.fillStyle = colourIn(theme, row.colour);
      pen.beginPath();
      pen.arc(this.#x(t), y(row, value), 3, 0, 2 * Math.PI);
      pen.fill();
      const words = `${row.name} ${inWords(value)}  (${inWords(row.low)} to ${inWords(row.high)})`;
      pen.fillText(words, at, 11);
      at += pen.measureText(words).width + 22;
    }
    pen.fillStyle = theme.ink;
    pen.fillRect(this.#x(t) - 0.5, TOP, 1, HIGH - TOP - BOTTOM);
  }

  #x(step: number): number {
    return LEFT + (step / this.length) * (this.#width - LEFT - RIGHT);
  }

  /** The curves themselves, kept until the width or the theme changes. */
  #lines(theme: Theme): HTMLCanvasElement {
    const key = [this.#width, this.length, theme.ink, window.devicePixelRatio].join();
    if (this.#paper?.key === key) return this.#paper.canvas;
    const canvas = document.createElement("canvas");
    const pen = fit(canvas, this.#width, HIGH);
    pen.strokeStyle = theme.line;
    pen.strokeRect(LEFT + 0.5, TOP + 0.5, this.#width - LEFT - RIGHT - 1, HIGH - TOP - BOTTOM - 1);
    pen.lineWidth = 1.6;
    for (const row of this.rows) {
      pen.strokeStyle = colourIn(theme, row.colour);
      pen.beginPath();
      for (const [step, value] of row.values.entries()) pen.lineTo(this.#x(step), y(row, value));
      pen.stroke();
    }
    this.#paper = { key, canvas };
    return canvas;
  }
}

function y({ low, high }: { low: number; high: number }, value: number): number {
  return HIGH - BOTTOM - 3 - ((value - low) / (high - low || 1)) * (HIGH - TOP - BOTTOM - 6);
}
