"""The questions of CoBel-World's operations on beliefs, one for each operation.

Each question can be put to a reasoner (a language model, or the built-in rules), or inferred: ``infer`` works its
result out from the world's rules, and ``rule`` writes the same as an answer. ``read`` turns an answer into a result.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from teamworld.language import (
    Action,
    AgentId,
    Belief,
    Entity,
    Fact,
    Facts,
    GoalId,
    ParseError,
    parse_action,
    read_belief,
    show,
)
from teamworld.methods.cobel import inference, message_value
from teamworld.methods.cobel.beliefs import distribution
from teamworld.methods.cobel.situation import (
    Assessment,
    BeliefUpdate,
    Intent,
    MessageDraft,
    NextAction,
    Situation,
    Subplan,
    plan_options,
)
from teamworld.methods.contract import Message
from teamworld.planning.action_parser import action_text, read_action
from teamworld.planning.candidates import complete_action
from teamworld.reasoning.contract import Question, Sampling
from teamworld.worlds.contract import LatentVariable, View

#: What an agent answers whose subplan is done.
DONE: Final = "DONE"
#: Intents of a teammate that are asked for, and their weights by rank where none are given.
INTENTS: Final = 3
WEIGHTS: Final = (0.5, 0.3, 0.2)
#: Things that a paragraph of beliefs tells of, at most: those that matter to goals first.
PARAGRAPH: Final = 40
#: Facts that say more exactly what others say: where something is to the centimetre, what one stands beside.
_LEFT_OUT: Final = frozenset({"POSITION", "NEAR", "UNSEEN", "SIDE"})
_READ: Final = Sampling(temperature=0.0, max_tokens=512)
_PLAN: Final = Sampling(temperature=0.7, max_tokens=512)

Said = TypeVar("Said", bound=BaseModel)
Result = TypeVar("Result")


# ---- the forms of the answers


class Form(BaseModel):
    """What all have in common."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Update(Form):
    """Beliefs that follow from what was said."""

    knows: str = Field(default="", description="what was said to be so, in a sentence or two", max_length=1000)
    beliefs: tuple[str, ...] = Field(default=(), description="belief lines that fit the rules", max_length=40)
    plan: tuple[str, ...] = Field(default=(), description="the plan that was told, action by action", max_length=12)
    goal: GoalId | None = Field(default=None, description="id of the task that the plan is for, or null")


class Plans(Form):
    """A subplan, and why."""

    reasoning: str = Field(default="", description="at most three reasons", max_length=1500)
    likely: tuple[str, ...] = Field(
        default=(), description="where what is missing probably is, as belief lines", max_length=20
    )
    steps: tuple[str, ...] = Field(description="one to three actions, in order", max_length=12)
    goal: GoalId | None = Field(default=None, description="id of the task that it is for, or null")


class Guess(Form):
    """What a team-mate may be up to."""

    steps: tuple[str, ...] = Field(description="one to three actions, in order", max_length=12)
    goal: GoalId | None = Field(default=None, description="id of the task that it is for, or null")
    weight: float | None = Field(default=None, description="how likely, from 0 to 1, or null", ge=0, le=1)


class Guesses(Form):
    """Ranked subplans of a team-mate."""

    reasoning: str = Field(default="", description="at most three reasons", max_length=1500)
    subplans: tuple[Guess, ...] = Field(description="three subplans, the likeliest first", max_length=6)


class Judged(Form):
    """Whether there is heavy miscoordination."""

    reasons: tuple[str, ...] = Field(default=(), description="at most three, each a sentence", max_length=6)
    answer: Literal["yes", "no"] = Field(description="yes if it is heavy enough for a message")
    misaligned: tuple[str, ...] = Field(
        default=(), description="what only you know and they should, as belief lines", max_length=20
    )


class Words(Form):
    """A message."""

    message: str = Field(description="the message and nothing else", max_length=2000)


class Act(Form):
    """The next action, or that the subplan is done."""

    reasons: tuple[str, ...] = Field(default=(), description="at most three", max_length=6)
    answer: str = Field(description=f"one of the listed actions or its number, or {DONE}", max_length=400)


# ---- the questions


@dataclass(frozen=True)
class BeliefQuestion(Question[Said], Generic[Said, Result]):
    """One operation on beliefs, and what every prompt of an agent at work shows."""

    respondent: AgentId = field(init=False)
    views: Mapping[AgentId, View] = field(init=False)
    situation: Situation

    operation: ClassVar[str]
    """The option that says whether it is asked or inferred."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "respondent", self.situation.agent)
        object.__setattr__(self, "views", {self.situation.agent: self.situation.view})

    @abstractmethod
    def infer(self) -> Result:
        """Return the result without asking, by inference."""

    @abstractmethod
    def read(self, answer: Said) -> Result:
        """Return the result that an answer stands for; what cannot be read is left out."""

    def check(self, answer: Said) -> str | None:
        """Accept every answer: lines that are no beliefs are left out."""
        return None

    def context(self) -> dict[str, Any]:
        """Return the team, its task, the goals, and what the agent holds of the world."""
        situation = self.situation
        kinds = dict.fromkeys(situation.team.values())
        return {
            "agent": self.respondent,
            "kind": situation.view.kind,
            "team": {kind: [agent for agent in situation.team if situation.team[agent] == kind] for kind in kinds},
            "task": situation.task,
            "abilities": [schema for schema in situation.view.abilities if schema.verb != "talk"],
            "goals": [goal for goal in situation.goals.values() if goal.state == "open"],
            "progress": describe_beliefs(situation, situation.agent),
            "steps_left": situation.view.steps_left,
            "subplan": situation.subplan.text if situation.subplan is not None else "",
        }

    def text_store(self) -> list[tuple[str, str]]:
        """Return the dialogue, where that stands for what others know."""
        return (
            [(message.sender, message.text) for message in self.situation.chat]
            if self.situation.options.store == "text"
            else []
        )

    def ascribed(self, teammates: Iterable[AgentId]) -> dict[AgentId, Sequence[str]]:
        """Return what is believed that some teammates hold; nothing where the dialogue stands for it."""
        options = self.situation.options
        is_kept = options.first_order and options.store == "tables"
        return {teammate: describe_beliefs(self.situation, teammate) for teammate in teammates} if is_kept else {}


@dataclass(frozen=True)
class _Updating(BeliefQuestion[Update, BeliefUpdate]):
    teammate: AgentId
    answer: ClassVar[type[BaseModel]] = Update
    sampling: ClassVar[Sampling] = _READ
    order: ClassVar[int]

    @property
    @abstractmethod
    def said(self) -> Sequence[Message]:
        """What is to be read."""

    @property
    def holders(self) -> tuple[AgentId, ...]:
        """Who believes what is read: the agent; or the agent, that the teammate does."""
        return (self.respondent,) if self.order == 0 else (self.respondent, self.teammate)

    def context(self) -> dict[str, Any]:
        """Add the rules and what was said."""
        heard = [(message.sender, message.text, tuple(map(str, message.facts))) for message in self.said]
        rules = (
            [str(rule) for rule in self.situation.rules.of_order(self.order)] if self.situation.options.ruled else []
        )
        return super().context() | {"rules": rules, "said": heard, "mate": self.teammate}

    def rule(self, rng: np.random.Generator) -> Update:
        """Write what was said in the language of beliefs."""
        update = self.infer()
        return Update(
            beliefs=tuple(str(Belief(self.holders, fact)) for fact in update.beliefs)[:40],
            plan=tuple(map(str, update.plan.actions))[:12] if update.plan is not None else (),
            goal=update.plan.goal if update.plan is not None else None,
        )

    def read(self, answer: Update) -> BeliefUpdate:
        """Return the beliefs of an answer that the rules admit, and the plan."""
        beliefs = (read_line(line, self.situation, self.holders) for line in answer.beliefs)
        facts = tuple(dict.fromkeys(belief.fact for belief in beliefs if belief is not None))
        if not answer.plan:
            return BeliefUpdate(facts)
        goal = answer.goal if answer.goal in self.situation.goals else None
        return BeliefUpdate(
            facts, Subplan(read_steps(answer.plan, self.situation), goal, " then ".join(answer.plan)[:300])
        )

    def fallback(self) -> Update:
        """Conclude nothing."""
        return Update()


@dataclass(frozen=True)
class ReadMessage(_Updating):
    """Zero-order update: what can I learn from this message?"""

    message: Message
    kind: ClassVar[str] = "cobel.zero_order"
    template: ClassVar[str] = "cobel/prompts/zero_order.md.j2"
    operation: ClassVar[str] = "hear"
    order: ClassVar[int] = 0

    @property
    def said(self) -> Sequence[Message]:
        """The message."""
        return (self.message,)

    def infer(self) -> BeliefUpdate:
        """Return the facts that the message carries, and its plan."""
        return inference.read_message(self.situation, self.message)


@dataclass(frozen=True)
class ReadDialogue(_Updating):
    """First-order update: what does my teammate know after this dialogue?"""

    kind: ClassVar[str] = "cobel.first_order"
    template: ClassVar[str] = "cobel/prompts/first_order.md.j2"
    operation: ClassVar[str] = "model"
    order: ClassVar[int] = 1

    @property
    def said(self) -> Sequence[Message]:
        """What was said between the two since the last cycle."""
        return [
            message
            for message in self.situation.dialogue
            if self.teammate == message.sender or message.recipients is None or self.teammate in message.recipients
        ]

    def infer(self) -> BeliefUpdate:
        """Return what the teammate said, and what was said to it."""
        return inference.read_dialogue(self.situation, self.teammate)


@dataclass(frozen=True)
class _Planning(BeliefQuestion[Plans, Subplan]):
    answer: ClassVar[type[BaseModel]] = Plans
    sampling: ClassVar[Sampling] = _PLAN

    def check(self, answer: Plans) -> str | None:
        """Refuse an answer of which no step can be read, or the first cannot start as far as the agent knows."""
        actions = read_steps(answer.steps, self.situation)
        if not actions:
            return "no step could be read: write one to three actions such as those you can do"
        verdict = self.situation.view.check(actions[0])
        return None if verdict.ok else f"{actions[0]} cannot start: {verdict.reason}"

    def read(self, answer: Plans) -> Subplan:
        """Return the subplan of an answer."""
        goal = answer.goal if answer.goal in self.situation.goals else None
        actions = read_steps(answer.steps, self.situation)[: self.situation.options.actions]
        return Subplan(actions, goal, " then ".join(answer.steps)[:300])

    def fallback(self) -> Plans:
        """Take the nearest option."""
        options = [option for option in self.situation.view.options if option.action.verb not in ("wait", "talk")]
        near = min(options, key=lambda option: option.steps, default=None)
        return Plans(steps=("wait()",) if near is None else (str(near.action),), goal=near.goal if near else None)

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """Offer the options and the open goals."""
        if field == "goal":
            return [*(goal.id for goal in self.situation.goals.values() if goal.state == "open"), None]
        return [str(option.action) for option in self.situation.view.options] if field == "steps" else ()


@dataclass(frozen=True)
class MakePlan(_Planning):
    """Prediction of the world and active planning: where may what is missing be, and what do I do next?"""

    kind: ClassVar[str] = "cobel.plan"
    template: ClassVar[str] = "cobel/prompts/plan.md.j2"
    operation: ClassVar[str] = "plan"

    def infer(self) -> Subplan:
        """Return what is worth most a tick, with what teammates may do counted in."""
        return inference.plan_beside_intents(self.situation)

    def rule(self, rng: np.random.Generator) -> Plans:
        """Write what is worth most a tick by what the prompt shows, and the likeliest value of what is missing."""
        subplan = inference.plan_alone(self.situation)
        tables = (distribution(latent) for latent in self.situation.latents)
        likely = [max(table, key=lambda entry: entry[1])[0] for table in tables if table]
        return Plans(
            steps=tuple(map(str, subplan.actions)),
            goal=subplan.goal,
            likely=tuple(str(Belief((self.respondent,), fact)) for fact in likely)[:20],
        )


@dataclass(frozen=True)
class RemakePlan(_Planning):
    """Passive planning: what do I do, given what the others announced?"""

    kind: ClassVar[str] = "cobel.replan"
    template: ClassVar[str] = "cobel/prompts/replan.md.j2"
    operation: ClassVar[str] = "replan"

    def context(self) -> dict[str, Any]:
        """Add the plans that were announced."""
        announced = {teammate: announcement.subplan.text for teammate, announcement in self.situation.announced.items()}
        return super().context() | {"announced": announced, "first": sorted(self.situation.yields_to)}

    def infer(self) -> Subplan:
        """Return what is worth most a tick beside these plans and what the other teammates may do."""
        return inference.plan_beside_announcements(self.situation, intents=True)

    def rule(self, rng: np.random.Generator) -> Plans:
        """Write what is worth most a tick beside these plans."""
        subplan = inference.plan_beside_announcements(self.situation, intents=False)
        return Plans(steps=tuple(map(str, subplan.actions)), goal=subplan.goal)


@dataclass(frozen=True)
class PredictIntents(BeliefQuestion[Guesses, Sequence[Intent]]):
    """Prediction of a teammate: in its place, what would I do next?"""

    teammate: AgentId
    kind: ClassVar[str] = "cobel.intents"
    template: ClassVar[str] = "cobel/prompts/intents.md.j2"
    operation: ClassVar[str] = "intents"
    answer: ClassVar[type[BaseModel]] = Guesses
    sampling: ClassVar[Sampling] = _PLAN

    def context(self) -> dict[str, Any]:
        """Add what the teammate holds in its first person, as the agent believes; or the dialogue."""
        theirs = self.ascribed([self.teammate]).get(self.teammate, ())
        return super().context() | {"mate": self.teammate, "theirs": theirs, "dialogue": self.text_store()}

    def infer(self) -> Sequence[Intent]:
        """Return the likeliest of its options by what it holds."""
        return inference.predict_intents(self.situation, self.teammate, INTENTS)

    def rule(self, rng: np.random.Generator) -> Guesses:
        """Write the likeliest of its options by what it holds."""
        return Guesses(
            subplans=tuple(
                Guess(steps=tuple(map(str, plan.actions)), goal=plan.goal, weight=min(1.0, weight))
                for _, plan, weight, _ in self.infer()
            )
        )

    def read(self, answer: Guesses) -> Sequence[Intent]:
        """Return what can be read of the intents, with the weights that were given or those of their ranks."""
        guesses, situation, intents = answer.subplans[:INTENTS], self.situation, list[Intent]()
        weights = [guess.weight or 0.0 for guess in guesses]
        if sum(weights) <= 0 or any(guess.weight is None for guess in guesses):
            weights = list(WEIGHTS)
        scale = max(1.0, sum(weights[: len(guesses)]))
        for guess, weight in zip(guesses, weights, strict=False):
            actions = read_steps(guess.steps, situation, self.teammate)
            if actions:
                goal = guess.goal if guess.goal in situation.goals else None
                subplan = Subplan(actions[: situation.options.actions], goal)
                (option, *_) = plan_options(situation.domain, self.teammate, subplan, situation.ascribed[self.teammate])
                intents.append(Intent(self.teammate, subplan, weight / scale, option.steps))
        return intents

    def check(self, answer: Guesses) -> str | None:
        """Refuse subplans none of which names an action."""
        if answer.subplans and not self.read(answer):
            return "no step could be read: write one to three actions such as those you can do"
        return None

    def fallback(self) -> Guesses:
        """Know nothing."""
        return Guesses(subplans=())


@dataclass(frozen=True)
class Assess(BeliefQuestion[Judged, Assessment]):
    """Assessment: do our plans conflict, or does a teammate lack what I know, so that it matters?"""

    intents: Mapping[AgentId, tuple[Intent, ...]]
    kind: ClassVar[str] = "cobel.assess"
    template: ClassVar[str] = "cobel/prompts/assess.md.j2"
    operation: ClassVar[str] = "assess"
    answer: ClassVar[type[BaseModel]] = Judged
    sampling: ClassVar[Sampling] = _READ

    def context(self) -> dict[str, Any]:
        """Add what every teammate holds as the agent believes, and its likely subplans."""
        likely = {teammate: [intent.subplan.text for intent in intents] for teammate, intents in self.intents.items()}
        theirs = self.ascribed(self.situation.teammates)
        return super().context() | {"minds": theirs, "likely": likely, "dialogue": self.text_store()}

    def infer(self) -> Assessment:
        """Return what a message would save, and of what."""
        return message_value.assess(self.situation, self.intents)

    def rule(self, rng: np.random.Generator) -> Judged:
        """Write whether a message saves more ticks than it takes."""
        result = self.infer()
        return Judged(
            reasons=result.reasons,
            answer="yes" if result.speaks else "no",
            misaligned=tuple(str(Belief((self.respondent,), f)) for f in result.facts)[:20] if result.speaks else (),
        )

    def read(self, answer: Judged) -> Assessment:
        """Return the assessment, with the facts that the agent itself holds; what it made up is left out."""
        lines = (read_line(line, self.situation, (self.respondent,)) for line in answer.misaligned)
        held = tuple(
            dict.fromkeys(line.fact for line in lines if line is not None and line.fact in self.situation.facts)
        )
        lacking = {teammate: self.situation.missing_from(teammate, held) for teammate in self.situation.teammates}
        return Assessment(
            speaks=answer.answer == "yes",
            reasons=answer.reasons[:3],
            lacking={teammate: facts for teammate, facts in lacking.items() if facts},
            against=self.situation.teammates if answer.answer == "yes" else (),
        )

    def fallback(self) -> Judged:
        """Send no message."""
        return Judged(answer="no")


@dataclass(frozen=True)
class WriteMessage(BeliefQuestion[Words, MessageDraft]):
    """Message: how do I tell them?"""

    assessment: Assessment
    kind: ClassVar[str] = "cobel.message"
    template: ClassVar[str] = "cobel/prompts/message.md.j2"
    operation: ClassVar[str] = "compose"
    answer: ClassVar[type[BaseModel]] = Words
    sampling: ClassVar[Sampling] = _PLAN

    def context(self) -> dict[str, Any]:
        """Add what is to be told."""
        facts = tuple(map(str, self.assessment.facts))
        return super().context() | {"facts": facts, "length": self.situation.options.length}

    def infer(self) -> MessageDraft:
        """Return the facts and the subplan, by a form."""
        return message_value.draft_message(self.situation, self.assessment)

    def rule(self, rng: np.random.Generator) -> Words:
        """Write the facts and the subplan, by a form."""
        return Words(message=self.infer().text)

    def read(self, answer: Words) -> MessageDraft:
        """Return the message, with all facts that it is about."""
        plan = self.situation.subplan if self.assessment.announces else None
        return MessageDraft(answer.message.strip()[: self.situation.options.length], self.assessment.facts, plan, None)

    def check(self, answer: Words) -> str | None:
        """Refuse an empty message."""
        return None if answer.message.strip() else "the message is empty"

    def fallback(self) -> Words:
        """Say nothing."""
        return Words(message="")


@dataclass(frozen=True)
class Ground(BeliefQuestion[Act, NextAction]):
    """Grounding: which of these actions comes next, or is the subplan done?"""

    kind: ClassVar[str] = "cobel.act"
    template: ClassVar[str] = "cobel/prompts/act.md.j2"
    operation: ClassVar[str] = "ground"
    answer: ClassVar[type[BaseModel]] = Act
    sampling: ClassVar[Sampling] = _READ

    @property
    def actions(self) -> tuple[Action, ...]:
        """What is listed: what can start now, the subplan's own actions first."""
        own = self.situation.subplan.actions if self.situation.subplan is not None else ()
        listed = [action for action in own if self.situation.view.check(action).ok]
        listed += [complete_action(option.action, self.situation.view) for option in self.situation.view.options]
        return tuple(dict.fromkeys(action for action in listed if action.verb != "talk"))

    def context(self) -> dict[str, Any]:
        """Add the subplan, what was done under it, and what can be done now."""
        return super().context() | {"actions": self.actions, "past": self.situation.outcomes, "keyword": DONE}

    def infer(self) -> NextAction:
        """Return the subplan's next action that can start."""
        return inference.next_action(self.situation)

    def rule(self, rng: np.random.Generator) -> Act:
        """Write the subplan's next action that can start."""
        return self.fallback()

    def read(self, answer: Act) -> NextAction:
        """Return the action of an answer: its written form, number or words; none where it says that all is done."""
        action = None if _is_done(answer) else self._action(answer)
        subplan = self.situation.subplan
        goal = subplan.goal if subplan is not None and action in subplan.actions else None
        return NextAction(action, goal)

    def _action(self, answer: Act) -> Action | None:
        return read_action(answer.answer, self.situation.view, self.situation.domain, self.actions)

    def check(self, answer: Act) -> str | None:
        """Refuse what is neither the keyword nor an action that can start."""
        if _is_done(answer):
            return None
        action = self._action(answer)
        if action is None:
            return f"'{answer.answer[:80]}' is none of the listed actions, nor {DONE}"
        verdict = self.situation.view.check(action)
        return None if verdict.ok else f"{action} cannot start: {verdict.reason}"

    def fallback(self) -> Act:
        """Take the subplan's first action that can start; where none can, the subplan is done."""
        action = self.infer().action
        return Act(answer=DONE if action is None else str(action))

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """Offer the listed actions, and that the subplan is done."""
        return [*map(str, self.actions), DONE] if field == "answer" else ()

    def perturb(self, answer: Act, rng: np.random.Generator) -> Act:
        """Choose another of the listed actions."""
        others = [str(action) for action in self.actions if str(action) != answer.answer]
        return Act(answer=others[int(rng.integers(len(others)))]) if others else answer


def _is_done(answer: Act) -> bool:
    return action_text(answer.answer).casefold().startswith(DONE.casefold())


# ---- from lines to beliefs and actions; what cannot be read is left out


def read_line(line: str, situation: Situation, holders: tuple[AgentId, ...]) -> Belief | None:
    """Return the belief of a line if these hold it and a rule admits it; None otherwise.

    Args:
        line: As a reasoner wrote it.
        situation: Of the agent that was asked.
        holders: Who must be said to believe it; a fact without holders is taken to be theirs.
    """
    text = line if "believe" in line.casefold() else f"{show(holders[-1])} BELIEVE {line.strip(' -*`')}"
    if len(holders) == 2 and text.casefold().count("believe") == 1:
        text = f"{show(holders[0])} BELIEVE {text}"
    try:
        belief = read_belief(text, situation.schema, situation.entities, (len(holders) - 1,))
    except (ParseError, ValueError):
        return None
    if belief.holders != holders or (situation.options.ruled and not situation.rules.admits(belief)):
        return None
    subject = belief.fact.subject
    is_known = len(holders) == 1 or subject in situation.team or subject in situation.entities
    return belief if is_known else None


def read_steps(texts: Sequence[str], situation: Situation, agent: AgentId | None = None) -> tuple[Action, ...]:
    """Return the actions that some words mean, those that mean none left out.

    Args:
        texts: Of a plan, action by action.
        situation: Of the agent that was asked.
        agent: Whose actions they are; its own if None. Of another kind only the written form is read.
    """
    actions = []
    for text in texts[:12]:
        action: Action | None = None
        if agent is None or situation.team.get(agent) == situation.view.kind:
            action = read_action(text, situation.view, situation.domain)
        if action is None:
            try:
                action = parse_action(action_text(text))
            except ParseError:
                continue
        if action.verb != "talk":
            actions.append(action)
    return tuple(actions)


# ---- from beliefs to a paragraph


def describe_beliefs(situation: Situation, host: AgentId) -> tuple[str, ...]:
    """Return what a host holds of the world, in lines; what a teammate holds in its first person.

    Args:
        situation: Of the agent that thinks so.
        host: The agent itself, or a teammate.
    """
    facts = situation.facts_of(host)
    about: dict[Entity | str, list[Fact]] = {}
    for fact in facts:
        if fact.predicate not in _LEFT_OUT:
            about.setdefault(fact.subject, []).append(fact)

    def listed(subject: Entity | str) -> str:
        return _list_facts(about.pop(subject, []), facts, situation.view.t)

    lines = [f"I am {host}. {listed(host) or 'Nothing is known of where I am.'}"]
    lines += [f"{teammate}: {listed(teammate) or 'not seen.'}" for teammate in situation.team if teammate != host]
    is_self = host == situation.agent
    latents = situation.latents if is_self else situation.domain.beliefs.latent_variables(facts)
    wanted = {goal.thing for goal in situation.goals.values()}
    sought = {value.fact.subject for latent in latents for value in latent.values}
    kinds = {subject.kind for subject in sought if isinstance(subject, Entity)}
    subjects = [subject for subject in about if isinstance(subject, Entity)]
    subjects.sort(key=lambda subject: (subject not in wanted, subject.kind not in kinds, subject.id))
    lines += [f"{subject}: {listed(subject)}" for subject in subjects[:PARAGRAPH]]
    if len(subjects) > PARAGRAPH:
        lines.append(f"And {len(subjects) - PARAGRAPH} more.")
    return (*lines, *(f"Not known: {_list_values(latent)}." for latent in latents))


def _list_facts(facts: Sequence[Fact], known: Facts, t: int) -> str:
    """Return the facts about one subject, with how old they are where they are not of now."""
    words = [f"{fact.predicate} {show(fact.value)}" for fact in facts]
    ages = [t - known.seen[fact] for fact in facts if fact in known.seen]
    age = f" ({max(ages)} steps ago)" if ages and max(ages) > 0 else ""
    return f"{', '.join(words)}{age}." if words else ""


def _list_values(latent: LatentVariable) -> str:
    values = ", ".join(f"{value.fact.predicate} {show(value.fact.value)}" for value in latent.values[:12])
    return f"{latent.name}; it may be {values}"
