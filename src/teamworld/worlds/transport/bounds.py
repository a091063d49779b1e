"""Frames in which no team can deliver all targets; straight lines, so it says little in houses of many rooms.

In a frame a body walks ``PACE`` at most, or is shifted by ``creep`` where its way is blocked. A grasp takes five frames
in which the body does not walk, and begins within ``GRASP_RANGE`` of the thing. A target counts as delivered as soon as
who holds it is within ``BED_RANGE`` of the bed.

*One target.* Somebody comes to it, grasps it, and it is carried to the bed. It may be handed on: let go ``DROP_AHEAD``
ahead, and grasped from ``GRASP_RANGE`` beyond; while a grasp begins and ends, a thing in another's hands may get
further away by the frames in which its body does not walk. Who carries it twice could have carried it on in between,
as it walks that way itself; so it is handed on once less than there are agents, at most.

*Work.* Each target that is not near the bed is grasped. All share the sum.
"""

from __future__ import annotations

from math import ceil, dist

from teamworld.worlds.base.bounds import StepBound
from teamworld.worlds.transport.physics import (
    BED_RANGE,
    DROP_AHEAD,
    GRASP_AFTER,
    GRASP_BEFORE,
    GRASP_RANGE,
    PACE,
)
from teamworld.worlds.transport.scene import Instance
from teamworld.worlds.transport.state import Rules

#: Frames of a grasp in which the body does not walk.
_STILL = GRASP_BEFORE + GRASP_AFTER


def bound(instance: Instance, rules: Rules) -> StepBound:
    """Return the bound of an instance."""
    pace = max(PACE, rules.creep)
    handed = (len(instance.starts) - 1) * (DROP_AHEAD + GRASP_RANGE + (_STILL + 1) * pace)
    bed, frames, grasps = (instance.bed.x, instance.bed.z), 0, 0
    for target in instance.targets:
        at = target.x, target.z
        away = dist(at, bed) - BED_RANGE
        if away >= 0:
            come = min(dist((start.x, start.z), at) for start in instance.starts) - GRASP_RANGE
            walked = max(0.0, come) + max(0.0, away - GRASP_RANGE - handed)
            frames, grasps = max(frames, _STILL + ceil(walked / pace - 1e-6)), grasps + 1
    return StepBound(max(frames, -(-grasps * _STILL // len(instance.starts))))
