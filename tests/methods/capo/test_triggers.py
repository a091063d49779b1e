"""What starts a discussion: new targets and sub-tasks done, each once, by one's own sight and what one was told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.language import Entity, Facts, parse_fact
from teamworld.methods.capo.options import CapoOptions
from teamworld.methods.capo.triggers import Progress, TriggerWatch, find_targets
from teamworld.worlds.contract import Goal
from tests.methods.coela.house import House, goal

APPLE, BREAD = Entity("apple", 3), Entity("loaf_bread", 4)


def sees(*texts: str, goals: Sequence[Goal] = (goal("apple", 2),)) -> House:
    """Return the view of an agent that perceives some facts now."""
    return House(Facts(tuple(map(parse_fact, texts))), goals)


def single(number: int, state: str = "open") -> Goal:
    return Goal(f"deliver_{number}", "deliver", Entity("item", number), state=state)  # type: ignore[arg-type]


def watch(**options: object) -> TriggerWatch:
    return TriggerWatch("Alice", CapoOptions.model_validate(options))


def texts(watching: TriggerWatch, view: House, told: Sequence[Entity] = (), *, busy: bool = False) -> list[str]:
    return [reason.text for reason in watching.notice(view, told, busy)]


def test_a_wanted_thing_is_a_target_once_it_is_seen_and_where_things_go_is_none() -> None:
    view = sees("<apple>(3) IN <kitchen>(11)", "<table>(20) IN <kitchen>(11)", "<plate>(5) IN <kitchen>(11)")
    assert list(find_targets(view)) == [str(APPLE)]


def test_a_thing_in_a_hand_is_seen_too() -> None:
    assert list(find_targets(sees("Bob HOLD <apple>(3)"))) == [str(APPLE)]


def test_what_is_remembered_is_not_seen_now() -> None:
    fact = parse_fact("<apple>(3) IN <kitchen>(11)")
    assert not find_targets(House(Facts((fact,), {fact: 2}), (goal("apple", 2),), recalled=(fact,)))


def test_a_name_matches_whole_or_as_competitors_had_it_in_part() -> None:
    view = sees("<loaf_bread>(4) IN <kitchen>(11)", goals=(goal("bread", 1),))
    assert not find_targets(view)
    assert list(find_targets(view, "part")) == [str(BREAD)]


def test_of_a_goal_that_is_done_nothing_is_wanted() -> None:
    assert not find_targets(sees("<apple>(3) IN <kitchen>(11)", goals=(goal("apple", 0),)))


def test_a_goal_about_one_thing_is_new_once_it_is_known_wherever_the_thing_is() -> None:
    watching = watch()
    assert texts(watching, sees(goals=(single(0),))) == ["Alice knows of item_0, of task deliver_0 now"]
    assert texts(watching, sees("<item>(0) AT (2, 3)", goals=(single(0), single(1)))) == [
        "Alice knows of item_1, of task deliver_1 now"
    ]


def test_each_target_is_a_reason_once() -> None:
    watching, view = watch(), sees("<apple>(3) IN <kitchen>(11)")
    assert texts(watching, view) == ["Alice knows of apple_3 now"]
    assert texts(watching, view) == []


def test_what_one_was_told_of_is_not_new_unless_as_competitors_had_it() -> None:
    view = sees("<apple>(3) IN <kitchen>(11)")
    assert texts(watch(), view, [APPLE]) == []
    assert texts(watch(told_counts=False), view, [APPLE]) == ["Alice knows of apple_3 now"]


def test_a_delivery_is_noticed_when_the_action_has_ended_with_all_it_delivered() -> None:
    watching = watch()
    assert texts(watching, sees(goals=(goal("apple", 3),))) == []
    assert texts(watching, sees(goals=(goal("apple", 2),)), busy=True) == []
    assert texts(watching, sees(goals=(goal("apple", 1),)), busy=False) == ["2 of the sub-tasks done"]
    assert texts(watching, sees(goals=(goal("apple", 0),)), busy=False) == ["3 of the sub-tasks done"]


def test_as_competitors_had_it_each_delivery_is_noticed_at_once() -> None:
    watching = watch(deliveries="each")
    assert texts(watching, sees(goals=(goal("apple", 3),)), busy=True) == []
    assert texts(watching, sees(goals=(goal("apple", 2),)), busy=True) == ["1 of the sub-tasks done"]
    assert texts(watching, sees(goals=(goal("apple", 1),)), busy=True) == ["2 of the sub-tasks done"]


def test_what_a_discussion_told_is_no_reason_for_another_when_it_is_seen() -> None:
    watching = watch()
    before, after = sees(goals=(goal("apple", 2),)), sees("<apple>(3) IN <kitchen>(11)", goals=(goal("apple", 1),))
    watching.settle(before, {"apple_on_table": goal("apple", 1)})  # a teammate told that it delivered one
    assert texts(watching, after, [APPLE]) == []


def test_what_is_taken_away_and_put_back_is_no_progress() -> None:
    watching = watch()
    for units, expected in [
        (2, []),
        (1, ["1 of the sub-tasks done"]),
        (2, []),
        (1, []),
        (0, ["2 of the sub-tasks done"]),
    ]:
        assert texts(watching, sees(goals=(goal("apple", units),))) == expected


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=12))
def test_progress_never_falls_and_counts_what_was_ever_done(stands: list[tuple[int, bool]]) -> None:
    progress, most, first = Progress(), 0, stands[0][0]
    single_done = False
    for units, is_done in stands:
        single_done |= is_done
        most = max(most, first - units)
        count = progress.count([goal("apple", units), single(0, "done" if is_done else "open")])
        assert count == most + single_done


@pytest.mark.parametrize("is_busy", [True, False])
def test_a_target_is_noticed_whatever_the_agent_is_at(is_busy: bool) -> None:
    assert texts(watch(), sees("<apple>(3) IN <kitchen>(11)"), busy=is_busy) == ["Alice knows of apple_3 now"]
