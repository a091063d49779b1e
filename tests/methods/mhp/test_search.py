"""The tree search: what is selected, what a roll-out is worth, and what comes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.language import Entity
from teamworld.methods.mhp.carrying import CarryModel
from teamworld.methods.mhp.search import UNVISITED, SearchSettings, Transition, roll_out, roll_out_whole, score, search
from teamworld.worlds.contract import Goal
from tests.methods.mhp import home as h
from tests.methods.mhp.slow import values


class Done(NamedTuple):
    done: frozenset[str]


class Tasks:
    """Things to do, each with its cost; done once each, worth one unit."""

    def __init__(self, costs: dict[str, float]) -> None:
        self.costs = costs
        self.brought = 0

    def subgoals(self, state: Done) -> Sequence[str]:
        return [one for one in self.costs if one not in state.done]

    def carry_out(self, subgoal: str, state: Done) -> Transition[Done]:
        self.brought += 1
        return Transition(self.costs[subgoal], Done(state.done | {subgoal}))

    def units(self, state: Done) -> int:
        return len(state.done)


START = Done(frozenset())


def test_the_score_is_the_mean_and_a_bonus_for_what_was_seldom_visited() -> None:
    settings = SearchSettings()
    assert score(10, 0, 0.0, 0.5, settings) == UNVISITED == 1e6
    # mean -1.5; (ln(1 + 11 / 10^6) + 0.1) * 0.25 * sqrt(10) / (1 + 4)
    bonus = (math.log((1 + 10 + 1e6) / 1e6) + 0.1) * 0.25 * math.sqrt(10) / 5
    assert score(10, 4, -6.0, 0.25, settings) == pytest.approx(-1.5 + bonus)
    assert bonus == pytest.approx(0.0158131, abs=1e-6)


def test_a_rollout_counts_its_first_gain_from_nothing() -> None:
    """Two done before, two left that cost 1 and 2: 3 - 0 - cost, then 4 - 3 - cost: 4 - 3 in all."""
    tasks = Tasks({"a": 5.0, "b": 7.0, "c": 1.0, "d": 2.0})
    state = Done(frozenset({"a", "b"}))
    assert roll_out(tasks, state, 5, h.rng("any")) == pytest.approx(4 - 3.0)
    assert {roll_out(tasks, state, 1, h.rng("one", number)) for number in range(20)} == {3 - 1.0, 3 - 2.0}
    assert roll_out(tasks, Done(frozenset(tasks.costs)), 5, h.rng("none")) == 0.0


def test_a_whole_rollout_counts_all_that_is_done() -> None:
    tasks = Tasks({"a": 5.0, "b": 7.0})
    assert roll_out_whole(tasks, Done(frozenset({"a"})), 5, h.rng("any")) == pytest.approx(2 - 7.0)
    assert roll_out_whole(tasks, START, 5, h.rng("any")) == pytest.approx(2 - 12.0)
    assert roll_out_whole(tasks, START, 0, h.rng("any")) == 0.0


@given(
    st.sampled_from([h.ON_TABLE, h.IN_FRIDGE]),
    st.integers(1, 5),
    st.sampled_from([h.KITCHEN, h.BEDROOM]),
    st.integers(0, 30),
)
def test_a_rollout_is_worth_what_a_slow_account_of_some_order_says(
    goals: tuple[Goal, ...], depth: int, room: Entity, number: int
) -> None:
    known = h.home(goals)
    model = CarryModel(h.believed(known, h.PLACES), h.seen(known, room=room))
    assert round(roll_out(model, model.root, depth, h.rng("roll", number)), 9) in values(model, model.root, depth)


def test_the_most_visited_come_first_and_all_is_planned() -> None:
    """What the way costs does not count, so what is dear is done first: the roll-out after it is cheaper."""
    tasks = Tasks({"dear": 3.0, "cheap": 0.1, "middling": 1.0})
    chosen = search(tasks, START, SearchSettings(), h.rng("search"))
    assert chosen[0] == "dear"
    assert len(chosen) == len(set(chosen))
    whole = search(tasks, START, SearchSettings(whole=True, c_init=1.0), h.rng("search"))
    assert set(whole) <= set(tasks.costs)


def test_what_the_way_costs_counts_where_it_is_to() -> None:
    class Late(Tasks):
        """Each costs more the later it is done, ``urgent`` far more."""

        def carry_out(self, subgoal: str, state: Done) -> Transition[Done]:
            price = self.costs[subgoal] * len(state.done)
            return Transition(price, Done(state.done | {subgoal}))

    chosen = search(
        Late({"a": 0.1, "urgent": 5.0, "b": 0.1}), START, SearchSettings(whole=True, c_init=1.0), h.rng("late")
    )
    assert chosen[0] == "urgent"


def test_each_child_is_visited_before_any_is_visited_again() -> None:
    tasks = Tasks(dict.fromkeys("abcdefgh", 1.0))
    search(tasks, START, SearchSettings(simulations=8, depth=1), h.rng("each"))
    # the first simulation rolls out from the root itself if it is not expanded: here it is, so 8 children are made
    assert tasks.brought == 8 + 8


def test_nothing_to_do_is_nothing() -> None:
    assert search(Tasks({}), START, SearchSettings(), h.rng("none")) == ()


def test_equal_seeds_search_alike() -> None:
    known = h.home()
    model = CarryModel(h.believed(known, h.PLACES), h.seen(known))
    found = [search(model, model.root, SearchSettings(), h.rng("same")) for _ in range(2)]
    assert found[0] == found[1]
    alike = Tasks(dict.fromkeys("abc", 1.0))
    assert len({search(alike, START, SearchSettings(), h.rng("other", number))[0] for number in range(12)}) > 1
