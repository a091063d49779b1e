"""Playing an episode for a suite, and what is watched meanwhile."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from teamworld.episode.loop import Episode, Setting
from teamworld.episode.messages import MessageRule
from teamworld.experiment import message_protocol
from teamworld.language import AgentId
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.world_model import WorldModel
from teamworld.methods import registry as methods
from teamworld.methods.contract import Briefing, Choice, Decision, DecisionContext, Method
from teamworld.reasoning.contract import Answer, BadAnswer, Question, Reasoner, Rejected, Reply
from teamworld.reasoning.prompts import render
from teamworld.reasoning.rules import Rules
from teamworld.record import Event, LogWriter
from teamworld.seeding import Streams, generator
from teamworld.testing.walk import seen
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import World


class Stage(NamedTuple):
    """Where a method is made to play."""

    world: str
    level: str
    seed: int
    horizon: int
    options: Mapping[str, Any] = {}
    rule: MessageRule | None = None
    """For messages; None: the method's own."""

    def make(self) -> World:
        """Return the instance."""
        return worlds.make(self.world, self.level, self.seed, self.horizon, self.options)


#: By step, what each agent's view showed.
Diary: TypeAlias = list[Mapping[AgentId, Mapping[str, Any]]]


class Played(NamedTuple):
    """An episode that was played."""

    events: Sequence[Event]
    digest: str
    """Of the log: equal for equal bytes."""
    complaints: Sequence[str]
    """What the method did that it must not do."""


class Watched(Method):
    """A method that is looked over the shoulder: it decides for nobody that was not given to it."""

    def __init__(self, inner: Method, complaints: list[str], diary: Diary | None) -> None:
        self._inner, self._complaints, self._diary = inner, complaints, diary
        self.name = inner.name  # type: ignore[misc]  # the log tells the name of the method that plays
        self.roster = inner.roster  # type: ignore[misc]  # and it is told what that is told

    async def begin(self, briefing: Briefing) -> None:
        """Pass on."""
        await self._inner.begin(briefing)

    def watch(self, moment: DecisionContext) -> Collection[AgentId]:
        """Pass on; whoever is named has a view."""
        if self._diary is not None:
            self._diary.append({agent: seen(view) for agent, view in moment.views.items()})
        named = self._inner.watch(moment)
        for agent in named:
            if agent not in moment.views:
                self._complaints.append(f"watch names {agent} at tick {moment.t}, who is not there")
        return named

    async def decide(self, moment: DecisionContext) -> Mapping[AgentId, Decision]:
        """Pass on; plans are for free or busy agents that are able, and have actions."""
        decisions = await self._inner.decide(moment)
        given = {*moment.free, *moment.running}
        for agent, decision in decisions.items():
            if agent not in given or not moment.views[agent].is_able:
                self._complaints.append(f"decides at tick {moment.t} for {agent}, who is neither free nor busy")
            elif isinstance(decision, Choice) and not decision.plan.actions:
                self._complaints.append(f"gives {agent} a plan without actions at tick {moment.t}")
        return {agent: decision for agent, decision in decisions.items() if agent in given}

    def learn(self, log: Sequence[Event]) -> MemoryDelta | None:
        """Pass on."""
        return self._inner.learn(log)


class Late(Rules):
    """The rules, but answers come in an order that has nothing to do with that of the questions."""

    def __init__(self, streams: Streams) -> None:
        super().__init__(streams)
        self._delays = generator(0, "testing", "late")

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Answer after a while."""
        reply = await super().ask(question, tries)
        for _ in range(int(self._delays.integers(7))):
            await asyncio.sleep(0)
        return reply


class Mute:
    """A mind that never answers."""

    name = "mute"

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Give no answer.

        Raises:
            BadAnswer: Always.
        """
        raise BadAnswer("no answer came", "none")


class Listening:
    """A mind whose questions are looked at: prompt, context, rule, check and fallback must agree.

    Args:
        inner: What answers.
        complaints: Takes what is wrong.
        declared: Kinds of questions that the method says it asks.
    """

    def __init__(self, inner: Reasoner, complaints: list[str], declared: Collection[str]) -> None:
        self._inner, self._complaints, self._declared, self.asked = inner, complaints, declared, 0

    @property
    def name(self) -> str:
        """That of the mind."""
        return self._inner.name

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Look at the question, then pass it on."""
        self.asked += 1
        for complaint in _wrong(question):
            self._complaints.append(f"{question.kind}: {complaint}")
        if question.kind not in self._declared:
            self._complaints.append(f"{question.kind}: the method asks it and does not name it among its questions")
        reply = await self._inner.ask(question, tries)
        if not isinstance(reply.answer, question.answer):
            self._complaints.append(f"{question.kind}: answered with a {type(reply.answer).__name__}")
        return reply


def _wrong(question: Question[Any]) -> list[str]:
    found = []
    if question.respondent in question.views and question.view.agent != question.respondent:
        found.append(f"the view of {question.view.agent} is given as that of {question.respondent}")
    prompt = render(question)
    if not prompt.system or not prompt.user:
        found.append("the prompt has an empty block")
    answer = question.rule(generator(0, "testing", "rule"))
    if not isinstance(answer, question.answer):
        found.append(f"the rule answers with a {type(answer).__name__}")
    elif (complaint := question.check(answer)) is not None:
        found.append(f"the rule's answer does not pass the check: {complaint}")
    if not isinstance(question.fallback(), question.answer):
        found.append(f"the fallback is a {type(question.fallback()).__name__}")
    if type(answer).model_validate_json(answer.model_dump_json()) != answer:
        found.append("the answer does not come back from JSON as it was")
    perturbed = question.perturb(answer, generator(0, "testing", "slip"))
    if not isinstance(perturbed, question.answer):
        found.append(f"perturb gives a {type(perturbed).__name__}")
    return found


def play(
    label: str,
    stage: Stage,
    options: Mapping[str, Mapping[str, Any]],
    make_reasoner: Callable[[Streams], Reasoner] = Rules,
    *,
    listen: bool = False,
    made: World | None = None,
    diary: Diary | None = None,
) -> Played:
    """Play one episode in a folder that is gone afterwards.

    Args:
        label: The method.
        stage: Where.
        options: Of methods, by label.
        make_reasoner: Makes what answers.
        listen: Whether its questions are looked at.
        made: The world, instead of the stage's own.
        diary: Takes what agents see.
    """

    def streams(*names: str | int) -> np.random.Generator:
        return generator(stage.seed, *names)

    complaints: list[str] = []
    given = methods.resolve(label, options).model_dump(mode="json")
    reasoner = make_reasoner(streams)
    rule = stage.rule or message_protocol.rule(label, "native", {})
    setting = Setting(stage.seed, stage.seed, 1, given, rule)
    world = made or stage.make()
    with tempfile.TemporaryDirectory() as folder, LogWriter(Path(folder) / "log.jsonl.zst") as log:
        episode = Episode(
            world=world,
            method=Watched(methods.make(label, given), complaints, diary),
            reasoner=Listening(reasoner, complaints, methods.kinds([label])) if listen else reasoner,
            memory=WorldModel(),
            log=log,
            streams=streams,
            setting=setting,
        )
        asyncio.run(episode.play())
        log.finish()
        return Played(tuple(log.events), log.digest, complaints)
