"""The base of worlds whose agents know facts and execute macro-actions: the course of a step, frames and views."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Facts, GoalId
from teamworld.worlds.base.domain import StateDomain
from teamworld.worlds.base.executor import Executor, Result, Skill, refusal
from teamworld.worlds.base.memory import Perception
from teamworld.worlds.base.team_world import TeamWorld
from teamworld.worlds.base.views import TeamFrame, TeamView
from teamworld.worlds.contract import Goal, GoalEvent, Outcome, StepResult, WorldSpec

DomainT = TypeVar("DomainT", bound=StateDomain[Any])
ChangeT = TypeVar("ChangeT")


class FactsWorld(TeamWorld[Skill], Generic[DomainT, Skill, ChangeT]):
    """The base of ``contract.World``: a world writes its physics and how it judges actions.

    Type arguments: the domain, a running action, and what a world notes of one step for its own judgement.

    Args:
        spec: What everybody knows before the first step.
        domain: The rules that everybody knows.
        tells_reasons: Whether agents notice why an action of theirs failed.
        seed: Of the first episode.

    Raises:
        UserError: The horizon is below 1.
    """

    def __init__(self, spec: WorldSpec, domain: DomainT, tells_reasons: bool = True, seed: int = 0) -> None:
        if spec.horizon < 1:
            raise UserError(f"the horizon is a number of steps from 1, got {spec.horizon}")
        self._spec, self._domain, self._tells_reasons = spec, domain, tells_reasons
        self.reset(seed)

    # ---- what a world writes

    @abstractmethod
    def begin(self, seed: int) -> None:
        """Set up the first moment and let agents look; ``seed`` names the generators of whatever is random."""

    @abstractmethod
    def make_skill(self, agent: AgentId, action: Action) -> Skill:
        """Return a running action."""

    @abstractmethod
    def advance(self, running: Mapping[AgentId, Skill]) -> ChangeT:
        """Do one step of the physics with the running actions; return what was done."""

    def count_ticks(self, change: ChangeT) -> int:
        """Return how many ticks a step took: one, unless a world goes on until somebody can decide."""
        return 1

    @abstractmethod
    def observe(self, agent: AgentId, change: ChangeT) -> Outcome:
        """Return what the step did to an agent and through it, as an outcome of waiting."""

    @abstractmethod
    def judge(self, agent: AgentId, skill: Skill, change: ChangeT) -> Result:
        """Return how a running action stands after the step."""

    @abstractmethod
    def conclude(self, change: ChangeT) -> StepResult:
        """Return goal events, attempts, losses and score of a step, and let agents look."""

    @abstractmethod
    def perceive(self, agent: AgentId) -> Perception:
        """Return what an agent knows now."""

    def count_steps_to_go(self) -> Mapping[AgentId, int]:
        """Return the ticks that running actions still take, of those that cannot take more or less."""
        return {}

    @property
    def unable(self) -> frozenset[AgentId]:
        """The agents that cannot act now."""
        return frozenset()

    def is_complete(self) -> bool:
        """Return whether there is nothing left to do."""
        return all(goal.state != "open" for goal in self.goals())

    # ---- what follows from it

    @property
    def domain(self) -> DomainT:
        """The rules that everybody knows."""
        return self._domain

    def reset(self, seed: int) -> None:
        """Start over; the seed decides what is random."""
        self._t = 0
        self._over = None
        self._executor = Executor[Skill](self._spec.agents, self._tells_reasons)
        self.begin(seed)
        self._show()

    def view(self, agent: AgentId) -> TeamView:
        """Return what a living agent may know now.

        Raises:
            UserError: There is no such agent, or it is gone.
        """
        self._check_agent(agent)
        return TeamView(agent, self._frame, lambda: self._frame)

    def _advance(self) -> StepResult:
        team = [agent for agent in self._spec.agents if self._is_present(agent)]
        change = self.advance(self._executor.running)
        outcomes = {agent: self._judge(agent, change) for agent in team}
        self._t += self.count_ticks(change)
        result = self.conclude(change)
        self._show()
        end_reason = self._end_reason(self.is_complete(), self._t)
        return result._replace(outcomes=outcomes, end_reason=end_reason)

    def _judge(self, agent: AgentId, change: ChangeT) -> Outcome:
        outcome = self.observe(agent, change)
        return self._executor.judge(agent, outcome, lambda skill: self.judge(agent, skill, change))

    def goals(self) -> Sequence[Goal]:
        """Return all goals as they truly stand, hidden ones too."""
        return self._domain.goals(self.truth())

    def known(self, agent: AgentId) -> Facts:
        """Return what an agent knew when the step began."""
        return self._frame.parts(agent)[2]

    def _show(self) -> None:
        self._frame = TeamFrame(
            self._t,
            self._spec.horizon,
            self._domain,
            self._executor.copy_histories(),
            self.perceive,
            self._spec.kinds,
            self.unable,
            self._executor.list_remainders(self._t),
            self.count_steps_to_go(),
            {agent: skill.start for agent, skill in self._executor.running.items()},
        )

    def _complete(self, agent: AgentId, action: Action) -> Action:
        return self._domain.complete_action(agent, action, self.known(agent))

    def _make_skill(self, agent: AgentId, action: Action) -> Skill | Result:
        verdict = self._domain.check(agent, action, self.known(agent))
        return self.make_skill(agent, action) if verdict.ok else refusal(verdict)


def list_progress(
    goal: GoalId, before: float, after: float, whole: float, participants: tuple[AgentId, ...]
) -> Iterator[GoalEvent]:
    """Yield the events of a goal in one step: progress as a share of the whole, and that it is done.

    Args:
        goal: The goal.
        before: Units of work left before the step.
        after: Units of work left after it; at 0 the goal is done.
        whole: Units of work of the whole goal.
        participants: Who took part.
    """
    if before != after:
        yield GoalEvent(goal, "progress", (before - after) / whole, participants)
        if after == 0:
            yield GoalEvent(goal, "done", 0.0, participants)
