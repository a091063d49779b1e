/** Agents and civilians. */
import type { Pen } from "../../shared/canvas";
import { inkOn } from "../../shared/colours";
import { between, ease } from "../../shared/numbers";
import type { Spot } from "../../stage/drawer";
import { entry } from "../common/geometry";
import { FONT } from "../common/marks";
import type { LandPlan } from "./land";
import { shown } from "./sight";
import { CARRIED, CIVILIAN, DEAD, type LandEpisode, type LandMoment, type LandStyle, rgb, showsAll } from "./types";

/** Who is drawn, in cells; the row of a civilian that was last seen there is null. */
export interface Unit {
  row: number | null;
  kind: string;
  x: number;
  y: number;
}

export function drawShape(
  pen: Pen,
  style: LandStyle,
  kind: string,
  x: number,
  y: number,
  radius: number,
  fill: string,
  thick: number,
): void {
  pen.beginPath();
  for (const polygon of style.shapes[kind] ?? []) {
    for (const [k, [right, down]] of polygon.entries()) {
      if (k) pen.lineTo(x + right * radius, y + down * radius);
      else pen.moveTo(x + right * radius, y + down * radius);
    }
    pen.closePath();
  }
  pen.lineWidth = 2 * thick;
  pen.lineJoin = "round";
  pen.strokeStyle = "#10151a";
  pen.stroke();
  pen.fillStyle = fill;
  pen.fill();
}

/** Groups as the world's `drawing_data.group_units` makes them: a unit joins the first group that begins near it. */
export function groupUnits(units: readonly Unit[], near: number): Unit[][] {
  const found: Unit[][] = [];
  for (const unit of units) {
    const isNear = ([first]: Unit[]) => first && Math.abs(first.x - unit.x) < near && Math.abs(first.y - unit.y) < near;
    const group = found.find(isNear);
    if (group) group.push(unit);
    else found.push([unit]);
  }
  return found;
}

/** The agents that are drawn, between two frames. */
export function teamOf({ frame, next, share }: LandMoment, { static: fixed }: LandEpisode): (Unit & { row: number })[] {
  const part = ease(share);
  return frame.agents.flatMap((from, row) => {
    if (!from || frame.aboard[row] !== null) return [];
    const to = next.agents[row] ?? from;
    const [x, y] = [between(from[0], to[0], part), between(from[1], to[1], part)];
    return [{ row, kind: entry(fixed.kinds, row), x, y }];
  });
}

/** The civilians that are drawn: as they are, or where they were last seen. */
export function peopleOf(moment: LandMoment, episode: LandEpisode): Unit[] {
  const { frame, next, share } = moment;
  if (!showsAll(moment)) {
    const { size } = episode.static;
    const units: Unit[] = [];
    for (const [cell, code] of shown(moment, episode).cells.entries())
      if (code === CIVILIAN) units.push({ row: null, kind: "civilian", x: cell % size, y: Math.floor(cell / size) });
    return units;
  }
  const part = ease(share);
  return frame.civilians.flatMap(([x, y, state], row) => {
    if (state === CARRIED) return [];
    const to = next.civilians[row] ?? [x, y];
    return [
      { row, kind: state === DEAD ? "dead" : "civilian", x: between(x, to[0], part), y: between(y, to[1], part) },
    ];
  });
}

/** Draw all units: those that stand together as a group. */
export function drawUnits(pen: Pen, map: LandPlan, moment: LandMoment, episode: LandEpisode, spots: Spot[]): void {
  for (const units of [peopleOf(moment, episode), teamOf(moment, episode)])
    for (const group of groupUnits(units, (map.symbol * 1.3) / map.cell))
      drawGroup(pen, map, group, moment, episode, spots);
}

/** Draw a group: a symbol for each kind, with how many if there are several, else the agent's number. */
function drawGroup(
  pen: Pen,
  map: LandPlan,
  group: readonly Unit[],
  moment: LandMoment,
  episode: LandEpisode,
  spots: Spot[],
): void {
  const { style } = episode;
  const kinds = Object.keys(style.shapes)
    .map((kind) => group.filter((unit) => unit.kind === kind))
    .filter((units) => units.length);
  const wides = kinds.map((units) => (units.length > 1 ? map.symbol * 1.45 : map.symbol) + 2);
  const mean = (axis: "x" | "y") => group.reduce((sum, unit) => sum + unit[axis], 0) / group.length;
  const [middle, y] = map.spot(mean("x"), mean("y"));
  let x = middle - wides.reduce((sum, wide) => sum + wide) / 2;
  for (const [k, units] of kinds.entries()) {
    const { kind, row } = entry(units, 0);
    const wide = entry(wides, k);
    const radius = wide / 2 - 1;
    x += wide / 2;
    const own = style.fills[kind];
    const fill = own ? rgb(own) : fillOf(units, moment, episode);
    const isChosen = !own && units.some((unit) => unit.row === moment.chosen);
    drawShape(pen, style, kind, x, y, radius, fill, isChosen ? 3 : 1.4);
    const words = units.length > 1 ? `×${units.length}` : !own && radius >= 7 ? String(row) : "";
    pen.font = `700 ${Math.max(9, radius * (words.length > 2 ? 0.85 : 1))}px ${FONT}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = fill.startsWith("#") ? inkOn(fill) : "#10151a";
    pen.fillText(words, x, y + (kind === "helicopter" ? radius * 0.25 : 0.5));
    if (!own) for (const unit of units) if (unit.row !== null) spots[unit.row] = { x, y, radius };
    x += wide / 2;
  }
}

/** The colour of the goal that all agents of a group work on; white if there is no such goal. */
function fillOf(units: readonly Unit[], { team }: LandMoment, episode: LandEpisode): string {
  const aims = new Set(units.map((unit) => team[unit.row ?? -1]?.aim ?? null));
  const [aim] = aims;
  return aims.size === 1 && aim ? episode.colour(aim) : "#ffffff";
}

const INKS = [
  ["#ffffffb0", 4, 3],
  ["#10151a", 1.6, 1.4],
] as const;

/** The square that the chosen agent observes, and the one that it reveals. */
export function drawWindows(pen: Pen, map: LandPlan, { frame, chosen }: LandMoment, episode: LandEpisode): void {
  const place = frame.agents[chosen ?? -1];
  if (!place) return;
  const [x, y] = map.spot(...place);
  const kind = episode.static.kinds[chosen ?? -1] ?? "";
  for (const [k, reach] of (episode.style.sees[kind] ?? []).entries()) {
    const half = (reach + 0.5) * map.cell;
    pen.setLineDash(k ? [5, 4] : []);
    for (const [colour, , thick] of INKS) {
      pen.strokeStyle = colour;
      pen.lineWidth = thick;
      pen.strokeRect(x - half, y - half, 2 * half, 2 * half);
    }
  }
  pen.setLineDash([]);
}

/** The way of the chosen agent up to now. */
export function drawWay(pen: Pen, map: LandPlan, { t, frame, chosen }: LandMoment, episode: LandEpisode): void {
  if (chosen === null || !frame.agents[chosen]) return;
  pen.lineJoin = pen.lineCap = "round";
  pen.beginPath();
  for (let step = 0; step <= t; step++) {
    const place = episode.frame(step).agents[chosen];
    if (place) pen.lineTo(...map.spot(...place));
  }
  for (const [colour, thick] of INKS) {
    pen.strokeStyle = colour;
    pen.lineWidth = thick;
    pen.stroke();
  }
}
