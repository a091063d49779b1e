"""What CoBel-World asks its minds (spec A11).

Each question's rule is what inference says of what its prompt shows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeVar

import numpy as np
from pydantic import BaseModel

from teamworld.language import Action, AgentId, Belief, Fact
from teamworld.methods.cobel import exact, telling
from teamworld.methods.cobel.answers import DONE, Act, Guess, Guesses, Judged, Plans, Update, Words
from teamworld.methods.cobel.engine import Assessment, Grounded, Intent, Misaligned, Situation, Subplan, UpdateResult
from teamworld.methods.cobel.progress import progress
from teamworld.methods.cobel.reading import read_goal, read_line, read_steps
from teamworld.methods.cobel.ruling import ProposeRules, ReviewRules
from teamworld.methods.contract import Message
from teamworld.planning.action_parser import action_text, read_action
from teamworld.planning.candidates import complete_action
from teamworld.reasoning.contract import Question, Sampling
from teamworld.worlds.contract import View

#: Intents of a team-mate that are asked for, and their weights by rank where none are given (C13).
INTENTS: Final = 3
WEIGHTS: Final = (0.5, 0.3, 0.2)
_READ = Sampling(temperature=0.0, max_tokens=512)
_PLAN = Sampling(temperature=0.7, max_tokens=512)

Said = TypeVar("Said", bound=BaseModel)


@dataclass(frozen=True)
class Thinking(Question[Said]):
    """What every question of an agent at work is told."""

    respondent: AgentId
    views: Mapping[AgentId, View]
    now: Situation

    def context(self) -> dict[str, Any]:
        """The team, its task, the goals, and the agent's own progress."""
        now = self.now
        kinds = dict.fromkeys(now.team.values())
        return {
            "agent": self.respondent,
            "kind": now.view.kind,
            "team": {kind: [mate for mate in now.team if now.team[mate] == kind] for kind in kinds},
            "task": now.task,
            "abilities": [schema for schema in now.view.abilities if schema.verb != "talk"],
            "goals": [goal for goal in now.goals.values() if goal.state == "open"],
            "progress": progress(now, now.me),
            "steps_left": now.view.steps_left,
            "subplan": now.subplan.text if now.subplan is not None else "",
        }

    def text_store(self) -> list[tuple[str, str]]:
        """Return the dialogue, where that stands for what others know."""
        return [(one.sender, one.text) for one in self.now.chat] if self.now.options.store == "text" else []

    def mates(self) -> dict[AgentId, Any]:
        """Return what is believed that each team-mate holds, or the dialogue that stands for it."""
        if not self.now.options.first_order or self.now.options.store == "text":
            return {}
        return {mate: progress(self.now, mate) for mate in self.now.mates}


@dataclass(frozen=True)
class _Updating(Thinking[Update]):
    mate: AgentId
    answer: ClassVar[type[BaseModel]] = Update
    sampling: ClassVar[Sampling] = _READ
    order: ClassVar[int]

    @property
    @abstractmethod
    def said(self) -> Sequence[Message]:
        """What is to be read."""

    def context(self) -> dict[str, Any]:
        """With the rules and what was said."""
        heard = [(one.sender, one.text, tuple(map(str, one.facts))) for one in self.said]
        rules = [str(rule) for rule in self.now.rules.of_order(self.order)] if self.now.options.ruled else []
        return super().context() | {"rules": rules, "said": heard, "mate": self.mate}

    def read(self, answer: Update) -> UpdateResult:
        """Return the beliefs of an answer that the rules admit, and the plan; all else is left out and counted."""
        holders = (self.respondent,) if self.order == 0 else (self.respondent, self.mate)
        found, bad = list[Fact](), 0
        for line in answer.beliefs:
            belief = read_line(line, self.now, holders)
            if belief is None:
                bad += 1
            else:
                found.append(belief.fact)
        actions = read_steps(answer.plan, self.now)
        plan = (
            Subplan(actions, read_goal(answer.goal, self.now), " then ".join(answer.plan)[:300])
            if answer.plan
            else None
        )
        return UpdateResult(tuple(dict.fromkeys(found)), plan, bad)

    def check(self, answer: Update) -> str | None:
        """Lines that are no beliefs are left out, so nothing is refused (spec A6.2)."""
        return None

    def fallback(self) -> Update:
        """Nothing follows."""
        return Update()

    def written(self, found: UpdateResult) -> Update:
        """Return an update as an answer."""
        holders = (self.respondent,) if self.order == 0 else (self.respondent, self.mate)
        return Update(
            beliefs=tuple(str(Belief(holders, fact)) for fact in found.beliefs)[:40],
            plan=tuple(map(str, found.plan.actions))[:12] if found.plan is not None else (),
            goal=found.plan.goal if found.plan is not None else None,
        )


@dataclass(frozen=True)
class ReadMessage(_Updating):
    """What can I learn from this message?"""

    message: Message
    kind: ClassVar[str] = "cobel.zero_order"
    template: ClassVar[str] = "cobel/prompts/zero_order.md.j2"
    order: ClassVar[int] = 0

    @property
    def said(self) -> Sequence[Message]:
        """The message."""
        return (self.message,)

    def rule(self, rng: np.random.Generator) -> Update:
        """What the message says in the language of beliefs."""
        return self.written(exact.heard(self.now, self.message))


@dataclass(frozen=True)
class ReadDialogue(_Updating):
    """What does my team-mate know after this dialogue?"""

    kind: ClassVar[str] = "cobel.first_order"
    template: ClassVar[str] = "cobel/prompts/first_order.md.j2"
    order: ClassVar[int] = 1

    @property
    def said(self) -> Sequence[Message]:
        """What was said between the two since the last cycle."""
        return [
            one
            for one in self.now.dialogue
            if self.mate == one.sender or one.recipients is None or self.mate in one.recipients
        ]

    def rule(self, rng: np.random.Generator) -> Update:
        """What was said between the two in the language of beliefs."""
        return self.written(exact.modelled(self.now, self.mate))


@dataclass(frozen=True)
class _Planning(Thinking[Plans]):
    answer: ClassVar[type[BaseModel]] = Plans
    sampling: ClassVar[Sampling] = _PLAN

    def check(self, answer: Plans) -> str | None:
        """At least one step can be read, and the first can start as far as the agent knows."""
        actions = read_steps(answer.steps, self.now)
        if not actions:
            return "no step could be read: write one to three actions such as those you can do"
        verdict = self.now.view.check(actions[0])
        return None if verdict.ok else f"{actions[0]} cannot start: {verdict.reason}"

    def read(self, answer: Plans) -> Subplan:
        """Return the subplan of an answer."""
        actions = read_steps(answer.steps, self.now)[: self.now.options.actions]
        return Subplan(actions, read_goal(answer.goal, self.now), " then ".join(answer.steps)[:300])

    def guesses(self, answer: Plans) -> tuple[Fact, ...]:
        """Return what the answer takes to be likely, as far as it can be read."""
        found = (read_line(line, self.now, (self.respondent,), missing=True) for line in answer.likely)
        return tuple(dict.fromkeys(belief.fact for belief in found if belief is not None))

    def fallback(self) -> Plans:
        """The nearest option."""
        options = [option for option in self.now.view.options if option.action.verb not in ("wait", "talk")]
        near = min(options, key=lambda option: option.steps, default=None)
        return Plans(steps=("wait()",) if near is None else (str(near.action),), goal=near.goal if near else None)

    def offers(self, field: str, given: Mapping[str, Any]) -> Sequence[Any]:
        """The options and the tasks."""
        return _offered(field, self.now)


@dataclass(frozen=True)
class MakePlan(_Planning):
    """Where may what is missing be, and what do I do next?"""

    kind: ClassVar[str] = "cobel.plan"
    template: ClassVar[str] = "cobel/prompts/plan.md.j2"

    def rule(self, rng: np.random.Generator) -> Plans:
        """What is worth most a tick by what the agent itself holds, and the likeliest value of what is missing."""
        found = exact.best(self.now)
        likely = [max(values, key=lambda pair: pair[1])[0] for values in exact.predicted(self.now).values() if values]
        return Plans(
            steps=tuple(map(str, found.actions)),
            goal=found.goal,
            likely=tuple(str(Belief((self.respondent,), fact)) for fact in likely)[:20],
        )


@dataclass(frozen=True)
class RemakePlan(_Planning):
    """What do I do, given what the others announced?"""

    kind: ClassVar[str] = "cobel.replan"
    template: ClassVar[str] = "cobel/prompts/replan.md.j2"

    def context(self) -> dict[str, Any]:
        """With the plans that were announced."""
        told = {mate: one.subplan.text for mate, one in self.now.announced.items()}
        return super().context() | {"announced": told, "first": sorted(self.now.yields)}

    def rule(self, rng: np.random.Generator) -> Plans:
        """What is worth most a tick of what does not clash with these plans."""
        found = exact.passive(self.now)
        return Plans(steps=tuple(map(str, found.actions)), goal=found.goal)


@dataclass(frozen=True)
class PredictIntents(Thinking[Guesses]):
    """In my team-mate's place, what would I do next?"""

    mate: AgentId
    kind: ClassVar[str] = "cobel.intents"
    template: ClassVar[str] = "cobel/prompts/intents.md.j2"
    answer: ClassVar[type[BaseModel]] = Guesses
    sampling: ClassVar[Sampling] = _PLAN

    def context(self) -> dict[str, Any]:
        """With the team-mate's progress in its first person, as the agent believes it; or the dialogue."""
        kept = self.now.options.first_order and self.now.options.store == "tables"
        return super().context() | {
            "mate": self.mate,
            "theirs": progress(self.now, self.mate) if kept else (),
            "dialogue": self.text_store(),
        }

    def rule(self, rng: np.random.Generator) -> Guesses:
        """The likeliest of its options by what it holds."""
        found = exact.intents(self.now, self.mate, INTENTS)
        return Guesses(
            subplans=tuple(
                Guess(steps=tuple(map(str, one.subplan.actions)), goal=one.subplan.goal, weight=min(1.0, one.weight))
                for one in found
            )
        )

    def read(self, answer: Guesses) -> list[Intent]:
        """Return what can be read of the intents, with the weights that were given or those of their ranks."""
        found = []
        told = [guess.weight for guess in answer.subplans[:INTENTS]]
        weights = [one or 0.0 for one in told] if None not in told and sum(filter(None, told)) > 0 else list(WEIGHTS)
        scale = max(1.0, sum(weights[: len(told)]))
        for guess, weight in zip(answer.subplans[:INTENTS], weights, strict=False):
            actions = read_steps(guess.steps, self.now, self.mate)
            if actions:
                subplan = Subplan(actions[: self.now.options.actions], read_goal(guess.goal, self.now))
                (option, *_) = exact.options_of(self.now.domain, self.mate, subplan, self.now.minds[self.mate])
                found.append(Intent(self.mate, subplan, weight / scale, option.steps))
        return found

    def check(self, answer: Guesses) -> str | None:
        """At least one of the subplans names an action, unless there are none."""
        if answer.subplans and not self.read(answer):
            return "no step could be read: write one to three actions such as those you can do"
        return None

    def fallback(self) -> Guesses:
        """Nothing is known."""
        return Guesses(subplans=())


@dataclass(frozen=True)
class Assess(Thinking[Judged]):
    """Do our plans clash, or does somebody lack what I know, so that it matters?"""

    intents: Mapping[AgentId, tuple[Intent, ...]]
    kind: ClassVar[str] = "cobel.assess"
    template: ClassVar[str] = "cobel/prompts/assess.md.j2"
    answer: ClassVar[type[BaseModel]] = Judged
    sampling: ClassVar[Sampling] = _READ

    def context(self) -> dict[str, Any]:
        """With every team-mate's progress as the agent believes it, and its likely subplans."""
        told = {mate: [one.subplan.text for one in some] for mate, some in self.intents.items()}
        return super().context() | {"minds": self.mates(), "likely": told, "dialogue": self.text_store()}

    def rule(self, rng: np.random.Generator) -> Judged:
        """Whether a message saves more ticks than it takes."""
        found = telling.assessed(self.now, self.intents)
        facts = dict.fromkeys(fact for one in found.misaligned for fact in one.facts)
        return Judged(
            reasons=tuple(found.reasons),
            answer="yes" if found.clash else "no",
            misaligned=tuple(str(Belief((self.respondent,), fact)) for fact in facts)[:20] if found.clash else (),
        )

    def read(self, answer: Judged) -> Assessment:
        """Return the assessment, with the facts that the agent itself holds; what it made up is left out."""
        lines = (read_line(line, self.now, (self.respondent,)) for line in answer.misaligned)
        held = tuple(dict.fromkeys(line.fact for line in lines if line is not None and line.fact in self.now.given))
        from_me = {mate: telling.lacking(self.now, mate, held) for mate in self.now.mates}
        return Assessment(
            clash=answer.answer == "yes",
            kind="knowledge" if held else "plans" if answer.answer == "yes" else "none",
            severity=1.0 if answer.answer == "yes" else 0.0,
            reasons=answer.reasons[:3],
            misaligned=tuple(Misaligned(mate, facts, 0.0) for mate, facts in from_me.items() if facts),
            against=self.now.mates if answer.answer == "yes" else (),
        )

    def check(self, answer: Judged) -> str | None:
        """Any answer will do."""
        return None

    def fallback(self) -> Judged:
        """No message."""
        return Judged(answer="no")


@dataclass(frozen=True)
class WriteMessage(Thinking[Words]):
    """How do I tell them?"""

    found: Assessment
    kind: ClassVar[str] = "cobel.message"
    template: ClassVar[str] = "cobel/prompts/message.md.j2"
    answer: ClassVar[type[BaseModel]] = Words
    sampling: ClassVar[Sampling] = _PLAN

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What the others do not know."""
        return tuple(dict.fromkeys(fact for one in self.found.misaligned for fact in one.facts))

    def context(self) -> dict[str, Any]:
        """With what is to be told."""
        return super().context() | {"facts": tuple(map(str, self.facts)), "length": self.now.options.length}

    def rule(self, rng: np.random.Generator) -> Words:
        """Both by a form."""
        return Words(message=telling.letter(self.now, self.found).text)

    def check(self, answer: Words) -> str | None:
        """It says something."""
        return None if answer.message.strip() else "the message is empty"

    def fallback(self) -> Words:
        """Nothing is said."""
        return Words(message="")


@dataclass(frozen=True)
class Ground(Thinking[Act]):
    """Which of these actions comes next, or is the subplan done?"""

    kind: ClassVar[str] = "cobel.act"
    template: ClassVar[str] = "cobel/prompts/act.md.j2"
    answer: ClassVar[type[BaseModel]] = Act
    sampling: ClassVar[Sampling] = _READ

    @property
    def actions(self) -> tuple[Action, ...]:
        """What is listed: what can start now, the subplan's own actions first."""
        own = self.now.subplan.actions if self.now.subplan is not None else ()
        listed = [action for action in own if self.now.view.check(action).ok]
        listed += [complete_action(option.action, self.now.view) for option in self.now.view.options]
        return tuple(dict.fromkeys(action for action in listed if action.verb != "talk"))

    def context(self) -> dict[str, Any]:
        """With the subplan, what was done under it, and what can be done now."""
        return super().context() | {
            "actions": self.actions,
            "past": self.now.done,
            "keyword": DONE,
        }

    def read(self, answer: Act) -> Grounded:
        """Return the action of an answer: its written form, number or words; none where it says that all is done."""
        words = action_text(answer.answer)
        if words.casefold().startswith(DONE.casefold()):
            return Grounded(None)
        action = read_action(answer.answer, self.now.view, self.now.domain, self.actions)
        if action is None:
            return Grounded(None)
        own = self.now.subplan
        goal = own.goal if own is not None and action in own.actions else None
        return Grounded(action, goal)

    def rule(self, rng: np.random.Generator) -> Act:
        """The subplan's next action that can start."""
        found = exact.grounded(self.now)
        return Act(answer=DONE if found.action is None else str(found.action))

    def check(self, answer: Act) -> str | None:
        """It is done, or an action that can start."""
        if action_text(answer.answer).casefold().startswith(DONE.casefold()):
            return None
        action = read_action(answer.answer, self.now.view, self.now.domain, self.actions)
        if action is None:
            return f"'{answer.answer[:80]}' is none of the listed actions, nor {DONE}"
        verdict = self.now.view.check(action)
        return None if verdict.ok else f"{action} cannot start: {verdict.reason}"

    def fallback(self) -> Act:
        """The subplan's first action that can start, else that it is done."""
        found = exact.grounded(self.now)
        return Act(answer=DONE if found.action is None else str(found.action))

    def offers(self, field: str, given: Mapping[str, Any]) -> Sequence[Any]:
        """The listed actions, and that it is done."""
        return [*map(str, self.actions), DONE] if field == "answer" else ()

    def perturb(self, answer: Act, rng: np.random.Generator) -> Act:
        """Choose another of the listed actions."""
        others = [str(action) for action in self.actions if str(action) != answer.answer]
        return Act(answer=others[int(rng.integers(len(others)))]) if others else answer


QUESTIONS: Final[tuple[type[Question[Any]], ...]] = (
    ProposeRules,
    ReviewRules,
    ReadMessage,
    ReadDialogue,
    MakePlan,
    PredictIntents,
    Assess,
    WriteMessage,
    RemakePlan,
    Ground,
)


def _offered(field: str, now: Situation) -> Sequence[Any]:
    if field == "goal":
        return [*(goal.id for goal in now.goals.values() if goal.state == "open"), None]
    return [str(option.action) for option in now.view.options] if field == "steps" else ()
