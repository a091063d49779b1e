"""CaPo keeps the contract of methods, finishes what it can, and its rules read nothing that their prompts hide."""

from __future__ import annotations

import pytest

from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import EpisodeEnd
from teamworld.seeding import Streams
from teamworld.testing import check_method
from teamworld.testing.episodes import Scenario, play
from teamworld.testing.parity import ParityMonitor
from tests.methods.capo.discussions import discussions
from tests.methods.single_steps import MATRIX, of

pytestmark = pytest.mark.heavy

VARIANTS = ("no_discussion", "no_adaptation", "one_round", "competitors")
DONE = [Scenario("rooms", "two", 0, 150), Scenario("cube", "n4", 0, 200), Scenario("household", "dev-meal", 0, 250)]
DONE += [Scenario("wildfire", "cut_trees_sparse_small", 0, 60)]
PARITY = [Scenario("rooms", "two", 0, 40), Scenario("cube", "n4", 0, 40), Scenario("household", "dev-tea", 0, 40)]


@pytest.mark.parametrize("label", ["capo", "capo:competitors"])
def test_it_keeps_the_contract_of_methods(label: str) -> None:
    skip = () if ":" in label else MATRIX
    check_method(label, levels=[("rooms", "two"), ("household", "dev")], skip=skip)


@pytest.mark.parametrize("label", ["capo", *(f"capo:{variant}" for variant in VARIANTS)])
@pytest.mark.parametrize("stage", DONE, ids=lambda stage: stage.level)
def test_with_rules_it_gets_everything_done(label: str, stage: Scenario) -> None:
    events = play(label, stage, {}).events
    assert next(of(events, EpisodeEnd)).reason == "all_done"
    assert all(sum(held.calls.values()) <= 3 * (1 + len(stage.make().spec.agents)) for held in discussions(events))


def test_it_shares_a_team_with_other_methods() -> None:
    for label in ("capo+coela:cwah", "greedy+capo:no_discussion"):
        episode = play(label, Scenario("rooms", "three", 0, 80), {})
        assert episode.complaints == []
        assert discussions(episode.events)


@pytest.mark.parametrize("stage", PARITY, ids=lambda stage: stage.level)
def test_its_rules_read_nothing_that_their_prompts_hide(stage: Scenario) -> None:
    monitors: list[ParityMonitor] = []

    def make(streams: Streams) -> ParityMonitor:
        monitors.append(ParityMonitor(RuleReasoner(streams), changes=12, enough=60))
        return monitors[-1]

    play("capo", stage, {}, make)
    (monitor,) = monitors
    assert monitor.hunt.leaks == []
    assert set(monitor.hunt.contexts) == {"capo.design", "capo.refine", "capo.present", "capo.judge", "capo.act"}
    assert monitor.hunt.moved.total() > 0
