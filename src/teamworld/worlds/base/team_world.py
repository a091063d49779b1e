"""The base of worlds with macro-actions: orders start and stop actions, then the world does one step."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Generic

from teamworld.errors import UserError, suggest
from teamworld.language import Action, AgentId
from teamworld.worlds.base.executor import INTERRUPTED, Executor, Result, Skill
from teamworld.worlds.contract import EndReason, StepResult, World, WorldSpec


class TeamWorld(World, Generic[Skill]):
    """What ``contract.World`` asks of every world; a world adds its physics and how it judges its actions."""

    _spec: WorldSpec
    _executor: Executor[Skill]
    _over: EndReason | None

    @property
    def spec(self) -> WorldSpec:
        """What everybody knows before the first step."""
        return self._spec

    def step(self, actions: Mapping[AgentId, Action]) -> StepResult:
        """Start and stop actions as ordered, then do one step; what cannot start is refused, and the step is spent.

        Raises:
            UserError: An order is for an agent that is not there, or the episode is over.
        """
        if self._over is not None:
            raise UserError(f"the episode is over ({self._over}): reset the world before the next step")
        for agent in actions:
            self._check_agent(agent)
        self._executor.begin_step()
        for agent, order in actions.items():
            self._executor.start(agent, order, self._complete(agent, order), self._make_skill, self.judge_stopped)
        result = self._advance()
        self._over = result.end_reason
        return result

    @abstractmethod
    def _advance(self) -> StepResult:
        """Do one step of the running actions."""

    @abstractmethod
    def _make_skill(self, agent: AgentId, action: Action) -> Skill | Result:
        """Return a running action, or why it cannot start."""

    def judge_stopped(self, _skill: Skill) -> Result:
        """Return how an action has ended for which its agent has begun another."""
        return INTERRUPTED

    def _complete(self, agent: AgentId, action: Action) -> Action:
        """Return an action as outcomes name it."""
        return action

    def _end_reason(self, is_done: bool, t: int) -> EndReason | None:
        """Return why the episode ends after a step; None while it goes on."""
        return "all_done" if is_done else "horizon" if t >= self._spec.horizon else None

    def _is_present(self, agent: AgentId) -> bool:
        """Return whether an agent lives."""
        return agent in self._spec.agents

    def _check_agent(self, agent: AgentId) -> None:
        if self._is_present(agent):
            return
        known = [name for name in self._spec.agents if self._is_present(name)]
        hint = "it is gone" if agent in self._spec.agents else f"there is none{suggest(agent, known)}"
        raise UserError(f"expected a living agent, got '{agent}': {hint}")
