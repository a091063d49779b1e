"""Episodes of agents on a wide map whose answers take drawn times, in lock-step and with agents ahead of each other."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import exp
from pathlib import Path
from typing import Any, NamedTuple, cast
from unittest.mock import patch

import numpy as np
from numpy.random import Generator

from teamworld.episode.answers_ahead import AnswersAhead
from teamworld.episode.causal import CausalEpisode
from teamworld.episode.loop import Episode, Setting
from teamworld.episode.message_delivery import MessageRule
from teamworld.language import Action
from teamworld.memory.guidebook import WorldModel
from teamworld.methods import registry as methods
from teamworld.methods.common.single_action import Act
from teamworld.reasoning.contract import Answer, BadAnswer, Question, Reasoner, Rejected, Reply
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import LogWriter
from teamworld.seeding import Streams, generator
from teamworld.worlds.contract import World
from teamworld.worlds.wildfire.levels import Level, Team, WildfireInstance, instance_for
from teamworld.worlds.wildfire.physics import begin_incident
from teamworld.worlds.wildfire.state import Incident
from teamworld.worlds.wildfire.world import WildfireOptions, WildfireView, WildfireWorld
from tests.reasoning.llm import virtual
from tests.worlds.wildfire.maps import flat

#: Share of the answers that are any option.
OTHERWISE = 0.1


class Slow:
    """A reasoner whose answers take log-normal times with a median of 1 s, drawn by question, not by order.

    Args:
        inner: Answers at once.
        seed: Of the times.
        shape: Standard deviation of the logarithm of a time.
    """

    def __init__(self, inner: Reasoner, seed: int, shape: float = 1.0) -> None:
        self._inner, self._seed, self._shape = inner, seed, shape
        self.calls = 0
        self._counts = Counter[tuple[str, str]]()

    @property
    def name(self) -> str:
        return self._inner.name

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        who = question.respondent, question.kind
        self._counts[who] += 1
        self.calls += 1
        rng = generator(self._seed, "seconds", *who, self._counts[who])
        seconds = exp(self._shape * float(rng.standard_normal()))
        try:
            reply = await self._inner.ask(question, tries)
        except BadAnswer:
            await asyncio.sleep(seconds)
            raise
        await asyncio.sleep(seconds)
        return reply


class Wander(RuleReasoner):
    """A stand-in for agents that part, and then work on what is near: places anywhere, then nearby, or any option.

    Args:
        streams: As for ``RuleReasoner``.
        near: How far they go at most in x and in y with one answer, in cells.
        parts: Whether they part at first.
    """

    name = "wander"

    def __init__(self, streams: Streams, near: int = 12, *, parts: bool = True) -> None:
        super().__init__(streams)
        self.near, self.parts = near, parts

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        self.counts[question.respondent, question.kind] += not tries
        rng, view = self._generator("wander", question, len(tries)), cast("WildfireView", question.view)
        options = view.options if rng.random() < OTHERWISE else ()
        size = view.mission.size
        if self.parts and self.counts[question.respondent, question.kind] == 1:
            near = int(rng.integers(size)), int(rng.integers(size))
        else:
            x, y = (int(at + rng.integers(-self.near, self.near + 1)) for at in view.state.agents[view.agent].at)
            near = int(np.clip(x, 0, size - 1)), int(np.clip(y, 0, size - 1))
        action = options[int(rng.integers(len(options)))].action if options else Action("move_to", (near,))
        return Reply(cast("Answer", Act(action=str(action))))


class Played(NamedTuple):
    """What came of an episode."""

    digest: str
    """Of its log."""
    reason: str
    seconds: float
    """Waited for answers, on the clock that jumps from answer to answer."""
    calls: int
    unused: int


def wide(seed: int, *, agents: int = 5, size: int = 400, targets: int = 9, steps: int = 25) -> WildfireWorld:
    """Return a wide plain on which firefighters with maps of their own part within a few steps."""
    team = Team(firefighters=agents)
    level = Level(name="wide", task="cut_lines", size=size, team=team, max_steps=steps, targets=targets)
    instance = instance_for(level, seed, terrain=flat(size, trees=0))
    return WildfireWorld(instance, "wide", steps, WildfireOptions(shared_map=False))


@contextmanager
def scattered() -> Iterator[None]:
    """Let agents of wildfire start anywhere on the map: levels start them all in one cell."""

    def begin_scattered(instance: WildfireInstance, seed: int, *rest: Any) -> Incident:
        incident = begin_incident(instance, seed, *rest)
        places = generator(seed, "scattered").integers(instance.level.size, size=(2, len(incident.units)))
        incident.units.x[:], incident.units.y[:] = places
        return incident

    with patch("teamworld.worlds.wildfire.world.begin_incident", begin_scattered):
        yield


def streams(*names: str | int) -> Generator:
    return generator(0, "episode", *names)


def play(path: Path, world: World, method: str, slow: Slow, *, causal: bool) -> Played:
    """Play an episode into a log file, which is replaced."""
    path.unlink(missing_ok=True)
    answers = AnswersAhead(slow) if causal else None

    async def run() -> Played:
        with LogWriter(path) as log:
            episode = (Episode if answers is None else partial(CausalEpisode, answers))(
                world=world,
                method=methods.make(method, {}),
                reasoner=slow if answers is None else answers.in_turn,
                memory=WorldModel(),
                log=log,
                streams=streams,
                setting=Setting(0, 0, 1, {}, MessageRule()),
            )
            reason = await episode.play()
            log.finish()
            seconds = asyncio.get_running_loop().time()
            return Played(log.digest, reason, seconds, slow.calls, 0 if answers is None else answers.unused)

    return virtual.run(run())
