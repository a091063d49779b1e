"""What a script does to a dynamic level (wildfire spec A4.5, A12.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from teamworld.seeding import generator
from teamworld.worlds.wildfire import fire
from teamworld.worlds.wildfire.acting import overrun
from teamworld.worlds.wildfire.turn import arrays
from teamworld.worlds.wildfire.units import DRONE, FREE, HELICOPTER, NOBODY, Civilians

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.incident import Incident
    from teamworld.worlds.wildfire.levels import Event
    from teamworld.worlds.wildfire.turn import Plan


def due(incident: Incident) -> tuple[Event, ...]:
    """Return the events that happen at the beginning of the next timestep."""
    return tuple(event for event in incident.level.events if event.t == incident.t)


def happen(incident: Incident, plan: Plan) -> tuple[Event, ...]:
    """Let everything happen that is due, in the order of the script; return it.

    Args:
        incident: What to change.
        plan: Where the deaths of agents are noted.
    """
    for number, event in enumerate(incident.level.events):
        if event.t == incident.t:
            _do(incident, number, event, plan)
            overrun(*arrays(incident), plan)
    return due(incident)


def _do(incident: Incident, number: int, event: Event, plan: Plan) -> None:
    cells = incident.instance.event_cells[number]
    match event.kind:
        case "lose_drone" | "lose_helicopter":
            _lose(incident, number, DRONE if event.kind == "lose_drone" else HELICOPTER, event.count)
        case "civilians":
            _bring(incident, cells[0].x, cells[0].y, event.count)
        case "fire":
            for cell in cells:
                fire.ignite(incident.land, *cell)
        case "water":
            for cell in cells:
                fire.set_water(incident.land, *cell)
        case "growth":
            for _ in range(event.count):
                fire.step(incident.land)
                overrun(*arrays(incident), plan)


def _lose(incident: Incident, number: int, kind: int, count: int) -> None:
    """Take agents of a kind out of service, drawn by the seed; a helicopter sets down whoever is aboard."""
    units = incident.units
    there = np.flatnonzero(units.alive & (units.kind == kind))
    for row in generator(incident.seed, "wildfire", "event", number).permutation(there)[:count]:
        units.alive[row] = False
        units.water[row] = 0
        units.aboard[units.aboard == row] = NOBODY


def _bring(incident: Incident, x: int, y: int, count: int) -> None:
    """Add a cluster of civilians, after those that are there."""
    old = incident.civilians
    incident.civilians = Civilians(
        x=np.append(old.x, np.full(count, x, np.int32)),
        y=np.append(old.y, np.full(count, y, np.int32)),
        state=np.append(old.state, np.full(count, FREE, np.uint8)),
    )
    incident.met = np.append(incident.met, np.zeros(count, np.bool_))
