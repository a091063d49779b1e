"""What worlds say of beliefs in the same way: where something may have gone, and how much of a place is in sight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeGuard, TypeVar

from teamworld.language import AgentId, Cell, Fact, Facts
from teamworld.worlds.contract import BeliefRules, Domain, Goal, ImpossibleFacts, LatentVariable, Option

Scene = TypeVar("Scene")

#: Ticks that are lost with an agent that is lost: more than any message costs, whatever its budget (CoBel-World B2).
SAFETY: Final = 1000.0
#: How likely somebody whose sight does not reach a place has not seen it before either. Not certain: it may have.
UNSEEN_TOO: Final = 0.9
#: The eight directions, as steps.
COMPASS: Final = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


class BeliefDomain(Domain, Protocol):
    """A domain with the capability ``beliefs``: what a method gets that requires it."""

    @property
    def beliefs(self) -> BeliefRules:
        """The rules on beliefs."""


def readable(read: Callable[[Facts], Scene], facts: Facts) -> Scene | None:
    """Return what facts tell; None if they are impossible, which facts that somebody made up may be."""
    try:
        return read(facts)
    except ImpossibleFacts:
        return None


def is_cell(value: object) -> TypeGuard[Cell]:
    """Return whether a value is a pair of whole numbers."""
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], int) and isinstance(value[1], int)


def round_about(at: Cell, far: int) -> list[Cell]:
    """Return the eight cells so many cells away, on the straight ways and the diagonals."""
    return [(at[0] + down * far, at[1] + right * far) for down, right in COMPASS]


def overlap(low: int, high: int, first: int, last: int) -> int:
    """Return how many numbers from ``low`` to below ``high`` lie from ``first`` to ``last``."""
    return max(0, min(high - 1, last) - max(low, first) + 1)


def at_least(in_sight: float, unseen: float) -> float:
    """Return how likely at least one sees what lies in the unseen part of an area.

    Which part of it was seen is not told. From where one stands one has looked already: nothing new is promised there.

    Args:
        in_sight: Share of the area that is in sight.
        unseen: Share of it that nobody has seen, above 0.
    """
    return min(1.0, max(0.0, (in_sight + unseen - 1) / unseen))


class FullyObserved:
    """The capability ``beliefs`` of a world in which everybody sees all that matters.

    Args:
        goals: Returns the goals as they stand if facts hold: ``Domain.goals``.
    """

    def __init__(self, goals: Callable[[Facts], Sequence[Goal]]) -> None:
        self._goals = goals

    def latent_variables(self, facts: Facts) -> Sequence[LatentVariable]:
        """Return nothing: nothing is open."""
        return ()

    def observation_probability(self, fact: Fact, agent: AgentId, facts: Facts) -> float:
        """Return 1: everything is perceived."""
        return 1.0

    def conflict_cost(self, first: Option, second: Option, facts: Facts) -> float:
        """Return the steps of the shorter option if both are for one goal that has the capacity for one agent."""
        if first.goal is None or first.goal != second.goal:
            return 0.0
        capacity = next((goal.capacity for goal in self._goals(facts) if goal.id == first.goal), 2)
        return float(min(first.steps, second.steps)) if capacity < 2 else 0.0
