"""Pairs of instances for the check that views do not change when only hidden truth changes."""

from __future__ import annotations

from typing import NamedTuple

from teamworld.language import AgentId
from teamworld.worlds.contract import World


class IndistinguishablePair(NamedTuple):
    """Two instances that an agent cannot tell apart, though they are not the same.

    A world's module may offer ``indistinguishable_pairs(level, seed)``, which yields some. With them
    ``teamworld.testing.check_world`` checks that views do not change when only hidden truth changes.
    """

    first: World
    second: World
    agent: AgentId
