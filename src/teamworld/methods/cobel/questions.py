"""The questions of CoBel-World's operations on beliefs, one for each operation.

Each question has a rule, ``infer``. With the engine ``exact`` it gives the result and nobody is asked. With
``questions`` a reasoner answers, and ``read`` gives the result; the built-in rules answer ``write(infer())``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import fsum
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, TypeVar, cast

import numpy as np
from pydantic import BaseModel

from teamworld.language import Action, AgentId, Belief, Fact, GoalId, plain
from teamworld.methods.cobel import knowledge, messages, planning
from teamworld.methods.cobel.answers import (
    DONE,
    Act,
    Beliefs,
    Guess,
    Guesses,
    Judged,
    Plans,
    Update,
    Words,
    read_lines,
    read_steps,
)
from teamworld.methods.cobel.knowledge import Believed
from teamworld.methods.cobel.situation import (
    Assessment,
    BeliefUpdate,
    Intent,
    MessageDraft,
    NextAction,
    Situation,
    Subplan,
)
from teamworld.methods.contract import Message
from teamworld.planning.action_parser import read_action
from teamworld.planning.candidates import complete_action
from teamworld.planning.goals import open_goals
from teamworld.reasoning.contract import Question, Sampling
from teamworld.worlds.contract import WAIT, Option, View

#: Intents of a teammate that are asked for, and their weights by rank where none are given.
INTENTS: Final = 3
WEIGHTS: Final = (0.5, 0.3, 0.2)
#: Sampling where what was said is extracted, and where something is thought up.
_READ: Final = Sampling(temperature=0.0, max_tokens=512)
_PLAN: Final = Sampling(temperature=0.7, max_tokens=512)

Said = TypeVar("Said", bound=BaseModel)
Result = TypeVar("Result")


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
        if self.operation in ("hear", "model", "assess", "ground"):
            warmth = self.situation.options.temperature
            object.__setattr__(self, "sampling", self.sampling._replace(temperature=warmth))

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

    @cached_property
    def me(self) -> Believed:
        """What the shared blocks show."""
        return knowledge.knowledge(self.situation)

    def context(self) -> dict[str, Any]:
        """The question, and what the agent knows under the name that the shared blocks read."""
        return {"q": self, "me": self.me}

    @property
    def is_ascribed(self) -> bool:
        """Whether it is kept what teammates hold; else the dialogue stands for it."""
        return self.situation.options.first_order and self.situation.options.store == "tables"

    @property
    def told_facts(self) -> Sequence[str]:
        """What the agent holds beside what it perceived."""
        return knowledge.describe_told(self.situation)

    @property
    def missing(self) -> Sequence[str]:
        """Where what is not known may be."""
        return knowledge.describe_missing(self.situation.latents)

    @property
    def announced(self) -> Sequence[tuple[AgentId, str, str]]:
        """Who announced which plan, and how it stands."""
        return knowledge.describe_announced(self.situation)

    @property
    def subplan(self) -> str:
        """The subplan in words."""
        return self.situation.subplan.text if self.situation.subplan is not None else ""

    @property
    def joint_goal(self) -> GoalId | None:
        """The goal of the last subplan, where it is open and takes several agents: it is worth keeping to."""
        last = self.situation.last_goal
        goal = self.situation.goals.get(last) if last is not None else None
        return last if goal is not None and goal.state == "open" and goal.quorum > 1 else None

    @property
    def vain(self) -> Sequence[tuple[str, str, int]]:
        """What was in vain, why unless that stands in its past, and until which step it is of no use."""
        lines, shown = list[tuple[str, str, int]](), {outcome.action for outcome in self.me.past}
        ended = {outcome.action: outcome for outcome in self.situation.view.history}
        goals = self.situation.goals.values()
        over = {goal.thing for goal in goals} - {goal.thing for goal in goals if goal.state == "open"}
        for action, until in self.situation.vain.items():
            if not over.isdisjoint(action.args):
                continue  # nobody would try that again
            status, reason = ended[action][1:3] if action in ended else ("done", "")
            why = f"failed, {reason}" if reason and action not in shown else "failed"
            lines.append((plain(action), why if status == "failed" else "changed nothing", until))
        return lines

    def differences(self, teammate: AgentId) -> Sequence[str]:
        """Return what a teammate holds, as far as it differs from what the agent holds."""
        return knowledge.describe_difference(self.situation, teammate) if self.is_ascribed else ()

    def read_goal(self, goal: GoalId | None) -> GoalId | None:
        """Return a goal if the agent knows of it."""
        return goal if goal in self.situation.goals else None


@dataclass(frozen=True)
class _Reading(BeliefQuestion[Said, BeliefUpdate], Generic[Said], sampling=_READ):
    """What follows from what was said."""

    teammate: AgentId
    said: Sequence[Message]
    departures = MappingProxyType(
        dict.fromkeys(
            ("mission", "world_rules", "abilities", "who", "situation", "team", "tasks", "own", "said", "options"),
            "what is read is what was said, by the belief rules, and nothing else (figures 8 and 9)",
        )
    )

    @property
    def holders(self) -> tuple[AgentId, ...]:
        """Who believes what is read: the agent."""
        return (self.respondent,)

    @property
    def kept(self) -> Sequence[str]:
        """The belief rules that what is read has to fit."""
        of_order = self.situation.rules.of_order(len(self.holders) - 1)
        return [str(rule) for rule in of_order] if self.situation.options.ruled else []

    def infer(self) -> BeliefUpdate:
        """Return the facts that were said, and the teammate's plan."""
        return messages.read_messages(self.situation, self.teammate, self.said)

    def lines(self, result: BeliefUpdate) -> tuple[str, ...]:
        """Return what was said in the language of beliefs."""
        since = {fact: f" (step {step})" for fact, step in result.since.items()}
        return tuple(f"{plain(Belief(self.holders, fact))}{since.get(fact, '')}" for fact in result.beliefs)[:40]


@dataclass(frozen=True)
class ReadMessage(_Reading[Update], kind="zero_order", operation="hear", answer=Update, nothing=Update()):
    """Zero-order update: what can I learn from this message?"""

    def write(self, result: BeliefUpdate) -> Update:
        """Write what was said, and the teammate's plan."""
        plan, own = result.plan, result.asks.get(self.respondent)
        return Update(
            beliefs=self.lines(result),
            goal=plan.goal if plan is not None else None,
            plan=tuple(map(plain, plan.actions))[:12] if plan is not None else (),
            asked=tuple(map(plain, own.actions))[:12] if own is not None else (),
        )

    def read(self, answer: Update) -> BeliefUpdate:
        """Return the beliefs of an answer that the rules admit, and the plan."""
        situation, since = self.situation, dict[Fact, int]()
        facts = read_lines(answer.beliefs, situation, self.holders, since)
        if not answer.plan:
            return BeliefUpdate(facts, since=since)
        actions, goal = read_steps(answer.plan, situation, self.teammate), self.read_goal(answer.goal)
        first = next((steps for steps in map(messages.read_steps_to_go, self.said) if steps is not None), None)
        asked = read_steps(answer.asked, situation)
        asks = {self.respondent: Subplan(asked, goal if _is_joint(situation, goal) else None)} if asked else {}
        return BeliefUpdate(facts, Subplan(actions, goal, " then ".join(answer.plan)[:300]), first, asks, since)


@dataclass(frozen=True)
class ReadDialogue(_Reading[Beliefs], kind="first_order", operation="model", answer=Beliefs, nothing=Beliefs()):
    """First-order update: what does my teammate know after this dialogue?"""

    @property
    def holders(self) -> tuple[AgentId, ...]:
        """Who believes what is read: the agent, that the teammate does."""
        return self.respondent, self.teammate

    def write(self, result: BeliefUpdate) -> Beliefs:
        """Write what was said."""
        return Beliefs(beliefs=self.lines(result))

    def read(self, answer: Beliefs) -> BeliefUpdate:
        """Return the beliefs of an answer that the rules admit."""
        return BeliefUpdate(read_lines(answer.beliefs, self.situation, self.holders))


@dataclass(frozen=True)
class _Planning(BeliefQuestion[Plans, Subplan], answer=Plans, sampling=_PLAN):
    @property
    def given_up(self) -> str:
        """The subplan that the agent has just given up, and why."""
        former, why, left = self.situation.former, self.situation.given_up, self.situation.left
        if former is None or not former.actions:
            return ""
        if left is not None:
            return f"{why}, so your plan for it ended; left of it: `{'; '.join(map(plain, left))}`."
        return f"`{former.text}` was your plan until now: {why}."

    def write(self, result: Subplan) -> Plans:
        """Write the subplan."""
        return Plans(goal=result.goal, steps=tuple(map(plain, result.actions)))

    def check(self, answer: Plans) -> str | None:
        """Refuse an answer without a step that can be read, or whose first cannot start."""
        actions = read_steps(answer.steps, self.situation)
        if not actions:
            return "no step could be read: write actions such as those you can do"
        verdict = self.situation.view.check(actions[0])
        return None if verdict.ok else plain(f"{actions[0]} cannot start: {verdict.reason}")

    def read(self, answer: Plans) -> Subplan:
        """Return the subplan of an answer."""
        actions = read_steps(answer.steps, self.situation)[: self.situation.options.actions]
        return Subplan(actions, self.read_goal(answer.goal), " then ".join(answer.steps)[:300])

    def fallback(self) -> Plans:
        """Take the nearest option."""
        near = nearest_option(self.situation.view)
        return Plans(goal=near.goal, steps=(plain(near.action),))

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """Offer the options and the open goals."""
        if field == "goal":
            return [*(goal.id for goal in open_goals(self.situation.goals.values())), None]
        return [plain(option.action) for option in self.situation.view.options] if field == "steps" else ()

    def perturb(self, answer: Plans, rng: np.random.Generator) -> Plans:
        """Begin with another option, for its task."""
        others = [option for option in self.situation.view.options if plain(option.action) not in answer.steps[:1]]
        if not others:
            return answer
        option = others[int(rng.integers(len(others)))]
        return answer.model_copy(update={"goal": option.goal, "steps": (plain(option.action),)})


@dataclass(frozen=True)
class MakePlan(_Planning, kind="plan", operation="plan"):
    """Prediction and active planning: where may what is missing be, what do I do next?"""

    def infer(self) -> Subplan:
        """Return what is worth most a step; no prompt shows intents, so they count only without one."""
        is_asked = self.situation.options.by(self.operation) == "questions"
        teammates = () if is_asked else self.situation.teammates
        return planning.best_subplan(self.situation, planning.expected_intents(self.situation, teammates))


@dataclass(frozen=True)
class RemakePlan(_Planning, kind="replan", operation="replan"):
    """Passive planning: what do I do, given what the others announced?"""

    def infer(self) -> Subplan:
        """Return what is worth most a step beside plans that were announced."""
        situation = self.situation
        if situation.options.by(self.operation) == "exact":
            return planning.best_subplan(situation, planning.expected_intents(situation, situation.teammates))
        plans = [intent for mate in situation.announced for intent in planning.announced_intents(situation, mate)]
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
    departures = MappingProxyType(
        {
            "world_rules": "what the teammate could do is listed with its steps and what it finds (figure 10)",
            "abilities": "what the teammate could do is listed with its steps: it may be of another kind (figure 10)",
            "team": "it is about one teammate (figure 10)",
            "own": "the teammate does not know it (figure 10)",
            "tasks": "they stand there as they are for the teammate (figure 10)",
            "options": "the teammate's stand there (figure 10)",
        }
    )

    @property
    def theirs(self) -> Sequence[str]:
        """What the teammate could do next."""
        return knowledge.describe_options(self.situation, self.teammate)

    @property
    def tasks(self) -> Sequence[tuple[GoalId, str]]:
        """The open tasks as they stand for the teammate, by what it holds."""
        situation, facts = self.situation, self.situation.ascribed[self.teammate]
        goals = open_goals(situation.domain.goals(facts))
        return [(goal.id, situation.domain.describe_goal(goal, self.teammate, facts)) for goal in goals]

    def infer(self) -> Sequence[Intent]:
        """Return the likeliest of its options by what it holds."""
        return planning.predict_intents(self.situation, self.teammate, INTENTS)

    def write(self, result: Sequence[Intent]) -> Guesses:
        """Write the intents with their weights."""
        guesses = [
            Guess(
                goal=intent.option.goal,
                steps=tuple(map(plain, intent.subplan.actions)),
                weight=round(min(1.0, intent.weight), 3),
            )
            for intent in result
        ]
        return Guesses(subplans=tuple(guesses))

    def read(self, answer: Guesses) -> Sequence[Intent]:
        """Return the intents, with the weights that were given or those of their ranks."""
        guesses, situation, intents = answer.subplans[:INTENTS], self.situation, list[Intent]()
        weights = [guess.weight or 0.0 for guess in guesses]
        if fsum(weights) <= 0 or any(guess.weight is None for guess in guesses):
            weights = list(WEIGHTS)
        scale = max(1.0, fsum(weights[: len(guesses)]))
        for guess, weight in zip(guesses, weights, strict=False):
            actions = read_steps(guess.steps, situation, self.teammate)[: situation.options.actions]
            subplan = Subplan(actions, self.read_goal(guess.goal))
            options = subplan.options(self.teammate, situation.domain, situation.ascribed[self.teammate])
            intents += [Intent(self.teammate, option, weight / scale, actions) for option in options[:1]]
        return intents

    def check(self, answer: Guesses) -> str | None:
        """Refuse subplans none of which names an action."""
        if answer.subplans and not self.read(answer):
            return "no step could be read: write actions such as those that are listed"
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
    departures = MappingProxyType(
        {
            "abilities": "it judges plans that are made (figure 12)",
            "team": "each teammate stands there with what it lacks and its likely plans (figure 12)",
            "own": "the subplan to be judged stands there (figure 12)",
            "options": "it judges plans that are made (figure 12)",
        }
    )

    @cached_property
    def estimate(self) -> messages.Estimate:
        """What a message would save."""
        return messages.estimate(self.situation, self.intents)

    @property
    def lacking(self) -> Sequence[tuple[str, str]]:
        """What matters and some teammate does not hold, with who does not."""
        situation = self.situation
        facts, without = self.estimate.facts, dict[Fact, list[AgentId]]()
        for teammate in situation.teammates:
            for fact in situation.missing_from(teammate, facts):
                without.setdefault(fact, []).append(teammate)
        return [(plain(fact), ", ".join(without[fact])) for fact in facts if fact in without]

    @property
    def likely(self) -> Sequence[tuple[AgentId, str, Sequence[str]]]:
        """Teammates, whether they are in sight, and their likely plans with their probabilities; none together."""
        situation, groups = self.situation, dict[tuple[str, tuple[str, ...]], list[AgentId]]()
        for teammate in situation.teammates:
            met = situation.last_met.get(teammate)
            sight = "in sight" if met == situation.view.t else "out of sight" if met is not None else "not seen yet"
            plans = tuple(knowledge.describe_intent(situation, intent) for intent in self.intents.get(teammate, ()))
            groups.setdefault((sight, plans), []).append(teammate)
        return [(", ".join(alike), sight, plans) for (sight, plans), alike in groups.items()]

    @property
    def steps_to_begin(self) -> int:
        """Estimated steps until the first action of the subplan is done."""
        plan = self.situation.subplan
        return messages.steps_to_begin(self.situation, plan) if plan is not None else 0

    @property
    def is_announced(self) -> bool:
        """Whether the subplan has been announced."""
        own = self.situation.own_announcement
        return own is not None and own.subplan == self.situation.subplan

    def infer(self) -> Assessment:
        """Return what a message would save, and of what."""
        return messages.assess(self.situation, self.intents)

    def write(self, result: Assessment) -> Judged:
        """Write whether a message saves more steps than it takes."""
        if not result.speaks:
            return Judged(answer="no")
        return Judged(reasoning=result.reason, answer="yes", misaligned=tuple(map(plain, result.facts[:20])))

    def perturb(self, answer: Judged, rng: np.random.Generator) -> Judged:
        """Speak where it does not pay, of one thing that is lacking, or be silent where it does."""
        if answer.answer == "yes":
            return Judged(answer="no")
        lacking = [fact for fact, _ in self.lacking[:20]]
        return Judged(answer="yes", misaligned=tuple(lacking[at] for at in rng.permutation(len(lacking))[:1]))

    def read(self, answer: Judged) -> Assessment:
        """Return the assessment, with those facts that the agent holds."""
        situation, speaks = self.situation, answer.answer == "yes"
        lines = read_lines(answer.misaligned, situation, (self.respondent,))
        held = messages.with_containers(situation, [fact for fact in lines if fact in situation.facts])
        lacking = {teammate: situation.missing_from(teammate, held) for teammate in situation.teammates}
        conflicts = {teammate: self._conflicts(intents) for teammate, intents in self.intents.items()}
        against = [teammate for teammate, plans in conflicts.items() if plans]
        against = against or [teammate for teammate in situation.teammates if not held]
        keeps = {
            teammate
            for teammate, plans in conflicts.items()
            if plans and all(planning.stands(situation, plan) for plan in plans)
        }
        return Assessment(
            speaks=speaks,
            lacking={teammate: facts for teammate, facts in lacking.items() if facts},
            against=tuple(teammate for teammate in against if teammate not in keeps) if speaks else (),
            reason=answer.reasoning,
        )

    def _conflicts(self, intents: Iterable[Intent]) -> list[Intent]:
        cost, facts = self.situation.domain.beliefs.conflict_cost, self.situation.facts
        own = self.situation.own_options[:1]
        return [intent for intent in intents for option in own if cost(option, intent.option, facts) > 0]


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
    departures = MappingProxyType(
        dict.fromkeys(
            (
                *("mission", "world_rules", "abilities", "quotes", "who", "situation", "team", "tasks", "own", "said"),
                "options",
            ),
            "a message is written of what others lack and of the subplan, and of nothing else (figure 13)",
        )
    )

    @property
    def facts(self) -> Sequence[str]:
        """What is to be told."""
        return tuple(messages.dated(self.situation, fact) for fact in self.assessment.facts)

    @property
    def asks(self) -> Sequence[tuple[str, str]]:
        """What others could do beside the subplan."""
        parts = messages.divide_work(self.situation, self.assessment) if self.assessment.announces else {}
        return messages.group_asks(parts)

    @property
    def steps_to_begin(self) -> int:
        """Estimated steps until the first action of the subplan is done, the message included."""
        plan = self.situation.subplan
        return messages.steps_when_told(self.situation, plan) if plan is not None else 0

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

    departures = MappingProxyType(
        {
            "world_rules": "it chooses among listed actions, with their steps (figure 14)",
            "abilities": "it chooses among listed actions, with their steps (figure 14)",
            "team": "the subplan was made beside what the others do (figure 14)",
            "options": "they stand there after the subplan's own actions (figure 14)",
        }
    )

    @property
    def actions(self) -> tuple[Action, ...]:
        """What is listed: what can start now, the subplan's own actions first."""
        return tuple(option.action for option in self.listed)

    @cached_property
    def listed(self) -> Sequence[Option]:
        """The same as options."""
        situation = self.situation
        possible = {complete_action(option.action, situation.view): option for option in self.me.options}
        left = planning.remaining_actions(situation)
        own = {complete_action(o.action, situation.view): o for o in situation.own_options if o.action in left}
        able = {action: option for action, option in own.items() if situation.view.check(action).ok}
        # An option for the world's own goal says more than the subplan's.
        options = {**able, **{action: option for action, option in possible.items() if action.verb != "talk"}}
        return [option._replace(action=action) for action, option in options.items()]

    @property
    def doing(self) -> Action | None:
        """What runs, complete with its defaults as the listed actions are."""
        doing = self.me.doing
        return None if doing is None else complete_action(doing, self.situation.view)

    @property
    def left(self) -> str:
        """What of the subplan is not done, and what of it failed."""
        failed = [plain(outcome.action) for outcome in self.situation.outcomes if outcome.status == "failed"]
        left = "; ".join(map(plain, planning.remaining_actions(self.situation))) or "nothing"
        return f"{left} ({', '.join(failed)} failed)" if failed else left

    def infer(self) -> NextAction:
        """Return the subplan's next action, or what new findings make worth more; none where none can start."""
        return planning.updated_action(self.situation)

    def write(self, result: NextAction) -> Act:
        """Write the action, or that all is done."""
        return Act(answer=DONE if result.action is None else plain(result.action))

    def read(self, answer: Act) -> NextAction:
        """Return the action of an answer, none where all is done."""
        action, subplan = self._action(answer), self.situation.subplan
        if subplan is not None and action in subplan.actions:
            return NextAction(action, subplan.goal)
        return NextAction(action, next((option.goal for option in self.listed if option.action == action), None))

    def _action(self, answer: Act) -> Action | None:
        if answer.is_done:
            return None
        return read_action(answer.answer, self.situation.view, self.situation.domain, self.actions)

    def check(self, answer: Act) -> str | None:
        """Refuse what is neither the keyword nor an action that can start."""
        if answer.is_done:
            return None
        action = self._action(answer)
        if action is None:
            return f"'{answer.answer[:80]}' is none of the listed actions, nor {DONE}"
        verdict = self.situation.view.check(action)
        return None if verdict.ok else plain(f"{action} cannot start: {verdict.reason}")

    def fallback(self) -> Act:
        """Take the subplan's first action that can start."""
        return self.write(self.infer())

    def offers(self, field: str, answered: Mapping[str, Any]) -> Sequence[Any]:
        """Offer the listed actions, and that the subplan is done."""
        return [*map(plain, self.actions), DONE] if field == "answer" else ()

    def perturb(self, answer: Act, rng: np.random.Generator) -> Act:
        """Choose another of the listed actions."""
        others = [plain(action) for action in self.actions if plain(action) != answer.answer]
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


def nearest_option(view: View) -> Option:
    """Return the nearest option but to wait or to talk; to wait if there is none."""
    options = [option for option in view.options if option.action.verb not in ("wait", "talk")]
    return min(options, key=lambda option: option.steps, default=Option(WAIT, None, 1))


def _is_joint(situation: Situation, goal: GoalId | None) -> bool:
    return goal is not None and goal in situation.goals and situation.goals[goal].quorum > 1
