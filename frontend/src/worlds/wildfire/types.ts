import type { Episode } from "../../episode/episode";
import type { Moment } from "../../stage/drawer";
import type { Point } from "../common/geometry";

/** Red, green, blue, from 0 to 255. */
export type Channels = [number, number, number];

/** As `worlds/wildfire/drawing_data.py` has it; x and y are columns and rows. */
export interface LandStatic {
  /** Cells of a side. */
  size: number;
  /** The codes at the start as hexadecimal digits, row by row. */
  land: string[];
  /** Only what an agent knows is in it. */
  is_known?: boolean;
  /** Shades of a lattice over the land, as digits; not in logs of before. */
  relief?: string[] | null;
  /** A lattice over the land, metres per second east and south. */
  wind?: Point[][] | null;
  /** Metres of a cell. */
  cell_m?: number;
  /** Of the agents in the team's order. */
  kinds: string[];
  targets: Point[];
  target: Point | null;
}

export type Civilian = [x: number, y: number, state: number];

export interface LandFrame {
  /** Runs of codes that are not those of the start: first cell, how many, code. */
  land: number[];
  /** Null for those that are gone. */
  agents: (Point | null)[];
  /** Place of the agent that carries each; null if none does. */
  aboard: (number | null)[];
  water: number[];
  civilians: Civilian[];
  counts?: [burning: number, caught: number, lost: number, cut: number];
  wind?: Point | null;
}

export interface LandStyle {
  /** By code. */
  colours: Channels[];
  meanings: string[];
  /** How much light the darkest and the lightest of so many shades leave of a colour. */
  shades: [dark: number, light: number, steps: number];
  /** Polygons round (0, 0) that reach about 1 far, by kind. */
  shapes: Record<string, Point[][]>;
  /** Cells to each side that a kind reveals and observes. */
  sees: Record<string, [reveals: number, observes: number]>;
  /** Colours of those that are no agents. */
  fills: Record<string, Channels>;
  wind: Channels;
  /** How far colours of cells fade that were not seen. */
  haze: number;
  /** Which of the codes in one pixel is shown. */
  rank: number[];
  /** Codes that are not shaded. */
  plain: number[];
  legend: [number[], string][];
}

export type LandMoment = Moment<LandFrame>;
export type LandEpisode = Episode<LandStatic, LandFrame, LandStyle>;
/** What sightings are worked out from. */
export type LandRecord = Pick<LandEpisode, "static" | "frames" | "style">;

export const [IGNITED, ON_FIRE, BURNT_OUT, HOUSE, CIVILIAN, CLEARED] = [9, 10, 12, 14, 15, 16] as const;
export const [CARRIED, DEAD] = [1, 3] as const;
export const STATES = ["free", "carried", "safe", "dead"] as const;

/** Layers: everything, and what the team has seen; others are places in the team. */
export const [TRUTH, TEAM] = ["truth", "team"] as const;
export const showsAll = ({ layer }: Pick<LandMoment, "layer">): boolean => (layer ?? TRUTH) === TRUTH;

export const rgb = (channels: Channels | undefined): string => `rgb(${(channels ?? [0, 0, 0]).join()})`;
export const burns = (code: number | undefined): boolean => code === IGNITED || code === ON_FIRE;
