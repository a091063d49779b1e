import type { Pen } from "../../shared/canvas";
import { inkOn } from "../../shared/colours";
import { between, clamp, ease } from "../../shared/numbers";
import type { Theme } from "../../shared/theme";
import type { Spot } from "../../stage/drawer";
import { AWAY, type GridPlan, type Point } from "../common/geometry";
import { disc, FONT, force, pill, sheet, track } from "../common/marks";
import { drawThing, label, lookOf } from "./things";
import type { GridAgent, GridEpisode, GridFrame, GridMoment, Kinds } from "./types";

const FACING = { north: [-1, 0], south: [1, 0], west: [0, -1], east: [0, 1] } as const;
const TRAIL = 8; // steps

/**
 * Where agents are drawn, as [row, column, radius] in cells, null for those that are gone: those that share a cell stand
 * in a ring, smaller; beside a thing that has a label, so that this can be read.
 */
export function spread({ agents, things }: GridFrame): ([number, number, number] | null)[] {
  const key = (at: readonly [number, number, ...unknown[]]) => `${at[0]},${at[1]}`;
  const labelled = new Set(things.filter((thing) => thing[3]).map(key));
  const cells = new Map<string, GridAgent[]>();
  for (const agent of agents) if (agent) cells.set(key(agent), [...(cells.get(key(agent)) ?? []), agent]);
  return agents.map((agent) => {
    if (!agent) return null;
    const [row, column] = agent;
    const here = cells.get(key(agent)) ?? [];
    if (here.length === 1)
      return labelled.has(key(agent)) ? [row + 0.74, column + 0.74, 0.24] : [row + 0.5, column + 0.5, 0.34];
    const angle = (2 * Math.PI * here.indexOf(agent)) / here.length;
    return [row + 0.5 - 0.25 * Math.cos(angle), column + 0.5 + 0.25 * Math.sin(angle), here.length < 5 ? 0.2 : 0.12];
  });
}

/** The middle of each agent between two moments; those that are gone are off the picture. */
export function places(map: GridPlan, { frame, next, share }: GridMoment): Spot[] {
  const ends = spread(next);
  return spread(frame).map((from, place) => {
    if (!from) return AWAY;
    const to = ends[place] ?? from;
    const part = ease(share);
    return {
      x: map.x(between(from[1], to[1], part)),
      y: map.y(between(from[0], to[0], part)),
      radius: Math.max(2, map.cell * between(from[2], to[2], part)),
    };
  });
}

/** The way of the last steps, to where the agent is drawn. */
export function drawTrail(
  pen: Pen,
  map: GridPlan,
  spot: Spot,
  place: number,
  moment: GridMoment,
  episode: GridEpisode,
  colour: string,
): void {
  const first = Math.max(0, moment.t - TRAIL);
  if (map.cell < 6 || (first === moment.t && !moment.share)) return;
  const way: Point[] = [];
  for (let t = first; t <= moment.t; t++) {
    const at = episode.frame(t).agents[place];
    if (at) way.push([map.x(at[1] + 0.5), map.y(at[0] + 0.5)]);
  }
  track(pen, [...way, [spot.x, spot.y]], colour, map.cell * 0.12, 0.35);
}

/** Whether the world's labels say who is who, as numbers or letters of names do; others stand beside the number. */
export const areNames = ({ agents }: GridFrame, { team }: GridEpisode): boolean =>
  agents.every(
    (agent, place) => !agent?.[2] || agent[2].includes(String(place)) || team[place]?.name.includes(agent[2]),
  );

/** How an agent is drawn. */
export interface AgentLook {
  colour: string;
  theme: Theme;
  isChosen: boolean;
  kinds: Kinds;
  /** Whether its label says who it is. */
  isNamed: boolean;
}

export function drawAgent(pen: Pen, spot: Spot, place: number, agent: GridAgent, look: AgentLook): void {
  const [, , own, facing, held] = agent;
  const { colour, theme, isChosen, kinds, isNamed } = look;
  const { x, y, radius } = spot;
  if (facing) drawFacing(pen, spot, FACING[facing], theme);
  disc(pen, [x, y], radius, colour, theme.ink, isChosen ? 3 : 1.2);
  if (held) drawThing(pen, lookOf(kinds, held), x - radius * 0.72, y + radius * 0.72, radius * 1.25, theme.ink);
  const extra = isNamed ? "" : own;
  label(pen, extra || !own ? String(place) : own, x, y, radius * 1.2, inkOn(colour));
  if (!extra || radius < 8) return;
  const size = radius * 0.72;
  pen.font = `600 ${size}px ${FONT}`;
  const wide = Math.max(size * 1.3, pen.measureText(extra).width + size * 0.6);
  const box = [x + radius * 0.72 - wide / 2, y - radius * 0.72 - size * 0.65, wide, size * 1.3] as const;
  sheet(pen, box, size * 0.3, theme.card, theme.ink, 1.2);
  label(pen, extra, x + radius * 0.72, y - radius * 0.72, size, theme.ink);
}

function drawFacing(pen: Pen, { x, y, radius }: Spot, [down, right]: Point, theme: Theme): void {
  const [far, near, wide] = [1.5 * radius, 0.7 * radius, 0.62 * radius];
  pen.beginPath();
  pen.moveTo(x + right * far, y + down * far);
  pen.lineTo(x + right * near + down * wide, y + down * near + right * wide);
  pen.lineTo(x + right * near - down * wide, y + down * near - right * wide);
  pen.closePath();
  pen.fillStyle = theme.ink;
  pen.fill();
}

/** Those who act together, and how many of how many it takes: joined by lines. */
export function drawJoints(
  pen: Pen,
  map: GridPlan,
  agents: readonly Spot[],
  { joints, theme }: GridMoment,
  episode: GridEpisode,
): void {
  for (const joint of joints) {
    const spots = joint.who
      .flatMap((name) => agents[episode.place.get(name) ?? -1] ?? [])
      .filter((spot) => spot.radius);
    if (!spots.length || map.cell < 6) continue;
    const colour = joint.success ? theme.good : theme.fail;
    const font = clamp(map.cell * 0.3, 10, 15);
    const middle = spots.reduce((sum, spot) => sum + spot.x, 0) / spots.length;
    const x = clamp(middle, 2 * font, map.size - 2 * font);
    const y = clamp(Math.min(...spots.map((spot) => spot.y - spot.radius)) - font * 1.4, font, map.size - font);
    pen.strokeStyle = colour;
    pen.lineWidth = 2;
    pen.beginPath();
    for (const spot of spots) {
      pen.moveTo(x, y);
      pen.lineTo(spot.x, spot.y - spot.radius);
    }
    pen.stroke();
    const words = force(joint).join("/");
    pen.font = `700 ${font}px ${FONT}`;
    pill(pen, words, x, y, font, colour, pen.measureText(words).width + font);
  }
}
