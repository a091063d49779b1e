import type { StepRecord } from "../../records";
import type { Pen } from "../../shared/canvas";
import { inkOn } from "../../shared/colours";
import { clamp } from "../../shared/numbers";
import type { Theme } from "../../shared/theme";
import type { Spot } from "../../stage/drawer";
import { entry, type GridPlan, type Point } from "../common/geometry";
import { disc, track, write } from "../common/marks";
import type { CubeEpisode, CubeMoment } from "./types";

const DIRECTION: Readonly<Record<string, Point>> = { UP: [-1, 0], DOWN: [1, 0], LEFT: [0, -1], RIGHT: [0, 1] };
const TRAIL = 10;

/** What a step of an agent shows. */
export type Effort = Pick<StepRecord, "primitive" | "moved" | "effect" | "ready">;

/** The ways of the last steps. */
export function drawTrails(
  pen: Pen,
  map: GridPlan,
  moment: CubeMoment,
  episode: CubeEpisode,
  colours: readonly string[],
): void {
  const first = Math.max(0, moment.t - TRAIL);
  if (map.cell < 6 || first === moment.t) return;
  for (const [place, colour] of colours.entries()) {
    const way = Array.from({ length: moment.t - first + 1 }, (_, k): Point => {
      const [row, column] = entry(episode.frame(first + k).agents, place);
      return [map.x(column + 0.5), map.y(row + 0.5)];
    });
    track(pen, way, colour, map.cell * 0.14, 0.28);
  }
}

/** An arrow ahead of one who pushes; a bar before one who is held up; dashes round one who waits for others. */
export function drawEffort(pen: Pen, cell: number, { x, y, radius }: Spot, pace: Effort | null, theme: Theme): void {
  if (!pace || cell < 6) return;
  if (pace.ready) {
    pen.setLineDash([2.5, 2.5]);
    pen.beginPath();
    pen.arc(x, y, radius + 2, 0, 2 * Math.PI);
    pen.strokeStyle = theme.ready;
    pen.lineWidth = 1.6;
    pen.stroke();
    pen.setLineDash([]);
  }
  const way = DIRECTION[pace.primitive ?? ""];
  if (!way || (pace.moved && !pace.effect)) return;
  const [rows, columns] = way;
  const wide = cell * 0.22;
  pen.strokeStyle = pen.fillStyle = pace.effect ? theme.ink : theme.fail;
  pen.lineWidth = clamp(cell * 0.11, 1.5, 3);
  pen.lineCap = pen.lineJoin = "round";
  pen.beginPath();
  if (pace.effect) {
    const [from, to] = [radius + cell * 0.02, radius + cell * 0.5];
    const tip: Point = [x + columns * to, y + rows * to];
    pen.moveTo(x + columns * from, y + rows * from);
    pen.lineTo(...tip);
    pen.moveTo(tip[0] + rows * wide - columns * wide, tip[1] + columns * wide - rows * wide);
    pen.lineTo(...tip);
    pen.lineTo(tip[0] - rows * wide - columns * wide, tip[1] - columns * wide - rows * wide);
  } else {
    const ahead = radius + cell * 0.12;
    const [barX, barY] = [x + columns * ahead, y + rows * ahead];
    pen.moveTo(barX + rows * wide, barY + columns * wide);
    pen.lineTo(barX - rows * wide, barY - columns * wide);
  }
  pen.stroke();
}

export function drawAgents(
  pen: Pen,
  cell: number,
  agents: readonly Spot[],
  { theme, team, chosen }: CubeMoment,
  colours: readonly string[],
): void {
  for (const [place, spot] of agents.entries()) {
    const { gone, pace } = entry(team, place);
    if (gone) continue;
    const [colour, isChosen] = [entry(colours, place), place === chosen];
    disc(pen, [spot.x, spot.y], spot.radius, colour, isChosen ? theme.ink : theme.card, isChosen ? 3 : 1);
    const share = place > 99 ? 0.3 : place > 9 ? 0.4 : 0.48;
    if (cell >= 11) write(pen, String(place), spot.x, spot.y + 0.5, cell * share, inkOn(colour), { weight: 700 });
    drawEffort(pen, cell, spot, pace, theme);
  }
}
