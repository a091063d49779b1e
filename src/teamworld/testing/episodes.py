"""Play an episode for a suite and monitor the method and its questions."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from teamworld.episode.loop import Episode, Setting
from teamworld.episode.message_delivery import MessageRule
from teamworld.experiment import message_protocol
from teamworld.language import AgentId
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.guidebook import WorldModel
from teamworld.methods import registry as methods
from teamworld.methods.common.neighbourhoods import in_neighbourhoods
from teamworld.methods.contract import Briefing, Choice, Decision, DecisionContext, Method
from teamworld.reasoning.contract import Answer, BadAnswer, Question, Reasoner, Rejected, Reply
from teamworld.reasoning.prompts import render
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import Event, LogLevel, LogWriter
from teamworld.seeding import Streams, generator
from teamworld.testing.random_walk import describe_view
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import World


class Scenario(NamedTuple):
    """Where a method plays."""

    world: str
    level: str
    seed: int
    horizon: int
    options: Mapping[str, Any] = {}
    rule: MessageRule | None = None
    """For messages; None: the method's own."""

    def make(self) -> World:
        """Return the instance of the world."""
        return worlds.make(self.world, self.level, self.seed, self.horizon, self.options)

    def __str__(self) -> str:
        """Return the world, the level and the seed."""
        return f"{self.world} {self.level} seed {self.seed}"


#: By step, the content of each agent's view.
ViewLog: TypeAlias = list[Mapping[AgentId, Mapping[str, Any]]]


class PlayedEpisode(NamedTuple):
    """An episode that was played."""

    events: Sequence[Event]
    digest: str
    """Of the log: equal for equal bytes."""
    complaints: Sequence[str]
    """What the method did that it must not do."""


class MethodMonitor(Method):
    """Passes everything on to a method, and complains about decisions for agents that were not offered to it."""

    def __init__(self, inner: Method, complaints: list[str], view_log: ViewLog | None) -> None:
        self._inner, self._complaints, self._view_log = inner, complaints, view_log
        self.name = inner.name  # type: ignore[misc]  # the log names the method that plays
        self.requires = inner.requires  # type: ignore[misc]  # it gets the entities that the method declares it needs

    async def begin(self, briefing: Briefing) -> None:
        """Pass on."""
        await self._inner.begin(briefing)

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        """Pass on; complain about agents without a view."""
        if self._view_log is not None:
            self._view_log.append({agent: describe_view(view) for agent, view in context.views.items()})
        watched = self._inner.watch(context)
        for agent in watched:
            if agent not in context.views:
                self._complaints.append(f"watch names {agent} at tick {context.t}, who is not there")
        return watched

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        """Pass on; plans must be for free or busy agents that are able, and have actions."""
        decisions = await self._inner.decide(context)
        offered = {*context.free, *context.running}
        for agent, decision in decisions.items():
            if agent not in offered or not context.views[agent].is_able:
                self._complaints.append(f"decides at tick {context.t} for {agent}, who is neither free nor busy")
            elif isinstance(decision, Choice) and not decision.plan.actions:
                self._complaints.append(f"gives {agent} a plan without actions at tick {context.t}")
        return {agent: decision for agent, decision in decisions.items() if agent in offered}

    def learn(self, log: Sequence[Event]) -> MemoryDelta | None:
        """Pass on."""
        return self._inner.learn(log)


class ReorderedRules(RuleReasoner):
    """The rules, with answers that arrive in an order independent of that of the questions."""

    def __init__(self, streams: Streams) -> None:
        super().__init__(streams)
        self._delays = generator(0, "testing", "late")

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Answer after some turns of the event loop."""
        reply = await super().ask(question, tries)
        for _ in range(int(self._delays.integers(7))):
            await asyncio.sleep(0)
        return reply


class SilentReasoner:
    """A reasoner that never answers."""

    name = "mute"

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Give no answer.

        Raises:
            BadAnswer: Always.
        """
        raise BadAnswer("no answer came", "none")


class QuestionMonitor:
    """Passes questions on to a reasoner, and complains if prompt, rule, check and fallback do not agree.

    Args:
        inner: The reasoner that answers.
        complaints: Takes what is wrong.
        declared: Kinds of questions that the method declares.
    """

    def __init__(self, inner: Reasoner, complaints: list[str], declared: Collection[str]) -> None:
        self._inner, self._complaints, self._declared = inner, complaints, declared

    @property
    def name(self) -> str:
        """That of the reasoner."""
        return self._inner.name

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        """Check the question, then pass it on."""
        self._complaints.extend(f"{question.kind}: {problem}" for problem in _question_problems(question))
        if question.kind not in self._declared:
            self._complaints.append(f"{question.kind}: the method asks it and does not name it among its questions")
        reply = await self._inner.ask(question, tries)
        if not isinstance(reply.answer, question.answer):
            self._complaints.append(f"{question.kind}: answered with a {type(reply.answer).__name__}")
        return reply


def _question_problems(question: Question[Any]) -> Iterator[str]:
    if question.respondent in question.views and question.view.agent != question.respondent:
        yield f"the view of {question.view.agent} is given as that of {question.respondent}"
    prompt = render(question)
    if not prompt.system or not prompt.user:
        yield "the prompt has an empty block"
    answer = question.rule(generator(0, "testing", "rule"))
    if not isinstance(answer, question.answer):
        yield f"the rule answers with a {type(answer).__name__}"
    elif (problem := question.check(answer)) is not None:
        yield f"the rule's answer does not pass the check: {problem}"
    if not isinstance(question.fallback(), question.answer):
        yield f"the fallback is a {type(question.fallback()).__name__}"
    if type(answer).model_validate_json(answer.model_dump_json()) != answer:
        yield "the answer does not come back from JSON as it was"
    noisy = question.perturb(answer, generator(0, "testing", "slip"))
    if not isinstance(noisy, question.answer):
        yield f"perturb gives a {type(noisy).__name__}"


def play(
    label: str,
    scenario: Scenario,
    options: Mapping[str, Mapping[str, Any]],
    make_reasoner: Callable[[Streams], Reasoner] = RuleReasoner,
    *,
    check_questions: bool = False,
    world: World | None = None,
    view_log: ViewLog | None = None,
    memory: WorldModel | None = None,
    log_level: LogLevel = "play",
) -> PlayedEpisode:
    """Play one episode in a temporary folder.

    Args:
        label: The method.
        scenario: Where.
        options: Of methods, by label.
        make_reasoner: Makes the reasoner from the episode's streams of random numbers.
        check_questions: Whether the questions are monitored.
        world: The world to play in, instead of a new one of the scenario.
        view_log: Takes what agents see.
        memory: Of earlier episodes, which is added to; None for an empty one.
        log_level: How much the log tells.
    """

    def streams(*names: str | int) -> np.random.Generator:
        return generator(scenario.seed, *names)

    complaints: list[str] = []
    resolved = methods.resolve(label, options).model_dump(mode="json")
    reasoner = make_reasoner(streams)
    price = worlds.talk_price(scenario.world)
    rule = scenario.rule or message_protocol.rule(label, "native", {}, options, price)
    with tempfile.TemporaryDirectory() as folder, LogWriter(Path(folder) / "log.jsonl.zst") as log:
        episode = Episode(
            world=world or scenario.make(),
            method=MethodMonitor(in_neighbourhoods(methods.make(label, resolved)), complaints, view_log),
            reasoner=QuestionMonitor(reasoner, complaints, methods.kinds([label])) if check_questions else reasoner,
            memory=WorldModel() if memory is None else memory,
            log=log,
            streams=streams,
            setting=Setting(scenario.seed, scenario.seed, 1, resolved, rule, log_level=log_level),
        )
        asyncio.run(episode.play())
        log.finish()
        return PlayedEpisode(tuple(log.events), log.digest, complaints)
