/**
 * Household: a floor plan. Containers are filled while they are closed and outlined once they are open; what they hide is
 * shown faintly. Things have the colour of their goal, agents that of the goal they work on. Colours and words come with
 * the page (`episode.style`, the world's `drawing_data.py`), what agents know from a log of the level `beliefs`.
 */
import type { Pen } from "../../shared/canvas";
import { mix } from "../../shared/colours";
import { plural } from "../../shared/words";
import type { Drawer, KeyRow, View } from "../../stage/drawer";
import { entry, type FloorPlan, layFloor, within } from "../common/geometry";
import { write } from "../common/marks";
import { Paper } from "../common/paper";
import { register } from "../common/register";
import { drawAgents, drawPointer } from "./agents";
import { CLEAR, drawBox, drawHome, FOG } from "./home";
import { asKnown, beliefs, knowledge } from "./knowledge";
import { namesOf } from "./names";
import { colourOf, drawTag, drawTags, markOf, tagsOf } from "./tags";
import type { HomeEpisode, HomeFrame, HomeMoment, HomeStatic, HomeStyle } from "./types";
import { showsAll, TRUTH } from "./types";

const MARGIN = 30; // centimetres round the home
const paper = new Paper();

function planOf(size: number, { static: { rooms } }: HomeEpisode, view?: View): FloorPlan {
  const boxes = rooms.map((room) => room.box);
  return layFloor(size, boxes, MARGIN, view);
}

/** What an agent believes without being sure, in words at the place. */
function drawBeliefs(pen: Pen, plan: FloorPlan, moment: HomeMoment, episode: HomeEpisode): void {
  const lines = new Map<number, number>();
  const letters = { weight: 600, halo: "#ffffff" };
  for (const { name, chance, place, area } of beliefs(moment, episode)) {
    const line = lines.get(place) ?? 0;
    lines.set(place, line + 1);
    const [x, y] = plan.spot((area[0] + area[2]) / 2, (area[1] + area[3]) / 2);
    const words = `${name}? ${Math.round(100 * chance)} %`;
    write(pen, words, x, y + 13 * line * plan.unit, 10.5 * plan.unit, episode.style.ink, letters);
  }
}

function keyOf(moment: HomeMoment, episode: HomeEpisode): KeyRow[] {
  const { needs, furniture } = episode.static;
  const { style } = episode;
  const first = entry(needs, 0);
  const tag = (colour: string, words: string, faint: boolean) => (pen: Pen, size: number) =>
    drawTag(pen, 0.95, style, [size / 2, size / 2], colour, words, 1, faint);
  const box = (fill: string, rim: string, thick: number, dashes: number[]) => (pen: Pen, size: number) => {
    pen.setLineDash(dashes);
    drawBox(pen, [2, 4, size - 2, size - 4], fill, rim, thick);
  };
  const looks = (pen: Pen, size: number) => drawPointer(pen, [size / 2, size / 2], size * 0.3, Math.PI / 2, style.soft);
  const target = furniture.find((piece) => piece.id === first.target);
  const known: KeyRow[] = [
    { samples: [box(CLEAR, style.soft, 1, [3, 3])], words: `${moment.layer} has not seen it yet` },
    { samples: [mix("#ffffff", style.soft, FOG)], words: `${moment.layer} has not been there yet` },
    { words: "−n: perceived n steps ago" },
    ...(beliefs(moment, episode).length ? [{ words: "x? 90 %: believed to be there" }] : []),
  ];
  const plan: KeyRow[] = [
    ...style.legend.map(([name, words]): KeyRow => ({ samples: [box(...style[name], 1.5, [])], words })),
    { samples: [tag(style.closed[0], markOf(style, first.name), true)], words: "pale: in a closed container" },
    { samples: [looks], words: "agent: where it looks, its last steps" },
    ...(showsAll(moment) ? [] : known),
  ];
  return [
    { head: `${first.relation === "ON" ? "on" : "into"} the ${target?.name ?? "target"}` },
    ...needs.map((need, k): KeyRow => {
      const there = need.number - (moment.frame.missing[k] ?? 0);
      const words = `${need.name}: ${there} of ${need.number}`;
      const sample = tag(colourOf(episode, need), markOf(style, need.name), false);
      return { samples: [sample], words, soft: there === need.number };
    }),
    { head: "plan" },
    ...plan.map((row) => ({ ...row, soft: true })),
  ];
}

const household: Drawer<HomeStatic, HomeFrame, HomeStyle> = {
  zooms: true,
  key: keyOf,

  layers: ({ perceived, team }) => [
    { id: TRUTH, words: "everything" },
    ...(perceived.length ? team.map(({ name }) => ({ id: name, words: `what ${name} knows: as last perceived` })) : []),
  ],

  note: ({ perceived }) =>
    perceived.length ? "" : "What an agent knows is shown of logs of the level beliefs (run with --log-level beliefs).",

  draw(pen, size, moment, episode) {
    const plan = planOf(size, episode, moment.view);
    const frame = asKnown(moment, episode);
    const key = [moment.theme.card, frame.open, [...frame.unknown], [...frame.far], ...Object.values(plan.view)];
    const home = paper.take(episode, key, size, (own) => drawHome(own, plan, frame, episode, moment.theme));
    pen.drawImage(home, 0, 0, size, size);
    drawTags(pen, plan, frame, episode);
    const agents = drawAgents(pen, plan, moment, frame, episode);
    drawBeliefs(pen, plan, moment, episode);
    return { agents };
  },

  /** Furniture, and the things in or on it; else the room. */
  label(moment, episode, x, y, size) {
    const { static: fixed } = episode;
    const plan = planOf(size, episode, moment.view);
    const frame = asKnown(moment, episode);
    const isOver = ({ box }: { box: HomeStatic["rooms"][number]["box"] }) => within([x, y, x, y], plan.area(box));
    const piece = fixed.furniture.findLast(isOver);
    const found = piece ?? fixed.rooms.find(isOver);
    if (!found) return [];
    const open = frame.open.includes(found.id) ? ", open" : ", closed";
    const state = !piece?.container ? "" : frame.unknown.has(found.id) ? ", not seen yet" : open;
    const here = frame.things.flatMap((thing, k) => {
      const named = fixed.things[k];
      if (!thing || !named || thing[0] === "HELD" || thing[1] !== found.id) return [];
      const age = frame.ages[k] ?? 0;
      const ago = age > 0 ? `, perceived ${plural(age, "step")} ago` : "";
      return [`${named.name} ${named.id}, ${thing[0].toLowerCase()}${ago}`];
    });
    return [`${found.name} ${found.id}${state}`, ...here];
  },

  words({ t, frame }, episode) {
    const { needs, rooms } = episode.static;
    const there = needs.map((need, k) => `${need.number - (frame.missing[k] ?? 0)} of ${need.number} ${need.name}`);
    const open = plural(frame.open.length, "container");
    return `Floor plan with ${plural(rooms.length, "room")} at step ${t}: ${there.join(", ")} delivered, ${open} open.`;
  },
};

register("household", household, {
  tags: (moment: HomeMoment, episode: HomeEpisode, size: number) =>
    tagsOf(planOf(size, episode), asKnown(moment, episode), episode),
  names: (episode: HomeEpisode, size: number) => namesOf(planOf(size, episode), episode),
  knowledge,
  asKnown,
  beliefs,
});
