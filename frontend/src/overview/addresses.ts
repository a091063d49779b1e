/** Addresses of the pages of episodes, beside that of the overview. */
import type { Episode } from "./filters";

/** The replay of an episode, at a step. */
export const replayAddress = (episode: Episode, step = 0): string =>
  `replay?${new URLSearchParams(namesOf(episode, ""))}${step ? `#t=${step}` : ""}`;

/** Two episodes side by side. */
export const pairAddress = (first: Episode, second: Episode): string =>
  `pair?${new URLSearchParams([...namesOf(first, ""), ...namesOf(second, "2")])}`;

const namesOf = ({ run, method, seed, episode }: Episode, end: string): [string, string][] =>
  Object.entries({ run, method, seed, episode }).map(([name, value]) => [name + end, String(value)]);
