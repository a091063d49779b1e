"""How long walks take, as everybody may estimate them: from straight lines, by what walks in houses of our own took."""

from __future__ import annotations

import math
from typing import Final

#: Frames that a walk takes beside its length, and for each metre of the straight line: within a room, and to another,
#: by ways and doors that nobody is told; to the bed it takes more, by furniture at its sides. Medians: 1,069 walks to
#: explore, fetch and deliver in houses ``dev`` of seeds 0 to 49, built-in rules of three methods.
WITHIN_ROOM: Final = (14, 32)
TO_ANOTHER: Final = (10, 45)
FRAMES_TO_BED: Final = 80
#: Frames of a grasp from where a walk to the thing ends: 5, and the rest of the way at 0.063 m a frame.
GRASP_FRAMES: Final = 10


def walk_frames(metres: float, *, leaves_room: bool) -> int:
    """Return the estimated frames of a walk; 0 where there is nowhere to go.

    Args:
        metres: Of the straight line.
        leaves_room: Whether it leads to another room.
    """
    if metres <= 0:
        return 0
    frames, per_metre = TO_ANOTHER if leaves_room else WITHIN_ROOM
    return math.ceil(frames + metres * per_metre - 1e-9)
