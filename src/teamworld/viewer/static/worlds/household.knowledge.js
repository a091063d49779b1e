"use strict";
// Household: what an agent knows, from a log of the level `beliefs`: what it perceived, as it was when it last did. The
// last moment of an episode is perceived by nobody any more.
(function (tw) {
  const TRUTH = "truth";
  const known = new WeakMap();

  /** Facts that an agent perceived by moment t: where it last perceived each thing, and how it last perceived what it saw. */
  function knowledge(episode, agent, t) {
    let kept = known.get(episode);
    if (!kept || kept.agent !== agent || kept.t > t) kept = { agent, t: -1, at: 0, now: new Set(), things: new Map(), states: new Map(), met: new Map(), been: new Set() };
    known.set(episode, kept);
    for (; kept.t < t; kept.t++) {
      for (; episode.perceived[kept.at]?.frame <= kept.t + 1; kept.at++) {
        const change = episode.perceived[kept.at];
        if (change.agent !== agent) continue;
        for (const fact of change.unseen ?? []) kept.now.delete(fact);
        for (const fact of change.seen ?? []) kept.now.add(fact);
      }
      learn(kept, kept.t + 1);
    }
    return kept;
  }

  /** Take in what is perceived now; a thing that is not in its place any more, while that is in sight, is forgotten. */
  function learn(kept, t) {
    const facts = [...kept.now].map((fact) => /^(?:<\w+>\((\d+)\)|(\S+)) (\w+) (?:<\w+>\((\d+)\)|(.+))$/.exec(fact)).filter(Boolean);
    const seen = new Map();
    const looked = new Set();
    for (const [, number, name, predicate, place, value] of facts) {
      if (number && ["INSIDE", "ON", "IN"].includes(predicate)) {
        if (!seen.has(+number) || predicate !== "IN") seen.set(+number, [predicate, +place]);
        looked.add(+number);
      }
      if (name && predicate === "HOLD") seen.set(+place, ["HELD", name]);
      if (number && predicate === "STATE") kept.states.set(+number, value);
      if (name && predicate === "POSITION") kept.met.set(name, t);
      if (name === kept.agent && predicate === "AT" && place) kept.been.add(+place);
    }
    for (const [thing, [relation, place]] of kept.things) {
      const isOpen = relation !== "INSIDE" || kept.states.get(place) === "open";
      if (!seen.has(thing) && (relation === "HELD" ? kept.met.get(place) === t : looked.has(place) && isOpen)) kept.things.delete(thing);
    }
    for (const [thing, place] of seen) kept.things.set(thing, [...place, t]);
  }

  /** The frame as the layer has it: all of it, or what an agent knows; `unknown` are containers that it never saw. */
  tw.homeAsKnown = function (moment, episode) {
    const { frame, layer } = moment;
    if ((layer ?? TRUTH) === TRUTH) return { ...frame, unknown: new Set(), unmet: new Set(), far: new Set(), ages: [] };
    const { static: fixed } = episode;
    const it = knowledge(episode, layer, moment.t);
    const pieces = new Map(fixed.furniture.map((piece) => [piece.id, piece.box]));
    const rooms = new Map(fixed.rooms.map((room) => [room.id, room.box]));
    const things = fixed.things.map((thing, k) => {
      const [relation, place] = it.things.get(thing.id) ?? [];
      if (relation === "HELD") return ["HELD", episode.place.get(place) + 1, 0, 0];
      const [now, where, x, z] = frame.things[k];
      if (now === relation && where === place) return frame.things[k];
      const area = pieces.get(place) ?? rooms.get(place);
      return area ? [relation, place, (area[0] + area[2]) / 2, (area[1] + area[3]) / 2] : null;
    });
    const ages = fixed.things.map((thing) => Math.min(moment.t, episode.steps - 1) - (it.things.get(thing.id)?.[2] ?? moment.t));
    const containers = fixed.furniture.filter((piece) => piece.container);
    return {
      ...frame,
      things,
      ages, // steps since each was perceived
      open: containers.filter((piece) => it.states.get(piece.id) === "open").map((piece) => piece.id),
      unknown: new Set(containers.filter((piece) => !it.states.has(piece.id)).map((piece) => piece.id)),
      far: new Set(fixed.rooms.filter((room) => !it.been.has(room.id)).map((room) => room.id)), // rooms that it has not been in
      unmet: new Set(episode.team.flatMap((lane, place) => (lane.name !== layer && it.met.get(lane.name) !== moment.t ? [place] : []))),
    };
  };

  /** Where an agent believes things to be that it is not sure of: rows of name, chance and the area of the place. */
  tw.homeBeliefs = function (moment, episode) {
    const { static: fixed } = episode;
    if ((moment.layer ?? TRUTH) === TRUTH || !episode.knowledge) return [];
    const areas = new Map([...fixed.rooms, ...fixed.furniture].map((place) => [place.id, place.box]));
    return [...episode.knowledge.beliefs(moment.layer, null, moment.t)].flatMap(([fact, { chance }]) => {
      const place = /^<(\w+)>\((\d+)\) (?:IN|INSIDE|ON) <\w+>\((\d+)\)$/.exec(episode.knowledge.facts[fact]);
      return chance < 1 && place && areas.has(+place[3]) ? [{ name: `${place[1]} ${place[2]}`, chance, place: +place[3], area: areas.get(+place[3]) }] : [];
    });
  };

  tw.homeKnowledge = knowledge; // for tests
})(window.teamworld);
