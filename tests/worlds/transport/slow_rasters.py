"""A plain reference of the rasters: every question is asked of every point, with nothing but school geometry."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from teamworld.worlds.transport.scene import Furniture, Pose, ReferenceSamples

Point = tuple[float, float]


def is_inside(corners: Sequence[Point], x: float, z: float) -> bool:
    """Whether a point is in a polygon: a ray from it crosses the outline an odd number of times."""
    crossings = 0
    for (x0, z0), (x1, z1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if (z0 > z) != (z1 > z) and x < x0 + (z - z0) * (x1 - x0) / (z1 - z0):
            crossings += 1
    return crossings % 2 == 1


def distance_to_outline(corners: Sequence[Point], x: float, z: float) -> float:
    """Return how far a point is from the border of a polygon."""
    return min(
        distance_to_segment(start, end, (x, z)) for start, end in zip(corners, [*corners[1:], corners[0]], strict=True)
    )


def distance_to_segment(start: Point, end: Point, point: Point) -> float:
    """Return how far a point is from a line between two others."""
    length = math.dist(start, end)
    if length == 0:
        return math.dist(start, point)
    along = ((point[0] - start[0]) * (end[0] - start[0]) + (point[1] - start[1]) * (end[1] - start[1])) / length**2
    along = min(max(along, 0.0), 1.0)
    foot = (start[0] + along * (end[0] - start[0]), start[1] + along * (end[1] - start[1]))
    return math.dist(foot, point)


def is_carved(samples: ReferenceSamples | None, starts: Iterable[Pose], x: float, z: float) -> bool:
    """Whether a point is free whatever covers it."""
    if any(math.dist((start.x, start.z), (x, z)) <= 0.3 for start in starts):
        return True
    if samples is None:
        return False
    nearest = min(
        ((i, j) for i in range(samples.is_free.shape[0]) for j in range(samples.is_free.shape[1])),
        key=lambda ij: math.dist((samples.x0 + ij[0] * samples.spacing, samples.z0 + ij[1] * samples.spacing), (x, z)),
    )
    gaps = (samples.x0 + nearest[0] * samples.spacing - x, samples.z0 + nearest[1] * samples.spacing - z)
    return max(map(abs, gaps)) <= samples.spacing / 2 and bool(samples.is_free[nearest])


def covering(furniture: Sequence[Furniture], x: float, z: float) -> list[int]:
    """Return the pieces below 1.88 m whose outline holds a point."""
    return [index for index, piece in enumerate(furniture) if piece.bottom < 1.88 and is_inside(piece.corners, x, z)]


def wall_distance(walls: Iterable[Sequence[float]], x: float, z: float) -> float:
    """Return how far a point is from the nearest wall."""
    distances = [math.inf]
    for x0, z0, x1, z1 in walls:
        if x0 <= x <= x1 and z0 <= z <= z1:
            return 0.0
        corners = [(x0, z0), (x1, z0), (x1, z1), (x0, z1)]
        distances.append(distance_to_outline(corners, x, z))
    return min(distances)
