"""The levels: who begins where, what lies where, which doors are shut and what burns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from teamworld.language import AgentId
from teamworld.seeding import generator
from teamworld.worlds.base.options import find_level
from teamworld.worlds.rooms.physics import BURNS
from teamworld.worlds.rooms.state import House, Item, State


class Level(NamedTuple):
    """What a level is made of; places are drawn by seed."""

    summary: str
    rooms: int
    team: tuple[str, ...]
    """The kinds of the agents."""
    weights: tuple[int, ...]
    shut: tuple[int, ...] = ()
    fire: bool = False


_PAIR = ("carrier", "carrier", "scout")
_LEVELS: Final[Mapping[str, Level]] = {
    "one": Level("two rooms, one carrier, two light things", 2, ("carrier",), (1, 1)),
    "two": Level("two rooms, two carriers, two light things and a heavy one", 2, _PAIR[:2], (1, 1, 2)),
    "two-hazard": Level("the same with a scout, and a fire", 2, _PAIR, (1, 1, 2), fire=True),
    "three": Level(
        "three rooms, a door shut, three carriers and a scout, four things", 3, ("carrier", *_PAIR), (1, 1, 1, 2), (1,)
    ),
}
#: The levels to list, each with one line.
LEVELS: Final[Mapping[str, str]] = {name: level.summary for name, level in _LEVELS.items()}


class Instance(NamedTuple):
    """A level with everything in its place."""

    house: House
    kinds: Mapping[AgentId, str]
    state: State
    doors: tuple[int, ...]
    """Doors that are shut at the start: to open each is a goal."""


def instance(name: str, seed: int) -> Instance:
    """Return the instance of a level; equal for equal arguments.

    The first thing and heavy ones lie in the first room, the others in any but the last of three; a fire begins in a
    corner of the first room.

    Raises:
        UserError: There is no such level.
    """
    level, rng = find_level(_LEVELS, name, "rooms"), generator(seed, "rooms", "places")
    house = House(level.rooms)
    kinds = {f"agent_{number}": kind for number, kind in enumerate(level.team)}
    corner = (house.height - 1, 0)
    taken = (corner, house.table)
    free = [[cell for cell in house.cells(room) if cell not in taken] for room in range(house.rooms)]
    agents = {agent: free[0][int(rng.integers(len(free[0])))] for agent in kinds}
    rooms = range(1 if house.rooms == 2 else 0, max(2, house.rooms - 1))
    items = {}
    for number, weight in enumerate(level.weights):
        cells = free[0 if weight > 1 else int(rng.choice(rooms)) if number else 0]
        items[number] = Item(weight, cells.pop(int(rng.integers(len(cells)))))
    state = State(agents, items, frozenset(level.shut), {corner: BURNS} if level.fire else {})
    return Instance(house, kinds, state, level.shut)
