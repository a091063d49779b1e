/** Where names of rooms and furniture have room on the plan of a home. */

import type { Box, FloorPlan } from "../common/geometry";
import { shared, within } from "../common/geometry";
import { FONT } from "../common/marks";
import type { HomeEpisode, HomeStatic, HomeStyle, Piece, Room } from "./types";

const NEAR = 60; // pixels between pieces that are alike, within which one name serves for both

/** A name and where it stands. */
export interface PlacedName {
  words: string;
  place: Box;
  /** Of the letters, in pixels. */
  size: number;
  ink: string;
  halo: string | null;
  /** The middle of the furniture that it names. */
  middle: readonly [number, number] | null;
}

/** The width of words in letters of a size. */
type Measure = (words: string, size: number) => number;

interface Kept {
  key: string;
  fixed: HomeStatic;
  names: PlacedName[];
}

const kept = new WeakMap<HomeEpisode, Kept>();

/**
 * Names with their places: of rooms where they cover the least, then of furniture, inside it or beside it, where there is
 * room. Kept until the size or the part that is shown changes: names do not move while things do.
 */
export function namesOf(plan: FloorPlan, episode: HomeEpisode): PlacedName[] {
  const key = [plan.size, ...Object.values(plan.view)].join();
  const old = kept.get(episode);
  if (old?.key === key && old.fixed === episode.static) return old.names;
  const pen = document.createElement("canvas").getContext("2d");
  const measure: Measure = (words, size) => {
    if (!pen) return 0;
    pen.font = `500 ${size}px ${FONT}`;
    return pen.measureText(words).width;
  };
  const names = placeNames(plan, episode.static, episode.style, measure);
  kept.set(episode, { key, fixed: episode.static, names });
  return names;
}

/** Find the places of all names. */
export function placeNames(plan: FloorPlan, fixed: HomeStatic, style: HomeStyle, measure: Measure): PlacedName[] {
  const areas = fixed.furniture.map((piece) => plan.area(piece.box));
  const found = fixed.rooms.map((room) => nameRoom(plan, room, areas, style, measure));
  const together = fixed.touching ?? [];
  const alone = fixed.furniture.filter(({ id }) => !together.flat().includes(id)).map(({ id }) => [id]);
  for (const ids of [...together, ...alone]) {
    const own = ids.flatMap((id) => fixed.furniture.find((piece) => piece.id === id) ?? []);
    const others = areas.filter((_, k) => !ids.includes(fixed.furniture[k]?.id ?? -1));
    const name = nameFurniture(plan, fixed, own, others, found, style, measure);
    if (name) found.push(name);
  }
  return found;
}

function nameRoom(plan: FloorPlan, room: Room, areas: readonly Box[], style: HomeStyle, measure: Measure): PlacedName {
  const size = 14 * plan.unit;
  const [x0, y0, x1, y1] = plan.area(room.box);
  const long = measure(room.name, size);
  let [best, least]: [Box, number] = [[x0, y0, x0 + long, y0 + size], Number.POSITIVE_INFINITY];
  for (let j = 0; j < 9; j++) {
    for (let i = 0; i < 7; i++) {
      const [x, y] = [x0 + 8 + ((x1 - x0 - 16 - long) * i) / 6, y0 + 8 + ((y1 - y0 - 16 - size) * j) / 8];
      const place: Box = [x, y, x + long, y + size];
      const covered = areas.reduce((sum, area) => sum + shared(place, area), 0);
      if (covered < least) [best, least] = [place, covered];
    }
  }
  const halo = style.rooms[room.name] ?? style.any_room;
  return { words: room.name, place: best, size, ink: style.soft, halo, middle: null };
}

/** The name of pieces that are alike; null if there is no room for it, or another of the same name is near. */
function nameFurniture(
  plan: FloorPlan,
  fixed: HomeStatic,
  own: readonly Piece[],
  others: readonly Box[],
  found: readonly PlacedName[],
  style: HomeStyle,
  measure: Measure,
): PlacedName | null {
  const [first] = own;
  if (!first) return null;
  const size = Math.max(10.5 * plan.unit, 9);
  const words = first.name + (own.length > 1 ? ` ×${own.length}` : "");
  const areas = own.map((piece) => plan.area(piece.box));
  const around: Box = [
    Math.min(...areas.map((area) => area[0])),
    Math.min(...areas.map((area) => area[1])),
    Math.max(...areas.map((area) => area[2])),
    Math.max(...areas.map((area) => area[3])),
  ];
  const middle = [(around[0] + around[2]) / 2, (around[1] + around[3]) / 2] as const;
  const isFilled = own.some((piece) => piece.goal || piece.container); // things lie in the middle of it
  const isNear = (name: PlacedName) =>
    name.middle && Math.hypot(name.middle[0] - middle[0], name.middle[1] - middle[1]) < NEAR * plan.unit;
  if (!isFilled && found.some((name) => name.words === words && isNear(name))) return null; // a chair beside a chair
  const taken = [...found.map(({ place }) => place), ...others, ...(isFilled ? areas : [])];
  const distances = isFilled ? [2, 2 * size, 4 * size] : [2, size];
  const place = findPlace(plan, fixed, around, isFilled ? [] : areas, taken, measure(words, size), size, distances);
  if (!place) return null;
  const ink = first.goal ? style.target[1] : first.container ? "#3d4750" : "#6f6757";
  const halo = areas.some((area) => within(place, area)) ? null : "#ffffff";
  return { words, place, middle, size, ink, halo };
}

/** Where a name has room: within a piece, else beside it, in a room first; undefined if nowhere. */
function findPlace(
  plan: FloorPlan,
  fixed: HomeStatic,
  [x0, y0, x1, y1]: Box,
  own: readonly Box[],
  taken: readonly Box[],
  long: number,
  size: number,
  distances: readonly number[],
): Box | undefined {
  const at = (x: number, y: number): Box => [x, y, x + long, y + size];
  const inside = own.flatMap((piece) => {
    const left = (piece[0] + piece[2] - long) / 2;
    const places = [at(left, piece[3] - 3 - size), at(left, (piece[1] + piece[3] - size) / 2)];
    return places.filter((place) => within(place, piece));
  });
  const [middle, down] = [(x0 + x1 - long) / 2, (y0 + y1 - size) / 2];
  const beside = distances
    .flatMap((far) => [
      at(middle, y1 + far),
      at(middle, y0 - size - far),
      at(x1 + far, down),
      at(x0 - long - far, down),
    ])
    .filter((place) => within(place, [0, 0, plan.size, plan.size]));
  const rooms = fixed.rooms.map((room) => plan.area(room.box));
  const isIn = (place: Box) => rooms.some((room) => within(place, room));
  const places = [...inside, ...beside.filter(isIn), ...beside.filter((place) => !isIn(place))];
  return places.find((place) => !taken.some((other) => shared(place, other) > 0));
}
