"""One step of the rooms: a pure function of the moment, of what everybody tries, and of what may catch fire."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from teamworld.language import AgentId, Cell
from teamworld.worlds.rooms.state import House, Item, State

#: Steps that a cell burns, and steps for which smoke overcomes whoever stands beside a cell that catches fire.
BURNS, OVERCOME = 6, 2


class Primitive(NamedTuple):
    """What one agent tries in one step."""

    verb: Literal["stay", "go", "lift", "put", "open"] = "stay"
    path: tuple[Cell, ...] = ()
    """``go``: the cells to enter, in order."""
    target: int = -1
    """``lift``: the item; ``open``: the door."""


STAY = Primitive()


class Step(NamedTuple):
    """The next moment, and who did not live to see it."""

    state: State
    gone: Mapping[AgentId, str]


def step(state: State, house: House, tried: Mapping[AgentId, Primitive], catches: Collection[Cell]) -> Step:
    """Do one step: lift, open, go, put down, burn.

    Args:
        state: The moment before.
        house: The floor plan.
        tried: What each living agent tries; whoever is overcome stays.
        catches: Cells that catch fire if a cell beside them burns.
    """
    acts = {agent: STAY if agent in state.overcome else tried.get(agent, STAY) for agent in state.agents}
    items, agents = dict(state.items), dict(state.agents)
    for number, item in state.items.items():
        lifting = lifters(state, acts, number)
        if item.state == "free" and len(lifting) >= item.weight:
            items[number] = item._replace(holders=lifting[: item.weight], state="held")
    opened = {
        act.target for agent, act in acts.items() if act.verb == "open" and can_open(house, state, agent, act.target)
    }
    shut = state.shut - opened
    walls = {house.doors[door] for door in shut}
    for agent, act in acts.items():
        held = state.held(agent)
        team = (agent,) if held is None else state.items[held].holders
        if act.verb != "go" or agent != team[0] or any(acts[teammate].verb != "go" for teammate in team):
            continue  # what two hold goes where the first of them leads, if both go
        for cell in act.path if len(team) == 1 else act.path[:1]:
            if cell in house.beside(agents[agent]) and cell not in walls:
                agents.update(dict.fromkeys(team, cell))
    for number, item in items.items():
        if item.holders:
            items[number] = _carried(item, agents[item.holders[0]], house, acts)
    return _burn(replace(state, agents=agents, items=items, shut=shut), house, catches)


def draw_catches(rng: np.random.Generator, house: House, spread: float) -> list[Cell]:
    """Return the cells that catch fire in a step if a cell beside them burns."""
    draws = rng.random(house.size)
    return [cell for cell in house.floor if draws[cell] < spread]


def lifters(state: State, acts: Mapping[AgentId, Primitive], number: int) -> tuple[AgentId, ...]:
    """Return who tries to lift an item in this step where it lies, hands free."""
    cell = state.items[number].cell
    trying = (agent for agent, act in acts.items() if act.verb == "lift" and act.target == number)
    return tuple(agent for agent in trying if state.agents[agent] == cell and state.held(agent) is None)


def can_open(house: House, state: State, agent: AgentId, door: int) -> bool:
    """Return whether an agent stands beside a door that is shut."""
    return door in state.shut and state.agents[agent] in house.beside(house.doors[door])


def _carried(item: Item, cell: Cell, house: House, acts: Mapping[AgentId, Primitive]) -> Item:
    if all(acts[agent].verb != "put" for agent in item.holders):
        return item._replace(cell=cell)
    return Item(item.weight, None, (), "delivered") if cell == house.table else Item(item.weight, cell)


def _burn(state: State, house: House, catches: Collection[Cell]) -> Step:
    shut = {house.doors[door] for door in state.shut}
    spread = {
        cell: BURNS
        for cell in catches
        if cell not in state.fire and cell not in state.ash and cell not in shut
        if any(beside in state.fire for beside in house.beside(cell))
    }
    fire = {cell: left - 1 for cell, left in state.fire.items() if left > 1} | spread
    gone = {agent: "burnt" for agent, cell in state.agents.items() if cell in fire}
    agents = {agent: cell for agent, cell in state.agents.items() if agent not in gone}
    overcome = {agent: left - 1 for agent, left in state.overcome.items() if left > 1 and agent in agents}
    overcome |= {agent: OVERCOME for agent, cell in agents.items() if any(c in spread for c in house.beside(cell))}
    items = {
        number: Item(item.weight, item.cell, (), "lost") if item.cell in fire and item.state != "lost" else item
        for number, item in state.items.items()
    }
    ash = state.ash | (state.fire.keys() - fire.keys())
    return Step(replace(state, agents=agents, items=items, fire=fire, ash=ash, overcome=overcome), gone)
