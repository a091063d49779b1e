"""Joint plans of two carriers with one heavy item, walked through the fire as it spreads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from teamworld.language import AgentId, Cell
from teamworld.worlds.rooms.fire import Fire
from teamworld.worlds.rooms.physics import STAY, Primitive

#: Plans that are tried where something burns, and the longest walk.
TRIES, LONGEST = 40, 60


class Move(NamedTuple):
    """An item is moved before the meeting, or left where it is."""

    item: int
    start: Cell
    end: Cell
    """The table: it is delivered. Its own cell: it is left."""
    after: int
    """Steps after the meeting until it is delivered."""


class JointPlan(NamedTuple):
    """What both carriers move before they meet at the heavy item, see *Meeting* in ``bounds``."""

    steps: int
    """If nothing burns."""
    heavy: int
    """The item."""
    first: tuple[Move, ...]
    second: tuple[Move, ...]


def try_plans(fire: Fire, plans: Sequence[JointPlan], wanted: int) -> int | None:
    """Return the steps of the best of some plans, played by the rules of the world; None if none gets through.

    Args:
        fire: The fire of the instance.
        plans: The shortest first.
        wanted: Stop at one that takes no more.
    """
    best: int | None = None
    for plan in plans[:TRIES] if fire.placed.state.fire else plans[:1]:
        steps = None if best is not None and plan.steps >= best else _play(fire, plan)
        best = steps if best is None or (steps is not None and steps < best) else best
        if best is not None and best <= wanted:
            break
    return best


def _play(fire: Fire, plan: JointPlan) -> int | None:
    """Return the steps of a plan; None where fire keeps a carrier or item from its way."""
    placed = fire.placed
    table, names = placed.house.table, [a for a, kind in placed.kinds.items() if kind == "carrier"]
    acts: dict[AgentId, list[Primitive]] = {name: [] for name in names}
    at = {name: placed.state.agents[name] for name in names}
    heavy = placed.state.items[plan.heavy].cell or table
    left: list[tuple[Cell, int]] = []

    def walk(name: AgentId, end: Cell) -> bool:
        path = _walk(fire, len(acts[name]), at[name], end)
        acts[name] += [STAY if aim == cell else Primitive("go", (aim,)) for cell, aim in pairwise(path or ())]
        at[name] = end
        return path is not None

    def fetch(name: AgentId, start: Cell, end: Cell, number: int) -> bool:
        is_there = walk(name, start)
        acts[name].append(Primitive("lift", target=number))
        is_done = is_there and walk(name, end)
        acts[name].append(Primitive("put"))
        return is_done

    for name, order in zip(names, (plan.first, plan.second), strict=True):
        for move in order:
            if move.start != move.end and not fetch(name, move.start, move.end, move.item):
                return None
            if move.end != table:
                left.append((move.end, move.item))
        if not walk(name, heavy):
            return None
    meeting = max(map(len, acts.values()))
    for name in names:
        acts[name] += [STAY] * (meeting - len(acts[name]))
        if not fetch(name, heavy, table, plan.heavy):
            return None
    for name, (cell, number) in zip(names, left, strict=False):
        if not fetch(name, cell, table, number):
            return None
    return fire.play(acts)


def _walk(fire: Fire, start: int, at: Cell, end: Cell) -> list[Cell] | None:
    """Return the cells of the quickest walk that is never in fire or fresh smoke; None where there is none.

    Args:
        fire: The fire of the instance.
        start: Steps before the walk.
        at: Where it begins.
        end: Where it ends.
    """
    layers: list[dict[Cell, Cell]] = [{at: at}]
    while end not in layers[-1]:
        step = start + len(layers)
        unsafe = fire.burning(step) | fire.smoke(step)
        after: dict[Cell, Cell] = {}
        for cell in layers[-1]:
            for aim in (cell, *fire.placed.house.beside(cell)):
                if aim not in unsafe:
                    after.setdefault(aim, cell)
        if not after or len(layers) > LONGEST:
            return None
        layers.append(after)
    path = [end]
    for layer in reversed(layers[1:]):
        path.append(layer[path[-1]])
    return path[::-1]
