"""The engine against Bayes by listing: a thousand small worlds, to 1e-9; and what each mate witnessed."""

from __future__ import annotations

import random

import pytest

from tests.methods.cobel.inference.engine import play, start, tables
from tests.methods.cobel.inference.reference import MATES, ME, Bound, Case, Tables, WitnessGraph, draw

CASES = 1000
PARTS = 10


def case(number: int) -> Case:
    """A case of the exact regime: witness weights 0 or 1, limited variables few enough to be listed."""
    rng = random.Random(f"exact {number}")
    changes = rng.choice((0, 0, 1, 2, 3))
    most = {0: 64, 1: 12, 2: 9, 3: 6}[changes]
    while True:
        sizes = [rng.randint(2, 5) for _ in range(rng.randint(1, 3))]
        states = 1
        for size in sizes:
            states *= size
        if states <= most:
            break
    bounds = []
    if len(sizes) > 1 and rng.random() < 0.6:
        bounds.append(Bound(frozenset({"v0"}), 0, 1))
        if rng.random() < 0.5:
            bounds.append(Bound(frozenset({"v0", f"v{min(sizes) - 1}"}), 1, len(sizes) - (min(sizes) > 2)))
    return draw(rng, sizes, changes, rng.randint(0, 7), bounds, hard=rng.random() < 0.2)


def agree(one: Tables, other: Tables) -> bool:
    return all(
        list(mine) == list(theirs) and all(abs(mine[value] - theirs[value]) <= 1e-9 for value in mine)
        for mine, theirs in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_tables_are_the_posterior_and_first_order_tables_those_of_the_witness_graph(part: int) -> None:
    for number in range(part, CASES, PARTS):
        world = case(number)
        mine, minds = play(world)
        graph = WitnessGraph(world)
        assert agree(tables(mine), graph.tables(ME)), number
        assert all(mine.exact(name) for name in mine.names)
        for mate in MATES:
            assert agree(tables(minds[mate]), graph.tables(ME, mate)), (number, mate)
            assert all(minds[mate].exact(name) for name in mine.names)
        assert mine.impossible == 0


def test_the_thousand_cases_hold_what_they_are_to_show() -> None:
    worlds = [case(number) for number in range(CASES)]
    late = sum(
        any(world.span(event.at) < sum(isinstance(one, int) for one in world.script[:place]) for place, event in placed)
        for world in worlds
        for placed in [[(at, one) for at, one in enumerate(world.script) if not isinstance(one, int)]]
    )
    again = sum(len({event.ids for event in world.events}) < len(world.events) for world in worlds)
    bound = sum(bool(world.bounds) for world in worlds)
    moving = sum(bool(world.changes) for world in worlds)
    assert min(late, again, bound, moving) >= 200


def test_with_certain_evidence_beliefs_are_the_sets_of_states_that_cannot_be_told_apart() -> None:
    for number in range(200):
        rng = random.Random(f"sets {number}")
        world = draw(rng, [3, 3], rng.randint(0, 2), 5, [Bound(frozenset({"v0"}), 0, 1)], hard=True)
        graph = WitnessGraph(world)
        mine, minds = play(world)
        for chain, beliefs in (((ME,), mine), *(((ME, mate), minds[mate]) for mate in MATES)):
            left = {
                history[-1] for history, _ in world.histories() if world.chance(history, graph.witnessed[chain]) > 0
            }
            for variable, table in enumerate(tables(beliefs)):
                assert {value for value, p in table.items() if p > 0} == {state[variable] for state in left}


def test_own_sights_reach_no_mate() -> None:
    for number in range(100):
        world = draw(random.Random(f"private {number}"), [4, 3], 1, 5, weights=(0.0,))
        _, minds = play(world)
        before = start(world)
        before.predict(10, {f"x{k}": move for k, move in enumerate(world.changes[0][1])})
        for mate in MATES:
            assert tables(minds[mate]) == tables(before)
