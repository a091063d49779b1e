import type { Pen } from "../../shared/canvas";
import { inkOn } from "../../shared/colours";
import type { FloorPlan, Point } from "../common/geometry";
import { entry } from "../common/geometry";
import { disc, write } from "../common/marks";
import { type HouseEpisode, type HouseFrame, type HouseMoment, layerOf } from "./types";

/** Of a tag, in pixels. */
export const RADIUS = 10;
const DIRECTIONS = 16; // in which a tag may stand aside

/** A thing that nobody holds, by its number: where it lies, and where its tag stands. */
export type ItemTag = readonly [number: number, home: Point, at: Point];

/** One thing; of a container how many things are in it. */
export function drawItem(
  pen: Pen,
  plan: FloorPlan,
  episode: HouseEpisode,
  number: number,
  at: Point,
  count: number,
  small = false,
): void {
  const { style } = episode;
  const { kind, name } = entry(episode.static.items, number);
  const [fill, rim] =
    kind === "target"
      ? [episode.colour(`deliver_${name}`), style.ink]
      : kind === "container"
        ? style.container
        : style.other;
  const radius = (kind === "unrelated" ? 4 : small ? 8.5 : RADIUS) * plan.unit;
  disc(pen, at, radius, fill, rim);
  if (kind === "unrelated") return;
  const size = radius * (count ? 0.9 : 1.05);
  write(pen, `${name.slice(0, 2)}${count || ""}`, at[0], at[1] + 0.5, size, inkOn(fill), { weight: 700 });
}

/** Where tags stand: each in its place, or aside of it where it would cover another. */
export function tagsOf(plan: FloorPlan, frame: HouseFrame, { static: fixed }: HouseEpisode): ItemTag[] {
  const apart = 2 * RADIUS * plan.unit;
  const taken: Point[] = [];
  const isFree = ([x, y]: Point) => taken.every((other) => Math.hypot(other[0] - x, other[1] - y) >= apart);
  return frame.items.flatMap(([x, z, holder, inside], number): ItemTag[] => {
    if (holder >= 0 || inside >= 0) return [];
    const home = plan.spot(x, z);
    if (fixed.items[number]?.kind === "unrelated") return [[number, home, home]];
    const at = isFree(home) ? home : (placesAround(home, 0.75 * apart).find(isFree) ?? home);
    taken.push(at);
    return [[number, home, at]];
  });
}

/** Places in rings round another, the nearest first. */
const placesAround = ([x, y]: Point, apart: number): Point[] =>
  Array.from({ length: 4 * DIRECTIONS }, (_, k): Point => {
    const [ring, angle] = [1 + Math.floor(k / DIRECTIONS), (2 * Math.PI * (k % DIRECTIONS)) / DIRECTIONS];
    return [x + ring * apart * Math.cos(angle), y + ring * apart * Math.sin(angle)];
  });

/** How many things are in a container. */
export const countContents = (frame: HouseFrame, number: number): number =>
  frame.items.filter(([, , , inside]) => inside === number).length;

/** What lies about: all of it, or what the agent of the layer knows of. */
export function drawItems(pen: Pen, plan: FloorPlan, moment: HouseMoment, episode: HouseEpisode): void {
  const known = moment.frame.known[layerOf(moment, episode)];
  for (const [number, home, at] of tagsOf(plan, moment.frame, episode)) {
    pen.globalAlpha = !known || known.includes(number) ? 1 : 0.22;
    if (home !== at) {
      pen.beginPath();
      pen.moveTo(...home);
      pen.lineTo(...at);
      pen.lineWidth = 1;
      pen.strokeStyle = episode.style.ink;
      pen.stroke();
      disc(pen, home, 1.8 * plan.unit, episode.style.ink);
    }
    drawItem(pen, plan, episode, number, at, countContents(moment.frame, number));
    pen.globalAlpha = 1;
  }
}
