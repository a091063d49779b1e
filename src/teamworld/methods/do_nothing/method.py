"""A team that does nothing: every agent waits, always."""

from __future__ import annotations

from collections.abc import Mapping

from teamworld.language import AgentId
from teamworld.methods.contract import WAIT, Decision, DecisionContext, Method


class DoNothing(Method):
    """Waits; asks no reasoner."""

    name = "do_nothing"
    summary = "every agent waits, always (the zero of what can be achieved or prevented)"

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Let every free agent wait."""
        return dict.fromkeys(context.free, WAIT)
