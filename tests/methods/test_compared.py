"""The four methods that CREW-Wildfire compares keep the contract, and on rules get the work done in every world."""

from __future__ import annotations

import pytest

from teamworld.testing import check_method
from teamworld.testing.episodes import Scenario
from tests.methods.single_steps import MATRIX, SAME, score

METHODS = ["coela", "camon", "hmas2", "embodied"]
SMALL = ["cut_trees_sparse_small", "cut_trees_lines_small", "scout_fire_small", "transport_firefighters_small"]
SMALL += ["rescue_civilians_known_location_small"]
PLACES = [Scenario("rooms", "two", 0, 120), Scenario("cube", "paper-n2", 0, 150)]
PLACES += [Scenario("wildfire", level, 0, 60) for level in SMALL]


@pytest.mark.heavy
@pytest.mark.parametrize("stage", PLACES, ids=lambda stage: stage.level)
@pytest.mark.parametrize("method", METHODS)
def test_on_rules_it_scores_at_least_half_of_the_scripted_team(method: str, stage: Scenario) -> None:
    assert score(method, stage) >= 0.5 * score("greedy", stage) > 0


@pytest.mark.heavy
@pytest.mark.parametrize("label", [*METHODS, *(f"{method}:reference" for method in METHODS)])
def test_it_keeps_the_contract_of_methods(label: str) -> None:
    if label.startswith("coela"):
        check_method(label, levels=[("rooms", "two"), ("household", "dev")])
    else:
        check_method(label, levels=[("rooms", "two")], skip=SAME if label.partition(":")[2] else MATRIX)
