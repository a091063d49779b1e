import type { BeliefChange, FactChange, KnowledgeLog } from "../records";
import { say } from "../shared/words";
import type { Episode } from "./episode";

/** State of a fold over changes that are ordered by frame: it goes on from moment to moment, or begins anew. */
class Fold<Change extends { frame: number }, Held> {
  #state: Held;
  #place = 0;
  #t = -1;

  constructor(
    readonly changes: readonly Change[],
    readonly start: () => Held,
    readonly take: (state: Held, change: Change) => void,
  ) {
    this.#state = start();
  }

  at(t: number): Held {
    if (t < this.#t) {
      this.#place = 0;
      this.#state = this.start();
    }
    this.#t = t;
    for (let change = this.changes[this.#place]; change && change.frame <= t; change = this.changes[this.#place]) {
      this.take(this.#state, change);
      this.#place++;
    }
    return this.#state;
  }
}

/** Facts by their places in the log. */
export interface Perceived {
  /** What is perceived. */
  now: Set<number>;
  /** The frame in which facts were perceived last that are not perceived any more. */
  last: Map<number, number>;
}

export interface Belief {
  chance: number;
  /** Tick. */
  since: number;
  source: string;
}

/** A fact that an agent knows or believes. */
export interface KnownFact {
  fact: number;
  text: string;
  /** It is perceived. */
  now: boolean;
  /** Moments since it was perceived last; null if it is, or never was. */
  age: number | null;
  belief: Belief | null;
  /** Whether it is so; null where nothing says. */
  holds: boolean | null;
  /** Believed against what is so. */
  wrong: boolean;
}

/**
 * What agents perceive, perceived last and when, and believe, against what is true: from a log of the level `beliefs`.
 * The last moment of an episode is perceived by nobody any more.
 */
export class Knowledge {
  readonly facts: readonly string[];
  readonly #about: readonly number[];
  readonly #seen: readonly FactChange[];
  readonly #believed: readonly BeliefChange[];
  readonly #true: Fold<FactChange, Set<number>>;
  readonly #perceived = new Map<string, Fold<FactChange, Perceived>>();
  readonly #beliefs = new Map<string, Fold<BeliefChange, Map<number, Belief>>>();

  constructor(log: KnowledgeLog) {
    this.facts = log.facts;
    this.#about = log.about;
    this.#seen = log.seen;
    this.#believed = log.believed;
    this.#true = new Fold<FactChange, Set<number>>(
      log.truth,
      () => new Set(),
      (state, { on = [], off = [] }) => {
        for (const fact of off) state.delete(fact);
        for (const fact of on) state.add(fact);
      },
    );
  }

  /** What an agent perceives at moment t, and what it perceived last and does not any more. */
  perceived(agent: string, t: number): Perceived {
    return kept(this.#perceived, agent, () => {
      const own = this.#seen.filter((row) => row.agent === agent);
      return new Fold<FactChange, Perceived>(own, () => ({ now: new Set(), last: new Map() }), this.#takeSeen);
    }).at(t);
  }

  readonly #takeSeen = (state: Perceived, { frame, on = [], off = [] }: FactChange): void => {
    for (const fact of off) {
      state.now.delete(fact);
      state.last.set(fact, frame - 1);
    }
    for (const fact of on) {
      state.now.add(fact);
      state.last.delete(fact);
      const about = this.#about[fact] ?? -1;
      if (about < 0) continue;
      for (const other of state.last.keys()) if (this.#about[other] === about) state.last.delete(other); // it has another value
    }
  };

  /** What an agent believes at moment t, by fact: of the world, or of what another knows. */
  beliefs(agent: string, about: string | null, t: number): Map<number, Belief> {
    return kept(this.#beliefs, `${agent} ${about}`, () => {
      const own = this.#believed.filter((row) => row.agent === agent && (row.about ?? null) === about);
      return new Fold<BeliefChange, Map<number, Belief>>(
        own,
        () => new Map(),
        (state, { held = [], dropped = [] }) => {
          for (const fact of dropped) state.delete(fact);
          for (const { fact, chance = 1, since = 0, source = "own" } of held)
            state.set(fact, { chance, since, source });
        },
      );
    }).at(t);
  }

  /** Teammates of whom an agent believes something, ever. */
  subjects(agent: string): string[] {
    return [...new Set(this.#believed.flatMap((row) => (row.agent === agent && row.about ? [row.about] : [])))];
  }

  /** All facts that an agent knows or believes at moment t: of the world, or of what another knows. */
  rows(agent: string, about: string | null, t: number): KnownFact[] {
    const nothing: Perceived = { now: new Set(), last: new Map() };
    const { now, last } = about === null ? this.perceived(agent, t) : nothing;
    const beliefs = this.beliefs(agent, about, t);
    const truth = this.#true.changes.length ? this.#true.at(t) : null;
    const own = about === null ? null : this.perceived(about, t); // what the teammate does know
    const itself = (fact: number) => this.facts[fact]?.startsWith(`${agent} `) ?? false; // of itself it perceives all that is so
    const facts = new Set([...now, ...[...last.keys()].filter((fact) => !itself(fact)), ...beliefs.keys()]);
    return [...facts].map((fact) => {
      const holds = own ? own.now.has(fact) || own.last.has(fact) : (truth?.has(fact) ?? null);
      const belief = beliefs.get(fact) ?? null;
      const frame = last.get(fact);
      const wrong = belief !== null && holds !== null && !now.has(fact) && holds !== belief.chance >= 0.5;
      const age = frame === undefined ? null : t - frame;
      return { fact, text: this.facts[fact] ?? "", now: now.has(fact), age, belief, holds, wrong };
    });
  }
}

function kept<Value>(values: Map<string, Value>, name: string, make: () => Value): Value {
  const value = values.get(name) ?? make();
  values.set(name, value);
  return value;
}

/** Layers of the map for what each agent knows, behind the one that shows everything; for drawers that have no own. */
export const knowledgeLayers = (episode: Pick<Episode, "knowledge" | "team">): { id: string; words: string }[] => [
  { id: "", words: "everything" },
  ...(episode.knowledge
    ? episode.team.map(({ name }) => ({ id: name, words: `what ${say(name)} perceives and did` }))
    : []),
];

/** Where an agent perceives a thing, or last perceived it. */
export interface Sighting {
  name: string;
  row: number;
  column: number;
  /** In steps; 0 for now. */
  age: number;
}

/** Where an agent perceives things at moment t, or last perceived them, on a grid. */
export function sightings(episode: Pick<Episode, "knowledge">, agent: string, t: number): Sighting[] {
  if (!episode.knowledge) return [];
  const { facts } = episode.knowledge;
  const { now, last } = episode.knowledge.perceived(agent, t);
  const aged = [
    ...[...now].map((fact) => [fact, 0] as const),
    ...[...last].map(([fact, frame]) => [fact, t - frame] as const),
  ];
  return aged.flatMap(([fact, age]) => {
    const at = /^(?:<(\w+)>\((\d+)\)|(\S+)) AT \((\d+), (\d+)\)$/.exec(facts[fact] ?? "");
    return at ? [{ name: at[3] ?? `${at[1]} ${at[2]}`, row: Number(at[4]), column: Number(at[5]), age }] : [];
  });
}
