"""The log level ``beliefs``: what is true and perceived, as changes, and what methods note; at ``play`` none of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np
import pytest

from teamworld.episode.event_recorder import EventRecorder
from teamworld.episode.loop import Episode, Setting
from teamworld.episode.message_delivery import MessageRule
from teamworld.episode.perception_recorder import PerceptionRecorder
from teamworld.language import AgentId, Entity, Fact, Facts
from teamworld.memory.guidebook import WorldModel
from teamworld.methods.contract import Decision, DecisionContext
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import (
    FORMATS,
    Believe,
    DrawingState,
    EpisodeStart,
    Event,
    HeldBelief,
    LogLevel,
    LogWriter,
    Observe,
    Predict,
    Truth,
    encode,
)
from teamworld.seeding import generator
from tests.episode.test_loop import Scripted, of, solo
from tests.toy import ToyWorld

KINDS = (Truth, Observe, Believe, Predict)


def telling(context: DecisionContext) -> dict[AgentId, Decision]:
    """Work, and say what one believes and expects."""
    for agent in context.free:
        context.note(Believe(agent=agent, held=(HeldBelief(fact="a AT home"),)))
        context.note(Predict(agent=agent, subject="partner_goal", about="a", value="job_0"))
    return solo(context)


def play(path: Path, level: LogLevel, world: ToyWorld | None = None) -> list[Event]:
    def streams(*names: str | int) -> np.random.Generator:
        return generator(0, *names)

    setting = Setting(0, 0, 1, {}, MessageRule(), log_level=level)
    with LogWriter(path) as log:
        episode = Episode(
            world or ToyWorld(), Scripted(telling), RuleReasoner(streams), WorldModel(), log, streams, setting
        )
        asyncio.run(episode.play())
        log.finish()
        return log.events


def test_a_log_of_beliefs_is_one_of_play_with_more_in_it(tmp_path: Path) -> None:
    plain, full = (play(tmp_path / f"{level}.zst", level) for level in ("play", "beliefs"))
    assert not any(isinstance(event, KINDS) for event in plain)
    assert all(of(full, kind) for kind in KINDS)
    rest = [event for event in full if not isinstance(event, KINDS)]
    rest[0] = msgspec.structs.replace(rest[0], schema=FORMATS["play"], log_level="play")
    rest = [msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(rest)]
    assert [encode(event) for event in rest] == [encode(event) for event in plain]


def test_the_start_tells_level_and_format(tmp_path: Path) -> None:
    level: LogLevel
    for level, schema in (("play", 2), ("beliefs", 3)):
        start = play(tmp_path / "log.zst", level)[0]
        assert isinstance(start, EpisodeStart)
        assert (start.log_level, start.schema) == (level, schema)


def test_changes_add_up_to_what_is_true_and_perceived_at_every_step(tmp_path: Path) -> None:
    events = play(tmp_path / "log.zst", "beliefs")
    true: set[str] = set()
    seen: dict[str, set[str]] = {"a": set(), "b": set()}
    frame: Mapping[str, list[int]] = {}
    for event in events:
        if isinstance(event, DrawingState):
            frame = event.state
        elif isinstance(event, Truth):
            assert not true & set(event.true)
            assert set(event.false) <= true
            true = (true - set(event.false)) | set(event.true)
            assert true == {f"<job>({job}) LEFT {left}" for job, left in enumerate(frame["left"])}
        elif isinstance(event, Observe):
            seen[event.agent] = (seen[event.agent] - set(event.unseen)) | set(event.seen)
            assert seen[event.agent] == true, "all see everything here"
    truths, steps = of(events, Truth), [event.step for event in of(events, Truth)]
    assert steps == sorted(set(steps))
    assert steps[-1] == events[-1].step, "what the last step brought about is told too"
    assert all(event.true or event.false for event in truths)


def test_those_who_left_perceive_nothing(tmp_path: Path) -> None:
    events = play(tmp_path / "log.zst", "beliefs", ToyWorld(jobs=((9, 1),), dies={"b": 2}))
    assert max(event.step for event in of(events, Observe) if event.agent == "b") < 2


def facts(*left: int) -> Facts:
    return Facts(tuple(Fact(Entity("job", job), "LEFT", units) for job, units in enumerate(left)))


def test_what_does_not_change_is_not_written_again() -> None:
    found: list[Event] = []
    witness = PerceptionRecorder(found.append)
    for now in (facts(1, 2), facts(1, 2), facts(1, 1)):
        witness.truth(now)
        witness.observe({"a": now, "b": Facts()})
    assert found == [
        Truth(true=("<job>(0) LEFT 1", "<job>(1) LEFT 2")),
        Observe(agent="a", seen=("<job>(0) LEFT 1", "<job>(1) LEFT 2")),
        Truth(true=("<job>(1) LEFT 1",), false=("<job>(1) LEFT 2",)),
        Observe(agent="a", seen=("<job>(1) LEFT 1",), unseen=("<job>(1) LEFT 2",)),
    ]


def test_agents_that_share_what_they_perceive_can_have_perceived_otherwise_before() -> None:
    found: list[Event] = []
    witness = PerceptionRecorder(found.append)
    witness.observe({"a": facts(1), "b": facts(2)})
    now = facts(1)
    witness.observe({"a": now, "b": now})
    assert found[2:] == [Observe(agent="b", seen=("<job>(0) LEFT 1",), unseen=("<job>(0) LEFT 2",))]


@pytest.mark.parametrize("level", ["play", "beliefs"])
def test_branches_keep_their_order_whatever_the_level(tmp_path: Path, level: LogLevel) -> None:
    async def note(journal: EventRecorder, agent: str) -> None:
        journal.record(Believe(agent=agent))
        await asyncio.sleep(0.01 if agent == "a" else 0)
        journal.record(Believe(agent=agent, dropped=("x",)))

    with LogWriter(tmp_path / "log.zst") as log:
        journal = EventRecorder(log, level)
        asyncio.run(journal.together({agent: note(journal, agent) for agent in ("a", "b")}))
        assert [event.agent for event in of(log.events, Believe)] == (
            ["a", "a", "b", "b"] if level == "beliefs" else []
        )
