"""Every method in every world, the short form; the long one by ``make matrix``."""

from __future__ import annotations

import pytest

from teamworld.testing.episodes import Scenario
from teamworld.testing.matrix import check_pair, check_scenario, method_labels, scenarios

pytestmark = pytest.mark.heavy

PLACES = scenarios()


def named(value: object) -> str:
    return f"{value.world}-{value.level}" if isinstance(value, Scenario) else str(value)


@pytest.mark.parametrize("stage", PLACES, ids=named)
def test_a_world_tells_nothing_hidden_and_lets_actions_run_on(stage: Scenario) -> None:
    check_scenario(stage)


@pytest.mark.parametrize("stage", PLACES, ids=named)
@pytest.mark.parametrize("label", method_labels())
def test_a_method_goes_with_a_world(label: str, stage: Scenario) -> None:
    check_pair(label, stage)
