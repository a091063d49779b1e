/**
 * Environments that are grids, by the data that `worlds/base/picture.py` describes: kinds of things with a shape and a
 * colour, agents with a label, where they face and what they carry. An agent has its number, the way of its last steps
 * behind it, and the colour of the goal it works on; those who act together are joined by lines to how many of how many.
 */
import { knowledgeLayers } from "../../episode/knowledge";
import type { Pen } from "../../shared/canvas";
import { plural, say } from "../../shared/words";
import type { Drawer, KeyRow, Spot } from "../../stage/drawer";
import { cellAt, entry, type GridPlan, layGrid } from "../common/geometry";
import { Paper } from "../common/paper";
import { register } from "../common/register";
import { areNames, drawAgent, drawJoints, drawTrail, places } from "./agents";
import { drawKnown, known } from "./known";
import { drawGround, drawThing, drawThings, lookOf } from "./things";
import type { GridAgent, GridEpisode, GridFrame, GridMoment, GridStatic } from "./types";

const MOST_TRAILS = 64; // agents: more of them would be a tangle
const MOST_KEY_ROWS = 24;
const paper = new Paper();

function drawPicture(pen: Pen, map: GridPlan, moment: GridMoment, episode: GridEpisode): { agents: Spot[] } {
  const { frame, team, theme, chosen } = moment;
  const { kinds } = episode.static;
  const key = [...Object.values(map.view), theme.card];
  const ground = paper.take(episode, key, map.size, (own) => drawGround(own, map, episode, theme));
  pen.drawImage(ground, 0, 0, map.size, map.size);
  drawThings(pen, map, frame.things, kinds);
  const agents = places(map, moment);
  const isNamed = areNames(frame, episode);
  const here = agents.flatMap((spot, place) => {
    const [agent, member] = [frame.agents[place], team[place]];
    if (!spot.radius || !agent || !member || member.gone) return [];
    return [{ spot, place, agent, colour: member.aim ? episode.colour(member.aim) : theme.idle }];
  });
  if (agents.length <= MOST_TRAILS)
    for (const { spot, place, colour } of here) drawTrail(pen, map, spot, place, moment, episode, colour);
  for (const { spot, place, agent, colour } of here)
    drawAgent(pen, spot, place, agent, { colour, theme, isChosen: place === chosen, kinds, isNamed });
  drawJoints(pen, map, agents, moment, episode);
  return { agents };
}

/** What the marks of agents mean, those that this episode has. */
function marksOf({ theme, frame }: GridMoment, episode: GridEpisode): KeyRow[] {
  const any = (is: (agent: GridAgent) => unknown) =>
    episode.frames.some(({ agents }) => agents.some((agent) => agent && is(agent)));
  const look = { colour: theme.idle, theme, isChosen: false, kinds: episode.static.kinds, isNamed: true };
  const sample = (agent: GridAgent) => (pen: Pen, size: number) =>
    drawAgent(pen, { x: size / 2, y: size / 2, radius: size * 0.32 }, 0, agent, look);
  const rows: [unknown, KeyRow][] = [
    [true, { samples: [sample([0, 0, "0", "", ""])], words: "agent, in the colour of the goal it works on" }],
    [any((agent) => agent[3]), { samples: [sample([0, 0, "", "east", ""])], words: "the way it faces" }],
    [any((agent) => agent[4]), { words: "below on its left: what it carries" }],
    [!areNames(frame, episode), { words: "above on its right: its own label" }],
    [episode.joints.length, { words: "1/2: one acts, it takes two at once" }],
  ];
  return rows.flatMap(([isThere, row]) => (isThere ? [{ ...row, soft: true }] : []));
}

const grid: Drawer<GridStatic, GridFrame> = {
  zooms: true,
  layers: knowledgeLayers,

  draw(pen, size, moment, episode) {
    const map = layGrid(size, ...episode.static.size, moment.view);
    pen.fillStyle = moment.theme.page;
    pen.fillRect(0, 0, size, size);
    const drawn = drawPicture(pen, map, moment, episode);
    if (moment.layer && episode.knowledge)
      drawKnown(pen, map, moment, episode, () => drawPicture(pen, map, moment, episode));
    return drawn;
  },

  key(moment, episode) {
    const kinds = Object.values(episode.static.kinds)
      .slice(0, MOST_KEY_ROWS)
      .map((look): KeyRow => {
        return { samples: [(pen, size) => drawThing(pen, look, size / 2, size / 2, size)], words: look.words };
      });
    const marks: KeyRow[] = [
      { words: "faint: not perceived now", soft: true },
      { words: "dashed: where it last was perceived, −n: n steps ago", soft: true },
    ];
    return [...kinds, ...(moment.layer ? marks : []), ...marksOf(moment, episode)];
  },

  label(moment, episode, x, y, size) {
    const map = layGrid(size, ...episode.static.size, moment.view);
    const cell = cellAt(map, x, y);
    if (!cell) return [];
    const [row, column] = cell;
    const { kinds, ground } = episode.static;
    const isNamed = areNames(moment.frame, episode);
    const who = moment.frame.agents.flatMap((agent, place) => {
      if (agent?.[0] !== row || agent[1] !== column || entry(moment.team, place).gone) return [];
      const extra = isNamed ? "" : agent[2];
      const load = agent[4] ? `, carries ${lookOf(kinds, agent[4]).words}` : "";
      return [`${say(entry(episode.team, place).name)}${extra ? ` (${extra})` : ""}${load}`];
    });
    const what = [...moment.frame.things, ...ground]
      .filter((thing) => thing[0] === row && thing[1] === column)
      .map(([, , kind, text]) => `${lookOf(kinds, kind).words}${text ? `: ${text}` : ""}`);
    const told = known(moment, episode)
      .filter((it) => it.row === row && it.column === column)
      .map(({ name, age }) => {
        const act = age ? `last perceived ${say(name)} here ${plural(age, "step")} ago` : `perceives ${say(name)}`;
        return `${say(moment.layer ?? "")} ${act}`;
      });
    return [...who, ...what, ...told, `(${row}, ${column})`];
  },

  words({ t, frame }, episode) {
    const [rows, columns] = episode.static.size;
    const team = plural(frame.agents.filter(Boolean).length, "agent");
    return `Grid of ${rows} by ${columns} cells at step ${t}: ${team}, ${plural(frame.things.length, "thing")}.`;
  },
};

register("grid", grid);
