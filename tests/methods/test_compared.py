"""The four methods that CREW-Wildfire compares keep the contract, and on rules get the work done in every world."""

from __future__ import annotations

import pytest

from teamworld.methods.registry import method_class
from teamworld.record import AgentLeft, PlanEnd, QuestionAsked
from teamworld.testing import check_method
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds.contract import Domain
from teamworld.worlds.cube.domain import CubeDomain
from teamworld.worlds.rooms.domain import RoomsDomain
from tests.methods.single_steps import MATRIX, SAME, score

REFERENCE = {"perceive": "all", "translate": "mind"}
VARIANTS = {
    "camon": {"reference": REFERENCE, "no_review": {"review": False}, "no_orders": {"orders": False}},
    "cmas": {"reference": REFERENCE, "free": {"when": "free"}},
    "dmas": {"reference": REFERENCE, "own": {"sees": "own"}},
    "hmas1": {"reference": REFERENCE, "own": {"sees": "own"}},
    "hmas2": {"reference": {**REFERENCE, "asked": "all"}, "own": {"sees": "own"}, "central": {"feedback": False}},
    "embodied": {
        **{"reference": REFERENCE, "silent": {"rounds": 0}, "two_rounds": {"rounds": 2}, "reflect": {"reflect": True}},
        **{form: {"organisation": form} for form in ("leader", "two_leaders", "elected")},
    },
}
METHODS = ["coela", "camon", "hmas2", "embodied"]
SMALL = ["cut_trees_sparse_small", "cut_trees_lines_small", "scout_fire_small", "transport_firefighters_small"]
SMALL += ["rescue_civilians_known_location_small"]
PLACES = [Scenario("rooms", "two", 0, 120), Scenario("cube", "paper-n2", 0, 150)]
PLACES += [Scenario("wildfire", level, 0, 60) for level in SMALL]


@pytest.mark.parametrize("method", VARIANTS)
def test_variants_set_what_they_say(method: str) -> None:
    variants = method_class(method).variants
    assert {name: dict(variant.options) for name, variant in variants.items()} == VARIANTS[method]


@pytest.mark.heavy
@pytest.mark.parametrize("stage", PLACES, ids=lambda stage: stage.level)
@pytest.mark.parametrize("method", METHODS)
def test_on_rules_it_scores_at_least_half_of_the_scripted_team(method: str, stage: Scenario) -> None:
    assert score(method, stage) >= 0.5 * score("greedy", stage) > 0


@pytest.mark.parametrize("label", ["drwell", "zero_shot", *METHODS])
@pytest.mark.parametrize(
    ("domain", "stage"),
    [(RoomsDomain, Scenario("rooms", "two-hazard", 0, 30)), (CubeDomain, Scenario("cube", "paper-n2", 0, 40))],
    ids=["rooms", "cube"],
)
def test_no_rule_calls_the_scripted_team(
    label: str, domain: type[Domain], stage: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a rule called the scripted team")

    monkeypatch.setattr(domain, "plan_scripted_team", refuse)
    play(label, stage, {})
    with pytest.raises(AssertionError, match="scripted team"):
        play("greedy", stage, {})


@pytest.mark.heavy
@pytest.mark.parametrize("method", METHODS)
def test_the_dead_are_not_asked_and_the_living_go_on(method: str) -> None:
    dead = unable = 0
    for seed in range(3):
        gone: set[str] = set()
        for event in play(method, Scenario("rooms", "two-hazard", seed, 40, {"spread": 0.4}), {}).events:
            if isinstance(event, AgentLeft):
                gone.add(event.agent)
            elif isinstance(event, QuestionAsked):
                assert event.agent not in gone
            unable += isinstance(event, PlanEnd) and event.cause == "unable"
        dead += len(gone)
    assert dead
    assert unable


@pytest.mark.heavy
@pytest.mark.parametrize("label", [*METHODS, *(f"{method}:reference" for method in METHODS)])
def test_it_keeps_the_contract_of_methods(label: str) -> None:
    levels = [("rooms", "two"), *([("household", "dev")] if label.startswith("coela") else [])]
    check_method(label, levels=levels, skip=SAME if label.partition(":")[2] else MATRIX)
