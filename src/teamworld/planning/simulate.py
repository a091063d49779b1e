"""Going through a plan in the head: on what is believed, and if teammates do their part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Protocol

from teamworld.language import Action, AgentId, Facts, Plan, plain
from teamworld.worlds.contract import Domain, Goal, Verdict, View


class PlanningRules(Protocol):
    """What a plan is gone through with: a ``Domain``, or one that remembers."""

    def check(self, agent: AgentId, action: Action, facts: Facts, /) -> Verdict:
        """Return whether an action's preconditions hold."""

    def predict(self, agent: AgentId, action: Action, facts: Facts, /) -> Facts:
        """Return what to expect after an action."""

    def estimate_steps(self, agent: AgentId, action: Action, facts: Facts, /) -> int:
        """Return the estimated steps of an action."""

    def goals(self, facts: Facts, /) -> Sequence[Goal]:
        """Return the goals as they stand."""


class RememberedRules:
    """Rules of a domain that are asked once each: for plans that begin alike, made of the world's own actions."""

    def __init__(self, domain: Domain) -> None:
        self.check = cache(domain.check)
        self.predict = cache(domain.predict)
        self.estimate_steps = cache(domain.estimate_steps)
        self.goals = cache(domain.goals)


@dataclass(frozen=True)
class SimulatedPlan:
    """How far a plan gets, what it takes and what it comes to."""

    agent: AgentId
    domain: PlanningRules
    actions: tuple[Action, ...]
    before: tuple[Facts, ...]
    """What is expected when each action begins; ends with the first one that could not start."""
    spans: tuple[int, ...]
    """Estimated ticks of each action that could start."""
    reason: str = ""
    """Which action could not start, and why; empty if all could, one after the other."""

    @property
    def ok(self) -> bool:
        """Whether all actions could start."""
        return not self.reason

    @property
    def first_legal(self) -> bool:
        """Whether the first one can start now."""
        return self.ok or bool(self.spans)

    @property
    def ticks(self) -> int:
        """Estimated ticks of the actions that could start."""
        return sum(self.spans)

    @property
    def trimmed(self) -> SimulatedPlan:
        """The same without what it begins with as far as that changes nothing; the last action stays."""
        changed = (at for at, then in enumerate(self.before[1:]) if not then.holds_the_same(self.before[0]))
        at = next(changed, len(self.before) - 1)
        return replace(self, actions=self.actions[at:], before=self.before[at:], spans=self.spans[at:]) if at else self

    @property
    def still(self) -> bool:
        """Whether the first action cannot start, or changes nothing that can be foreseen."""
        return not self.first_legal or self.before[0].holds_the_same(
            self.before[1] if len(self.actions) > 1 else self.then
        )

    @cached_property
    def then(self) -> Facts:
        """What to expect after the last action, if all could start."""
        return self.domain.predict(self.agent, self.actions[-1], self.before[-1])

    def share(self, goal: Goal) -> float:
        """Return the share of a goal's work that a plan does of which all actions could start, 1 where that is all."""
        then = next((known for known in self.domain.goals(self.then) if known.id == goal.id), None)
        if then is None or then.state == "lost":
            return 0.0
        if then.state == "done":
            return 1.0
        return max(0.0, (goal.units - then.units) / goal.units) if goal.units else 0.0


def share_in_time(tried: SimulatedPlan, goal: Goal, steps_left: int) -> float:
    """Return the share of a goal's work that a plan does in the steps left: none where it takes longer."""
    return tried.share(goal) if tried.ticks <= steps_left else 0.0


def simulate_plan(actions: Sequence[Action], agent: AgentId, facts: Facts, domain: PlanningRules) -> SimulatedPlan:
    """Go through actions with the domain's preconditions and expected effects, up to one that cannot start.

    Args:
        actions: At least one.
        agent: Who does them.
        facts: What is believed when they begin.
        domain: The rules of the world.
    """
    before, spans = list[Facts](), list[int]()
    for index, action in enumerate(actions):
        facts = domain.predict(agent, actions[index - 1], facts) if index else facts
        before.append(facts)
        verdict = domain.check(agent, action, facts)
        if not verdict.ok:
            reason = f"action {index + 1}, {plain(action)}: {verdict.explanation}"
            return SimulatedPlan(agent, domain, tuple(actions), tuple(before), tuple(spans), reason)
        spans.append(domain.estimate_steps(agent, action, facts))
    return SimulatedPlan(agent, domain, tuple(actions), tuple(before), tuple(spans))


def dry_run(plan: Plan, view: View, domain: Domain) -> SimulatedPlan:
    """Go through a plan of an agent on what it knows."""
    return simulate_plan(plan.actions, view.agent, view.known, domain)
