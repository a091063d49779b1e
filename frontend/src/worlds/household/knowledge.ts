/**
 * What an agent knows of a home, from a log of the level `beliefs`: what it perceived, as it was when it last did. The last
 * moment of an episode is perceived by nobody any more.
 */
import type { Box } from "../common/geometry";
import type { HomeEpisode, HomeFrame, LayerMoment, ThingPlace } from "./types";
import { showsAll } from "./types";

/** Where an agent last perceived a thing, and in which moment; the holder of one that is held, by name. */
type Sighting = [relation: "HELD", holder: string, t: number] | [relation: string, place: number, t: number];

/** What an agent perceived up to moment t. */
export interface HomeKnowledge {
  agent: string;
  t: number;
  /** The next change of the log. */
  at: number;
  now: Set<string>;
  things: Map<number, Sighting>;
  /** State of containers as it was last seen. */
  states: Map<number, string>;
  /** When it last perceived each teammate. */
  met: Map<string, number>;
  /** Rooms in which it was. */
  been: Set<number>;
}

/** A frame as a layer has it. */
export interface KnownFrame extends HomeFrame {
  /** Containers that were never seen. */
  unknown: ReadonlySet<number>;
  /** Places in the team of those who are not perceived. */
  unmet: ReadonlySet<number>;
  /** Rooms in which the agent has not been. */
  far: ReadonlySet<number>;
  /** Steps since each thing was perceived. */
  ages: readonly number[];
}

/** What an agent believes without being sure. */
export interface HomeBelief {
  name: string;
  chance: number;
  place: number;
  area: Box;
}

const kept = new WeakMap<HomeEpisode, HomeKnowledge>();

/** What an agent perceived by moment t: where it last perceived each thing, and how it last perceived what it saw. */
export function knowledge(episode: HomeEpisode, agent: string, t: number): HomeKnowledge {
  let own = kept.get(episode);
  if (!own || own.agent !== agent || own.t > t) {
    own = {
      agent,
      t: -1,
      at: 0,
      now: new Set(),
      things: new Map(),
      states: new Map(),
      met: new Map(),
      been: new Set(),
    };
    kept.set(episode, own);
  }
  for (; own.t < t; own.t++) {
    for (let change = episode.perceived[own.at]; change && change.frame <= own.t + 1; ) {
      if (change.agent === agent) {
        for (const fact of change.unseen ?? []) own.now.delete(fact);
        for (const fact of change.seen ?? []) own.now.add(fact);
      }
      own.at += 1;
      change = episode.perceived[own.at];
    }
    learn(own, own.t + 1);
  }
  return own;
}

const FACT = /^(?:<\w+>\((\d+)\)|(\S+)) (\w+) (?:<\w+>\((\d+)\)|(.+))$/;

/** Take in what is perceived now; a thing that is not in its place any more, while that is in sight, is forgotten. */
function learn(own: HomeKnowledge, t: number): void {
  const seen = new Map<number, readonly ["HELD", string] | readonly [string, number]>();
  const looked = new Set<number>();
  for (const fact of own.now) {
    const [, number, name, predicate, place, value] = FACT.exec(fact) ?? [];
    if (number && predicate && ["INSIDE", "ON", "IN"].includes(predicate)) {
      if (!seen.has(+number) || predicate !== "IN") seen.set(+number, [predicate, Number(place)]);
      looked.add(+number);
    }
    if (name && predicate === "HOLD") seen.set(Number(place), ["HELD", name]);
    if (number && predicate === "STATE") own.states.set(+number, value ?? "");
    if (name && predicate === "POSITION") own.met.set(name, t);
    if (name === own.agent && predicate === "AT" && place) own.been.add(+place);
  }
  for (const [thing, [, place]] of own.things)
    if (!seen.has(thing) && isMissed(own, thing, place, looked, t)) own.things.delete(thing);
  for (const [thing, [relation, place]] of seen) own.things.set(thing, [relation, place, t] as Sighting);
}

/** Whether a thing would be perceived if it still were where it was perceived last. */
function isMissed(own: HomeKnowledge, thing: number, place: string | number, looked: Set<number>, t: number): boolean {
  if (typeof place === "string") return own.met.get(place) === t;
  const isOpen = own.things.get(thing)?.[0] !== "INSIDE" || own.states.get(place) === "open";
  return looked.has(place) && isOpen;
}

/** The frame as the layer has it: all of it, or what an agent knows. */
export function asKnown(moment: LayerMoment, episode: HomeEpisode): KnownFrame {
  const { frame, layer } = moment;
  if (layer === null || showsAll(moment))
    return { ...frame, unknown: new Set(), unmet: new Set(), far: new Set(), ages: [] };
  const { static: fixed } = episode;
  const own = knowledge(episode, layer, moment.t);
  const areas = new Map([...fixed.rooms, ...fixed.furniture].map((place) => [place.id, place.box]));
  const things = fixed.things.map(({ id }, k) => placeOf(own.things.get(id), frame.things[k], areas, episode));
  const last = Math.min(moment.t, episode.steps - 1);
  const containers = fixed.furniture.filter((piece) => piece.container);
  const unmet = episode.team.flatMap(({ name }, place) =>
    name !== layer && own.met.get(name) !== moment.t ? [place] : [],
  );
  return {
    ...frame,
    things,
    ages: fixed.things.map(({ id }) => last - (own.things.get(id)?.[2] ?? moment.t)),
    open: containers.filter(({ id }) => own.states.get(id) === "open").map(({ id }) => id),
    unknown: new Set(containers.filter(({ id }) => !own.states.has(id)).map(({ id }) => id)),
    far: new Set(fixed.rooms.filter(({ id }) => !own.been.has(id)).map(({ id }) => id)),
    unmet: new Set(unmet),
  };
}

/** Where a thing is drawn that was perceived: where it is, if that is so still, else in the middle of the place. */
function placeOf(
  seen: Sighting | undefined,
  now: ThingPlace | null | undefined,
  areas: ReadonlyMap<number, Box>,
  episode: HomeEpisode,
): ThingPlace | null {
  if (!seen) return null;
  const [relation, place] = seen;
  if (typeof place === "string") return ["HELD", (episode.place.get(place) ?? -1) + 1, 0, 0];
  if (now?.[0] === relation && now[1] === place) return now;
  const area = areas.get(place);
  return area ? [relation, place, (area[0] + area[2]) / 2, (area[1] + area[3]) / 2] : null;
}

/** Where the agent of the layer believes things to be that it is not sure of. */
export function beliefs({ layer, t }: Pick<LayerMoment, "layer" | "t">, episode: HomeEpisode): HomeBelief[] {
  const { static: fixed, knowledge: log } = episode;
  if (layer === null || showsAll({ layer }) || !log) return [];
  const areas = new Map([...fixed.rooms, ...fixed.furniture].map((place) => [place.id, place.box]));
  return [...log.beliefs(layer, null, t)].flatMap(([fact, { chance }]) => {
    const found = /^<(\w+)>\((\d+)\) (?:IN|INSIDE|ON) <\w+>\((\d+)\)$/.exec(log.facts[fact] ?? "");
    const [place, area] = [Number(found?.[3]), areas.get(Number(found?.[3]))];
    return found && area && chance < 1 ? [{ name: `${found[1]} ${found[2]}`, chance, place, area }] : [];
  });
}
