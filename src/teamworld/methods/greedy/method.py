"""The scripted team of the world, as a method: whatever the world's heuristic does."""

from __future__ import annotations

from collections.abc import Mapping

from teamworld.language import AgentId
from teamworld.methods.contract import WAIT, Briefing, Choice, Decision, DecisionContext, Method


class Greedy(Method):
    """Follows the world's scripted team; asks no reasoner."""

    name = "greedy"
    summary = "the world's scripted team (reference row)"

    async def begin(self, briefing: Briefing) -> None:
        """Keep the rules of the world."""
        self._domain = briefing.domain

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Ask the script; whoever it leaves out waits."""
        plans = self._domain.plan_scripted_team(context.views, context.running)
        return {agent: Choice(plans[agent]) if agent in plans else WAIT for agent in context.free}
