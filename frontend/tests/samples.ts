/** Small episodes for tests. */
import { Episode } from "../src/episode/episode";
import type { Actor, Replay } from "../src/records";

/** An agent that did nothing but for what is given. */
export const actor = (name: string, given: Partial<Actor> = {}): Actor => ({
  name,
  kind: "agent",
  spans: [],
  paces: [],
  holds: [],
  ...given,
});

/** An episode of so many steps. */
export const episodeOf = (steps: number, given: Partial<Replay> = {}): Episode =>
  new Episode({
    format: 1,
    world: "toy",
    static: {},
    frames: Array.from({ length: steps + 1 }, () => ({})),
    team: [],
    goals: [],
    plans: [],
    messages: [],
    joints: [],
    failures: [],
    ...given,
  });
