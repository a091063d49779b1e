import type { Lane } from "../../episode/lane";
import type { StepRecord } from "../../records";
import { groupBy } from "../../shared/numbers";
import { plural, say } from "../../shared/words";

const GROUPED = 24; // agents of a team up to which each has a lane, and no group
const OPENED = 48; // agents of a team up to which groups are open at first
const LARGEST = 32; // agents of a group

/** What an agent achieved in a step, as its lane and its group show it. */
export type Pace = "work" | "move" | "ready";

export const PACES: readonly Pace[] = ["work", "move", "ready"];

export function paceOf(row: StepRecord): Pace | null {
  if (row.effect) return "work";
  if (row.moved) return "move";
  return row.ready ? "ready" : null;
}

/** Agents of one kind, in the team's order. */
export interface Group {
  name: string;
  /** In the team. */
  places: readonly number[];
}

export type LaneRow = { group: Group } | { place: number };

/** The groups of a team; none where each agent can have its lane. */
export function groupsOf(team: readonly Pick<Lane, "name" | "kind">[]): Group[] {
  if (team.length <= GROUPED) return [];
  return [...groupBy(team.keys(), (place) => team[place]?.kind)].flatMap(([kind, places]) => {
    const many = Math.ceil(places.length / LARGEST);
    const each = Math.ceil(places.length / many);
    return Array.from({ length: many }, (_, at) => {
      const part = places.slice(at * each, (at + 1) * each);
      return { name: many === 1 && kind ? say(kind) : rangeOf(team, part), places: part };
    });
  });
}

/** "agent 0–31": the first name, and the number of the last. */
function rangeOf(team: readonly Pick<Lane, "name">[], places: readonly number[]): string {
  const [first = "", last = ""] = [places[0], places.at(-1)].map((place) => say(team[place ?? -1]?.name ?? ""));
  return first === last ? first : `${first}–${/\d+$/.exec(last)?.[0] ?? last}`;
}

/** The rows of the lanes from top to bottom: groups, and below each open one its agents. */
export class LaneRows {
  rows: readonly LaneRow[] = [];
  readonly #groups: readonly Group[];
  readonly #open: Set<Group>;

  constructor(readonly team: readonly Pick<Lane, "name" | "kind">[]) {
    this.#groups = groupsOf(team);
    this.#open = new Set(team.length <= OPENED ? this.#groups : []);
    this.#list();
  }

  isOpen(group: Group): boolean {
    return this.#open.has(group);
  }

  toggle(group: Group): void {
    if (!this.#open.delete(group)) this.#open.add(group);
    this.#list();
  }

  /** The row of an agent, whose group is opened; -1 for a place that the team does not have. */
  reveal(place: number): number {
    const group = this.#groups.find(({ places }) => places.includes(place));
    if (group && !this.isOpen(group)) this.toggle(group);
    return this.rows.findIndex((row) => "place" in row && row.place === place);
  }

  #list(): void {
    const agents = (places: Iterable<number>): LaneRow[] => [...places].map((place) => ({ place }));
    this.rows = this.#groups.length
      ? this.#groups.flatMap((group) => [{ group }, ...(this.isOpen(group) ? agents(group.places) : [])])
      : agents(this.team.keys());
  }
}

/** How many agents of a group achieved what, step by step; and in which steps an action of theirs failed. */
export class GroupPaces {
  /** Sums over the steps before each. */
  readonly #sums: Readonly<Record<Pace, Float64Array>>;
  readonly failed = new Set<number>();

  constructor(
    lanes: readonly Lane[],
    readonly steps: number,
  ) {
    this.#sums = {
      work: new Float64Array(steps + 2),
      move: new Float64Array(steps + 2),
      ready: new Float64Array(steps + 2),
    };
    for (const lane of lanes) this.#add(lane);
    for (const sums of Object.values(this.#sums)) toSums(sums);
  }

  #add({ paces, runs }: Lane): void {
    const over = runs.at(-1)?.end ?? 0;
    for (const [at, row] of paces.entries()) {
      const pace = paceOf(row);
      const end = paces[at + 1]?.step ?? over;
      if (!pace || end <= row.step) continue;
      const changes = this.#sums[pace];
      changes[row.step] = (changes[row.step] ?? 0) + 1;
      changes[end] = (changes[end] ?? 0) - 1;
    }
    for (const run of runs) if (run.status === "failed") this.failed.add(run.end - 1);
  }

  /** The mean number of agents that achieved something in the steps from one to another, which is not counted. */
  mean(pace: Pace, start: number, end: number): number {
    const sums = this.#sums[pace];
    return ((sums[end] ?? 0) - (sums[start] ?? 0)) / Math.max(1, end - start);
  }

  /** What the group did in a step, in words. */
  inWords(step: number): string {
    const [work, move, ready] = PACES.map((pace) => this.mean(pace, step, step + 1));
    return `step ${step}: ${work} changed the world, ${move} moved, ${ready} in place and waiting`;
  }
}

/** From changes by step to sums over the steps before each. */
function toSums(changes: Float64Array): void {
  let [count, sum] = [0, 0];
  for (const [step, change] of changes.entries()) {
    changes[step] = sum;
    count += change;
    sum += count;
  }
}

/** A group in words: its name, how many it has, and what they did in a step. */
export const groupInWords = (group: Group, paces: GroupPaces, step: number, isOpen: boolean): string[] => [
  group.name,
  `${plural(group.places.length, "agent")}; enter ${isOpen ? "closes" : "opens"} the group`,
  paces.inWords(step),
];
