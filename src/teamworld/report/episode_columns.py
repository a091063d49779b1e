"""The headline numbers of many episodes as columns: the rows of a million would take gigabytes."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from math import isnan, nan
from operator import add

from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow
from teamworld.metrics.definition import NULL, Metric, PooledValue, Value, metrics, only, pool_known
from teamworld.metrics.summary import Rate

#: Metrics that a summary holds beside its headline.
_OF_SUMMARY = ("completion", "success", "steps", "messages")


class _Column:
    """A metric of some episodes, as value, numerator and denominator; of means the value is enough."""

    def __init__(self, metric: Metric, missing: int) -> None:
        self._metric = metric
        self._parts = tuple(array("d", [nan]) * missing for _ in range(3 if metric.pooling == "micro" else 1))

    def add(self, value: Value) -> None:
        for part, number in zip(self._parts, value, strict=False):
            part.append(nan if number is None else number)

    def pool(self, places: Sequence[int]) -> PooledValue:
        known = [[number for place in places if not isnan(number := part[place])] for part in self._parts]
        values, nums, dens = known if len(known) == 3 else (*known, [], [])
        return pool_known(self._metric, values, nums, dens, len(places))


class MethodColumns:
    """The numbers of one method's episodes."""

    def __init__(self) -> None:
        self._columns: dict[str, _Column] = {}
        self._seeds = array("q")
        self._by_seed: dict[int, array[int]] = {}
        self._by_episode: dict[int, array[int]] = {}
        self._sums = [0] * 6

    def __len__(self) -> int:
        """Return how many episodes these are."""
        return len(self._seeds)

    def add(self, row: EpisodeRow) -> None:
        """Add an episode."""
        place, summary = len(self), row.summary
        values = {part.metric: part.value for part in summary.headline}
        for name in _OF_SUMMARY:
            if name not in values:
                values[name] = only(getattr(summary, name))
        for name in values:
            if name not in self._columns:
                self._columns[name] = _Column(metrics()[name], place)
        for name, column in self._columns.items():
            column.add(values.get(name, NULL))
        self._seeds.append(row.seed)
        self._by_seed.setdefault(row.seed, array("q")).append(place)
        self._by_episode.setdefault(row.episode, array("q")).append(place)
        counts = *summary.attempts, *summary.plans, summary.re_asked, summary.questions
        self._sums = list(map(add, self._sums, counts))

    def pool(self, metric: str, episode: int | None = None) -> list[PooledValue]:
        """Return a metric pooled over the episodes of each seed: episodes of one seed are not independent.

        Args:
            metric: What is pooled.
            episode: Of the episodes of this number alone.
        """
        column = self._columns.get(metric)
        if column is None:
            return []
        if episode is None:
            return [column.pool(places) for places in self._by_seed.values()]
        by_seed: dict[int, list[int]] = {}
        for place in self._by_episode.get(episode, ()):
            by_seed.setdefault(self._seeds[place], []).append(place)
        return [column.pool(places) for places in by_seed.values()]

    @property
    def attempts(self) -> Rate:
        """Joint acts over all episodes, see ``Summary``, as the next two."""
        return Rate(*self._sums[:2])

    @property
    def plans(self) -> Rate:
        """Plans."""
        return Rate(*self._sums[2:4])

    @property
    def re_asked(self) -> Rate:
        """Answers that were asked again, of all questions."""
        return Rate(*self._sums[4:])

    @property
    def episodes(self) -> list[int]:
        """The numbers of episodes that there are, in order."""
        return sorted(self._by_episode)

    @property
    def seeds(self) -> list[int]:
        """The seeds that there are, in order."""
        return sorted(self._by_seed)


class EpisodeColumns:
    """The numbers of some episodes by method.

    Args:
        rows: The episodes; each is let go of at once.
    """

    def __init__(self, rows: Iterable[EpisodeRow]) -> None:
        self.methods: dict[str, MethodColumns] = {}
        kinds: dict[tuple[tuple[str, ...], ...], EpisodeRow] = {}
        for row in rows:
            if (method := self.methods.get(row.method)) is None:
                method = self.methods[row.method] = MethodColumns()
            method.add(row)
            kinds.setdefault(tuple([part[:4] for part in row.summary.headline]), row)
        self.examples = list(kinds.values())
        """An episode of each kind: those of a kind are told in the same measures."""

    def __len__(self) -> int:
        """Return how many episodes these are."""
        return sum(map(len, self.methods.values()))

    @property
    def seeds(self) -> list[int]:
        """The seeds that there are, in order."""
        return sorted({seed for method in self.methods.values() for seed in method.seeds})


def columns_of(folder: RunFolder, experiment: ExperimentSpec) -> EpisodeColumns:
    """Return the numbers of the finished episodes of a run; raises ``UserError`` where they are damaged."""
    return EpisodeColumns(row for _, row in folder.each_finished(experiment))
