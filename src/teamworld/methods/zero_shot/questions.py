"""What the zero-shot baseline asks its reasoners: a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from teamworld.language import GoalId
from teamworld.methods.common.plan_answers import (
    PlanAnswer,
    action_texts,
    candidate_texts,
    parameter_values,
    perturb_plan,
    plan_error,
    standby_plan,
)
from teamworld.planning.goals import workable_goals
from teamworld.reasoning.contract import Question, Sampling
from teamworld.worlds.contract import Domain, Goal


class TargetedPlan(PlanAnswer):
    """A plan and the task it is for."""

    goal: GoalId | None = Field(description="id of the task, or null where none is known")


@dataclass(frozen=True)
class ZeroShotPlan(Question[TargetedPlan]):
    """What do I do next? The fixed rule is to take the open task with the least work left."""

    domain: Domain

    kind = "zero_shot.plan"
    template = "zero_shot/prompts/plan.md.j2"
    answer = TargetedPlan
    sampling = Sampling(temperature=1.0, max_tokens=1000)

    @property
    def goals(self) -> list[Goal]:
        """Open tasks that the agent can work on now."""
        return workable_goals(self.view)

    def context(self) -> dict[str, Any]:
        """The scene, the open tasks, and what the agent can do."""
        return {
            "agent": self.respondent,
            "scene": self.view.text(),
            "steps_left": self.view.steps_left,
            "goals": self.goals,
            "abilities": self.view.abilities,
            "values": parameter_values(self.view.abilities),
        }

    def rule(self, rng: np.random.Generator) -> TargetedPlan:
        """Take the task nearest to done and draw one of the plans that make sense for it."""
        if not self.goals:
            return TargetedPlan(goal=None, actions=action_texts(standby_plan(self.domain, self.view)))
        goal = min(self.goals, key=lambda goal: goal.units)
        candidates = self.domain.candidate_plans(goal, self.respondent, self.view.known)
        return TargetedPlan(goal=goal.id, actions=action_texts(candidates[int(rng.integers(len(candidates)))]))

    def check(self, answer: TargetedPlan) -> str | None:
        """The task must be open and the plan pass the validation that every method shares."""
        if answer.goal is not None and all(answer.goal != goal.id for goal in self.goals):
            return f"there is no open task '{answer.goal}'; open are: {', '.join(goal.id for goal in self.goals)}"
        return plan_error(answer.actions, self.view, self.domain)

    def fallback(self) -> TargetedPlan:
        """No plan: the agent keeps out of the way."""
        return TargetedPlan(goal=None, actions=())

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The open tasks, or none of them; the plans that make sense for the task chosen."""
        if field == "goal":
            return [*(goal.id for goal in self.goals), None]
        goal = next((goal for goal in self.goals if goal.id == answered.get("goal")), None)
        return candidate_texts(goal, self.view, self.domain)

    def perturb(self, answer: TargetedPlan, rng: np.random.Generator) -> TargetedPlan:
        """Take another task for its plan, or perturb the plan."""
        others = [goal for goal in self.goals if goal.id != answer.goal]
        if others and rng.random() < 0.5:
            goal = others[int(rng.integers(len(others)))]
            candidates = self.domain.candidate_plans(goal, self.respondent, self.view.known)
            return TargetedPlan(goal=goal.id, actions=action_texts(candidates[int(rng.integers(len(candidates)))]))
        return answer.model_copy(update={"actions": perturb_plan(answer.actions, self.view.abilities, rng)})
