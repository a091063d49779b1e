import type { Episode } from "../../episode/episode";
import type { Moment } from "../../stage/drawer";

/** How a kind of thing looks, and its words for the key. */
export interface Look {
  /** A tile fills its cell. */
  shape: "square" | "disc" | "tile";
  /** "#rrggbb" */
  colour: string;
  words: string;
}

export type Kinds = Readonly<Record<string, Look>>;

/** A thing that never changes, or of a moment, with its label. */
export type Thing = [row: number, column: number, kind: string, label?: string];

export type Facing = "" | "north" | "south" | "west" | "east";

/** The last two may be empty: where it faces, and the kind that it carries. */
export type GridAgent = [row: number, column: number, label: string, facing: Facing, held: string];

/** As `worlds/base/picture.py` has it. */
export interface GridStatic {
  /** Rows and columns. */
  size: [number, number];
  kinds: Kinds;
  ground: Thing[];
}

export interface GridFrame {
  /** In the team's order; null is an agent that is gone. */
  agents: (GridAgent | null)[];
  things: Thing[];
}

export type GridMoment = Moment<GridFrame>;
export type GridEpisode = Episode<GridStatic, GridFrame>;
