"""The capability ``beliefs`` where everybody sees the whole field: which loads are in each other's way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from teamworld.language import Facts
from teamworld.worlds.base.beliefs import FullyObserved
from teamworld.worlds.contract import Goal, Option

#: Steps that are lost where foragers wait at two foods that each take more of them than there are: a whole patience.
WAITED: Final = 12.0


class LoadConflicts(FullyObserved):
    """What two foragers should not both do, where nothing is hidden.

    Args:
        goals: Returns the goals as they stand if facts hold.
        foragers: How many there are.
    """

    def __init__(self, goals: Callable[[Facts], Sequence[Goal]], foragers: int) -> None:
        super().__init__(goals)
        self._list_goals, self._foragers = goals, foragers

    def conflict_cost(self, first: Option, second: Option, facts: Facts) -> float:
        """Return a patience if two loads of different foods take more foragers together than there are."""
        if first.goal is None or second.goal is None or first.goal == second.goal:
            return super().conflict_cost(first, second, facts)
        quorums = {goal.id: goal.quorum for goal in self._list_goals(facts)}
        needed = [quorums.get(option.goal or "", 1) for option in (first, second)]
        return WAITED if max(needed) > 1 and sum(needed) > self._foragers else 0.0
