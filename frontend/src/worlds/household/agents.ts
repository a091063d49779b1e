import type { Pen } from "../../shared/canvas";
import { inkOn } from "../../shared/colours";
import { between, ease } from "../../shared/numbers";
import type { Spot } from "../../stage/drawer";
import { entry, type FloorPlan, type Point } from "../common/geometry";
import { beginHeading, track, write } from "../common/marks";
import type { KnownFrame } from "./knowledge";
import { colourOf, drawTag, markOf } from "./tags";
import type { HomeEpisode, HomeMoment } from "./types";

const TRAIL = 10;

export function drawPointer(pen: Pen, [x, y]: Point, radius: number, ahead: number | null, fill: string): void {
  beginHeading(pen, [x, y], radius, ahead, 1.65);
  pen.moveTo(x + radius, y);
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fillStyle = fill;
  pen.fill();
}

/** Where agents are drawn: those who stand on one another are moved aside. */
function spotsOf(plan: FloorPlan, { frame, next, share }: HomeMoment, radius: number): Point[] {
  const found: Point[] = [];
  for (const [place, [x, z]] of frame.agents.entries()) {
    const to = next.agents[place] ?? [x, z];
    const [left, top] = plan.spot(between(x, to[0], ease(share)), between(z, to[1], ease(share)));
    let at: Point = [left, top];
    for (let k = 1; k < 7; k++) {
      if (found.every((other) => Math.hypot(at[0] - other[0], at[1] - other[1]) >= radius)) break;
      at = [left + 1.7 * radius * Math.cos(k * 1.05), top + 1.7 * radius * Math.sin(k * 1.05)];
    }
    found.push(at);
  }
  return found;
}

export function drawAgents(
  pen: Pen,
  plan: FloorPlan,
  moment: HomeMoment,
  frame: KnownFrame,
  episode: HomeEpisode,
): Spot[] {
  const { style } = episode;
  const radius = 11.5 * plan.unit;
  const drawn = spotsOf(plan, moment, radius);
  for (const [place, spot] of drawn.entries()) {
    if (frame.unmet.has(place)) continue;
    const { aim } = entry(moment.team, place);
    const colour = aim ? episode.colour(aim) : "#ffffff";
    const heading = entry(frame.agents, place)[2];
    const ahead = heading === null ? null : (heading * Math.PI) / 180;
    const first = Math.max(0, moment.t - TRAIL);
    const way = Array.from({ length: moment.t - first + 1 }, (_, k) => {
      const [x, z] = entry(episode.frame(first + k).agents, place);
      return plan.spot(x, z);
    });
    track(pen, way, aim ? colour : style.soft, 3 * plan.unit, 0.45);
    drawPointer(pen, spot, radius + (place === moment.chosen ? 3.2 : 1.6) * plan.unit, ahead, style.ink);
    drawPointer(pen, spot, radius, ahead, colour);
    const { name } = entry(episode.team, place);
    write(pen, name.charAt(0), spot[0], spot[1] + 0.5, radius * 1.15, inkOn(colour), { weight: 700 });
    drawHands(pen, plan, spot, radius, entry(frame.hands, place), episode);
    const halo = { weight: 600, halo: "#ffffff" };
    write(pen, name, spot[0], spot[1] + 1.85 * radius, 12 * plan.unit, style.ink, halo);
  }
  return drawn.map(([x, y]) => ({ x, y, radius }));
}

/** What an agent holds, right and left of it. */
function drawHands(
  pen: Pen,
  plan: FloorPlan,
  [x, y]: Point,
  radius: number,
  hands: readonly (number | null)[],
  episode: HomeEpisode,
): void {
  const { style, static: fixed } = episode;
  for (const [side, held] of hands.entries()) {
    if (held === null) continue;
    const thing = fixed.things.find(({ id }) => id === held);
    const need = fixed.needs.find(({ name }) => name === thing?.name);
    const at: Point = [x + (side ? -1.5 : 1.5) * radius, y - 0.9 * radius];
    const [colour, mark] = need ? [colourOf(episode, need), markOf(style, need.name)] : ["#ffffff", "?"];
    drawTag(pen, plan.unit, style, at, colour, mark);
  }
}
