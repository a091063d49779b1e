import type { Drawer, drawers } from "../../stage/drawer";

/** The page's own script, which runs before the drawers. */
declare const teamworld: { drawers: typeof drawers };

/** Give the page what draws a world. The log has static data, frames and style in the world's own form. */
export function register<Static, Frame, Style>(
  world: string,
  drawer: Drawer<Static, Frame, Style>,
  forTests: object = {},
): void {
  teamworld.drawers[world] = Object.assign(drawer as unknown as Drawer, forTests);
}
