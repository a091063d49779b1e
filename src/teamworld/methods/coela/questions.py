"""What COELA asks its agents: a message to propose, and an action, sending the message being one.

``Tell``, ``Think`` and ``PickPlan`` are the questions of the original form, with lettered plans.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, Field

from teamworld.language import Action, ActionSchema, AgentId, Entity, Fact, GoalId, ParseError, parse_fact
from teamworld.language.rules import Schema
from teamworld.methods.coela.lettered_plans import KEYWORD, SEND, letter, list_plans, plan_text, read_plan
from teamworld.methods.coela.message_value import value_message
from teamworld.methods.coela.options import CoelaOptions
from teamworld.methods.coela.progress_report import report_progress
from teamworld.methods.coela.rules import choose_step, find_news, nearest_plan
from teamworld.methods.coela.situation import Situation
from teamworld.methods.common.plan_answers import parameter_values
from teamworld.methods.contract import StrictModel
from teamworld.planning.action_parser import action_text, read_action
from teamworld.planning.candidates import CandidateStep, complete_action
from teamworld.reasoning.contract import Question, Sampling
from teamworld.worlds.contract import WAIT

#: How the original was sampled in C-WAH, with the length of its later rerun.
CWAH = Sampling(temperature=0.7, max_tokens=512, top_p=1.0)

_KEYWORD = re.compile(r"(?:option\s*)?(?:#?\d{1,4}\s*[.):\-]\s*)?[^\w]*send[_ ]message(?![a-z])", re.IGNORECASE)
_INSIDE = re.compile(r"(?<![a-z])send[_ ]message(?![a-z])", re.IGNORECASE)

ModuleAnswer = TypeVar("ModuleAnswer", bound=BaseModel)


class Proposal(StrictModel):
    """A message to the group, which may be sent or not."""

    reasoning: str = Field(default="", description="why the others need it, in a sentence or two", max_length=1000)
    message: str = Field(description="the message, or nothing if there is nothing to tell", max_length=1000)
    goal: GoalId | None = Field(default=None, description="id of the task that you say you take, or null")
    facts: tuple[str, ...] = Field(
        default=(), description="what you tell of things, each in written form such as <item>(2) AT (3, 4)"
    )


class Decided(StrictModel):
    """The next action in words, or the keyword."""

    reasoning: str = Field(default="", description="why, in a sentence or two", max_length=1000)
    action: str = Field(description=f"{KEYWORD}, the number of an option, or an action in written form")
    goal: GoalId | None = Field(default=None, description="id of the task that the action is for, or null")


@dataclass(frozen=True)
class CoelaQuestion(Question[ModuleAnswer]):
    """What both modules of an agent read."""

    situation: Situation
    options: CoelaOptions
    perception: str | None
    """What the agent perceives in the words of its reasoner; None: in those of the world."""

    def context(self) -> dict[str, Any]:
        """The team and its task, what the agent perceives, what was said, what it did; what the options add."""
        situation, options = self.situation, self.options
        kinds = dict.fromkeys(situation.team.values())
        report = report_progress(situation) if options.report else None
        return {
            "agent": self.respondent,
            "kind": self.view.kind,
            "team": {
                kind: [teammate for teammate in situation.team if situation.team[teammate] == kind] for kind in kinds
            },
            "task": situation.task,
            "scene": self.view.text() if self.perception is None else None,
            "paragraph": self.perception,
            "steps_left": self.view.steps_left,
            "goals": situation.workable,
            "chat": situation.chat[-options.messages_shown :] if options.messages_shown else situation.chat,
            "opening": tuple(situation.team)[:2] if options.opening else (),
            "acts": situation.acts,
            "belief": remembered(situation) if options.belief_map else None,
            "mates": {teammate: last_seen(situation, teammate) for teammate in situation.teammates}
            if options.teammates
            else None,
            "progress": count_done(situation) if report is None and (options.progress or options.report) else None,
            "report": report,
        }


@dataclass(frozen=True)
class ProposeMessage(CoelaQuestion[Proposal]):
    """What could I tell the others?"""

    kind = "coela.message"
    template = "coela/prompts/message.md.j2"
    answer = Proposal
    sampling = Sampling(temperature=0.0, max_tokens=600)

    def rule(self, rng: np.random.Generator) -> Proposal:
        """What the others may not know and could use; nothing where there is no such thing."""
        goal, facts, text = find_news(self.situation, self.options.omit)
        return Proposal(message=text, goal=goal, facts=tuple(map(str, facts)))

    def check(self, answer: Proposal) -> str | None:
        """A task that is named must be one that the agent knows of."""
        if answer.goal is not None and answer.goal not in self.situation.goals:
            known = ", ".join(self.situation.goals) or "none"
            return f"there is no task '{answer.goal[:80]}'; there are: {known}; or null"
        return None

    def fallback(self) -> Proposal:
        """Nothing is proposed."""
        return Proposal(message="")

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The tasks, or none of them."""
        return [*self.situation.goals, None] if field == "goal" else ()


@dataclass(frozen=True)
class Tell(ProposeMessage):
    """The same in the original form."""

    kind = "coela.tell"
    template = "coela/prompts/tell.md.j2"
    sampling = CWAH


@dataclass(frozen=True)
class Choosing(CoelaQuestion[ModuleAnswer]):
    """What is common to thinking about what to do, and choosing."""

    proposal: Proposal | None
    """None where no message was proposed."""

    @property
    def message(self) -> str:
        """The proposed message; empty where there is none."""
        return self.proposal.message if self.proposal is not None else ""

    @property
    def abilities(self) -> list[ActionSchema]:
        """What the agent can do, as far as it is shown; talking is not an action of its own here."""
        hidden = {*self.options.omit, "talk"}
        return [schema for schema in self.view.abilities if schema.verb not in hidden]

    @property
    def numbered(self) -> tuple[Action, ...]:
        """What numbers or letters stand for: the message first, if there is one, then what can start now."""
        return self._possible if self.options.listed != "abilities" else self._possible[: bool(self.message)]

    @property
    def _possible(self) -> tuple[Action, ...]:
        if self.options.listed == "plans":
            return list_plans(self.situation, self.options, bool(self.message))
        send = (SEND,) if self.message else ()
        actions = dict.fromkeys(option.action for option in self.situation.options)
        return (*send, *(action for action in actions if action.verb not in self.options.omit))

    @property
    def best(self) -> CandidateStep:
        """What the rules would do next: send the message if it saves the team more than it costs."""
        if self.proposal is not None and self.message:
            facts = read_facts(self.proposal, self.situation)
            if value_message(self.situation, self.proposal.goal, facts).pays:
                return CandidateStep(SEND, self.proposal.goal)
        return choose_step(self.situation, self.options.omit)

    def context(self) -> dict[str, Any]:
        """With the proposed message, the numbered options, and what the agent can do."""
        plans = self.options.listed == "plans"
        verbs = {action.verb for action in self.numbered}
        return super().context() | {
            "message": self.message,
            "keyword": KEYWORD,
            "actions": [action for action in self.numbered if action != SEND],
            "lettered": [(letter(at), plan_text(plan)) for at, plan in enumerate(self.numbered)] if plans else None,
            "meanings": [schema for schema in self.abilities if schema.verb in verbs],
            "numbered": self.options.listed == "options",
            "abilities": self.abilities,
            "values": parameter_values(self.abilities),
        }


class Thought(StrictModel):
    """Reasoning before a choice."""

    reasoning: str = Field(description="step by step, what there is to do and which choice is best", max_length=3000)


@dataclass(frozen=True)
class Think(Choosing[Thought]):
    """What is best to do, and why?"""

    kind = "coela.think"
    template = "coela/prompts/think.md.j2"
    answer = Thought
    sampling = CWAH

    def rule(self, rng: np.random.Generator) -> Thought:
        """Say what the rules would do."""
        step = self.best
        return Thought(reasoning=f"{plan_text(step.action)}{f' for {step.goal}' if step.goal else ''} is best now.")

    def check(self, answer: Thought) -> str | None:
        """Anything may be thought."""
        return None

    def fallback(self) -> Thought:
        """Nothing was thought."""
        return Thought(reasoning="")


class Picked(StrictModel):
    """One of the plans, briefly."""

    plan: str = Field(description="the letter and the text of one plan", max_length=1000)


@dataclass(frozen=True)
class PickPlan(Choosing[Picked]):
    """Which of the plans do I take?"""

    thought: str | None = None
    """What the agent thought before; None where it was not asked to."""

    kind = "coela.plan"
    template = "coela/prompts/plan.md.j2"
    answer = Picked
    sampling = CWAH

    def context(self) -> dict[str, Any]:
        """With what the agent thought."""
        return super().context() | {"thought": self.thought}

    def rule(self, rng: np.random.Generator) -> Picked:
        """Take what the rules would do; where that is not in the list what comes next to it."""
        return Picked(plan=plan_text(nearest_plan(self.situation, self.best, self.numbered)))

    def read(self, answer: Picked) -> Action | None:
        """Return the plan of the answer, None where it names none."""
        return read_plan(answer.plan, self.numbered)

    def check(self, answer: Picked) -> str | None:
        """It names a plan, unless one is drawn then."""
        if self.options.unread == "draw" or self.read(answer) is not None:
            return None
        return f"no plan is named: answer with one of A to {letter(len(self.numbered) - 1)} and its text"

    def fallback(self) -> Picked:
        """No plan is named."""
        return Picked(plan="")

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The plans."""
        return [plan_text(plan) for plan in self.numbered] if field == "plan" else ()

    def perturb(self, answer: Picked, rng: np.random.Generator) -> Picked:
        """Choose another of the plans."""
        others = [text for text in self.offers("plan", {}) if text != answer.plan]
        return Picked(plan=others[int(rng.integers(len(others)))]) if others else answer


@dataclass(frozen=True)
class ChooseAction(Choosing[Decided]):
    """What do I do now: send the message, or act?"""

    thought: str | None = None
    """What the agent thought before; None where it was not asked to."""

    kind = "coela.action"
    template = "coela/prompts/action.md.j2"
    answer = Decided
    sampling = Sampling(temperature=0.0, max_tokens=600)

    def context(self) -> dict[str, Any]:
        """With what the agent thought."""
        return super().context() | {"thought": self.thought}

    def rule(self, rng: np.random.Generator) -> Decided:
        """Send the message if it saves the team more time than it costs, else do the next thing."""
        step = self.best
        return Decided(action=plan_text(step.action), goal=step.goal)

    def sends(self, answer: Decided) -> bool:
        """Return whether the answer is to send the message.

        It is where its words begin with the keyword, or hold it and no action that can be read.
        """
        words = action_text(answer.action)
        if _KEYWORD.match(words):
            return True
        action = self.read(answer)
        return action == SEND or (action is None and _INSIDE.search(words) is not None)

    def read(self, answer: Decided) -> Action | None:
        """Return the action of the answer as the parser reads it, None where it cannot."""
        return read_action(answer.action, self.view, self.situation.domain, self.numbered)

    def check(self, answer: Decided) -> str | None:
        """It says something, and what can be read can start now; what cannot be read is for translation."""
        if not action_text(answer.action):
            return f"no action is named: answer {KEYWORD}, the number of an option, or an action in written form"
        if self.sends(answer) or self.options.translate == "mind":
            return None
        action = self.read(answer)
        if action is None or action == WAIT:
            return None
        verdict = self.view.check(action)
        return None if verdict.ok else f"{action} cannot start: {verdict.reason}"

    def fallback(self) -> Decided:
        """Nothing is done."""
        return Decided(action=str(WAIT), reasoning="No answer.")

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The numbered options, or where only abilities are listed all that can start now; the tasks it may be for."""
        if field == "action":
            return [KEYWORD if action == SEND else str(action) for action in self._possible]
        return [*(goal.id for goal in self.situation.workable), None] if field == "goal" else ()

    def perturb(self, answer: Decided, rng: np.random.Generator) -> Decided:
        """Choose another of the options."""
        others = [text for text in self.offers("action", {}) if text != answer.action]
        return Decided(action=others[int(rng.integers(len(others)))]) if others else answer

    def goal_of(self, answer: Decided, action: Action) -> GoalId | None:
        """Return the open goal of the agent's own view that an action is for, as far as that can be told."""
        known = {goal.id for goal in self.view.goals if goal.state == "open"}
        return answer.goal if answer.goal in known else served(self.situation, action)


def served(situation: Situation, action: Action) -> GoalId | None:
    """Return the open goal of the agent's own view that one of its options serves; None where that cannot be told."""
    view, action = situation.view, complete_action(action, situation.view)
    goals = (option.goal for option in situation.options if complete_action(option.action, view) == action)
    first = next(goals, None)
    return first if any(goal.id == first and goal.state == "open" for goal in view.goals) else None


def read_facts(proposal: Proposal, situation: Situation) -> tuple[Fact, ...]:
    """Return the facts of a proposal that can be read and that the world's relations can state, each once."""
    schema, facts = Schema(situation.domain.relations), dict[Fact, None]()
    for text in proposal.facts:
        try:
            fact = parse_fact(text)
        except ParseError:
            continue
        if isinstance(fact.subject, Entity) and schema.statable(fact):
            facts[fact] = None
    return tuple(facts)


def remembered(situation: Situation) -> list[str]:
    """Return what the agent does not see now but has seen or was told, with the step: the belief map."""
    perceived, known = set(situation.view.facts), situation.known
    facts = (fact for fact in known if fact not in perceived and fact.subject not in situation.team)
    return [f"{fact} (t = {known.seen[fact]})" if fact in known.seen else str(fact) for fact in facts]


def last_seen(situation: Situation, teammate: AgentId) -> str:
    """Return the last known state of a teammate, and what it said that it does."""
    known = situation.known
    facts = [
        f"{fact.predicate} {fact.value}{f' (t = {known.seen[fact]})' if fact in known.seen else ''}"
        for fact in known
        if fact.subject == teammate
    ]
    intent = [f"takes {situation.intents[teammate]}"] if teammate in situation.intents else []
    return ", ".join([*facts, *intent]) or "nothing known"


def count_done(situation: Situation) -> str:
    """Return one sentence on how far the team is, as far as the agent knows."""
    states = [goal.state for goal in situation.goals.values()]
    lost = f", {states.count('lost')} are lost" if "lost" in states else ""
    left = f"{situation.view.steps_left} steps left"
    return f"Of {len(states)} tasks that you know of {states.count('done')} are done{lost}; {left}."
