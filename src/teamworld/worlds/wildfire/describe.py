"""What an agent sees and is, as a paragraph in the first person, by rules (wildfire spec A10, B33, B35).

Made from the agent's window, its own state and the places of its team-mates, by whole numbers alone: the same on every
machine, exact, and with coordinates wherever something can be done. Directions are the eight of the compass: x grows to
the east, y to the south.
"""

from __future__ import annotations

from math import isqrt, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.worlds.wildfire.grid import MEANINGS
from teamworld.worlds.wildfire.observe import Observation, names_of, observation
from teamworld.worlds.wildfire.sightings import (
    DRY,
    SEEN_BUILDING,
    SEEN_BURNT_OUT,
    SEEN_CIVILIAN,
    SEEN_EXTINGUISHING,
    SEEN_IGNITED,
    SEEN_ON_FIRE,
    SEEN_WATER,
    UNSEEN,
    WET,
)
from teamworld.worlds.wildfire.state import MAX_TREES
from teamworld.worlds.wildfire.units import DESTROYED, FIREFIGHTER, HELICOPTER, KINDS, NOBODY, SEATS, SIGHTS, TANK

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from teamworld.worlds.wildfire.incident import Incident
    from teamworld.worlds.wildfire.sightings import Sightings

#: Clockwise from the north, as in ``sectors``.
DIRECTIONS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")
#: Places of one kind, and fronts of a fire, that are told one by one.
MOST_PLACES, MOST_FRONTS = 6, 3
#: Below how many tenths of a tree to a cell a sector is called so.
DENSITIES = ((1, "no trees"), (5, "few trees"), (15, "light forest"), (25, "medium forest"), (31, "dense forest"))


class Mate(NamedTuple):
    """A team-mate in the open, close enough to matter."""

    name: str
    kind: int
    x: int
    y: int


class Weather(NamedTuple):
    """What a crew feels of wind and slope where it stands (B33)."""

    east: float
    """Wind speed to the east in m/s."""
    south: float
    """Wind speed to the south in m/s."""
    height_m: int
    moisture: int
    """Of the fuel, in percent."""


class Situation(NamedTuple):
    """All that a description tells of."""

    name: str
    seen: Observation
    size: int
    """N, cells on a side of the map."""
    mates: tuple[Mate, ...] = ()
    weather: Weather | None = None


def situation(
    incident: Incident,
    sightings: Sightings,
    agent: int,
    *,
    weather: bool = False,
    names: Sequence[str] | None = None,
) -> Situation:
    """Return the situation of one agent (its row in ``Units``).

    Args:
        incident: What goes on.
        sightings: What was seen of it.
        agent: The agent's row.
        weather: Whether it feels wind, height and moisture at its place; the benchmark hides them (B33).
        names: Of all agents; ``observe.names_of`` if None.
    """
    units = incident.units
    names = names_of(units) if names is None else names
    seen = observation(incident, sightings, agent)
    reach = len(seen.window)  # a window's width, on both axes (A10)
    if not sightings.shared and seen.kind != DESTROYED:
        reach = SIGHTS[seen.kind].reveals  # whoever has a map of its own knows of those in its own sight only (B32)
    places = units.places()
    near = (abs(places - (seen.x, seen.y)) <= reach).all(axis=1) & units.alive & (units.aboard == NOBODY)
    near[agent] = False
    mates = tuple(Mate(names[k], int(units.kind[k]), *map(int, places[k])) for k in np.flatnonzero(near).tolist())
    felt = None
    if weather and seen.kind != DESTROYED:
        terrain, at = incident.land.terrain, (seen.y, seen.x)
        east, south = (float(part[at]) for part in terrain.wind)
        height = int(terrain.elevation[at]) * terrain.relief_m / 65_535
        felt = Weather(east, south, round(height), round(float(terrain.moisture[at]) * 100))
    return Situation(names[agent], seen, incident.land.size, mates, felt)


def plain(about: Situation) -> str:
    """Return the paragraph."""
    seen = about.seen
    if seen.kind == DESTROYED:
        return f"I am {about.name}. I was lost at ({seen.x}, {seen.y})."
    if seen.kind == FIREFIGHTER and seen.extras[2]:
        return (
            f"I am {about.name}, a firefighter, and ride in a helicopter above ({seen.x}, {seen.y}). "
            "I cannot act until it sets me down."
        )
    around = _Around(seen, about.size)
    parts = [
        _myself(about),
        around.bounds(),
        around.fire(),
        around.places("Civilians", "civilian", SEEN_CIVILIAN),
        around.places("Water", "water", SEEN_WATER),
        around.places("Buildings", "building", SEEN_BUILDING),
        around.nearest_of("Ground that smoulders", SEEN_EXTINGUISHING),
        around.nearest_of("Burnt-out ground", SEEN_BURNT_OUT),
        around.nearest_of("Wet ground", *range(WET, WET + MAX_TREES + 1)),
        around.trees(),
        around.unknown(),
        _mates(about),
        _weather(about.weather),
    ]
    return " ".join(part for part in parts if part)


def _myself(about: Situation) -> str:
    seen = about.seen
    middle = len(seen.window) // 2
    cell = MEANINGS[int(seen.window[middle, middle])]
    words = f"I am {about.name}, a {KINDS[seen.kind]}, at ({seen.x}, {seen.y}); my own cell: {cell}."
    if seen.kind == FIREFIGHTER:
        load = "a civilian" if seen.extras[0] else "no civilian"
        words += f" I carry {load} and {seen.extras[1]} of {TANK} water."
    elif seen.kind == HELICOPTER:
        words += f" Aboard are {seen.extras[0]} of {SEATS} firefighters and {seen.extras[1]} of {TANK} water."
    return words


def _mates(about: Situation) -> str:
    seen = about.seen
    told = [
        f"{mate.name} ({KINDS[mate.kind]}) {whither(mate.x - seen.x, mate.y - seen.y)} at ({mate.x}, {mate.y})"
        for mate in sorted(about.mates, key=lambda mate: (mate.x - seen.x) ** 2 + (mate.y - seen.y) ** 2)
    ]
    return f"Team-mates near me: {'; '.join(_some(told))}." if told else "No team-mate is near me."


def _weather(weather: Weather | None) -> str:
    if weather is None:
        return ""
    east, south = weather.east, weather.south
    speed = round(sqrt(east * east + south * south))
    wind = f"blows at {speed} m/s to the {bearing(east, south)}" if speed else "is still"
    return f"Here the wind {wind}; the ground lies at {weather.height_m} m, fuel moisture {weather.moisture} %."


class _Around:
    """A window with the coordinates of its cells."""

    def __init__(self, seen: Observation, size: int) -> None:
        self.seen, self.size, self.codes = seen, size, seen.window
        self.reach = len(seen.window) // 2
        along = np.arange(-self.reach, self.reach + 1)
        self.right, self.down = np.broadcast_arrays(along[None, :], along[:, None])
        self.inside = _within(self.right + seen.x, size) & _within(self.down + seen.y, size)

    def bounds(self) -> str:
        """Which part of the map is in the window."""
        (left, right), (top, bottom) = (
            (max(0, at - self.reach), min(self.size - 1, at + self.reach)) for at in (self.seen.x, self.seen.y)
        )
        last = self.size - 1
        return (
            f"My window shows x {left} to {right} and y {top} to {bottom}; the map runs from 0 to {last} in x, to the "
            "east, and in y, to the south."
        )

    def of(self, *codes: int) -> list[tuple[int, int]]:
        """Return (right, down) of the cells with these codes, the nearest first; ties from the top, then the left."""
        hit = np.isin(self.codes, codes)
        right, down = self.right[hit], self.down[hit]
        order = np.lexsort((right, down, right * right + down * down))
        return list(zip(right[order].tolist(), down[order].tolist(), strict=True))

    def told(self, right: int, down: int) -> str:
        """Return where a cell is: coordinates, distance and direction."""
        return f"({self.seen.x + right}, {self.seen.y + down}), {whither(right, down)}"

    def fire(self) -> str:
        """The fronts of the fire, the nearest first."""
        burning = self.of(SEEN_IGNITED, SEEN_ON_FIRE)
        if not burning:
            return "I see no fire."
        fronts = connected(burning)
        told = []
        for front in fronts[:MOST_FRONTS]:
            xs, ys = sorted(self.seen.x + right for right, _ in front), sorted(self.seen.y + down for _, down in front)
            told.append(
                f"nearest cell {self.told(*front[0])}, {_number(len(front), 'cell')} within x {xs[0]} to {xs[-1]}, "
                f"y {ys[0]} to {ys[-1]}"
            )
        more = f"; and {len(fronts) - MOST_FRONTS} more" if len(fronts) > MOST_FRONTS else ""
        number = _number(len(fronts), "front")
        return f"Fire: {_number(len(burning), 'cell')} in {number}: {'; '.join(told)}{more}."

    def places(self, title: str, thing: str, code: int) -> str:
        """Cells of one kind, one by one."""
        cells = self.of(code)
        if not cells:
            return f"I see no {thing}."
        return f"{title}: {'; '.join(_some([self.told(*cell) for cell in cells]))}."

    def nearest_of(self, title: str, *codes: int) -> str:
        """How many cells of a kind there are and where the nearest is; nothing if there is none."""
        cells = self.of(*codes)
        return f"{title}: {_number(len(cells), 'cell')}, the nearest {self.told(*cells[0])}." if cells else ""

    def trees(self) -> str:
        """The density of trees by direction."""
        wooded = (self.codes >= WET) & (self.codes < DRY + MAX_TREES + 1)
        trees = np.where(wooded, (self.codes.astype(np.int64) - WET) % (DRY - WET), 0)
        told = []
        for direction, sector in zip(DIRECTIONS, sectors(self.right, self.down), strict=True):
            count = int(np.count_nonzero(sector & wooded))
            if count:
                tenths = (20 * int(trees[sector].sum()) + count) // (2 * count)
                word = next(word for below, word in DENSITIES if tenths < below)
                told.append(f"{direction} {word} ({tenths // 10}.{tenths % 10})")
        return f"Trees to a cell: {', '.join(told)}." if told else ""

    def unknown(self) -> str:
        """The directions of which at least half, inside the map, was never seen."""
        hidden = self.inside & (self.codes == UNSEEN)
        told = [
            direction
            for direction, sector in zip(DIRECTIONS, sectors(self.right, self.down), strict=True)
            if 0 < np.count_nonzero(sector & self.inside) <= 2 * np.count_nonzero(sector & hidden)
        ]
        return f"Not yet seen for the most part: {', '.join(told)}." if told else ""


def connected(cells: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Return the groups of cells that touch, also at corners; groups and cells in the order given."""
    left, groups = dict.fromkeys(cells), []
    rank = {cell: k for k, cell in enumerate(cells)}
    while left:
        first = next(iter(left))
        del left[first]
        group, todo = [first], [first]
        while todo:
            x, y = todo.pop()
            for cell in [(x + right, y + down) for right in (-1, 0, 1) for down in (-1, 0, 1)]:
                if cell in left:
                    del left[cell]
                    group.append(cell)
                    todo.append(cell)
        groups.append(sorted(group, key=rank.__getitem__))
    return groups


def sectors(right: npt.NDArray[np.int64], down: npt.NDArray[np.int64]) -> list[npt.NDArray[np.bool_]]:
    """Return, for each of the eight directions, which cells lie there; the cell in the middle in none.

    A cell lies to the east if its way leads less than 22.5 degrees off the east: (|dx| + |dy|) squared < 2 dx squared
    says so in whole numbers, and no cell lies on a border.
    """
    across, along = abs(right), abs(down)
    square = (across + along) ** 2
    level, upright = square < 2 * across * across, square < 2 * along * along
    slanted = ~level & ~upright & (square > 0)
    east, south = right > 0, down > 0
    return [
        upright & ~south, slanted & east & ~south, level & east, slanted & east & south,
        upright & south, slanted & ~east & south, level & ~east, slanted & ~east & ~south,
    ]  # fmt: skip


def bearing(right: float, down: float) -> str:
    """Return the direction of a way that is not nothing."""
    square = (abs(right) + abs(down)) ** 2
    north_south = "" if square < 2 * right * right else ("south" if down > 0 else "north")
    east_west = "" if square < 2 * down * down else ("east" if right > 0 else "west")
    return "-".join(word for word in (north_south, east_west) if word)


def whither(right: int, down: int) -> str:
    """Return distance and direction: ``12 cells to the north-east``; the distance is Euclid's, rounded."""
    square = right * right + down * down
    if square == 0:
        return "right here"
    return f"{_number((isqrt(4 * square) + 1) // 2, 'cell')} to the {bearing(right, down)}"


def _within(at: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.bool_]:
    inside: npt.NDArray[np.bool_] = (at >= 0) & (at < size)
    return inside


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _some(told: list[str]) -> Iterable[str]:
    """Return the first few, and how many more there are."""
    more = len(told) - MOST_PLACES
    return told if more <= 0 else [*told[:MOST_PLACES], f"and {more} more"]
