import type { Pen } from "../../shared/canvas";
import { clamp } from "../../shared/numbers";
import type { Theme } from "../../shared/theme";
import type { GridPlan } from "../common/geometry";
import { FONT, force, pill } from "../common/marks";
import type { CubeEpisode, CubeMoment } from "./types";

/** Pixels of a block that holds a label and its force. */
export const FITS = 30;
const MOST_BOXES = 20; // of a force; beyond them it is a bar

/** How hard a block is pushed: how many push at once, how many it takes, and whether it moves. */
export interface Force {
  have: number;
  need: number;
  moves: boolean;
  who: string[];
}

const blockOf = (goal: string): number => Number(goal.split("_")[1]);

/** The force on each block that is tried in the step, by its number. */
export function forces({ joints }: Pick<CubeMoment, "joints">): Map<number, Force> {
  const found = new Map<number, Force>();
  for (const joint of joints) {
    const [have, need] = force(joint);
    found.set(blockOf(joint.goal), { have, need, moves: joint.success, who: joint.who });
  }
  return found;
}

/** A force in words: how many push, and how many are missing. */
export function tellForce({ have, need, moves }: Force, held = ", held up", moved = ""): string {
  if (have < need) return `${have} of ${need}, ${need - have} missing`;
  return `${have} of ${need}${moves ? moved : held}`;
}

/** The force on each block: in boxes and as "2 of 5", and how much is missing; in words where there is room for them. */
export function drawForces(
  pen: Pen,
  map: GridPlan,
  moment: CubeMoment,
  { static: { weights } }: CubeEpisode,
  pushed: ReadonlyMap<number, Force>,
): void {
  const { theme } = moment;
  const { cell, size } = map;
  for (const [block, now] of pushed) {
    const place = moment.frame.blocks[block];
    if (!place || cell < 5) continue;
    const side = (weights[block] ?? 0) * cell;
    const colour = now.moves ? theme.good : theme.fail;
    const isIn = side >= FITS;
    const font = isIn ? clamp(side * 0.15, 9, 13) : clamp(cell * 0.55, 9, 12);
    const long = tellForce(now);
    pen.font = `700 ${font}px ${FONT}`;
    const words = isIn && pen.measureText(long).width < side - font ? long : `${now.have}/${now.need}`;
    const wide = Math.max(pen.measureText(words).width + font, isIn ? 0 : 2 * font);
    const x = clamp(map.x(place[1]) + (isIn ? side / 2 : side), wide / 2 + 2, size - wide / 2 - 2);
    const y = clamp(map.y(place[0]) + (isIn ? side * 0.6 : 0), font, size - font);
    pill(pen, words, x, y, font, colour, wide);
    if (!isIn) continue;
    const bar = { wide: Math.min(side - 12, 13 * now.need), high: clamp(side * 0.1, 5, 9) };
    drawBoxes(pen, x, y + font * 1.15, bar, now, colour, theme);
  }
}

/** A box for each agent that it takes, filled for those who push now. */
export function drawBoxes(
  pen: Pen,
  x: number,
  y: number,
  { wide, high }: { wide: number; high: number },
  { have, need }: Pick<Force, "have" | "need">,
  colour: string,
  theme: Theme,
): void {
  const left = x - wide / 2;
  pen.lineWidth = 1.2;
  pen.strokeStyle = colour;
  pen.fillStyle = theme.card;
  pen.fillRect(left, y, wide, high);
  pen.fillStyle = colour;
  if (need > MOST_BOXES || wide / need < 4) {
    pen.fillRect(left, y, (wide * Math.min(have, need)) / need, high);
    pen.strokeRect(left, y, wide, high);
    return;
  }
  const each = wide / need;
  for (let box = 0; box < need; box++) {
    if (box < have) pen.fillRect(left + box * each + 1, y, each - 2, high);
    else pen.setLineDash([2, 1.5]);
    pen.strokeRect(left + box * each + 1, y, each - 2, high);
  }
  pen.setLineDash([]);
}
