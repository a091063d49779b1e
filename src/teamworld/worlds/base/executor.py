"""The executor of macro-actions: one running action for each agent, and the history of those that have ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, Literal, NamedTuple, Protocol, TypeVar

from teamworld.errors import UserError
from teamworld.language import Action, ActionSchema, AgentId, GoalId
from teamworld.worlds.contract import WAIT, Constraint, Outcome, Verdict


class Result(NamedTuple):
    """How a running action stands after a step, or why one could not start."""

    status: Literal["running", "done", "failed"] = "running"
    reason: str = ""
    """Why it failed, or what ended it early: one of the world's words, then perhaps a colon and an explanation."""
    constraint: Constraint | None = None
    blocker: str | None = None
    """Who or what was in the way."""
    ready: GoalId | None = None
    """The goal at whose working place the agent waits for the quorum."""


RUNNING: Final = Result()
DONE: Final = Result("done")
#: Actions that take as many steps as they say.
TIMED: Final = ("idle", "talk")
INTERRUPTED: Final = Result("failed", "interrupted: another action was begun")


def refusal(verdict: Verdict) -> Result:
    """Return the result of an action whose preconditions do not hold."""
    return Result("failed", verdict.reason)


class RunningSkill(Protocol):
    """A running action."""

    @property
    def action(self) -> Action:
        """The action as outcomes name it."""

    @property
    def start(self) -> int:
        """Step at which it began."""


@dataclass
class TimedSkill:
    """A running action that takes a known number of steps."""

    action: Action
    start: int
    steps_left: int


Skill = TypeVar("Skill", bound=RunningSkill)


class Executor(Generic[Skill]):
    """Starts, keeps and ends the macro-actions of a team.

    Args:
        agents: The team.
        tells_reasons: Whether agents notice why an action failed.
    """

    def __init__(self, agents: Iterable[AgentId], tells_reasons: bool = True) -> None:
        self.running: dict[AgentId, Skill] = {}
        self.histories: dict[AgentId, tuple[Outcome, ...]] = dict.fromkeys(agents, ())
        self._refusals: dict[AgentId, tuple[Action, Result]] = {}
        self._progress: dict[AgentId, Outcome] = {}
        self._tells_reasons = tells_reasons

    def begin_step(self) -> None:
        """Forget what was refused in the last step."""
        self._refusals.clear()

    def is_refused(self, agent: AgentId) -> bool:
        """Return whether an agent's order of this step could not start."""
        return agent in self._refusals

    def start(
        self,
        agent: AgentId,
        order: Action,
        action: Action,
        make: Callable[[AgentId, Action], Skill | Result],
        judge_stopped: Callable[[Skill], Result] = lambda _: INTERRUPTED,
    ) -> None:
        """Start an action and interrupt the one that runs; the same action again lets it run on.

        Args:
            agent: Who acts.
            order: The action as it was ordered.
            action: The action as outcomes name it, with all its arguments.
            make: Makes a running action of it, or says why it cannot start.
            judge_stopped: Returns how an action that is stopped so has ended.
        """
        skill = self.running.get(agent)
        if skill is not None and skill.action == action:
            return
        if skill is not None:
            self.end(agent, judge_stopped(skill))
        made = make(agent, action)
        if isinstance(made, Result):
            self._refusals[agent] = order, made
        elif action != WAIT:
            self.running[agent] = made
            self._progress[agent] = Outcome(action, "running", start=made.start)

    def judge(self, agent: AgentId, outcome: Outcome, judge_skill: Callable[[Skill], Result]) -> Outcome:
        """Return the outcome of an agent's step, and end its action if it is over.

        Args:
            agent: Who acted.
            outcome: What the step did to the agent and through it; how its action stands is filled in.
            judge_skill: Returns how the running action stands.
        """
        if agent in self._refusals:
            order, result = self._refusals[agent]
            outcome = _with_result(outcome, result)._replace(action=order, legal=False)
            self.histories[agent] += (outcome._replace(place=None, aim=None),)
            return outcome
        skill = self.running.get(agent)
        if skill is None:
            return outcome
        result = judge_skill(skill)
        earlier = self._progress[agent]
        self._progress[agent] = earlier._replace(
            moved=earlier.moved or outcome.moved,
            effect=earlier.effect or outcome.effect,
            primitives=earlier.primitives + outcome.primitives,
        )
        if result.status != "running":
            self.end(agent, result)
        return _with_result(outcome, result)._replace(action=skill.action, start=skill.start)

    def end(self, agent: AgentId, result: Result) -> None:
        """End an agent's running action and add it to its history, with all its primitives."""
        del self.running[agent]
        if not self._tells_reasons and result.reason:
            result = Result(result.status, "failed" if result.status == "failed" else "")
        self.histories[agent] += (_with_result(self._progress.pop(agent), result._replace(ready=None)),)

    def list_remainders(self, t: int) -> Mapping[AgentId, Action]:
        """Return what is left of each running action at step ``t``, as an action."""
        return {agent: _remainder(skill.action, t - skill.start) for agent, skill in self.running.items()}

    def copy_histories(self) -> Mapping[AgentId, tuple[Outcome, ...]]:
        """Return the histories as they stand now."""
        return dict(self.histories)


def _remainder(action: Action, spent: int) -> Action:
    steps = action.args[0] if action.verb in TIMED else None
    return Action(action.verb, (max(1, steps - spent),)) if isinstance(steps, int) else action


def _with_result(outcome: Outcome, result: Result) -> Outcome:
    """Return what a step did to an agent with how its action stands."""
    return outcome._replace(
        status=result.status,
        reason=result.reason,
        constraint=result.constraint,
        blocker=result.blocker or outcome.blocker,
        ready=result.ready or outcome.ready,
    )


def complete_action(action: Action, schemas: Iterable[ActionSchema]) -> Action:
    """Return an action with the defaults of what was left out; as it came where it fits no schema."""
    for schema in schemas:
        if schema.verb == action.verb:
            try:
                return schema.complete(action)
            except UserError:
                break  # the check says what is wrong with it
    return action
