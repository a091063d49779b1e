"""Rewards: what the metrics sum is in every world how much its own score changed."""

from __future__ import annotations

from math import fsum

import pytest

from teamworld.metrics.log_reader import tabulate
from teamworld.metrics.outcome import world_score
from teamworld.record import StepDone
from teamworld.testing.episodes import PlayedEpisode, Scenario, play
from teamworld.worlds.wildfire.world import WildfireWorld


def scores(played: PlayedEpisode) -> list[dict[str, float]]:
    """Return the score of each step."""
    return [dict(event.score) for event in played.events if isinstance(event, StepDone)]


@pytest.mark.parametrize(
    ("world", "level", "method", "total"),
    [
        ("rooms", "two", "greedy", "delivered"),
        ("wildfire", "cut_trees_sparse_small", "greedy", "score"),
        ("wildfire", "scout_fire_small", "greedy", "score"),
        ("wildfire", "suppress_fire_contain", "do_nothing", "score"),
    ],
)
def test_rewards_add_up_to_the_score(world: str, level: str, method: str, total: str) -> None:
    played = play(method, Scenario(world, level, 1, 40), {})
    found = scores(played)
    assert fsum(score["reward"] for score in found) == pytest.approx(found[-1][total])
    assert found[-1][total] != 0
    value = world_score(tabulate(played.events)).value
    assert value == pytest.approx(found[-1][total])


def test_the_reward_follows_the_score_that_is_chosen() -> None:
    stage = Scenario("wildfire", "suppress_fire_contain", 1, 30)
    for name in ("reference", "burnt"):
        found = scores(play("greedy", stage._replace(options={"score": name}), {}))
        assert fsum(score["reward"] for score in found) == pytest.approx(found[-1][f"score_{name}"])
        assert found[-1]["score_reference"] < found[-1]["score_burnt"]


def test_a_new_start_counts_anew() -> None:
    world = Scenario("wildfire", "suppress_fire_contain", 1, 40).make()
    assert isinstance(world, WildfireWorld)
    for _ in range(2):
        world.reset(0)
        reports = [world.step({}) for _ in range(12)]
        assert fsum(report.score["reward"] for report in reports) == reports[-1].score["score"] < 0
