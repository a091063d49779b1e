"""A plain reference of how bodies walk: the same rules with polygons, lists and angles, one frame after the other."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from teamworld.worlds.transport.scene import Instance
from teamworld.worlds.transport.state import Rules

Point = tuple[float, float]


@dataclass
class SlowBody:
    """One agent."""

    x: float
    z: float
    yaw: float
    """Radians, clockwise from north."""

    def ahead(self, far: float, aside: float = 0.0) -> Point:
        """Return the place so far ahead, and so far to the right."""
        sine, cosine = math.sin(self.yaw), math.cos(self.yaw)
        return self.x + far * sine + aside * cosine, self.z + far * cosine - aside * sine


@dataclass
class SlowHouse:
    """The house, and where everybody is."""

    instance: Instance
    rules: Rules
    bodies: list[SlowBody] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bodies = [SlowBody(pose.x, pose.z, math.radians(pose.yaw)) for pose in self.instance.starts]

    def turn(self, agent: int, degrees: float) -> int:
        """Turn; return the frames."""
        self.bodies[agent].yaw += math.radians(degrees)
        return 2

    def forward(self, agent: int) -> tuple[int, bool]:
        """Move forward while nobody else moves; return the frames and whether the whole way was free."""
        body, frames = self.bodies[agent], 2
        if self.rules.is_faithful and self._probe_hits(agent):
            self._creep(agent)
            return frames, False
        for _ in range(7):
            frames += 1
            place = body.ahead(0.44 / 7)
            if not self._has_room(agent, place):
                self._creep(agent)
                return frames, False
            body.x, body.z = place
            if self.rules.is_faithful and frames < 9 and self._probe_hits(agent):
                self._creep(agent)
                return frames, False
        return frames, True

    def _creep(self, agent: int) -> None:
        if not self.rules.is_faithful:
            return
        body = self.bodies[agent]
        for degrees in (0, 30, -30, 60, -60):
            turn = math.radians(degrees)
            far = self.rules.creep * math.cos(turn)
            place = body.x + far * math.sin(body.yaw + turn), body.z + far * math.cos(body.yaw + turn)
            if self._has_room(agent, place):
                body.x, body.z = place
                return

    # ---- what is where

    def obstacles(self) -> list[tuple[float, float, float]]:
        """Return x, z and radius of things on the floor that stop a body."""
        return [
            (thing.x, thing.z, max(thing.size[0], thing.size[2]) / 2)
            for thing in self.instance.items
            if thing.kind != "target" and thing.size[1] > 0.12 and thing.support is None
        ]

    def is_blocked(self, x: float, z: float) -> bool:
        """Return whether furniture is at a place."""
        rasters = self.instance.rasters
        i, j = int((x - rasters.x0) / rasters.cell), int((z - rasters.z0) / rasters.cell)
        return bool(rasters.is_blocked[i, j])

    def covered(self, x: float, z: float) -> int:
        """Return how many middles of cells of furniture lie within the body's disc."""
        rasters, count = self.instance.rasters, 0
        reach = int(self.rules.body_radius / rasters.cell) + 2
        middle = int((x - rasters.x0) / rasters.cell), int((z - rasters.z0) / rasters.cell)
        for i in range(middle[0] - reach, middle[0] + reach + 1):
            for j in range(middle[1] - reach, middle[1] + reach + 1):
                place = rasters.x0 + (i + 0.5) * rasters.cell, rasters.z0 + (j + 0.5) * rasters.cell
                near = (place[0] - x) ** 2 + (place[1] - z) ** 2 < self.rules.body_radius**2
                count += bool(near and rasters.is_blocked[i, j])
        return count

    def _has_room(self, agent: int, place: Point) -> bool:
        body, radius = self.bodies[agent], self.rules.body_radius
        for x0, z0, x1, z1 in self.instance.plan.walls.tolist():
            if math.hypot(max(x0 - place[0], place[0] - x1, 0), max(z0 - place[1], place[1] - z1, 0)) < radius:
                return False
        covered = self.covered(*place)
        if covered and covered >= self.covered(body.x, body.z):
            return False
        discs = [(x, z, radius + size) for x, z, size in self.obstacles()]
        discs += [(other.x, other.z, 2 * radius) for k, other in enumerate(self.bodies) if k != agent]
        return not any(
            math.dist(place, (x, z)) < apart and math.dist(place, (x, z)) < math.dist((body.x, body.z), (x, z))
            for x, z, apart in discs
        )

    def _probe_hits(self, agent: int) -> bool:
        body = self.bodies[agent]
        corners = [body.ahead(0.5 + a * 0.0875, b * 0.31875) for a, b in ((-1, -1), (-1, 1), (1, 1), (1, -1))]
        for x0, z0, x1, z1 in self.instance.plan.walls.tolist():
            if overlap(corners, [(x0, z0), (x1, z0), (x1, z1), (x0, z1)]):
                return True
        for k in range(14):
            for m in range(5):
                if self.is_blocked(*body.ahead(0.5 + 0.0875 * (2 * m / 4 - 1), 0.31875 * (2 * k / 13 - 1))):
                    return True
        discs = [*self.obstacles()]
        discs += [(o.x, o.z, self.rules.body_radius) for k, o in enumerate(self.bodies) if k != agent]
        return any(distance_to_polygon((x, z), corners) < size for x, z, size in discs)


def overlap(first: list[Point], other: list[Point]) -> bool:
    """Return whether two convex polygons overlap: no side of either separates them."""
    for polygon in (first, other):
        for (ax, az), (bx, bz) in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
            normal = bz - az, ax - bx
            ours = [x * normal[0] + z * normal[1] for x, z in first]
            theirs = [x * normal[0] + z * normal[1] for x, z in other]
            if max(ours) <= min(theirs) or max(theirs) <= min(ours):
                return False
    return True


def distance_to_polygon(point: Point, corners: list[Point]) -> float:
    """Return how far a point is from a convex polygon, 0 inside."""
    sides = list(zip(corners, [*corners[1:], corners[0]], strict=True))
    crosses = [(b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]) for a, b in sides]
    if all(cross >= 0 for cross in crosses) or all(cross <= 0 for cross in crosses):
        return 0.0
    return min(distance_to_side(point, a, b) for a, b in sides)


def distance_to_side(point: Point, start: Point, end: Point) -> float:
    """Return how far a point is from a stretch of a line."""
    way = end[0] - start[0], end[1] - start[1]
    share = ((point[0] - start[0]) * way[0] + (point[1] - start[1]) * way[1]) / (way[0] ** 2 + way[1] ** 2)
    share = min(1.0, max(0.0, share))
    return math.dist(point, (start[0] + share * way[0], start[1] + share * way[1]))
