"""Parts of an experiment that are run apart, such as by the tasks of a job array: ``--shard I/N``.

Which episodes a shard has depends on the experiment alone, so its tasks need not know of one another. A method that
learns from episode to episode keeps each of its cells in one shard.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from teamworld.experiment.run_options import Shard
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.methods import registry as methods

#: Numbers of episodes by cell, in the order in which they are run.
EpisodePart: TypeAlias = Mapping[RunCell, Sequence[int]]


def select(experiment: ExperimentSpec, shard: Shard | None) -> EpisodePart:
    """Return the episodes of a resolved experiment that a shard has; of None: all.

    Cells of methods that learn, then single episodes of the others are dealt out, each to the shard that has least so
    far. The first to get one is drawn by the experiment, so that many small runs do not all fall to the first shards.
    """
    numbers = experiment.episode_numbers
    cells = experiment.cells()
    if shard is None:
        return dict.fromkeys(cells, numbers)
    learners = {method for method in experiment.methods if _learns(experiment, method)}
    whole = [(cell, numbers) for cell in cells if cell.method in learners]
    single = [(cell, range(n, n + 1)) for cell in cells if cell.method not in learners for n in numbers]
    first = _draw_first(experiment, shard.total)
    loads = [(0, place) for place in range(shard.total)]
    mine: dict[RunCell, list[int]] = {}
    for cell, part in (*whole, *single):
        load, place = loads[0]
        heapq.heapreplace(loads, (load + len(part), place))
        if (first + place) % shard.total == shard.number - 1:
            mine.setdefault(cell, []).extend(part)
    return {cell: mine[cell] for cell in cells if cell in mine}


def count(part: EpisodePart) -> int:
    """Return how many episodes a part has."""
    return sum(map(len, part.values()))


def _learns(experiment: ExperimentSpec, label: str) -> bool:
    """Return whether a method learns in any episode."""
    method = methods.make(label, experiment.options[label])
    return any(method.learns_in(number) for number in experiment.episode_numbers)


def _draw_first(experiment: ExperimentSpec, count: int) -> int:
    text = json.dumps(experiment.model_dump(mode="json"), sort_keys=True).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") % count
