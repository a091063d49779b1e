"""Every method in every world, a share of the short form; the whole of it by ``make matrix ARGS=--short``, or all.

A method plays the first level of each world. A variant, and each further level of a world, is played in every third
pair, by turns: each method plays a third of the further levels, each of them is played by a third of the methods, and
each variant plays in a third of all places.
"""

from __future__ import annotations

import pytest

from teamworld.testing.episodes import Scenario
from teamworld.testing.matrix import check_pair, check_scenario, method_labels, scenarios

pytestmark = pytest.mark.heavy

PLACES = scenarios()
#: So many pairs of which one is played, where not all are.
EVERY = 3


def named(value: object) -> str:
    return f"{value.world}-{value.level}" if isinstance(value, Scenario) else str(value)


@pytest.mark.parametrize("stage", PLACES, ids=named)
def test_a_world_tells_nothing_hidden_and_lets_actions_run_on(stage: Scenario) -> None:
    check_scenario(stage)


def pairs() -> list[tuple[str, Scenario]]:
    first = {place.world: place for place in reversed(PLACES)}.values()
    return [
        (label, place)
        for turn, label in enumerate(method_labels())
        for number, place in enumerate(PLACES)
        if (":" not in label and place in first) or (turn + number) % EVERY == 0
    ]


def test_each_method_plays_in_each_world_and_each_variant_and_level_is_played() -> None:
    played = {(label, place.world) for label, place in pairs()}
    assert played >= {(label, place.world) for label in method_labels() if ":" not in label for place in PLACES}
    assert {label for label, _ in pairs()} == set(method_labels())
    assert all(place in [played for _, played in pairs()] for place in PLACES)


@pytest.mark.parametrize(("label", "stage"), pairs(), ids=named)
def test_a_method_goes_with_a_world(label: str, stage: Scenario) -> None:
    check_pair(label, stage)
