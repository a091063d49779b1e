import type { JointAct } from "../../records";
import type { Pen } from "../../shared/canvas";
import { inkOn } from "../../shared/colours";
import type { Point } from "./geometry";

export const FONT = "system-ui, sans-serif";

interface Letters {
  weight?: number;
  align?: CanvasTextAlign;
  base?: CanvasTextBaseline;
  /** Colour round the letters. */
  halo?: string | null;
}

export function write(
  pen: Pen,
  words: string,
  x: number,
  y: number,
  size: number,
  colour: string,
  { weight = 500, align = "center", base = "middle", halo = null }: Letters = {},
): void {
  pen.font = `${weight} ${size}px ${FONT}`;
  pen.textAlign = align;
  pen.textBaseline = base;
  if (halo) {
    pen.lineJoin = "round";
    pen.lineWidth = size * 0.36;
    pen.strokeStyle = halo;
    pen.strokeText(words, x, y);
  }
  pen.fillStyle = colour;
  pen.fillText(words, x, y);
}

export function disc(
  pen: Pen,
  [x, y]: Point,
  radius: number,
  fill: string,
  rim: string | null = null,
  thick = 1.2,
): void {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fillStyle = fill;
  pen.fill();
  if (!rim) return;
  pen.lineWidth = thick;
  pen.strokeStyle = rim;
  pen.stroke();
}

/** A box with round corners. */
export function sheet(
  pen: Pen,
  [x, y, wide, high]: readonly [number, number, number, number],
  corner: number,
  fill: string,
  rim: string | null = null,
  thick = 1,
): void {
  pen.beginPath();
  pen.roundRect(x, y, wide, high, corner);
  pen.fillStyle = fill;
  pen.fill();
  if (!rim) return;
  pen.lineWidth = thick;
  pen.strokeStyle = rim;
  pen.stroke();
}

/** Words on a colour, as wide as they are or as `least`; x and y are its middle. */
export function pill(pen: Pen, words: string, x: number, y: number, font: number, colour: string, wide: number): void {
  sheet(pen, [x - wide / 2, y - font * 0.8, wide, font * 1.6], font * 0.8, colour);
  write(pen, words, x, y + 0.5, font, inkOn(colour), { weight: 700 });
}

/** Corners of the mark of where an agent looks, as lengths and angles; the first is its tip. */
const ASIDE = [
  [0.95, 0.85],
  [0.95, -0.85],
] as const;

/** Begin a path with the mark of where an agent looks, an angle from upwards to the right; null if that is unknown. */
export function beginHeading(pen: Pen, [x, y]: Point, radius: number, ahead: number | null, tip: number): void {
  pen.beginPath();
  if (ahead === null) return;
  for (const [far, side] of [[tip, 0] as const, ...ASIDE])
    pen.lineTo(x + far * radius * Math.sin(ahead + side), y - far * radius * Math.cos(ahead + side));
  pen.closePath();
}

/** A line along points. */
export function track(pen: Pen, points: Iterable<Point>, colour: string, thick: number, alpha: number): void {
  pen.beginPath();
  for (const [x, y] of points) pen.lineTo(x, y);
  pen.strokeStyle = colour;
  pen.globalAlpha = alpha;
  pen.lineWidth = thick;
  pen.lineJoin = pen.lineCap = "round";
  pen.stroke();
  pen.globalAlpha = 1;
}

/** How many act at once in a joint act, and how many it takes. */
export const force = ({ have, need, who, k }: JointAct): readonly [have: number, need: number] => [
  have.temporal ?? who.length,
  need.temporal ?? k,
];
