"""What is asked in CaPo: a meta-plan and a message of the designer, opinions of the evaluators, the next actions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from pydantic import BaseModel, Field, field_validator

from teamworld.language import AgentId, GoalId, plain
from teamworld.methods.capo.division import divide_work
from teamworld.methods.capo.following import choose_beside, follow_plan
from teamworld.methods.capo.judging import find_objection
from teamworld.methods.capo.meta_plan import (
    MetaPlan,
    PlanAnswer,
    PlanItem,
    by_step,
    change_plan,
    describe_item,
    read_plan,
    refuse_plan,
    tidy_plan,
    write_plan,
)
from teamworld.methods.capo.progress import find_untold
from teamworld.methods.common.answers import Reasoned, meant
from teamworld.methods.common.dialogue_knowledge import DialogueKnowledge
from teamworld.methods.common.knowledge import AgentQuestion, Line
from teamworld.methods.common.progress_report import count_done
from teamworld.methods.common.single_action import Act, action_error, perturb_action
from teamworld.reasoning.contract import Sampling

Asked = TypeVar("Asked", bound=BaseModel)

#: Longest message in characters.
LONGEST = 1000
#: What an evaluator says who agrees and has nothing else to say.
AGREED = "Satisfied: yes."
#: As CoBel-World's authors sampled CaPo, with room for an answer that holds reasoning and a whole meta-plan.
_PLAN = Sampling(temperature=0.7, max_tokens=2000, top_p=1.0)
#: As they sampled it.
_WORDS = Sampling(temperature=0.7, max_tokens=512, top_p=1.0)
_YES, _NO = re.compile(r"\W*(yes|true|satisfied)\b", re.IGNORECASE), re.compile(r"\W*(no|false|not)\b", re.IGNORECASE)
#: Why a message is written without what single actions mean.
_WORDED = "a message presents the meta-plan and asks for opinions; it chooses no action (CaPo, designer's message)"


class Remark(Reasoned):
    """What the designer says of its meta-plan."""

    message: str = Field(description="what you say to all, or nothing", max_length=LONGEST)


class Opinion(Reasoned):
    """What an evaluator thinks of the meta-plan."""

    message: str = Field(
        default="", description="your opinion and suggestions, in a sentence or two; may be empty", max_length=LONGEST
    )
    changes: tuple[PlanItem, ...] = Field(
        default=(), description="what you would put in the place of what agents have in a step; empty if nothing"
    )
    satisfied: str = Field(description='"yes" or "no"')

    @field_validator("satisfied", mode="before")
    @classmethod
    def _as_word(cls, value: object) -> object:
        """Read truth values as the words that they stand for."""
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def read_satisfaction(text: str, refusals: Literal["any", "exact"] = "any") -> bool | None:
    """Return whether a level of satisfaction is a yes; None where it can be read as neither.

    Args:
        text: As it was answered; its first word counts, in any case and punctuation.
        refusals: ``exact``: only "No" and "NO" are none, as CoBel-World's authors read it.
    """
    if refusals == "exact":
        return text.strip() not in ("No", "NO")
    if _NO.match(text) is not None:
        return False
    return True if _YES.match(text) is not None else None


@dataclass(frozen=True)
class CapoQuestion(AgentQuestion[Asked]):
    """What every question shows its agent."""

    me: DialogueKnowledge
    plan: MetaPlan
    """The meta-plan as the agent has it; empty where it has none."""
    by: AgentId | None
    """Who wrote it."""
    since: int
    """The step at which it came."""

    @property
    def steps(self) -> Mapping[int, Mapping[AgentId, Sequence[str]]]:
        """The meta-plan in words, by step and agent; empty where there is none."""
        return {
            step: {agent: [describe_item(item) for item in items] for agent, items in agents.items()}
            for step, agents in by_step(self.plan).items()
        }

    @property
    def done(self) -> str:
        """How far the team is, in a sentence."""
        return count_done(self.me)


class Agenda(NamedTuple):
    """What a discussion is about, and how far it is."""

    members: tuple[AgentId, ...]
    """Who discusses: the designer first, then the evaluators in the order in which they speak."""
    reasons: tuple[str, ...]
    """Why it is held, in words; empty for the one at the start."""
    round: int
    """From 1."""
    rounds: int
    """Rounds at most; 0 where nobody judges the meta-plan."""
    is_free: bool = False
    """Whether its messages take no steps."""
    resumes: bool = True
    """Whether everybody then goes on with what it was at."""
    delivers: bool = False
    """Whether whoever has its hands full delivers unasked."""


@dataclass(frozen=True)
class InDiscussion(CapoQuestion[Asked]):
    """What is asked in a discussion."""

    agenda: Agenda
    progress: tuple[Line, ...]
    """What the others told of their progress, each the last that reached the agent."""

    @property
    def members(self) -> tuple[AgentId, ...]:
        """Who discusses, the designer first."""
        return self.agenda.members

    @property
    def reports(self) -> Sequence[tuple[AgentId, int, str]]:
        """What the others told of their progress: who, at which step, and in which words; facts stand elsewhere."""
        return [(line.sender, line.step, line.text.partition(" Facts: ")[0]) for line in self.progress]

    @property
    def untold(self) -> Sequence[str]:
        """What the agent has seen and nobody told yet, in plain names."""
        return list(map(plain, find_untold(self.me)))

    @property
    def opinions(self) -> Sequence[Line]:
        """What the others said in this discussion, as far as it reached the agent."""
        return [line for line in self.me.said if line.step == self.me.step and line.sender != self.me.agent]


# ---- the designer


@dataclass(frozen=True)
class DesignPlan(InDiscussion[PlanAnswer]):
    """What is the meta-plan to begin with?"""

    kind = "capo.design"
    template = "capo/prompts/design.md.j2"
    answer = PlanAnswer
    sampling = _PLAN
    retries = 1

    def rule(self, rng: np.random.Generator) -> PlanAnswer:
        """Divide the work by what the designer knows; what evaluators proposed comes first."""
        proposed: MetaPlan = ()
        for line in self.opinions:
            proposed = change_plan(proposed, read_plan(line.text, self.members))
        return PlanAnswer(items=divide_work(self.me, self.members, self.plan, proposed))

    def check(self, answer: PlanAnswer) -> str | None:
        """It is for agents of the team and leaves none out."""
        return refuse_plan(answer.items, self.members)

    def salvage(self, answer: PlanAnswer) -> PlanAnswer | None:
        """What is for agents of the team."""
        items = tidy_plan(answer.items, self.members)
        return PlanAnswer(reasoning=answer.reasoning, items=items) if items else None

    def fallback(self) -> PlanAnswer:
        """The meta-plan stays what it was."""
        return PlanAnswer(items=self.plan)

    def perturb(self, answer: PlanAnswer, rng: np.random.Generator) -> PlanAnswer:
        """Forget an item, or give it to another agent."""
        if not answer.items:
            return answer
        items, at = list(answer.items), int(rng.integers(len(answer.items)))
        others = [agent for agent in self.members if agent != items[at].agent]
        if others and rng.random() < 0.5:
            items[at] = items[at].model_copy(update={"agent": others[int(rng.integers(len(others)))]})
        else:
            del items[at]
        return PlanAnswer(items=tuple(items))


@dataclass(frozen=True)
class RefinePlan(DesignPlan):
    """What is the meta-plan now, after new progress and what the others said?"""

    kind = "capo.refine"


@dataclass(frozen=True)
class PresentPlan(InDiscussion[Remark]):
    """What do I say of my meta-plan to the others?"""

    kind = "capo.present"
    template = "capo/prompts/present.md.j2"
    answer = Remark
    sampling = _WORDS
    departures = MappingProxyType(dict.fromkeys(("abilities", "options"), _WORDED))

    def rule(self, rng: np.random.Generator) -> Remark:
        """Ask the others what they think, and tell what nobody told yet."""
        others = ", ".join(self.members[1:])
        return Remark(message=_with_facts(f"{others}: does this plan fit what you know?", self.untold))

    def check(self, answer: Remark) -> str | None:
        """Anything can be said."""
        return None

    def fallback(self) -> Remark:
        """Nothing: the meta-plan speaks for itself."""
        return Remark(message="")


def _with_facts(words: str, facts: Sequence[str]) -> str:
    """Return words with facts in a form that all take into their memories, as far as there is room."""
    room = LONGEST - len(words) - len(" I know: .")
    kept: list[str] = []
    for fact in facts:
        room -= len(fact) + 2
        if room < 0:
            break
        kept.append(fact)
    return f"{words} I know: {'; '.join(kept)}." if kept else words


# ---- the evaluators


@dataclass(frozen=True)
class JudgePlan(InDiscussion[Opinion]):
    """What do I think of the meta-plan, and am I satisfied?"""

    refusals: Literal["any", "exact"] = "any"

    kind = "capo.judge"
    template = "capo/prompts/judge.md.j2"
    answer = Opinion
    sampling = _WORDS
    retries = 1

    def rule(self, rng: np.random.Generator) -> Opinion:
        """Object where another division is better by what the evaluator knows itself; tell what nobody told yet."""
        objection = find_objection(self.me, self.plan, self.members, self.since)
        if objection is None:
            return Opinion(message=_with_facts("I agree.", self.untold), satisfied="Yes")
        return Opinion(message=_with_facts(objection.reason, self.untold), changes=objection.changes, satisfied="No")

    def check(self, answer: Opinion) -> str | None:
        """The level of satisfaction can be read; changes are for agents of the team."""
        if self.is_satisfied(answer) is None:
            return f"'{answer.satisfied[:80]}' is no level of satisfaction: answer yes or no"
        unknown = next((item.agent for item in answer.changes if item.agent not in self.members), None)
        if unknown is not None:
            return f"there is no agent '{unknown[:80]}' in this team; there are: {', '.join(self.members)}"
        return None

    def is_satisfied(self, answer: Opinion) -> bool | None:
        """Return whether the evaluator is satisfied; None where that cannot be read."""
        return read_satisfaction(answer.satisfied, self.refusals)

    def text_of(self, answer: Opinion) -> str:
        """Return what the evaluator says: its message, how satisfied it is, and what it would change."""
        satisfied = "Satisfied: no." if self.is_satisfied(answer) is False else AGREED
        changes = write_plan(tidy_plan(answer.changes, self.members))
        return " ".join(filter(None, (meant(answer.message), satisfied, changes)))

    def salvage(self, answer: Opinion) -> Opinion:
        """The message, with the changes that are for agents of the team; what cannot be read is a yes."""
        satisfied = "yes" if self.is_satisfied(answer) is None else answer.satisfied
        return answer.model_copy(update={"satisfied": satisfied, "changes": tidy_plan(answer.changes, self.members)})

    def fallback(self) -> Opinion:
        """It agrees, and says nothing else."""
        return Opinion(satisfied="yes")

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """Yes or no."""
        return ("yes", "no") if field == "satisfied" else ()

    def perturb(self, answer: Opinion, rng: np.random.Generator) -> Opinion:
        """Object to what is sound, or agree to what is not."""
        if self.is_satisfied(answer) is False:
            return Opinion(message="I agree.", satisfied="Yes")
        return Opinion(message="I would rather do something else.", satisfied="No")


# ---- acting


@dataclass(frozen=True)
class ParsePlan(CapoQuestion[Act]):
    """What do I do next by the meta-plan?"""

    delivers: bool = False
    """Whether whoever has its hands full delivers unasked."""

    kind = "capo.act"
    template = "capo/prompts/act.md.j2"
    answer = Act
    sampling = _WORDS

    def rule(self, rng: np.random.Generator) -> Act:
        """Follow the first step of the meta-plan with something to do for the agent, else choose beside it."""
        step = follow_plan(self.me, self.plan, self.since) or choose_beside(self.me, self.plan)
        return Act(action=plain(step.action), goal=step.goal)

    def check(self, answer: Act) -> str | None:
        """The action can start, or is the one that runs."""
        return action_error(answer.action, self.me)

    def fallback(self) -> Act:
        """Nothing for a step."""
        return Act(action="")

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The options, and the tasks that one may be for."""
        if field == "action":
            return [str(option.action) for option in self.me.options]
        goals: list[GoalId | None] = [goal.id for goal in self.me.goals]
        return [*goals, None] if field == "goal" else ()

    def perturb(self, answer: Act, rng: np.random.Generator) -> Act:
        """Take another option."""
        return perturb_action(answer, answer.action, self.view, rng)
