/** The home without agents and things. */
import type { Pen } from "../../shared/canvas";
import { mix } from "../../shared/colours";
import type { Theme } from "../../shared/theme";
import type { Box, FloorPlan } from "../common/geometry";
import { sheet, write } from "../common/marks";
import type { KnownFrame } from "./knowledge";
import { namesOf } from "./names";
import type { HomeEpisode, HomeStatic, HomeStyle, Piece } from "./types";

/** How far a room fades in which the agent of the layer has not been. */
export const FOG = 0.35;
export const CLEAR = "#ffffff00";

export function drawBox(pen: Pen, [x0, y0, x1, y1]: Box, fill: string, rim: string, thick: number): void {
  const corner = Math.min(3, (x1 - x0) / 4, (y1 - y0) / 4);
  sheet(pen, [x0, y0, x1 - x0, y1 - y0], corner, fill, rim, thick);
}

function drawRooms(pen: Pen, plan: FloorPlan, fixed: HomeStatic, style: HomeStyle): void {
  const wall = Math.max(14 * plan.scale, 1.5);
  for (const room of fixed.rooms) {
    const [x0, y0, x1, y1] = plan.area(room.box);
    pen.fillStyle = style.rooms[room.name] ?? style.any_room;
    pen.fillRect(x0, y0, x1 - x0, y1 - y0);
    pen.lineWidth = wall;
    pen.lineJoin = "round";
    pen.strokeStyle = style.wall;
    pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
  }
  for (const { at, across, width } of fixed.doors) {
    const thin = wall / plan.scale / 2 + 1;
    const [dx, dz] = across === "x" ? [thin, width / 2] : [width / 2, thin];
    const [x0, y0, x1, y1] = plan.area([at[0] - dx, at[1] - dz, at[0] + dx, at[1] + dz]);
    pen.fillStyle = style.door;
    pen.fillRect(x0, y0, x1 - x0, y1 - y0);
  }
}

interface Look {
  fill: string;
  rim: string;
  thick: number;
  dashes: number[];
}

function lookOf(piece: Piece, frame: KnownFrame, style: HomeStyle): Look {
  const isShut = piece.container && !frame.open.includes(piece.id);
  const look = ([fill, rim]: readonly [string, string], thick: number, dashes: number[] = []) => {
    return { fill, rim, thick, dashes };
  };
  if (frame.unknown.has(piece.id)) return look([CLEAR, style.soft], 1, [3, 3]);
  if (piece.goal) return look([isShut ? mix(...style.target, 0.35) : style.target[0], style.target[1]], 2.6);
  if (!piece.container) return look(style.furniture, 1);
  return isShut ? look(style.closed, 1) : look(style.open, 1.8);
}

export function drawHome(pen: Pen, plan: FloorPlan, frame: KnownFrame, episode: HomeEpisode, theme: Theme): void {
  const { style, static: fixed } = episode;
  pen.fillStyle = theme.card;
  pen.fillRect(0, 0, plan.size, plan.size);
  drawRooms(pen, plan, fixed, style);
  for (const piece of fixed.furniture) {
    const { fill, rim, thick, dashes } = lookOf(piece, frame, style);
    pen.setLineDash(dashes);
    drawBox(pen, plan.area(piece.box), fill, rim, thick);
  }
  pen.setLineDash([]);
  pen.globalAlpha = FOG;
  pen.fillStyle = style.soft;
  for (const room of fixed.rooms.filter(({ id }) => frame.far.has(id))) {
    const [x0, y0, x1, y1] = plan.area(room.box);
    pen.fillRect(x0, y0, x1 - x0, y1 - y0);
  }
  pen.globalAlpha = 1;
  for (const { words, place, size, ink, halo } of namesOf(plan, episode))
    write(pen, words, place[0], place[3], size, ink, { align: "left", base: "bottom", halo });
}
