"""Methods that break the contract, for the suites that must find it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from teamworld.language import AgentId
from teamworld.methods.contract import WAIT, Briefing, Decision, DecisionContext, Method


class Idle(Method):
    """Waits; the base of what is broken below."""

    name: ClassVar[str] = "broken"
    summary: ClassVar[str] = "for tests"
    turn: ClassVar[int] = 0
    """How often something was done, in all episodes: what must never count."""

    async def begin(self, briefing: Briefing) -> None:
        self.domain = briefing.domain
        self.team = briefing.agents
        self.order: list[AgentId] = []

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        return dict.fromkeys(context.free, WAIT)


class Raises(Idle):
    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        raise KeyError("no such thing")


class Meddles(Idle):
    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        return {**dict.fromkeys(context.free, WAIT), "agent_99": WAIT}
