import type { Episode } from "../../episode/episode";
import type { Moment } from "../../stage/drawer";
import type { Box, Point } from "../common/geometry";

/** Fill and rim. */
type Coat = [string, string];

/** As `worlds/transport/drawing_data.py` has it; lengths are in centimetres. */
export interface HouseStatic {
  rooms: { id: number; name: string; box: Box }[];
  walls: Box[];
  furniture: { name: string; outline: Point[]; bed: boolean }[];
  items: { id: number; name: string; kind: "target" | "container" | "unrelated" }[];
  /** How many of each kind are to be brought. */
  goals: Record<string, number>;
  /** The middle of the bed, and how near to it things count. */
  bed: [x: number, z: number, reach: number];
  /** How far agents see; nothing where it is not known. */
  sight?: number;
}

export type ItemRow = [x: number, z: number, holder: number, inside: number, delivered: number];

export interface HouseFrame {
  t: number;
  /** The heading in degrees, 0 along z and 90 along x; null if it is unknown. */
  agents: [x: number, z: number, heading: number | null][];
  /** Numbers of the items that each agent holds, left and right; -1 for nothing. */
  hands: number[][];
  /** The way of each agent in the step that led here. */
  trails?: (Point[] | undefined)[];
  items: ItemRow[];
  /** Numbers of the items that each agent knows of. */
  known: number[][];
  /** How much of each room each agent has seen, in per cent. */
  seen: number[][];
}

export interface HouseStyle {
  rooms: Record<string, string>;
  any_room: string;
  ink: string;
  soft: string;
  wall: string;
  furniture: Coat;
  bed: Coat;
  target: Coat;
  container: Coat;
  other: Coat;
  agents: string[];
  legend: ["bed" | "target" | "container" | "other" | "furniture", string][];
}

export type HouseMoment = Moment<HouseFrame>;
export type HouseEpisode = Episode<HouseStatic, HouseFrame, HouseStyle>;

/** The layer that shows everything. */
export const TRUTH = "truth";

/** Place in the team of the agent of the layer, -1 in the one that shows everything. */
export const layerOf = ({ layer }: HouseMoment, { team }: HouseEpisode): number =>
  team.findIndex(({ name }) => name === layer);

export const plain = (name: string): string => name.replaceAll("_", " ");
