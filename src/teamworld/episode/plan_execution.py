"""The course of one agent's plan: a program counter, failures, and how it ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from teamworld.language import Action, Plan
from teamworld.worlds.contract import Outcome

#: So many failed actions in a row end a plan.
MOST_FAILURES = 3

Status = Literal["success", "failed", "interrupted", "superseded", "expired", "unfinished"]


class Ending(NamedTuple):
    """How a plan ended."""

    status: Status
    cause: str


class PlanExecution:
    """A plan that an agent carries out.

    Args:
        number: Which plan of the episode it is.
        plan: What to do.
        ends_plan: Returns whether an action that failed for some reason leaves the rest without a base; see
            ``Domain.ends_plan``.
    """

    def __init__(
        self, number: int, plan: Plan, ends_plan: Callable[[Action, str], bool] = lambda *failed: False
    ) -> None:
        self.number = number
        self.plan = plan
        self._ends_plan = ends_plan
        self.done = 0
        """Actions done so far."""
        self.started = False
        """The next action runs already."""
        self.had_effect = False
        """An action of it changed the world."""
        self._next = 0
        self._failures = 0
        self._is_cut_short = False
        self._in_a_row = 0
        self._last_failure = ""

    @property
    def action(self) -> Action | None:
        """The action that runs or comes next; None when the plan is over."""
        if self._is_cut_short or self._in_a_row >= MOST_FAILURES or self._next >= len(self.plan.actions):
            return None
        return self.plan.actions[self._next]

    def skip(self, reason: str) -> None:
        """The next action's preconditions do not hold: pass over it at no cost."""
        self._fail(reason)

    def take(self, outcome: Outcome) -> None:
        """Take in what became of the running action in one step."""
        self.had_effect |= outcome.effect
        if outcome.status == "running":
            self.started = True
        elif outcome.status == "done":
            self.done += 1
            self._in_a_row = 0
            self._advance()
        else:
            self._fail(outcome.word)

    def ending(self, goal_done: bool) -> Ending:
        """Return how the plan ended by itself."""
        if goal_done and self.plan.goal is not None:
            return Ending("success", "goal_done")
        if self._failures:
            return Ending("failed", self._last_failure or "failed")
        if self.plan.goal is not None:
            return Ending("failed", "goal_open")
        return Ending("success", "done")

    def _fail(self, reason: str) -> None:
        rule = self.plan.on_failure
        failed = self.plan.actions[self._next]
        self._is_cut_short = rule == "abort" or (rule == "default" and self._ends_plan(failed, reason))
        self._failures += 1
        self._in_a_row += 1
        self._last_failure = reason
        self._advance()

    def _advance(self) -> None:
        self._next += 1
        self.started = False
