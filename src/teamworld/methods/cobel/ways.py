"""Ticks from place to place by the world's own estimate, looked up once: what thinking ahead goes by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from teamworld.language import Action, AgentId, Entity, Fact, Facts
from teamworld.methods.cobel.engine import Situation
from teamworld.planning.fetch import HOLD, held_things, wanted_kind

#: Ticks to a place to which nobody knows how to get: a guess, for which the world has no estimate.
AFAR: Final = 5
#: Predicates that say where an agent is.
WHERE: Final = ("AT", "POSITION", "NEAR")


class Ways:
    """Ticks from one place to the next, what is done there included; all agents are taken to be as fast as this one.

    Args:
        now: The situation of the agent that thinks.
        target: Where things are brought.
    """

    def __init__(self, now: Situation, target: Entity | None) -> None:
        self._now, self._domain, self._me, self._target = now, now.domain, now.me, target
        self._actions: dict[Entity, tuple[Action, Facts]] = {}
        self._kept: dict[Entity | AgentId, dict[Entity, int]] = {}
        self._standing: dict[Entity | AgentId, list[Fact]] = {}
        self._there: dict[tuple[Entity | AgentId, int], Facts] = {}
        self.learn(now.given)

    def __contains__(self, place: object) -> bool:
        return place in self._actions

    def learn(self, given: Facts) -> None:
        """Learn how to get to the places that somebody knows of who holds so much; those known already stay."""
        own = [fact for fact in self._now.given if fact.subject == self._me and fact.predicate != HOLD]
        bare = Facts((*(fact for fact in given if fact.subject != self._me), *own))
        for option in self._domain.options(self._me, bare):
            place = option.action.args[0] if option.action.args else None
            if isinstance(place, Entity):
                self._actions.setdefault(place, (option.action, bare))
        if self._target is not None and self._target not in self._actions:
            for action, loaded in self._bringing(bare):
                self._actions[self._target] = action, loaded
                return

    def _bringing(self, bare: Facts) -> Iterator[tuple[Action, Facts]]:
        """Yield what an agent does with something in hand that leaves it empty-handed."""
        for goal in self._now.goals.values():
            kind = wanted_kind(goal)
            if kind is None or goal.state != "open":
                continue
            loaded = Facts((*bare, Fact(self._me, HOLD, Entity(kind, 1))))
            for option in self._domain.options(self._me, loaded):
                if not held_things(self._me, self._domain.predict(self._me, option.action, loaded), HOLD):
                    yield option.action, loaded

    def ticks(self, at: Entity | AgentId, to: Entity) -> int:
        """Return the ticks from a place, or from where an agent is now, to a place."""
        ways = self._kept.setdefault(at, {})
        if to not in ways:
            ways[to] = self._ticks(at, to)
        return ways[to]

    def _ticks(self, at: Entity | AgentId, to: Entity) -> int:
        if to not in self._actions:
            return AFAR
        action, given = self._actions[to]
        if at not in self._standing:
            self._standing[at] = self._stand(at, given)
        if (at, id(given)) not in self._there:  # the world reads each collection of facts once, and that takes long
            here = Facts((*self._standing[at], *(fact for fact in given if self._stays(fact))))
            self._there[at, id(given)] = here
        return max(1, self._domain.estimate_steps(self._me, action, self._there[at, id(given)]))

    def _stand(self, at: Entity | AgentId, given: Facts) -> list[Fact]:
        """Return what says that the agent is at a place, or where another one is."""
        if isinstance(at, str):
            here: Iterable[Fact] = (fact for fact in self._now.given if fact.subject == at)
        elif at in self._actions:
            action, known = self._actions[at]
            here = (fact for fact in self._domain.predict(self._me, action, known) if fact.subject == self._me)
        else:
            here = _position(at, given)
        return [Fact(self._me, fact.predicate, fact.value) for fact in here if fact.predicate in WHERE]

    def _stays(self, fact: Fact) -> bool:
        return fact.subject != self._me or fact.predicate == HOLD


def _position(place: Entity, given: Facts) -> Iterator[Fact]:
    """Yield where somebody is who is at a place for which there is no option."""
    room, point = given.value(place, "IN"), given.value(place, "POSITION")
    yield Fact(place, "AT", place if room is None else room)
    if point is not None:
        yield Fact(place, "POSITION", point)
