"""A moment of the rooms, true or known, as data for pictures and the replay, see ``base.picture``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from teamworld.language import AgentId, Cell
from teamworld.worlds.base import picture
from teamworld.worlds.rooms.state import House, State

_KINDS: Final[dict[str, picture.Kind]] = {
    "#": ("tile", "#5d646c", "wall"),
    "/": ("tile", "#eadfc8", "door"),
    "|": ("tile", "#7a4a22", "door that is shut"),
    "T": ("tile", "#6fbf97", "table: things are brought here"),
    "ash": ("tile", "#bdb9b6", "burnt out"),
    "smoke": ("tile", "#c9c3d6", "smoke: has overcome who is here"),
    "*": ("disc", "#d55e00", "fire"),
}
#: By weight, of things.
_SHADES: Final = ("#f0d9b5", "#b98a4e", "#86592a")
_UNSEEN: Final[picture.Kind] = ("tile", "#d6dade", "not seen yet")


def static(house: House, kinds: Mapping[AgentId, str], state: State) -> dict[str, Any]:
    """Return what a drawing needs to know once.

    Args:
        house: The floor plan.
        kinds: The kind of each agent.
        state: The start, or what is known; only its weights and whether anything is unseen are read.
    """
    looks = dict(_KINDS)
    for weight in sorted({thing.weight for thing in state.items.values()}):
        words = "thing with its number" if weight < 2 else f"takes {weight} agents at once"
        looks[_kind(weight)] = ("square", _SHADES[min(weight, len(_SHADES)) - 1], words)
    if state.unseen:
        looks["unseen"] = _UNSEEN
    if "scout" in kinds.values():
        looks |= {"scout": ("disc", "#98a1a9", "s: scout, opens doors, carries nothing")}
    rows, columns = house.size
    walls = [(row, column) for row in range(rows) for column in range(columns) if not house.rooms_at((row, column))]
    ground = [*((cell, "#") for cell in walls), *((cell, "/") for cell in house.doors), (house.table, "T")]
    return picture.static(house.size, looks, ground)


def snapshot(state: State, house: House, kinds: Mapping[AgentId, str]) -> dict[str, Any]:
    """Return where agents are with what they hold, in the team's order (null: gone, or nobody knows), and all else."""
    agents = []
    for number, (agent, kind) in enumerate(kinds.items()):
        held, cell = state.held(agent), state.agents.get(agent)
        label = f"s{number}" if kind == "scout" else str(number)
        agents.append(
            None if cell is None else (cell, label, "", "" if held is None else _kind(state.items[held].weight))
        )
    return picture.snapshot(agents, list(_list_things(state, house)))


def _list_things(state: State, house: House) -> Iterator[tuple[Cell, str, str]]:
    """Yield all that is in a place, from the bottom up."""
    yield from ((cell, "unseen", "") for room in sorted(state.unseen) for cell in house.cells(room))
    yield from ((house.doors[door], "|", "") for door in sorted(state.shut))
    yield from ((cell, "ash", "") for cell in sorted(state.ash))
    yield from ((state.agents[agent], "smoke", "") for agent in sorted(state.overcome) if agent in state.agents)
    for number, thing in state.items.items():
        if thing.cell is not None and thing.state == "free":
            yield thing.cell, _kind(thing.weight), str(number)
    yield from ((cell, "*", "") for cell in sorted(state.fire))


def _kind(weight: int) -> str:
    return f"weight {weight}"


def text(static: Mapping[str, Any], snapshot: Mapping[str, Any]) -> str:
    """Draw a moment as text: things by their number, agents by letters, ``#`` walls, ``|`` shut doors, ``*`` fire."""
    return picture.text(static, snapshot)


def frame(static: Mapping[str, Any], snapshot: Mapping[str, Any], scale: int = 24) -> npt.NDArray[np.uint8]:
    """Draw a moment as pixels: uint8 array of shape (rows * scale, columns * scale, 3)."""
    return picture.frame(static, snapshot, scale)
