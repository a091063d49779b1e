"""The course of one agent's plan: a program counter, failures, and how it ended."""

from __future__ import annotations

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
    """A plan that an agent carries out."""

    def __init__(self, number: int, plan: Plan) -> None:
        self.number = number
        self.plan = plan
        self.done = 0
        """Actions done so far."""
        self.started = False
        """The next action runs already."""
        self._next = 0
        self._failures = 0
        self._in_a_row = 0
        self._last_failure = ""

    @property
    def action(self) -> Action | None:
        """The action that runs or comes next; None when the plan is over."""
        aborted = self._failures and self.plan.on_failure == "abort"
        if aborted or self._in_a_row >= MOST_FAILURES or self._next >= len(self.plan.actions):
            return None
        return self.plan.actions[self._next]

    def skip(self, reason: str) -> None:
        """The next action's preconditions do not hold: pass over it at no cost."""
        self._fail(reason)

    def take(self, outcome: Outcome) -> None:
        """Take in what became of the running action in one step."""
        if outcome.status == "running":
            self.started = True
        elif outcome.status == "done":
            self.done += 1
            self._in_a_row = 0
            self._advance()
        else:
            self._fail(outcome.reason)

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
        self._failures += 1
        self._in_a_row += 1
        self._last_failure = reason
        self._advance()

    def _advance(self) -> None:
        self._next += 1
        self.started = False
