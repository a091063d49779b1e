"""Failures that wildfire finds: small worlds that provoke each, and worlds that do not."""

from __future__ import annotations

from teamworld.language import parse_action
from teamworld.metrics.failures import LABELS
from teamworld.worlds.base.failure_spans import FailureSpan, Transition
from teamworld.worlds.registry import finder
from teamworld.worlds.wildfire.goals import RULES, find_failures
from teamworld.worlds.wildfire.levels import Event, Team
from teamworld.worlds.wildfire.state import Cell
from teamworld.worlds.wildfire.world import WildfireOptions, WildfireWorld
from tests.worlds.wildfire.test_world import FAR, world

CARELESS = WildfireOptions(careful=False)


def play_failures(here: WildfireWorld, *orders: dict[str, str]) -> list[FailureSpan]:
    """Play orders step by step and return the failures of the play."""
    passages, before = [], here.snapshot()
    for step, order in enumerate(orders):
        report = here.step({agent: parse_action(text) for agent, text in order.items()})
        after = here.snapshot()
        passages.append(Transition(step, before, after, report.outcomes))
        before = after
    return find_failures(here.spec.static, here.spec.agents, passages)


def labels(findings: list[FailureSpan]) -> list[str]:
    return [finding.label for finding in findings]


def test_the_registry_knows_the_finder() -> None:
    find = finder("wildfire")
    assert find is not None
    here = world(Team(1), target=FAR)
    assert find(here.spec.static, here.spec.agents, []) == []
    assert len(RULES) == 4


def test_who_walks_into_fire() -> None:
    def begin(options: WildfireOptions, fire_every: int = 10**5) -> WildfireWorld:
        return world(Team(1), "contain", fire=Cell(8, 5), trees=2, fire_every=fire_every, options=options)

    (tag,) = play_failures(begin(CARELESS), {"firefighter_1": "move_to((8, 5))"})
    assert (tag.label, tag.agents, tag.first, tag.last) == ("walked-into-fire", ("firefighter_1",), 0, 0)
    assert "(5, 5)" in tag.text
    assert not play_failures(begin(CARELESS), {"firefighter_1": "move_to((5, 9))"})
    assert not play_failures(begin(WildfireOptions()), {"firefighter_1": "move_to((8, 5))"})  # refused


def test_whom_the_fire_overruns() -> None:
    def begin(at: int) -> WildfireWorld:
        return world(Team(1), "contain", fire=Cell(at, 5), trees=2, fire_every=100)

    tags = play_failures(begin(4), *[{}] * 3)  # downwind of it
    assert labels(tags) == ["overrun"]
    assert "beside it burnt" in tags[0].text
    assert not play_failures(begin(30), *[{}] * 3)


def test_who_is_lost_without_warning_has_no_label() -> None:
    here = world(
        Team(1), "contain", fire=FAR, trees=2, events=(Event(1, "fire"),), event_cells=((Cell(5, 5),),),
    )  # fmt: skip
    assert not play_failures(here, {}, {})
    assert not here.incident.units.alive[0]


def test_a_drone_that_is_lost_is_not_burnt() -> None:
    here = world(Team(1, 0, 1), "contain", fire=FAR, trees=2, events=(Event(0, "lose_drone"),), event_cells=((),))
    assert not play_failures(here, {}, {})


def test_a_break_that_comes_too_late() -> None:
    here = world(Team(1), "contain", fire=Cell(2, 5), trees=3, fire_every=100)
    tags = play_failures(here, {"firefighter_1": "cut_all()"}, {}, {})
    assert [(tag.label, tag.first) for tag in tags] == [("overrun", 2), ("break-too-late", 1)]
    safe = world(Team(1), "contain", fire=FAR, trees=3, fire_every=10**5)
    assert not play_failures(safe, {"firefighter_1": "cut_all()"}, {}, {})


def test_a_flight_for_nothing() -> None:
    def begin() -> WildfireWorld:
        return world(Team(1, 0, 0, 1), "transport", target=FAR)

    flight = {"helicopter_2": "go_to(<zone>(0))"}
    (tag,) = play_failures(begin(), flight, {}, {})
    assert (tag.label, tag.agents, tag.first) == ("empty-flight", ("helicopter_2",), 1)
    assert not play_failures(begin(), {"helicopter_2": "take_aboard()"}, flight, {}, {})


def test_labels_are_defined() -> None:
    assert {"walked-into-fire", "overrun", "break-too-late", "empty-flight"} <= set(LABELS)
