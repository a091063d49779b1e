/** Addresses of the pages of episodes, beside that of the overview. */

/** By which a server knows an episode. */
export interface EpisodeName {
  run: string;
  method: string;
  seed: number;
  episode: number;
}

/** The replay of an episode, at a step. */
export const replayAddress = (episode: EpisodeName, step = 0): string =>
  `replay?${new URLSearchParams(namesOf(episode, ""))}${atStep(step)}`;

/** Two episodes side by side, at a step. */
export const pairAddress = (first: EpisodeName, second: EpisodeName, step = 0): string =>
  `pair?${new URLSearchParams([...namesOf(first, ""), ...namesOf(second, "2")])}${atStep(step)}`;

/** Where a page asks for a fork of an episode. */
export const forkAddress = (episode: EpisodeName): string => `fork?${new URLSearchParams(namesOf(episode, ""))}`;

const atStep = (step: number): string => (step ? `#t=${step}` : "");

const namesOf = ({ run, method, seed, episode }: EpisodeName, end: string): [string, string][] =>
  Object.entries({ run, method, seed, episode }).map(([name, value]) => [name + end, String(value)]);
