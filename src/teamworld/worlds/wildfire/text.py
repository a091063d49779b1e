"""Texts: the task, what an agent sees and knows as a paragraph, and its window as a grid of characters.

A description is made from the agent's window, its own state and the places of its teammates, by whole numbers alone:
the same on every machine, exact, and with coordinates wherever something can be done. Directions are the eight of the
compass: x grows to the east, y to the south.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt, sqrt
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.errors import UserError
from teamworld.worlds.wildfire import observe
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
from teamworld.worlds.wildfire.physics import (
    BUILDING_COST,
    BULLDOZER_COST,
    CIVILIAN_COST,
    FIREFIGHTER_COST,
    TREE_COST,
    ScoreName,
    fights_fire,
)
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    from teamworld.worlds.wildfire.levels import Level, WildfireInstance
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
        """The density of trees by direction."""
        wooded = (self.codes >= WET) & (self.codes < DRY + MAX_TREES + 1)
        trees = np.where(wooded, (self.codes.astype(np.int64) - WET) % (DRY - WET), 0)
        lines = []
        for direction, sector in self.sectors.items():
            count = int(np.count_nonzero(sector & wooded))
            if count:
                tenths = (20 * int(trees[sector].sum()) + count) // (2 * count)
                word = next(word for below, word in DENSITIES if tenths < below)
                lines.append(f"{direction} {word} ({tenths // 10}.{tenths % 10})")
        return f"Trees to a cell: {', '.join(lines)}." if lines else ""

    def unknown(self) -> str:
        """The directions of which at least half, inside the map, was never seen."""
        hidden = self.inside & (self.codes == UNSEEN)
        lines = [
            direction
            for direction, sector in self.sectors.items()
            if 0 < np.count_nonzero(sector & self.inside) <= 2 * np.count_nonzero(sector & hidden)
        ]
        return f"Not yet seen for the most part: {', '.join(lines)}." if lines else ""


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


#: Actions of the history that a text shows.
TAIL = 5
_PRIMITIVES = {
    "firefighter": ("go", "cut", "lift", "spray", "fill"),
    "bulldozer": ("go", "clear"),
    "drone": ("go",),
    "helicopter": ("go", "board", "fill", "drop"),
}


def view_text(incident: Incident, sightings: Sightings, row: int, view: WildfireView, form: str, weather: bool) -> str:
    """Return a description of what an agent sees and knows (``plain``), or its window as a grid (``grid``)."""
    if form == "grid":
        seen = observe.observation(incident, sightings, row)
        place = f"{view.agent} at ({seen.x}, {seen.y}), the cell between asterisks"
        return f"{place}. Legend: {grid_legend()}.\n{grid_text(seen.window)}"
    about = agent_situation(incident, sightings, row, weather=weather)
    lines = [f"Timestep {view.t} of {view.t + view.steps_left}. Cells are (x, y).", describe(about), *known_lines(view)]
    for outcome in view.history[-TAIL:]:
        why = f" ({outcome.reason})" if outcome.reason else ""
        lines.append(f"I did {outcome.action}, begun at timestep {outcome.start}: {outcome.status}{why}.")
    return "\n".join(lines)


def known_lines(view: WildfireView) -> Iterator[str]:
    """Yield what an agent knows beyond its window, a line each."""
    state = view.state
    for goal in view.goals:
        place = state.place(goal.thing, state.agents[view.agent].at) if goal.thing is not None else None
        where = "" if place is None else f", nearest place ({place[0]}, {place[1]})"
        left = f", {goal.units} left" if goal.state == "open" else ""
        yield f"Goal {goal.id} ({goal.kind} {goal.thing}): {goal.state}{left}{where}."
    if state.zone is not None:
        yield f"The zone is at ({state.zone[0]}, {state.zone[1]}); it reaches three cells to each side."
    for number, cell in state.water.items():
        yield f"Water <water>({number}) is at ({cell[0]}, {cell[1]})."
    if state.unseen:
        names = ", ".join(f"<sector>({number}) at {state.sectors[number]}" for number in state.unseen)
        yield f"Not seen whole: {names}."


def primitive_name(kind: str, command: Sequence[int]) -> str:
    """Return the name of a primitive, for the log."""
    order = int(command[0])
    return "go" if order == GO_ANYWHERE else "stop" if order < 0 else _PRIMITIVES[kind][order]


def _prices(level: Level, score: ScoreName) -> str:
    """Return what each loss costs where a fire is fought."""
    cut = TREE_COST if score == "reference" else 0
    prices = [f"a tree that burns {TREE_COST}", f"a tree that you cut {cut}", f"a building {BUILDING_COST}"]
    if level.civilians:
        prices.append(f"a civilian {CIVILIAN_COST}")
    if level.team.firefighters:
        prices.append(f"a firefighter {FIREFIGHTER_COST}")
    if level.team.bulldozers:
        prices.append(f"a bulldozer {BULLDOZER_COST}")
    return (
        f"What is lost costs points: {', '.join(prices)}. The fire burns on to the step limit even if the whole team "
        "is lost, and all that it destroys counts."
    )


def task_text(level: Level, instance: WildfireInstance, score: ScoreName = "reference") -> str:
    """Return the task in words; where a fire is fought, with the price of each loss by the score that counts."""
    zone = "" if instance.target is None else f"({instance.target.x}, {instance.target.y})"
    people = f"{level.clusters} cluster{'s' * (level.clusters != 1)} of {level.per_cluster} civilians"
    hidden = "" if level.known else " Nobody knows where: look for it first."
    words = {
        "cut_sparse": "Cut all trees of the target cells.",
        "cut_lines": "Cut all trees of the lines of cells.",
        "scout": "Find the fire; two drones or helicopters must be directly above it at the same time.",
        "transport": f"Bring all firefighters to the zone at {zone}, at most three cells from it, on the ground; a "
        "helicopter carries five at a time and flies faster than they walk.",
        "contain": f"Put the fire out or keep it from spreading.{hidden}",
        "rescue": f"Bring {people} to the zone at {zone}, at most three cells from it. A firefighter carries one; they "
        f"wander about.{hidden}",
        "both": f"Keep the fire from spreading and {people} from it.{hidden}",
    }
    prices = f" {_prices(level, score)}" if fights_fire(level) else ""
    return (
        f"{words[level.task]}{prices} "
        f"The map has {level.size} x {level.size} cells (x, y), x to the east, y to the south. "
        "Fire goes from cell to cell; water puts it out, and it cannot enter ground whose trees are cut. It kills "
        "whoever walks into it."
    )
