"""The macro-actions of cooks: parameters in words, and how each unrolls to moves and to using what is in front."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from teamworld.language import Action, ActionSchema, AgentId, Cell, Entity, Measures, Param, plain
from teamworld.worlds.adapters.describer import MacroAction
from teamworld.worlds.adapters.overcooked.state import FULL, NOTHING, SOUP, Kitchen, KitchenState
from teamworld.worlds.base import grid
from teamworld.worlds.base.domain import COMMON_SCHEMAS
from teamworld.worlds.base.executor import DONE, RUNNING, Result

#: The package's actions: cardinal moves turn and walk; ``use`` takes, puts and delivers. Toggling does nothing here.
PRIMITIVES: Final = {"north": 0, "south": 1, "west": 2, "east": 3, "use": 4, "stay": 6}
MOVES: Final = {"north": grid.NORTH, "south": grid.SOUTH, "west": grid.WEST, "east": grid.EAST}
#: Steps without a move or an effect after which an action ends.
PATIENCE: Final = 10
#: Steps after which an action that is not there yet ends: twice the longest way around.
TIMEOUT: Final = 40
#: Steps for which the first cook waits for another who is in its way, before it goes around or steps aside.
YIELDS: Final = 3
MEASURES: Final[Measures] = {
    **{"get": (None,), "add": (None,), "plate": (None,), "deliver": (None,), "place": (None,), "go": (None,)},
    **{"wait": (), "talk": (None,)},
}


@lru_cache(maxsize=1024)  # asked for at every check of an action
def list_schemas(kitchen: Kitchen, at: Cell) -> tuple[ActionSchema, ...]:
    """Return what a cook can do from a cell, with the stations that it can get to."""
    reach = kitchen.reach(at)

    def choices(*kinds: str) -> tuple[Entity, ...]:
        return tuple(station for kind in kinds for station in kitchen.list(kind) if station in reach)

    sources = Param("source", "entity", choices("onion_stack", "plate_stack", "counter"))
    pot, window, counter = (Param(kind, "entity", choices(kind)) for kind in ("pot", "window", "counter"))
    all_schemas = (
        ActionSchema(
            "get", (sources,), "Take an onion or plate from its stack, or what lies on a counter.",
            "Empty hands; the counter is not empty.",
        ),
        ActionSchema("add", (pot,), "Put your onion into a pot.", f"You hold an onion, the pot has less than {FULL}."),
        ActionSchema(
            "plate", (pot,), "Go to a full pot, wait until it is cooked, and take the soup.",
            f"You hold a plate, the pot has {FULL} onions; plans are checked as if teammates did nothing.",
        ),
        ActionSchema("deliver", (window,), "Hand your soup out of the window.", "You hold a soup."),
        ActionSchema("place", (counter,), "Put what you hold on a counter.", "You hold it, the counter is empty."),
    )  # fmt: skip
    usable = tuple(
        replace(schema, example=Action(schema.verb, schema.params[0].choices[:1]))
        for schema in all_schemas
        if schema.params[0].choices
    )
    place, way = Param("place", "cell", size=kitchen.size), "A way leads there."
    go = ActionSchema("go", (place,), "Walk to a cell of the floor.", way, Action("go", (min(kitchen.floor),)))
    return *usable, go, *COMMON_SCHEMAS


def station_of(action: Action) -> Entity:
    """Return the station that a complete action names."""
    station = action.args[0]
    if not isinstance(station, Entity):
        raise TypeError(f"{action} names no station")
    return station


def list_ends(action: Action, kitchen: Kitchen) -> tuple[Cell, ...]:
    """Return the cells of which an action wants to reach one."""
    place = action.args[0]
    return (place,) if action.verb == "go" and isinstance(place, tuple) else kitchen.sides(station_of(action))


def find_move(start: Cell, end: Cell) -> str:
    """Return the move from a cell to one beside it."""
    step = end[0] - start[0], end[1] - start[1]
    return next(name for name, direction in MOVES.items() if direction == step)


def choose_primitive(agent: AgentId, skill: MacroAction, state: KitchenState, kitchen: Kitchen, turn: int) -> str:
    """Return what to do next.

    Args:
        agent: Who acts.
        skill: Its action.
        state: What it knows.
        kitchen: The layout.
        turn: Its place in the team; the first has the right of way, or rings of one cell's width would never clear.
    """
    action, at = skill.action, state.at[agent]
    ends = list_ends(action, kitchen)
    if at in ends and action.verb != "go":
        station = station_of(action)
        facing = find_move(at, kitchen.cell(station))
        if state.faces.get(agent) != facing:
            return facing  # turns: the station is in the way
        is_cooking = action.verb == "plate" and state.pots[station.id].state != "ready"
        return "stay" if is_cooking else "use"
    others = frozenset(cell for other, cell in state.at.items() if other != agent)
    step = _find_way(at, ends, others, kitchen, skill)
    if step in others and (turn > 0 or skill.stuck >= YIELDS):
        around = grid.find_step(kitchen.size, at, ends, kitchen.walls | others)
        step = around if around not in others else _step_aside(at, others, kitchen, step)
    return "stay" if step is None else find_move(at, step)


def _find_way(
    at: Cell, ends: tuple[Cell, ...], others: frozenset[Cell], kitchen: Kitchen, skill: MacroAction
) -> Cell | None:
    """Return the next cell on the way to the nearest free end, as if nobody were in between.

    No way leads straight back: who goes around somebody keeps on going.
    """
    free = tuple(cell for cell in ends if cell not in others) or ends
    came = MOVES.get(skill.primitive) if skill.spent and not skill.stuck else None
    back = frozenset({(at[0] - came[0], at[1] - came[1])} if came else ())
    onward = grid.find_step(kitchen.size, at, free, kitchen.walls | back)
    return grid.find_step(kitchen.size, at, free, kitchen.walls) if onward is None or onward in back else onward


def _step_aside(at: Cell, others: frozenset[Cell], kitchen: Kitchen, step: Cell | None) -> Cell | None:
    """Return a free cell beside, so that whoever stands in the way can come here; the wanted one if there is none."""
    beside = (cell for cell in grid.list_neighbours(at, kitchen.size) if cell in kitchen.floor and cell not in others)
    return next(beside, step)


def judge(agent: AgentId, skill: MacroAction, before: KitchenState, after: KitchenState, kitchen: Kitchen) -> Result:
    """Return how an action stands after a step."""
    action, at, held = skill.action, after.at[agent], after.hands[agent]
    if action.verb == "go":
        return DONE if at == action.args[0] else _judge_stuck(agent, skill, after, kitchen)
    station = station_of(action)
    if action.verb == "get":
        is_gone = station.kind == "counter" and station.id not in after.counters
        is_done, problem = held != NOTHING, "gone: a teammate took it" if is_gone else ""
    elif action.verb == "plate":
        is_done, problem = held == SOUP, "" if after.pots[station.id].is_full else "gone: a teammate took the soup"
    else:
        is_done = held == NOTHING and before.hands[agent] != NOTHING
        is_full = action.verb == "add" and after.pots[station.id].is_full
        is_taken = is_full or (action.verb == "place" and station.id in after.counters)
        problem = (
            f"full: nothing more fits {'into' if action.verb == 'add' else 'on'} {plain(station)}" if is_taken else ""
        )
    if is_done:
        return DONE
    if problem:
        return Result("failed", problem, "dependency")
    if action.verb == "plate" and at in kitchen.sides(station):
        return RUNNING
    return _judge_stuck(agent, skill, after, kitchen)


def _judge_stuck(agent: AgentId, skill: MacroAction, after: KitchenState, kitchen: Kitchen) -> Result:
    if skill.stuck < PATIENCE and skill.spent < TIMEOUT:
        return RUNNING
    ends = list_ends(skill.action, kitchen)
    blocker = next((other for other, cell in after.at.items() if other != agent and cell in ends), None)
    return Result("failed", f"no_way: {blocker or 'a teammate'} was in the way", "spatial", blocker)
