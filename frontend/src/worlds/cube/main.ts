/**
 * CUBE: a grid of K x K cells, the goal column at the right, blocks as wide as they are heavy, agents. A block and the
 * agents bound to it have the same colour. A block that is pushed shows its force: a box for each agent that it takes,
 * filled for those who push now, empty for those who are missing, and an arrow from each who pushes.
 */
import type { Pen } from "../../shared/canvas";
import { mix } from "../../shared/colours";
import { between, clamp, ease } from "../../shared/numbers";
import type { Theme } from "../../shared/theme";
import { plural, say } from "../../shared/words";
import type { Drawer } from "../../stage/drawer";
import { cellAt, entry, type GridPlan, layGrid } from "../common/geometry";
import { sheet, write } from "../common/marks";
import { Paper } from "../common/paper";
import { register } from "../common/register";
import { drawAgents, drawTrails } from "./agents";
import { drawForces, FITS, type Force, forces, tellForce } from "./force";
import { keyOf } from "./key";
import type { CubeEpisode, CubeFrame, CubeMoment, CubeStatic } from "./types";

const ROOMY = 54; // pixels of a block that holds a second line of text
const MOST_TRAILS = 64; // agents: more of them would be a tangle
const paper = new Paper();

const planOf = (size: number, { static: { grid_size: side } }: CubeEpisode, view: CubeMoment["view"] | undefined) =>
  layGrid(size, side, side, view);

/** The empty grid. */
function drawGround(pen: Pen, { size, rows: side, cell, left, top }: GridPlan, theme: Theme): void {
  pen.fillStyle = theme.card;
  pen.fillRect(0, 0, size, size);
  pen.fillStyle = theme.goalzone;
  pen.fillRect(left + (side - 1) * cell, top, cell, side * cell);
  pen.strokeStyle = theme.line;
  pen.lineWidth = cell < 6 ? 0.3 : 0.7;
  pen.beginPath();
  const every = cell < 5 ? 8 : 1;
  for (let line = every; line < side; line += every) {
    pen.moveTo(left + line * cell, 0);
    pen.lineTo(left + line * cell, size);
    pen.moveTo(0, top + line * cell);
    pen.lineTo(size, top + line * cell);
  }
  pen.stroke();
}

function drawBlocks(
  pen: Pen,
  map: GridPlan,
  { frame, next, share, theme }: CubeMoment,
  episode: CubeEpisode,
  pushed: ReadonlyMap<number, Force>,
): void {
  const { cell } = map;
  for (const [block, place] of frame.blocks.entries()) {
    if (!place) continue;
    const colour = episode.colour(`block_${block}`);
    const weight = episode.static.weights[block] ?? 0;
    const side = weight * cell;
    const to = next.blocks[block];
    const [row, column] = to ?? [place[0], place[1] + 1]; // delivered: it slides off to the right
    const x = map.x(between(place[1], column, ease(share)));
    const y = map.y(between(place[0], row, ease(share)));
    const rim = clamp(cell * 0.1, 1, 3);
    pen.globalAlpha = to ? 1 : 1 - share;
    const corner = clamp(cell * 0.18, 0, 6);
    const inner = side - 2 * rim;
    sheet(pen, [x + rim, y + rim, inner, inner], corner, mix(theme.card, colour, 0.22), colour, rim * 1.4);
    const middle = side / 2;
    const hasForce = side >= FITS && pushed.has(block);
    const big = side >= ROOMY && !hasForce;
    const up = hasForce ? side * 0.16 : big ? side * 0.08 : 0;
    const bold = { weight: 600 };
    if (side >= 13) {
      const font = clamp(side * (hasForce ? 0.28 : 0.34), 8, 22);
      write(pen, side >= 26 ? `B${block}` : String(block), x + middle, y + middle - up, font, theme.ink, bold);
    }
    if (big) {
      const down = y + middle + clamp(side * 0.22, 10, 20);
      write(pen, `weight ${weight}`, x + middle, down, clamp(side * 0.16, 10, 13), theme.soft, { weight: 400 });
    }
    pen.globalAlpha = 1;
  }
}

const cube: Drawer<CubeStatic, CubeFrame> = {
  zooms: true,
  key: keyOf,

  draw(pen, size, moment, episode) {
    const map = planOf(size, episode, moment.view);
    const { theme, team, frame, next } = moment;
    const key = [map.rows, ...Object.values(map.view), theme.card];
    const ground = paper.take(episode, key, size, (own) => drawGround(own, map, theme));
    pen.drawImage(ground, 0, 0, size, size);
    const colours = team.map((agent) => (agent.aim ? episode.colour(agent.aim) : theme.idle));
    if (team.length <= MOST_TRAILS) drawTrails(pen, map, moment, episode, colours);
    const pushed = forces(moment);
    drawBlocks(pen, map, moment, episode, pushed);
    const part = ease(moment.share);
    const radius = Math.max(1.6, map.cell * 0.38);
    const agents = frame.agents.map((from, place) => {
      const to = entry(next.agents, place);
      return {
        x: map.x(between(from[1], to[1], part) + 0.5),
        y: map.y(between(from[0], to[0], part) + 0.5),
        radius,
      };
    });
    drawAgents(pen, map.cell, agents, moment, colours);
    drawForces(pen, map, moment, episode, pushed);
    return { agents };
  },

  label(moment, episode, x, y, size) {
    const map = planOf(size, episode, moment.view);
    const cell = cellAt(map, x, y);
    if (!cell) return [];
    const [row, column] = cell;
    const pushed = forces(moment);
    const who = moment.frame.agents.flatMap(([down, right], place) => {
      const { gone, aim } = entry(moment.team, place);
      if (down !== row || right !== column || gone) return [];
      return [`${say(entry(episode.team, place).name)}${aim ? `, bound to ${say(aim)}` : ""}`];
    });
    const what = moment.frame.blocks.flatMap((place, block) => {
      const weight = episode.static.weights[block] ?? 0;
      if (!place || row < place[0] || column < place[1] || row >= place[0] + weight || column >= place[1] + weight)
        return [];
      const now = pushed.get(block);
      const told = now ? [`force ${tellForce(now, ", held up", ", it moves")}: ${now.who.map(say).join(", ")}`] : [];
      return [`block ${block}, weight ${weight}`, ...told];
    });
    return [...who, ...what, ...(column === map.columns - 1 ? ["blocks go here"] : []), `(${row}, ${column})`];
  },

  words({ t, frame }, episode) {
    const left = frame.blocks.filter(Boolean).length;
    const side = episode.static.grid_size;
    const team = plural(frame.agents.length, "agent");
    return `Grid of ${side} by ${side} cells at step ${t}: ${team}, ${plural(left, "block")} left.`;
  },
};

register("cube", cube, { forces });
