"""DR. WELL's allocation: what is worth most, what need not be asked, and commitments that can work."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from teamworld.language import Entity
from teamworld.methods.drwell.forced import find_forced, possible_goals
from teamworld.methods.drwell.negotiation_rules import preferred
from teamworld.planning.allocation import Allocation, validate_commitments
from teamworld.worlds.contract import Goal


def goal(number: int, quorum: int, units: int = 10) -> Goal:
    return Goal(f"g{number}", "work", Entity("job", number), quorum=quorum, capacity=quorum, units=units)


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


def test_what_is_worth_most_is_preferred_and_a_full_goal_is_not() -> None:
    goals = [goal(0, 1), goal(1, 1), goal(2, 2)]
    worth = {"g0": 0.2, "g1": 0.3, "g2": 0.1}
    assert preferred(goals, worth, {}, 2).id == "g1"
    assert preferred(goals, worth, {"g1": 1}, 2).id == "g0"
    assert preferred(goals, worth, {"g1": 1, "g0": 1}, 2).id == "g2"
    assert preferred(goals, worth, {"g1": 1, "g0": 1}, 1).id == "g1"  # nobody else can help with g2


def test_who_joins_a_goal_that_has_enough_agents_shares_its_work() -> None:
    roomy = Goal("g0", "work", Entity("job", 0), quorum=1, capacity=3, units=10)
    assert preferred([roomy, goal(1, 1)], {"g0": 0.5, "g1": 0.2}, {"g0": 1}, 1).id == "g0"
    assert preferred([roomy, goal(1, 1)], {"g0": 0.5, "g1": 0.2}, {"g0": 2}, 1).id == "g1"


def test_equals_keep_their_order() -> None:
    goals = [goal(2, 1), goal(0, 1), goal(1, 1)]
    assert preferred(goals, dict.fromkeys(("g0", "g1", "g2"), 0.1), {}, 3).id == "g2"


def test_only_goals_that_can_be_staffed_and_have_room_are_possible() -> None:
    goals = [goal(0, 3), goal(1, 1), goal(2, 2)]
    knows = {"a": {"g0", "g1", "g2"}, "b": {"g0", "g1"}}
    assert [one.id for one in possible_goals(goals, {}, knows)] == ["g1"]
    assert [one.id for one in possible_goals(goals, {"g0": 1, "g1": 1, "g2": 1}, knows)] == ["g0", "g2"]
    assert possible_goals(goals, {}, {}) == []


def test_a_choice_is_forced_where_one_goal_is_possible_with_room_for_all() -> None:
    knows = {"a": {"g0", "g1"}, "b": {"g0", "g1"}}
    assert find_forced([goal(0, 2)], {}, knows) == "g0"
    assert find_forced([goal(0, 1)], {}, knows) is None  # one of them has to wait
    assert find_forced([goal(0, 2), goal(1, 1)], {}, knows) is None
    assert find_forced([goal(0, 2)], {}, {"a": {"g0"}, "b": {"g1"}}) is None
    assert find_forced([goal(0, 2)], {"g0": 1}, {"a": {"g0"}}) == "g0"
