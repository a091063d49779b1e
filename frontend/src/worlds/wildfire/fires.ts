import type { Pen } from "../../shared/canvas";
import { clamp } from "../../shared/numbers";
import { entry } from "../common/geometry";
import { FONT } from "../common/marks";
import type { LandPlan } from "./land";
import { shown } from "./sight";
import { burns, type LandEpisode, type LandMoment, type LandRecord, ON_FIRE, rgb } from "./types";

const NEAR = 4; // cells between what burns of one fire
const ROOM = 90; // pixels up to which a fire is framed: a larger one is plain to see

/** A fire: its least and greatest column and row, and how many cells burn. */
export type Fire = [x0: number, y0: number, x1: number, y1: number, cells: number];

type Looked = Pick<LandMoment, "t" | "layer" | "frame">;

let kept: { episode: LandRecord; key: string; fires: Fire[] } | null = null;

/** The fires that are shown. */
export function fires(moment: Looked, episode: LandRecord): Fire[] {
  const key = [moment.t, moment.layer].join();
  if (kept?.episode !== episode || kept.key !== key)
    kept = { episode, key, fires: findFires(shown(moment, episode).cells, episode.static.size) };
  return kept.fires;
}

function findFires(cells: Uint8Array, size: number): Fire[] {
  const found: Fire[] = [];
  for (let cell = 0; cell < cells.length; cell++) {
    if (!burns(cells[cell])) continue;
    const [x, y] = [cell % size, Math.floor(cell / size)];
    let own: Fire = [x, y, x, y, 1];
    for (let k = found.length - 1; k >= 0; k--) {
      const other = entry(found, k);
      const [x0, y0, x1, y1, number] = other;
      if (x < x0 - NEAR || x > x1 + NEAR || y < y0 - NEAR || y > y1 + NEAR) continue;
      found.splice(k, 1); // what this cell joins is one fire
      own = [Math.min(own[0], x0), Math.min(own[1], y0), Math.max(own[2], x1), Math.max(own[3], y1), own[4] + number];
    }
    found.push(own);
  }
  return found;
}

/** Frames round fires that are so small that units would hide them, with how many cells burn. */
export function drawFires(pen: Pen, map: LandPlan, moment: LandMoment, episode: LandEpisode): void {
  const colour = rgb(episode.style.colours[ON_FIRE]);
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  for (const [x0, y0, x1, y1, number] of fires(moment, episode)) {
    const [wide, high] = [(x1 - x0 + 1) * map.cell, (y1 - y0 + 1) * map.cell];
    if (Math.max(wide, high) > ROOM) continue;
    const [middle, down] = map.spot(x0, y0);
    const [x, y] = [middle - map.cell / 2, down - map.cell / 2];
    const least = map.symbol * 2.2;
    const [w, h] = [Math.max(wide + 10, least), Math.max(high + 10, least)];
    const [left, top] = [x + wide / 2 - w / 2, y + high / 2 - h / 2];
    for (const [stroke, thick] of [["#ffffff", 4.5] as const, [colour, 2.2] as const]) {
      pen.strokeStyle = stroke;
      pen.lineWidth = thick;
      pen.strokeRect(left, top, w, h);
    }
    const font = map.symbol * 0.66;
    pen.font = `700 ${font}px ${FONT}`;
    const words = `${number} burn`;
    const across = pen.measureText(words).width + 6;
    const at = clamp(left, 0, Math.max(0, map.size - across));
    const under = top > font * 1.7 ? top - font * 1.5 : top + h;
    pen.fillStyle = colour;
    pen.fillRect(at - 1, under, across, font * 1.5);
    pen.fillStyle = "#10151a";
    pen.fillText(words, at + 2, under + font * 0.78);
  }
}
