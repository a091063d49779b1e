import type { Episode } from "../../episode/episode";
import type { Moment } from "../../stage/drawer";

export interface CubeStatic {
  grid_size: number;
  /** Of the blocks by number; 0 if there is none. */
  weights: number[];
}

type Place = [row: number, column: number];

export interface CubeFrame {
  agents: Place[];
  /** The upper left cells of blocks by number; null if one is delivered. */
  blocks: (Place | null)[];
}

export type CubeMoment = Moment<CubeFrame>;
export type CubeEpisode = Episode<CubeStatic, CubeFrame>;
