/** The house without agents and things. */
import type { Pen } from "../../shared/canvas";
import type { Box, FloorPlan } from "../common/geometry";
import { entry } from "../common/geometry";
import { FONT, write } from "../common/marks";
import { type HouseEpisode, type HouseMoment, type HouseStatic, type HouseStyle, layerOf, plain } from "./types";

type Piece = HouseStatic["furniture"][number];

function fillBox(pen: Pen, [x0, y0, x1, y1]: Box): void {
  pen.fillRect(x0, y0, x1 - x0, y1 - y0);
}

/** Floors, darker where the agent of the layer has seen little; walls; the circle in which targets count. */
export function drawRooms(pen: Pen, plan: FloorPlan, moment: HouseMoment, episode: HouseEpisode): void {
  const { static: fixed, style } = episode;
  const seen = moment.frame.seen[layerOf(moment, episode)];
  for (const [number, room] of fixed.rooms.entries()) {
    const area = plan.area(room.box);
    pen.fillStyle = style.rooms[room.name] ?? style.any_room;
    fillBox(pen, area);
    if (!seen) continue;
    pen.fillStyle = style.ink;
    pen.globalAlpha = 0.28 * (1 - (seen[number] ?? 0) / 100);
    fillBox(pen, area);
    pen.globalAlpha = 1;
  }
  const [x, z, reach] = fixed.bed;
  pen.setLineDash([5, 4]);
  pen.beginPath();
  pen.arc(...plan.spot(x, z), reach * plan.scale, 0, 2 * Math.PI);
  pen.lineWidth = 1.4;
  pen.strokeStyle = style.bed[1];
  pen.stroke();
  pen.setLineDash([]);
  pen.fillStyle = style.wall;
  for (const wall of fixed.walls) fillBox(pen, plan.area(wall));
}

/** Furniture, and names of rooms and of the pieces that have room for theirs. */
export function drawFurniture(pen: Pen, plan: FloorPlan, moment: HouseMoment, episode: HouseEpisode): void {
  const { static: fixed, style } = episode;
  for (const piece of fixed.furniture) {
    const [fill, rim] = piece.bed ? style.bed : style.furniture;
    pen.beginPath();
    for (const corner of piece.outline) pen.lineTo(...plan.spot(...corner));
    pen.closePath();
    pen.fillStyle = fill;
    pen.fill();
    pen.lineWidth = 1;
    pen.strokeStyle = rim;
    pen.stroke();
  }
  const seen = moment.frame.seen[layerOf(moment, episode)];
  const font = 12 * plan.unit;
  const taken = fixed.rooms.map((room, number): Box => {
    const [x, y] = plan.area(room.box);
    const name = `${room.name} ${room.id}`;
    const lines = seen ? [name, `${seen[number]} % seen`] : [name];
    const halo = style.rooms[room.name] ?? style.any_room;
    for (const [line, words] of lines.entries())
      write(pen, words, x + 7, y + (1 + 1.25 * line) * font, font, style.soft, { align: "left", halo });
    return [x, y, x + 10 + pen.measureText(name).width, y + (0.7 + 1.25 * lines.length) * font];
  });
  for (const piece of fixed.furniture) namePiece(pen, plan, piece, style, taken);
}

/** The name of a piece of furniture, where there is room for it; the pointer tells the others. */
function namePiece(pen: Pen, plan: FloorPlan, piece: Piece, style: HouseStyle, taken: readonly Box[]): void {
  const corners = piece.outline.map((corner) => plan.spot(...corner));
  const along = (axis: 0 | 1) => corners.map((corner) => entry(corner, axis));
  const [left, right] = [Math.min(...along(0)), Math.max(...along(0))];
  const [top, bottom] = [Math.min(...along(1)), Math.max(...along(1))];
  const font = 10 * plan.unit;
  pen.font = `500 ${font}px ${FONT}`;
  const wide = pen.measureText(plain(piece.name)).width;
  if (wide > 0.92 * (right - left) || font * 1.3 > bottom - top) return;
  const [x, y] = [(left + right - wide) / 2, bottom - 1.5 * font];
  if (taken.some(([x0, y0, x1, y1]) => x < x1 && x0 < x + wide && y < y1 && y0 < y + font)) return;
  write(pen, plain(piece.name), (left + right) / 2, bottom - font, font, piece.bed ? style.bed[1] : "#6f6757");
}
