"""The zero-shot baseline of DR. WELL and CUBE: no negotiation, no memory, no communication."""

from __future__ import annotations

from collections.abc import Mapping

from teamworld.language import AgentId
from teamworld.methods.common.plan_answers import make_plan, standby_plan
from teamworld.methods.contract import Briefing, Choice, Decision, DecisionContext, Method
from teamworld.methods.zero_shot.questions import ZeroShotPlan


class ZeroShot(Method):
    """Each agent plans from what it sees, acts, and plans again when its plan ends."""

    name = "zero_shot"
    summary = "each agent alone takes the task nearest to done; no negotiation, memory or talk"
    questions = (ZeroShotPlan,)

    async def begin(self, briefing: Briefing) -> None:
        """Keep the rules of the world."""
        self._domain = briefing.domain

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Ask every free agent for a plan; none waits for another."""
        return await context.together({agent: self._plan(context, agent) for agent in context.free})

    async def _plan(self, context: DecisionContext, agent: AgentId) -> Decision:
        view = context.views[agent]
        answer = await context.ask(ZeroShotPlan(agent, {agent: view}, self._domain))
        if not answer.actions:
            return Choice(standby_plan(self._domain, view), cause="no plan", parsed=False)
        return Choice(make_plan(answer, view, answer.goal))
