"""What the zero-shot baseline asks its reasoners: a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from pydantic import Field

from teamworld.language import GoalId, Plan
from teamworld.methods.common.answers import Reasoned
from teamworld.methods.common.knowledge import AgentQuestion
from teamworld.methods.common.plan_answers import (
    LONGEST,
    action_texts,
    candidate_texts,
    perturb_plan,
    plan_error,
    standby_plan,
)
from teamworld.planning.candidates import evaluate_plans
from teamworld.planning.goals import workable_goals
from teamworld.reasoning.contract import Sampling
from teamworld.worlds.contract import Goal


class TargetedPlan(Reasoned):
    """A task, and a plan for it."""

    goal: GoalId | None = Field(description="id of the task, or null for none")
    actions: tuple[str, ...] = Field(description="the actions in order")


@dataclass(frozen=True)
class ZeroShotPlan(AgentQuestion[TargetedPlan]):
    """What do I do next? The fixed rule is to take the open task with the least work left."""

    kind = "zero_shot.plan"
    template = "zero_shot/prompts/plan.md.j2"
    answer = TargetedPlan
    sampling = Sampling(temperature=1.0, max_tokens=1000)
    longest = LONGEST
    departures = MappingProxyType(
        {
            "options": "the agent plans several actions ahead, not one (CUBE, zero-shot baseline)",
            "said": "nobody talks (CUBE, zero-shot baseline)",
            "quotes": "nobody talks (CUBE, zero-shot baseline)",
        }
    )

    @property
    def goals(self) -> list[Goal]:
        """Open tasks that the agent can work on now."""
        return workable_goals(self.view)

    def rule(self, rng: np.random.Generator) -> TargetedPlan:
        """Take the task nearest to done and the best plan for it."""
        if not self.goals:
            return TargetedPlan(goal=None, actions=action_texts(standby_plan(self.domain, self.view)))
        goal = min(self.goals, key=lambda goal: goal.units)
        return TargetedPlan(goal=goal.id, actions=action_texts(self._choose_plan(goal, rng)))

    def _choose_plan(self, goal: Goal, rng: np.random.Generator) -> Plan:
        return evaluate_plans(goal, self.view, self.domain)[0].plan

    def check(self, answer: TargetedPlan) -> str | None:
        """The task must be open and the plan pass the validation that every method shares."""
        if answer.goal is not None and all(answer.goal != goal.id for goal in self.goals):
            waiting = next((goal for goal in self.me.goals if goal.id == answer.goal), None)
            names = ", ".join(goal.id for goal in self.goals)
            if waiting is None:
                return f"there is no open task '{answer.goal}'; open are: {names}"
            stands = self.me.describe_goal(waiting)
            return f"you cannot work on {answer.goal} now ({stands}); you can work on: {names or 'none, answer null'}"
        return plan_error(answer.actions, self.view, self.domain)

    def fallback(self) -> TargetedPlan:
        """No plan: the agent keeps out of the way."""
        return TargetedPlan(goal=None, actions=())

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The open tasks, or none of them; the plans that make sense for the task chosen."""
        if field == "goal":
            return [*(goal.id for goal in self.goals), None]
        if field == "reasoning":
            return ()
        goal = next((goal for goal in self.goals if goal.id == answered.get("goal")), None)
        return candidate_texts(goal, self.view, self.domain)

    def perturb(self, answer: TargetedPlan, rng: np.random.Generator) -> TargetedPlan:
        """Take another task for its plan, or perturb the plan."""
        others = [goal for goal in self.goals if goal.id != answer.goal]
        if others and rng.random() < 0.5:
            goal = others[int(rng.integers(len(others)))]
            return TargetedPlan(goal=goal.id, actions=action_texts(self._choose_plan(goal, rng)))
        return answer.model_copy(update={"actions": perturb_plan(answer.actions, self.view.abilities, rng)})


@dataclass(frozen=True)
class DrawnPlan(ZeroShotPlan):
    """The same; the rule takes any plan that makes sense."""

    def _choose_plan(self, goal: Goal, rng: np.random.Generator) -> Plan:
        candidates = self.domain.candidate_plans(goal, self.respondent, self.view.known)
        return candidates[int(rng.integers(len(candidates)))]
