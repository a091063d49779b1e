/** The land under the light of its relief, and what lies on it: wind, targets, a scale. */
import type { Pen } from "../../shared/canvas";
import { between, clamp } from "../../shared/numbers";
import type { Point } from "../common/geometry";
import { WHOLE } from "../common/geometry";
import { FONT } from "../common/marks";
import { Paper } from "../common/paper";
import { shown } from "./sight";
import { burns, type LandEpisode, type LandMoment, type LandStatic, type LandStyle, rgb } from "./types";

const paper = new Paper();

/** How the drawn square lies on the map. */
export interface LandPlan {
  size: number;
  cell: number;
  left: number;
  top: number;
  /** Pixels of a side of the map. */
  whole: number;
  /** Pixels of the symbol of a unit. */
  symbol: number;
  spot(column: number, row: number): [number, number];
}

export function planOf(size: number, view: LandMoment["view"] | undefined, { static: fixed }: LandEpisode): LandPlan {
  const { zoom, x, y } = view ?? WHOLE;
  const whole = size * zoom;
  const cell = whole / fixed.size;
  const [left, top] = [x * whole - size / 2, y * whole - size / 2];
  const spot = (column: number, row: number): [number, number] => [
    (column + 0.5) * cell - left,
    (row + 0.5) * cell - top,
  ];
  return { size, cell, left, top, spot, whole, symbol: clamp(size / 34, 14, 24) };
}

/** How light the ground is in each place of the lattice of the relief; null in logs without one. */
function lightsOf({ relief }: LandStatic, { shades: [dark, light, steps] }: LandStyle): Float32Array | null {
  if (!relief) return null;
  return Float32Array.from(relief.join(""), (digit) => dark + ((light - dark) * Number(digit)) / (steps - 1));
}

/** The land, a pixel a cell (fewer where cells are smaller than pixels), kept until something in it changes. */
export function groundOf(moment: LandMoment, episode: LandEpisode, pixels: number): HTMLCanvasElement {
  const side = Math.min(episode.static.size, Math.ceil(pixels));
  return paper.keep(episode, [moment.t, moment.layer, side], () => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = side;
    const pen = canvas.getContext("2d");
    const image = pen?.createImageData(side, side);
    if (!pen || !image) return canvas;
    paint(image.data, moment, episode, side);
    pen.putImageData(image, 0, 0);
    return canvas;
  });
}

/** Write the colours of the land, four bytes a pixel. */
function paint(data: Uint8ClampedArray, moment: LandMoment, episode: LandEpisode, side: number): void {
  const { static: fixed, style } = episode;
  const { cells, seen } = shown(moment, episode);
  const picked = pick(cells, fixed.size, side, style.rank);
  const light = lightsOf(fixed, style);
  const points = fixed.relief?.length ?? 0;
  const onLattice = Uint16Array.from({ length: fixed.size }, (_, at) => Math.floor((at * points) / fixed.size));
  const isPlain = style.colours.map((_, code) => !light || style.plain.includes(code));
  const [fog = [0, 0, 0]] = style.colours;
  for (const [at, cell] of picked.entries()) {
    const code = cells[cell] ?? 0;
    const column = cell % fixed.size;
    const row = (cell - column) / fixed.size;
    const lit = isPlain[code] ? 1 : (light?.[(onLattice[row] ?? 0) * points + (onLattice[column] ?? 0)] ?? 1);
    const haze = seen && !seen[cell] ? style.haze * (burns(code) ? 0.5 : 1) : 0;
    const channels = style.colours[code] ?? fog;
    for (let part = 0; part < 3; part++) {
      const colour = (channels[part] ?? 0) * lit;
      data[4 * at + part] = haze ? between(colour, fog[part] ?? 0, haze) : colour;
    }
    data[4 * at + 3] = 255;
  }
}

/** For each pixel its cell; of several the one that matters most, so that what burns is never lost. */
export function pick(cells: Uint8Array, size: number, side: number, rank: readonly number[]): Uint32Array {
  if (side === size) return Uint32Array.from(cells, (_, cell) => cell);
  const picked = new Uint32Array(side * side).fill(cells.length);
  const rankOf = (cell: number) => rank[cells[cell] ?? 0] ?? 0;
  for (let cell = 0; cell < cells.length; cell++) {
    const [row, column] = [Math.floor(cell / size), cell % size];
    const at = Math.floor((row * side) / size) * side + Math.floor((column * side) / size);
    const other = picked[at] ?? cells.length;
    if (other === cells.length || rankOf(cell) > rankOf(other)) picked[at] = cell;
  }
  return picked;
}

export function drawArrow(pen: Pen, x: number, y: number, [east, south]: Point, room: number, colour: string): void {
  const speed = Math.hypot(east, south);
  if (speed < 0.5) return;
  const half = (Math.min(speed / 15, 1) * room) / 2;
  const [far, wide] = [Math.min(5 + room / 20, half), Math.min(2.5 + room / 40, half * 0.6)];
  pen.save();
  pen.translate(x, y);
  pen.rotate(Math.atan2(south, east));
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 1 + room / 65;
  pen.beginPath();
  pen.moveTo(-half, 0);
  pen.lineTo(half - far * 0.8, 0);
  pen.stroke();
  pen.beginPath();
  pen.lineTo(half, 0);
  pen.lineTo(half - far, -wide);
  pen.lineTo(half - far, wide);
  pen.fill();
  pen.restore();
}

export function drawWind(pen: Pen, map: LandPlan, { static: { wind: field }, style }: LandEpisode): void {
  if (!field) return;
  const room = map.whole / field.length;
  const every = Math.max(1, Math.ceil(54 / room));
  const isShown = (at: number) => at >= every >> 1 && (at - (every >> 1)) % every === 0;
  pen.globalAlpha = 0.6;
  for (const [row, blows] of field.entries()) {
    if (!isShown(row)) continue;
    for (const [column, blow] of blows.entries()) {
      if (!isShown(column)) continue;
      const [x, y] = [(column + 0.5) * room - map.left, (row + 0.5) * room - map.top];
      drawArrow(pen, x, y, blow, Math.min(room * every, 110), rgb(style.wind));
    }
  }
  pen.globalAlpha = 1;
}

/** Trees to cut, and where people are brought. */
export function drawTargets(pen: Pen, map: LandPlan, { targets, target }: LandStatic): void {
  const half = Math.max(map.cell / 2, 4);
  const frame = (place: Point, far: number, thick: number) => {
    const [x, y] = map.spot(...place);
    pen.lineWidth = thick;
    pen.strokeRect(x - far, y - far, 2 * far, 2 * far);
  };
  pen.strokeStyle = "#000000";
  for (const place of targets) frame(place, half, 1.6);
  if (target) frame(target, Math.max(half * 2.2, map.symbol), 3);
}

/** A bar of a round length, at most a quarter of what is shown. */
export function drawScale(pen: Pen, map: LandPlan, { cell_m: metres }: LandStatic): void {
  if (!metres) return;
  const long = roundLength((map.size / map.cell) * metres * 0.25);
  const across = (long / metres) * map.cell;
  const words = long >= 1000 ? `${long / 1000} km` : `${long} m`;
  pen.font = `600 12px ${FONT}`;
  pen.fillStyle = "#ffffffe6";
  pen.fillRect(6, map.size - 31, Math.max(across, pen.measureText(words).width) + 14, 25);
  pen.fillStyle = "#10151a";
  pen.fillRect(12, map.size - 12, across, 2.5);
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  pen.fillText(words, 12, map.size - 17);
}

/** The greatest of 1, 2, 5, 10, ... that is at most so long. */
export function roundLength(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  return ([5, 2].find((part) => part * power <= most) ?? 1) * power;
}
