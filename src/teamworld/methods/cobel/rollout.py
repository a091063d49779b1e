"""When the team will be done, and how much earlier if something is told.

For worlds in which agents fetch things and bring them to one place: the team is simulated to the end in worlds drawn
from what the agent believes, with a message and without (``fetch_simulator``). A saving counts only as far as it lets
the team be done earlier: who has nothing useful left to do loses no time. A teammate out of sight is simulated from
where and when it was last seen, so that it is thought to have found and brought what it may have come across.
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
from teamworld.methods.cobel.fetch_simulator import (
    CLOSED,
    TARGET,
    Aim,
    FetchSimulator,
    ImaginedWorld,
    Item,
    News,
    Walker,
)
from teamworld.methods.cobel.situation import Intent, Situation, kind_of, place_weights
from teamworld.planning.fetch import held_things, wanted_kind
from teamworld.planning.vocabulary import Vocabulary
from teamworld.seeding import generator
from teamworld.worlds.contract import WAIT, ImpossibleFacts, LatentVariable

#: Worlds that are drawn to choose what to tell, and to judge whether it is worth it: what was chosen by some draws
#: looks better by them than it is.
CHOICE, JUDGEMENT = 24, 96
#: What stands in for all that can be looked into in a room of which the agent has seen nothing: its kind, and the ticks
#: that a search of it takes, by the development homes.
INNER, SEARCH = "inner", 4
#: Ticks in which a teammate out of sight finds something as likely as not.
FIND: Final = 30.0
#: Ticks to a place to which nobody knows how to get: a guess, for which the world has no estimate.
FAR: Final = 5


def applies(situation: Situation) -> bool:
    """Return whether the world is one in which agents fetch things and bring them to one place."""
    return situation.words.hands > 1 and _target(situation) is not None


def _target(situation: Situation) -> Entity | None:
    goals = situation.goals.values()
    return next((goal.thing for goal in goals if goal.thing is not None and wanted_kind(goal)), None)


class Rollout:
    """The team's way to the end as one agent thinks of it.

    Args:
        situation: The agent's.
        intents: What it thinks that teammates will do.
        number: How many worlds to draw.
        travel: Travel times that were looked up in this situation before.
    """

    def __init__(
        self,
        situation: Situation,
        intents: Mapping[AgentId, Sequence[Intent]],
        number: int,
        travel: TravelTimes | None = None,
    ) -> None:
        target = _target(situation)
        assert target is not None
        self._situation, self._target, self._words = situation, target, situation.words
        self.travel = travel or TravelTimes(situation, target)
        facts, t = situation.facts, situation.view.t
        self._items = {(thing, place): self._item(thing, place) for thing, place in _placed(facts, self._words)}
        for teammate in situation.teammates:
            self._learn(situation.ascribed[teammate])
        self._self = self._walker(situation.agent, facts)
        self._teammates = {
            teammate: self._walker(teammate, situation.ascribed[teammate]) for teammate in situation.teammates
        }
        self._gone = {teammate: t - situation.last_met.get(teammate, 0) for teammate in situation.teammates}
        self._within: dict[Entity, list[Entity]] = {}
        for box, room in _pairs(facts, self._words.room):
            if facts.value(box, self._words.access) is not None:
                self._within.setdefault(room, []).append(box)
        unseen = {place for latent in situation.latents for place in place_weights(latent)} - self._within.keys()
        rooms = _rooms(facts, self._words)
        self._inner = {room: Entity(INNER, room.id) for room in rooms if room in unseen}
        self._rooms = {inner: room for room, inner in self._inner.items()}
        self._within |= {room: [inner] for room, inner in self._inner.items()}
        self._starts = [room for room in rooms if room != self._self.room]
        # A stream of their own for each moment and number, so that it does not matter what else was asked.
        rng = generator(situation.seed, "worlds", t, number)
        self._worlds = [self._draw(intents, rng) for _ in range(number)]
        self._silent: list[int] | None = None

    def ticks_saved(self, facts: Sequence[Fact]) -> float:
        """Return the ticks by which the team is expected to be done earlier if teammates are told some facts."""
        if self._silent is None:
            self._silent = [self._simulate(world, None) for world in self._worlds]
        news = {teammate: (walker, self._told(teammate, facts)) for teammate, walker in self._teammates.items()}
        return (sum(self._silent) - sum(self._simulate(world, news) for world in self._worlds)) / len(self._worlds)

    def _simulate(self, world: ImaginedWorld, news: News | None) -> int:
        walkers = [self._self.copy(), *(walker.copy() for walker in self._teammates.values())]
        simulator = FetchSimulator(world, walkers, self._target, self._within, self._words.hands, self._ticks)
        subplan = self._situation.subplan
        first = self._aim(self._self, subplan.actions[0]) if subplan is not None and subplan.actions else None
        return simulator.run(first, [0, *(-gone for gone in self._gone.values())], news)

    def _ticks(self, start: Entity | AgentId, end: Entity) -> int:
        """Return the ticks of a way, what stands in for the inside of a room included."""
        origin = self._rooms.get(start, start) if isinstance(start, Entity) else start
        if end not in self._rooms:
            return self.travel.ticks(origin, end)
        room = self._rooms[end]
        return SEARCH + (0 if origin == room else self.travel.ticks(origin, room))

    # ---- what is believed

    def _walker(self, agent: AgentId, facts: Facts) -> Walker:
        """Return a simulated agent that holds some facts."""
        domain = self._situation.domain
        missing: Counter[str] = Counter()
        for goal in domain.goals(facts):
            if goal.state == "open" and (kind := wanted_kind(goal)):
                missing[kind] += goal.units
        lies = self._words.surface, self._words.container
        brought = {fact.subject for fact in facts if fact.value == self._target and fact.predicate in lies}
        places: dict[str, dict[Entity, float]] = {}
        for latent in domain.beliefs.latent_variables(facts):
            places.setdefault(self._kind(latent), place_weights(latent))
        return Walker(
            agent=agent,
            site=agent,
            hands=[thing.kind for thing in held_things(agent, facts, self._words.held)],
            missing=missing,
            others=Counter(
                fact.value.kind
                for fact in facts.about(self._words.held)
                if fact.subject != agent and isinstance(fact.value, Entity)
            ),
            known=[
                self._items.get((thing, place)) or self._item(thing, place)
                for thing, place in _placed(facts, self._words)
                if thing.kind in missing and thing not in brought
            ],
            places=places,
            finds=TARGET not in places,
            room=room if isinstance(room := facts.value(agent, self._words.at), Entity) else None,
        )

    def _item(self, thing: Entity, place: Entity) -> Item:
        """Return a thing; one of which the agent was only told is fetched where it is said to be."""
        facts, t = self._situation.facts, self._situation.view.t
        since = max((facts.seen.get(fact, t) for fact in facts if fact.subject == thing), default=0)
        return Item(thing.kind, place, thing if thing in self.travel else place, min(0, since - t))

    def _learn(self, facts: Facts) -> None:
        """Learn of the places in some facts; where these make no sense, nothing."""
        with suppress(ImpossibleFacts):
            self.travel.learn(facts)

    def _kind(self, latent: LatentVariable) -> str:
        """Return the kind of thing that a latent variable is about."""
        subject = latent.values[0].fact.subject if latent.values else None
        return kind_of(latent) if isinstance(subject, Entity) and subject != self._target else TARGET

    def _told(self, teammate: AgentId, facts: Sequence[Fact]) -> Walker:
        """Return a teammate once it is told some facts."""
        news = self._situation.missing_from(teammate, facts)
        if not news:
            return self._teammates[teammate]
        held_then = self._situation.facts_after_telling(teammate, news)
        self._learn(held_then)
        return self._walker(teammate, held_then)

    # ---- how things may be

    def _draw(self, intents: Mapping[AgentId, Sequence[Intent]], rng: np.random.Generator) -> ImaginedWorld:
        situation = self._situation
        items, brought = list(self._self.known), list[str]()
        taken: dict[AgentId, list[str]] = {teammate: [] for teammate in situation.teammates}
        home = situation.facts.value(self._target, self._words.room)
        for latent in situation.latents:
            kind, weights = self._kind(latent), place_weights(latent)
            taker = None if kind == TARGET else self._taker(latent, rng.random())
            if taker is not None:
                free = (
                    self._words.hands - len(held_things(taker, situation.facts, self._words.held)) - len(taken[taker])
                )
                (taken[taker] if free > 0 else brought).append(kind)
                continue
            place = _pick(weights, rng.random())
            if kind == TARGET:
                home = place
            elif place is not None:
                if place in self._inner and rng.random() < CLOSED:
                    place = self._inner[place]
                items.append(Item(kind, place, place, -situation.view.t))
        starts = {
            teammate: place
            for teammate in situation.teammates
            if (place := self._start(teammate, rng.random())) is not None
        }
        near = [teammate for teammate in situation.teammates if not self._gone[teammate] and teammate not in starts]
        return ImaginedWorld(
            items=tuple(items),
            taken={teammate: tuple(kinds) for teammate, kinds in taken.items()},
            brought=tuple(brought),
            aims={teammate: self._intended(teammate, intents.get(teammate, ()), rng.random()) for teammate in near},
            home=home if isinstance(home, Entity) else None,
            starts=starts,
        )

    def _start(self, teammate: AgentId, draw: float) -> Entity | None:
        """Draw the room in which a teammate began that was never seen: any other than the agent's own."""
        is_unseen = self._teammates[teammate].room is None and self._starts
        return self._starts[int(draw * len(self._starts))] if is_unseen else None

    def _taker(self, latent: LatentVariable, draw: float) -> AgentId | None:
        """Return the teammate that may have taken what is sought, or brought it; None: it lies where it lay.

        The longer a teammate was out of sight, the likelier; and the more places were searched in vain, the likelier
        a teammate has it: by odds against its lying where nobody has looked.
        """
        number = max(1, len(self._situation.latents))
        chances = {teammate: (1 - 0.5 ** (gone / FIND)) / number for teammate, gone in self._gone.items()}
        odds = {teammate: chance / (1 - chance) if chance < 1 else 1e9 for teammate, chance in chances.items()}
        most, least = self._situation.searched.get(kind_of(latent), (1.0, 1.0))
        rest = draw * (sum(odds.values()) + (least / most if most > 0 else 1.0))
        for teammate, share in odds.items():
            rest -= share
            if rest < 0:
                return teammate
        return None

    def _intended(self, teammate: AgentId, intents: Sequence[Intent], draw: float) -> Aim | None:
        """Draw what a teammate in sight is heading for; None for what is left."""
        for intent in intents:
            draw -= intent.weight
            if draw <= 0 and intent.subplan.actions:
                return self._aim(self._teammates[teammate], intent.subplan.actions[0])
        return None

    def _aim(self, walker: Walker, action: Action) -> Aim | None:
        """Return what an action goes for; None where that is not known."""
        place = action.args[0] if action.args else None
        if isinstance(place, Entity):
            return next((item for item in walker.known if item.site == place), place)
        return self._target if walker.hands and not action.args and action != WAIT else None


class TravelTimes:
    """Ticks from one place to the next by the world's own estimate, what is done there included.

    All agents are taken to be as fast as this one.

    Args:
        situation: Of the agent that thinks.
        target: Where things are brought.
    """

    def __init__(self, situation: Situation, target: Entity | None) -> None:
        self._situation, self._domain, self._agent = situation, situation.domain, situation.agent
        self._target, self._words = target, situation.words
        self._actions: dict[Entity, tuple[Action, Facts]] = {}
        self._ticks: dict[tuple[Entity | AgentId, Entity], int] = {}
        self._standing: dict[Entity | AgentId, list[Fact]] = {}
        self._there: dict[tuple[Entity | AgentId, int], Facts] = {}
        self.learn(situation.facts)

    def __contains__(self, place: object) -> bool:
        return place in self._actions

    def learn(self, facts: Facts) -> None:
        """Learn how to get to the places that some facts name; those known already stay."""
        own = [
            fact for fact in self._situation.facts if fact.subject == self._agent and fact.predicate != self._words.held
        ]
        bare = Facts((*(fact for fact in facts if fact.subject != self._agent), *own))
        for option in self._domain.options(self._agent, bare):
            place = option.action.args[0] if option.action.args else None
            if isinstance(place, Entity):
                self._actions.setdefault(place, (option.action, bare))
        if self._target is not None and self._target not in self._actions:
            bringing = next(self._bringing(bare), None)
            if bringing is not None:
                self._actions[self._target] = bringing

    def _bringing(self, bare: Facts) -> Iterator[tuple[Action, Facts]]:
        """Yield what an agent does with something in hand that leaves it empty-handed."""
        for goal in self._situation.goals.values():
            kind = wanted_kind(goal)
            if kind is None or goal.state != "open":
                continue
            loaded = Facts((*bare, Fact(self._agent, self._words.held, Entity(kind, 1))))
            for option in self._domain.options(self._agent, loaded):
                if not held_things(
                    self._agent, self._domain.predict(self._agent, option.action, loaded), self._words.held
                ):
                    yield option.action, loaded

    def ticks(self, start: Entity | AgentId, end: Entity) -> int:
        """Return the ticks from a place, or from where an agent is now, to a place."""
        if (start, end) not in self._ticks:
            self._ticks[start, end] = self._estimate(start, end)
        return self._ticks[start, end]

    def _estimate(self, start: Entity | AgentId, end: Entity) -> int:
        if end not in self._actions:
            return FAR
        action, facts = self._actions[end]
        if start not in self._standing:
            self._standing[start] = self._stand(start, facts)
        if (start, id(facts)) not in self._there:  # the world reads each collection of facts once, and that takes long
            elsewhere = (fact for fact in facts if fact.subject != self._agent or fact.predicate == self._words.held)
            self._there[start, id(facts)] = Facts((*self._standing[start], *elsewhere))
        return max(1, self._domain.estimate_steps(self._agent, action, self._there[start, id(facts)]))

    def _stand(self, start: Entity | AgentId, facts: Facts) -> list[Fact]:
        """Return what says that the agent is at a place, or where another one is."""
        if isinstance(start, str):
            here: Iterable[Fact] = (fact for fact in self._situation.facts if fact.subject == start)
        elif start in self._actions:
            action, known = self._actions[start]
            here = (fact for fact in self._domain.predict(self._agent, action, known) if fact.subject == self._agent)
        else:
            here = self._position(start, facts)
        places = self._words.at, self._words.position, self._words.near
        return [Fact(self._agent, fact.predicate, fact.value) for fact in here if fact.predicate in places]

    def _position(self, place: Entity, facts: Facts) -> Iterator[Fact]:
        """Yield where an agent is that is at a place for which there is no option."""
        room, point = facts.value(place, self._words.room), facts.value(place, self._words.position)
        yield Fact(place, self._words.at, place if room is None else room)
        if point is not None:
            yield Fact(place, self._words.position, point)


def _pick(weights: Mapping[Entity, float], draw: float) -> Entity | None:
    """Return the place at a share of all weight; None of none."""
    sums = list(accumulate(weights.values()))
    return list(weights)[min(bisect_left(sums, draw * sums[-1]), len(sums) - 1)] if sums else None


def _placed(facts: Facts, words: Vocabulary) -> Iterable[tuple[Entity, Entity]]:
    """Return things with where one has to look for them: a container, or the room that they lie in openly."""
    return (dict(_pairs(facts, words.room)) | dict(_pairs(facts, words.container))).items()


def _rooms(facts: Facts, words: Vocabulary) -> list[Entity]:
    """Return the places that are in no other one."""
    predicates = words.room, words.container, words.surface
    placed = {thing for predicate in predicates for thing, _ in _pairs(facts, predicate)}
    points = (fact.subject for fact in facts.about(words.position))
    return [place for place in points if isinstance(place, Entity) and place not in placed]


def _pairs(facts: Facts, predicate: str) -> Iterator[tuple[Entity, Entity]]:
    for fact in facts.about(predicate):
        if isinstance(fact.subject, Entity) and isinstance(fact.value, Entity):
            yield fact.subject, fact.value
