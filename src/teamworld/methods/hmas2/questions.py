"""What HMAS-2 asks its reasoners: the central planner a plan for all, each agent what it thinks of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from pydantic import Field

from teamworld.language import Action, AgentId
from teamworld.methods.common.prompt_context import TeamRecord
from teamworld.methods.common.single_action import Act, perturb_action
from teamworld.methods.contract import StrictModel
from teamworld.planning.action_parser import action_text, read_action
from teamworld.planning.allocation import allocate_steps
from teamworld.reasoning.contract import Question, RespondentId, Sampling

#: The reasoner without a body that plans for all.
PLANNER: RespondentId = "planner"
#: Rounds of a step that the planner is shown again: the published conversation holds eight messages.
SHOWN = 3


class Assigned(Act):
    """An agent's action."""

    agent: str = Field(description="id of the agent")


class TeamPlan(StrictModel):
    """One action for every agent."""

    actions: tuple[Assigned, ...] = Field(description="exactly one action for each agent")

    def of(self, agent: AgentId) -> Assigned | None:
        """Return what the plan has for an agent; the first entry counts."""
        return next((entry for entry in self.actions if entry.agent == agent), None)


class Opinion(StrictModel):
    """What an agent thinks of its part in the plan."""

    accept: bool = Field(description="whether you accept your action")
    critique: str = Field(
        default="", description="if not: what is wrong with it, and what would be better", max_length=600
    )


class Pair(NamedTuple):
    """What an agent's state was at a step, and what it was given to do."""

    agent: AgentId
    state: str
    action: str


class Past(NamedTuple):
    """The pairs of one step."""

    age: int
    """Ticks ago."""
    pairs: tuple[Pair, ...]


class Round(NamedTuple):
    """A plan of this step, and what the agents said of it."""

    plan: TeamPlan
    opinions: Mapping[AgentId, Opinion]


Answer = TypeVar("Answer", TeamPlan, Opinion)


@dataclass(frozen=True)
class StepRecord(TeamRecord):
    """What planner and agents read alike: the state of the whole team, and the last steps."""

    task: str
    steps: tuple[Past, ...]
    """Oldest first."""


@dataclass(frozen=True)
class TeamQuestion(Question[Answer]):
    """What planner and agents are asked."""

    record: StepRecord

    def context(self) -> dict[str, Any]:
        """The task, the team, what each perceives and could do, and the last steps."""
        record = self.record
        return record.context(self.views) | {"task": record.task, "members": record.members, "steps": record.steps}


@dataclass(frozen=True)
class PlanAll(TeamQuestion[TeamPlan]):
    """What does every agent do next?"""

    rounds: tuple[Round, ...]
    """The plans of this step so far; the last was not accepted by all."""
    ignored: tuple[str, ...]
    """What of the last plan could not be used."""

    kind = "hmas2.plan"
    template = "hmas2/prompts/plan.md.j2"
    answer = TeamPlan
    sampling = Sampling(temperature=0.0, max_tokens=3000)

    def context(self) -> dict[str, Any]:
        """As above, and this step's rounds."""
        return super().context() | {"rounds": self.rounds[-SHOWN:], "ignored": self.ignored}

    def rule(self, rng: np.random.Generator) -> TeamPlan:
        """Share out the tasks, without what agents objected to."""
        barred: list[tuple[AgentId, Action]] = []
        for plan, opinions in self.rounds:
            for agent in (agent for agent, opinion in opinions.items() if not opinion.accept):
                entry = plan.of(agent)
                action = None if entry is None else read_action(entry.action, self.views[agent], self.record.domain)
                barred += [] if action is None else [(agent, action)]
        record = self.record
        steps = allocate_steps(self.views, record.domain, record.members, record.running, record.aims, barred)
        return TeamPlan(
            actions=tuple(
                Assigned(agent=agent, action=str(step.action), goal=step.goal) for agent, step in steps.items()
            )
        )

    def check(self, answer: TeamPlan) -> str | None:
        """At least one of the agents has an action; who is left out does nothing, and says so."""
        for agent in self.record.members:
            entry = answer.of(agent)
            if entry is not None and action_text(entry.action):
                return None
        return f"name exactly one action for each of {', '.join(self.record.members)}"

    def fallback(self) -> TeamPlan:
        """Nobody does anything for a step."""
        return TeamPlan(actions=())

    def perturb(self, answer: TeamPlan, rng: np.random.Generator) -> TeamPlan:
        """Forget an agent, or give it another of its options."""
        if not answer.actions:
            return answer
        index = int(rng.integers(len(answer.actions)))
        entry, actions = answer.actions[index], list(answer.actions)
        if rng.random() < 0.5:
            del actions[index]
        else:
            actions[index] = perturb_action(entry, entry.action, self.views[entry.agent], rng)
        return TeamPlan(actions=tuple(actions))


@dataclass(frozen=True)
class Judge(TeamQuestion[Opinion]):
    """Do I accept what the plan has for me? Each agent sees the same full state as the planner."""

    plan: TeamPlan

    kind = "hmas2.feedback"
    template = "hmas2/prompts/feedback.md.j2"
    answer = Opinion
    sampling = Sampling(temperature=0.0, max_tokens=600)

    def context(self) -> dict[str, Any]:
        """As above, and the plan with the agent's own part."""
        own = {"agent": self.respondent, "kind": self.view.kind, "abilities": self.view.abilities}
        return super().context() | own | {"plan": self.plan.actions, "own": self.plan.of(self.respondent)}

    def rule(self, rng: np.random.Generator) -> Opinion:
        """Accept whatever can start now, and what runs already."""
        entry = self.plan.of(self.respondent)
        if entry is None or not action_text(entry.action):
            return Opinion(accept=False, critique="I have no action.")
        action = read_action(entry.action, self.view, self.record.domain)
        if action is None:
            return Opinion(accept=False, critique="I cannot tell which action that is.")
        running = self.record.running.get(self.respondent)
        if running is not None and running.actions == (action,):
            return Opinion(accept=True)
        verdict = self.view.check(action)
        return (
            Opinion(accept=True) if verdict.ok else Opinion(accept=False, critique=f"I cannot: {verdict.reason}"[:600])
        )

    def check(self, answer: Opinion) -> str | None:
        """Who does not accept says why."""
        return None if answer.accept or answer.critique.strip() else "say what is wrong with your action, or accept it"

    def fallback(self) -> Opinion:
        """The plan stands."""
        return Opinion(accept=True)

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """Yes or no."""
        return (True, False) if field == "accept" else ()

    def perturb(self, answer: Opinion, rng: np.random.Generator) -> Opinion:
        """Object to what is sound, or accept what is not."""
        return Opinion(accept=not answer.accept, critique="I would rather do something else." if answer.accept else "")
