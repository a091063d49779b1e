"""The commonest question of a method: which task do I take, and by which plan?

A method of one's own derives its question from ``ChooseTask`` and says what is particular to it: the tasks that are
left to choose from, or another rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from pydantic import Field

from teamworld.language import GoalId
from teamworld.methods.common.answers import Reasoned
from teamworld.methods.common.knowledge import AgentQuestion
from teamworld.methods.common.plan_answers import LONGEST, action_texts, candidate_texts, plan_error, standby_plan
from teamworld.planning.candidates import best_plan
from teamworld.planning.goals import workable_goals
from teamworld.reasoning.contract import Sampling
from teamworld.worlds.contract import Goal


class TaskChoice(Reasoned):
    """A task, and the plan for it."""

    task: GoalId | None = Field(description="id of the task you take, or null for none")
    actions: tuple[str, ...] = Field(description="your plan for it: the actions in order")


@dataclass(frozen=True)
class ChooseTask(AgentQuestion[TaskChoice]):
    """Which task do I take, and how do I do it?

    A question derives from it as a frozen dataclass, and has a ``kind`` and a ``template`` of its own.
    """

    answer = TaskChoice
    sampling = Sampling(temperature=0.0, max_tokens=1000)
    longest = LONGEST
    departures = MappingProxyType({"options": "the agent plans several actions ahead, not one"})

    @property
    def tasks(self) -> Sequence[Goal]:
        """Tasks that the agent may take: those that its kind can work on now."""
        return workable_goals(self.view)

    def rule(self, rng: np.random.Generator) -> TaskChoice:
        """Take the task and the plan that earn most a step; without a language model this is the answer."""
        return self.choose(self.tasks)

    def choose(self, tasks: Sequence[Goal]) -> TaskChoice:
        """Return the best plan for some tasks as an answer; no task and the standby plan where none can be done."""
        plan = best_plan(tasks, self.view, self.domain)
        return self.fallback() if plan is None else TaskChoice(task=plan.goal, actions=action_texts(plan))

    def check(self, answer: TaskChoice) -> str | None:
        """Return what is wrong with an answer, for the re-ask: the task, or what stops its plan in a dry run."""
        names = [goal.id for goal in self.tasks]
        if answer.task is not None and answer.task not in names:
            return f"there is no task '{answer.task}' for you; there are: {', '.join(names) or 'none'}"
        return plan_error(answer.actions, self.view, self.domain)

    def fallback(self) -> TaskChoice:
        """No task: the agent keeps out of the way, or looks around."""
        return TaskChoice(task=None, actions=action_texts(standby_plan(self.domain, self.view)))

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """What a person chooses from: the tasks, or none of them; the plans that make sense for the task chosen."""
        if field == "task":
            return [*(goal.id for goal in self.tasks), None]
        if field == "reasoning":
            return ()
        goal = next((goal for goal in self.tasks if goal.id == answered.get("task")), None)
        return candidate_texts(goal, self.view, self.domain)
