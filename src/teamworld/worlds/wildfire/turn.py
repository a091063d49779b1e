"""The arrays that the kernels of ``acting`` work on, and what is noted in them.

Kernels take tuples of arrays, an ``Incident`` keeps them in its parts; ``arrays`` shows one as the other, without
copies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.worlds.wildfire.state import BURNT_OUT, EXTINGUISHING

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.incident import Incident

# The codes below are frozen into the compiled kernels of acting.py: who changes one of them must also touch that file.

#: What an action comes to, whoever does it.
IDLE, GOES, CLEARS, CUTS, LIFTS, SPRAYS, FILLS, BOARDS, DROPS = range(9)
#: By kind, then by type of action from 0 on (A7).
ACTS = (
    (GOES, CUTS, LIFTS, SPRAYS, FILLS),
    (GOES, CLEARS, IDLE, IDLE, IDLE),
    (GOES, IDLE, IDLE, IDLE, IDLE),
    (GOES, BOARDS, FILLS, DROPS, IDLE),
)

#: Why an action, or the rest of it, did nothing; ``Happened.reason`` holds indices.
REASONS = (
    "", "gone", "aboard", "unknown", "off_map", "arrived", "nobody_near", "no_water", "not_at_water", "full",
    "has_passengers", "has_water", "empty", "no_tree", "died",
)  # fmt: skip
(
    FINE, GONE, ABOARD, UNKNOWN, OFF_MAP, ARRIVED, NOBODY_NEAR, NO_WATER, NOT_AT_WATER, FULL,
    HAS_PASSENGERS, HAS_WATER, EMPTY, NO_TREE, DIED,
) = range(len(REASONS))  # fmt: skip


class Crew(NamedTuple):
    """The arrays of ``Units``."""

    kind: npt.NDArray[np.uint8]
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    alive: npt.NDArray[np.bool_]
    water: npt.NDArray[np.int8]
    aboard: npt.NDArray[np.int32]
    carries: npt.NDArray[np.int32]


class Folk(NamedTuple):
    """The arrays of ``Civilians``."""

    x: npt.NDArray[np.int32]
    y: npt.NDArray[np.int32]
    state: npt.NDArray[np.uint8]


class Ground(NamedTuple):
    """The arrays of ``Land`` that agents meet, flat, and its size."""

    burn: npt.NDArray[np.uint8]
    trees: npt.NDArray[np.uint8]
    land: npt.NDArray[np.uint8]
    wet_until: npt.NDArray[np.int32]
    meters: npt.NDArray[np.int64]
    size: int


class Limits(NamedTuple):
    """The rules as numbers."""

    pick_up: float
    refill: int
    rescue_reach: int
    target_x: int
    """Where civilians are safe; -1 if nowhere."""
    target_y: int
    deadliest: int
    """Burn states from IGNITED up to this kill."""
    wet_steps: int


#: Columns of ``Plan.notes``.
(
    ACT, REASON, EFFECT, MOVED, FELLED, PUT_OUT, AIM_X, AIM_Y, CELL, ROW,
) = range(10)  # fmt: skip


class Plan(NamedTuple):
    """What each agent is at in this timestep, and what comes of it."""

    notes: npt.NDArray[np.int32]
    """(A, 10), by column:

    - ACT: IDLE to DROPS; IDLE again once it is done. REASON: index into ``REASONS``. EFFECT, MOVED: 1 if so.
    - FELLED: trees that it cut. PUT_OUT: burning or smouldering cells that its water put out.
    - AIM_X, AIM_Y: target of whoever goes or sprays. CELL: where whoever goes is now.
    - ROW: not by agent, but from the first row on: the rows of those on the way, ascending.
    """
    way: npt.NDArray[np.float64]
    """(A, 3): x and y of the direction that an agent goes, of length 1, and cells left."""


def arrays(incident: Incident) -> tuple[Crew, Folk, Ground, Limits]:
    """Return the arrays that the kernels work on."""
    units, folk, land, rules = incident.units, incident.civilians, incident.land, incident.rules
    target = incident.instance.target
    return (
        Crew(units.kind, units.x, units.y, units.alive, units.water, units.aboard, units.carries),
        Folk(folk.x, folk.y, folk.state),
        Ground(
            land.burn.reshape(-1),
            land.trees.reshape(-1),
            land.land.reshape(-1),
            land.wet_until.reshape(-1),
            land.meters,
            land.size,
        ),
        Limits(
            float(rules.pick_up),
            rules.refill,
            rules.rescue_reach,
            -1 if target is None else target.x,
            -1 if target is None else target.y,
            BURNT_OUT if rules.burnt_kills else EXTINGUISHING,
            land.rules.wet_steps,
        ),
    )


def plan_for(agents: int) -> Plan:
    """Return an empty plan."""
    return Plan(np.zeros((agents, 10), np.int32), np.zeros((agents, 3)))
