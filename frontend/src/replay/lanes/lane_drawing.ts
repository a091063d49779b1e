import type { Episode } from "../../episode/episode";
import type { Lane } from "../../episode/lane";
import { type Pen, shortened } from "../../shared/canvas";
import { lastAt } from "../../shared/numbers";
import type { Theme } from "../../shared/theme";
import { say } from "../../shared/words";
import { type Axis, GUTTER } from "./axis";
import { type Group, type GroupPaces, PACES, paceOf } from "./rows";
import { drawQuestions } from "./ruler";

const LOW = 24; // pixels of a row below which letters and strokes are smaller

/** A row of the lanes: where it is, how high, and whether it is chosen. */
export interface Place {
  y: number;
  high: number;
  isChosen: boolean;
}

/** Draws the rows of the lanes on a canvas. */
export class LanePen {
  constructor(
    readonly pen: Pen,
    readonly axis: Axis,
    readonly episode: Episode,
    readonly theme: Theme,
  ) {
    pen.textBaseline = "middle";
  }

  /** Draw the row of an agent: questions, commitments, actions, and at their foot what they achieved step by step. */
  drawLane(lane: Lane, place: Place): void {
    const { pen, axis, theme } = this;
    this.#drawName(say(lane.name), place);
    this.#clipped(place, () => {
      const bar = {
        top: place.y + 6,
        tall: place.high - 9,
        foot: place.high < LOW ? 2 : 4,
        letters: place.high < LOW ? 10 : 11,
      };
      this.#drawRuns(lane, bar);
      this.#drawPassed(lane, bar.top);
      this.#drawPaces(lane, bar.top + bar.tall - bar.foot, bar.foot);
      for (const { start, end, goal } of lane.holds) {
        if (end < axis.from || start > axis.until) continue;
        pen.fillStyle = this.episode.colour(goal);
        pen.fillRect(axis.x(start), place.y + 2, Math.max(1, axis.x(end) - axis.x(start) - 0.5), 3);
      }
      const questions = this.episode.asked.of(lane.name);
      drawQuestions(pen, axis, questions, { top: place.y + 1, tall: 5, colour: theme.ink, theme });
    });
  }

  /** Draw the row of a group: how many of its agents achieved what, as heights over one another. */
  drawGroup(group: Group, paces: GroupPaces, isOpen: boolean, place: Place): void {
    const { pen, axis, theme } = this;
    const label = group.name.replace(/^\D+(?=\d)/, ""); // there is no room for more than the numbers
    this.#drawName(`${isOpen ? "▾" : "▸"} ${label}`, place);
    this.#clipped(place, () => {
      const [foot, tall] = [place.y + place.high - 2, place.high - 4];
      pen.fillStyle = theme.faint;
      pen.fillRect(axis.x(0), place.y + 2, axis.x(paces.steps) - axis.x(0), tall);
      for (let x = Math.max(GUTTER, axis.x(0)); x < Math.min(axis.width, axis.x(paces.steps)); x++) {
        const start = Math.floor(axis.step(x));
        const end = Math.min(paces.steps, Math.max(start + 1, Math.floor(axis.step(x + 1))));
        let top = foot;
        for (const pace of PACES) {
          const high = (paces.mean(pace, start, end) / group.places.length) * tall;
          pen.fillStyle = theme[pace];
          pen.fillRect(x, top - high, 1, high);
          top -= high;
        }
      }
      pen.fillStyle = theme.fail;
      for (const step of paces.failed) {
        if (step >= axis.from && step <= axis.until) pen.fillRect(axis.x(step + 1) - 2, place.y + 1, 2, 3);
      }
    });
  }

  #drawName(name: string, { y, high, isChosen }: Place): void {
    const { pen, theme } = this;
    if (isChosen) {
      pen.fillStyle = theme.faint;
      pen.fillRect(0, y, this.axis.width, high);
    }
    pen.fillStyle = isChosen ? theme.ink : theme.soft;
    pen.font = `${isChosen ? 600 : 400} ${high < LOW ? 11 : 12}px system-ui, sans-serif`;
    pen.textAlign = "left";
    pen.fillText(shortened(pen, name, GUTTER - 18), 12, y + high / 2);
  }

  #clipped({ y, high }: Place, draw: () => void): void {
    this.pen.save();
    this.pen.beginPath();
    this.pen.rect(GUTTER, y, this.axis.width - GUTTER, high);
    this.pen.clip();
    draw();
    this.pen.restore();
  }

  #drawRuns(
    { runs }: Lane,
    { top, tall, foot, letters }: { top: number; tall: number; foot: number; letters: number },
  ): void {
    const { pen, axis, theme } = this;
    pen.font = `${letters}px system-ui, sans-serif`;
    for (const span of runs.slice(Math.max(0, lastAt(runs, axis.from, "start")))) {
      if (span.start > axis.until) break;
      if (span.action.startsWith("wait(")) continue;
      const x = axis.x(span.start);
      const wide = Math.max(1, axis.x(span.end) - x - 1);
      const failed = span.status === "failed";
      pen.fillStyle = failed ? theme.failbar : theme.bar;
      pen.beginPath();
      pen.roundRect(x, top, wide, tall, Math.min(3, wide / 2));
      pen.fill();
      if (failed) {
        pen.fillStyle = theme.fail;
        pen.fillRect(x + wide - 2, top, 2, tall);
      }
      const left = Math.max(x, GUTTER) + 5;
      const label = brief(pen, failed ? "✕ " : "", say(span.action), x + wide - left - 3);
      pen.fillStyle = theme.ink;
      if (label) pen.fillText(label, left, top + (tall - foot) / 2 + 0.5);
    }
  }

  #drawPassed({ passed }: Lane, top: number): void {
    const { pen, axis } = this;
    pen.fillStyle = this.theme.fail;
    for (const { start } of passed) {
      if (start < axis.from || start > axis.until) continue;
      const x = axis.x(start);
      pen.beginPath();
      pen.moveTo(x - 3, top);
      pen.lineTo(x + 3, top);
      pen.lineTo(x, top + 5);
      pen.fill();
    }
  }

  /** The foot of the bars: what the agent achieved step by step. Equal rows in a row are one stroke. */
  #drawPaces({ paces, runs }: Lane, top: number, deep: number): void {
    const { pen, axis } = this;
    const over = runs.at(-1)?.end ?? 0;
    for (let at = Math.max(0, lastAt(paces, axis.from, "step")); ; ) {
      const row = paces[at];
      if (!row || row.step > axis.until) return;
      const pace = paceOf(row);
      let next = paces[++at];
      while (next && paceOf(next) === pace) next = paces[++at];
      if (!pace) continue;
      const x = axis.x(row.step);
      const wide = Math.max(0.5, axis.x(next?.step ?? over) - x - 1);
      pen.fillStyle = this.theme[pace];
      if (pace !== "ready") pen.fillRect(x, top, wide, deep);
      else for (let dot = 0; dot < wide; dot += 5) pen.fillRect(x + dot, top, Math.min(2.5, wide - dot), deep);
    }
  }
}

/** As much of a label as fits: whole, its verb, or nothing. */
function brief(pen: Pen, mark: string, text: string, room: number): string {
  if (room < 10) return "";
  const verb = text.split("(")[0] ?? "";
  const forms = [mark + text, mark + verb, mark.trim()];
  return forms.find((form) => form && pen.measureText(form).width <= room) ?? "";
}
