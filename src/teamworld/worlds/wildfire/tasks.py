"""What an instance is worth, when it is over, and the counters of 2026 (wildfire spec A13, B22, B25-B28)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.worlds.compiled import compiled
from teamworld.worlds.wildfire.state import (
    BURNT_OUT,
    EXTINGUISHING,
    IGNITED,
    MAX_TREES,
    ON_FIRE,
    WATER,
)
from teamworld.worlds.wildfire.units import BULLDOZER, DEAD, DRONE, FIREFIGHTER, NOBODY, SAFE, SIGHTS

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.incident import Incident
    from teamworld.worlds.wildfire.levels import Level
    from teamworld.worlds.wildfire.state import Land

#: Points that a building, a civilian, a firefighter and a bulldozer cost where a fire is fought; a tree costs 1 (A13).
BUILDING_COST, CIVILIAN_COST, FIREFIGHTER_COST, BULLDOZER_COST = 10, 100, 20, 20
#: Scouts that a fire needs, and cells from the target, in x and in y, at which a firefighter has arrived (A13).
SCOUTS, TRANSPORT_REACH = 2, 3
_REVEALS = np.array([sight.reveals for sight in SIGHTS])


class Score(NamedTuple):
    """Both scores of an instance (B22); they differ only where a fire is fought."""

    reference: float
    """Trees that agents cut count as lost, as in the reference code."""
    burnt: float
    """Only what the fire destroyed counts."""


def suppresses(level: Level) -> bool:
    """Return whether the score is damage, at best 0: the tasks contain and both."""
    return level.task in ("contain", "both")


def score(incident: Incident) -> Score:
    """Return the score as it stands (A13).

    - Cut: trees gone from the target cells.
    - Scout: most drones and helicopters at once above cells on fire, smouldering or burnt out, at most 2 (B25).
    - Transport: living firefighters within 3 cells of the target in x and in y, on the ground (B26).
    - Rescue: civilians that were put down at the target.
    - Contain, both: -(trees + 10 buildings + 100 civilians + 20 firefighters + 20 bulldozers) that are lost.
    """
    level = incident.level
    if suppresses(level):
        return _damage(incident)
    match level.task:
        case "scout":
            points = min(SCOUTS, incident.scouts)
        case "transport":
            points = transported(incident)
        case "rescue":
            points = int(np.count_nonzero(incident.civilians.state == SAFE))
        case _:
            points = correct_cuts(incident)
    return Score(float(points), float(points))


def _damage(incident: Incident) -> Score:
    land, units = incident.land, incident.units
    gone = units.kind[~units.alive]
    burnt = (
        land.trees_burnt
        + BUILDING_COST * land.buildings_lost
        + CIVILIAN_COST * int(np.count_nonzero(incident.civilians.state == DEAD))
        + FIREFIGHTER_COST * int(np.count_nonzero(gone == FIREFIGHTER))
        + BULLDOZER_COST * int(np.count_nonzero(gone == BULLDOZER))
    )
    # 0.0 - n, not -n: nothing lost is 0, not minus zero
    return Score(0.0 - (burnt + land.trees_cut), 0.0 - burnt)


def best(level: Level) -> float:
    """Return the best possible score (A12.2), civilians that a script brings included."""
    later = sum(event.count for event in level.events if event.kind == "civilians")
    return float(level.max_score + (later if level.task == "rescue" else 0))


def over(incident: Incident) -> bool:
    """Return whether nothing is left to be done; the step limit is ``level.max_steps`` and not looked at here.

    A task with a best score ends when it is reached. Contain and both end when nothing is ignited or on fire (B27)
    and the script has no more fire to bring.
    """
    if suppresses(incident.level):
        to_come = any(event.kind == "fire" and event.t >= incident.t for event in incident.level.events)
        return incident.land.cells_burning == 0 and not to_come
    return score(incident).reference >= best(incident.level)


def correct_cuts(incident: Incident) -> int:
    """Return how many trees are gone from the target cells, of 3 on each."""
    trees = incident.land.inner(incident.land.trees)
    return sum(MAX_TREES - int(trees[y, x]) for line in incident.instance.targets for x, y in line)


def transported(incident: Incident) -> int:
    """Return how many firefighters are at the target now (B26)."""
    target, units = incident.instance.target, incident.units
    if target is None:
        return 0
    places = units.places()
    there = (abs(places - (target.x, target.y)) <= TRANSPORT_REACH).all(axis=1)
    there &= units.alive & (units.kind == FIREFIGHTER)
    if not incident.rules.riders_count:
        there &= units.aboard == NOBODY
    return int(np.count_nonzero(there))


# What was seen -------------------------------------------------------------------------------------------------------


def look_round(incident: Incident) -> None:
    """Note after a step which civilians and which water agents have in sight, and how many are above the fire."""
    units, folk, land = incident.units, incident.civilians, incident.land
    if len(folk):
        _note(units.kind, units.x, units.y, units.alive, folk.x, folk.y, folk.state != DEAD, incident.met)
    if len(incident.found):
        cells = np.array(incident.instance.water_cells, np.int32)
        filled = land.inner(land.land)[cells[:, 1], cells[:, 0]] == WATER
        _note(units.kind, units.x, units.y, units.alive, cells[:, 0], cells[:, 1], filled, incident.found)
    if incident.level.task == "scout":
        incident.scouts = max(incident.scouts, above_fire(incident))


def above_fire(incident: Incident) -> int:
    """Return how many drones and helicopters are above a cell on fire, smouldering or burnt out (B25)."""
    land, units = incident.land, incident.units
    flying = units.places()[units.alive & (units.kind >= DRONE)]
    states = land.inner(land.burn)[flying[:, 1], flying[:, 0]]
    return int(np.count_nonzero((states == ON_FIRE) | (states == EXTINGUISHING) | (states == BURNT_OUT)))


@compiled
def _note(
    kind: npt.NDArray[np.uint8],
    x: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    alive: npt.NDArray[np.bool_],
    at_x: npt.NDArray[np.int32],
    at_y: npt.NDArray[np.int32],
    there: npt.NDArray[np.bool_],
    seen: npt.NDArray[np.bool_],
) -> None:
    """Mark the things that are in the square that an agent reveals."""
    for k in range(len(seen)):
        if seen[k] or not there[k]:
            continue
        for row in range(len(kind)):
            reach = _REVEALS[kind[row]]
            if alive[row] and abs(round(x[row]) - at_x[k]) <= reach and abs(round(y[row]) - at_y[k]) <= reach:
                seen[k] = True
                break


class Counts(NamedTuple):
    """The thirteen counters of the 2026 edition (A13)."""

    explored: int | None
    """Cells that an agent has seen; None if the caller does not say."""
    trees_burnt: int
    trees_cut: int
    fires_extinguished: int
    """Ignited, burning or smouldering cells that water put out."""
    correct_cuts: int
    """Trees gone from target cells."""
    civilians_rescued: int
    firefighters_transported: int
    """At the target now."""
    civilians_scouted: int
    """That an agent has had in sight."""
    fire_scouts: int
    """Living agents that have an ignited, burning or smouldering cell in sight now."""
    water_scouted: int
    """Water cells of the level and its script that an agent has had in sight."""
    agents_destroyed: int
    civilians_destroyed: int
    buildings_destroyed: int


def counts(incident: Incident, explored: int | None = None) -> Counts:
    """Return the counters.

    Args:
        incident: What to count in.
        explored: Cells seen by the team, from its ``Sightings``.
    """
    land, units, folk = incident.land, incident.units, incident.civilians
    return Counts(
        explored=explored,
        trees_burnt=land.trees_burnt,
        trees_cut=land.trees_cut,
        fires_extinguished=land.cells_put_out,
        correct_cuts=correct_cuts(incident),
        civilians_rescued=int(np.count_nonzero(folk.state == SAFE)),
        firefighters_transported=transported(incident),
        civilians_scouted=int(np.count_nonzero(incident.met)),
        fire_scouts=fire_scouts(land, units.kind, units.x, units.y, units.alive),
        water_scouted=int(np.count_nonzero(incident.found)),
        agents_destroyed=int(np.count_nonzero(~units.alive)),
        civilians_destroyed=int(np.count_nonzero(folk.state == DEAD)),
        buildings_destroyed=land.buildings_lost,
    )


def fire_scouts(
    land: Land,
    kind: npt.NDArray[np.uint8],
    x: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    alive: npt.NDArray[np.bool_],
) -> int:
    """Return how many living agents have a cell in sight that burns or smoulders."""
    return _fire_scouts(kind, x, y, alive, land.burn)


@compiled
def _fire_scouts(
    kind: npt.NDArray[np.uint8],
    x: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    alive: npt.NDArray[np.bool_],
    burn: npt.NDArray[np.uint8],
) -> int:
    scouts = 0
    size = burn.shape[0] - 2
    for row in range(len(kind)):
        if not alive[row]:
            continue
        reach = _REVEALS[kind[row]]
        column, line = round(x[row]), round(y[row])
        for v in range(max(0, line - reach), min(size, line + reach + 1)):
            seen = False
            for u in range(max(0, column - reach), min(size, column + reach + 1)):
                if IGNITED <= burn[v + 1, u + 1] <= EXTINGUISHING:
                    seen = True
                    break
            if seen:
                scouts += 1
                break
    return scouts
