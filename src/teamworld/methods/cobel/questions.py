"""The questions of CoBel-World's operations on beliefs, one for each operation.

Each question has a rule, ``infer``. With the engine ``exact`` it gives the result and nobody is asked. With
``questions`` a reasoner answers, and ``read`` gives the result; the built-in rules answer ``write(infer())``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar, cast

import numpy as np
from pydantic import BaseModel, Field

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
from teamworld.methods.cobel import messages, planning
from teamworld.methods.cobel.situation import (
    Assessment,
    BeliefUpdate,
    Intent,
    MessageDraft,
    NextAction,
    Situation,
    Subplan,
)
from teamworld.methods.contract import Message, StrictModel
from teamworld.planning.action_parser import action_text, read_action
from teamworld.planning.candidates import complete_action
from teamworld.planning.goals import open_goals
from teamworld.reasoning.contract import Question, Sampling
from teamworld.worlds.contract import WAIT, LatentVariable, Option, View

#: What an agent answers whose subplan is done.
DONE: Final = "DONE"
#: Intents of a teammate that are asked for, and their weights by rank where none are given.
INTENTS: Final = 3
WEIGHTS: Final = (0.5, 0.3, 0.2)
#: Things that a paragraph of beliefs tells of, at most: those that matter to goals first.
PARAGRAPH: Final = 40
#: Sampling where what was said is extracted, and where something is thought up.
_READ: Final = Sampling(temperature=0.0, max_tokens=512)
_PLAN: Final = Sampling(temperature=0.7, max_tokens=512)

Said = TypeVar("Said", bound=BaseModel)
Result = TypeVar("Result")


# ---- the forms of the answers


class Update(StrictModel):
    """Beliefs that follow from what was said."""

    knows: str = Field(default="", description="what was said to be so, in a sentence or two", max_length=1000)
    beliefs: tuple[str, ...] = Field(default=(), description="belief lines that fit the rules", max_length=40)
    plan: tuple[str, ...] = Field(default=(), description="the plan that was told, action by action", max_length=12)
    goal: GoalId | None = Field(default=None, description="id of the task that the plan is for, or null")


class Plans(StrictModel):
    """A subplan, and why."""

    reasoning: str = Field(default="", description="at most three reasons", max_length=1500)
    likely: tuple[str, ...] = Field(
        default=(), description="where what is missing probably is, as belief lines", max_length=20
    )
    steps: tuple[str, ...] = Field(description="one to three actions, in order", max_length=12)
    goal: GoalId | None = Field(default=None, description="id of the task that it is for, or null")


class Guess(StrictModel):
    """What a team-mate may be up to."""

    steps: tuple[str, ...] = Field(description="one to three actions, in order", max_length=12)
    goal: GoalId | None = Field(default=None, description="id of the task that it is for, or null")
    weight: float | None = Field(default=None, description="how likely, from 0 to 1, or null", ge=0, le=1)


class Guesses(StrictModel):
    """Ranked subplans of a team-mate."""

    reasoning: str = Field(default="", description="at most three reasons", max_length=1500)
    subplans: tuple[Guess, ...] = Field(description="three subplans, the likeliest first", max_length=6)


class Judged(StrictModel):
    """Whether there is heavy miscoordination."""

    reasons: tuple[str, ...] = Field(default=(), description="at most three, each a sentence", max_length=6)
    answer: Literal["yes", "no"] = Field(description="yes if it is heavy enough for a message")
    misaligned: tuple[str, ...] = Field(
        default=(), description="what only you know and they should, as belief lines", max_length=20
    )


class Words(StrictModel):
    """A message."""

    message: str = Field(description="the message and nothing else", max_length=2000)


class Act(StrictModel):
    """The next action, or that the subplan is done."""

    reasons: tuple[str, ...] = Field(default=(), description="at most three", max_length=6)
    answer: str = Field(description=f"one of the listed actions or its number, or {DONE}", max_length=400)


# ---- the questions


@dataclass(frozen=True)
class BeliefQuestion(Question[Said], Generic[Said, Result]):
    """One operation on beliefs, and what every prompt of an agent at work shows.

    Arguments of a subclass set its kind, which is its prompt's file too, and its class variables.
    """

    respondent: AgentId = field(init=False)
    views: Mapping[AgentId, View] = field(init=False)
    situation: Situation

    operation: ClassVar[str]
    """The option that says whether it is asked or inferred."""
    nothing: ClassVar[BaseModel]
    """The answer for when nothing usable came."""

    def __init_subclass__(cls, kind: str = "", **settings: Any) -> None:
        super().__init_subclass__()
        if kind:
            cls.kind, cls.template = f"cobel.{kind}", f"cobel/prompts/{kind}.md.j2"
        for name, value in settings.items():
            setattr(cls, name, value)

    def __post_init__(self) -> None:
        object.__setattr__(self, "respondent", self.situation.agent)
        object.__setattr__(self, "views", {self.situation.agent: self.situation.view})

    @abstractmethod
    def infer(self) -> Result:
        """Return the result by the rule."""

    @abstractmethod
    def write(self, result: Result) -> Said:
        """Return the answer that stands for a result."""

    @abstractmethod
    def read(self, answer: Said) -> Result:
        """Return the result that an answer stands for; what cannot be read is left out."""

    def rule(self, rng: np.random.Generator) -> Said:
        """Write what the rule infers."""
        return self.write(self.infer())

    def check(self, answer: Said) -> str | None:
        """Accept every answer: lines that are no beliefs are left out."""
        return None

    def fallback(self) -> Said:
        """Return the answer that concludes, knows or says nothing."""
        return cast("Said", self.nothing)

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
            "goals": open_goals(situation.goals.values()),
            "progress": describe_beliefs(situation, situation.agent),
            "steps_left": situation.view.steps_left,
            "subplan": situation.subplan.text if situation.subplan is not None else "",
            "dialogue": [(m.sender, m.text) for m in situation.chat] if situation.options.store == "text" else [],
        }

    def ascribed(self, teammates: Iterable[AgentId]) -> dict[AgentId, Sequence[str]]:
        """Return what is believed that teammates hold, unless the dialogue stands for it."""
        options = self.situation.options
        is_kept = options.first_order and options.store == "tables"
        return {teammate: describe_beliefs(self.situation, teammate) for teammate in teammates} if is_kept else {}

    def read_goal(self, goal: GoalId | None) -> GoalId | None:
        """Return a goal if the agent knows of it."""
        return goal if goal in self.situation.goals else None


@dataclass(frozen=True)
class ReadMessage(
    BeliefQuestion[Update, BeliefUpdate],
    kind="zero_order",
    operation="hear",
    answer=Update,
    nothing=Update(),
    sampling=_READ,
):
    """Zero-order update: what can I learn from this message?"""

    teammate: AgentId
    said: Sequence[Message]

    @property
    def holders(self) -> tuple[AgentId, ...]:
        """Who believes what is read: the agent."""
        return (self.respondent,)

    def context(self) -> dict[str, Any]:
        """Add the rules and what was said."""
        heard = [(message.sender, message.text, tuple(map(str, message.facts))) for message in self.said]
        of_order = self.situation.rules.of_order(len(self.holders) - 1)
        rules = [str(rule) for rule in of_order] if self.situation.options.ruled else []
        return super().context() | {"rules": rules, "said": heard, "mate": self.teammate}

    def infer(self) -> BeliefUpdate:
        """Return the facts that were said, and the teammate's plan."""
        return messages.read_messages(self.situation, self.teammate, self.said)

    def write(self, result: BeliefUpdate) -> Update:
        """Write what was said in the language of beliefs."""
        return Update(
            beliefs=tuple(str(Belief(self.holders, fact)) for fact in result.beliefs)[:40],
            plan=tuple(map(str, result.plan.actions))[:12] if result.plan is not None else (),
            goal=result.plan.goal if result.plan is not None else None,
        )

    def read(self, answer: Update) -> BeliefUpdate:
        """Return the beliefs of an answer that the rules admit, and the plan."""
        facts = read_lines(answer.beliefs, self.situation, self.holders)
        if not answer.plan:
            return BeliefUpdate(facts)
        actions = read_steps(answer.plan, self.situation)
        return BeliefUpdate(facts, Subplan(actions, self.read_goal(answer.goal), " then ".join(answer.plan)[:300]))


@dataclass(frozen=True)
class ReadDialogue(ReadMessage, kind="first_order", operation="model"):
    """First-order update: what does my teammate know after this dialogue?"""

    @property
    def holders(self) -> tuple[AgentId, ...]:
        """Who believes what is read: the agent, that the teammate does."""
        return self.respondent, self.teammate


@dataclass(frozen=True)
class _Planning(BeliefQuestion[Plans, Subplan], answer=Plans, sampling=_PLAN):
    def write(self, result: Subplan) -> Plans:
        """Write the subplan."""
        return Plans(steps=tuple(map(str, result.actions)), goal=result.goal)

    def check(self, answer: Plans) -> str | None:
        """Refuse an answer without a step that can be read, or whose first cannot start."""
        actions = read_steps(answer.steps, self.situation)
        if not actions:
            return "no step could be read: write one to three actions such as those you can do"
        verdict = self.situation.view.check(actions[0])
        return None if verdict.ok else f"{actions[0]} cannot start: {verdict.reason}"

    def read(self, answer: Plans) -> Subplan:
        """Return the subplan of an answer."""
        actions = read_steps(answer.steps, self.situation)[: self.situation.options.actions]
        return Subplan(actions, self.read_goal(answer.goal), " then ".join(answer.steps)[:300])

    def fallback(self) -> Plans:
        """Take the nearest option."""
        near = nearest_option(self.situation.view)
        return Plans(steps=(str(near.action),), goal=near.goal)

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """Offer the options and the open goals."""
        if field == "goal":
            return [*(goal.id for goal in open_goals(self.situation.goals.values())), None]
        return [str(option.action) for option in self.situation.view.options] if field == "steps" else ()


@dataclass(frozen=True)
class MakePlan(_Planning, kind="plan", operation="plan"):
    """Prediction and active planning: where may what is missing be, what do I do next?"""

    def infer(self) -> Subplan:
        """Return what is worth most a step; no prompt shows intents, so they count only without one."""
        is_asked = self.situation.options.by(self.operation) == "questions"
        teammates = () if is_asked else self.situation.teammates
        return planning.best_subplan(self.situation, planning.expected_intents(self.situation, teammates))

    def write(self, result: Subplan) -> Plans:
        """Write the subplan, and the likeliest value of what is missing."""
        likely = [max(latent.values, key=lambda value: value.weight) for latent in self.situation.latents]
        lines = tuple(str(Belief((self.respondent,), value.fact)) for value in likely if value.weight > 0)[:20]
        return super().write(result).model_copy(update={"likely": lines})


@dataclass(frozen=True)
class RemakePlan(_Planning, kind="replan", operation="replan"):
    """Passive planning: what do I do, given what the others announced?"""

    def context(self) -> dict[str, Any]:
        """Add what was announced, and who announced first."""
        plans = self.situation.announced.items()
        announced = {teammate: plan.subplan.text for teammate, plan in plans}
        return super().context() | {"announced": announced, "first": sorted(self.situation.yields_to)}

    def infer(self) -> Subplan:
        """Return what is worth most a step beside plans that were announced first."""
        situation = self.situation
        if situation.options.by(self.operation) == "exact":
            return planning.best_subplan(situation, planning.expected_intents(situation, situation.teammates))
        first = [teammate for teammate in situation.announced if teammate in situation.yields_to]
        plans = [intent for teammate in first for intent in planning.announced_intents(situation, teammate)]
        return planning.best_subplan(situation, plans)


@dataclass(frozen=True)
class PredictIntents(
    BeliefQuestion[Guesses, Sequence[Intent]],
    kind="intents",
    operation="intents",
    answer=Guesses,
    nothing=Guesses(subplans=()),
    sampling=_PLAN,
):
    """Prediction of a teammate: in its place, what would I do next?"""

    teammate: AgentId

    def context(self) -> dict[str, Any]:
        """Add what the teammate holds in its first person, as the agent believes."""
        theirs = self.ascribed([self.teammate]).get(self.teammate, ())
        return super().context() | {"mate": self.teammate, "theirs": theirs}

    def infer(self) -> Sequence[Intent]:
        """Return the likeliest of its options by what it holds."""
        return planning.predict_intents(self.situation, self.teammate, INTENTS)

    def write(self, result: Sequence[Intent]) -> Guesses:
        """Write the intents with their weights."""
        guesses = [
            Guess(
                steps=tuple(map(str, intent.subplan.actions)),
                goal=intent.option.goal,
                weight=min(1.0, intent.weight),
            )
            for intent in result
        ]
        return Guesses(subplans=tuple(guesses))

    def read(self, answer: Guesses) -> Sequence[Intent]:
        """Return the intents, with the weights that were given or those of their ranks."""
        guesses, situation, intents = answer.subplans[:INTENTS], self.situation, list[Intent]()
        weights = [guess.weight or 0.0 for guess in guesses]
        if sum(weights) <= 0 or any(guess.weight is None for guess in guesses):
            weights = list(WEIGHTS)
        scale = max(1.0, sum(weights[: len(guesses)]))
        for guess, weight in zip(guesses, weights, strict=False):
            actions = read_steps(guess.steps, situation, self.teammate)[: situation.options.actions]
            subplan = Subplan(actions, self.read_goal(guess.goal))
            options = subplan.options(self.teammate, situation.domain, situation.ascribed[self.teammate])
            intents += [Intent(self.teammate, option, weight / scale, actions) for option in options[:1]]
        return intents

    def check(self, answer: Guesses) -> str | None:
        """Refuse subplans none of which names an action."""
        if answer.subplans and not self.read(answer):
            return "no step could be read: write one to three actions such as those you can do"
        return None


@dataclass(frozen=True)
class Assess(
    BeliefQuestion[Judged, Assessment],
    kind="assess",
    operation="assess",
    answer=Judged,
    nothing=Judged(answer="no"),
    sampling=_READ,
):
    """Assessment: do our plans conflict, or does a teammate lack what matters?"""

    intents: Mapping[AgentId, tuple[Intent, ...]]

    def context(self) -> dict[str, Any]:
        """Add what every teammate holds as the agent believes, and its likely subplans."""
        held = self.ascribed(self.situation.teammates)
        likely = {agent: [intent.subplan.text for intent in intents] for agent, intents in self.intents.items()}
        return super().context() | {"minds": held, "likely": likely}

    def infer(self) -> Assessment:
        """Return what a message would save, and of what."""
        return messages.assess(self.situation, self.intents)

    def write(self, result: Assessment) -> Judged:
        """Write whether a message saves more steps than it takes."""
        if not result.speaks:
            return Judged(answer="no")
        beliefs = (Belief((self.respondent,), fact) for fact in result.facts[:20])
        return Judged(answer="yes", misaligned=tuple(map(str, beliefs)))

    def read(self, answer: Judged) -> Assessment:
        """Return the assessment, with those facts that the agent holds."""
        situation, speaks = self.situation, answer.answer == "yes"
        lines = read_lines(answer.misaligned, situation, (self.respondent,))
        held = [fact for fact in lines if fact in situation.facts]
        lacking = {teammate: situation.missing_from(teammate, held) for teammate in situation.teammates}
        return Assessment(
            speaks=speaks,
            lacking={teammate: facts for teammate, facts in lacking.items() if facts},
            against=situation.teammates if speaks else (),
        )


@dataclass(frozen=True)
class WriteMessage(
    BeliefQuestion[Words, MessageDraft],
    kind="message",
    operation="compose",
    answer=Words,
    nothing=Words(message=""),
    sampling=_PLAN,
):
    """Message: how do I tell them?"""

    assessment: Assessment

    def context(self) -> dict[str, Any]:
        """Add what is to be told."""
        facts = tuple(map(str, self.assessment.facts))
        return super().context() | {"facts": facts, "length": self.situation.options.length}

    def infer(self) -> MessageDraft:
        """Return the facts and the subplan, by a form."""
        return messages.draft_message(self.situation, self.assessment)

    def write(self, result: MessageDraft) -> Words:
        """Write the text."""
        return Words(message=result.text)

    def read(self, answer: Words) -> MessageDraft:
        """Return the message, with all facts that it is about."""
        plan = self.situation.subplan if self.assessment.announces else None
        text = answer.message.strip()[: self.situation.options.length]
        return MessageDraft(text, self.assessment.facts, plan, None)

    def check(self, answer: Words) -> str | None:
        """Refuse an empty message."""
        return None if answer.message.strip() else "the message is empty"


@dataclass(frozen=True)
class Ground(BeliefQuestion[Act, NextAction], kind="act", operation="ground", answer=Act, sampling=_READ):
    """Grounding: which of these actions comes next, or is the subplan done?"""

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
        """Return the subplan's next action; none where none can start."""
        return planning.next_action(self.situation)

    def write(self, result: NextAction) -> Act:
        """Write the action, or that all is done."""
        return Act(answer=DONE if result.action is None else str(result.action))

    def read(self, answer: Act) -> NextAction:
        """Return the action of an answer, none where all is done."""
        action, subplan = self._action(answer), self.situation.subplan
        return NextAction(action, subplan.goal if subplan is not None and action in subplan.actions else None)

    def _action(self, answer: Act) -> Action | None:
        if _is_done(answer):
            return None
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
        """Take the subplan's first action that can start."""
        return self.write(self.infer())

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """Offer the listed actions, and that the subplan is done."""
        return [*map(str, self.actions), DONE] if field == "answer" else ()

    def perturb(self, answer: Act, rng: np.random.Generator) -> Act:
        """Choose another of the listed actions."""
        others = [str(action) for action in self.actions if str(action) != answer.answer]
        return Act(answer=others[int(rng.integers(len(others)))]) if others else answer


#: All questions that an agent at work puts.
QUESTIONS: Final[tuple[type[Question[Any]], ...]] = (
    ReadMessage,
    ReadDialogue,
    MakePlan,
    PredictIntents,
    Assess,
    WriteMessage,
    RemakePlan,
    Ground,
)


def _is_done(answer: Act) -> bool:
    return action_text(answer.answer).casefold().startswith(DONE.casefold())


def nearest_option(view: View) -> Option:
    """Return the nearest option but to wait or to talk; to wait if there is none."""
    options = [option for option in view.options if option.action.verb not in ("wait", "talk")]
    return min(options, key=lambda option: option.steps, default=Option(WAIT, None, 1))


# ---- from lines to beliefs and actions; what cannot be read is left out


def read_lines(lines: Iterable[str], situation: Situation, holders: tuple[AgentId, ...]) -> tuple[Fact, ...]:
    """Return the facts of some lines that these agents hold and a rule admits."""
    beliefs = (_read_line(line, situation, holders) for line in lines)
    return tuple(dict.fromkeys(belief.fact for belief in beliefs if belief is not None))


def _read_line(line: str, situation: Situation, holders: tuple[AgentId, ...]) -> Belief | None:
    text = line if "believe" in line.casefold() else f"{show(holders[-1])} BELIEVE {line.strip(' -*`')}"
    if len(holders) == 2 and text.casefold().count("believe") == 1:
        text = f"{show(holders[0])} BELIEVE {text}"
    try:
        belief = read_belief(text, situation.rules.schema, situation.entities, (len(holders) - 1,))
    except (ParseError, ValueError):
        return None
    if belief.holders != holders or (situation.options.ruled and not situation.rules.admits(belief)):
        return None
    subject = belief.fact.subject
    is_known = len(holders) == 1 or subject in situation.team or subject in situation.entities
    return belief if is_known else None


def read_steps(texts: Sequence[str], situation: Situation, agent: AgentId | None = None) -> tuple[Action, ...]:
    """Return the actions that some words mean; of an agent of another kind only the written form."""
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
    """Return what an agent or a teammate holds of the world, in its first person."""
    facts = situation.facts_of(host)
    about: dict[Entity | str, list[Fact]] = {}
    for fact in facts:
        if fact.predicate not in situation.words.details:
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
    """Return the facts about one subject, with their age."""
    words = [f"{fact.predicate} {show(fact.value)}" for fact in facts]
    ages = [t - known.seen[fact] for fact in facts if fact in known.seen]
    age = f" ({max(ages)} steps ago)" if ages and max(ages) > 0 else ""
    return f"{', '.join(words)}{age}." if words else ""


def _list_values(latent: LatentVariable) -> str:
    values = ", ".join(f"{value.fact.predicate} {show(value.fact.value)}" for value in latent.values[:12])
    return f"{latent.name}; it may be {values}"
