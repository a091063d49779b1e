"""Which fire is which: all that caught fire from one beginning is one fire, and what has grown together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from teamworld.language import Cell
from teamworld.worlds.wildfire.scene import Front
from teamworld.worlds.wildfire.state import BURNT_OUT, EXTINGUISHING, IGNITED, ON_FIRE

if TYPE_CHECKING:
    import numpy.typing as npt

    from teamworld.worlds.wildfire.incident import Incident

    Labels = npt.NDArray[np.int16]


class Fires:
    """The fires as they truly are, numbered in the order in which they began.

    A cell belongs for ever to the fire that it caught fire from, of several to the oldest. Fires that touch have grown
    together: the younger is part of the older one.
    """

    def __init__(self, incident: Incident) -> None:
        instance = incident.instance
        self._incident = incident
        self.origins: dict[int, Cell] = {}
        if instance.fire is not None:
            self.origins[0] = (instance.fire.x, instance.fire.y)
        self._later = [
            (event.t, (cell.x, cell.y))
            for event, cells in zip(instance.level.events, instance.event_cells, strict=True)
            if event.kind == "fire"
            for cell in cells
        ]
        self._labels: Labels | None = None
        """(N + 2, N + 2): the fire of each framed cell, -1 where nothing burnt; None if there can be but one fire."""
        if self._later:
            self._labels = np.full(incident.land.burn.shape, -1, np.int16)
        self._oldest: Mapping[int, int] = {}

    def look(self, incident: Incident) -> None:
        """Follow the script and the fire; call it after each step."""
        self._incident = incident
        if self._labels is None:
            return
        caught = incident.land.burn >= IGNITED
        for number, (t, (x, y)) in enumerate(self._later, start=1):
            # Where it burnt before, or was cut or wet, no fire began.
            if t == incident.t - 1 and caught[y + 1, x + 1] and self._labels[y + 1, x + 1] < 0:
                self.origins[number] = (x, y)
                self._labels[y + 1, x + 1] = number
        _spread(self._labels, caught)
        self._oldest = oldest(self._labels, self.origins)

    def labels(self, x: npt.NDArray[np.int64], y: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return (K,): the fires that K burning or burnt cells caught fire from."""
        if self._labels is None:
            return np.zeros(len(x), np.int64)
        return self._labels[y + 1, x + 1].astype(np.int64)

    def known(self, x: npt.NDArray[np.int64], y: npt.NDArray[np.int64], fires: Iterable[int]) -> Mapping[int, int]:
        """Return the oldest fire that each has grown together with, as far as these K cells show."""
        if self._labels is None:
            return {fire: fire for fire in fires}
        seen = np.full(self._labels.shape, -1, np.int16)
        seen[y + 1, x + 1] = self._labels[y + 1, x + 1]
        return oldest(seen, fires)

    def _root(self, fire: int) -> int:
        return self._oldest.get(fire, fire)

    def out(self, fire: int) -> bool:
        """Whether nothing of a fire, and of those it has grown together with, is ignited or on fire any more."""
        land = self._incident.land
        if self._labels is None:
            return land.cells_burning == 0
        group = [other for other in self.origins if self._root(other) == self._root(fire)]
        mine = np.isin(self._labels, group)
        return not bool((mine & ((land.burn == IGNITED) | (land.burn == ON_FIRE))).any())

    def front(self, fire: int) -> Front:
        """Return a fire with all its cells; one that is part of another has none of its own."""
        land = self._incident.land
        cells: dict[bool, list[Cell]] = {True: [], False: []}
        for burning, (low, high) in ((True, (IGNITED, ON_FIRE)), (False, (EXTINGUISHING, BURNT_OUT))):
            rows, columns = np.nonzero((land.burn >= low) & (land.burn <= high))
            xs, ys = columns - 1, rows - 1
            owners = self.labels(xs, ys).tolist()
            places = zip(xs.tolist(), ys.tolist(), owners, strict=True)
            cells[burning] = [(x, y) for x, y, owner in places if self._root(owner) == fire]
        root = self._root(fire)
        part_of = None if root == fire else root
        return Front(tuple(cells[True]), self.origins[fire], self.out(fire), tuple(cells[False]), part_of)


def _spread(labels: Labels, caught: npt.NDArray[np.bool_]) -> None:
    """Give each cell that has caught fire the fire of its neighbours, the oldest first; what touches none the oldest.

    Args:
        labels: Of framed cells; changed in place.
        caught: Of framed cells: whether they have caught fire.
    """
    while True:
        ys, xs = np.nonzero(caught & (labels < 0))
        if not len(ys):
            return
        beside = np.stack([labels[ys + down, xs + right] for down in (-1, 0, 1) for right in (-1, 0, 1)])
        found = np.where(beside < 0, np.iinfo(np.int16).max, beside).min(axis=0)
        reached = found < np.iinfo(np.int16).max
        if not reached.any():
            labels[ys, xs] = 0
            return
        labels[ys[reached], xs[reached]] = found[reached]


def oldest(labels: Labels, fires: Iterable[int]) -> Mapping[int, int]:
    """Return for each fire the oldest of those that it touches, through others too.

    Args:
        labels: The fire of each framed cell; -1 where nothing burnt, or nobody looked.
        fires: All that may be named.
    """
    root = {fire: fire for fire in sorted(fires)}

    def find(fire: int) -> int:
        while root[fire] != fire:
            fire = root[fire]
        return fire

    pairs = set[tuple[int, int]]()
    inner = labels[1:-1, 1:-1]
    for down, right in ((0, 1), (1, -1), (1, 0), (1, 1)):
        other = labels[1 + down : labels.shape[0] - 1 + down, 1 + right : labels.shape[1] - 1 + right]
        touch = (inner >= 0) & (other >= 0) & (inner != other)
        pairs.update(zip(inner[touch].tolist(), other[touch].tolist(), strict=True))
    for one, two in sorted(pairs):
        low, high = sorted((find(one), find(two)))
        root[high] = low
    return {fire: find(fire) for fire in root}
