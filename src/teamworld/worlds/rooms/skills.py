"""The actions: parameters in words, and how each becomes one primitive a step until it is done or has failed.

A skill steers by what its agent knows; whether it is done is judged by the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from teamworld.language import Action, ActionSchema, AgentId, Cell, Entity, Measures, Param, plain
from teamworld.worlds.base.domain import COMMON_SCHEMAS
from teamworld.worlds.base.executor import DONE, RUNNING, Result
from teamworld.worlds.base.words import listed
from teamworld.worlds.rooms.facts import door, item
from teamworld.worlds.rooms.physics import STAY, Primitive
from teamworld.worlds.rooms.state import SPEED, House, Item, State, distances

#: Steps that ``lift`` and ``bring`` wait for a partner, unless told otherwise.
PATIENCE: Final = 8
MEASURES: Final[Measures] = {
    **{"go": (None,), "lift": (None, None), "bring": (None, None), "drop": (), "open": (None,)},
    **{"wait": (), "talk": (None,)},
}


@lru_cache(maxsize=1024)  # asked for at every check of an action, and the same while no item is found
def list_schemas(kind: str, house: House, known: tuple[int, ...]) -> tuple[ActionSchema, ...]:
    """Return what a kind of agent can do, with the items that it knows of."""
    place, doors = Param("place", "cell", size=house.size), range(len(house.doors))
    items = Param("item", "entity", tuple(map(item, known)))
    patience = Param("patience", "count", low=1, high=99, default=PATIENCE)
    go = ActionSchema(
        "go",
        (place,),
        "Walk to a cell by the shortest open way.",
        "There is a way.",
        Action("go", (house.middle(house.rooms - 1),)),
    )
    if kind == "scout":
        open_door = (Param("door", "entity", tuple(map(door, doors))),)
        beside = "You stand on a cell beside the door, and it is shut."
        return go, ActionSchema("open", open_door, "Open a door.", beside, Action("open", (door(0),))), *COMMON_SCHEMAS
    lift = ActionSchema(
        "lift",
        (items, patience),
        "Lift an item. One of weight 2 takes two carriers in the same step; patience is for how many steps to try.",
        "You are on its cell, with free hands.",
        Action("lift", (item(0),)),
    )
    bring = ActionSchema(
        "bring",
        (items, patience),
        "Carry an item to the table and put it there, which takes 1 step more. Of weight 2, both carriers bring it; "
        "patience is for how many steps to wait for the other.",
        "You hold it, and there is a way.",
        Action("bring", (item(0),)),
    )
    drop = ActionSchema(
        "drop", (), "Put down what you hold; on the table it is delivered.", "You hold something.", Action("drop")
    )
    return go, lift, bring, drop, *COMMON_SCHEMAS  # fmt: skip


def cell_of(action: Action) -> Cell:
    """Return the place that a complete ``go`` names."""
    place = action.args[0]
    if not isinstance(place, tuple):
        raise TypeError(f"{action} names no cell")
    return place


def number_of(action: Action) -> int | None:
    """Return the number of the item or door that an action is about."""
    thing = action.args[0] if action.args else None
    return thing.id if isinstance(thing, Entity) else None


@dataclass
class Skill:
    """A running action."""

    agent: AgentId
    action: Action
    """With all arguments."""
    kind: str
    start: int
    spent: int = 0
    stuck: int = 0
    """Steps in a row without getting on."""

    def primitive(self, known: State, house: House) -> Primitive:
        """Return what to try in this step."""
        verb, number = self.action.verb, number_of(self.action)
        if verb == "go":
            return self._toward(cell_of(self.action), known, house)
        if verb == "bring" and known.agents[self.agent] != house.table:
            return self._toward(house.table, known, house)
        if verb in ("bring", "drop"):
            return Primitive("put")
        return STAY if number is None else Primitive("lift" if verb == "lift" else "open", target=number)

    def _toward(self, place: Cell, known: State, house: House) -> Primitive:
        steps, at = distances(house, place, known.closed(house)), known.agents[self.agent]
        path: list[Cell] = []
        speed = 1 if known.held(self.agent) is not None else SPEED[self.kind]
        while len(path) < speed and at != place:
            near = min((cell for cell in house.beside(at) if cell in steps), key=steps.__getitem__, default=None)
            if near is None:
                break
            path.append(at := near)
        return Primitive("go", tuple(path))

    def result(self, before: State, after: State) -> Result:
        """Judge the step that has just gone by; the agent is still there."""
        self.spent += 1
        at = after.agents[self.agent]
        self.stuck = 0 if before.agents[self.agent] != at else self.stuck + 1
        verb, number = self.action.verb, number_of(self.action)
        if verb == "go":
            if at == cell_of(self.action):
                return DONE
            return (
                Result("failed", f"no_way: not a step on for {PATIENCE} steps", "spatial")
                if self.stuck >= PATIENCE
                else RUNNING
            )
        if verb == "talk":
            return DONE if self.spent >= int(str(self.action.args[0])) else RUNNING
        if verb == "open":
            return (
                DONE
                if number not in after.shut
                else Result("failed", "not_beside: the door is shut and not beside you", "spatial")
            )
        if verb == "drop" or number is None:
            return DONE
        thing, patience = after.items[number], int(str(self.action.args[1]))
        if verb == "bring" and thing.state == "delivered":
            return DONE
        if self.agent in thing.holders:
            alone = "timeout: who holds it with you does not come along"
            late = verb == "bring" and self.stuck >= patience
            return DONE if verb == "lift" else Result("failed", alone, "temporal") if late else RUNNING
        if verb == "bring" or thing.state != "free" or thing.cell != at:
            return Result("failed", f"gone: {plain(item(number))} is {_fate(thing, at)}", "dependency")
        few = f"timeout: {thing.weight} carriers must lift it in the same step, there were fewer"
        return Result("failed", few, "participation") if self.spent >= patience else RUNNING


def _fate(thing: Item, at: Cell) -> str:
    """Return where a thing is in place of an agent's hands."""
    held = f"held by {listed(thing.holders)}" if thing.holders else "put down"
    return thing.state if thing.state in ("delivered", "lost") else held if thing.cell == at else "not here any more"
