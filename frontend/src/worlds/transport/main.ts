/**
 * Transport: a floor plan. Targets have the colour of their goal, containers and things of no use their own; agents have
 * the colour of the goal they work on, with the floor that they see as far as walls let them, the way that they walked, and
 * what they hold with what is in it. Layers show what one agent knows of the things, and how much it has seen of each room.
 * Colours and words come with the page (`episode.style`, the world's `drawing_data.py`).
 */
import type { Pen } from "../../shared/canvas";
import { inkOn, mix } from "../../shared/colours";
import { plural } from "../../shared/words";
import type { Drawer, KeyRow, View } from "../../stage/drawer";
import { entry, type FloorPlan, isInside, layFloor, within } from "../common/geometry";
import { disc, write } from "../common/marks";
import { register } from "../common/register";
import { drawAgents, TRAIL, view } from "./agents";
import { drawFurniture, drawRooms } from "./house";
import { drawItems, RADIUS, tagsOf } from "./items";
import {
  type HouseEpisode,
  type HouseFrame,
  type HouseMoment,
  type HouseStatic,
  type HouseStyle,
  layerOf,
  plain,
  TRUTH,
} from "./types";

const MARGIN = 40; // centimetres round the house

const planOf = (size: number, { static: { walls } }: HouseEpisode, shown?: View): FloorPlan =>
  layFloor(size, walls, MARGIN, shown);

const countDelivered = (frame: HouseFrame, { items }: HouseStatic, kind: string): number =>
  frame.items.filter((row, k) => row[4] > 0 && items[k]?.name === kind).length;

function keyOf(moment: HouseMoment, episode: HouseEpisode): KeyRow[] {
  const { static: fixed, style } = episode;
  const sample =
    (fill: string, rim: string, words = "") =>
    (pen: Pen, size: number) => {
      disc(pen, [size / 2, size / 2], size * 0.44, fill, rim);
      if (words) write(pen, words, size / 2, size / 2 + 0.5, size * 0.5, inkOn(fill), { weight: 700 });
    };
  const own = entry(style.agents, 0);
  const line = (pen: Pen, size: number) => {
    pen.fillStyle = own;
    pen.fillRect(1, (size - 3) / 2, size - 2, 3);
  };
  const looks = (pen: Pen, size: number) => {
    pen.beginPath();
    pen.lineTo(1, size / 2);
    pen.lineTo(size - 2, 2);
    pen.lineTo(size - 2, size - 2);
    pen.fillStyle = mix("#ffffff", own, 0.3);
    pen.fill();
  };
  const sight: KeyRow[] = [
    { samples: [looks], words: `floor it sees: ${(fixed.sight ?? 0) / 100} m deep, up to the walls` },
    { samples: [line], words: `way of the last ${TRAIL} steps; thin: all before` },
  ];
  const plan: KeyRow[] = [
    ...style.legend
      .filter(([name]) => name !== "target")
      .map(([name, words]): KeyRow => ({ samples: [sample(...style[name])], words })),
    ...(fixed.sight ? sight : []),
    { words: "te2: holds two things" },
    ...(layerOf(moment, episode) < 0 ? [] : [{ words: `pale: ${moment.layer} does not know of it` }]),
  ];
  return [
    { head: "to the bed" },
    ...Object.entries(fixed.goals).map(([kind, number]): KeyRow => {
      const there = countDelivered(moment.frame, fixed, kind);
      const tag = sample(episode.colour(`deliver_${kind}`), style.ink, kind.slice(0, 2));
      return { samples: [tag], words: `${plain(kind)}: ${there} of ${number}`, soft: there === number };
    }),
    { head: "plan" },
    ...plan.map((row) => ({ ...row, soft: true })),
  ];
}

const nameOf = ({ items }: HouseStatic, number: number): string => {
  const { name, id } = entry(items, number);
  return `${name} ${id}`;
};

const transport: Drawer<HouseStatic, HouseFrame, HouseStyle> = {
  zooms: true,
  key: keyOf,

  layers: ({ team }) => [
    { id: TRUTH, words: "everything" },
    ...team.map(({ name }) => ({ id: name, words: `what ${name} knows` })),
  ],

  draw(pen, size, moment, episode) {
    const plan = planOf(size, episode, moment.view);
    pen.fillStyle = moment.theme.card;
    pen.fillRect(0, 0, size, size);
    drawRooms(pen, plan, moment, episode);
    drawFurniture(pen, plan, moment, episode);
    drawItems(pen, plan, moment, episode);
    return { agents: drawAgents(pen, plan, moment, episode) };
  },

  /** A thing with what is in it, else the furniture and the room. */
  label(moment, episode, x, y, size) {
    const { static: fixed } = episode;
    const plan = planOf(size, episode, moment.view);
    const { items } = moment.frame;
    const isNear = ([at, down]: readonly [number, number]) => Math.hypot(at - x, down - y) < RADIUS * plan.unit;
    const near = tagsOf(plan, moment.frame, episode).find(([, , at]) => isNear(at))?.[0];
    if (near !== undefined) {
      const inside = items.flatMap((row, k) => (row[3] === near ? [`holds ${nameOf(fixed, k)}`] : []));
      const state = ["", ", delivered while held", ", delivered"][entry(items, near)[4]] ?? "";
      return [`${nameOf(fixed, near)}${state}`, ...inside];
    }
    const room = fixed.rooms.find(({ box }) => within([x, y, x, y], plan.area(box)));
    const isOver = (outline: HouseStatic["furniture"][number]["outline"]) => {
      const corners = outline.map((corner) => plan.spot(...corner));
      return isInside(corners, x, y);
    };
    const piece = fixed.furniture.findLast(({ outline }) => isOver(outline));
    return [...(piece ? [plain(piece.name)] : []), ...(room ? [`${room.name} ${room.id}`] : [])];
  },

  words({ frame }, episode) {
    const { static: fixed } = episode;
    const there = Object.entries(fixed.goals).map(([kind, number]) => {
      return `${countDelivered(frame, fixed, kind)} of ${number} ${kind}`;
    });
    const held = frame.hands.map((hands, place) => {
      const names = hands.filter((item) => item >= 0).map((item) => nameOf(fixed, item));
      return `${entry(episode.team, place).name} holds ${names.join(" and ") || "nothing"}`;
    });
    const rooms = plural(fixed.rooms.length, "room");
    return `Floor plan with ${rooms} at frame ${frame.t}: ${there.join(", ")} delivered; ${held.join("; ")}.`;
  },
};

register("transport", transport, {
  view,
  tags: ({ frame }: HouseMoment, episode: HouseEpisode, size: number) => tagsOf(planOf(size, episode), frame, episode),
});
