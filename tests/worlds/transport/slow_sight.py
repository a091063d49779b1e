"""A plain reference of what agents see: a camera matrix for things, and for the chart each ray as a list of samples."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from teamworld.worlds.transport.sight import (
    CHART,
    CHART_CELL,
    CHART_X,
    CHART_Z,
    FREE,
    LOWEST_OBSTACLE,
    OBSTACLE,
    UNKNOWN,
    WALL,
    Field,
    Moment,
    Shape,
)
from teamworld.worlds.transport.state import Ground

Floats = npt.NDArray[np.float64]


def camera(x: float, z: float, east: float, north: float) -> tuple[Floats, Floats]:
    """Return where the camera is (x, y, z), and a matrix with rows right, up and forward."""
    pitch = math.radians(6.45)
    level = np.array([east, 0.0, north])
    forward = level * math.cos(pitch) - np.array([0.0, math.sin(pitch), 0.0])
    right = np.array([north, 0.0, -east])
    up = np.cross(forward, right)
    return np.array([x + 0.087 * east, 1.695, z + 0.087 * north]), np.stack([right, up, forward])


def is_seen(ground: Ground, body: np.void, shape: Shape, most: float = 10.0) -> bool:
    """Return whether an agent sees a thing."""
    place, axes = camera(*(float(body[name]) for name in ("x", "z", "east", "north")))
    top = np.array([shape.x, shape.low + shape.high, shape.z])
    _, up, depth = axes @ (top - place)
    if not 0 < depth < most or abs(up) > depth:
        return False
    away = top - place
    far = float(np.linalg.norm(away))
    slope = abs(away[1]) / far
    tall = shape.high * math.sqrt(1 - slope**2) + 2 * shape.radius * slope
    pixels = (2 * shape.radius * 128 / depth) * (tall * 128 / depth)
    points = [top + k * shape.radius * axes[0] for k in (-1, 0, 1)]
    points = [point for point in points if abs(axes[0] @ (point - place)) <= depth]
    seen = [point for point in points if is_clear(ground, place, point, shape)]
    return bool(pixels >= 5 and pixels * len(seen) / 3 >= 5)


def is_clear(ground: Ground, start: Floats, end: Floats, shape: Shape) -> bool:
    """Return whether nothing on the way is as high as the line of sight, every 5 cm."""
    steps = int(math.hypot(end[0] - start[0], end[2] - start[2]) / 0.05) + 1
    for step in range(1, steps):
        x, y, z = start + (end - start) * step / steps
        i, j = int((x - ground.x0) / ground.cell), int((z - ground.z0) / ground.cell)
        is_own = shape.support >= 0 and ground.owner[i, j] == shape.support
        if not is_own and ground.height[i, j] > y:
            return False
    return True


def seen_cells(field: Field, body: np.void, reach: float) -> dict[tuple[int, int], int]:
    """Return the cells of the chart that an agent sees from where it stands, and what it takes them for."""
    x, z, east, north = (float(body[name]) for name in ("x", "z", "east", "north"))
    x, z = x + 0.087 * east, z + 0.087 * north
    ahead = 0.085 * np.arange(2, int(reach / 0.085) + 1)
    cells: dict[tuple[int, int], int] = {}
    for ray in np.linspace(-1, 1, 121):
        columns = ((x + ahead * (east + ray * north) - CHART_X) / CHART_CELL + 0.5).astype(int)
        rows = ((z + ahead * (north - ray * east) - CHART_Z) / CHART_CELL + 0.5).astype(int)
        inside = (columns >= 0) & (columns < CHART[0]) & (rows >= 0) & (rows < CHART[1])
        high = np.where(inside, field.tall[columns % CHART[0], rows % CHART[1]], 99.0).astype(float)
        is_obstacle = high > LOWEST_OBSTACLE
        walls = np.flatnonzero(is_obstacle & (high >= field.wall_height))
        last = walls[0] + 1 if len(walls) else len(ahead)
        last = min(last, int(np.argmin(inside)) if not inside.all() else last)
        slopes = (np.where(is_obstacle, high, 0.0) - 1.695) / ahead
        horizon = np.maximum.accumulate(np.where(is_obstacle, slopes, -np.inf))
        before = np.concatenate(([-np.inf], horizon[:-1]))
        blind = math.tan(math.radians(45 - 6.45))
        for k in range(last):
            below = 1.695 - (high[k] if is_obstacle[k] else 0.0)
            if slopes[k] > before[k] and ahead[k] >= below * blind:
                kind = FREE if not is_obstacle[k] else WALL if high[k] >= field.wall_height else OBSTACLE
                cells[int(columns[k]), int(rows[k])] = kind
    return cells


def near_of(chart: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return how near each cell is to an obstacle, from the whole chart."""
    near = np.zeros(CHART, np.uint8)
    for reach, sign in ((2, 1), (1, 2)):
        for i, j in np.argwhere(chart >= OBSTACLE).tolist():
            near[max(i - reach, 0) : i + reach + 1, max(j - reach, 0) : j + reach + 1] = sign
    near[chart == OBSTACLE], near[chart == WALL] = 3, 4
    return near


def known_cells(here: Moment, agent: int) -> dict[tuple[int, int], int]:
    """Return the cells of an agent's chart that are known."""
    chart = here.knowledge.chart[agent]
    return {(i, j): int(chart[i, j]) for i, j in np.argwhere(chart != UNKNOWN).tolist()}
