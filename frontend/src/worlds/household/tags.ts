/** Tags of the things that are wanted in a home, and where they stand. */
import type { Pen } from "../../shared/canvas";
import { inkOn, mix } from "../../shared/colours";
import type { Box, FloorPlan, Point } from "../common/geometry";
import { entry } from "../common/geometry";
import { disc, sheet, write } from "../common/marks";
import type { KnownFrame } from "./knowledge";
import { namesOf } from "./names";
import type { HomeEpisode, HomeStyle, Need } from "./types";

/** Things of a class in one place. */
export interface Tag {
  /** Where it stands, and where the things are. */
  at: Point;
  home: Point;
  /** Place of their need. */
  need: number;
  number: number;
  /** Steps since they were perceived. */
  age: number;
  /** They are in a closed container. */
  faint: boolean;
}

interface Heap {
  relation: string;
  place: number;
  need: number;
  spots: Point[];
  age: number;
}

export const markOf = (style: HomeStyle, name: string): string =>
  style.marks[name] ?? name.charAt(0).toUpperCase() + name.slice(1, 2);

export function colourOf(episode: HomeEpisode, need: Need): string {
  const target = episode.static.furniture.find((piece) => piece.id === need.target);
  return episode.colour(`${need.name}_${need.relation.toLowerCase()}_${target?.name}`);
}

export function drawTag(
  pen: Pen,
  unit: number,
  style: HomeStyle,
  [x, y]: Point,
  colour: string,
  words: string,
  number = 1,
  faint = false,
): void {
  const [ink, closed] = [style.ink, style.closed[0]];
  const half = 8.5 * unit * (faint ? 0.85 : 1);
  const letters = faint ? mix(ink, closed, 0.35) : inkOn(colour);
  const box = [x - half, y - half, 2 * half, 2 * half] as const;
  if (faint) sheet(pen, box, half * 0.5, mix(colour, closed, 0.55), mix(ink, closed, 0.5), 0.8);
  else sheet(pen, box, half * 0.5, colour, ink, 1.1);
  write(pen, words, x, y + 0.5, half * 1.1, letters, { weight: 700 });
  if (number < 2) return;
  disc(pen, [x + half * 0.95, y - half * 0.9], half * 0.65, ink);
  write(pen, String(number), x + half * 0.95, y - half * 0.85, half * 0.95, "#ffffff", { weight: 700 });
}

function heapsOf(plan: FloorPlan, frame: KnownFrame, { static: fixed }: HomeEpisode): Heap[] {
  const inRooms = new Set(fixed.rooms.map((room) => room.id));
  const heaps = new Map<string, Heap>();
  for (const [k, thing] of frame.things.entries()) {
    if (!thing || thing[0] === "HELD") continue;
    const [relation, place, x, z] = thing;
    const need = fixed.needs.findIndex(({ name }) => name === fixed.things[k]?.name);
    const key = `${relation} ${place} ${inRooms.has(place) ? k : ""} ${need}`;
    const heap = heaps.get(key) ?? { relation, place, need, spots: [], age: Number.POSITIVE_INFINITY };
    heap.spots.push(plan.spot(x, z));
    heap.age = Math.min(heap.age, frame.ages[k] ?? 0);
    heaps.set(key, heap);
  }
  return [...heaps.values()];
}

/** Tags of things that nobody holds, those of a class in one place together; none covers another. */
export function tagsOf(plan: FloorPlan, frame: KnownFrame, episode: HomeEpisode): Tag[] {
  const { rooms, furniture } = episode.static;
  const areas = rooms.map((room) => plan.area(room.box));
  const apart = episode.style.apart * plan.unit;
  const names = namesOf(plan, episode).map(({ place: [x0, y0, x1, y1] }): Box => {
    return [x0 - apart / 2, y0 - apart / 2, x1 + apart / 2, y1 + apart / 2];
  });
  const taken: Point[] = [];
  return heapsOf(plan, frame, episode).map(({ relation, place, need, spots, age }) => {
    const piece = furniture.find(({ id }) => id === place);
    const [middle, down] = [0, 1].map((axis) => spots.reduce((sum, spot) => sum + (spot[axis] ?? 0), 0) / spots.length);
    let home: Point = [middle ?? 0, down ?? 0];
    if (relation === "INSIDE" && piece) {
      const [x0, z0, x1, z1] = piece.box;
      home = plan.spot((x0 + x1) / 2, (z0 + z1) / 2);
    }
    const at = findSpot(home, taken, areas, names, apart);
    taken.push(at);
    const faint = relation === "INSIDE" && piece?.container === true && !frame.open.includes(place);
    return { at, home, need, age, number: spots.length, faint };
  });
}

const AROUND = 6; // half tags that a tag may stand aside
/** Steps aside that a tag may take, the shortest first. */
const ASIDE = Array.from({ length: (2 * AROUND + 1) ** 2 }, (_, k): Point => {
  return [Math.floor(k / (2 * AROUND + 1)) - AROUND, (k % (2 * AROUND + 1)) - AROUND];
}).sort(([a, b], [c, d]) => a * a + b * b - c * c - d * d || a - c || b - d);

/** The place nearest to where a tag belongs at which it covers no other and no name, and lies in a room. */
export function findSpot(
  home: Point,
  taken: readonly Point[],
  areas: readonly Box[],
  names: readonly Box[],
  apart: number,
): Point {
  const edge = apart / 2;
  const places = ASIDE.map(([i, j]): Point => [home[0] + i * edge, home[1] + j * edge]);
  const isIn = ([x, y]: Point) =>
    areas.some(([x0, y0, x1, y1]) => x0 + edge <= x && x <= x1 - edge && y0 + edge <= y && y <= y1 - edge);
  const isFree = ([x, y]: Point) =>
    taken.every((other) => Math.max(Math.abs(x - other[0]), Math.abs(y - other[1])) >= apart);
  const isBlank = ([x, y]: Point) => names.every(([x0, y0, x1, y1]) => x <= x0 || x >= x1 || y <= y0 || y >= y1);
  const free = places.filter((place) => isIn(place) && isFree(place));
  return free.find(isBlank) ?? free[0] ?? home;
}

export function drawTags(pen: Pen, plan: FloorPlan, frame: KnownFrame, episode: HomeEpisode): void {
  const { style, static: fixed } = episode;
  const tags = tagsOf(plan, frame, episode);
  pen.strokeStyle = style.ink;
  pen.lineWidth = 1;
  for (const { at, home } of tags) {
    if (at[0] === home[0] && at[1] === home[1]) continue;
    pen.beginPath();
    pen.moveTo(...home);
    pen.lineTo(...at);
    pen.stroke();
    disc(pen, home, 2 * plan.unit, style.ink);
  }
  for (const { at, need: place, number, faint, age } of tags) {
    const need = entry(fixed.needs, place);
    drawTag(pen, plan.unit, style, at, colourOf(episode, need), markOf(style, need.name), number, faint);
    if (age <= 0) continue;
    const halo = { weight: 600, halo: "#ffffff" };
    write(pen, `−${age}`, at[0], at[1] + 14 * plan.unit, 9 * plan.unit, style.ink, halo);
  }
}
