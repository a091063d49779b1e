"""The kitchen in words: mission, rules of the instance, how a goal stands, and the situation of a cook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from teamworld.language import AgentId, Entity, plain, show
from teamworld.worlds.adapters.overcooked.candidates import Batch
from teamworld.worlds.adapters.overcooked.skills import PATIENCE, TIMEOUT
from teamworld.worlds.adapters.overcooked.state import FULL, NOTHING, Kitchen, KitchenState
from teamworld.worlds.base.words import count, listed
from teamworld.worlds.contract import Goal

#: Kinds of stations that a soup takes.
_NEEDED: Final = ("onion_stack", "plate_stack", "pot", "window")


def tell_task(soups: int, horizon: int) -> str:
    """Return the mission and what counts."""
    return (
        f"Deliver {count(soups, 'onion soup')} within {count(horizon, 'step')}, and as soon as you can. A soup counts "
        "1 point for the team when it goes out of a window."
    )


def tell_rules(kitchen: Kitchen) -> str:
    """Return how this instance works, with its layout."""
    rows, columns = kitchen.size
    floor = [
        f"row {row}: {', '.join(str(column) for column in range(columns) if (row, column) in kitchen.floor)}"
        for row in range(rows)
        if any((row, column) in kitchen.floor for column in range(columns))
    ]
    stations = [
        f"{plain(station)} {show(kitchen.cell(station))}"
        for kind, _ in kitchen.stations
        for station in kitchen.list(kind)
    ]
    return (
        f"Cells are (row, column), rows 0 to {rows - 1} from the top, columns 0 to {columns - 1}. Columns of the floor "
        f"by row: {'; '.join(floor)}. All else is stations and walls: {', '.join(stations)}.\n"
        f"A soup takes {FULL} onions in one pot; with the last it begins to cook, for {kitchen.cook_time} steps. Then "
        "a cook with a plate takes it from the pot and hands it out of a window. The stacks never run out. A cook "
        "holds one thing, goes one cell up, down, left or right a step, and uses a station beside it that it faces. "
        "The steps given for an action are the walk in an empty kitchen, plus 1 to turn unless the cook is there and "
        "faces the station, plus 1 to use it. Where a teammate is in the way, a cook goes around or steps aside; its "
        f"action fails after {PATIENCE} steps without getting on, or {TIMEOUT} in all. What lies on a counter can be "
        "taken from all its sides: so things are handed over. You see all of the kitchen."
    )


def tell_goal(goal: Goal, batch: Batch | None, state: KitchenState, kitchen: Kitchen) -> str:
    """Return how a soup stands, in a line.

    Args:
        goal: The goal as it stands.
        batch: What it stands for now; None for one that is done or has to wait.
        state: What is known.
        kitchen: The layout.
    """
    if goal.state != "open":
        return goal.state
    kinds = [{station.kind for station in kitchen.reach(cell)} for cell in state.at.values()]
    is_alone = any(reached.issuperset(_NEEDED) for reached in kinds)
    if batch is None:
        return f"later: no pot is free before {listed([*goal.prerequisites])} is on a plate; 1 point"
    use = "one cook is enough" if is_alone and batch.pot is not None else ""
    if batch.pot is None:
        missing = "it is on a plate, deliver it"
    elif (left := FULL - state.pots[batch.pot].onions) > 0:
        missing = f"{plain(Entity('pot', batch.pot))} takes {count(left, 'more onion')}, then a plate, then a window"
        use = f"{use}, {goal.capacity} are of use" if use else "no cook can do it alone: hand things over a counter"
    else:
        pot = state.pots[batch.pot]
        cooking = f"cooks for {count(pot.left, 'more step')}" if pot.left else "is ready"
        missing = f"{plain(Entity('pot', batch.pot))} {cooking}, then a plate, then a window"
    return "; ".join(filter(None, (f"{count(batch.acts, 'act')} left: {missing}", use, "1 point")))


def describe(
    agent: AgentId, kind: str, state: KitchenState, kitchen: Kitchen, agents: Sequence[AgentId], soups: int
) -> Iterator[str]:
    """Yield the lines of a situation in words.

    Args:
        agent: Of whom.
        kind: What it is.
        state: What it knows.
        kitchen: The layout.
        agents: The team.
        soups: How many are to be delivered.
    """
    at = state.at.get(agent)
    yield f"You are {agent}, a {kind}, {_cook(agent, state)}. {state.delivered} of {count(soups, 'soup')} delivered."
    for other in agents:
        if other != agent:
            yield f"{other} is {_cook(other, state)}."
    for number, pot in enumerate(state.pots):
        left = f", {count(pot.left, 'more step')}" if pot.left else ""
        stands = f"{pot.state}{left}" if pot.is_full else "takes onions"
        yield f"{plain(Entity('pot', number))}: {pot.onions} of {FULL} onions, {stands}."
    lying = ", ".join(f"{thing} on {plain(Entity('counter', number))}" for number, thing in state.counters.items())
    yield f"On counters: {lying or 'nothing'}."
    if at is not None:
        reach = kitchen.reach(at)
        stations = [station for kind, _ in kitchen.stations for station in kitchen.list(kind)]
        ways = [
            f"{plain(station)} {kitchen.distance(at, kitchen.sides(station))}"
            for station in stations
            if station in reach
        ]
        yield f"Steps of your walk to stations, without turn and use: {', '.join(ways)}."
        beyond = [plain(station) for station in stations if station not in reach]
        if beyond:
            yield f"No way leads you to {listed(beyond)}."


def _cook(agent: AgentId, state: KitchenState) -> str:
    cell, facing = state.at.get(agent), state.faces.get(agent)
    where = "you do not know where" if cell is None else f"at {show(cell)}"
    return f"{where}{f' facing {facing}' if facing else ''}, holding {state.hands.get(agent, NOTHING)}"
