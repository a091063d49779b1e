"""DR. WELL's allocation: what the guidebook speaks for, and commitments that can work."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from teamworld.language import Entity
from teamworld.memory.contract import GuideEntry, StartRecord
from teamworld.methods.drwell.negotiation_rules import preferred
from teamworld.planning.allocation import Allocation, validate_commitments
from teamworld.worlds.contract import Goal


def goal(number: int, quorum: int, units: int = 10) -> Goal:
    return Goal(f"g{number}", "work", Entity("job", number), quorum=quorum, capacity=quorum, units=units)


def entry(name: str, duration: float | None = None) -> GuideEntry:
    """A task that went well twice when begun at any time, or one that was never tried."""
    record = StartRecord(3, 2) if duration is not None else StartRecord(0, 0)
    verdict = "moderate" if duration is not None else "untested"
    return GuideEntry(*record, duration, None, None, None, verdict, record)  # type: ignore[arg-type]


def settled(
    committed: Mapping[str, str | None], working: Mapping[str, str], goals: list[Goal], unknown: str | None = None
) -> Allocation:
    """Validate where all agents can be sent to all goals but one."""
    knows = {agent: {one.id for one in goals} - {unknown} for agent in committed}
    return validate_commitments(committed, working, goals, knows)


def test_nobody_is_sent_to_a_goal_that_it_cannot_work_on() -> None:
    roomy = Goal("g1", "work", Entity("job", 1), quorum=1, capacity=4, units=10)
    votes: dict[str, str | None] = {"a": "g0", "b": "g1"}
    assert settled(votes, {}, [goal(0, 9), roomy]).goals["a"] == "g1"
    assert settled(votes, {}, [goal(0, 9), roomy], unknown="g1").goals["a"] is None


def test_goals_without_a_quorum_are_dissolved_and_their_agents_wait() -> None:
    allocation = settled({"a": "g0"}, {}, [goal(0, 2), goal(1, 1)])
    assert allocation.goals == {"a": None}
    assert allocation.moved == ("a",)


def test_agents_at_work_count_for_the_quorum() -> None:
    assert settled({"a": "g0"}, {"b": "g0"}, [goal(0, 2)]).goals == {"a": "g0"}


def test_dissolved_agents_go_to_the_most_voted_feasible_goal_that_has_a_place() -> None:
    goals = [goal(0, 5), goal(1, 2), goal(2, 3)]
    votes = {"a": "g0", "b": "g1", "c": "g1", "d": "g2", "e": "g2", "f": "g0"}
    # g1 is full, g2 lacks one of three: nothing to join
    assert settled(votes, {}, goals).goals == {"a": None, "b": "g1", "c": "g1", "d": None, "e": None, "f": None}
    # with one agent at work on g2 it is feasible but full as well
    assert settled(votes, {"x": "g2"}, goals).goals["a"] is None
    roomy = Goal("g2", "work", Entity("job", 2), quorum=2, capacity=4, units=10)
    assert settled(votes, {}, [goals[0], goals[1], roomy]).goals["a"] == "g2"


def test_ties_go_to_the_goal_with_less_work_left_then_to_the_first() -> None:
    near = Goal("g2", "work", Entity("job", 2), quorum=1, capacity=2, units=3)
    far = Goal("g1", "work", Entity("job", 1), quorum=1, capacity=2, units=9)
    votes = {"a": "g0", "b": "g1", "c": "g2"}
    assert settled(votes, {}, [goal(0, 9), far, near]).goals["a"] == "g2"


def test_waiting_is_left_alone() -> None:
    assert settled({"a": None}, {}, [goal(0, 1)]) == ({"a": None}, ())


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=5),
    st.lists(st.none() | st.integers(0, 4), min_size=1, max_size=7),
    st.lists(st.integers(0, 4), max_size=4),
)
def test_whatever_is_allocated_reaches_its_quorum(
    shape: list[tuple[int, int]], votes: list[int | None], busy: list[int]
) -> None:
    goals = [
        Goal(f"g{i}", "work", Entity("job", i), quorum=quorum, capacity=quorum + extra, units=5)
        for i, (quorum, extra) in enumerate(shape)
    ]
    committed = {f"a{i}": None if vote is None else f"g{vote % len(goals)}" for i, vote in enumerate(votes)}
    working = {f"w{i}": f"g{job % len(goals)}" for i, job in enumerate(busy)}
    allocation = settled(committed, working, goals)
    assert list(allocation.goals) == list(committed)
    for one in goals:
        on_it = [agent for agent, target in allocation.goals.items() if target == one.id]
        staff = len(on_it) + list(working.values()).count(one.id)
        assert not on_it or staff >= one.quorum


def test_what_went_well_is_preferred_the_quickest_first_and_a_full_goal_is_not() -> None:
    goals = [goal(0, 1), goal(1, 1), goal(2, 2)]
    guide = {"g0": entry("g0", 30.0), "g1": entry("g1", 20.0), "g2": entry("g2")}
    rng = np.random.default_rng(0)
    assert preferred(goals, guide, {}, 2, 0, rng).id == "g1"
    assert preferred(goals, guide, {"g1": 1}, 2, 0, rng).id == "g0"
    assert preferred(goals, guide, {"g1": 1, "g0": 1}, 2, 0, rng).id == "g2"
    assert preferred(goals, guide, {"g1": 1, "g0": 1}, 1, 0, rng).id == "g1"


def test_a_record_speaks_for_its_time_of_the_episode() -> None:
    goals = [goal(0, 1), goal(1, 1)]
    rng = np.random.default_rng(0)
    failed = entry("g0", 20.0)._replace(about_now=StartRecord(3, 0))
    late = entry("g0", 20.0)._replace(about_now=StartRecord(0, 0), earliest_start=30)
    slow, untested = entry("g1", 40.0), entry("g1")
    assert preferred(goals, {"g0": failed, "g1": untested}, {}, 2, 0, rng).id == "g1"
    assert preferred(goals, {"g0": late, "g1": slow}, {}, 2, 0, rng).id == "g1"
    assert preferred(goals, {"g0": late, "g1": slow}, {}, 2, 30, rng).id == "g0"
    assert preferred(goals, {"g0": late, "g1": failed}, {}, 2, 0, rng).id == "g0"


def test_where_nothing_is_known_the_choice_is_drawn() -> None:
    goals = [goal(0, 1), goal(1, 1), goal(2, 1)]
    guide = {one.id: entry(one.id) for one in goals}
    drawn = {preferred(goals, guide, {}, 2, 0, np.random.default_rng(seed)).id for seed in range(30)}
    assert drawn == {"g0", "g1", "g2"}
