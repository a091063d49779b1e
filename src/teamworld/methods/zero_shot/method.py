"""The zero-shot baseline of DR. WELL and CUBE: no negotiation, no memory, no communication."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from teamworld.language import AgentId
from teamworld.methods.common.knowledge import AgentKnowledge, list_teammates
from teamworld.methods.common.plan_answers import make_plan, standby_plan
from teamworld.methods.contract import Briefing, Choice, Decision, DecisionContext, Method, StrictModel, Variant
from teamworld.methods.zero_shot.questions import DrawnPlan, ZeroShotPlan


class ZeroShotOptions(StrictModel):
    """Options of the zero-shot baseline."""

    rule: Literal["best", "draw"] = Field(
        default="best", description="built-in rules: the best plan for the task by a dry run, or any that makes sense"
    )


class ZeroShot(Method):
    """Each agent plans from what it sees, acts, and plans again when its plan ends."""

    name = "zero_shot"
    summary = "each agent alone takes the task nearest to done; no negotiation, memory or talk"
    options = ZeroShotOptions
    decides_alone = True
    questions = (ZeroShotPlan,)
    variants = MappingProxyType(
        {"draw": Variant("built-in rules draw any plan that makes sense, not the best", {"rule": "draw"})}
    )

    async def begin(self, briefing: Briefing) -> None:
        """Keep the rules of the world."""
        self._spec, self._domain = briefing.spec, briefing.domain

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Ask every free agent for a plan; none waits for another."""
        return await context.together({agent: self._plan(context, agent) for agent in context.free})

    async def _plan(self, context: DecisionContext, agent: AgentId) -> Decision:
        view = context.views[agent]
        me = AgentKnowledge(view, self._domain, self._spec, list_teammates(self._spec, agent, context.team))
        question = DrawnPlan if self._options.rule == "draw" else ZeroShotPlan
        answer = await context.ask(question(agent, {agent: view}, me))
        if not answer.actions:
            return Choice(standby_plan(self._domain, view), cause="no plan", parsed=False)
        return Choice(make_plan(answer.actions, view, answer.goal))
