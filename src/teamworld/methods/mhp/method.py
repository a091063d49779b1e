"""MHP, the classic planner of C-WAH: a belief, a tree search over what to bring next, a planner of single steps.

It asks nobody. Every step each agent takes in what it sees, keeps its subgoal or searches for another one, plans the
steps that carry it out, and does the first (household spec A13). See the page on MHP for what differs and why.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from pydantic import BaseModel

from teamworld.language import AgentId, Facts
from teamworld.methods.contract import WAIT, Briefing, Decision, DecisionContext, Method, Variant
from teamworld.methods.mhp.agent import Planner
from teamworld.methods.mhp.options import VARIANTS, MhpOptions
from teamworld.methods.mhp.stock import stock


class Mhp(Method):
    """MCTS-based hierarchical planner."""

    name: ClassVar[str] = "mhp"
    summary: ClassVar[str] = "MHP: the classic planner of C-WAH, a tree search over what to bring next; no minds"
    options: ClassVar[type[BaseModel]] = MhpOptions
    variants: ClassVar[Mapping[str, Variant]] = VARIANTS
    roster: ClassVar[bool] = True
    talk: ClassVar[Mapping[str, Any]] = MappingProxyType({"ticks": 1, "paid_by": "speaker"})
    """A message takes the speaker its step."""

    def __init__(self, options: BaseModel) -> None:
        super().__init__(options)
        self._options = MhpOptions.model_validate(options, from_attributes=True)

    async def begin(self, briefing: Briefing) -> None:
        """Let each agent guess where everything is."""
        domain = briefing.domain
        known = stock(briefing.roster, domain.goals(Facts()), domain.relations)
        self._planners = {
            agent: Planner(agent, known, domain, self._options, briefing.rng("mhp", agent)) for agent in briefing.agents
        }

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """Everybody plans anew in every step."""
        return tuple(context.running)

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Let each agent do the first step of its plan, or tell what it has to tell."""
        return {agent: self._planners[agent].decide(context) or WAIT for agent in context.free}
