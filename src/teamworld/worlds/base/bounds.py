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

    @property
    def is_exact(self) -> bool:
        """Whether a plan takes no more than what is proven: then that is the optimum."""
        return self.planned == self.steps
