/**
 * Wildfire: the land under the light of its relief, wind, people and agents, and what was not seen drawn faintly. Colours,
 * shapes and words come with the page (`episode.style`, the world's `drawing_data.py`). An agent has the colour of its goal.
 */
import { plural, say } from "../../shared/words";
import type { Drawer, Spot } from "../../stage/drawer";
import { AWAY, entry } from "../common/geometry";
import { register } from "../common/register";
import { drawFires, fires } from "./fires";
import { keyOf, tellWind } from "./key";
import { drawScale, drawTargets, drawWind, groundOf, planOf } from "./land";
import { codes, shown, sight, tellAge } from "./sight";
import {
  BURNT_OUT,
  IGNITED,
  type LandFrame,
  type LandStatic,
  type LandStyle,
  ON_FIRE,
  STATES,
  TEAM,
  TRUTH,
} from "./types";
import { drawUnits, drawWay, drawWindows, groupUnits, peopleOf, teamOf, type Unit } from "./units";

const MOST_AGENTS = 12; // in words on a place
const MOST_CIVILIANS = 6;

const wildfire: Drawer<LandStatic, LandFrame, LandStyle> = {
  zooms: true,
  key: keyOf,

  layers: ({ team }) => [
    { id: TRUTH, words: "everything; what the team has not seen is faint" },
    { id: TEAM, words: "what the team has seen, as last seen" },
    ...team.map(({ name }, place) => ({ id: String(place), words: `what ${say(name)} has seen, as last seen` })),
  ],

  curves({ frames }) {
    const values = frames.flatMap(({ counts }) => (counts ? [counts[0]] : []));
    return values.some(Boolean) ? [{ name: "burning cells", values, colour: "fail" }] : [];
  },

  draw(pen, size, moment, episode) {
    const map = planOf(size, moment.view, episode);
    const ground = groundOf(moment, episode, map.whole * (window.devicePixelRatio || 1));
    pen.imageSmoothingEnabled = false;
    pen.fillStyle = moment.theme.card;
    pen.fillRect(0, 0, size, size);
    pen.drawImage(ground, -map.left, -map.top, map.whole, map.whole);
    drawWind(pen, map, episode);
    drawTargets(pen, map, episode.static);
    drawWindows(pen, map, moment, episode);
    drawWay(pen, map, moment, episode);
    const agents = moment.frame.agents.map((): Spot => AWAY);
    drawUnits(pen, map, moment, episode, agents);
    drawFires(pen, map, moment, episode);
    drawScale(pen, map, episode.static);
    return { agents };
  },

  label(moment, episode, x, y, size) {
    const map = planOf(size, moment.view, episode);
    const { size: side, wind: field } = episode.static;
    const [column, row] = [Math.floor((x + map.left) / map.cell), Math.floor((y + map.top) / map.cell)];
    if (column < 0 || row < 0 || column >= side || row >= side) return [];
    const { frame } = moment;
    const isNear = (unit: Unit) => {
      const [middle, down] = map.spot(unit.x, unit.y);
      return Math.hypot(middle - x, down - y) <= Math.max(map.symbol, map.cell / 2);
    };
    const nameOf = (place: number) => say(entry(episode.team, place).name);
    const who = teamOf(moment, episode)
      .filter(isNear)
      .map((unit) => {
        const riders = frame.aboard.flatMap((carrier, place) => (carrier === unit.row ? [nameOf(place)] : []));
        const load = riders.length ? `, carries ${riders.join(", ")}` : "";
        return `${unit.row} ${nameOf(unit.row)}, water ${frame.water[unit.row]}${load}`;
      });
    const civilians = peopleOf(moment, episode)
      .filter(isNear)
      .map((unit) => {
        if (unit.row === null) return "civilian, last seen here";
        return `civilian ${unit.row}: ${STATES[entry(frame.civilians, unit.row)[2]]}`;
      });
    const { cells, seen } = shown(moment, episode);
    const cell = row * side + column;
    const meaning = episode.style.meanings[cells[cell] ?? 0];
    const unseen = seen && !seen[cell] ? ", not seen by the team yet" : "";
    const lattice = (at: number) => Math.floor((at * (field?.length ?? 0)) / side);
    const blow = field?.[lattice(row)]?.[lattice(column)];
    return [
      ...who.slice(0, MOST_AGENTS),
      ...civilians.slice(0, MOST_CIVILIANS),
      `(${column}, ${row}): ${meaning}${unseen}${tellAge(moment, episode, cell)}`,
      ...(blow ? [`wind ${tellWind(blow)}`] : []),
    ];
  },

  words({ t, frame }, episode) {
    const cells = codes(frame, episode);
    const counts = [IGNITED, ON_FIRE, BURNT_OUT].map((code) => {
      return `${cells.filter((own) => own === code).length} ${episode.style.meanings[code]}`;
    });
    const alive = plural(frame.agents.filter(Boolean).length, "agent");
    const side = episode.static.size;
    return `Map of ${side} by ${side} cells at step ${t}: ${alive}; cells: ${counts.join(", ")}.`;
  },
};

register("wildfire", wildfire, { groups: groupUnits, fires, sight });
