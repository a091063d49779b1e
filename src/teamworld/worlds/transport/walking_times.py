"""How long walks take, as everybody may estimate them: from straight lines, by what walks in houses of our own took."""

from __future__ import annotations

import math
from typing import Final

#: Frames that a walk takes beside its length: turns, and ways out of corners and round furniture.
FRAMES_PER_WALK: Final = 80
#: Frames for each metre of the straight line. With the line above it halves the number of walks over and under their
#: estimate: 771 walks to explore, fetch and deliver in houses ``dev`` of seeds 0 to 29, built-in rules, one agent.
FRAMES_PER_METRE: Final = 36
#: Frames of a grasp from where a walk to the thing ends: 5, and the rest of the way at 0.063 m a frame.
GRASP_FRAMES: Final = 10


def walk_frames(metres: float) -> int:
    """Return the estimated frames of a walk over a straight line; 0 where there is nowhere to go."""
    return math.ceil(FRAMES_PER_WALK + metres * FRAMES_PER_METRE - 1e-9) if metres > 0 else 0
