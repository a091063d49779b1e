"""The stage machine: reason, wait ready, execute, interrupted. The world steps only when all are ready."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

from teamworld.language import AgentId
from teamworld.record import Event
from teamworld.record import StageEntered as StageRecord

StageEntered = Literal["R", "W", "X", "I"]
_NEXT: dict[StageEntered, tuple[StageEntered, ...]] = {"R": ("W",), "W": ("R", "X"), "X": ("R", "I"), "I": ("R",)}


class Stages:
    """The stage of each agent; changes are recorded, impossible ones are errors."""

    def __init__(self, agents: Collection[AgentId], record: Callable[[Event], None]) -> None:
        self._stage: dict[AgentId, StageEntered] = dict.fromkeys(agents, "W")
        self._record = record

    def enter(self, agent: AgentId, stage: StageEntered) -> None:
        """Move an agent to a stage; nothing happens if it is there already."""
        current = self._stage[agent]
        if current == stage:
            return
        if stage not in _NEXT[current]:
            raise RuntimeError(f"{agent} cannot go from stage {current} to {stage}")
        self._stage[agent] = stage
        self._record(StageRecord(agent=agent, stage=stage))

    def leave(self, agent: AgentId) -> None:
        """Forget an agent that left for good."""
        del self._stage[agent]

    def execute(self) -> None:
        """Let all agents execute.

        Raises:
            RuntimeError: An agent is not ready.
        """
        for agent, stage in self._stage.items():
            if stage not in {"W", "X"}:
                raise RuntimeError(f"the world cannot step: {agent} is in stage {stage}")
            self.enter(agent, "X")
