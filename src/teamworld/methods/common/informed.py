"""What an agent knows that stands in the shared record of its team, or reads it beside its own view.

Its tasks are shown as they stand by what all know together. Of its options those are left out that the record makes
pointless: what somebody else holds, what was brought already, places that somebody has looked through in vain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from teamworld.language import AgentId, Entity, Fact, Facts, plain
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.planning.allocation import pool_facts, team_goals
from teamworld.planning.fetch import carrying_capacity, fetch_options, held_things, missing_things, wanted_kind
from teamworld.planning.goals import filter_workable
from teamworld.planning.vocabulary import Vocabulary
from teamworld.worlds.contract import WAIT, Goal, Option, View

#: What a line of a situation is about: an agent is named first.
SUBJECT = re.compile(r"Teammates:|\w*")


def text_parts(text: str) -> Sequence[str]:
    """Return the lines of a text, each with those indented under it: they mean nothing without it."""
    parts: list[str] = []
    for line in text.splitlines():
        if parts and line.startswith(("-", " ", "\t")):
            parts[-1] += f"\n{line}"
        else:
            parts.append(line)
    return parts


def list_unseen(goal: Goal, text: str, together: Facts, view: View) -> tuple[Entity, ...]:
    """Return the things that a goal wants and a text names, and that an agent has not found itself, by name.

    Args:
        goal: What wants them.
        text: How the goal stands, in words.
        together: What all know.
        view: Of the agent.
    """
    kind = wanted_kind(goal)
    wanted = {fact.subject for fact in together if isinstance(fact.subject, Entity) and fact.subject.kind == kind}
    unseen = wanted - {term for fact in view.known for term in (fact.subject, fact.value)}
    return tuple(sorted((thing for thing in unseen if plain(thing) in text), key=str))


@dataclass(frozen=True)
class Informed(AgentKnowledge):
    """An agent whose team shares what each knows."""

    shared: Mapping[AgentId, View] = field(default_factory=dict)
    """The views that the record is made of, its own among them."""

    @cached_property
    def together(self) -> Facts:
        """What all know together."""
        return pool_facts(self.shared)

    @cached_property
    def _goals(self) -> Sequence[Goal]:
        together = {goal.id: goal for goal in self.domain.goals(self.together)}
        stand = (together.get(name, goal) for name, goal in team_goals(self.shared.values()).items())
        return [goal for goal in stand if goal.state == "open"]

    @property
    def goals(self) -> Sequence[Goal]:
        """The open goals that somebody knows of, as they stand by what all know together."""
        return self._goals

    def describe_goal(self, goal: Goal) -> str:
        """Return how a goal stands for it by what all know together, in a line; what it has not found is named."""
        text = self.domain.describe_goal(goal, self.agent, self.together)
        unseen = ", ".join(map(plain, list_unseen(goal, text, self.together, self.view)))
        return f"{text} (you have not found {unseen} yourself)" if unseen else text

    @property
    def situation(self) -> str:
        """Where it is and what it perceives and remembers; nothing of teammates of whom the record alone tells."""
        known = {fact.subject for fact in self.view.known}
        unknown = {agent for agent in self.shared if agent not in known}
        if self.scene is not None or not unknown:
            return super().situation
        return "\n".join(
            part for part in text_parts(super().situation) if (SUBJECT.findall(part) or [""])[0] not in unknown
        )

    @cached_property
    def _useful(self) -> Sequence[Option]:
        useless = self._useless
        return [
            option
            for option in super().options
            if option.action in (self.doing, WAIT) or not useless.intersection(option.action.args[:1])
        ]

    @property
    def options(self) -> Sequence[Option]:
        """What makes sense now, without what the record makes pointless."""
        return self._useful

    @cached_property
    def _useless(self) -> frozenset[object]:
        """Things and places that no action of it is of use to.

        Things that others hold, that were brought, or beyond what goals lack; places that were looked through in vain,
        and once all that goals want is known, all others.
        """
        words, facts = Vocabulary(self.domain.relations), self.together
        if not words.held:
            return frozenset()
        hands = Counter(fact.value for fact in facts.about(words.held) if fact.subject != self.agent)
        need: dict[object, int] = {goal.thing: goal.quorum for goal in self._goals}
        held = {thing for thing, count in hands.items() if count >= need.get(thing, 1)}
        wanted = {fact.subject: fact.value for fact in self._placed(words) if self._is_wanted(fact.subject)}
        targets = {goal.thing for goal in self._goals if goal.thing is not None}
        brought = {thing for thing, place in wanted.items() if place in targets}
        lacked = self._lacked(words)
        spare = {thing for thing in wanted if isinstance(thing, Entity) and lacked.get(thing.kind) == 0}
        places: set[object] = {place for thing, place in wanted.items() if thing not in brought | spare} | targets
        places |= self._rooms(words, places)
        if self._is_search_over(words, Counter(_kind(thing) for thing in wanted if thing not in brought), lacked):
            looked: set[object] = {
                option.action.args[0]
                for option in super().options
                if option.action.args and _kind(option.action.args[0]) in words.rooms | words.containers
            }
        else:
            seen = ((words.search, words.seen), (words.access, words.opened))
            looked = {fact.subject for word, value in seen if word for fact in facts.about(word) if fact.value == value}
            shut = {fact.subject for fact in facts.about(words.access) if fact.value == words.closed}
            places |= shut | self._rooms(words, shut)
        return frozenset(held | brought | spare | (looked - places))

    def _rooms(self, words: Vocabulary, places: Collection[object]) -> set[object]:
        return {self.together.value(place, words.room) for place in places if isinstance(place, Entity)}

    def _lacked(self, words: Vocabulary) -> Mapping[str, int]:
        """Return how many things of each kind that goals want nobody holds."""
        missing = missing_things(self._goals, self.together, {}, words.held)
        return {kind: missing.get(goal.id, 0) for goal in self._goals if (kind := wanted_kind(goal)) is not None}

    def _is_search_over(self, words: Vocabulary, lying: Mapping[str, int], lacked: Mapping[str, int]) -> bool:
        """Return whether all that goals want is known, things and where they go."""
        return all(
            wanted_kind(goal) is not None and goal.thing is not None and self.together.value(goal.thing, words.room)
            for goal in self._goals
        ) and all(lying[kind] >= count for kind, count in lacked.items())

    def _placed(self, words: Vocabulary) -> Iterator[Fact]:
        """Yield where things are, the room before what is in it."""
        for predicate in filter(None, (words.room, words.surface, words.container)):
            yield from self.together.about(predicate)

    def _is_wanted(self, thing: object) -> bool:
        return isinstance(thing, Entity) and any(thing.kind == wanted_kind(goal) for goal in self._goals)


def _kind(term: object) -> str:
    return term.kind if isinstance(term, Entity) else ""


def inform(me: AgentKnowledge, views: Mapping[AgentId, View]) -> AgentKnowledge:
    """Return what an agent knows beside the record of some views; as it is where all know the same anyway."""
    return me if me.spec.memory == "team" or len(views) < 2 else Informed(**_own(me), shared=views)


def alone(me: AgentKnowledge) -> AgentKnowledge:
    """Return what an agent knows without the record."""
    return AgentKnowledge(**_own(me)) if isinstance(me, Informed) else me


def _own(me: AgentKnowledge) -> dict[str, Any]:
    return {part.name: getattr(me, part.name) for part in fields(AgentKnowledge)}


def has_hand(me: AgentKnowledge) -> bool:
    """Return whether an agent can take another thing."""
    words = Vocabulary(me.domain.relations)
    return not words.held or len(held_things(me.agent, me.view.known, words.held)) < words.hands


def rank_options(me: AgentKnowledge, options: Collection[Option]) -> list[Option]:
    """Return options by what they are expected to get or to find a step, most first, then the nearest.

    Only worlds in which agents fetch with several hands tell what a look may find; elsewhere the order stays.
    """
    if carrying_capacity(me.domain) < 2:
        return list(options)
    facts = me.together if isinstance(me, Informed) else me.view.known
    goals = filter_workable(me.goals, me.kind)
    wanted = missing_things(goals, facts, {})
    targets = {goal.thing for goal in goals if goal.thing is not None}
    rates = {worth.option: worth.rate for worth in fetch_options(me.agent, me.domain, facts, options, wanted, targets)}
    return sorted(options, key=lambda option: (-rates.get(option, 0.0), option.steps))
