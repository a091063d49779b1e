"""What ReAct asks its agents: a thought and an action; with Reflexion, a lesson of the last episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from teamworld.language import GoalId, plain
from teamworld.methods.common.answers import Reasoned
from teamworld.methods.common.knowledge import AgentQuestion
from teamworld.methods.common.single_action import Act, action_error, offer_values, perturb_action
from teamworld.planning.allocation import choose_step
from teamworld.reasoning.contract import Sampling

#: Longest lesson in characters.
LONGEST = 400
_ALONE = "agents do not talk (ReAct, arXiv 2210.03629: one agent, no channel)"
_PAST = "a lesson is drawn from the record of the last episode (Reflexion, arXiv 2303.11366, section 3)"


class Turn(NamedTuple):
    """One thought and action of an agent."""

    step: int
    thought: str
    action: str
    goal: GoalId | None


class Lesson(Reasoned):
    """What an agent learns from an episode."""

    lesson: str = Field(description="one or two sentences to yourself for the next time", max_length=LONGEST)


@dataclass(frozen=True)
class Step(AgentQuestion[Act]):
    """What do I think, and what do I do next?"""

    turns: tuple[Turn, ...] = ()
    """Its last thoughts and actions, oldest first."""
    lessons: tuple[str, ...] = ()
    """What it learned in earlier episodes, oldest first."""

    kind = "react.act"
    template = "react/prompts/act.md.j2"
    answer = Act
    sampling = Sampling(temperature=0.0, max_tokens=1000)
    departures = MappingProxyType(
        {
            "said": _ALONE,
            "quotes": _ALONE,
            "own": "thoughts, actions and what came of them are one history (ReAct, arXiv 2210.03629, section 2)",
        }
    )

    @property
    def history(self) -> list[tuple[Turn, str]]:
        """Its thoughts and actions, each with how it ended and why, in words; empty where the agent did not notice."""
        ends = {(outcome.start, plain(outcome.action)): outcome for outcome in self.view.history}
        ended = [(turn, ends.get((turn.step, turn.action))) for turn in self.turns]
        return [(turn, "" if end is None else end.ending) for turn, end in ended]

    def rule(self, rng: np.random.Generator) -> Act:
        """The step of most worth by what the agent knows itself, staying with the task that its last action was for."""
        aim = self.turns[-1].goal if self.turns else None
        step = choose_step(self.me.view, self.domain, {}, len(self.me.team), self.me.running, aim)
        return Act(action=str(step.action), goal=step.goal)

    def check(self, answer: Act) -> str | None:
        """The action can start."""
        return action_error(answer.action, self.me)

    def fallback(self) -> Act:
        """Nothing for a step."""
        return Act(action="")

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The options, and the tasks."""
        return offer_values(field, self.view)

    def perturb(self, answer: Act, rng: np.random.Generator) -> Act:
        """Take another option."""
        return perturb_action(answer, answer.action, self.view, rng)


@dataclass(frozen=True)
class Reflect(AgentQuestion[Lesson]):
    """What do I learn from my last episode?"""

    record: str
    """What it did in it and what came of that."""
    lessons: tuple[str, ...] = ()
    """What it learned before, oldest first."""

    kind = "react.reflect"
    template = "react/prompts/reflect.md.j2"
    answer = Lesson
    sampling = Sampling(temperature=0.0, max_tokens=600)
    departures = MappingProxyType(
        {
            **dict.fromkeys(("said", "quotes"), _ALONE),
            **dict.fromkeys(("who", "situation", "team", "tasks", "own", "options"), _PAST),
        }
    )

    def rule(self, rng: np.random.Generator) -> Lesson:
        """The first line of the record, which says how far the team came: rules do not learn from words."""
        return Lesson(lesson=self.record.partition("\n")[0][:LONGEST])

    def check(self, answer: Lesson) -> str | None:
        """There must be something in it."""
        return None if answer.lesson.strip() else "the lesson is empty"

    def fallback(self) -> Lesson:
        """The first line of the record."""
        return Lesson(lesson=self.record.partition("\n")[0][:LONGEST])
