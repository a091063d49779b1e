"""Lower bounds on the steps of an instance: what no team can beat, though it sees all and plans jointly.

A world that has them offers ``step_bound(level, seed, options)``, see ``worlds.registry``. A bound is the optimum of a
relaxed problem: every legal course of the world is also one of the relaxation, which the docstring of each says why.
"""

from __future__ import annotations

from typing import NamedTuple


class StepBound(NamedTuple):
    """What is proven of the fewest steps in which all goals of an instance can be done."""

    steps: int
    """No team takes fewer."""
    planned: int | None = None
    """Steps of the best joint plan that is known, which was checked by the world's rules; None where none is."""
    can_be_done: bool = True
    """False where it is proven that no team can do all goals: the step limit counts for every team."""

    def within(self, limit: int) -> int:
        """Return the least number of steps that counts for a team in an episode with a step limit."""
        return min(self.steps, limit) if self.can_be_done else limit

    @property
    def is_exact(self) -> bool:
        """Whether a plan takes no more than what is proven, or nobody can do it: then no team does better."""
        return self.planned == self.steps or not self.can_be_done
