"""When the team will be done, and how much earlier if something is told (CoBel-World spec B3.5).

For worlds in which agents fetch and bring (``parts.errands``): the team is played to the end in worlds drawn from what
the agent believes, with a message and without (``playing``). A saving counts only as far as it lets the team be done
earlier: who has nothing useful left to do loses no time. A team-mate out of sight is played from where and when it was
last seen, so that it is thought to have found and brought what it may have come across.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Final

import numpy as np

from teamworld.language import Action, AgentId, Entity, Fact, Facts
from teamworld.methods.cobel.engine import Intent, Situation
from teamworld.methods.cobel.playing import CLOSED, TARGET, Aim, Item, Play, Told, Walker, World
from teamworld.methods.cobel.ways import Ways
from teamworld.planning.fetch import HOLD, carrying_capacity, held_things, wanted_kind
from teamworld.seeding import generator
from teamworld.worlds.contract import WAIT, LatentVariable

#: Worlds that are drawn to choose what to tell, and to judge whether it is worth it: what was chosen by some draws
#: looks better by them than it is.
CHOICE, JUDGEMENT = 24, 96
#: What stands in for all that can be looked into in a room of which the agent has seen nothing: its kind, and the ticks
#: that a search of it takes, by the development homes.
INNER, SEARCH = "inner", 4
#: Ticks in which a team-mate out of sight finds something as likely as not.
FIND: Final = 30.0


def applies(now: Situation) -> bool:
    """Return whether the world is one in which agents fetch things and bring them to one place."""
    return carrying_capacity(now.domain) > 1 and _target(now) is not None


def _target(now: Situation) -> Entity | None:
    return next((goal.thing for goal in now.goals.values() if goal.thing is not None and wanted_kind(goal)), None)


class Ahead:
    """The team's way to the end as one agent thinks of it.

    Args:
        now: Its situation.
        intents: What it thinks that team-mates are up to.
        worlds: How many worlds to draw.
        ways: That somebody else has looked up in this situation.
    """

    def __init__(
        self, now: Situation, intents: Mapping[AgentId, Sequence[Intent]], worlds: int, ways: Ways | None = None
    ) -> None:
        target = _target(now)
        assert target is not None
        self._now, self._target, self._capacity = now, target, carrying_capacity(now.domain)
        self.ways = ways or Ways(now, target)
        self._items = {(thing, place): self._item(thing, place) for thing, place in _placed(now.given)}
        for mate in now.mates:
            self._learn(now.minds[mate])
        self._me = self._walker(now.me, now.given)
        self._mates = {mate: self._walker(mate, now.minds[mate]) for mate in now.mates}
        self._gone = {mate: now.view.t - now.met.get(mate, 0) for mate in now.mates}
        self._within = _within(now)
        open_ = {place for unknown in now.unknowns for place in _weights(unknown)} - self._within.keys()
        rooms = _rooms(now.given)
        self._unseen = {room: Entity(INNER, room.id) for room in rooms if room in open_}
        self._rooms = {inner: room for room, inner in self._unseen.items()}
        self._within |= {room: [inner] for room, inner in self._unseen.items()}
        self._starts = [room for room in rooms if room != self._me.room]
        # A stream of their own for each moment and number, so that it does not matter what else was asked.
        rng = generator(now.seed, "worlds", now.view.t, worlds)
        self._worlds = [self._world(intents, rng) for _ in range(worlds)]
        self._silent: list[int] | None = None

    def saved(self, facts: Sequence[Fact]) -> float:
        """Return the ticks by which the team is expected to be done earlier if team-mates are told some facts."""
        if self._silent is None:
            self._silent = [self._play(world, None) for world in self._worlds]
        told = {mate: (mind, self._told(mate, facts)) for mate, mind in self._mates.items()}
        return (sum(self._silent) - sum(self._play(world, told) for world in self._worlds)) / len(self._worlds)

    def _play(self, world: World, told: Told | None) -> int:
        walkers = [self._me.copy(), *(mind.copy() for mind in self._mates.values())]
        play = Play(world, walkers, self._target, self._within, self._capacity, self._ticks)
        subplan = self._now.subplan
        first = self._aim(self._me, subplan.actions[0]) if subplan is not None and subplan.actions else None
        return play.ends(first, [0, *(-gone for gone in self._gone.values())], told)

    def _ticks(self, at: Entity | AgentId, to: Entity) -> int:
        """Return the ticks of a way, what stands in for the inside of a room included."""
        start = self._rooms.get(at, at) if isinstance(at, Entity) else at
        if to not in self._rooms:
            return self.ways.ticks(start, to)
        room = self._rooms[to]
        return SEARCH + (0 if start == room else self.ways.ticks(start, room))

    # ---- what is believed

    def _walker(self, agent: AgentId, given: Facts) -> Walker:
        """Return an agent in thought that holds so much."""
        goals = [goal for goal in self._now.domain.goals(given) if goal.state == "open" and wanted_kind(goal)]
        missing: Counter[str] = Counter()
        for goal in goals:
            missing[wanted_kind(goal) or ""] += goal.units
        carried = [fact for fact in given.about(HOLD) if fact.subject != agent and isinstance(fact.value, Entity)]
        there = {fact.subject for fact in given if fact.value == self._target and fact.predicate in ("ON", "INSIDE")}
        lying = [(thing, place) for thing, place in _placed(given) if thing.kind in missing and thing not in there]
        places: dict[str, dict[Entity, float]] = {}
        for unknown in self._now.domain.latent_variables(given):
            places.setdefault(self._kind(unknown), _weights(unknown))
        return Walker(
            agent=agent,
            site=agent,
            hands=[thing.kind for thing in held_things(agent, given, HOLD)],
            missing=missing,
            others=Counter(fact.value.kind for fact in carried if isinstance(fact.value, Entity)),
            known=[self._items.get((thing, place)) or self._item(thing, place) for thing, place in lying],
            places=places,
            finds=TARGET not in places,
            room=room if isinstance(room := given.value(agent, "AT"), Entity) else None,
        )

    def _item(self, thing: Entity, place: Entity) -> Item:
        """Return a thing; one of which the agent was only told is fetched where it is said to be."""
        seen, t = self._now.given.seen, self._now.view.t
        since = max((seen.get(fact, t) for fact in self._now.given if fact.subject == thing), default=0)
        return Item(thing.kind, place, thing if thing in self.ways else place, min(0, since - t))

    def _learn(self, given: Facts) -> None:
        """Learn of the places of somebody; of one whose beliefs make no sense, nothing."""
        with suppress(LookupError, ValueError, TypeError, ArithmeticError):
            self.ways.learn(given)

    def _kind(self, unknown: LatentVariable) -> str:
        """Return the kind of thing that an unknown is about."""
        subject = unknown.values[0].fact.subject if unknown.values else None
        return TARGET if subject == self._target or not isinstance(subject, Entity) else subject.kind

    def _told(self, mate: AgentId, facts: Sequence[Fact]) -> Walker:
        mind = self._now.minds[mate]
        new = [fact for fact in facts if fact not in mind]
        if not new:
            return self._mates[mate]
        gone = set(self._now.schema.displaced(mind, new))
        mind = Facts((*(fact for fact in mind if fact not in gone), *new), mind.seen)
        self._learn(mind)
        return self._walker(mate, mind)

    # ---- how things may be

    def _world(self, intents: Mapping[AgentId, Sequence[Intent]], rng: np.random.Generator) -> World:
        now = self._now
        items, brought = list(self._me.known), list[str]()
        taken: dict[AgentId, list[str]] = {mate: [] for mate in now.mates}
        home = now.given.value(self._target, "IN")
        for unknown in now.unknowns:
            kind, weights = self._kind(unknown), _weights(unknown)
            mate = None if kind == TARGET else self._taker(unknown, rng.random())
            if mate is not None:
                free = self._capacity - len(held_things(mate, now.given, HOLD)) - len(taken[mate])
                (taken[mate] if free > 0 else brought).append(kind)
                continue
            place = _drawn(weights, rng.random())
            if kind == TARGET:
                home = place
            elif place is not None:
                if place in self._unseen and rng.random() < CLOSED:
                    place = self._unseen[place]
                items.append(Item(kind, place, place, -self._now.view.t))
        starts = {mate: place for mate in now.mates if (place := self._start(mate, rng.random())) is not None}
        near = [mate for mate in now.mates if not self._gone[mate] and mate not in starts]
        moods = {mate: self._mood(mate, intents.get(mate, ()), rng.random()) for mate in near}
        return World(
            items=tuple(items),
            taken={mate: tuple(kinds) for mate, kinds in taken.items()},
            brought=tuple(brought),
            moods=moods,
            home=home if isinstance(home, Entity) else None,
            starts=starts,
        )

    def _start(self, mate: AgentId, draw: float) -> Entity | None:
        """Draw the room in which a team-mate began that was never seen: any other than the agent's own."""
        unseen = self._mates[mate].room is None and self._starts
        return self._starts[int(draw * len(self._starts))] if unseen else None

    def _taker(self, unknown: LatentVariable, draw: float) -> AgentId | None:
        """Return the team-mate that may have taken what is sought, or brought it; None: it lies where it lay.

        The longer one was out of sight, the likelier; and the more places were searched in vain, the likelier somebody
        has it (B3.2): by odds against its lying where nobody has looked.
        """
        number = max(1, len(self._now.unknowns))
        found = {mate: (1 - 0.5 ** (gone / FIND)) / number for mate, gone in self._gone.items()}
        odds = {mate: chance / (1 - chance) if chance < 1 else 1e9 for mate, chance in found.items()}
        left = draw * (sum(odds.values()) + self._now.left.get(unknown.name, 1.0))
        for mate, some in odds.items():
            left -= some
            if left < 0:
                return mate
        return None

    def _mood(self, mate: AgentId, intents: Sequence[Intent], draw: float) -> Aim | None:
        """Draw what a team-mate in sight is up to; None for what is left."""
        for intent in intents:
            draw -= intent.weight
            if draw <= 0 and intent.subplan.actions:
                return self._aim(self._mates[mate], intent.subplan.actions[0])
        return None

    def _aim(self, one: Walker, action: Action) -> Aim | None:
        """Return what an action goes for; None where that is not known."""
        place = action.args[0] if action.args else None
        if isinstance(place, Entity):
            return next((item for item in one.known if item.site == place), place)
        return self._target if one.hands and not action.args and action != WAIT else None


def _weights(unknown: LatentVariable) -> dict[Entity, float]:
    """Return the places that an unknown may be in, with weights."""
    weights: dict[Entity, float] = {}
    for value in unknown.values:
        if isinstance(value.fact.value, Entity):
            weights[value.fact.value] = weights.get(value.fact.value, 0.0) + value.weight
    return weights


def _drawn(weights: Mapping[Entity, float], draw: float) -> Entity | None:
    """Return the place at a share of all weight; None of none."""
    sums = list(accumulate(weights.values()))
    return list(weights)[min(bisect_left(sums, draw * sums[-1]), len(sums) - 1)] if sums else None


def _placed(given: Facts) -> Iterable[tuple[Entity, Entity]]:
    """Return things with where one has to look for them: a container, or the room that they lie in openly."""
    return (dict(_pairs(given, "IN")) | dict(_pairs(given, "INSIDE"))).items()


def _within(now: Situation) -> dict[Entity, list[Entity]]:
    """Return what stands in each room and can be looked into, as far as the agent knows."""
    found: dict[Entity, list[Entity]] = {}
    for box, room in _pairs(now.given, "IN"):
        if now.given.value(box, "STATE") is not None:
            found.setdefault(room, []).append(box)
    return found


def _rooms(given: Facts) -> list[Entity]:
    """Return the places that are in no other one."""
    placed = {thing for predicate in ("IN", "INSIDE", "ON") for thing, _ in _pairs(given, predicate)}
    points = (fact.subject for fact in given.about("POSITION"))
    return [place for place in points if isinstance(place, Entity) and place not in placed]


def _pairs(given: Facts, predicate: str) -> Iterator[tuple[Entity, Entity]]:
    for fact in given.about(predicate):
        if isinstance(fact.subject, Entity) and isinstance(fact.value, Entity):
            yield fact.subject, fact.value
