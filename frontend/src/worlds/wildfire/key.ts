import type { Pen } from "../../shared/canvas";
import { plural } from "../../shared/words";
import type { KeyRow } from "../../stage/drawer";
import type { Point } from "../common/geometry";
import { drawArrow } from "./land";
import { untouched } from "./sight";
import { CLEARED, HOUSE, type LandEpisode, type LandMoment, ON_FIRE, rgb, STATES } from "./types";
import { drawShape } from "./units";

const COMPASS = ["E", "SE", "S", "SW", "W", "NW", "N", "NE"];
const houses = new WeakMap<LandEpisode, number>();

function countHouses(episode: LandEpisode): number {
  const count = houses.get(episode) ?? untouched(episode).filter((code) => code === HOUSE).length;
  houses.set(episode, count);
  return count;
}

const towards = ([east, south]: Point) => COMPASS[Math.round((Math.atan2(south, east) * 4) / Math.PI + 8) % 8];

/** A wind in words. */
export const tellWind = (blow: Point): string => `${Math.round(Math.hypot(...blow))} m/s to the ${towards(blow)}`;

export function keyOf(moment: LandMoment, episode: LandEpisode): KeyRow[] {
  return [
    { head: "left" },
    ...unitsLeft(moment, episode),
    ...fireRows(moment, episode),
    { head: "map" },
    ...mapRows(moment, episode).map((row) => ({ ...row, soft: true })),
  ];
}

function unitsLeft({ frame }: LandMoment, { static: { kinds }, style }: LandEpisode): KeyRow[] {
  const symbol = (kind: string) => (pen: Pen, size: number) => {
    const fill = style.fills[kind] ? rgb(style.fills[kind]) : "#ffffff";
    drawShape(pen, style, kind, size / 2, size / 2, size * 0.36, fill, 1.2);
  };
  const rows = Object.keys(style.shapes)
    .filter((kind) => kinds.includes(kind))
    .map((kind): KeyRow => {
      const all = kinds.filter((own) => own === kind).length;
      const left = frame.agents.filter((place, row) => place && kinds[row] === kind).length;
      return { samples: [symbol(kind)], words: `${left} of ${plural(all, kind)}` };
    });
  if (!frame.civilians.length) return rows;
  const counts = STATES.map((word, state) => [frame.civilians.filter((row) => row[2] === state).length, word] as const);
  const words = counts.filter(([number]) => number).map(([number, word]) => `${number} ${word}`);
  return [...rows, { samples: [symbol("civilian")], words: words.join(", ") }];
}

function fireRows({ frame, theme }: LandMoment, episode: LandEpisode): KeyRow[] {
  if (!frame.counts) return [];
  const { colours } = episode.style;
  const [burning, caught, lost, cut] = frame.counts;
  const all = countHouses(episode);
  const { wind } = frame;
  const blow = (pen: Pen, size: number, [east, south]: Point) => {
    const speed = Math.hypot(east, south) || 1;
    drawArrow(pen, size / 2, size / 2, [(15 * east) / speed, (15 * south) / speed], size, theme.ink);
  };
  return [
    ...(all ? [{ samples: [rgb(colours[HOUSE])], words: `${all - lost} of ${plural(all, "house")}` }] : []),
    { head: "fire" },
    {
      samples: [rgb(colours[ON_FIRE])],
      words: `${plural(burning, "cell")} burn${burning === 1 ? "s" : ""}, ${caught} caught`,
    },
    { samples: [rgb(colours[CLEARED])], words: `${plural(cut, "tree")} cut` },
    ...(wind
      ? [{ samples: [(pen: Pen, size: number) => blow(pen, size, wind)], words: tellWind(wind), state: wind.join() }]
      : []),
  ];
}

function mapRows({ theme, chosen }: LandMoment, { static: fixed, style }: LandEpisode): KeyRow[] {
  const frame = (thick: number, colour: string) => (pen: Pen, size: number) => {
    pen.strokeStyle = colour;
    pen.lineWidth = thick;
    pen.strokeRect(3, 3, size - 6, size - 6);
  };
  const arrow = (pen: Pen, size: number) => drawArrow(pen, size / 2, size / 2, [15, 0], size, theme.ink);
  const rows: [unknown, KeyRow][] = [
    [true, { samples: [frame(2.2, rgb(style.colours[ON_FIRE]))], words: "a small fire, with the cells that burn" }],
    [fixed.targets.length, { samples: [frame(1.4, theme.ink)], words: "trees to cut" }],
    [fixed.target, { samples: [frame(3, theme.ink)], words: "where people are brought" }],
    [fixed.wind, { samples: [arrow], words: "wind, longer is stronger" }],
    [fixed.relief, { words: "light from the north-west shows the relief" }],
    [true, { words: "×3: three stand together" }],
    [chosen !== null, { words: "chosen agent: its way, what it reveals (line) and observes (dashed)" }],
  ];
  return [
    ...style.legend.map(
      ([codes, words]): KeyRow => ({ samples: codes.map((code) => rgb(style.colours[code])), words }),
    ),
    ...rows.flatMap(([isThere, row]) => (isThere ? [row] : [])),
  ];
}
