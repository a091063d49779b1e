"""The macro-actions of robots: parameters in words, and how each unrolls to turns, steps forward and loads."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from teamworld.language import Action, ActionSchema, AgentId, Cell, Entity, Measures, Param
from teamworld.worlds.adapters.describer import MacroAction
from teamworld.worlds.adapters.rware.state import FloorPlan, WarehouseState
from teamworld.worlds.base import grid
from teamworld.worlds.base.domain import COMMON_SCHEMAS
from teamworld.worlds.base.executor import DONE, RUNNING, Result

#: The package's actions.
PRIMITIVES: Final = {"noop": 0, "forward": 1, "left": 2, "right": 3, "toggle": 4}
#: Steps without getting on after which an action fails.
PATIENCE: Final = 30
#: Steps for which a robot keeps away from a cell in which somebody stood in its way.
DETOUR: Final = 12
#: The directions from left to right, as they follow one another when a robot turns right.
_CLOCK: Final = ("north", "east", "south", "west")
STEPS: Final = {"north": grid.NORTH, "south": grid.SOUTH, "west": grid.WEST, "east": grid.EAST}
MEASURES: Final[Measures] = {
    **{"fetch": (None,), "deliver": (), "put_back": (), "search": (None,), "go": (None,)},
    **{"wait": (), "talk": (None,)},
}


@lru_cache(maxsize=1024)  # asked for at every check of an action
def list_schemas(floor: FloorPlan, shelves: tuple[Entity, ...], racks: tuple[Entity, ...]) -> tuple[ActionSchema, ...]:
    """Return what a robot can do, with the ordered shelves that it knows of and the racks to be looked at."""
    # fmt: off
    fetch = ActionSchema(
        "fetch", (Param("shelf", "entity", shelves),), "Go under an ordered shelf and lift it.",
        "It is in its slot, and you carry nothing.", Action("fetch", (floor.shelf(floor.racks[0][0]),)),
    )
    deliver = ActionSchema(
        "deliver", (), "Carry your shelf along the aisles to the nearest goal: its order is delivered.",
        "You carry a shelf that is ordered.", Action("deliver"),
    )
    put_back = ActionSchema(
        "put_back", (), "Carry your shelf back into its slot and put it down.",
        "You carry a shelf that is not ordered any more.", Action("put_back"),
    )
    search = ActionSchema(
        "search", (Param("rack", "entity", racks),), "Go along a rack until you saw all its shelves.",
        "It is to be searched.", Action("search", (Entity("rack", 0),)),
    )
    go = ActionSchema(
        "go", (Param("place", "cell", size=floor.size),), "Go to a cell, under shelves too unless you carry one.",
        "You carry nothing, or it is no other shelf's slot.", Action("go", ((0, 0),)),
    )
    return fetch, deliver, put_back, search, go, *COMMON_SCHEMAS
    # fmt: on


def thing_of(action: Action) -> Entity:
    """Return the shelf or rack that a complete action names."""
    thing = action.args[0]
    if not isinstance(thing, Entity):
        raise TypeError(f"{action} names no thing")
    return thing


def list_ends(agent: AgentId, action: Action, state: WarehouseState, floor: FloorPlan) -> tuple[Cell, ...]:
    """Return the cells of which an action wants to reach one."""
    if action.verb == "deliver":
        return floor.goals
    if action.verb == "put_back":
        return (state.held[agent],) if agent in state.held else ()
    if action.verb == "search":
        rack = thing_of(action).id
        at = state.at.get(agent, (0, 0))
        return tuple(sorted(state.unseen.get(rack, ()), key=lambda slot: (grid.distance(at, slot), slot))[:1])
    place = action.args[0]
    return (place,) if isinstance(place, tuple) else (floor.slot(thing_of(action)),)


def choose_primitive(agent: AgentId, skill: MacroAction, state: WarehouseState, floor: FloorPlan, rank: int) -> str:
    """Return what to do next.

    Args:
        agent: Who acts.
        skill: Its action.
        state: What it knows.
        floor: The floor plan.
        rank: Its place in the team, from 0.
    """
    action, at = skill.action, state.at[agent]
    ends = list_ends(agent, action, state, floor)
    if at in ends:
        return "toggle" if action.verb in ("fetch", "put_back") else "noop"
    ahead = grid.add(at, STEPS[state.facing[agent]])
    avoided = _avoid_cells(skill, ahead, 2 + 2 * rank if agent in state.held else 1 + rank)
    closed = floor.slots - set(ends) if agent in state.held else frozenset[Cell]()
    open_ends = tuple(end for end in ends if end not in avoided)
    cell = _next_cell(floor.size, at, open_ends, closed | avoided, ahead)
    cell = cell or _next_cell(floor.size, at, ends, closed, ahead)
    return "noop" if cell is None else _move(state.facing[agent], (cell[0] - at[0], cell[1] - at[1]))


def _avoid_cells(skill: MacroAction, ahead: Cell, tries: int) -> frozenset[Cell]:
    """Return the cells that a robot keeps away from because somebody stood there.

    It tries so often before it looks for a way around, each robot another number of times: two who meet and both turn
    would meet again and again.
    """
    if not skill.stuck:
        skill.notes["tries"] = 0
    elif skill.primitive == "forward":
        skill.notes["tries"] = skill.notes.get("tries", 0) + 1
    avoided: dict[Cell, int] = skill.notes.setdefault("avoided", {})
    if skill.primitive == "forward" and skill.notes["tries"] >= tries:
        avoided[ahead] = skill.next_step + DETOUR
    return frozenset(cell for cell, until in avoided.items() if until > skill.next_step)


def _next_cell(size: Cell, at: Cell, ends: tuple[Cell, ...], closed: frozenset[Cell], ahead: Cell) -> Cell | None:
    """Return the next cell on a shortest way, straight on where that is one."""
    ways = [grid.distances(size, end, closed) for end in ends]
    steps = {
        c: min((w[c] for w in ways if c in w), default=-1) for c in grid.list_neighbours(at, size) if c not in closed
    }
    steps = {cell: far for cell, far in steps.items() if far >= 0}
    return min(steps, key=lambda cell: (steps[cell], cell != ahead), default=None)


def _move(facing: str, way: Cell) -> str:
    """Return the step forward, or the turn towards a direction."""
    wanted = next(name for name, step in STEPS.items() if step == way)
    turns = (_CLOCK.index(wanted) - _CLOCK.index(facing)) % 4
    return ("forward", "right", "right", "left")[turns]


def judge(
    agent: AgentId, skill: MacroAction, before: WarehouseState, after: WarehouseState, floor: FloorPlan
) -> Result:
    """Return how an action stands after a step."""
    action, holds = skill.action, after.held.get(agent)
    if action.verb == "fetch" and holds is None:
        number = after.order_of(floor.slot(thing_of(action)))
        if number is None or after.orders[number].state != "open":
            return Result("failed", "gone: a robot took the shelf, or it is not ordered", "dependency")
    number = before.order_of(before.held.get(agent))
    if action.verb == "deliver" and number is None:
        return Result("failed", "not_ordered: its order is delivered, put it back", "dependency")
    is_done = {
        "fetch": lambda: holds is not None,
        "deliver": lambda: number is not None and after.orders[number].delivered,
        "put_back": lambda: holds is None,
        "search": lambda: thing_of(action).id not in after.unseen,
        "go": lambda: after.at[agent] == action.args[0],
    }
    if is_done[action.verb]():
        return DONE
    return (
        Result("failed", f"blocked: not a step on for {PATIENCE} steps", "spatial")
        if skill.stuck >= PATIENCE
        else RUNNING
    )
