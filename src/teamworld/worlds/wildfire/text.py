"""Texts: what an agent sees and knows in words, and its window as a grid of characters.

A description is made from the agent's window, its own state and the places of its teammates, by whole numbers alone:
the same on every machine, exact, and with coordinates wherever something can be done. Directions are the eight of the
compass: x grows to the east, y to the south.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import dist, isqrt, sqrt
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.errors import UserError
from teamworld.language import Cell, Entity, show
from teamworld.worlds.wildfire.candidate_plans import go_to, is_search_over
from teamworld.worlds.wildfire.goal_text import ranges
from teamworld.worlds.wildfire.kernels.agents import (
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
from teamworld.worlds.wildfire.observe import Observation, agent_names, observation
from teamworld.worlds.wildfire.sharing import share_civilians, share_sectors
from teamworld.worlds.wildfire.skills import estimate_ticks, travel_ticks
from teamworld.worlds.wildfire.state import (
    DESTROYED,
    FIREFIGHTER,
    GO_ANYWHERE,
    HELICOPTER,
    KINDS,
    MAX_TREES,
    NOBODY,
    SEATS,
    SIGHTS,
    TANK,
)
from teamworld.worlds.wildfire.symbolic_state import WALKERS, AgentState, number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    from teamworld.worlds.wildfire.observe import Sightings
    from teamworld.worlds.wildfire.state import Incident
    from teamworld.worlds.wildfire.world import WildfireView


#: By the code of a cell.
SYMBOLS = ("-", "'0'", "'1'", "'2'", "'3'", "0", "1", "2", "3", "i", "f", "e", "x", "w", "B", "C")


_TREES = ("without trees", "with 1 tree", "with 2 trees", "with 3 trees")

#: What a cell is, in words, by its code.
MEANINGS = (
    "not seen yet, or outside the map",
    *(f"wet ground {trees}" for trees in _TREES),
    *(f"dry ground {trees}" for trees in _TREES),
    *("ignited", "on fire", "smouldering", "burnt out", "water", "building", "civilian"),
)

#: What each character means, in the order of the codes.
LEGEND: Mapping[str, str] = MappingProxyType(dict(zip(SYMBOLS, MEANINGS, strict=True)))


def grid_text(window: npt.NDArray[np.integer]) -> str:
    """Write a window as text.

    Args:
        window: Codes of shape (2W + 1, 2W + 1), indexed [y, x]; of shape (0, 0) for one that is lost.

    Returns:
        2W + 1 lines, ``0,0,1`` and so on; empty for an empty window.

    Raises:
        UserError: If it is no square with a middle, or holds other codes.
    """
    side = len(window)
    if window.shape != (side, side) or side % 2 == 0 < side:
        raise UserError(f"a window is a square with a cell in the middle, got an array of shape {window.shape}")
    if window.size and not (window.min() >= 0 and window.max() < len(SYMBOLS)):
        raise UserError(f"a window holds codes from 0 to {len(SYMBOLS) - 1}, got {window.min()} to {window.max()}")
    rows = [[SYMBOLS[code] for code in row] for row in window.tolist()]
    if rows:
        rows[side // 2][side // 2] = f"*{rows[side // 2][side // 2]}*"
    return "\n".join(",".join(row) for row in rows)


def grid_legend() -> str:
    """Return the legend in one line, for texts."""
    return "; ".join(f"{symbol} {meaning}" for symbol, meaning in LEGEND.items())


#: Clockwise from the north, as in ``sectors``.
DIRECTIONS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")

_SHORT = dict(zip(DIRECTIONS, ("N", "NE", "E", "SE", "S", "SW", "W", "NW"), strict=True))

#: Places of one kind, and fronts of a fire, that are told one by one.
MOST_PLACES, MOST_FRONTS = 6, 3

#: Below how many tenths of a tree to a cell a sector is called so.
DENSITIES = ((1, "no trees"), (5, "few trees"), (15, "light forest"), (25, "medium forest"), (31, "dense forest"))


class NearbyTeammate(NamedTuple):
    """A teammate in the open, close enough to matter."""

    name: str
    kind: int
    x: int
    y: int


class Weather(NamedTuple):
    """Wind, height and moisture where an agent stands."""

    east: float
    """Wind speed to the east in m/s."""
    south: float
    """Wind speed to the south in m/s."""
    height_m: int
    moisture: int
    """Of the fuel, in percent."""


class AgentSituation(NamedTuple):
    """All that a description tells of."""

    name: str
    seen: Observation
    size: int
    """N, cells on a side of the map."""
    teammates: tuple[NearbyTeammate, ...] = ()
    weather: Weather | None = None


def agent_situation(incident: Incident, sightings: Sightings, agent: int, *, weather: bool = False) -> AgentSituation:
    """Return the situation of one agent (its row in ``Units``).

    With ``weather`` it feels wind, height and moisture at its place; the benchmark hides them.
    """
    units = incident.units
    names = agent_names(units)
    seen = observation(incident, sightings, agent)
    reach = len(seen.window)  # a window's width, on both axes
    if not sightings.shared and seen.kind != DESTROYED:
        reach = SIGHTS[seen.kind].reveals  # whoever has a map of its own knows of those in its own sight only
    places = units.places()
    near = (abs(places - (seen.x, seen.y)) <= reach).all(axis=1) & units.alive & (units.aboard == NOBODY)
    near[agent] = False
    teammates = tuple(
        NearbyTeammate(names[k], int(units.kind[k]), *map(int, places[k])) for k in np.flatnonzero(near).tolist()
    )
    felt = None
    if weather and seen.kind != DESTROYED:
        terrain, at = incident.land.terrain, (seen.y, seen.x)
        east, south = (float(part[at]) for part in terrain.wind)
        height = int(terrain.elevation[at]) * terrain.relief_m / 65_535
        felt = Weather(east, south, round(height), round(float(terrain.moisture[at]) * 100))
    return AgentSituation(names[agent], seen, incident.land.size, teammates, felt)


def describe(about: AgentSituation) -> str:
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
        _teammates(about),
        _weather(about.weather),
    ]
    return " ".join(part for part in parts if part)


def _myself(about: AgentSituation) -> str:
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


def _teammates(about: AgentSituation) -> str:
    away = [((x - about.seen.x, y - about.seen.y), name, kind, x, y) for name, kind, x, y in about.teammates]
    lines = [
        f"{name} ({KINDS[kind]}) {whither(*way)} at ({x}, {y})"
        for way, name, kind, x, y in sorted(away, key=lambda entry: entry[0][0] ** 2 + entry[0][1] ** 2)
    ]
    return f"Team-mates near me: {'; '.join(_some(lines))}." if lines else "No team-mate is near me."


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
        x, y = self.right + seen.x, self.down + seen.y
        self.inside = (x >= 0) & (x < size) & (y >= 0) & (y < size)
        self.sectors = dict(zip(DIRECTIONS, sectors(self.right, self.down), strict=True))

    def bounds(self) -> str:
        """Which part of the map is in the window."""
        last = self.size - 1
        x, y = ((max(0, at - self.reach), min(last, at + self.reach)) for at in (self.seen.x, self.seen.y))
        return (
            f"My window shows x {x[0]} to {x[1]} and y {y[0]} to {y[1]}; the map runs from 0 to {last} in x, to the "
            "east, and in y, to the south."
        )

    def extent(self) -> str:
        """Which part of the map is in the window, in a few words."""
        last = self.size - 1
        x, y = ((max(0, at - self.reach), min(last, at + self.reach)) for at in (self.seen.x, self.seen.y))
        return f"The ground around you, from x {x[0]} to {x[1]} and y {y[0]} to {y[1]}"

    def of(self, *codes: int) -> list[tuple[int, int]]:
        """Return (right, down) of the cells with these codes, the nearest first; ties from the top, then the left."""
        hit = np.isin(self.codes, codes)
        right, down = self.right[hit], self.down[hit]
        order = np.lexsort((right, down, right * right + down * down))
        return list(zip(right[order].tolist(), down[order].tolist(), strict=True))

    def describe_place(self, right: int, down: int) -> str:
        """Return where a cell is: coordinates, distance and direction."""
        return f"({self.seen.x + right}, {self.seen.y + down}), {whither(right, down)}"

    def fire(self) -> str:
        """The fronts of the fire, the nearest first."""
        burning = self.of(SEEN_IGNITED, SEEN_ON_FIRE)
        if not burning:
            return "I see no fire."
        fronts = connected(burning)
        lines = []
        for front in fronts[:MOST_FRONTS]:
            xs, ys = sorted(self.seen.x + right for right, _ in front), sorted(self.seen.y + down for _, down in front)
            lines.append(
                f"nearest cell {self.describe_place(*front[0])}, {_number(len(front), 'cell')} "
                f"within x {xs[0]} to {xs[-1]}, y {ys[0]} to {ys[-1]}"
            )
        more = f"; and {len(fronts) - MOST_FRONTS} more" if len(fronts) > MOST_FRONTS else ""
        number = _number(len(fronts), "front")
        return f"Fire: {_number(len(burning), 'cell')} in {number}: {'; '.join(lines)}{more}."

    def places(self, title: str, thing: str, code: int) -> str:
        """Cells of one kind, one by one."""
        cells = self.of(code)
        if not cells:
            return f"I see no {thing}."
        return f"{title}: {'; '.join(_some([self.describe_place(*cell) for cell in cells]))}."

    def nearest_of(self, title: str, *codes: int) -> str:
        """How many cells of a kind there are and where the nearest is; nothing if there is none."""
        cells = self.of(*codes)
        return f"{title}: {_number(len(cells), 'cell')}, the nearest {self.describe_place(*cells[0])}." if cells else ""

    def trees(self) -> str:
        """The density of trees by direction, in words."""
        lines = []
        for direction, tenths in self._tenths():
            word = next(word for below, word in DENSITIES if tenths < below)
            lines.append(f"{direction} {word} ({tenths // 10}.{tenths % 10})")
        return f"Trees to a cell: {', '.join(lines)}." if lines else ""

    def densities(self) -> str:
        """The density of trees by direction, in numbers."""
        lines = [f"{_SHORT[direction]} {tenths // 10}.{tenths % 10}" for direction, tenths in self._tenths()]
        return f"Trees to a cell, where seen: {', '.join(lines)}." if lines else ""

    def _tenths(self) -> Iterator[tuple[str, int]]:
        """Yield directions with tenths of a tree to a cell."""
        wooded = (self.codes >= WET) & (self.codes < DRY + MAX_TREES + 1)
        trees = np.where(wooded, (self.codes.astype(np.int64) - WET) % (DRY - WET), 0)
        for direction, sector in self.sectors.items():
            count = int(np.count_nonzero(sector & wooded))
            if count:
                yield direction, (20 * int(trees[sector].sum()) + count) // (2 * count)

    def unknown(self) -> str:
        """The directions of which at least half, inside the map, was never seen."""
        hidden = self.inside & (self.codes == UNSEEN)
        lines = [
            direction
            for direction, sector in self.sectors.items()
            if 0 < np.count_nonzero(sector & self.inside) <= 2 * np.count_nonzero(sector & hidden)
        ]
        where = "on all sides" if len(lines) == len(self.sectors) else f"to the {', '.join(lines)}"
        return f"Mostly unseen {where}." if lines else ""


def connected(cells: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Return the groups of cells that touch, also at corners; groups and cells in the order given."""
    rank, groups = {cell: k for k, cell in enumerate(cells)}, []
    left = dict.fromkeys(cells)
    while left:
        todo = [next(iter(left))]
        group = set(todo)
        while todo:
            x, y = todo.pop()
            near = {(x + right, y + down) for right in (-1, 0, 1) for down in (-1, 0, 1)} & left.keys() - group
            group |= near
            todo += near
        left = {cell: None for cell in left if cell not in group}
        groups.append(sorted(group, key=rank.__getitem__))
    return groups


def sectors(right: npt.NDArray[np.int64], down: npt.NDArray[np.int64]) -> list[npt.NDArray[np.bool_]]:
    """Return, for each of the eight directions, which cells lie there; the cell in the middle in none.

    A cell lies to the east if its way leads less than 22.5 degrees off the east: (|dx| + |dy|) squared < 2 dx squared
    says so in whole numbers, and no cell lies on a border.
    """
    across, along = abs(right), abs(down)
    square = (across + along) ** 2
    east_west = np.where(square < 2 * along * along, 0, np.sign(right))
    north_south = np.where(square < 2 * across * across, 0, np.sign(down))
    ways = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))
    return [(east_west == x) & (north_south == y) for x, y in ways]


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


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _some(lines: list[str]) -> Iterable[str]:
    """Return the first few, and how many more there are."""
    more = len(lines) - MOST_PLACES
    return lines if more <= 0 else [*lines[:MOST_PLACES], f"and {more} more"]


_PRIMITIVES = {
    "firefighter": ("go", "cut", "lift", "spray", "fill"),
    "bulldozer": ("go", "clear"),
    "drone": ("go",),
    "helicopter": ("go", "board", "fill", "drop"),
}


def primitive_name(kind: str, command: Sequence[int]) -> str:
    """Return the name of a primitive, for the log."""
    order = int(command[0])
    return "go" if order == GO_ANYWHERE else "stop" if order < 0 else _PRIMITIVES[kind][order]


#: Runs of burning cells, things and teammates that a view tells of one by one, the nearest.
MOST_RUNS, MOST_THINGS, MOST_SECTORS = 16, 12, 8
#: Cells to cut up to which a view tells the ways between them.
MOST_TARGETS = 6


def view_text(incident: Incident, sightings: Sightings, view: WildfireView, form: str, weather: bool) -> str:
    """Return a view in words (``plain``), or with its window as a grid of cells in the place of words for the ground.

    What facts say is told by the view's facts alone; of the ground what the window shows.

    Args:
        incident: The world as it is.
        sightings: What was seen of it.
        view: What the agent knows.
        form: ``plain`` or ``grid``.
        weather: Whether the agent feels wind, height and moisture where it is.
    """
    known, row = _Told(view), list(view.mission.kinds).index(view.agent)
    lines = list(known.lines())
    if known.rides:
        return "\n".join(lines)
    seen = observation(incident, sightings, row)
    around = _Around(seen, incident.land.size)
    if form == "grid":
        codes = sorted(set(np.unique(seen.window).tolist()))
        legend = "; ".join(f"{SYMBOLS[code]} {MEANINGS[code]}" for code in codes)
        grid = (
            f"The grid shows x {seen.x - around.reach} to {seen.x + around.reach} in columns and y "
            f"{seen.y - around.reach} to {seen.y + around.reach} in rows, the north above; your cell stands between "
            f"asterisks. {legend}."
        )
        lines += [*known.targets(), grid, grid_text(seen.window)]
        return "\n".join(lines)
    ground = [
        around.places("Buildings", "building", SEEN_BUILDING) if around.of(SEEN_BUILDING) else "",
        around.nearest_of("Ground that smoulders", SEEN_EXTINGUISHING),
        around.nearest_of("Burnt-out ground", SEEN_BURNT_OUT),
        around.nearest_of("Wet ground", *range(WET, WET + MAX_TREES + 1)),
        around.densities() if view.kind in WALKERS and view.mission.fights else "",
        around.unknown() if view.mission.burns or not view.mission.known else "",
    ]
    if words := " ".join(filter(None, ground)):
        lines.append(f"{around.extent()}: {words}")
    if weather:
        lines.append(_weather(agent_situation(incident, sightings, row, weather=True).weather))
    return "\n".join(lines)


class _Told:
    """What the facts of a view say, in words."""

    def __init__(self, view: WildfireView) -> None:
        self._view, self._state, self._mission = view, view.state, view.mission
        self._me = self._state.agents.get(view.agent)
        self._at = (0, 0) if self._me is None else self._me.at
        self.rides = self._me is not None and self._me.aboard is not None
        self._seen: dict[object, int] = {}
        """When what is remembered was last seen, by subject, and of burning cells by cell."""
        for fact in view.recall:
            last = view.recall.seen.get(fact)
            if last is not None:
                key = (fact.subject, fact.value) if fact.predicate == "BURNS" else fact.subject
                self._seen[key] = max(last, self._seen.get(key, last))

    def lines(self) -> Iterator[str]:
        """Yield what is known, a line for each sort of things."""
        yield self._myself()
        if self.rides:
            return
        yield from self._fires()
        yield from self._civilians()
        yield from self._places()
        if spots := self._state.targets.values():
            trees = MAX_TREES * len(spots)
            yield f"Trees cut so far: {trees - sum(spot.trees for spot in spots)} of {trees}."
            bare = [
                f"target_{number} at {show(spot.at)}" for number, spot in self._state.targets.items() if not spot.trees
            ]
            if bare and len(spots) <= MOST_TARGETS:
                yield f"Cut bare: {', '.join(bare)}."
            yield from self._between()
        yield from self._team()
        yield from self._sectors()

    def _between(self) -> Iterator[str]:
        """Yield the steps between the cells that are left to cut, where they are few: the nearest pairs first."""
        spots = {number: spot.at for number, spot in self._state.targets.items() if spot.trees and spot.line is None}
        if not 1 < len(spots) <= MOST_TARGETS:
            return
        apart: dict[int, list[str]] = {}
        for (first, at), (second, to) in combinations(spots.items(), 2):
            apart.setdefault(travel_ticks(self._view.kind, at, to, self._state), []).append(f"{first}-{second}")
        ways = (f"{steps} for {', '.join(pairs)}" for steps, pairs in sorted(apart.items()))
        yield f"Estimated steps of the way from target to target, unseen ground taken as usual: {'; '.join(ways)}."

    def _myself(self) -> str:
        view, me = self._view, self._me
        if me is None:
            return f"You are {view.agent}."
        if me.aboard is not None:
            where = f"ride {me.aboard} above {show(me.at)}"
            return f"You are {view.agent} and {where}: you cannot act until it sets you down."
        trees = "" if me.trees is None else f", on a cell with {number_of(me.trees, 'tree')}".replace(" 0 ", " no ")
        words = f"You are {view.agent}, at {show(me.at)}{trees}."
        load = self._load(view.agent, me)
        return f"{words} {load}" if load else words

    def _load(self, agent: str, body: AgentState) -> str:
        """Return what the agent itself carries, of what there is to carry."""
        parts, kind = [], self._mission.kinds[agent]
        if self._mission.has_people and kind == "firefighter":
            parts.append("no civilian" if body.holds is None else f"civilian_{body.holds}")
        if self._mission.pours and kind in ("firefighter", "helicopter"):
            parts.append(f"{body.water} of {TANK} water")
        words = f"You carry {' and '.join(parts)}." if parts else ""
        if kind == "helicopter" and self._mission.agents("firefighter"):
            riders = ", ".join(self._state.riders(agent)) or "nobody"
            words = f"{words} Aboard: {riders}.".strip()
        return words

    def _age(self, key: object) -> str:
        last = self._seen.get(key)
        return "" if last is None else f", seen {number_of(self._view.t - last, 'step')} ago"

    def _way(self, cell: Cell) -> str:
        """Return where a cell is, and how far for this agent."""
        if cell == self._at:
            return f"{show(cell)}, right here"
        steps = travel_ticks(self._view.kind, self._at, cell, self._state)
        return f"{show(cell)}, {whither(cell[0] - self._at[0], cell[1] - self._at[1])}, {number_of(steps, 'step')}"

    def _fires(self) -> Iterator[str]:
        """Yield what is known of each fire, alike for all who know the same; apart, what is nearest."""
        for number, front in self._state.fires.items():
            name = f"fire_{number}"
            if front.out:
                yield f"{name} is out."
                continue
            joined = f" It has grown together with fire_{front.part_of}." if front.part_of is not None else ""
            if front.cells:
                yield f"{name}: {self._burning(number, front.cells)}.{joined}"
            elif front.scar:
                yield f"{name} burnt at {show(front.scar[0])}; where it burns now is not known.{joined}"
            elif front.origin is not None:
                yield f"{name} began at {show(front.origin)}; nothing of it was seen yet.{joined}"
            else:
                yield f"{name} burns, and where is not known.{joined}"
            if len(front.cells) > 1:
                near = min(front.cells, key=lambda cell: (dist(cell, self._at), cell))
                yield f"Nearest to you of {name}: {self._way(near)}."

    def _burning(self, fire: int, cells: Sequence[Cell]) -> str:
        """Return the burning cells of a fire: runs along rows, and how long ago they were seen."""
        runs: list[list[Cell]] = []
        for x, y in sorted(cells, key=lambda cell: (cell[1], cell[0])):
            if runs and runs[-1][-1] == (x - 1, y):
                runs[-1].append((x, y))
            else:
                runs.append([(x, y)])
        named = [show(run[0]) if len(run) == 1 else f"({run[0][0]} to {run[-1][0]}, {run[0][1]})" for run in runs]
        words = f"{number_of(len(cells), 'cell')} burn: {', '.join(named[:MOST_RUNS])}"
        if rest := [cell for run in runs[MOST_RUNS:] for cell in run]:
            xs, ys = zip(*rest, strict=True)
            words += f", and {len(rest)} more within x {min(xs)} to {max(xs)}, y {min(ys)} to {max(ys)}"
        thing = Entity("fire", fire)
        ages = [self._view.t - last for cell in cells if (last := self._seen.get((thing, cell))) is not None]
        if ages:
            first = 0 if len(ages) < len(cells) else min(ages)
            since = "" if first == max(ages) else f"{first} to "
            words += f"; seen {since}{number_of(max(ages), 'step')} ago"
        return words.replace("1 cell burn:", "1 cell burns:")

    def _civilians(self) -> Iterator[str]:
        people, lines = self._state.people, []
        carriers = {number: agent for agent, number in share_civilians(self._mission, self._state).items()}
        for cluster, place in self._state.clusters.items():
            if not self._state.members(cluster):
                yield f"cluster_{cluster} starts at {self._way(place)}."
        for number, person in people.items():
            name, place = f"civilian_{number} of cluster_{person.cluster}", person.at or person.was or (0, 0)
            age = self._age(Entity("civilian", number))
            if person.state != "free":
                holders = [agent for agent, body in self._state.agents.items() if body.holds == number]
                how = f"held by {', '.join(holders)}" if holders else person.state
                lines.append((1e9, f"{name} {how}"))
            elif person.at is not None:
                whose = ", in reach" if self._can_lift(place) else ""
                whose += f", for {carriers[number]}" if number in carriers else ""
                lines.append((dist(place, self._at), f"{name} at {self._way(place)}{age}{whose}"))
            elif person.was is not None:
                lines.append((dist(place, self._at), f"{name} was at {show(place)}{age}; it is no longer there"))
            else:
                lines.append((1e9, f"{name}, where is not known"))
        if lines:
            yield f"Civilians: {_few([words for _, words in sorted(lines, key=lambda line: line[0])])}."

    def _can_lift(self, place: Cell) -> bool:
        """Return whether this agent could pick up a civilian that is there."""
        hands = self._state.agents[self._view.agent].holds is None and self._view.kind == "firefighter"
        return hands and dist(place, self._at) < self._mission.lift_reach

    def _places(self) -> Iterator[str]:
        state = self._state
        if state.zone is not None:
            zone = "You are in zone_0; its middle is" if state.in_zone(self._at) else "zone_0 is"
            yield f"{zone} at {self._way(state.zone)}; it reaches 3 cells to each side."
        if self._mission.pours and state.water:
            order = sorted(state.water.items(), key=lambda entry: dist(entry[1], self._at))
            yield f"Water: {_few([f'water_{number} at {self._way(cell)}' for number, cell in order])}."
        elif self._mission.pours:
            yield "No water is known yet."

    def _team(self) -> Iterator[str]:
        """Yield where teammates are: in one line, or in a line each where there are others that are not named."""
        alike: dict[str, list[str]] = {}
        others = {agent: body for agent, body in self._state.agents.items() if agent != self._view.agent}
        elsewhere = self._view.elsewhere
        for agent, body in sorted(others.items(), key=lambda entry: dist(entry[1].at, self._at)):
            way = "" if elsewhere else f", {whither(body.at[0] - self._at[0], body.at[1] - self._at[1])}"
            what = f"riding {body.aboard}" if body.aboard is not None else f"at {show(body.at)}{way}"
            load = [] if body.holds is None else [f"with civilian_{body.holds}"]
            load += [f"with {body.water} water"] if body.water else []
            load += [f"was seen cutting{self._along(agent, body.at)}"] if agent in self._state.cutting else []
            alike.setdefault(f"{', '.join([what, *load])}{self._age(agent)}", []).append(agent)
        if elsewhere:
            yield from (f"{agent} is {words}." for words, agents in alike.items() for agent in agents)
            groups = Counter(
                (_region(body.at, self._mission.size), self._mission.kinds[agent]) for agent, body in elsewhere.items()
            )
            parts = [f"{number_of(groups[group], group[1])} in the {group[0]}" for group in sorted(groups)]
            yield f"{number_of(len(elsewhere), 'more teammate')}: {'; '.join(parts)}."
        else:
            lines = [f"{', '.join(agents)} {words}" for words, agents in alike.items()]
            yield f"Teammates: {'; '.join(lines)}." if lines else "No teammate is known of."

    def _along(self, agent: str, at: Cell) -> str:
        """Return which way a teammate went that was seen cutting; empty where it stayed."""
        x, y = self._state.cutting[agent]
        return "" if (x, y) == at else f" to the {bearing(at[0] - x, at[1] - y)}"

    def _sectors(self) -> Iterator[str]:
        state = self._state
        if not state.sectors or self._mission.known:
            return
        unseen = {number: share for number, share in state.unseen.items() if number in state.sectors}
        if not unseen:
            yield "All sectors have been seen."
            return
        if is_search_over(self._mission, state):
            yield "All civilians of the mission are found: nobody need search."
            return
        order = sorted(unseen, key=lambda number: (dist(state.search_place(number), self._at), number))
        lines, owners = [], {number: agent for agent, number in share_sectors(self._mission, state).items()}
        for number in order[:MOST_SECTORS]:
            steps = estimate_ticks(self._view.agent, go_to(Entity("sector", number)), self._mission, state)
            whose = self._owner(number, owners.get(number))
            share = f"{unseen[number]} % unseen, from {show(state.search_place(number))} on"
            lines.append(f"sector_{number}: {share}, {number_of(steps, 'step')}{whose}")
        rest = sorted(order[MOST_SECTORS:])
        more = f"; {len(rest)} more unseen, go_to takes any of them: sector_{ranges(rest)}" if rest else ""
        if theirs := [f"sector_{number} for {owners[number]}" for number in rest if number in owners]:
            more = f"{more} ({', '.join(theirs)})"
        yield f"Sectors that nobody has seen whole, with your steps until they are: {'; '.join(lines)}{more}."

    def _owner(self, sector: int, agent: str | None) -> str:
        """Return for whom a sector is, with its own steps; empty where for nobody."""
        if agent is None or agent == self._view.agent:
            return "" if agent is None else f", for {agent}"
        steps = estimate_ticks(agent, go_to(Entity("sector", sector)), self._mission, self._state)
        return f", for {agent} ({number_of(steps, 'step')})"

    def targets(self) -> Iterator[str]:
        """Yield where trees are to be cut."""
        spots = [(number, spot) for number, spot in self._state.targets.items() if spot.trees]
        spots.sort(key=lambda entry: dist(entry[1].at, self._at))
        lines = [
            f"{f'target_{number}' if spot.line is None else f'line_{spot.line}'} {number_of(spot.trees, 'tree')} at "
            f"{self._way(spot.at)}"
            for number, spot in spots
        ]
        if lines:
            yield f"To cut: {_few(lines)}."


def _region(at: Cell, size: int) -> str:
    """Return in which of nine parts of the map a cell lies: ``north-west``, ``middle``, ``east``."""
    across, down = (("west", "", "east")[3 * at[0] // size], ("north", "", "south")[3 * at[1] // size])
    return "-".join(filter(None, (down, across))) or "middle"


def _few(lines: Sequence[str]) -> str:
    """Return the first few, and how many more there are."""
    more = len(lines) - MOST_THINGS
    return "; ".join(lines if more <= 0 else [*lines[:MOST_THINGS], f"and {more} more"])
