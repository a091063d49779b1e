import type { Episode } from "../../episode/episode";
import type { Moment } from "../../stage/drawer";
import type { Box } from "../common/geometry";

/** Fill and rim. */
export type Coat = [string, string];

export interface Room {
  id: number;
  name: string;
  box: Box;
}

export interface Piece extends Room {
  container: boolean;
  /** Things are brought to it. */
  goal: boolean;
}

export interface Need {
  relation: string;
  name: string;
  target: number | null;
  number: number;
}

/** As `worlds/household/drawing_data.py` has it; boxes are in centimetres. */
export interface HomeStatic {
  rooms: Room[];
  doors: { at: [number, number]; across: "x" | "z"; width: number }[];
  furniture: Piece[];
  /** Ids of pieces that are alike and touch. */
  touching?: number[][];
  things: { id: number; name: string }[];
  needs: Need[];
}

/** Where a thing is: HELD and the number of the agent, from 1 on, or INSIDE, ON or IN and what it is in or on. */
export type ThingPlace = [relation: string, place: number, x: number, z: number];

export interface HomeFrame {
  /** The heading in degrees, 0 along z and 90 along x; null if it is unknown. */
  agents: [x: number, z: number, heading: number | null][];
  /** Ids of what each agent holds, right and left. */
  hands: (number | null)[][];
  /** Ids of containers that are open. */
  open: number[];
  /** In the order of `HomeStatic.things`. */
  things: (ThingPlace | null)[];
  /** What each need lacks. */
  missing: number[];
}

export interface HomeStyle {
  rooms: Record<string, string>;
  any_room: string;
  ink: string;
  soft: string;
  wall: string;
  door: string;
  furniture: Coat;
  closed: Coat;
  open: Coat;
  target: Coat;
  legend: ["furniture" | "closed" | "open" | "target", string][];
  /** Letters of things that are not the first two of their name. */
  marks: Record<string, string>;
  /** Pixels between the middles of tags. */
  apart: number;
}

export type HomeMoment = Moment<HomeFrame>;
export type HomeEpisode = Episode<HomeStatic, HomeFrame, HomeStyle>;
/** What of a moment says what is known in it. */
export type LayerMoment = Pick<HomeMoment, "t" | "layer" | "frame">;

/** The layer that shows everything. */
export const TRUTH = "truth";
export const showsAll = ({ layer }: Pick<LayerMoment, "layer">): boolean => (layer ?? TRUTH) === TRUTH;
