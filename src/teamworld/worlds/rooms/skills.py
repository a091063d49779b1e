"""The actions: parameters in words, and how each becomes one primitive a tick until it is done or has failed.

A skill steers by what its agent knows; whether it is done is judged by the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from teamworld.language import Action, AgentId, Cell, Entity, Measures
from teamworld.worlds.base.executor import DONE, RUNNING, Result
from teamworld.worlds.contract import ActionSchema, Param
from teamworld.worlds.rooms.observe import door, item
from teamworld.worlds.rooms.physics import STAY, Primitive
from teamworld.worlds.rooms.state import SPEED, House, State, ways

#: Ticks that ``lift`` and ``bring`` wait for a partner, unless told otherwise.
PATIENCE: Final = 8
MEASURES: Final[Measures] = {
    **{"go": (None,), "lift": (None, None), "bring": (None, None), "drop": (), "open": (None,)},
    **{"wait": (), "talk": (None,)},
}


def schemas(kind: str, house: House, known: State) -> tuple[ActionSchema, ...]:
    """Return what a kind of agent can do, with the items and doors that it knows of."""
    return _schemas(kind, house, tuple(known.items))


@lru_cache(maxsize=1024)  # asked for at every check of an action, and the same while no item is found
def _schemas(kind: str, house: House, known: tuple[int, ...]) -> tuple[ActionSchema, ...]:
    items = Param("item", "entity", tuple(map(item, known)))
    patience = Param("patience", "count", low=1, high=99, default=PATIENCE)
    carrier = (
        ActionSchema(
            "lift",
            (items, patience),
            "Where the item lies, lift it with free hands. An item of weight 2 takes two carriers who lift it in the "
            "same tick; patience is for how many ticks to try.",
        ),
        ActionSchema(
            "bring",
            (items, patience),
            "Carry the item in your hands to the table and put it there. Two carriers must both bring what they hold "
            "together; patience is for how many ticks to wait for the other.",
        ),
        ActionSchema("drop", (), "Put down what you hold; on the table it is delivered."),
    )
    doors = Param("door", "entity", tuple(map(door, range(len(house.doors)))))
    scout = (ActionSchema("open", (doors,), "From a cell beside a shut door, open it."),)
    return (
        ActionSchema(
            "go", (Param("place", "cell", size=house.size),), "Walk to a cell, around fire and through open doors."
        ),
        *(carrier if kind == "carrier" else scout),
        ActionSchema("wait", (), "Do nothing for one tick."),
        ActionSchema("talk", (Param("ticks", "count", low=1),), "Spend ticks on talking."),
    )


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
    """Ticks in a row without getting on."""

    def primitive(self, known: State, house: House) -> Primitive:
        """Return what to try in this tick."""
        verb, number = self.action.verb, number_of(self.action)
        if verb == "go":
            return self._toward(cell_of(self.action), known, house)
        if verb == "bring":
            at_table = known.agents[self.agent] == house.table
            return Primitive("put") if at_table else self._toward(house.table, known, house)
        if verb in ("lift", "open"):
            return Primitive("lift" if verb == "lift" else "open", target=-1 if number is None else number)
        return Primitive("put") if verb == "drop" else STAY

    def _toward(self, place: Cell, known: State, house: House) -> Primitive:
        field, at = ways(house, place, known.closed(house)), known.agents[self.agent]
        path: list[Cell] = []
        speed = 1 if known.held(self.agent) is not None else SPEED[self.kind]
        while len(path) < speed and at != place:
            near = min((step for step in house.beside(at) if step in field), key=field.__getitem__, default=None)
            if near is None:
                break
            path.append(at := near)
        return Primitive("go", tuple(path))

    def result(self, before: State, after: State) -> Result:
        """Judge the tick that has just gone by; the agent is still there."""
        self.spent += 1
        moved = before.agents[self.agent] != after.agents[self.agent]
        self.stuck = 0 if moved else self.stuck + 1
        verb, number = self.action.verb, number_of(self.action)
        if verb == "go":
            if after.agents[self.agent] == cell_of(self.action):
                return DONE
            return Result("failed", "no_way", "spatial") if self.stuck >= PATIENCE else RUNNING
        if verb == "talk":
            return DONE if self.spent >= int(str(self.action.args[0])) else RUNNING
        if verb == "open":
            return DONE if number not in after.shut else Result("failed", "not_beside", "spatial")
        if verb == "drop" or number is None:
            return DONE
        thing, patience = after.items[number], int(str(self.action.args[1]))
        if verb == "bring" and thing.state == "delivered":
            return DONE
        if self.agent in thing.holders:
            late = verb == "bring" and self.stuck >= patience
            return DONE if verb == "lift" else Result("failed", "timeout", "temporal") if late else RUNNING
        if verb == "bring" or thing.state != "free" or thing.cell != after.agents[self.agent]:
            return Result("failed", "gone", "dependency")
        return Result("failed", "timeout", "participation") if self.spent >= patience else RUNNING
