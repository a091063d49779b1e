"""How civilians walk about: at random, never into fire (wildfire spec A5, B18, B20)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from teamworld.worlds.compiled import compiled, part
from teamworld.worlds.wildfire.burning import GOLDEN, mixed
from teamworld.worlds.wildfire.state import IGNITED
from teamworld.worlds.wildfire.units import FREE

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.incident import Incident

#: The ways that a civilian may go.
_WAYS = np.array(((1, 0), (0, 1), (-1, 0), (0, -1)))


def step(incident: Incident, number: int) -> None:
    """Do a step of the civilians.

    Each free one picks among the cells beside its own, each with equal chance, that have not caught fire and lie on
    the map without its last row and column (A5); it stays if there is none. The draw is a hash of the seed, the
    number of the step and the civilian's, so what one does never changes what another draws.

    Args:
        incident: What to change.
        number: Of the step, 1 for the first of an instance.
    """
    civilians, land = incident.civilians, incident.land
    if len(civilians):
        _wander(civilians.x, civilians.y, civilians.state, land.burn, incident.key, number)


@compiled
def _wander(
    x: npt.NDArray[np.int32],
    y: npt.NDArray[np.int32],
    state: npt.NDArray[np.uint8],
    burn: npt.NDArray[np.uint8],
    key: int,
    number: int,
) -> None:
    last = burn.shape[0] - 4  # the last but one column of the map; the frame adds two
    of_step = mixed(np.uint64(key) + np.uint64(number) * GOLDEN)
    for k in range(len(state)):
        if state[k] != FREE:
            continue
        choices = 0
        for d in range(4):
            choices += _open(x[k] + _WAYS[d, 0], y[k] + _WAYS[d, 1], last, burn)
        # 32 random bits times the number of choices: equal chances to one in a thousand million.
        picked = int(((mixed(of_step + np.uint64(k) * GOLDEN) >> np.uint64(32)) * np.uint64(choices)) >> np.uint64(32))
        for d in range(4):
            right, down = _WAYS[d, 0], _WAYS[d, 1]
            if _open(x[k] + right, y[k] + down, last, burn):
                if picked == 0:
                    x[k] += right
                    y[k] += down
                    break
                picked -= 1


@part
def _open(x: int, y: int, last: int, burn: npt.NDArray[np.uint8]) -> bool:
    """Return whether a civilian may step there."""
    return 0 <= x <= last and 0 <= y <= last and burn[y + 1, x + 1] < IGNITED
