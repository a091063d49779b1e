"""The macro-actions of foragers: parameters in words, and how each unrolls to moves and loads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from teamworld.language import Action, ActionSchema, AgentId, Cell, Entity, Measures, Param
from teamworld.worlds.adapters.describer import MacroAction
from teamworld.worlds.adapters.lbf.state import Field, ForagingState
from teamworld.worlds.base import grid
from teamworld.worlds.base.domain import COMMON_SCHEMAS
from teamworld.worlds.base.executor import DONE, RUNNING, Result

#: The package's actions.
PRIMITIVES: Final = {"none": 0, "north": 1, "south": 2, "west": 3, "east": 4, "load": 5}
MOVES: Final = dict(zip(("north", "south", "west", "east"), grid.DIRECTIONS, strict=True))
#: Steps that ``load`` waits beside the food for teammates, unless told otherwise.
PATIENCE: Final = 12
MEASURES: Final[Measures] = {
    **{"load": (None, None), "search": (None,), "go": (None,)},
    **{"wait": (), "talk": (None,)},
}


@lru_cache(maxsize=1024)  # asked for at every check of an action
def list_schemas(
    field: Field, foods: tuple[Entity, ...], areas: tuple[Entity, ...], turns: int
) -> tuple[ActionSchema, ...]:
    """Return what a forager of so many can do, with the food and the areas that it knows of."""
    size, middle = field.size, (field.size[0] // 2, field.size[1] // 2)
    load = ActionSchema(
        "load",
        (Param("food", "entity", foods), Param("patience", "count", low=1, high=99, default=PATIENCE)),
        "Go to the nearest free side of the food and load it as soon as the levels of the foragers beside it add up to "
        "its level; fails after patience steps in a row without a move.",
        "You have seen the food, and it is not loaded yet.",
        Action("load", (field.food(middle),)),
    )
    go = ActionSchema(
        "go",
        (Param("place", "cell", size=size),),
        f"Walk to a cell, around food and foragers; fails after {_longest_stop(turns)} steps in a row without a move.",
        "No food is there, and no forager stays there.",
        Action("go", (middle,)),
    )
    search = ActionSchema(
        "search",
        (Param("area", "entity", areas),),
        "Walk until all cells of the area were seen.",
        "You have not seen all of it.",
        Action("search", (Entity("area", field.area(middle)),)),
    )
    return load, *(() if field.is_observed else (search,)), go, *COMMON_SCHEMAS  # fmt: skip


def _longest_stop(turns: int) -> int:
    """Return the steps in a row without a move after which a walk of one of so many foragers fails."""
    return 4 + 3 * turns


def thing_of(action: Action) -> Entity:
    """Return the food or area that a complete action names."""
    thing = action.args[0]
    if not isinstance(thing, Entity):
        raise TypeError(f"{action} names no thing")
    return thing


def list_ends(agent: AgentId, action: Action, state: ForagingState, field: Field) -> tuple[Cell, ...]:
    """Return the cells of which an action wants to reach one: beside a food those that are free, if any is."""
    place = action.args[0]
    if action.verb == "go" and isinstance(place, tuple):
        return (place,)
    if action.verb == "search":
        area = thing_of(action).id
        return (state.unseen[area],) if area in state.unseen else ()
    sides = tuple(grid.list_neighbours(field.cell(thing_of(action)), field.size))
    return tuple(cell for cell in sides if cell not in state.closed(agent)) or sides


def level_beside(cell: Cell, state: ForagingState, agents: Sequence[AgentId]) -> int:
    """Return the sum of the levels of those agents who stand beside a cell."""
    return sum(state.levels.get(agent, 0) for agent in agents if grid.distance(state.at.get(agent, cell), cell) == 1)


def choose_primitive(
    agent: AgentId, skill: MacroAction, state: ForagingState, field: Field, turn: int, turns: int
) -> str:
    """Return what to do next.

    The way leads around teammates, unless it led back to where the forager was: two who go around each other to the
    same side would go on doing so. Two who want to enter one cell both stay; whoever is stuck moves in its own turn.
    """
    action, at = skill.action, state.at[agent]
    if action.verb == "load":
        cell = field.cell(thing_of(action))
        if grid.distance(at, cell) == 1:
            return "load" if level_beside(cell, state, [*state.at]) >= state.foods[cell].level else "none"
    ends, trail = list_ends(agent, action, state, field), skill.notes.get("trail", ())
    skill.notes["trail"] = (*trail, at)[-4:]
    if skill.stuck and skill.next_step % turns != turn:
        return "none"
    is_back = not skill.stuck and at in trail
    food = state.fields_of_food()
    step = None if is_back else grid.find_step(field.size, at, ends, state.closed(agent))
    step = step or grid.find_step(field.size, at, ends, food)
    way = None if step is None else (step[0] - at[0], step[1] - at[1])
    return next((name for name, direction in MOVES.items() if direction == way), "none")


def judge(agent: AgentId, skill: MacroAction, after: ForagingState, field: Field, turns: int) -> Result:
    """Return how an action stands after a step."""
    action, at = skill.action, after.at[agent]
    if action.verb == "load":
        thing = thing_of(action)
        cell = field.cell(thing)
        if after.foods[cell].loaded:
            has_loaded = skill.primitive == "load" and grid.distance(at, cell) == 1
            return DONE if has_loaded else Result("failed", "gone: others loaded it", "dependency")
        is_there = grid.distance(at, cell) == 1
        if skill.stuck >= int(str(action.args[1])):
            level = level_beside(cell, after, [*after.at])
            late = f"timeout: the levels beside it add up to {level} of {after.foods[cell].level}"
            return Result("failed", late, "participation" if is_there else "spatial")
        return Result(ready=f"load_{thing.id}") if is_there else RUNNING
    is_done = thing_of(action).id not in after.unseen if action.verb == "search" else at == action.args[0]
    if is_done:
        return DONE
    return (
        Result("failed", f"no_way: not a step on for {skill.stuck} steps", "spatial")
        if skill.stuck >= _longest_stop(turns)
        else RUNNING
    )
