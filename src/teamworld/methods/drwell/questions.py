"""What DR. WELL asks its reasoners: proposal, commitment, draft and revision; in variants, a chat and a choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from pydantic import Field

from teamworld.language import AgentId, GoalId
from teamworld.memory.contract import GuideEntry, Library
from teamworld.methods.common.plan_answers import (
    PlanAnswer,
    action_texts,
    candidate_texts,
    parameter_values,
    perturb_plan,
    plan_error,
)
from teamworld.methods.contract import Message, StrictModel
from teamworld.methods.drwell.library import Page
from teamworld.methods.drwell.negotiation_rules import preferred
from teamworld.planning.goals import workable_goals
from teamworld.reasoning.contract import Question, Sampling
from teamworld.worlds.contract import Domain, Goal

_TALK = Sampling(temperature=0.7, max_tokens=300)
_PLAN = Sampling(temperature=0.7, max_tokens=900)


class Proposal(StrictModel):
    """The task an agent thinks it should work on, and why."""

    goal: GoalId = Field(description="id of the task")
    reason: str = Field(description="one or two sentences", max_length=600)


class Commitment(StrictModel):
    """The task an agent binds itself to; null to keep out of the way and wait."""

    goal: GoalId | None = Field(description="id of the task, or null to wait")
    reason: str = Field(default="", description="one sentence", max_length=600)


class Remark(StrictModel):
    """What an agent says in a free chat, and the task it leans to, if to one."""

    text: str = Field(description="a few sentences", max_length=600)
    goal: GoalId | None = Field(default=None, description="id of the task you lean to, or null")


class Revision(PlanAnswer):
    """The revised plan and what is worth remembering for later."""

    reflection: str = Field(default="", description="a short general rule learned, or nothing", max_length=400)


Named = TypeVar("Named", Proposal, Commitment, Remark)
Planned = TypeVar("Planned", bound=PlanAnswer)


@dataclass(frozen=True)
class NegotiationRecord:
    """What an agent reads that names a task, beside its view."""

    members: tuple[AgentId, ...]
    """Who is in the meeting, in speaking order; nobody where there is none."""
    team: int
    """Agents in the team, in the meeting or not."""
    working: Mapping[AgentId, GoalId]
    """What agents outside the meeting are committed to."""
    guide: Mapping[GoalId, GuideEntry]
    """The guidebook, by open goal; untested entries where it is not read."""
    guided: bool
    """Whether the guidebook is read, and may be shown."""
    best: GoalId | None
    """The task that went best so far, if it is open."""
    heard: tuple[Message, ...]
    """What was said in the meeting so far."""


@dataclass(frozen=True)
class Negotiation(Question[Named]):
    """Asks for a task."""

    record: NegotiationRecord

    @property
    def goals(self) -> list[Goal]:
        """Open tasks that the agent can work on now."""
        return workable_goals(self.view)

    def said(self, act: str) -> dict[AgentId, GoalId]:
        """Return who named which goal in messages of one act."""
        return {message.sender: message.goal for message in self.record.heard if message.act == act and message.goal}

    def context(self) -> dict[str, Any]:
        """The scene, the open tasks with the guidebook, and what was said in the room."""
        return {
            "agent": self.respondent,
            "members": self.record.members,
            "scene": self.view.text(),
            "steps_left": self.view.steps_left,
            "goals": self.goals,
            "guide": self.record.guide if self.record.guided else None,
            "best": self.record.best,
            "working": self.record.working,
            "proposals": [message for message in self.record.heard if message.act == "propose"],
            "commitments": [message for message in self.record.heard if message.act in {"commit", "other"}],
        }

    def describe_record(self, goal: Goal) -> str:
        """Return what the guidebook says about a task, in words; nothing where it is not read."""
        entry = self.record.guide[goal.id]
        if not self.record.guided:
            return ""
        return f"{entry.successes} of {entry.attempts} attempts went well" if entry.attempts else "untested so far"

    def check(self, answer: Named) -> str | None:
        """The task must be open."""
        if answer.goal is not None and all(answer.goal != goal.id for goal in self.goals):
            return f"there is no open task '{answer.goal}'; open are: {', '.join(goal.id for goal in self.goals)}"
        return None

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The open tasks; none of them where that is an answer."""
        if field != "goal":
            return ()
        ids: list[GoalId | None] = [goal.id for goal in self.goals]
        return ids if self.answer is Proposal else [*ids, None]

    def perturb(self, answer: Named, rng: np.random.Generator) -> Named:
        """Name another task."""
        others = [goal.id for goal in self.goals if goal.id != answer.goal]
        goal = others[int(rng.integers(len(others)))] if others else answer.goal
        return answer.model_copy(update={"goal": goal})


@dataclass(frozen=True)
class Propose(Negotiation[Proposal]):
    """Stage one: which task should I take, and why?"""

    kind = "drwell.propose"
    template = "drwell/prompts/propose.md.j2"
    answer = Proposal
    sampling = _TALK

    def rule(self, rng: np.random.Generator) -> Proposal:
        """Propose what the guidebook speaks for and nobody has spoken for enough."""
        staffed = Counter(self.record.working.values()) + Counter(self.said("propose").values())
        goal = preferred(self.goals, self.record.guide, staffed, self.record.team, self.view.t, rng)
        history = self.describe_record(goal)
        return Proposal(goal=goal.id, reason=f"It takes {goal.quorum} at once{history and f'; {history}'}.")

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

    def rule(self, rng: np.random.Generator) -> Commitment:
        """Commit to the preferred task among those that can still reach their quorum, else wait."""
        decided = self.said("commit")
        spoken = {message.sender for message in self.record.heard if message.act in {"commit", "other"}}
        open_votes = {
            agent: goal
            for agent, goal in self.said("propose").items()
            if agent not in spoken and agent != self.respondent
        }
        bound = Counter(self.record.working.values()) + Counter(decided.values())
        undecided = len(self.record.members) - len(spoken) - 1  # those who speak after me
        possible = [goal for goal in self.goals if bound[goal.id] + 1 + undecided >= goal.quorum]
        lacking = [goal for goal in possible if bound[goal.id] < goal.capacity]
        if not lacking:
            return Commitment(goal=None, reason="Everything that can be done now is staffed.")
        backed = bound + Counter(open_votes.values())
        begun = [goal for goal in lacking if 0 < bound[goal.id] < goal.quorum]
        mine = self.said("propose").get(self.respondent)
        joined = [goal for goal in lacking if goal.id == mine and backed[goal.id] + 1 >= goal.quorum]
        goal = preferred(begun or joined or lacking, self.record.guide, bound, self.record.team, self.view.t, rng)
        return Commitment(goal=goal.id, reason=f"With me it has {bound[goal.id] + 1} of {goal.quorum}.")

    def fallback(self) -> Commitment:
        """The agent's own proposal (the first open task where it has none)."""
        return Commitment(goal=self.said("propose").get(self.respondent, self.goals[0].id), reason="No answer.")


@dataclass(frozen=True)
class Leaning(Negotiation[Named]):
    """What agents are told who choose without rounds: what was said freely, if anything."""

    def context(self) -> dict[str, Any]:
        """As in the rounds, with the chat."""
        return super().context() | {"chat": self.record.heard}

    def preference(self, rng: np.random.Generator) -> Goal | None:
        """Return the goal to take if the others do what they lean to; None where nothing is left to do.

        The agent stays with the goal it leans to while that can be done and has room. Else it helps
        what others lean to and cannot do without it, or takes what the guidebook speaks for most.
        Agents that have not spoken may still help; without a chat, all that are bound to nothing.
        """
        leans = {message.sender: message.goal for message in self.record.heard}  # the last word counts
        mine = leans.pop(self.respondent, None)
        silent = sum(member not in leans for member in self.record.members if member != self.respondent)
        hands = silent if self.record.members else self.record.team - len(self.record.working) - 1
        staffed = Counter(self.record.working.values()) + Counter(goal for goal in leans.values() if goal is not None)
        possible = [goal for goal in self.goals if staffed[goal.id] + 1 + hands >= goal.quorum]
        lacking = [goal for goal in possible if staffed[goal.id] < goal.capacity]
        if not lacking:
            return None
        kept = [goal for goal in lacking if goal.id == mine]
        begun = [goal for goal in lacking if 0 < staffed[goal.id] < goal.quorum]
        return preferred(kept or begun or lacking, self.record.guide, staffed, self.record.team, self.view.t, rng)


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

    def context(self) -> dict[str, Any]:
        """With the number of the turn."""
        return super().context() | {"turn": self.turn, "turns": self.turns}

    def rule(self, rng: np.random.Generator) -> Remark:
        """Say which task one would take now, and what is known of it."""
        goal = self.preference(rng)
        if goal is None:
            return Remark(text="Everything that can be done now is spoken for; I would wait.")
        history = self.describe_record(goal)
        return Remark(
            text=f"I would take {goal.id}; it takes {goal.quorum} at once{history and f'; {history}'}.", goal=goal.id
        )

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
        """Take the preferred task, else wait."""
        goal = self.preference(rng)
        if goal is None:
            return Commitment(goal=None, reason="Everything that can be done now is staffed.")
        return Commitment(goal=goal.id, reason=f"It takes {goal.quorum} at once.")

    def fallback(self) -> Commitment:
        """The task it leant to last (the first open task where to none)."""
        mine = [message.goal for message in self.record.heard if message.sender == self.respondent]
        return Commitment(goal=(mine[-1] if mine else None) or self.goals[0].id, reason="No answer.")


@dataclass(frozen=True)
class Planning(Question[Planned]):
    """What both planning questions are told."""

    domain: Domain
    goal: Goal
    commitments: Mapping[AgentId, GoalId]
    """Who is committed to what, this agent included."""

    def context(self) -> dict[str, Any]:
        """The scene, the task and who else is on it, and what the agent can do."""
        return {
            "agent": self.respondent,
            "scene": self.view.text(),
            "steps_left": self.view.steps_left,
            "goal": self.goal,
            "partners": [
                agent for agent, goal in self.commitments.items() if goal == self.goal.id and agent != self.respondent
            ],
            "commitments": self.commitments,
            "abilities": self.view.abilities,
            "values": parameter_values(self.view.abilities),
        }

    def check(self, answer: Planned) -> str | None:
        """The plan must pass the validation that every method shares."""
        return plan_error(answer.actions, self.view, self.domain)

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The plans that make sense now."""
        return candidate_texts(self.goal, self.view, self.domain) if field == "actions" else ()

    def perturb(self, answer: Planned, rng: np.random.Generator) -> Planned:
        """Lose or swap a step, or get an argument wrong."""
        return answer.model_copy(update={"actions": perturb_plan(answer.actions, self.view.abilities, rng)})


@dataclass(frozen=True)
class Draft(Planning[PlanAnswer]):
    """A first plan for the committed task, without the library."""

    kind = "drwell.draft"
    template = "drwell/prompts/draft.md.j2"
    answer = PlanAnswer
    sampling = _PLAN

    def rule(self, rng: np.random.Generator) -> PlanAnswer:
        """Draw one of the plans that make sense; which one is good has to be learned."""
        candidates = self.domain.candidate_plans(self.goal, self.respondent, self.view.known)
        return PlanAnswer(actions=action_texts(candidates[int(rng.integers(len(candidates)))]))

    def fallback(self) -> PlanAnswer:
        """No plan: the agent keeps out of the way."""
        return PlanAnswer(actions=())


@dataclass(frozen=True)
class Revise(Planning[Revision]):
    """The draft again, with what the plan library knows."""

    draft: tuple[str, ...]
    """In written form; empty where no sound one came."""
    library: Library | None
    """None where it is not read."""
    page: Page
    """The library's plans, grounded on the goal as it stands now; an empty one where it is not read."""
    notes: tuple[str, ...] | None
    """What agents told the team, oldest first; None where no notes are kept."""

    kind = "drwell.revise"
    template = "drwell/prompts/revise.md.j2"
    answer = Revision
    sampling = _PLAN

    def context(self) -> dict[str, Any]:
        """As for the draft, with the draft, the library and the notes."""
        extra = {"draft": self.draft, "library": self.library, "page": self.page, "notes": self.notes}
        return super().context() | extra

    def rule(self, rng: np.random.Generator) -> Revision:
        """Keep the draft while it is worth a try, else take the library's best plan."""
        return Revision(actions=self.page.choose(self.draft, candidate_texts(self.goal, self.view, self.domain), rng))

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The draft, the plans of the library, and those that make sense now, each once."""
        if field != "actions":
            return ()
        known = [self.draft, *(entry.actions for entry in self.page.entries), *super().offers(field, answered)]
        return [actions for actions in dict.fromkeys(known) if actions]

    def fallback(self) -> Revision:
        """The draft, which may be no plan."""
        return Revision(actions=self.draft)
