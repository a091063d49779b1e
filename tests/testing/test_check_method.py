"""The suites for methods and minds: the built-in ones pass, and each check finds a method that breaks it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any, ClassVar

import numpy as np
import pytest
from pydantic import BaseModel

from teamworld import plugins
from teamworld.errors import UserError
from teamworld.language import AgentId, Plan
from teamworld.memory.contract import MemoryDelta
from teamworld.methods import registry
from teamworld.methods.common.plan_answers import standby_plan
from teamworld.methods.contract import WAIT, Choice, Decision, DecisionContext, Message
from teamworld.reasoning.contract import Answer, Question, Rejected, Reply, Sampling
from teamworld.reasoning.rules import NoisyRules, RuleReasoner
from teamworld.record import Event
from teamworld.testing import METHOD_CHECKS, Nonconformance, check_method, check_reasoner
from teamworld.testing import methods as suite
from teamworld.testing.episodes import PlayedEpisode, Scenario, play
from teamworld.worlds.contract import View
from tests.methods.single_steps import MATRIX
from tests.testing.broken import Idle, Meddles, Raises

LEVELS = [("rooms", "one"), ("rooms", "two")]


@pytest.mark.heavy
@pytest.mark.parametrize("label", ["drwell", "greedy", "random", "zero_shot"])
def test_built_in_methods_keep_the_contract(label: str) -> None:
    check_method(label, skip=MATRIX)


def test_variants_and_options_are_checked_too() -> None:
    check_method("drwell:free_chat", levels=LEVELS, skip=["deaths"])
    check_method("drwell", {"explore": 1}, levels=LEVELS[:1], skip=["deaths", "same-seed", "any-order"])


def test_an_episode_that_several_checks_look_at_is_played_once(monkeypatch: pytest.MonkeyPatch) -> None:
    played: Counter[str] = Counter()

    def counted(label: str, stage: Scenario, options: Mapping[str, Mapping[str, Any]], **how: Any) -> PlayedEpisode:
        played[f"{stage!r} {how}" if how else f"{stage!r}"] += 1
        return play(label, stage, options, **how)

    monkeypatch.setattr(suite, "play", counted)
    check_method("do_nothing", levels=LEVELS[:1], skip=["deaths"])
    assert sorted(played.values()) == [1] * (len(played) - 2) + [2, 2], "again for the same bytes, under both rules"


# ---- methods that break it


class Letter(BaseModel):
    """One word."""

    word: str


@dataclass(frozen=True)
class Ask(Question[Letter]):
    """Say a word."""

    respondent: AgentId
    views: Mapping[AgentId, View]

    kind: ClassVar[str] = "broken.ask"
    template: ClassVar[str] = "tests.testing:letter.md.j2"
    answer: ClassVar[type[BaseModel]] = Letter
    sampling: ClassVar[Sampling] = Sampling(0.0, 10)

    def context(self) -> dict[str, Any]:
        return {"agent": self.respondent}

    def rule(self, rng: np.random.Generator) -> Letter:
        return Letter(word="no")

    def check(self, answer: Letter) -> str | None:
        return None if answer.word == "yes" else "say yes"

    def fallback(self) -> Letter:
        return Letter(word="yes")


class BadRule(Idle):
    questions: ClassVar[tuple[type[Question[Any]], ...]] = (Ask,)

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        for agent in context.free:
            await context.ask(Ask(agent, {agent: context.views[agent]}))
        return dict.fromkeys(context.free, WAIT)


class Dice(Idle):
    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        type(self).turn += 1
        plan = [standby_plan(self.domain, context.views[agent]) for agent in context.free]
        return {a: Choice(p, cause=f"throw {self.turn}") for a, p in zip(context.free, plan, strict=True)}


class FirstCome(Idle):
    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        self.order = []

        async def think(agent: AgentId) -> None:
            await context.ask(Fine(agent, {agent: context.views[agent]}))
            self.order.append(agent)

        await context.together({agent: think(agent) for agent in context.free})
        for agent in self.order:
            context.post(Message(agent, "inform", "I was ready"))
        return dict.fromkeys(context.free, WAIT)


@dataclass(frozen=True)
class Fine(Ask):
    """Say a word, and the rule says the right one."""

    kind: ClassVar[str] = "broken.fine"

    def rule(self, rng: np.random.Generator) -> Letter:
        return Letter(word="yes")


@dataclass(frozen=True)
class Hopeless(Fine):
    """There is nothing to fall back to."""

    kind: ClassVar[str] = "broken.hopeless"

    def fallback(self) -> Letter:
        raise NotImplementedError("somebody always answers")


class NeedsAnswers(Idle):
    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        questions = {agent: Hopeless(agent, {agent: context.views[agent]}) for agent in context.free}
        await context.together({agent: context.ask(question) for agent, question in questions.items()})
        return dict.fromkeys(context.free, WAIT)


class NeedsWords(Idle):
    """Counts on every word that was said."""

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        meeting = context.open_meeting(context.free)
        for agent in meeting.members:
            meeting.say(Message(agent, "inform", "here I am"))
        for agent in meeting.members:
            if len(meeting.heard(agent)) != len(meeting.members):
                raise LookupError(f"{agent} did not hear everybody")
        return dict.fromkeys(context.free, WAIT)


class CountsOnAll(Idle):
    """Looks at the whole team, the dead too."""

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        if any(agent not in context.views for agent in self.team):
            raise LookupError("where are you")
        return dict.fromkeys(context.free, WAIT)


class Learns(Idle):
    learns: ClassVar[bool] = True

    def learns_in(self, episode: int) -> bool:
        return False

    def learn(self, log: Sequence[Event]) -> MemoryDelta | None:
        from teamworld.memory.episode_learning import delta

        return delta(log)


BROKEN: Mapping[str, type[Idle]] = {
    "plays": Raises,
    "questions": BadRule,
    "given-agents": Meddles,
    "same-seed": Dice,
    "any-order": FirstCome,
    "silence": NeedsAnswers,
    "lost-words": NeedsWords,
    "deaths": CountsOnAll,
    "learning": Learns,
}


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401
    """Register a method of this file by entry point, as another package would."""

    def register(method: type[Idle]) -> None:
        point = EntryPoint("broken", f"{__name__}:{method.__name__}", registry.GROUP)
        monkeypatch.setattr(EntryPoint, "load", lambda self: method)
        monkeypatch.setattr(plugins, "entry_points", lambda group: [point] if group == registry.GROUP else [])

    return register


def test_every_check_is_tried(registered: Any) -> None:  # noqa: ANN401
    assert set(BROKEN) == set(METHOD_CHECKS)
    assert all(METHOD_CHECKS.values())
    registered(Idle)
    with pytest.warns(UserWarning, match="method broken completes no more than agents that do nothing"):
        check_method("broken", levels=LEVELS)


@pytest.mark.parametrize("check", list(METHOD_CHECKS))
def test_a_check_finds_what_breaks_it(check: str, registered: Any) -> None:  # noqa: ANN401
    registered(BROKEN[check])
    with pytest.raises(Nonconformance) as caught:
        check_method("broken", levels=LEVELS, skip=set(METHOD_CHECKS) - {check})
    assert list(caught.value.failures) == [check]
    assert "\n" not in str(caught.value)


def test_a_question_that_is_not_declared_is_found(registered: Any) -> None:  # noqa: ANN401
    registered(FirstCome)
    with pytest.raises(Nonconformance, match=r"broken\.fine: the method asks it and does not name it"):
        check_method("broken", levels=LEVELS[:1], skip=set(METHOD_CHECKS) - {"questions"})


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(UserError, match="unknown method 'greedi'"):
        check_method("greedi")
    with pytest.raises(UserError, match="no check 'death' to skip"):
        check_method("greedy", skip=["death"])
    with pytest.raises(UserError, match="unknown option 'explor'"):
        check_method("drwell", {"explor": 1})


# ---- minds


class Wrong(RuleReasoner):
    """Answers everything with a letter."""

    async def ask(self, question: Question[Answer], tries: Collection[Rejected]) -> Reply[Any]:
        return Reply(Letter(word="yes"))


def test_minds_are_checked() -> None:
    check_reasoner(RuleReasoner)
    check_reasoner(lambda streams: NoisyRules(streams, 0.4))
    with pytest.raises(Nonconformance, match="reasoner: answers: "):
        check_reasoner(Wrong)


def test_a_plan_for_an_agent_that_cannot_act_is_found(registered: Any) -> None:  # noqa: ANN401
    class Pushes(Idle):
        async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
            return {
                agent: Choice(Plan(standby_plan(self.domain, view).actions)) for agent, view in context.views.items()
            }

    registered(Pushes)
    with pytest.raises(Nonconformance, match=r"given-agents: .*who is neither free nor busy"):
        check_method("broken", levels=LEVELS[:1], skip=set(METHOD_CHECKS) - {"given-agents"})
