"""What DR. WELL asks its reasoners: proposal, commitment, draft and revision; in variants, a chat and a choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from pydantic import BaseModel, Field, field_validator

from teamworld.language import AgentId, GoalId
from teamworld.memory.contract import GuideEntry
from teamworld.methods.common.answers import Reasoned, meant
from teamworld.methods.common.knowledge import AgentQuestion, Line
from teamworld.methods.common.plan_answers import LONGEST, PlanAnswer, candidate_texts, perturb_plan, plan_error
from teamworld.methods.drwell.library import Page, RankedPlan, rank_plans
from teamworld.methods.drwell.negotiation_rules import preferred, worth_per_step
from teamworld.methods.drwell.words import describe_causes, describe_entry, describe_record, mean_steps, percent
from teamworld.planning.goals import workable_goals
from teamworld.reasoning.contract import Sampling
from teamworld.worlds.contract import Goal

_TALK = Sampling(temperature=0.7, max_tokens=300)
_PLAN = Sampling(temperature=0.7, max_tokens=900)
#: Words in place of a plan that mean that there is none.
_NO_PLAN = frozenset({"", "none", "null", "nothing", "n/a"})


class Proposal(Reasoned):
    """The task an agent thinks it should work on, and why."""

    goal: GoalId | None = Field(description="id of the task, or null if none can use you")
    reason: str = Field(description="what you tell the team for it, in one sentence", max_length=600)


class Commitment(Reasoned):
    """The task an agent binds itself to; null to wait."""

    goal: GoalId | None = Field(description="id of the task, or null to wait")


class Remark(Reasoned):
    """What an agent says in a free chat, and the task it leans to, if to one."""

    text: str = Field(description="what you say to the team, in a few sentences", max_length=600)
    goal: GoalId | None = Field(default=None, description="id of the task you lean to, or null")


class TaskPlan(PlanAnswer):
    """A plan for the task, or the task handed back."""

    actions: tuple[str, ...] = Field(description="the actions in order; empty to hand the task back")
    reason: str = Field(
        default="", description="empty, unless you hand the task back: why, in one sentence", max_length=600
    )

    @field_validator("actions", mode="before")
    @classmethod
    def _read_no_plan(cls, plan: Any) -> Any:  # noqa: ANN401
        """Read null and words such as "none" as no plan."""
        texts = [plan] if plan is None or isinstance(plan, str) else plan
        if isinstance(texts, list | tuple) and all(str(text or "").strip().lower() in _NO_PLAN for text in texts):
            return ()
        return plan


class Revision(TaskPlan):
    """The revised plan and what is worth remembering for later."""

    reflection: str = Field(
        default="", description="a short general rule for the team, or an empty text", max_length=400
    )


Named = TypeVar("Named", Proposal, Commitment, Remark)
Planned = TypeVar("Planned", bound=TaskPlan)


class Dissolved(NamedTuple):
    """A commitment that the validator dissolved: the task could not get enough agents."""

    step: int
    agent: AgentId
    goal: GoalId
    needed: int
    had: int


@dataclass(frozen=True)
class NegotiationRecord:
    """What an agent reads that names a task, beside what every agent is shown."""

    members: tuple[AgentId, ...]
    """Who is in the meeting, in speaking order; nobody where there is none."""
    guide: Mapping[GoalId, GuideEntry]
    """The guidebook, by open goal; untested entries where it is not read."""
    guided: bool
    """Whether the guidebook is read, and may be shown."""
    best: GoalId | None
    """The task that went best so far, if it is open."""
    proposals: tuple[Line, ...] = ()
    """Of this meeting, as heard."""
    commitments: tuple[Line, ...] = ()
    """Of this meeting, as heard; a line without a goal waits."""
    chat: tuple[Line, ...] = ()
    dissolved: tuple[Dissolved, ...] = ()
    """Since the agent last named a task."""
    handed_back: tuple[Line, ...] = ()
    """Tasks that agents handed back since then, as heard."""


_NO_MOVEMENTS = "tasks are negotiated, never movements (DR. WELL, negotiation)"


@dataclass(frozen=True)
class Negotiation(AgentQuestion[Named]):
    """Asks for a task."""

    record: NegotiationRecord

    departures = MappingProxyType(
        {
            "abilities": _NO_MOVEMENTS,
            "options": _NO_MOVEMENTS,
            "said": "the board shows proposals and commitments apart (DR. WELL, negotiation)",
            "tasks": "each open task stands with its score and its record (DR. WELL, guidebook)",
        }
    )

    @property
    def goals(self) -> list[Goal]:
        """Open tasks that the agent can work on now."""
        return workable_goals(self.view)

    @property
    def working(self) -> dict[AgentId, GoalId]:
        """What agents outside the meeting are bound to."""
        return {teammate.agent: teammate.commitment for teammate in self.me.team if teammate.commitment is not None}

    @cached_property
    def worth(self) -> dict[GoalId, float]:
        """What each task is worth a step of each of its agents."""
        return {
            goal.id: worth_per_step(goal, self.record.guide[goal.id], self.view, self.domain) for goal in self.goals
        }

    @cached_property
    def full(self) -> Collection[GoalId]:
        """Tasks that have all the agents that they can use."""
        at_work = Counter(self.working.values())
        return [goal.id for goal in self.goals if at_work[goal.id] >= goal.capacity]

    @property
    def has_records(self) -> bool:
        """Whether the guidebook tells of attempts at an open task."""
        return any(self.describe_history(goal) for goal in self.goals)

    def describe_history(self, goal: Goal) -> str:
        """Return what the guidebook says about a task, in words; nothing where it is not read or knows no attempt."""
        return describe_entry(self.record.guide[goal.id]) if self.record.guided else ""

    def describe_choice(self, goal: Goal) -> str:
        """Return why a rule takes a task, in a sentence."""
        return f"Score {100 * self.worth[goal.id]:.2g} for me."

    def check(self, answer: Named) -> str | None:
        """The task must be open."""
        if answer.goal is not None and all(answer.goal != goal.id for goal in self.goals):
            return f"there is no open task '{answer.goal}'; open are: {', '.join(goal.id for goal in self.goals)}"
        return None

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The open tasks, or none of them."""
        return [*(goal.id for goal in self.goals), None] if field == "goal" else ()

    def perturb(self, answer: Named, rng: np.random.Generator) -> Named:
        """Name another task."""
        others = [goal.id for goal in self.goals if goal.id != answer.goal]
        goal = others[int(rng.integers(len(others)))] if others else answer.goal
        return answer.model_copy(update={"goal": goal})


def _named(lines: Sequence[Line]) -> dict[AgentId, GoalId]:
    """Return who named which goal in some lines; the last word counts."""
    return {line.sender: line.goal for line in lines if line.goal is not None}


@dataclass(frozen=True)
class Propose(Negotiation[Proposal]):
    """Stage one: which task should I take, and why?"""

    kind = "drwell.propose"
    template = "drwell/prompts/propose.md.j2"
    answer = Proposal
    sampling = _TALK

    def rule(self, rng: np.random.Generator) -> Proposal:
        """Propose what is worth most and nobody has spoken for enough."""
        staffed = Counter(self.working.values()) + Counter(_named(self.record.proposals).values())
        hands = max(1, len(self.record.members) - len(self.record.proposals))
        goal = preferred(self.goals, self.worth, staffed, hands)
        return Proposal(goal=goal.id, reason=self.describe_choice(goal))

    def fallback(self) -> Proposal:
        """The first open task."""
        return Proposal(goal=self.goals[0].id, reason="No answer; the first open task stands in.")


@dataclass(frozen=True)
class CommitTo(Negotiation[Commitment]):
    """Stage two: having heard all proposals, which task do I bind myself to?"""

    kind = "drwell.commit"
    template = "drwell/prompts/commit.md.j2"
    answer = Commitment
    sampling = _TALK

    @property
    def bound_now(self) -> dict[GoalId | None, list[AgentId]]:
        """Who is bound to each task in this meeting, in the order in which they were named; under None who waits."""
        by_goal: dict[GoalId | None, list[AgentId]] = {}
        for line in self.record.commitments:
            by_goal.setdefault(line.goal, []).append(line.sender)
        return by_goal

    @property
    def bound(self) -> Counter[GoalId]:
        """How many agents are on each task, or committed to it in this meeting."""
        return Counter(self.working.values()) + Counter(_named(self.record.commitments).values())

    @property
    def lacking(self) -> list[Goal]:
        """Tasks that can get enough agents with this one and those who speak after it, and have room for it."""
        undecided = max(0, len(self.record.members) - len(self.record.commitments) - 1)
        bound = self.bound
        return [goal for goal in self.goals if goal.quorum - 1 - undecided <= bound[goal.id] < goal.capacity]

    def rule(self, rng: np.random.Generator) -> Commitment:
        """Commit to what is worth most among the tasks that can still reach their quorum, else wait."""
        bound, worth = self.bound, self.worth
        lacking = [goal for goal in self.lacking if worth[goal.id]]
        if not lacking:
            return Commitment(goal=None)
        spoken = {line.sender for line in self.record.commitments} | {self.respondent}
        proposed = _named(self.record.proposals)
        backed = bound + Counter(goal for agent, goal in proposed.items() if agent not in spoken)
        begun = [goal for goal in lacking if 0 < bound[goal.id] < goal.quorum]
        mine = proposed.get(self.respondent)
        joined = [goal for goal in lacking if goal.id == mine and backed[goal.id] + 1 >= goal.quorum]
        hands = max(1, len(self.record.members) - len(self.record.commitments))
        return Commitment(goal=preferred(begun or joined or lacking, worth, bound, hands).id)

    def fallback(self) -> Commitment:
        """The agent's own proposal (the first open task where it has none)."""
        return Commitment(goal=_named(self.record.proposals).get(self.respondent, self.goals[0].id))


@dataclass(frozen=True)
class Leaning(Negotiation[Named]):
    """What agents are told who choose without rounds: what was said freely, if anything."""

    def preference(self) -> Goal | None:
        """Return the goal to take if the others do what they lean to; None where nothing is left to do.

        The agent stays with the goal it leans to while that can be done and has room. Else it helps
        what others lean to and cannot do without it, or takes what is worth most.
        Agents that have not spoken may still help; without a chat, all that are bound to nothing.
        """
        leans = {line.sender: line.goal for line in self.record.chat}  # the last word counts
        mine = leans.pop(self.respondent, None)
        silent = sum(member not in leans for member in self.record.members if member != self.respondent)
        unbound = sum(teammate.commitment is None and not teammate.doing for teammate in self.me.team)
        hands = silent if self.record.members else unbound
        staffed = Counter(self.working.values()) + Counter(goal for goal in leans.values() if goal is not None)
        possible = [goal for goal in self.goals if staffed[goal.id] + 1 + hands >= goal.quorum]
        lacking = [goal for goal in possible if staffed[goal.id] < goal.capacity and self.worth[goal.id]]
        if not lacking:
            return None
        kept = [goal for goal in lacking if goal.id == mine]
        begun = [goal for goal in lacking if 0 < staffed[goal.id] < goal.quorum]
        return preferred(kept or begun or lacking, self.worth, staffed, hands + 1)


@dataclass(frozen=True)
class Chat(Leaning[Remark]):
    """A turn in a free chat: what do I say, and which task do I lean to?"""

    turn: int
    """From 1."""
    turns: int
    """Turns that each agent has."""

    kind = "drwell.chat"
    template = "drwell/prompts/chat.md.j2"
    answer = Remark
    sampling = _TALK

    def rule(self, rng: np.random.Generator) -> Remark:
        """Say which task one would take now, and what is known of it."""
        goal = self.preference()
        if goal is None:
            return Remark(text="Everything that can be done now is spoken for; I would wait.")
        return Remark(text=f"I would take {goal.id}. {self.describe_choice(goal)}", goal=goal.id)

    def fallback(self) -> Remark:
        """Nothing is said."""
        return Remark(text="")


@dataclass(frozen=True)
class Choose(Leaning[Commitment]):
    """Which task do I take, not knowing what others choose at the same time?"""

    kind = "drwell.choose"
    template = "drwell/prompts/choose.md.j2"
    answer = Commitment
    sampling = _TALK

    def rule(self, rng: np.random.Generator) -> Commitment:
        """Take what is worth most, else wait."""
        goal = self.preference()
        return Commitment(goal=None if goal is None else goal.id)

    def fallback(self) -> Commitment:
        """The task it leant to last (the first open task where to none)."""
        mine = [line.goal for line in self.record.chat if line.sender == self.respondent]
        return Commitment(goal=(mine[-1] if mine else None) or self.goals[0].id)


@dataclass(frozen=True)
class Planning(AgentQuestion[Planned]):
    """Asks for a plan for the task that the agent is bound to."""

    task: GoalId
    reads_library: bool
    page: Page
    """The library's plans, grounded on the goal as it stands now; an empty one where it is not read."""
    notes: tuple[str, ...] | None
    """What agents told the team, oldest first; None where no notes are kept."""

    departures = MappingProxyType(
        {
            "options": "the agent plans several actions ahead, not one (DR. WELL, planning)",
            "tasks": "the task that the agent is bound to is shown, with its library (DR. WELL, planning)",
        }
    )

    @property
    def longest(self) -> int:
        """Actions that a plan has at most."""
        return LONGEST

    @property
    def unbound(self) -> list[GoalId]:
        """Other open tasks that it can work on and that nobody is bound to."""
        bound = {self.task} | {teammate.commitment for teammate in self.me.team}
        return [goal.id for goal in workable_goals(self.view) if goal.id not in bound]

    @property
    def goal(self) -> Goal:
        """The task, as the agent knows it."""
        return next(goal for goal in self.view.goals if goal.id == self.task)

    def context(self) -> dict[str, Any]:
        """As all; with the words for records, as templates call no functions of their own."""
        words = {
            "percent": percent,
            "describe_record": describe_record,
            "describe_causes": describe_causes,
            "mean_steps": mean_steps,
        }
        return super().context() | words

    def check(self, answer: Planned) -> str | None:
        """The plan must pass the validation that every method shares; a task is handed back with a reason."""
        if not answer.actions:
            return None if meant(answer.reason) else "there is no plan: write one, or say why you hand the task back"
        return plan_error(answer.actions, self.view, self.domain)

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The plans of the library, and those that make sense now, each once."""
        if field != "actions":
            return ()
        known = [*(entry.actions for entry in self.page.entries), *candidate_texts(self.goal, self.view, self.domain)]
        return list(dict.fromkeys(known))

    def perturb(self, answer: Planned, rng: np.random.Generator) -> Planned:
        """Lose or swap a step, or get an argument wrong."""
        if not answer.actions:
            return answer
        return answer.model_copy(update={"actions": perturb_plan(answer.actions, self.view.abilities, rng)})

    def ranked(self, *others: tuple[str, ...]) -> list[RankedPlan]:
        """Return the plans that make sense, best first by estimate and record."""
        return rank_plans(self.goal, self.view, self.domain, self.page, others)

    def best_answer(self, best: RankedPlan) -> dict[str, Any]:
        """Return the fields of an answer with a plan, or that hands the task back if it would do nothing."""
        if best.reason:
            return {"actions": (), "reason": f"I cannot do it now: {best.reason}"[:600]}
        if best.waits:
            return {"actions": (), "reason": "There is nothing that I can do for it now."}
        return {"actions": best.actions}


@dataclass(frozen=True)
class Draft(Planning[TaskPlan]):
    """A first plan for the committed task."""

    draws: bool = False
    """Whether any plan that makes sense will do for a draft."""

    kind = "drwell.draft"
    template = "drwell/prompts/draft.md.j2"
    answer = TaskPlan
    sampling = _PLAN

    def rule(self, rng: np.random.Generator) -> TaskPlan:
        """Take the plan that does most of the work a step by estimate and record, or draw one."""
        if self.draws:
            candidates = candidate_texts(self.goal, self.view, self.domain)
            return TaskPlan(actions=candidates[int(rng.integers(len(candidates)))])
        return TaskPlan(**self.best_answer(self.ranked()[0]))

    def fallback(self) -> TaskPlan:
        """No plan: the agent keeps out of the way."""
        return TaskPlan(actions=())


@dataclass(frozen=True)
class Revise(Planning[TaskPlan]):
    """The draft again, beside what the library holds."""

    draft: tuple[str, ...]
    """In written form; empty where no sound one came."""
    explores: bool = False
    """Whether a draft that was never tried stands."""

    kind = "drwell.revise"
    template = "drwell/prompts/revise.md.j2"
    answer: ClassVar[type[BaseModel]] = TaskPlan
    sampling = _PLAN

    def rule(self, rng: np.random.Generator) -> TaskPlan:
        """Take the plan that does most of the work a step by estimate and record, the draft among them."""
        if self.explores and self.draft and self.page.find(self.draft) is None:
            return self._answer(actions=self.draft)
        return self._answer(**self.best_answer(self.ranked(*((self.draft,) if self.draft else ()))[0]))

    def _answer(self, **fields: Any) -> TaskPlan:
        answer = self.answer.model_validate(fields)
        assert isinstance(answer, TaskPlan)
        return answer

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The draft first."""
        plans = super().offers(field, answered)
        return list(dict.fromkeys([self.draft, *plans])) if field == "actions" and self.draft else plans

    def fallback(self) -> TaskPlan:
        """The draft, which may be no plan."""
        return self._answer(actions=self.draft)


@dataclass(frozen=True)
class Reflect(Revise):
    """The revision, with a note for the team."""

    kind = "drwell.reflect"
    answer = Revision
