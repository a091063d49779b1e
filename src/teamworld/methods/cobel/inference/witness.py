"""What I think each team-mate believes: the witness rule (CoBel-World spec B3.3).

A mate's tables start from the common prior and change by what the mate witnessed: messages that it sent or got, and
what it would have perceived where I believe it to have been. What I alone have seen never reaches them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from math import fsum
from typing import Generic, TypeVar

from teamworld.language import AgentId
from teamworld.methods.cobel.inference.tables import Beliefs, Evidence

V = TypeVar("V", bound=Hashable)


class Minds(Generic[V]):
    """First-order beliefs: one ``Beliefs`` for each team-mate.

    Args:
        mates: Whose beliefs are followed; others are passed over.
        common: What everybody believes at the start.
    """

    def __init__(self, mates: Collection[AgentId], common: Beliefs[V]) -> None:
        self._of = {mate: common.copy() for mate in mates}

    def __getitem__(self, mate: AgentId) -> Beliefs[V]:
        return self._of[mate]

    def copy(self) -> Minds[V]:
        """Return the same, to go on from independently."""
        twin: Minds[V] = Minds((), Beliefs())
        twin._of = {mate: beliefs.copy() for mate, beliefs in self._of.items()}
        return twin

    def said(self, evidence: Evidence[V], sender: AgentId, receivers: Collection[AgentId]) -> None:
        """Take in what a message carried: its sender held it, its receivers hold it now."""
        self.witnessed(evidence, dict.fromkeys((sender, *receivers), 1.0))

    def witnessed(self, evidence: Evidence[V], weights: Mapping[AgentId, float]) -> None:
        """Take in what could be perceived, by those who were there and looking.

        Args:
            evidence: What there was to perceive.
            weights: How likely each mate perceived it, see ``presence``; a mate that is not named did not.
        """
        for mate, beliefs in self._of.items():
            if weights.get(mate, 0.0) > 0:
                beliefs.apply(evidence, weights[mate])

    def each(self, change: Callable[[Beliefs[V]], None]) -> None:
        """Do the same to everybody's tables: what is common knowledge, such as time that passes or a new variable."""
        for beliefs in self._of.values():
            change(beliefs)


def presence(where: Mapping[V, float], perceives: Mapping[V, float]) -> float:
    """Return how likely a mate perceived something, from where it may have been and the chance from each place."""
    return min(1.0, fsum(chance * perceives.get(place, 0.0) for place, chance in where.items()))
