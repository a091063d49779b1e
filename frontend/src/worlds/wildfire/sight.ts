/**
 * The codes of all cells at a moment, and what the team or an agent has seen of them: as the world's sightings have it,
 * worked out from where the agents were.
 */
import { plural } from "../../shared/words";
import type { Point } from "../common/geometry";
import { entry } from "../common/geometry";
import {
  CARRIED,
  CIVILIAN,
  DEAD,
  type LandFrame,
  type LandMoment,
  type LandRecord,
  showsAll,
  TEAM,
  TRUTH,
} from "./types";

/** What was seen until moment t. */
export interface Seen {
  /** Place in the team; null for the team. */
  who: number | null;
  t: number;
  /** Codes as they were when cells were last seen, 0 if never; and when that was. */
  cells: Uint8Array;
  when: Int32Array;
}

type Looked = Pick<LandMoment, "t" | "layer" | "frame">;

const starts = new WeakMap<LandRecord, Uint8Array>();
const memories = new WeakMap<LandRecord, Seen>();
let last: { frame: LandFrame; cells: Uint8Array } | null = null;

/** The codes of all cells at the start, row by row. */
export function untouched(episode: LandRecord): Uint8Array {
  const kept = starts.get(episode);
  if (kept) return kept;
  const cells = Uint8Array.from(episode.static.land.join(""), (digit) => Number.parseInt(digit, 16));
  starts.set(episode, cells);
  return cells;
}

/** The codes of all cells at a moment; those of the last moment asked for are kept, so nobody may change them. */
export function codes(frame: LandFrame, episode: LandRecord): Uint8Array {
  if (last?.frame === frame) return last.cells;
  const cells = untouched(episode).slice();
  const { land } = frame;
  for (let k = 0; k < land.length; k += 3) {
    const first = entry(land, k);
    cells.fill(entry(land, k + 2), first, first + entry(land, k + 1));
  }
  last = { frame, cells };
  return cells;
}

/** Whole numbers from one to another in so many steps, halves upward. */
const along = (from: number, to: number, k: number, steps: number): number =>
  from + Math.floor((2 * (to - from) * k + steps) / (2 * steps));

/** Call back for each cell that an agent sees who went straight from one cell to another. */
function sweep(one: Point, other: Point, reach: number, size: number, call: (cell: number) => void): void {
  const [[x0, y0], [x1, y1]] = one[1] > other[1] ? [other, one] : [one, other];
  const steps = Math.max(Math.abs(x1 - x0), y1 - y0, 1);
  for (let k = 0; k <= steps; k++) {
    const [x, y] = [along(x0, x1, k, steps), along(y0, y1, k, steps)];
    for (let row = Math.max(0, y - reach); row <= Math.min(size - 1, y + reach); row++)
      for (let column = Math.max(0, x - reach); column <= Math.min(size - 1, x + reach); column++)
        call(row * size + column);
  }
}

/** What the team, or the agent in a place of it, has seen until moment t. */
export function sight(episode: LandRecord, who: number | null, t: number): Seen {
  const area = episode.static.size ** 2;
  let kept = memories.get(episode);
  if (!kept || kept.who !== who || kept.t > t)
    kept = { who, t: -1, cells: new Uint8Array(area), when: new Int32Array(area) };
  memories.set(episode, kept);
  while (kept.t < t) {
    kept.t += 1;
    look(kept, episode);
  }
  return kept;
}

/** Take in what is seen in the moment that is reached. */
function look({ who, t, cells, when }: Seen, episode: LandRecord): void {
  const { size, kinds } = episode.static;
  const frame = entry(episode.frames, t);
  const before = entry(episode.frames, Math.max(0, t - 1));
  const now = codes(frame, episode).slice();
  for (const [x, y, state] of frame.civilians) if (state !== CARRIED && state !== DEAD) now[y * size + x] = CIVILIAN;
  for (const [agent, place] of frame.agents.entries()) {
    if (!place || (who !== null && who !== agent)) continue;
    const [reach] = episode.style.sees[kinds[agent] ?? ""] ?? [0];
    sweep(before.agents[agent] ?? place, place, reach, size, (cell) => {
      cells[cell] = now[cell] ?? 0;
      when[cell] = t;
    });
  }
}

const whose = (layer: string | null): number | null =>
  layer === null || layer === TEAM || layer === TRUTH ? null : Number(layer);

/** The codes that are shown, and which of them were seen (null: all). */
export function shown(moment: Looked, episode: LandRecord): { cells: Uint8Array; seen: Uint8Array | null } {
  if (episode.static.is_known) return { cells: codes(moment.frame, episode), seen: null };
  const seen = sight(episode, whose(moment.layer), moment.t).cells;
  return showsAll(moment) ? { cells: codes(moment.frame, episode), seen } : { cells: seen, seen: null };
}

/** How long ago a cell was seen by whom the layer is of, in words; nothing of what is seen now, or never was. */
export function tellAge(moment: Looked, episode: LandRecord, cell: number): string {
  if (showsAll(moment)) return "";
  const { cells, when } = sight(episode, whose(moment.layer), moment.t);
  const age = moment.t - (when[cell] ?? 0);
  return cells[cell] && age ? `, seen ${plural(age, "step")} ago` : "";
}
