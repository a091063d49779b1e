import type { Pen } from "../../shared/canvas";
import { mix } from "../../shared/colours";
import { plural } from "../../shared/words";
import type { KeyRow } from "../../stage/drawer";
import { disc, sheet } from "../common/marks";
import { drawEffort, type Effort } from "./agents";
import { drawBoxes } from "./force";
import type { CubeEpisode, CubeMoment } from "./types";

const MOST_BLOCKS = 10; // in the key

export function keyOf({ theme, frame }: CubeMoment, episode: CubeEpisode): KeyRow[] {
  const { weights } = episode.static;
  const agent = (effort: Effort | null) => (pen: Pen) => {
    const spot = { x: effort?.primitive ? 6 : 9, y: 9, radius: 5 };
    disc(pen, [spot.x, spot.y], spot.radius, theme.idle);
    drawEffort(pen, 14, spot, effort, theme);
  };
  const square = (colour: string) => (pen: Pen, size: number) =>
    sheet(pen, [2, 2, size - 4, size - 4], 3, mix(theme.card, colour, 0.22), colour, 2);
  const boxes = (have: number, colour: string) => (pen: Pen, size: number) =>
    drawBoxes(pen, size / 2, size / 2 - 3, { wide: size - 2, high: 6 }, { have, need: 2 }, colour, theme);
  const left = frame.blocks.flatMap((place, block) => (place ? [block] : []));
  const pushes: KeyRow[] = [
    { samples: [boxes(2, theme.good)], words: "force of a push that moves it", soft: true },
    { samples: [boxes(1, theme.fail)], words: "empty box: a missing agent", soft: true },
  ];
  return [
    { head: `${left.length} of ${plural(weights.filter(Boolean).length, "block")} left, as wide as heavy` },
    ...left.slice(0, MOST_BLOCKS).map((block) => ({
      samples: [square(episode.colour(`block_${block}`))],
      words: `B${block}: weight ${weights[block]}`,
    })),
    ...(left.length > MOST_BLOCKS ? [{ words: `and ${left.length - MOST_BLOCKS} more` }] : []),
    { head: "map" },
    { samples: [theme.goalzone], words: "blocks go here", soft: true },
    { samples: [agent(null)], words: "agent, in the colour of its block", soft: true },
    { samples: [agent({ primitive: "RIGHT", effect: true })], words: "pushes", soft: true },
    { samples: [agent({ primitive: "RIGHT" })], words: "held up", soft: true },
    { samples: [agent({ ready: "x" })], words: "in place, waits for others", soft: true },
    ...(episode.joints.length ? pushes : []),
  ];
}
