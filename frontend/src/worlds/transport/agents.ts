import type { Pen } from "../../shared/canvas";
import { inkOn } from "../../shared/colours";
import { between } from "../../shared/numbers";
import type { Spot } from "../../stage/drawer";
import { type Box, entry, type FloorPlan, type Point } from "../common/geometry";
import { beginHeading, disc, track, write } from "../common/marks";
import { countContents, drawItem } from "./items";
import type { HouseEpisode, HouseMoment } from "./types";

/** Steps whose way is drawn strongly. */
export const TRAIL = 4;
const HALF_VIEW = Math.PI / 4;
const RAYS = 90;

/** Where an agent is between two moments: along the way of the step. */
export function alongWay(way: readonly [Point, ...Point[]], share: number): Point {
  const lengths = way.slice(1).map(([x, z], k) => Math.hypot(x - entry(way, k)[0], z - entry(way, k)[1]));
  let left = lengths.reduce((sum, long) => sum + long, 0) * share;
  for (const [k, long] of lengths.entries()) {
    const [from, to] = [entry(way, k), entry(way, k + 1)];
    if (left <= long && long > 0) return [between(from[0], to[0], left / long), between(from[1], to[1], left / long)];
    left -= long;
  }
  return entry(way, way.length - 1);
}

const walked = new WeakMap<HouseEpisode, { t: number; paths: Path2D[] }>();

/** The way of each agent up to a moment, in the units of the plan; it grows with the moment. */
function ways(episode: HouseEpisode, t: number): readonly Path2D[] {
  let kept = walked.get(episode);
  if (!kept || kept.t > t) kept = { t: 0, paths: episode.team.map(() => new Path2D()) };
  walked.set(episode, kept);
  for (; kept.t < t; kept.t++) {
    for (const [place, trail] of (episode.frame(kept.t + 1).trails ?? []).entries())
      for (const [k, spot] of (trail ?? []).entries()) kept.paths[place]?.[k ? "lineTo" : "moveTo"](...spot);
  }
  return kept.paths;
}

function drawTrail(
  pen: Pen,
  plan: FloorPlan,
  place: number,
  { t }: HouseMoment,
  episode: HouseEpisode,
  colour: string,
): void {
  pen.strokeStyle = colour;
  pen.lineJoin = pen.lineCap = "round";
  pen.save();
  pen.transform(...plan.flip);
  pen.globalAlpha = 0.4;
  pen.lineWidth = (1.3 * plan.unit) / plan.scale;
  pen.stroke(entry(ways(episode, t), place));
  pen.restore();
  const first = Math.max(1, t - TRAIL + 1);
  const last = Array.from({ length: Math.max(0, t - first + 1) }, (_, k) => episode.frame(first + k).trails?.[place]);
  const spots = last.flatMap((way) => (way ?? []).map((spot) => plan.spot(...spot)));
  track(pen, spots, colour, 3.2 * plan.unit, 0.6);
}

/** How far a ray goes, in the units of the plan, until it meets a wall. */
function reachOf(walls: readonly Box[], [x, z]: Point, [east, north]: Point, most: number): number {
  let far = most;
  for (const [x0, z0, x1, z1] of walls) {
    const across = slab(x0 - x, x1 - x, east);
    const along = slab(z0 - z, z1 - z, north);
    const [enters, leaves] = [Math.max(across[0], along[0]), Math.min(across[1], along[1])];
    if (enters <= leaves && enters > 0 && enters < far) far = enters;
  }
  return far;
}

/** Where a ray enters and leaves the strip between two coordinates, as seen from its start. */
function slab(low: number, high: number, pace: number): Point {
  if (pace === 0) return low <= 0 && 0 <= high ? [-Infinity, Infinity] : [Infinity, Infinity];
  return pace > 0 ? [low / pace, high / pace] : [high / pace, low / pace];
}

/** Corners of the floor that an agent sees: a right angle ahead as deep as its sight, cut off by walls. */
export function view({ walls, sight }: { walls: readonly Box[]; sight: number }, at: Point, heading: number): Point[] {
  const rays = Array.from({ length: RAYS + 1 }, (_, ray): Point => {
    const aside = HALF_VIEW * ((2 * ray) / RAYS - 1);
    const angle = (heading * Math.PI) / 180 + aside;
    const to: Point = [Math.sin(angle), Math.cos(angle)];
    const far = reachOf(walls, at, to, sight / Math.cos(aside));
    return [at[0] + far * to[0], at[1] + far * to[1]];
  });
  return [at, ...rays];
}

function drawView(pen: Pen, plan: FloorPlan, corners: readonly Point[], colour: string): void {
  pen.beginPath();
  for (const corner of corners) pen.lineTo(...plan.spot(...corner));
  pen.closePath();
  pen.globalAlpha = 0.16;
  pen.fillStyle = colour;
  pen.fill();
  pen.globalAlpha = 0.5;
  pen.lineWidth = 1;
  pen.strokeStyle = colour;
  pen.stroke();
  pen.globalAlpha = 1;
}

export function drawAgents(pen: Pen, plan: FloorPlan, moment: HouseMoment, episode: HouseEpisode): Spot[] {
  const { style, static: fixed } = episode;
  const { sight } = fixed;
  const radius = Math.max(20 * plan.scale, 10 * plan.unit);
  return moment.frame.agents.map(([x, z, heading], place) => {
    const [start, ...rest] = (moment.share > 0 && moment.next.trails?.[place]) || [];
    const stand: Point = start ? alongWay([start, ...rest], moment.share) : [x, z];
    const [left, top] = plan.spot(...stand);
    const { aim } = entry(moment.team, place);
    const { name } = entry(episode.team, place);
    const colour = aim ? episode.colour(aim) : entry(style.agents, place % style.agents.length);
    if (sight && heading !== null) {
      const corners = view({ walls: fixed.walls, sight }, stand, heading);
      drawView(pen, plan, corners, colour);
    }
    drawTrail(pen, plan, place, moment, episode, colour);
    beginHeading(pen, [left, top], radius, heading === null ? null : (heading * Math.PI) / 180, 1.7);
    pen.fillStyle = style.ink;
    pen.fill();
    disc(pen, [left, top], radius + (place === moment.chosen ? 3 : 1.5) * plan.unit, style.ink);
    disc(pen, [left, top], radius, colour);
    write(pen, name.charAt(0), left, top + 0.5, radius * 1.1, inkOn(colour), { weight: 700 });
    for (const [side, held] of entry(moment.frame.hands, place).entries()) {
      if (held < 0) continue;
      const spot: Point = [left + (side ? 1.5 : -1.5) * radius, top - 0.9 * radius];
      drawItem(pen, plan, episode, held, spot, countContents(moment.frame, held), true);
    }
    write(pen, name, left, top + 1.9 * radius, 11 * plan.unit, style.ink, { weight: 600, halo: "#ffffff" });
    return { x: left, y: top, radius };
  });
}
