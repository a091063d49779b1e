import type { Episode, State } from "../episode/episode";
import type { JointAct, StepRecord } from "../records";
import type { Pen } from "../shared/canvas";
import type { Theme } from "../shared/theme";

/** An agent at a moment. */
export interface TeamMember {
  /** The goal that it is bound to. */
  aim: string | null;
  pace: StepRecord | null;
  gone: boolean;
}

/** What a drawer draws: a moment, and a share of the step after it. */
export interface Moment<Frame = State> {
  t: number;
  share: number;
  frame: Frame;
  /** The frame after the step; the same at the end. */
  next: Frame;
  theme: Theme;
  /** Place of the chosen agent in the team. */
  chosen: number | null;
  /** Id of the layer that is shown. */
  layer: string | null;
  view: View;
  joints: readonly JointAct[];
  team: readonly TeamMember[];
}

/** Which part of the map is shown: how much larger than the whole, and its middle as shares of the map. */
export interface View {
  zoom: number;
  x: number;
  y: number;
}

export interface Layer {
  id: string;
  words: string;
}

/** A row of the key: a head, or words with samples, which are colours or drawn. Soft rows explain. */
export interface KeyRow {
  head?: string;
  words?: string;
  samples?: (string | ((pen: Pen, size: number) => void))[];
  soft?: boolean;
  /** What the samples show beside the words: a row is drawn anew only when its words or this have changed. */
  state?: string;
}

/** A curve below the picture, with a value for each moment. */
export interface Curve {
  name: string;
  values: readonly number[];
  /** A colour of the theme by its name, or as it is. */
  colour: string;
}

/** Where an agent was drawn, in pixels. */
export interface Spot {
  x: number;
  y: number;
  radius: number;
}

/**
 * What draws a world: the contract of the scripts in `static/worlds/`, each of which adds its drawer to
 * `teamworld.drawers` by the name of its world (`worlds/common/register.ts`). A world that gives `static.drawer` is drawn
 * by the drawer of that name: `grid` draws all worlds that give pictures as `worlds/base/picture.py` describes them. What
 * of the rest a drawer does not have, the page leaves out.
 */
export interface Drawer<Static = State, Frame = State, Style = State> {
  /** Draw a moment on a square; returns where the agents were drawn, in the team's order. */
  draw(pen: Pen, size: number, moment: Moment<Frame>, episode: Episode<Static, Frame, Style>): { agents: Spot[] };
  /** The picture in words. */
  words?(moment: Moment<Frame>, episode: Episode<Static, Frame, Style>): string;
  /** Words on what is at a point of the square; the first line is strong. */
  label?(moment: Moment<Frame>, episode: Episode<Static, Frame, Style>, x: number, y: number, size: number): string[];
  key?(moment: Moment<Frame>, episode: Episode<Static, Frame, Style>): KeyRow[];
  /** What can be shown; the first one is at the start. */
  layers?(episode: Episode<Static, Frame, Style>): Layer[];
  curves?(episode: Episode<Static, Frame, Style>): Curve[];
  /** A line beside the choice of layers. */
  note?(episode: Episode<Static, Frame, Style>): string;
  /** Whether `moment.view` is heeded. */
  zooms?: boolean;
}

/** The drawers of the page, by the name of their world. */
export const drawers: Record<string, Drawer> = {};

/** What draws the world of an episode; null if nothing does. */
export function drawerOf(episode: Pick<Episode, "world" | "static">): Drawer | null {
  const name = String(episode.static.drawer ?? episode.world);
  return Object.hasOwn(drawers, name) ? (drawers[name] ?? null) : null;
}
