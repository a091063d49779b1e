import type { Pen } from "../../shared/canvas";
import { inkOn } from "../../shared/colours";
import type { Theme } from "../../shared/theme";
import type { GridPlan } from "../common/geometry";
import { write } from "../common/marks";
import type { GridEpisode, Kinds, Look, Thing } from "./types";

const UNKNOWN: Look = { shape: "square", colour: "#808080", words: "?" };

export const lookOf = (kinds: Kinds, kind: string): Look => kinds[kind] ?? UNKNOWN;

function outline(pen: Pen, look: Look, x: number, y: number, cell: number): void {
  if (look.shape === "disc") {
    pen.moveTo(x + cell * 0.38, y);
    pen.arc(x, y, cell * 0.38, 0, 2 * Math.PI);
  } else if (look.shape === "tile") pen.rect(x - cell / 2, y - cell / 2, cell, cell);
  else pen.roundRect(x - cell * 0.38, y - cell * 0.38, cell * 0.76, cell * 0.76, cell * 0.1);
}

export function drawThing(pen: Pen, look: Look, x: number, y: number, cell: number, rim: string | null = null): void {
  pen.beginPath();
  outline(pen, look, x, y, cell);
  pen.fillStyle = look.colour;
  pen.fill();
  if (!rim) return;
  pen.lineWidth = 1.2;
  pen.strokeStyle = rim;
  pen.stroke();
}

/** Letters in the middle of a place; long ones are smaller, and too small ones are left out. */
export function label(pen: Pen, text: string | undefined, x: number, y: number, size: number, colour: string): void {
  if (!text || size < 6) return;
  write(pen, text, x, y + 0.5, text.length > 2 ? size * 0.7 : size, colour, { weight: 600 });
}

/** Things in their order, those of a kind that follow one another in one go, with their labels. */
export function drawThings(pen: Pen, map: GridPlan, things: readonly Thing[], kinds: Kinds): void {
  const flush = (look: Look | null) => {
    if (!look) return;
    pen.fillStyle = look.colour;
    pen.fill();
  };
  let before: Look | null = null;
  for (const [row, column, kind] of things) {
    const look = lookOf(kinds, kind);
    if (look !== before) {
      flush(before);
      pen.beginPath();
      before = look;
    }
    outline(pen, look, map.x(column + 0.5), map.y(row + 0.5), map.cell);
  }
  flush(before);
  if (map.cell < 12) return;
  for (const [row, column, kind, text] of things)
    label(pen, text, map.x(column + 0.5), map.y(row + 0.5), map.cell * 0.42, inkOn(lookOf(kinds, kind).colour));
}

/** The grid and what never changes. */
export function drawGround(pen: Pen, map: GridPlan, { static: fixed }: GridEpisode, theme: Theme): void {
  pen.fillStyle = theme.card;
  pen.fillRect(map.left, map.top, map.columns * map.cell, map.rows * map.cell);
  drawThings(pen, map, fixed.ground, fixed.kinds);
  pen.strokeStyle = theme.line;
  pen.lineWidth = map.cell < 6 ? 0.3 : 0.7;
  pen.beginPath();
  for (let column = 0; column <= map.columns; column++) {
    pen.moveTo(map.x(column), map.top);
    pen.lineTo(map.x(column), map.y(map.rows));
  }
  for (let row = 0; row <= map.rows; row++) {
    pen.moveTo(map.left, map.y(row));
    pen.lineTo(map.x(map.columns), map.y(row));
  }
  pen.globalAlpha = 0.6;
  pen.stroke();
}
