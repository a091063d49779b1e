"""The executor of macro-actions: one running action for each agent, and the history of those that have ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Generic, Literal, NamedTuple, Protocol, TypeVar

from teamworld.errors import UserError
from teamworld.language import Action, AgentId
from teamworld.worlds.contract import POSSIBLE, WAIT, ActionSchema, Constraint, Outcome, Verdict


class Result(NamedTuple):
    """How a running action stands after a step."""

    status: Literal["running", "done", "failed"] = "running"
    reason: str = ""
    """Why it failed, in one of the world's words."""
    constraint: Constraint | None = None


RUNNING: Final = Result()
DONE: Final = Result("done")
INTERRUPTED: Final = Result("failed", "interrupted")


class RunningSkill(Protocol):
    """A running action."""

    @property
    def action(self) -> Action:
        """The action with all its arguments."""

    @property
    def start(self) -> int:
        """Step at which it began."""


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
        self._tells_reasons = tells_reasons

    def start(
        self, agent: AgentId, action: Action, check: Callable[[Action], Verdict], make: Callable[[Action], Skill]
    ) -> Verdict:
        """Start an action and interrupt the one that runs; the same action again lets it run on.

        Args:
            agent: Who acts.
            action: The action with all its arguments.
            check: Whether its preconditions hold.
            make: Makes a running action of it.

        Returns:
            Whether it could start.
        """
        skill = self.running.get(agent)
        if skill is not None and skill.action == action:
            return POSSIBLE
        if skill is not None:
            self.end(agent, INTERRUPTED)
        verdict = check(action)
        if verdict.ok and action != WAIT:
            self.running[agent] = make(action)
        return verdict

    def end(self, agent: AgentId, result: Result) -> None:
        """End an agent's running action and add it to its history."""
        skill = self.running.pop(agent)
        reason = result.reason if self._tells_reasons or not result.reason else "failed"
        self.histories[agent] += (Outcome(skill.action, result.status, reason, start=skill.start),)

    def refuse(self, outcome: Outcome, agent: AgentId, action: Action, verdict: Verdict) -> Outcome:
        """Return the outcome of an action that could not start, and add it to the agent's history."""
        outcome = outcome._replace(action=action, status="failed", reason=verdict.word, legal=False)
        self.histories[agent] += (outcome,)
        return outcome

    def copy_histories(self) -> Mapping[AgentId, tuple[Outcome, ...]]:
        """Return the histories as they stand now."""
        return dict(self.histories)


def complete_action(action: Action, schemas: Iterable[ActionSchema]) -> Action:
    """Return an action with the defaults of what was left out; as it came where it fits no schema."""
    for schema in schemas:
        if schema.verb == action.verb:
            try:
                return schema.complete(action)
            except UserError:
                break  # the check says what is wrong with it
    return action
