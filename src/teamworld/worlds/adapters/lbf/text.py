"""Level-based foraging in words: mission, rules of the instance, how a goal stands, and the situation of a forager."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from teamworld.language import Action, AgentId, Entity, plain, show
from teamworld.worlds.adapters.lbf.state import Field, Food, ForagingState
from teamworld.worlds.base.ages import Ages
from teamworld.worlds.base.words import count, listed
from teamworld.worlds.contract import Goal, View


def tell_task(horizon: int) -> str:
    """Return the mission and what counts."""
    return (
        f"Load all food on the field within {count(horizon, 'step')}, and as soon as you can. A food counts its "
        "level, as a share of the levels of all food: 1 point in all, for the whole team."
    )


def tell_rules(field: Field) -> str:
    """Return how this instance works."""
    rows, columns = field.size
    side = 2 * field.sight + 1
    sight = (
        "You see all of it."
        if field.is_observed
        else f"You see {count(field.sight, 'cell')} in each direction, and foragers from near the first rows and "
        f"columns as far as row or column {2 * field.sight}. What you saw earlier is remembered and may be out of "
        "date. You can load only food that you have seen yourself: go near what you were told of first. "
        f"Nobody knows how much food there is. Areas are squares of {side} x {side} cells; the steps of a search are "
        "those to its next cell. A forager of unknown level counts as level 1."
    )
    return (
        f"The field has cells (row, column), rows 0 to {rows - 1} from the top, columns 0 to {columns - 1}. {sight} A "
        "forager goes one cell up, down, left or right a step. Food and foragers are in the way; two who want to enter "
        "one cell both stay where they are. A food is loaded, and gone, when foragers beside it (not diagonally) load "
        "in the same step and their levels add up to at least its level. The number of a food, and of its "
        f"task, is its row times {columns} plus its column: {plain(Entity('food', columns + 2))} lies at (1, 2). Steps "
        "are estimated as if nothing were in the way."
    )


def tell_goal(
    goal: Goal, food: Food, agent: AgentId, agents: Sequence[AgentId], state: ForagingState, steps: Callable[[], int]
) -> str:
    """Return how a goal stands for a forager, in a line.

    Args:
        goal: The goal as it stands.
        food: What is to be loaded.
        agent: The forager.
        agents: The team.
        state: What is known.
        steps: Returns the estimated steps until the agent has loaded it.
    """
    if goal.state != "open":
        return goal.state
    who = "one forager is enough"
    if goal.quorum > 1:
        own = state.levels.get(agent, 1)
        lacks = food.level - own
        first = f"takes your level {own} and {lacks} more at once" if lacks > 0 else f"your level {own} is enough alone"
        most = f", at most {goal.capacity} are of use" if goal.capacity > goal.quorum else ""
        who = f"{first}; {goal.quorum} foragers if they are the weakest{most}"
    parts = [f"{plain(goal.thing)} of level {food.level}", who]
    if sum(state.levels.get(agent, food.level) for agent in agents) < food.level:
        parts.append("cannot be done: the levels of all foragers add up to less")
    return "; ".join((*parts, f"{count(steps(), 'step')} to go and load it"))


def describe(
    view: View, state: ForagingState, field: Field, agents: Sequence[AgentId], steps: Callable[[Action], int]
) -> Iterator[str]:
    """Yield the lines of a situation in words.

    Args:
        view: Of whom, with the step of last sight of what it remembers.
        state: What it knows.
        field: The field.
        agents: The team.
        steps: Returns the estimated steps of an action for it.
    """
    ages, agent = Ages(view.known, view.t), view.agent
    yield f"You are {agent}, a {view.kind} {_forager(agent, state)}."
    for other in agents:
        if other != agent:
            yield f"{other} {_forager(other, state)}{ages.seen(other, 'AT', 'LEVEL')}."
    for cell, food in state.foods.items():
        name = field.food(cell)
        if not food.loaded:
            way = count(steps(Action("load", (name, 1))), "step")
            seen = ages.seen(name, "AT", "LEVEL", "STATE")
            yield f"{plain(name)} of level {food.level} at {show(cell)}: {way} to go and load it{seen}."
    loaded = [f"{plain(field.food(cell))} of level {food.level}" for cell, food in state.foods.items() if food.loaded]
    if loaded:
        yield f"Loaded: {listed(loaded)}."
    for number, cell in state.unseen.items():
        area = Entity("area", number)
        way = count(steps(Action("search", (area,))), "step")
        yield f"You have not seen all of {plain(area)}: {way} to its next cell {show(cell)}."


def _forager(agent: AgentId, state: ForagingState) -> str:
    cell, level = state.at.get(agent), state.levels.get(agent)
    if cell is not None:
        where = f"at {show(cell)}"
    else:
        where = "not seen yet" if level is None else "no longer where you saw it"
    return f"of {'unknown level' if level is None else f'level {level}'}, {where}"
