"""A wildfire as plain data for pictures and replays, what every picture of it looks like, and a picture as text.

``static`` holds what never changes, ``snapshot`` one moment, ``STYLE`` colours, shapes and words. The pixels of
``draw``, the figures of ``figure`` and the page of the replay read these three, so each looks like the others. Colours
keep apart for colour-blind readers: what burns goes from light to dark as it burns down, forest from light to dark as
it grows denser, and agents are told apart by their shapes.
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.kernels.agents import (
    DRY,
    SEEN_BUILDING,
    SEEN_CIVILIAN,
    SEEN_IGNITED,
    SEEN_ON_FIRE,
    SEEN_WATER,
)
from teamworld.worlds.wildfire.observe import true_codes
from teamworld.worlds.wildfire.state import CARRIED, DEAD, IGNITED, KINDS, MAX_TREES, NOBODY, ON_FIRE, SIGHTS, WATER
from teamworld.worlds.wildfire.text import MEANINGS, SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    import numpy.typing as npt

    from teamworld.worlds.wildfire.levels import WildfireInstance
    from teamworld.worlds.wildfire.state import Incident

    Codes: TypeAlias = npt.NDArray[np.uint8]
    Snapshot: TypeAlias = Mapping[str, Any]
    Static: TypeAlias = Mapping[str, Any]

#: In drawings, after the codes of observations: dry ground whose trees the team cut.
CLEARED: Final = SEEN_CIVILIAN + 1

#: By the code of a cell; the first is what nobody saw.
COLOURS: Final = np.array(
    [
        (214, 218, 222),
        *((188, 205, 220), (150, 188, 204), (110, 158, 180), (70, 122, 150)),  # wet ground, 0 to 3 trees
        *((238, 233, 219), (204, 221, 184), (146, 185, 136), (88, 139, 94)),  # dry ground
        *((255, 221, 51), (232, 84, 16), (124, 64, 86), (46, 42, 42)),  # ignited, on fire, smouldering, burnt out
        *((0, 92, 175), (177, 96, 160), (255, 255, 255)),  # water, building, civilian
        (189, 143, 94),  # cleared
    ],
    np.uint8,
)

#: Points of the lattice of heights and of wind along a side of the map, at most.
RELIEF_POINTS, WIND_POINTS = 100, 10
#: Shades of the relief, and how much light the darkest and the lightest leave of a colour.
SHADES, DARKEST, LIGHTEST = 8, 0.76, 1.06


def _turned(points: int, radius: float = 1.0, first: float = 0.0) -> list[list[float]]:
    """Return the corners of a regular polygon, the first at an angle from the top."""
    angles = [first + 2 * pi * k / points for k in range(points)]
    return [[round(radius * sin(angle), 3), round(-radius * cos(angle), 3)] for angle in angles]


_ARM: Final = 0.46
_PLUS: Final = [
    [[-1.0, -_ARM], [1.0, -_ARM], [1.0, _ARM], [-1.0, _ARM]],
    [[-_ARM, -1.0], [_ARM, -1.0], [_ARM, 1.0], [-_ARM, 1.0]],
]

#: All that a picture needs beside its data. ``shapes`` are convex polygons round (0, 0), y downwards, that reach about
#: 1 far; ``fills`` are the colours of those that are no agents; ``legend`` names the colours of codes; ``sees`` are the
#: cells to each side that a kind reveals and observes; ``haze`` is how far the colours of unseen cells fade; ``rank``
#: says which of the codes in one pixel is shown, so that fire is never lost; ``plain`` codes are not shaded.
STYLE: Final[Mapping[str, Any]] = {
    "colours": COLOURS.tolist(),
    "meanings": [*MEANINGS, "cleared by the team"],
    "shades": [DARKEST, LIGHTEST, SHADES],
    "shapes": {
        "firefighter": [_turned(24)],
        "bulldozer": [[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]],
        "drone": [_turned(4, 1.2)],
        "helicopter": [[[0.0, -1.15], [1.2, 0.85], [-1.2, 0.85]]],
        "civilian": _PLUS,
        "dead": _PLUS,
    },
    "sees": {kind: [sight.reveals, sight.window] for kind, sight in zip(KINDS, SIGHTS, strict=True)},
    "fills": {"civilian": [86, 180, 233], "dead": [120, 120, 120]},
    "wind": [20, 40, 70],
    "haze": 0.62,
    "rank": [0, *(2, 2, 2, 2), *(1, 1, 1, 1), 9, 10, 5, 4, 6, 8, 7, 3],
    "plain": [0, 9, 10, 11, 13, 14, 15],
    "legend": [
        [[5, 6, 7, 8], "0 to 3 trees"],
        [[1, 4], "wet ground"],
        [[9], "ignited"],
        [[10], "on fire"],
        [[11], "smouldering"],
        [[12], "burnt out"],
        [[CLEARED], "cleared by the team"],
        [[13], "water"],
        [[14], "building"],
        [[0], "not seen yet"],
    ],
}

#: Letters of the kinds in texts.
LETTERS: Final = ("F", "Z", "D", "H")


def static(instance: WildfireInstance) -> dict[str, Any]:
    """Return what does not change, as plain data.

    ``land`` is N strings of one hexadecimal digit a cell, its code. ``relief`` is a coarser square of digits: how light
    the ground is under a sun in the north-west, 0 to 7. ``wind`` is a square of [x, y] in m/s, where it blows to, each
    for its part of the map. ``cell_m`` is the side of a cell in metres.
    """
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)[_untouched(instance)]
    level = instance.level
    return {
        "v": 1,
        "size": level.size,
        "level": level.full_name,
        "land": [row.tobytes().decode() for row in digits],
        "relief": _relief(instance),
        "wind": _wind(instance),
        "cell_m": round(instance.terrain.cell_m, 3),
        "kinds": [kind for kind, count in zip(KINDS, level.team.counts, strict=True) for _ in range(count)],
        "targets": [[cell.x, cell.y] for line in instance.targets for cell in line],
        "target": None if instance.target is None else list(instance.target),
    }


def snapshot(incident: Incident) -> dict[str, Any]:
    """Return a moment as plain data.

    ``land`` lists runs of cells that are not as at the start, row by row: first cell (y N + x), how many, code, and so
    on. ``agents`` has a place for each, null for those that are lost; ``aboard`` is the helicopter's place in the team,
    or null; ``civilians`` are [x, y, state]. ``counts`` are cells that burn, cells that ever caught fire, buildings
    lost and trees cut; ``wind`` is the mean over the cells that burn, null if none does.
    """
    units, civilians, land = incident.units, incident.civilians, incident.land
    codes, start = true_codes(land).reshape(-1), _untouched(incident.instance).reshape(-1)
    codes[(codes == DRY) & (start > DRY) & (start <= DRY + MAX_TREES)] = CLEARED
    changed = np.concatenate([[0], np.where(codes != start, codes, 0), [0]])
    edges = np.flatnonzero(changed[1:] != changed[:-1])
    runs = np.stack([edges[:-1], np.diff(edges), codes[edges[:-1]]], axis=1) if len(edges) else np.empty((0, 3), int)
    runs = runs[changed[runs[:, 0] + 1] > 0]
    places = units.places().tolist()
    return {
        "v": 1,
        "t": incident.t,
        "land": runs.reshape(-1).tolist(),
        "agents": [place if alive else None for place, alive in zip(places, units.alive.tolist(), strict=True)],
        "aboard": [None if row == NOBODY else row for row in units.aboard.tolist()],
        "water": units.water.tolist(),
        "civilians": np.stack([civilians.x, civilians.y, civilians.state], axis=1).tolist(),
        "counts": [land.cells_burning, land.cells_caught, land.buildings_lost, land.trees_cut],
        "wind": _wind_at_fire(incident),
        "score": round(physics.score(incident).reference, 2),
    }


def _untouched(instance: WildfireInstance) -> Codes:
    """Return (N, N): the codes of the land before anything happens."""
    terrain = instance.terrain
    codes = terrain.trees + np.uint8(DRY)
    codes[terrain.building] = SEEN_BUILDING
    codes[terrain.land == WATER] = SEEN_WATER
    return codes


def _relief(instance: WildfireInstance) -> list[str]:
    """Return the shades of the relief: Lambert's law for light from the north-west, 45 degrees high."""
    terrain = instance.terrain
    points = min(terrain.size, RELIEF_POINTS)
    picked = ((np.arange(points) + 0.5) * terrain.size / points).astype(int)
    height = terrain.elevation[np.ix_(picked, picked)].astype(np.float64) * (terrain.relief_m / 65_535)
    down, across = np.gradient(height, terrain.cell_m * terrain.size / points)
    light = (1 + (across + down) / np.sqrt(2)) / np.sqrt(2 * (1 + across**2 + down**2))
    shades = np.rint(np.clip(light, 0, 1) * (SHADES - 1)).astype(int)
    return ["".join(map(str, row)) for row in shades.tolist()]


def _wind(instance: WildfireInstance) -> list[list[list[float]]]:
    """Return the mean wind of each part of the map, [row][column][x, y], m/s."""
    wind = instance.terrain.wind
    points = min(instance.terrain.size, WIND_POINTS)
    edges = np.arange(points) * instance.terrain.size // points
    sums = np.add.reduceat(np.add.reduceat(wind.astype(np.float64), edges, axis=1), edges, axis=2)
    cells = np.diff([*edges, instance.terrain.size])
    means = np.round(sums / np.outer(cells, cells), 1) + 0.0
    field: list[list[list[float]]] = means.transpose(1, 2, 0).tolist()
    return field


def _wind_at_fire(incident: Incident) -> list[float] | None:
    land = incident.land
    if not land.cells_burning:
        return None
    burn = land.inner(land.burn)
    burning = (burn == IGNITED) | (burn == ON_FIRE)
    return [round(float(part[burning].mean()), 1) + 0.0 for part in land.terrain.wind]


def codes_of(static: Static, snapshot: Snapshot) -> Codes:
    """Return (N, N), indexed [y, x]: the code of each cell at a moment, people left out."""
    size = static["size"]
    codes = np.frombuffer(bytes.fromhex("0" + "0".join("".join(static["land"]))), np.uint8).copy()
    runs = snapshot["land"]
    for first, count, code in zip(runs[::3], runs[1::3], runs[2::3], strict=True):
        codes[first : first + count] = code
    return codes.reshape(size, size)


def text(static: Static, snapshot: Snapshot) -> str:
    """Draw a moment as text: a character a cell, as in the text grid; wet ground as ``~``, agents as letters."""
    symbols = [*("~" if len(symbol) == 3 else symbol for symbol in SYMBOLS), SYMBOLS[DRY]]
    rows = [[symbols[code] for code in row] for row in codes_of(static, snapshot).tolist()]
    for civilian in people(snapshot):
        rows[civilian.y][civilian.x] = "C"
    for unit in team(static, snapshot):
        rows[unit.y][unit.x] = LETTERS[KINDS.index(unit.kind)]
    grid = "\n".join("".join(row) for row in rows)
    letters = ", ".join(f"{letter} {kind}" for letter, kind in zip(LETTERS, KINDS, strict=True))
    return f"step {snapshot['t']}\n{grid}\n{letters}, C civilian, B building, w water, i ignited, f on fire"


class Unit(NamedTuple):
    """An agent or a civilian that is drawn."""

    row: int
    """Its place among the agents, or among the civilians."""
    kind: str
    """Of the shapes of ``STYLE``; ``dead`` is a civilian's."""
    x: int
    y: int


class Group(NamedTuple):
    """Units so near one another that their symbols would cover each other."""

    x: float
    """Middle, in cells."""
    y: float
    kinds: Mapping[str, list[int]]
    """Rows of the units, by kind."""


def people(snapshot: Snapshot) -> list[Unit]:
    """Return the civilians that nobody carries."""
    return [
        Unit(row, "dead" if state == DEAD else "civilian", x, y)
        for row, (x, y, state) in enumerate(snapshot["civilians"])
        if state != CARRIED
    ]


def team(static: Static, snapshot: Snapshot) -> list[Unit]:
    """Return the agents that are not lost and do not ride."""
    everybody = zip(static["kinds"], snapshot["agents"], snapshot["aboard"], strict=True)
    return [
        Unit(row, kind, place[0], place[1])
        for row, (kind, place, aboard) in enumerate(everybody)
        if place is not None and aboard is None
    ]


def group_units(units: Sequence[Unit], near: float) -> list[Group]:
    """Return the units in groups, in their order.

    A unit joins the first group whose first member is less than ``near`` cells away, in x and in y.
    """
    groups: list[list[Unit]] = []
    for unit in units:
        for group in groups:
            if abs(group[0].x - unit.x) < near and abs(group[0].y - unit.y) < near:
                group.append(unit)
                break
        else:
            groups.append([unit])
    return [_group(group) for group in groups]


def _group(units: list[Unit]) -> Group:
    kinds: dict[str, list[int]] = {}
    for unit in sorted(units, key=lambda unit: list(STYLE["shapes"]).index(unit.kind)):
        kinds.setdefault(unit.kind, []).append(unit.row)
    x, y = (sum(at) / len(units) for at in zip(*((unit.x, unit.y) for unit in units), strict=True))
    return Group(x, y, kinds)


def burning_box(codes: Codes) -> tuple[int, int, int, int] | None:
    """Return the first and last column and row of what is ignited or on fire; None if nothing is."""
    rows, columns = np.nonzero((codes == SEEN_IGNITED) | (codes == SEEN_ON_FIRE))
    return (int(columns.min()), int(rows.min()), int(columns.max()), int(rows.max())) if len(rows) else None


def scale_bar(metres: float, side: float) -> tuple[int, float]:
    """Return a round number of metres, at most a quarter of the side of a map, and how many pixels it takes."""
    power = 10 ** max(0, len(str(int(metres / 4))) - 1)
    best = max(part * power for part in (1, 2, 5) if part * power <= max(metres / 4, 1))
    return best, best / metres * side
