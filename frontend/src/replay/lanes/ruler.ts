import type { Episode } from "../../episode/episode";
import { isOdd, type Question } from "../../episode/question_log";
import { fit, type Pen } from "../../shared/canvas";
import { byId } from "../../shared/elements";
import { clamp } from "../../shared/numbers";
import type { Theme } from "../../shared/theme";
import { type Axis, GUTTER } from "./axis";
import { MARKS } from "./lane_words";

const ROW = 14; // pixels
const NUMBERS = 18;
const HIGH = NUMBERS + MARKS.length * ROW + 4;
const GAPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
const NEAR = 5; // pixels to either side that a mark is under the pointer

/** The middle of a row of marks. */
const middle = (row: number): number => NUMBERS + (row + 0.5) * ROW;

/** The steps in numbers, and marks of what happened in them. */
export class Ruler {
  readonly canvas = byId("ruler", HTMLCanvasElement);
  readonly #said: readonly number[];

  constructor(
    readonly episode: Episode,
    readonly axis: Axis,
  ) {
    this.#said = [...new Set(episode.messages.map((message) => message.step))];
    this.canvas.setAttribute("aria-label", `Ruler of steps with ${MARKS.map(({ name }) => name).join(", ")}`);
  }

  /** Whether the row of questions is at a height. */
  static isQuestions(y: number): boolean {
    return rowAt(y) === MARKS.length - 1;
  }

  /** Words on what is marked at a point. */
  wordsAt(x: number, y: number): string[] {
    if (x < GUTTER) return [];
    return MARKS[rowAt(y)]?.words(this.episode, this.axis.step(x), this.axis.stepsIn(NEAR)) ?? [];
  }

  draw(theme: Theme): void {
    const { axis } = this;
    const pen = fit(this.canvas, axis.width, HIGH);
    pen.clearRect(0, 0, axis.width, HIGH);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    pen.fillStyle = theme.soft;
    for (const [row, { name }] of MARKS.entries()) pen.fillText(name, 12, middle(row));
    pen.save();
    pen.beginPath();
    pen.rect(GUTTER - 6, 0, axis.width - GUTTER + 6, HIGH);
    pen.clip();
    this.#drawNumbers(pen, theme);
    this.#drawMessages(pen, theme);
    this.#drawJoints(pen, theme);
    this.#drawFailures(pen, theme);
    this.#drawGoals(pen);
    drawQuestions(pen, axis, this.episode.asked.questions, { top: middle(4) - 4, tall: 8, colour: theme.work, theme });
    pen.restore();
  }

  #drawNumbers(pen: Pen, theme: Theme): void {
    const { axis } = this;
    const gap = GAPS.find((every) => axis.x(every) - axis.x(0) >= 46) ?? 20_000;
    pen.textAlign = "center";
    for (let step = Math.ceil(axis.from / gap) * gap; step <= Math.min(axis.length, axis.until); step += gap) {
      const x = axis.x(step);
      pen.fillStyle = theme.soft;
      pen.fillText(String(step), clamp(x, GUTTER, axis.width - 10), NUMBERS / 2);
      pen.fillStyle = theme.line;
      pen.fillRect(x, NUMBERS - 3, 1, HIGH);
    }
  }

  #drawMessages(pen: Pen, theme: Theme): void {
    pen.fillStyle = theme.work;
    for (const step of this.#said) {
      if (!this.#isInView(step, step)) continue;
      pen.beginPath();
      pen.arc(this.axis.x(step), middle(0), 3, 0, 2 * Math.PI);
      pen.fill();
    }
  }

  /** A success hangs on the upper half, a failure on the lower: told apart without colour too. */
  #drawJoints(pen: Pen, theme: Theme): void {
    for (const { start, end, success } of this.episode.joints) {
      if (!this.#isInView(start, end)) continue;
      pen.fillStyle = success ? theme.good : theme.fail;
      const x = this.axis.x(start);
      pen.fillRect(x, middle(1) + (success ? -4.5 : 0.5), Math.max(2, this.axis.x(end) - x), 4);
    }
  }

  #drawFailures(pen: Pen, theme: Theme): void {
    pen.fillStyle = theme.fail;
    for (const { start, end } of this.episode.failures) {
      if (!this.#isInView(start, end)) continue;
      const x = this.axis.x(start);
      pen.globalAlpha = 0.3;
      pen.fillRect(x, middle(2) - 1, Math.max(1, this.axis.x(end) - x), 2);
      pen.globalAlpha = 1;
      pen.fillRect(x - 1, middle(2) - 4, 2, 8);
    }
  }

  #drawGoals(pen: Pen): void {
    for (const { id, done } of this.episode.goals) {
      if (done === undefined || !this.#isInView(done, done)) continue;
      const [x, y] = [this.axis.x(done), middle(3)];
      pen.fillStyle = this.episode.colour(id);
      pen.beginPath();
      pen.moveTo(x, y - 5);
      pen.lineTo(x + 5, y);
      pen.lineTo(x, y + 5);
      pen.lineTo(x - 5, y);
      pen.fill();
    }
  }

  #isInView(start: number, end: number): boolean {
    return end >= this.axis.from && start <= this.axis.until;
  }
}

const rowAt = (y: number): number => Math.floor((y - NUMBERS) / ROW);

/** A stroke for each step in which something was asked; odd ones, with unusable answers, are red and longer. */
export function drawQuestions(
  pen: Pen,
  axis: Axis,
  questions: readonly Question[],
  { top, tall, colour, theme }: { top: number; tall: number; colour: string; theme: Theme },
): void {
  const odd = new Map<number, boolean>(); // by step
  for (const question of questions) {
    if (question.step < axis.from || question.step > axis.until) continue;
    if (!question.skipped || odd.has(question.step)) {
      odd.set(question.step, (odd.get(question.step) ?? false) || isOdd(question));
    }
  }
  for (const [step, isOne] of odd) {
    pen.fillStyle = isOne ? theme.fail : colour;
    pen.fillRect(axis.x(step) - 1, isOne ? top - 1 : top, 2, isOne ? tall + 2 : tall);
  }
}
