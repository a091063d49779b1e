"""The robotic warehouse in words: mission, rules of the instance, how a goal stands, and the situation of a robot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from teamworld.language import Action, AgentId, Entity, plain, show
from teamworld.worlds.adapters.rware.state import FloorPlan, Order, WarehouseState
from teamworld.worlds.base import grid
from teamworld.worlds.base.ages import Ages, ago
from teamworld.worlds.base.words import count, listed
from teamworld.worlds.contract import Goal, View

#: After so many steps for each rack a shelf is looked at again: it may have been ordered since.
STALE_PER_RACK = 15
#: Steps that an estimate adds to a way for turns, lifting and putting down.
TURNS = 3


def tell_task(orders: int, horizon: int) -> str:
    """Return the mission and what counts."""
    return (
        f"Deliver {count(orders, 'order')} within {count(horizon, 'step')}, and as soon as you can. An order asks for "
        "a shelf: it is delivered when a robot has carried the shelf to a goal, and counts 1 point for the team. The "
        "task ends there. Putting the shelf back into its slot, which must come before another shelf, and searching "
        "racks is what robots without a task do."
    )


def tell_rules(floor: FloorPlan) -> str:
    """Return how this instance works."""
    rows, columns = floor.size
    racks = [f"{plain(Entity('rack', n))} in {_area(rack)}" for n, rack in enumerate(floor.racks)]
    return (
        f"Cells are (row, column), rows 0 to {rows - 1} from the top, columns 0 to {columns - 1}. Goals: "
        f"{listed([show(goal) for goal in floor.goals])}. Shelves stand in slots; racks of slots: {', '.join(racks)}; "
        "the other cells are aisles. A step is one cell forward, a turn by 90 degrees, or lifting or putting down a "
        "shelf. A robot goes under shelves, but not while it carries one; robots are in one another's way.\n"
        f"Your sensor shows {count(floor.reach, 'cell')} in each direction: robots, and which shelves are ordered. "
        "When an order is delivered, another shelf is ordered, so a rack is to be searched again after "
        f"{STALE_PER_RACK * len(floor.racks)} steps. Steps are estimated as the way with nothing in between, and "
        f"{TURNS} more for turns and lifting; of a search, to the nearest shelf and on to the farthest."
    )


def _area(rack: Sequence[tuple[int, int]]) -> str:
    (top, left), (bottom, right) = min(rack), max(rack)  # racks are rectangles
    return f"rows {top} to {bottom}, columns {left} to {right}"


def tell_goal(goal: Goal, order: Order | None, agent: AgentId, state: WarehouseState, floor: FloorPlan) -> str:
    """Return how a goal stands for a robot, in a line."""
    if goal.state != "open":
        return goal.state
    if order is None or order.slot is None:
        return "not ordered yet"
    far = min(grid.distance(order.slot, end) for end in floor.goals)
    parts = [f"{plain(floor.shelf(order.slot))} to a goal, one robot is enough, 1 point"]
    holder = _holder(order, state)
    at = state.at.get(agent)
    if holder is not None:
        parts.append("you carry it" if holder == agent else f"{holder} carries it")
    elif at is not None:
        fetch, bring = grid.distance(at, order.slot) + TURNS, far + TURNS
        parts.append(f"slot {show(order.slot)}: {count(fetch, 'step')} for you to fetch it, then {bring} to bring it")
    holds = state.held.get(agent)
    if holds is not None and holds != order.slot:
        first = "put back" if state.order_of(holds) is None else "deliver"
        parts.append(f"{first} {plain(floor.shelf(holds))} first")
    return "; ".join(parts)


def describe(
    view: View, state: WarehouseState, floor: FloorPlan, agents: Sequence[AgentId], steps: Callable[[Action], int]
) -> Iterator[str]:
    """Yield the lines of a situation in words.

    Args:
        view: Of whom, with the step of last sight of what it remembers.
        state: What it knows.
        floor: The floor plan.
        agents: The team.
        steps: Returns the estimated steps of an action for it.
    """
    ages, agent = Ages(view.known, view.t), view.agent
    yield f"You are {agent}, a {view.kind} {_robot(agent, state, floor)}."
    here = state.at.get(agent)
    if here is not None:
        goals = [f"{count(grid.distance(here, goal), 'cell')} to {show(goal)}" for goal in floor.goals]
        yield f"Distance to the goals: {', '.join(goals)}."
    for other in agents:
        if other != agent:
            age = ages.of(other, "AT", "FACING", "HOLD")
            yield f"{other}, {_robot(other, state, floor, age)}."
    for number, order in state.orders.items():
        name = Entity("order", number)
        if not order.delivered:
            yield f"{plain(name)}: {_order(order, agent, state, floor, steps, ages.of(name, 'SHELF', 'STATE'))}."
    delivered = [
        plain(Entity("order", number)) + ("" if order.slot is None else f" ({plain(floor.shelf(order.slot))})")
        for number, order in state.orders.items()
        if order.delivered
    ]
    if delivered:
        yield f"Delivered, as far as you know, {len(delivered)} of {floor.orders}: {listed(delivered)}."
    for number, ends in state.unseen.items():
        rack = Entity("rack", number)
        way = count(steps(Action("search", (rack,))), "step")
        where = f" from {show(ends[0])} to {show(ends[1])}" if len(ends) > 1 else f" at {show(ends[0])}"
        yield f"{plain(rack)} is to be searched{where}: {way}."


def _order(
    order: Order, agent: AgentId, state: WarehouseState, floor: FloorPlan, steps: Callable[[Action], int], age: int
) -> str:
    """Return where the shelf of an order is, as it was seen so many steps ago."""
    if order.slot is None:
        return f"its shelf is not known, {order.state}"
    shelf = floor.shelf(order.slot)
    where = f"{plain(shelf)} of slot {show(order.slot)}"
    if order.state != "open":
        return f"{where}, {order.state}{f' (seen {ago(age)})' if age else ''}"
    holder = _holder(order, state)
    if holder is not None:
        return f"{where}, which {'you carry' if holder == agent else f'{holder} carries'}"
    seen = f" {ago(age)}{', may be gone by now' if age > STALE_PER_RACK * len(floor.racks) else ''}" if age else ""
    return f"{where}, in its slot{seen}: {count(steps(Action('fetch', (shelf,))), 'step')} to fetch it"


def _holder(order: Order, state: WarehouseState) -> AgentId | None:
    return next((robot for robot, slot in state.held.items() if slot == order.slot), None)


def _robot(agent: AgentId, state: WarehouseState, floor: FloorPlan, age: int = 0) -> str:
    """Return where a robot is and what it carries, as it was seen so many steps ago."""
    slot, cell = state.held.get(agent), state.at.get(agent)
    carries = "carrying nothing"
    if slot is not None:
        ordered = "ordered" if state.order_of(slot) is not None else "not ordered any more"
        carries = f"carrying {plain(floor.shelf(slot))} of slot {show(slot)}, {ordered}"
    if cell is None:
        where = f"last seen {ago(age)}, no longer there" if age else "not seen yet"
        return f"{where}{'' if slot is None else f', {carries}'}"
    return f"at {show(cell)} facing {state.facing[agent]}, {carries}{f' (seen {ago(age)})' if age else ''}"
