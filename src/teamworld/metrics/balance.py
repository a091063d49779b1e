"""Balance: how evenly agents share the work (metrics spec, D17)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from teamworld.metrics.definition import Value, only, share
from teamworld.metrics.episode import Episode
from teamworld.record import GoalChange


def measure(episode: Episode) -> Mapping[str, Value]:
    """Measure how evenly agents contribute; where nobody does, there is nothing to share."""
    given = contributions(episode)
    total = float(given.sum())
    if total <= 0:
        nothing = share(0, 0)
        return {"D17.gini": nothing, "D17.minmax": nothing, "D17.utilisation": only(None, 0), "D17.entropy": nothing}
    most, parts = float(given.max()), given[given > 0] / total
    return {
        "D17.gini": gini(given),
        "D17.minmax": share(float(given.min()), most),
        "D17.utilisation": only(1.0 - float(np.std(given / most)), len(given)),
        "D17.entropy": share(float(np.abs(parts @ np.log(parts))), float(np.log(len(given)))),
    }


def contributions(episode: Episode) -> NDArray[np.float64]:
    """Return each agent's contribution x_i: the weight of the progress that it took part in, shared equally.

    Progress that is undone counts against those who undo it; nobody is below 0.
    """
    given = np.zeros(len(episode.team))
    for change in episode.all(GoalChange):
        if change.event in ("progress", "done") and change.participants:
            part = episode.weights[episode.index[change.goal]] * change.delta / len(change.participants)
            for agent in change.participants:
                given[episode.who[agent]] += part
    return np.maximum(given, 0.0)


def gini(amounts: NDArray[np.float64]) -> Value:
    """Return the Gini index of amounts from 0 on: 0 where all are equal, 1 - 1/N where one has everything."""
    ordered, count = np.sort(amounts), len(amounts)
    differences = 2 * float((2 * np.arange(count) - count + 1) @ ordered)  # over all ordered pairs
    return share(max(0.0, differences), 2 * count * float(ordered.sum()))
