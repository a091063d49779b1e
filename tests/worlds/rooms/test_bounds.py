"""The fewest steps of carriers: against searches over all that they can do, drops on the way and fire included."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import TypeAlias

import numpy as np
import pytest

from teamworld.language import Cell
from teamworld.worlds import registry
from teamworld.worlds.rooms import bounds
from teamworld.worlds.rooms.exact_search import Search, read_maze
from teamworld.worlds.rooms.fire import Fire
from teamworld.worlds.rooms.levels import Instance, instance
from teamworld.worlds.rooms.physics import BURNS, STAY, Primitive, draw_catches, step
from teamworld.worlds.rooms.state import House, Item, State

#: Where an item is: a cell, who holds it, or None where it is delivered.
Where: TypeAlias = Cell | frozenset[int] | None
Moment: TypeAlias = tuple[tuple[Cell, ...], tuple[Where, ...]]


def place(house: House, carriers: int, weights: tuple[int, ...], rng: np.random.Generator) -> Instance:
    cells = [cell for cell in house.floor if cell != house.table]
    drawn = [cells[int(rng.integers(len(cells)))] for _ in range(carriers + len(weights))]
    items = {number: Item(weight, drawn[carriers + number]) for number, weight in enumerate(weights)}
    agents = {f"agent_{number}": drawn[number] for number in range(carriers)}
    return Instance(house, dict.fromkeys(agents, "carrier"), State(agents, items), ())


def brute_force(placed: Instance) -> int:
    """Return the fewest steps: the plain reference, one layer after another of all moments."""
    house, weights = placed.house, [item.weight for item in placed.state.items.values()]
    start: Moment = (tuple(placed.state.agents.values()), tuple(item.cell for item in placed.state.items.values()))
    layer, met = {start}, {start}
    for steps in range(1000):
        if any(all(where is None for where in items) for _, items in layer):
            return steps
        layer = {after for moment in layer for after in moves(house, weights, moment)} - met
        met |= layer
    raise AssertionError("no end")


def moves(house: House, weights: list[int], moment: Moment) -> Iterator[Moment]:
    """Yield what a step can lead to. Who holds something goes, puts it down or stays together; others by themselves."""
    at, items = moment
    held = {number: where for number, where in enumerate(items) if isinstance(where, frozenset)}
    groups: list[tuple[frozenset[int], int | None]] = [(who, number) for number, who in held.items()]
    groups += [(frozenset({a}), None) for a in range(len(at)) if not any(a in who for who in held.values())]
    choices: list[list[tuple[str, object]]] = []
    for who, number in groups:
        cell = at[min(who)]
        acts: list[tuple[str, object]] = [("go", aim) for aim in (cell, *house.beside(cell))]
        if number is not None:
            acts.append(("put", number))
        else:
            acts += [("lift", n) for n, where in enumerate(items) if where == cell]
        choices.append(acts)
    for chosen in product(*choices):
        places, things = list(at), list(items)
        lifting: dict[int, list[int]] = {}
        for (who, number), (verb, value) in zip(groups, chosen, strict=True):
            if verb == "go" and isinstance(value, tuple):
                for a in who:
                    places[a] = value
            elif verb == "put" and number is not None:
                cell = at[min(who)]
                things[number] = None if cell == house.table else cell
            elif verb == "lift" and isinstance(value, int):
                lifting.setdefault(value, []).append(min(who))
        for number, lifters in lifting.items():
            if len(lifters) >= weights[number]:
                things[number] = frozenset(sorted(lifters)[: weights[number]])
        yield tuple(places), tuple(things)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("house", "carriers", "weights", "number", "is_exact"),
    [
        (House(1, 3, 3), 1, (1, 1), 20, True),
        (House(2, 2, 2), 1, (1, 1, 1), 6, True),
        (House(1, 1, 9), 2, (1, 2), 10, True),
        (House(1, 3, 3), 2, (1, 2), 10, True),
        (House(1, 2, 3), 2, (1, 1, 2), 5, True),
        (House(1, 2, 3), 2, (1, 1, 1), 2, False),
        (House(1, 2, 2), 3, (1, 2), 5, False),
    ],
)
def test_no_plan_beats_the_bound(
    house: House, carriers: int, weights: tuple[int, ...], number: int, is_exact: bool
) -> None:
    rng = np.random.default_rng(7)
    for _ in range(number):
        placed = place(house, carriers, weights, rng)
        bound, best = bounds.bound(placed), brute_force(placed)
        assert bound.steps <= best, placed
        assert bound.planned is None or bound.planned >= best, placed
        assert bound.is_exact or not is_exact, placed


def burning(house: House, weights: tuple[int, ...], rng: np.random.Generator) -> Instance:
    """Return an instance with two carriers and fire in a corner, which none of them is in."""
    while True:
        placed = place(house, 2, weights, rng)
        corner = (house.height - 1, 0)
        if corner not in placed.state.agents.values() and all(i.cell != corner for i in placed.state.items.values()):
            return placed._replace(state=replace(placed.state, fire={corner: BURNS}))


def brute_force_through_fire(placed: Instance, rng: np.random.Generator, spread: float) -> int | None:
    """Return the fewest steps by the rules of the world; None if nobody can do it: the plain reference."""
    house, layer = placed.house, {repr(placed.state): placed.state}
    for steps in range(1000):
        if not layer:
            return None
        if any(all(item.state == "delivered" for item in state.items.values()) for state in layer.values()):
            return steps
        catches, after = draw_catches(rng, house, spread), dict[str, State]()
        for state in layer.values():
            for chosen in product(*(list_acts(house, state, agent) for agent in state.agents)):
                new = step(state, house, dict(zip(state.agents, chosen, strict=True)), catches).state
                if not any(item.state == "lost" for item in new.items.values()) and new.agents:
                    after[repr((new.agents, new.items, new.overcome))] = new
        layer = after
    raise AssertionError("no end")


def list_acts(house: House, state: State, agent: str) -> list[Primitive]:
    if agent in state.overcome:
        return [STAY]
    lying = [n for n, item in state.items.items() if item.state == "free" and item.cell == state.agents[agent]]
    lifts = [Primitive("lift", target=number) for number in lying]
    by_hand = lifts if state.held(agent) is None else [Primitive("put")]
    return [STAY, *by_hand, *(Primitive("go", (cell,)) for cell in house.beside(state.agents[agent]))]


@pytest.mark.parametrize(
    ("house", "weights", "number"),
    [
        (House(1, 2, 3), (1, 2), 12),
        (House(1, 1, 5), (1, 2), 12),
        pytest.param(House(2, 1, 2), (1, 1, 2), 6, marks=pytest.mark.heavy),
    ],
)
def test_the_search_through_fire_is_exact(house: House, weights: tuple[int, ...], number: int) -> None:
    rng, maze, ends = np.random.default_rng(3), read_maze(house), set()
    assert maze is not None
    for seed in range(number):
        placed = burning(house, weights, rng)
        best = brute_force_through_fire(placed, np.random.default_rng(seed), 0.2)
        search = Search(Fire(placed, np.random.default_rng(seed), 0.2), maze)
        assert search.count_steps(None) == best, placed
        if best is not None:
            assert search.count_steps(best - 1) is None, placed
            assert search.count_steps(best + 2) == search.find_plan(best) == best, placed
        bound = bounds.bound(placed, np.random.default_rng(seed), 0.2)
        assert bound.is_exact, placed
        assert bound.can_be_done == (best is not None)
        assert best is None or bound.steps == best
        ends.add(best is None)
    assert ends == {True, False}  # some can be done, some cannot


def test_shut_doors_leave_a_bound_that_is_not_exact() -> None:
    assert bounds.bound(instance("two", 0)).is_exact
    assert bounds.bound(instance("three", 0)).planned is None


def test_fire_may_lengthen_the_best_plan_and_never_shortens_it() -> None:
    known = [registry.step_bound("rooms", "two-hazard", seed, {}) for seed in (0, 1, 2, 1005)]
    calm = [registry.step_bound("rooms", "two-hazard", seed, {"spread": 0}) for seed in (0, 1, 2, 1005)]
    assert all(bound is not None and bound.is_exact for bound in known)
    assert [bound.can_be_done for bound in known if bound is not None] == [True, False, True, False]
    assert [bound.steps for bound in known if bound is not None and bound.can_be_done] == [43, 39]
    for burning, still in zip(known, calm, strict=True):
        assert burning is not None
        assert still is not None
        assert still.can_be_done
        assert burning.steps >= still.steps
