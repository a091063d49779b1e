import { clamp } from "../../shared/numbers";
import type { View } from "../../stage/drawer";

export type Point = readonly [x: number, y: number];
/** Least x and y, greatest x and y. */
export type Box = readonly [x0: number, y0: number, x1: number, y1: number];

export const WHOLE: View = { zoom: 1, x: 0.5, y: 0.5 };
/** Where an agent is drawn that is not on the picture. */
export const AWAY = { x: -99, y: -99, radius: 0 };

/** The row in a place that has to be there. */
export function entry<Row>(rows: readonly Row[], place: number): Row {
  const row = rows[place];
  if (row === undefined) throw new Error(`expected a row ${place}, got ${rows.length} rows`);
  return row;
}

/** Where the cells of a grid lie: squares; a grid that is not square stands in the middle. */
export interface GridPlan {
  size: number;
  rows: number;
  columns: number;
  cell: number;
  left: number;
  top: number;
  view: View;
  x(column: number): number;
  y(row: number): number;
}

export function layGrid(size: number, rows: number, columns: number, view: View = WHOLE): GridPlan {
  const whole = size * view.zoom;
  const cell = whole / Math.max(rows, columns);
  const start = (count: number, middle: number) => (whole - count * cell) / 2 - (middle * whole - size / 2);
  const [left, top] = [start(columns, view.x), start(rows, view.y)];
  return {
    size,
    rows,
    columns,
    cell,
    left,
    top,
    view,
    x: (column) => left + column * cell,
    y: (row) => top + row * cell,
  };
}

/** The cell at a point of the canvas as [row, column], null outside of the grid. */
export function cellAt(plan: GridPlan, x: number, y: number): readonly [row: number, column: number] | null {
  const [row, column] = [Math.floor((y - plan.top) / plan.cell), Math.floor((x - plan.left) / plan.cell)];
  return row < 0 || column < 0 || row >= plan.rows || column >= plan.columns ? null : [row, column];
}

/** Where a floor plan lies, whose second axis points up: boxes are given in its units, and drawn in pixels. */
export interface FloorPlan {
  size: number;
  scale: number;
  /** Pixels of a letter and of all that is as large on every plan, as a share of their size on a canvas of 700. */
  unit: number;
  view: View;
  spot(x: number, z: number): [number, number];
  area(box: Box): [number, number, number, number];
  /** The same for a whole path. */
  flip: readonly [number, number, number, number, number, number];
}

/** Lay a floor plan on a square canvas, in the middle, with a margin round the boxes that are in it. */
export function layFloor(size: number, boxes: readonly Box[], margin: number, view: View = WHOLE): FloorPlan {
  const [left, low] = [
    Math.min(...boxes.map((box) => box[0])) - margin,
    Math.min(...boxes.map((box) => box[1])) - margin,
  ];
  const [right, top] = [
    Math.max(...boxes.map((box) => box[2])) + margin,
    Math.max(...boxes.map((box) => box[3])) + margin,
  ];
  const scale = (size / Math.max(right - left, top - low)) * view.zoom;
  const aside = (size * view.zoom - (right - left) * scale) / 2 - (view.x * size * view.zoom - size / 2);
  const down = (size * view.zoom - (top - low) * scale) / 2 - (view.y * size * view.zoom - size / 2);
  const spot = (x: number, z: number): [number, number] => [aside + (x - left) * scale, down + (top - z) * scale];
  return {
    size,
    scale,
    unit: clamp(size / 700, 0.75, 1.3),
    view,
    spot,
    area: ([x0, z0, x1, z1]) => [...spot(x0, z1), ...spot(x1, z0)],
    flip: [scale, 0, 0, -scale, aside - left * scale, down + top * scale],
  };
}

/** The area that two boxes share. */
export const shared = (one: Box, other: Box): number =>
  Math.max(0, Math.min(one[2], other[2]) - Math.max(one[0], other[0])) *
  Math.max(0, Math.min(one[3], other[3]) - Math.max(one[1], other[1]));

/** Whether a box lies in another. */
export const within = (one: Box, other: Box): boolean =>
  other[0] <= one[0] && one[2] <= other[2] && other[1] <= one[1] && one[3] <= other[3];

/** Whether a point is in a polygon. */
export function isInside(corners: readonly Point[], x: number, y: number): boolean {
  let inside = false;
  for (const [k, [x0, y0]] of corners.entries()) {
    const [x1, y1] = entry(corners, (k + 1) % corners.length);
    if (y0 > y !== y1 > y && x < ((x1 - x0) * (y - y0)) / (y1 - y0) + x0) inside = !inside;
  }
  return inside;
}
