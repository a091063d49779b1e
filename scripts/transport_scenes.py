"""Compare episodes of our own with the published ones: ``python scripts/transport_scenes.py DATA [SEEDS]``.

Prints the table of the page on scenes: where items lie, and how far it is on foot, in the published test set, in the
training set, and in the four episodes of each of the first development seeds (100 of them, unless asked for).
"""

from __future__ import annotations

import heapq
import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numba
import numpy as np
import numpy.typing as npt

from teamworld.worlds.transport import official
from teamworld.worlds.transport.generator import generate_instance
from teamworld.worlds.transport.rasters import Mask, cell_of
from teamworld.worlds.transport.scene import Instance, Pose, Rasters
from teamworld.worlds.transport.starting_places import reached_from, walkable_floor

#: Metres at which an agent counts as having come to an item.
NEAR = 1.0


def lying_shares(episodes: Sequence[Instance]) -> dict[str, float]:
    """Return shares of targets and of containers by where they lie."""
    shares = {f"targets on {name}": share for name, share in _shares(_supports(episodes)).items()}
    shares |= {f"targets in {name}": share for name, share in _shares(_rooms(episodes, "target")).items()}
    return shares | {f"containers in {name}": share for name, share in _shares(_rooms(episodes, "container")).items()}


def mean_lengths(episodes: Sequence[Instance]) -> dict[str, float]:
    """Return means of distances on foot, metres, and of the area to walk on."""
    lengths: dict[str, list[float]] = {}
    for episode in episodes:
        for name, length in _lengths(episode):
            lengths.setdefault(name, []).append(length)
    return {name: float(np.mean(values)) for name, values in lengths.items()}


def _shares(counts: Counter[str]) -> dict[str, float]:
    return {name: count / counts.total() for name, count in sorted(counts.items())}


def _supports(episodes: Iterable[Instance]) -> Counter[str]:
    """Count the targets of episodes on the floor, on tables, and on chairs and sofas."""
    names = {"table": "tables", "chair": "seats", "sofa": "seats"}
    return Counter(
        "floor" if item.support is None else names[episode.plan.furniture[item.support].category]
        for episode in episodes
        for item in episode.targets
    )


def _rooms(episodes: Iterable[Instance], kind: str) -> Counter[str]:
    """Count items by the kind of their room."""
    return Counter(
        episode.plan.rooms[item.room].kind for episode in episodes for item in episode.items if item.kind == kind
    )


def _lengths(episode: Instance) -> Iterable[tuple[str, float]]:
    """Yield distances on foot (metres) from the first start and from the bed, and the area to walk on."""
    rasters = episode.rasters
    is_free = reached_from(rasters, walkable_floor(episode.plan, rasters, episode.items), episode.starts[0])
    yield "square metres to walk on", float(is_free.sum()) * rasters.cell**2
    from_start = walking_distances(is_free, rasters, episode.starts[0])
    bedside = nearest_place(is_free, rasters, episode)
    from_bed = walking_distances(is_free, rasters, bedside)
    yield "from the first start to the bed", _distance(from_start, rasters, bedside.x, bedside.z)
    for item in episode.targets:
        yield "from the first start to a target", _distance(from_start, rasters, item.x, item.z)
        yield "from the bed to a target", _distance(from_bed, rasters, item.x, item.z)
    for item in episode.containers:
        yield "from the first start to a container", _distance(from_start, rasters, item.x, item.z)


def nearest_place(is_free: Mask, rasters: Rasters, episode: Instance) -> Pose:
    """Return the place in the bed's room from which it is nearest."""
    box, bed = episode.plan.rooms[episode.bed.room].box, episode.bed
    places = [_middle(rasters, int(i), int(j)) for i, j in np.argwhere(is_free)]
    return min(
        (Pose(x, z) for x, z in places if box.contains(x, z)), key=lambda pose: math.dist(pose[:2], (bed.x, bed.z))
    )


def walking_distances(is_free: Mask, rasters: Rasters, start: Pose) -> npt.NDArray[np.float64]:
    """Return how far it is to all cells, along steps to the eight neighbours; no diagonal cuts a corner."""
    return _spread(is_free, *cell_of(rasters, start.x, start.z)) * rasters.cell


@numba.njit
def _spread(is_free: Mask, start_i: int, start_j: int) -> npt.NDArray[np.float64]:
    """Return the distances from a cell in cells (Dijkstra); the border of the rasters is outside of the house."""
    distances = np.full(is_free.shape, np.inf)
    distances[start_i, start_j] = 0.0
    waiting = [(0.0, start_i, start_j)]
    while len(waiting) > 0:
        distance, i, j = heapq.heappop(waiting)
        if distance > distances[i, j]:
            continue
        for row in range(i - 1, i + 2):
            for column in range(j - 1, j + 2):
                if is_free[row, column] and is_free[row, j] and is_free[i, column]:
                    length = distance + math.sqrt((row - i) ** 2 + (column - j) ** 2)
                    if length < distances[row, column]:
                        distances[row, column] = length
                        heapq.heappush(waiting, (length, row, column))
    return distances


def _middle(rasters: Rasters, i: int, j: int) -> tuple[float, float]:
    return rasters.x0 + rasters.cell * (i + 0.5), rasters.z0 + rasters.cell * (j + 0.5)


def _distance(distances: npt.NDArray[np.float64], rasters: Rasters, x: float, z: float) -> float:
    """Return how far it is to within ``NEAR`` of a point, or within 2 m where a place so near cannot be reached."""
    i = rasters.x0 + rasters.cell * (np.arange(distances.shape[0]) + 0.5) - x
    j = rasters.z0 + rasters.cell * (np.arange(distances.shape[1]) + 0.5) - z
    gaps = np.hypot(i[:, None], j[None, :])
    near = distances[gaps <= NEAR].min()
    return float(near if np.isfinite(near) else distances[gaps <= 2 * NEAR].min())


def main(data: Path, seeds: int) -> None:
    """Print the table."""
    published = [
        [official.read_instance(data, split, number) for number in range(official.EPISODES)]
        for split in ("test", "train")
    ]
    own = [
        generate_instance(seed, task, capacity)
        for seed in range(seeds)
        for capacity in ("high", "low")
        for task in ("food", "stuff")
    ]
    print("| | test set | training set | our own |\n| --- | --- | --- | --- |")
    for measure, digits in ((lying_shares, 2), (mean_lengths, 1)):
        columns = [measure(episodes) for episodes in (*published, own)]
        for name in columns[0]:
            print(f"| {name} | {' | '.join(f'{column[name]:.{digits}f}' for column in columns)} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100)
