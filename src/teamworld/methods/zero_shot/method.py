"""The zero-shot baseline of DR. WELL and CUBE: no negotiation, no memory, no communication."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from teamworld.language import AgentId
from teamworld.methods.contract import Briefing, Choice, Decision, Method, Moment
from teamworld.methods.parts.planning import made
from teamworld.methods.zero_shot.questions import ZeroShotPlan


class ZeroShotOptions(BaseModel):
    """The zero-shot baseline has no options."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ZeroShot(Method):
    """Each agent plans from what it sees, acts, and plans again when its plan ends (DR. WELL spec A11)."""

    name: ClassVar[str] = "zero_shot"
    summary: ClassVar[str] = "each agent alone takes the task nearest to done; no negotiation, memory or talk"
    options: ClassVar[type[BaseModel]] = ZeroShotOptions

    def __init__(self, options: ZeroShotOptions) -> None:
        self._options = options

    async def begin(self, briefing: Briefing) -> None:
        """Keep the rules of the world."""
        self._domain = briefing.domain

    async def decide(self, moment: Moment) -> Mapping[AgentId, Decision]:
        """Ask every free agent for a plan; none waits for another."""
        return await moment.together({agent: self._plan(moment, agent) for agent in moment.free})

    async def _plan(self, moment: Moment, agent: AgentId) -> Decision:
        view = moment.views[agent]
        answer = await moment.ask(ZeroShotPlan(agent, {agent: view}, self._domain))
        return Choice(made(answer, view, answer.goal))
