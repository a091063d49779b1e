/** What of a folder's episodes is shown: the state of the page, which its address holds. */
import type { ListedEpisode, Overview } from "../records";

/** A listed episode, by names. */
export interface Episode {
  run: string;
  level: string;
  method: string;
  seed: number;
  episode: number;
  reason: string;
  /** By place in `Overview.measures`. */
  values: (number | null)[];
  /** Tells it from all others. */
  key: string;
}

/** What can be chosen by its value. */
export const FILTERS = ["run", "level", "method", "seed"] as const;

export function namedEpisode(row: ListedEpisode): Episode {
  const [run, level, method, seed, episode, reason, values] = row;
  return { run, level, method, seed, episode, reason, values, key: JSON.stringify(row.slice(0, 5)) };
}

/** Words on which episode it is. */
export const nameOf = ({ method, seed, episode }: Episode): string => `${method}, seed ${seed}, episode ${episode}`;

/** How to read a measure of an episode. */
export type Read = (episode: Episode) => number | null;

/** What can be plotted, by name. */
export function measuresOf({ measures }: Overview): Map<string, Read> {
  return new Map<string, Read>([
    ["episode", ({ episode }) => episode],
    ["seed", ({ seed }) => seed],
    ...measures.map((name, place): [string, Read] => [name, ({ values }) => values[place] ?? null]),
  ]);
}

/** What the address of the page says: filters, words, axes and order. */
export class PageState {
  #values = new URLSearchParams(location.hash.slice(1));

  get(name: string, usual = ""): string {
    return this.#values.get(name) ?? usual;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** Set values; an empty one is forgotten. */
  set(changes: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(changes)) {
      if (value) this.#values.set(name, value);
      else this.#values.delete(name);
    }
    history.replaceState(null, "", `#${this.#values}`);
  }

  clear(): void {
    this.#values = new URLSearchParams();
    this.set({});
  }

  /** Take the values from the address, which somebody changed. */
  readAddress(): void {
    this.#values = new URLSearchParams(location.hash.slice(1));
  }

  /** Whether an episode has the values that are chosen. */
  allows(episode: Episode): boolean {
    return FILTERS.every((name) => !this.has(name) || String(episode[name]) === this.get(name));
  }

  /** Episodes in the order that is chosen; those without a value come last. */
  sort(episodes: readonly Episode[], measures: ReadonlyMap<string, Read>): readonly Episode[] {
    const name = this.get("sort");
    const read = measures.get(name) ?? wordOf(name);
    if (!read) return episodes;
    const order = this.has("down") ? -1 : 1;
    return episodes
      .map((episode) => ({ value: read(episode), episode }))
      .sort((one, other) => {
        if (one.value === null || other.value === null)
          return Number(one.value === null) - Number(other.value === null);
        if (one.value === other.value) return 0;
        return one.value < other.value ? -order : order;
      })
      .map(({ episode }) => episode);
  }
}

function wordOf(name: string): ((episode: Episode) => string) | null {
  if (name !== "run" && name !== "level" && name !== "method" && name !== "reason") return null;
  return (episode) => episode[name];
}
