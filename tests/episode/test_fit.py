"""A roster: who is told what there is, where it stands on record, and what is said where there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

import teamworld
from teamworld.cli import run
from teamworld.episode.compatibility import DoesNotApply, applies, entities_for
from teamworld.episode.loop import Episode, Setting
from teamworld.episode.message_delivery import MessageRule
from teamworld.errors import UserError
from teamworld.language import AgentId, Entity
from teamworld.memory.guidebook import WorldModel
from teamworld.methods import registry as methods
from teamworld.methods.contract import WAIT, Briefing, Decision, DecisionContext, Method, StrictModel
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import EpisodeStart, LogWriter, read_log
from teamworld.record.log import encode
from teamworld.seeding import generator
from teamworld.testing import check_method
from teamworld.worlds.contract import Capability
from tests.toy import ToyWorld

NAMED = (Entity("room", 1), Entity("apple", 2))


@dataclass
class Listed(ToyWorld):
    """A toy world that names what there is."""

    entities: Sequence[Entity] | None = NAMED


class Waits(Method):
    name: ClassVar[str] = "waits"
    summary: ClassVar[str] = "for tests"
    told: ClassVar[tuple[Entity, ...]] = ()

    async def begin(self, briefing: Briefing) -> None:
        type(self).told = briefing.entities

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        return dict.fromkeys(context.free, WAIT)


class Needs(Waits):
    requires: ClassVar[frozenset[Capability]] = frozenset({"entities"})


def start(method: type[Method], world: ToyWorld, folder: Path) -> bytes:
    """Return the first line of the log of an episode."""
    with LogWriter(folder / "log.jsonl.zst") as log:
        streams = lambda *names: generator(0, *names)  # noqa: E731
        setting = Setting(0, 0, 1, {}, MessageRule())
        made = method(StrictModel())
        asyncio.run(Episode(world, made, RuleReasoner(streams), WorldModel(), log, streams, setting).play())
        log.finish()
    first = next(iter(read_log(folder / "log.jsonl.zst")))
    assert isinstance(first, EpisodeStart)
    return encode(first)


def test_who_takes_a_roster_is_told_it_and_it_stands_on_record(tmp_path: Path) -> None:
    assert b'"roster":["<room>(1)","<apple>(2)"]' in start(Needs, Listed(horizon=2), tmp_path)
    assert Needs.told == NAMED


def test_nobody_else_is_told_it_and_logs_stay_what_they_were(tmp_path: Path) -> None:
    line = start(Waits, Listed(horizon=2), tmp_path)
    assert b"roster" not in line
    assert Waits.told == ()
    assert line == start(Waits, ToyWorld(horizon=2), tmp_path)


def test_without_a_roster_it_does_not_apply(tmp_path: Path) -> None:
    assert not applies(Needs, ToyWorld())
    assert applies(Waits, ToyWorld())
    assert applies(Needs, Listed())
    assert entities_for(Needs, Listed()) == NAMED
    assert entities_for(Waits, Listed()) == ()
    with pytest.raises(DoesNotApply, match="method 'waits' does not apply to world 'toy': it needs entities"):
        start(Needs, ToyWorld(), tmp_path)
    assert not list(read_log(tmp_path / "log.jsonl.zst", whole=False))


def test_the_command_line_says_so_in_one_line_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert run(["run", "rooms", "--method", "greedy,mhp", "--out", str(out)]) == 2
    told = capsys.readouterr().err
    assert told.startswith("teamworld: method 'mhp' does not apply to world 'rooms'")
    assert told.count("\n") == 1
    assert not out.exists()
    with pytest.raises(UserError, match="does not apply to world 'cube'"):
        teamworld.run("cube", method="mhp", out=out)
    assert not out.exists()


def test_the_suite_of_methods_passes_over_worlds_to_which_it_does_not_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(methods.BUILT_IN, "needs", f"{__name__}:Needs")
    monkeypatch.setattr("teamworld.worlds.registry.names", lambda: ["rooms", "cube"])
    with pytest.raises(UserError, match="method needs applies to none of rooms, cube"):
        check_method("needs")
