"""A random team: every agent draws one of the actions open to it."""

from __future__ import annotations

from collections.abc import Mapping

from teamworld.language import AgentId, Plan
from teamworld.methods.contract import WAIT, Briefing, Choice, Decision, DecisionContext, Method


class RandomTeam(Method):
    """Draws actions; asks no reasoner."""

    name = "random"
    summary = "every agent draws one of the actions open to it (lower reference row)"

    async def begin(self, briefing: Briefing) -> None:
        """One generator an agent."""
        self._rng = {agent: briefing.rng("random", agent) for agent in briefing.agents}

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Draw for every free agent."""
        return {agent: self._draw(context, agent) for agent in context.free}

    def _draw(self, context: DecisionContext, agent: AgentId) -> Decision:
        options = context.views[agent].options
        if not options:
            return WAIT
        option = options[int(self._rng[agent].integers(len(options)))]
        return Choice(Plan((option.action,), option.goal))
