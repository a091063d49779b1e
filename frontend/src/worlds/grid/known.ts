import { type Sighting, sightings } from "../../episode/knowledge";
import type { Pen } from "../../shared/canvas";
import type { GridPlan } from "../common/geometry";
import { label } from "./things";
import type { GridEpisode, GridMoment } from "./types";

/** What the agent of the layer perceives, or last perceived; nothing in the layer that shows everything. */
export const known = ({ layer, t }: GridMoment, episode: GridEpisode): Sighting[] =>
  layer ? sightings(episode, layer, t) : [];

/**
 * What an agent knows, over a picture that is faint: cells where it perceives something, and last sightings with their
 * age in steps.
 */
export function drawKnown(
  pen: Pen,
  map: GridPlan,
  moment: GridMoment,
  episode: GridEpisode,
  drawPicture: () => unknown,
): void {
  const { theme } = moment;
  const all = known(moment, episode);
  pen.fillStyle = theme.card;
  pen.globalAlpha = 0.72;
  pen.fillRect(map.left, map.top, map.columns * map.cell, map.rows * map.cell);
  pen.globalAlpha = 1;
  pen.save();
  pen.beginPath();
  for (const { row, column } of all.filter(({ age }) => age === 0))
    pen.rect(map.x(column), map.y(row), map.cell, map.cell);
  pen.clip();
  drawPicture();
  pen.restore();
  pen.setLineDash([3, 2]);
  for (const { name, row, column, age } of all.filter((it) => it.age > 0)) {
    const [x, y] = [map.x(column), map.y(row)];
    pen.fillStyle = theme.card;
    pen.fillRect(x + 2, y + 2, map.cell - 4, map.cell - 4);
    pen.strokeStyle = theme.ready;
    pen.lineWidth = 1.5;
    pen.strokeRect(x + 2, y + 2, map.cell - 4, map.cell - 4);
    const short = `${name.slice(0, 1)}${/\d*$/.exec(name)?.[0] ?? ""}`;
    label(pen, short, x + map.cell / 2, y + map.cell * 0.38, map.cell * 0.36, theme.ink);
    label(pen, `−${age}`, x + map.cell / 2, y + map.cell * 0.74, map.cell * 0.3, theme.ready);
  }
  pen.setLineDash([]);
}
