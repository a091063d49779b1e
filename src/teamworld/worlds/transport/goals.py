"""The goals of an episode, one for each kind of target, and what is missing of them as far as somebody knows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

from teamworld.language import AgentId, Entity, GoalId
from teamworld.worlds.contract import Goal
from teamworld.worlds.transport.observe import BED, Known, Names
from teamworld.worlds.transport.state import CAPACITY


class Wanted(NamedTuple):
    """How many targets of a kind are to be delivered."""

    id: GoalId
    kind: str
    """Display name of the targets."""
    number: int


@dataclass(frozen=True)
class Wants:
    """All that is to be delivered: everybody knows it from the start, as counts of kinds."""

    names: Names

    @cached_property
    def wanted(self) -> tuple[Wanted, ...]:
        """What is wanted, in the order of the task."""
        return tuple(Wanted(goal_id(kind), kind, number) for kind, number in self.names.instance.goals.items())

    @cached_property
    def _by_kind(self) -> dict[str, Wanted]:
        return {wanted.kind: wanted for wanted in self.wanted}

    def goals(self, known: Known) -> tuple[Goal, ...]:
        """Return one goal for each kind, as they stand if so much is known."""
        missing = self.missing(known)
        return tuple(self.goal(wanted, missing.get(wanted.id, 0)) for wanted in self.wanted)

    @staticmethod
    def goal(wanted: Wanted, left: int) -> Goal:
        """Return a goal of which so many targets are missing."""
        return Goal(
            wanted.id,
            "deliver",
            BED,
            features=(("thing", wanted.kind), ("relation", "ON"), ("target", BED.kind)),
            weight=float(wanted.number),
            capacity=max(1, left),
            units=left,
            state="open" if left else "done",
        )

    def goal_of(self, thing: Entity) -> GoalId | None:
        """Return the goal that a target serves; None for other things."""
        wanted = self._by_kind.get(thing.kind)
        return None if wanted is None else wanted.id

    def missing(self, known: Known) -> dict[GoalId, int]:
        """Return how many targets each open goal lacks; what is in hands was not delivered."""
        brought = Counter(thing.kind for thing in known.delivered)
        left = {wanted.id: wanted.number - brought[wanted.kind] for wanted in self.wanted}
        return {goal: units for goal, units in left.items() if units > 0}

    def lying(self, known: Known) -> dict[Entity, GoalId]:
        """Return the known targets that lie about in nobody's hands and in no container, with their goals, by id."""
        missing = self.missing(known)
        things = (thing for thing in known.room if thing in self.names.targets and thing not in known.delivered)
        goals = {thing: goal_id(thing.kind) for thing in sorted(things, key=attrgetter("id", "kind"))}
        return {thing: goal for thing, goal in goals.items() if goal in missing and thing not in known.inside}

    def useful_containers(self, known: Known) -> list[Entity]:
        """Return the known containers that lie about, not by the bed, and have something in them or a place left."""
        things = (thing for thing in known.room if thing in self.names.containers and thing not in known.delivered)
        return sorted(things, key=attrgetter("id", "kind"))

    @staticmethod
    def places(container: Entity, known: Known) -> int:
        """Return how many things a container still takes, as far as is known."""
        return max(0, CAPACITY - len(known.contents(container)))

    def carried(self, known: Known) -> Counter[GoalId]:
        """Return how many targets for each goal are in hands that are in sight, in containers or not."""
        counts = Counter[GoalId]()
        for agent in known.hands:
            if agent not in known.last:
                counts.update(goal for thing in known.load(agent) if (goal := self.goal_of(thing)) is not None)
        return counts

    def unfound(self, known: Known) -> dict[GoalId, int]:
        """Return how many targets for each goal nobody is known to hold or to have seen."""
        lying, missing = Counter(self.lying(known).values()), self.missing(known)
        stored = Counter(goal_id(t.kind) for t in known.inside if t not in known.delivered and not known.holder(t))
        held = Counter[GoalId]()
        for agent in known.hands:
            held.update(goal for thing in known.load(agent) if (goal := self.goal_of(thing)) is not None)
        left = {goal: units - lying[goal] - stored[goal] - held[goal] for goal, units in missing.items()}
        return {goal: units for goal, units in left.items() if units > 0}

    def is_search_over(self, known: Known) -> bool:
        """Return whether nothing is left to look for: the bed is known, and so are all targets that are missing."""
        return BED in known.room and not self.unfound(known)

    def targets_of(self, agent: AgentId, known: Known) -> tuple[Entity, ...]:
        """Return the targets that an agent carries, in a container or not."""
        return tuple(thing for thing in known.load(agent) if thing in self.names.targets)


def goal_id(kind: str) -> GoalId:
    """Return the name of the goal to deliver targets of a kind."""
    return f"deliver_{kind}"
