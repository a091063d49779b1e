"""What COELA asks its agents: a message to propose, and an action, sending the message being one.

``Tell``, ``Think`` and ``PickPlan`` are the questions of the original form, with lettered plans.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, Field

from teamworld.errors import UserError
from teamworld.language import Action, ActionSchema, AgentId, Entity, Fact, GoalId, ParseError, plain, plain_names
from teamworld.methods.coela.lettered_plans import KEYWORD, SEND, letter, list_plans, plan_text, read_plan
from teamworld.methods.coela.message_value import value_message
from teamworld.methods.coela.options import CoelaOptions
from teamworld.methods.coela.rules import find_news, nearest_plan
from teamworld.methods.coela.situation import Situation
from teamworld.methods.common.answers import Reasoned, meant
from teamworld.methods.common.knowledge import AgentQuestion
from teamworld.methods.common.own_step import choose_step
from teamworld.methods.common.progress_report import count_done, report_progress
from teamworld.methods.common.told_facts import example_fact, list_predicates, read_fact, read_told
from teamworld.methods.contract import Message
from teamworld.planning.action_parser import action_text, read_action, read_written
from teamworld.planning.candidates import CandidateStep, complete_action
from teamworld.reasoning.contract import Sampling
from teamworld.reasoning.prompts import plural
from teamworld.worlds.contract import WAIT, Domain, Option

#: How the original was sampled in C-WAH, with the length of its later rerun.
CWAH = Sampling(temperature=0.7, max_tokens=512, top_p=1.0)

_KEYWORD = re.compile(r"(?:option\s*)?(?:#?\d{1,4}\s*[.):\-]\s*)?[^\w]*send[_ ]message(?![a-z])", re.IGNORECASE)
#: An action in written form: its verb and what stands in its brackets.
_WRITTEN = re.compile(r"(\w+)\s*\((.*)\)")
_NAME = re.compile(r"\w+")
_INSIDE = re.compile(r"(?<![a-z])send[_ ]message(?![a-z])", re.IGNORECASE)

ModuleAnswer = TypeVar("ModuleAnswer", bound=BaseModel)


#: Facts that others lack which a prompt lists, the first.
SHOWN = 8
#: Why messages are written without what the agent can do; what is listed is for the steps it takes.
_MODULE = (
    "a message is written by task, team, perception, dialogue and past actions (CREW-Wildfire, generate_communication)"
)
#: Why the list of options is the method's own.
_LIST = "the list begins with the message, which is one of the choices (CoELA, planning module)"
#: Why what the verbs of the listed plans mean stands in place of all abilities.
_LETTERED = "an agent takes one of the listed plans and writes no action of its own (CoELA, planning module)"
#: Why nothing comes after the reasoning.
_THOUGHT = "the answer is the reasoning; the choice is asked for after it (CoELA, planning module)"


class Proposal(Reasoned):
    """A message to the group, which may be sent or not."""

    goal: GoalId | None = Field(
        default=None, description="id of the task that you say you take first; null if none, or no message"
    )
    message: str = Field(description="the message, or nothing if there is nothing to tell", max_length=1000)
    facts: tuple[str, ...] = Field(
        default=(), max_length=20, description="what the message tells of things, each in written form"
    )


class Decided(Reasoned):
    """The next action in words, or the keyword."""

    goal: GoalId | None = Field(default=None, description="id of the task that the action is for, or null")
    action: str = Field(description=f"{KEYWORD}, the number of an option, or an action in written form")


@dataclass(frozen=True)
class CoelaQuestion(AgentQuestion[ModuleAnswer]):
    """What both modules of an agent read."""

    me: Situation
    options: CoelaOptions

    @property
    def report(self) -> str | None:
        """What is delivered, held and found, room by room, in place of the view; None for the view."""
        return report_progress(self.me) if self.options.report else None

    @property
    def progress(self) -> str | None:
        """A sentence on how far the team is; None where none is shown."""
        return count_done(self.me) if self.options.progress or (self.options.report and self.report is None) else None

    @property
    def remembered(self) -> Sequence[str] | None:
        """The belief map; None where it is not shown."""
        return remembered(self.me) if self.options.belief_map else None

    @property
    def last_seen(self) -> Mapping[AgentId, str] | None:
        """The last known state of each teammate; None where it is not shown."""
        return (
            {teammate: last_seen(self.me, teammate) for teammate in self.me.teammates}
            if self.options.teammates
            else None
        )

    @property
    def opening(self) -> Sequence[AgentId]:
        """Who says the fixed lines with which the dialogue begins."""
        return self.me.spec.agents[:2] if self.options.opening else ()


@dataclass(frozen=True)
class ProposeMessage(CoelaQuestion[Proposal]):
    """What could I tell the others?"""

    kind = "coela.message"
    template = "coela/prompts/message.md.j2"
    answer = Proposal
    sampling = Sampling(temperature=0.0, max_tokens=600)
    departures = MappingProxyType(dict.fromkeys(("abilities", "options"), _MODULE))

    @property
    def example(self) -> str | None:
        """A fact that is news to the others, else another that it knows; None where it knows none."""
        return example_fact((*self.me.unshared, *self.me.untold, *self.me.known), self.domain)

    @property
    def unshared(self) -> Sequence[str]:
        """What others lack, as far as the agent knows: as much as fits a short line."""
        return [plain(fact) for fact in self.me.unshared[:SHOWN]]

    @property
    def predicates(self) -> Mapping[str, str]:
        """What facts can say: each predicate, with its values."""
        return list_predicates(self.domain)

    def rule(self, rng: np.random.Generator) -> Proposal:
        """What the others may not know and could use; nothing where there is no such thing."""
        goal, facts, text = find_news(self.me)
        return Proposal(message=text, goal=goal, facts=tuple(map(plain, facts)))

    def check(self, answer: Proposal) -> str | None:
        """A task that is named must be one that the agent knows of, and facts must be such as the world can state."""
        if not meant(answer.message):
            return None
        if answer.goal is not None and answer.goal not in self.me.all_goals:
            known = ", ".join(self.me.all_goals) or "none"
            return f"there is no task '{answer.goal[:80]}'; there are: {known}; or null"
        return next((self._refuse_fact(text) for text in answer.facts if not self._can_state(text)), None)

    def salvage(self, answer: Proposal) -> Proposal | None:
        """The message without what are no facts, if its task is one."""
        if answer.goal is not None and answer.goal not in self.me.all_goals:
            return None
        return answer.model_copy(update={"facts": tuple(filter(self._can_state, answer.facts))})

    def _can_state(self, text: str) -> bool:
        try:
            read_fact(text, self.domain, self.me.spec.agents)
        except ParseError:
            return False
        return True

    def _refuse_fact(self, text: str) -> str:
        """Return why a text is no fact, and what its subject can be said to be."""
        words = text.strip("\"'` ").split()
        forms = self.predicates
        if words and (words[0] in self.me.spec.agents or words[0] in map(plain, self._subjects)):
            named = [thing for thing in self._subjects if plain(thing) == words[0]]
            forms = list_predicates(self.domain, named[0] if named else words[0])
            forms = {predicate: form for predicate, form in forms.items() if predicate in text.upper().split()} or forms
        such = f", such as {self.example}" if self.example is not None else ""
        return (
            f"'{text[:80]}' in facts is no fact: write the name of one thing or agent and one property of it, "
            f"{' or '.join(forms.values()) or 'of which there is none'}{such}; what has no such form stands in the "
            "message alone"
        )

    @property
    def _subjects(self) -> Sequence[Entity]:
        return list(dict.fromkeys(fact.subject for fact in self.me.known if isinstance(fact.subject, Entity)))

    def fallback(self) -> Proposal:
        """Nothing is proposed."""
        return Proposal(message="")

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The tasks, or none of them."""
        return [*self.me.all_goals, None] if field == "goal" else ()


@dataclass(frozen=True)
class Tell(ProposeMessage):
    """The same in the original form."""

    kind = "coela.tell"
    template = "coela/prompts/tell.md.j2"
    sampling = CWAH


@dataclass(frozen=True)
class Choosing(CoelaQuestion[ModuleAnswer]):
    """What is common to thinking about what to do, and choosing."""

    message: Message | None
    """None where no message was proposed."""

    @property
    def numbered(self) -> tuple[Action, ...]:
        """What numbers or letters stand for: the message first, if there is one, then what can start now."""
        return self._possible if self.options.listed != "abilities" else self._possible[: self.message is not None]

    @property
    def _possible(self) -> tuple[Action, ...]:
        if self.options.listed == "plans":
            return list_plans(self.me, self.options, self.message is not None)
        send = (SEND,) if self.message is not None else ()
        return (*send, *dict.fromkeys(option.action for option in self.me.options))

    @property
    def listed(self) -> Sequence[tuple[str, Action, str]]:
        """The choices but for the message: number or letter, action, and what is known of it."""
        plans = self.options.listed == "plans"
        notes = {option.action: self.note(option) for option in reversed(self.me.options)}
        return [
            (letter(at) if plans else str(at + 1), action, notes.get(action, ""))
            for at, action in enumerate(self.numbered)
            if action != SEND
        ]

    def note(self, option: Option) -> str:
        """Return what is known of an option: its task, its steps, and who in sight would be there first."""
        goal = f" for {option.goal}" if option.goal is not None else ""
        goal += self.me.mark(option.goal)
        nearer = self.me.nearer(option) if self.me.words.hands > 1 else None
        other = f" ({nearer} is nearer)" if nearer is not None else ""
        return f"{goal}, about {plural(option.steps, 'step')}{self.me.tell_late(option)}{other}"

    @property
    def meanings(self) -> Sequence[ActionSchema]:
        """What the agent can do of what is listed."""
        verbs = {action.verb for action in self.numbered}
        return [schema for schema in self.me.abilities if schema.verb in verbs]

    @property
    def best(self) -> CandidateStep:
        """What the rules would do next: send the message if it saves the team more than it costs."""
        if self.message is not None:
            facts = read_told(self.message.whole, self.domain)
            if value_message(self.me, self.message.goal, facts).pays:
                return CandidateStep(SEND, self.message.goal)
        return choose_step(self.me)


class Thought(Reasoned):
    """Reasoning before a choice."""


@dataclass(frozen=True)
class Think(Choosing[Thought]):
    """What is best to do, and why?"""

    kind = "coela.think"
    template = "coela/prompts/think.md.j2"
    answer = Thought
    sampling = CWAH
    departures = MappingProxyType({"abilities": _LETTERED, "options": _LIST, "answer": _THOUGHT})

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


class Picked(Reasoned):
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
    departures = MappingProxyType({"abilities": _LETTERED, "options": _LIST})

    def rule(self, rng: np.random.Generator) -> Picked:
        """Take what the rules would do; where that is not in the list what comes next to it."""
        return Picked(plan=plan_text(nearest_plan(self.me, self.best, self.numbered)))

    def read(self, answer: Picked) -> Action | None:
        """Return the plan of the answer, None where it names none."""
        return read_plan(answer.plan, self.numbered)

    def check(self, answer: Picked) -> str | None:
        """It names a plan, unless one is drawn then."""
        if self.options.unread == "draw" or self.read(answer) is not None:
            return None
        last, first = letter(len(self.numbered) - 1), plan_text(self.numbered[0])
        return f"no plan is named: answer with one of A to {last} and its text, such as A. {first}"

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
    departures = MappingProxyType({"options": _LIST})

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
        return read_action(answer.action, self.view, self.domain, self.numbered)

    def check(self, answer: Decided) -> str | None:
        """It says something, and what can be read can start now; what cannot be read is for translation."""
        if not action_text(answer.action):
            return f"no action is named: answer {self._expected}"
        if self.sends(answer) or self.options.translate == "mind":
            return None
        refusal = self.refuse(answer)
        return f"{refusal}; answer {self._expected}" if refusal else None

    def refuse(self, answer: Decided) -> str:
        """Return why the action of an answer cannot start now; empty where it can, or cannot be read."""
        action, words = self.read(answer), plain_names(action_text(answer.action))
        if action is not None:
            verdict = self.view.check(action)
            able = verdict.ok or action == WAIT
            return "" if able else f"{plain(action)} cannot start now: {plain(verdict.reason)}"
        schemas = {schema.verb: schema for schema in self.view.abilities}
        written = _WRITTEN.fullmatch(words)
        if written is None or written[1] not in schemas:
            return ""
        unseen = [name for name in map(plain, sorted(self.me.unseen, key=str)) if name in _NAME.findall(written[2])]
        if unseen:
            return f"{words} cannot start now: you have not seen {' and '.join(unseen)} yourself, go there first"
        try:
            read_written(words, schemas)
        except UserError as error:
            return f"{words} cannot start now: {error}"
        return ""

    @property
    def _expected(self) -> str:
        send = f"{KEYWORD}, " if self.message is not None else ""
        such = next((f" such as {plain(action)}" for _, action, _ in self.listed), "")
        return f"{send}{'the number of an option, ' if self.listed else ''}or an action that can start{such}"

    def fallback(self) -> Decided:
        """Nothing is done."""
        return Decided(action=str(WAIT), reasoning="No answer.")

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """The numbered options, or where only abilities are listed all that can start now; the tasks it may be for."""
        if field == "action":
            return [plan_text(action) for action in self._possible]
        return [*(goal.id for goal in self.me.workable), None] if field == "goal" else ()

    def perturb(self, answer: Decided, rng: np.random.Generator) -> Decided:
        """Choose another of the options."""
        others = [text for text in self.offers("action", {}) if text != answer.action]
        return Decided(action=others[int(rng.integers(len(others)))]) if others else answer

    def goal_of(self, answer: Decided, action: Action) -> GoalId | None:
        """Return the open goal of the agent's own view that an action is for, as far as that can be told."""
        known = {goal.id for goal in self.view.goals if goal.state == "open"}
        return answer.goal if answer.goal in known else served(self.me, action)


def served(me: Situation, action: Action) -> GoalId | None:
    """Return the open goal of the agent's own view that one of its options serves; None where that cannot be told."""
    view, action = me.view, complete_action(action, me.view)
    goals = (option.goal for option in me.options if complete_action(option.action, view) == action)
    first = next(goals, None)
    return first if any(goal.id == first and goal.state == "open" for goal in view.goals) else None


def read_facts(proposal: Proposal, domain: Domain, team: Collection[AgentId] = ()) -> tuple[Fact, ...]:
    """Return the facts of a proposal that the world's relations can state, each once."""
    facts = dict[Fact, None]()
    for text in proposal.facts:
        try:
            facts[read_fact(text, domain, team)] = None
        except ParseError:
            continue
    return tuple(facts)


def remembered(me: Situation) -> list[str]:
    """Return what the agent does not see now but has seen or was told, with the step: the belief map."""
    perceived, known = set(me.view.facts), me.known
    facts = (fact for fact in known if fact not in perceived and fact.subject not in me.spec.agents)
    return [f"{plain(fact)} (step {known.seen[fact]})" if fact in known.seen else plain(fact) for fact in facts]


def last_seen(me: Situation, teammate: AgentId) -> str:
    """Return the last known state of a teammate."""
    known = me.known
    facts = [
        f"{fact.predicate} {plain(fact.value)}{f' (step {known.seen[fact]})' if fact in known.seen else ''}"
        for fact in known
        if fact.subject == teammate
    ]
    return ", ".join(facts) or "nothing known"
