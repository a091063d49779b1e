"""Who is out there: firefighters, bulldozers, drones, helicopters and civilians (wildfire spec A5, A6).

Agents and civilians stand in arrays, one place each, in the order of their ids: row ``k`` is agent ``k + 1`` (A6: ids
run from 1, firefighters first, then bulldozers, drones, helicopters). Positions of agents are real numbers in cells:
the middle of cell (x, y) is at (x, y), and an agent is in the cell whose middle is nearest. Civilians jump from cell to
cell. ``physics`` moves them; nobody else writes these arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.levels import Team
    from teamworld.worlds.wildfire.state import Cell

# The codes below are frozen into the compiled kernels, and numba's cache looks at the kernel's own file only:
# who changes one of them must also touch the files of the kernels that use it.

#: Kinds of agents; the last two are codes of observations alone: the manager's row, and whoever is gone (A6).
FIREFIGHTER, BULLDOZER, DRONE, HELICOPTER, MANAGER, DESTROYED = range(6)
KINDS = ("firefighter", "bulldozer", "drone", "helicopter")

#: Primitives by kind, the first number of an action [type, x, y] (A7). Each kind's own; GO is everybody's.
STOP = -1
"""Does nothing (B14); so does every type that a kind does not know, and the vector [0, 0, 0]."""
GO = 0
GO_ANYWHERE = -2
"""GO, for every target: [0, 0, 0] does nothing, so only this goes to (0, 0) (B14)."""
CUT, LIFT, SPRAY, FILL = 1, 2, 3, 4
"""A firefighter's: cut a tree, pick up or put down a civilian, spray, refill."""
CLEAR = 1
"""A bulldozer's: go, and clear every cell on the way."""
BOARD, SCOOP, DROP = 1, 2, 3
"""A helicopter's: take firefighters aboard, refill, set everybody down and release water."""

#: Water that a firefighter or helicopter carries when full; firefighters that a helicopter carries.
TANK, SEATS = 5, 5
#: State of a civilian.
FREE, CARRIED, SAFE, DEAD = range(4)
"""``SAFE``: put down at the target, it stays there and counts (B18)."""
NOBODY = -1


class Sight(NamedTuple):
    """How far a kind of agent sees, in cells (A6); both are squares round its own cell."""

    reveals: int
    """Cells to each side that it reveals: 5 makes a square of 11 x 11."""
    window: int
    """Cells to each side that its observation shows."""


SIGHTS = (Sight(5, 10), Sight(5, 10), Sight(15, 25), Sight(20, 30))
"""By kind."""


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The agents of an instance; A of them."""

    kind: npt.NDArray[np.uint8]
    """(A,): FIREFIGHTER to HELICOPTER, also of one that is gone."""
    x: npt.NDArray[np.float64]
    """(A,): column, in cells."""
    y: npt.NDArray[np.float64]
    """(A,): row, in cells."""
    alive: npt.NDArray[np.bool_]
    """(A,)."""
    water: npt.NDArray[np.int8]
    """(A,): units of water on board, 0 to ``TANK``."""
    aboard: npt.NDArray[np.int32]
    """(A,): row of the helicopter that carries this firefighter; ``NOBODY``."""
    carries: npt.NDArray[np.int32]
    """(A,): row of the civilian that this firefighter carries; ``NOBODY``."""

    def __len__(self) -> int:
        return len(self.kind)

    def place(self, agent: int) -> tuple[int, int]:
        """Return (x, y) of the cell that an agent is in; halves go to the even cell."""
        return round(float(self.x[agent])), round(float(self.y[agent]))

    def places(self) -> npt.NDArray[np.int32]:
        """Return (A, 2): x and y of the cell that each agent is in, as ``place`` has it."""
        return np.rint(np.stack([self.x, self.y], axis=1)).astype(np.int32)

    def copy(self) -> Units:
        """Return an independent copy."""
        return Units(*(getattr(self, part.name).copy() for part in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Civilians:
    """The civilians of an instance; C of them, those that a script brings later at the end."""

    x: npt.NDArray[np.int32]
    """(C,): column of the cell; its carrier's while carried (B19)."""
    y: npt.NDArray[np.int32]
    """(C,): row of the cell."""
    state: npt.NDArray[np.uint8]
    """(C,): FREE, CARRIED, SAFE or DEAD."""

    def __len__(self) -> int:
        return len(self.state)

    def copy(self) -> Civilians:
        """Return an independent copy."""
        return Civilians(*(getattr(self, part.name).copy() for part in fields(self)))


def units_at(spawn: Cell, team: Team) -> Units:
    """Return a team that starts in one cell, its tanks empty (wildfire spec A6)."""
    counts = (team.firefighters, team.bulldozers, team.drones, team.helicopters)
    kind = np.repeat(np.arange(len(KINDS), dtype=np.uint8), counts)
    agents = len(kind)
    return Units(
        kind=kind,
        x=np.full(agents, float(spawn.x)),
        y=np.full(agents, float(spawn.y)),
        alive=np.ones(agents, np.bool_),
        water=np.zeros(agents, np.int8),
        aboard=np.full(agents, NOBODY, np.int32),
        carries=np.full(agents, NOBODY, np.int32),
    )


def civilians_at(clusters: tuple[Cell, ...], per_cluster: int) -> Civilians:
    """Return civilians, all of a cluster in its one cell (wildfire spec A5)."""
    cells = np.array([(cell.x, cell.y) for cell in clusters], np.int32).reshape(-1, 2).repeat(per_cluster, axis=0)
    return Civilians(cells[:, 0].copy(), cells[:, 1].copy(), np.full(len(cells), FREE, np.uint8))
