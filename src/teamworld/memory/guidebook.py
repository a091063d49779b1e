"""The symbolic world model as a method asks it: guidebook and plan library (DR. WELL, symbolic world model).

The same instances give the same answers in whatever order they came.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from math import sqrt
from typing import NamedTuple, TypeVar

from teamworld.memory.contract import (
    GuideEntry,
    Library,
    PlanInstance,
    PlanRecord,
    Ranking,
    Reflection,
    TaskKey,
    TeamRecord,
    Verdict,
)
from teamworld.memory.notes import recent_notes
from teamworld.memory.plan_statistics import PARTS, Attempt, PlanStatistics, smoothed

#: Least mean share of the work done, exclusive, of each verdict of the guidebook.
VERDICTS: tuple[tuple[float, Verdict], ...] = (
    (0.7, "highly effective"),
    (0.4, "moderate"),
    (0.1, "challenging"),
)
#: Causes of failure that an entry names.
CAUSES = 3
#: Reports of earlier episodes that are kept, the newest.
REPORTS = 200
_Z = 1.959963984540054  # two-sided 95 % quantile of the normal distribution


Key = TypeVar("Key")


class PlanKey(NamedTuple):
    """What plans have in common that are counted together."""

    task: TaskKey
    team: int
    lifted: str
    prototype: str


class PlanRow(NamedTuple):
    """How a plan went; the library is computed from these."""

    key: PlanKey
    statistics: PlanStatistics


class TeamRow(NamedTuple):
    """How attempts at a task went with so many agents; the guidebook is computed from these."""

    task: TaskKey
    team: int
    statistics: PlanStatistics


class CauseRow(NamedTuple):
    """How many attempts with a plan ended without success for a cause."""

    task: TaskKey
    lifted: str
    cause: str
    attempts: int


def verdict(rate: float | None) -> Verdict:
    """Return the guidebook's word for a mean share of the work done."""
    if rate is None:
        return "untested"
    return next((word for least, word in VERDICTS if rate > least), "needs a new strategy")


def wilson(successes: float, attempts: int) -> float:
    """Return the lower bound of the 95 % Wilson score interval of a rate (Wilson 1927).

    Args:
        successes: From 0 to ``attempts``; an attempt that did half of the work counts one half.
        attempts: At least 1.
    """
    rate, z2 = successes / attempts, _Z * _Z
    middle = rate + z2 / (2 * attempts)
    spread = _Z * sqrt((rate * (1 - rate) + z2 / (4 * attempts)) / attempts)
    return (middle - spread) / (1 + z2 / attempts)


def merge(*models: WorldModel) -> WorldModel:
    """Return what several world models know together; adding to it leaves them as they are."""
    return WorldModel.from_rows(
        (row for model in models for row in model.rows()),
        (row for model in models for row in model.team_rows()),
        (row for model in models for row in model.cause_rows()),
        notes=(note for model in models for note in model.notes),
        reports=(report for model in models for report in model.reports),
    )


class _Page:
    """All that is known about one task."""

    __slots__ = ("causes", "plans", "teams")

    def __init__(self) -> None:
        self.plans: dict[PlanKey, PlanStatistics] = defaultdict(PlanStatistics)
        self.teams: dict[int, PlanStatistics] = defaultdict(PlanStatistics)
        self.causes: Counter[tuple[str, str]] = Counter()

    def with_instances(self, instances: Iterable[PlanInstance]) -> _Page:
        """Return the page with what was added while an episode ran; this one stays."""
        page = _Page()
        page.plans.update((key, copy(counts)) for key, counts in self.plans.items())
        page.teams.update((team, copy(counts)) for team, counts in self.teams.items())
        page.causes.update(self.causes)
        counted = [instance for instance in instances if not instance.cut]
        for group in _groups(
            counted,
            lambda instance: (instance.episode, instance.goal, instance.start, instance.lifted, instance.prototype),
        ):
            attempt, first = Attempt.of(group), group[0]
            key = PlanKey(first.task, attempt.team, first.lifted, first.prototype)
            page.plans[key].merge(PlanStatistics.of(attempt))
            for cause in {instance.cause for instance in group if instance.cause and not instance.is_preparation}:
                page.causes[first.lifted, cause] += 1
        attempted = (instance for instance in counted if not instance.is_preparation)
        for group in _groups(attempted, lambda instance: (instance.episode, instance.goal, instance.start)):
            attempt = Attempt.of(group)
            page.teams[attempt.team].merge(PlanStatistics.of(attempt))
        return page

    @property
    def total(self) -> PlanStatistics:
        return _sum(self.teams.values())

    def by(self, text: Callable[[PlanKey], str]) -> dict[str, PlanStatistics]:
        """Return the statistics of plans with the same text together."""
        statistics: dict[str, PlanStatistics] = defaultdict(PlanStatistics)
        for key, counts in self.plans.items():
            statistics[text(key)].merge(counts)
        return statistics


def _groups(instances: Iterable[PlanInstance], key: Callable[[PlanInstance], Key]) -> Iterable[list[PlanInstance]]:
    groups: dict[Key, list[PlanInstance]] = {}
    for instance in instances:
        groups.setdefault(key(instance), []).append(instance)
    return groups.values()


def _sum(parts: Iterable[PlanStatistics]) -> PlanStatistics:
    total = PlanStatistics()
    for part in parts:
        total.merge(part)
    return total


class WorldModel:
    """Guidebook and plan library: what a method may ask during an episode.

    Adding an instance takes constant time; an answer costs what is known of its task.

    Args:
        ranking: How plans, prototypes, team sizes and tasks are ranked when samples are few, by how much of the work
            their attempts did. ``expected``: expected steps for the whole work, the mean steps of an attempt over the
            smoothed mean share (s + 1) / (n + 2). ``wilson``: lower bound of the 95 % Wilson interval of the
            share, then attempts, then steps. ``rate``: success rate, then the share, then attempts, then steps (as in
            the paper). What never did anything comes last, the less tried first.
    """

    def __init__(self, ranking: Ranking = "expected") -> None:
        self._ranking: Ranking = ranking
        self._stored: dict[TaskKey, _Page] = defaultdict(_Page)
        self._added: dict[TaskKey, list[PlanInstance]] = defaultdict(list)
        self._pages: dict[TaskKey, _Page] = {}  # both together, until more is added
        self._notes: list[str] = []
        self._reports: tuple[Reflection, ...] = ()

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[PlanRow],
        teams: Iterable[TeamRow],
        causes: Iterable[CauseRow] = (),
        ranking: Ranking = "expected",
        notes: Iterable[str] = (),
        reports: Iterable[Reflection] = (),
    ) -> WorldModel:
        """Return the world model that the rows sum up: those of others, or the store's; one key may come twice."""
        model = cls(ranking)
        model._notes += recent_notes(notes)
        model._reports = tuple(reports)[-REPORTS:]
        for key, counts in rows:
            model._stored[key.task].plans[key].merge(counts)
        for task, team, counts in teams:
            model._stored[task].teams[team].merge(counts)
        for task, lifted, cause, count in causes:
            model._stored[task].causes[lifted, cause] += count
        return model

    def ranked(self, by: Ranking) -> WorldModel:
        """Return the same memory under another ranking: what is added to one, both know."""
        other = WorldModel(by)
        other._stored, other._added, other._pages, other._notes = self._stored, self._added, self._pages, self._notes
        other._reports = self._reports
        return other

    def rows(self) -> Iterator[PlanRow]:
        """Yield how plans went, ordered by their keys."""
        for task in self._tasks():
            yield from (PlanRow(key, counts) for key, counts in sorted(self._page(task).plans.items()))

    def team_rows(self) -> Iterator[TeamRow]:
        """Yield how tasks went by team size, in order."""
        for task in self._tasks():
            yield from (TeamRow(task, team, counts) for team, counts in sorted(self._page(task).teams.items()))

    def cause_rows(self) -> Iterator[CauseRow]:
        """Yield why plans failed, in order."""
        for task in self._tasks():
            yield from (CauseRow(task, *key, count) for key, count in sorted(self._page(task).causes.items()))

    def add(self, instance: PlanInstance) -> None:
        """Add an instance while the episode runs."""
        self._added[instance.task].append(instance)
        self._pages.pop(instance.task, None)

    @property
    def reports(self) -> tuple[Reflection, ...]:
        """What earlier episodes left behind word by word and with who said it, oldest first, the newest ``REPORTS``."""
        return self._reports

    @property
    def notes(self) -> tuple[str, ...]:
        """What agents told the team so far, oldest first, each once."""
        return tuple(self._notes)

    def remember(self, text: str) -> None:
        """Add a note of an agent while the episode runs."""
        self._notes[:] = recent_notes([*self._notes, text])

    def _tasks(self) -> list[TaskKey]:
        return sorted(self._stored.keys() | self._added.keys())

    def _page(self, task: TaskKey) -> _Page:
        page = self._pages.get(task)
        if page is None:
            stored, added = self._stored.get(task) or _Page(), self._added.get(task, ())
            page = stored.with_instances(added) if added else stored
            self._pages[task] = page
        return page

    def guide(self, task: TaskKey) -> GuideEntry:
        """Return the guidebook's entry; an untested one for an unknown task."""
        page = self._page(task)
        total = page.total
        causes: Counter[str] = Counter()
        for (_, cause), count in page.causes.items():
            causes[cause] += count
        return GuideEntry(
            attempts=total.attempts,
            successes=total.successes,
            progress=total.progress,
            steps=total.mean_steps,
            mean_duration=total.mean_duration,
            shortest=total.shortest,
            team=self._recommended_team(page),
            smallest=min((team for team, counts in page.teams.items() if counts.successes), default=None),
            teams=tuple(
                TeamRecord(team, counts.attempts, counts.successes, counts.progress or 0.0)
                for team, counts in sorted(page.teams.items())
            ),
            earliest_start=total.earliest,
            latest_start=total.latest,
            causes=_most(causes),
            verdict=verdict(total.progress),
        )

    def _recommended_team(self, page: _Page) -> int | None:
        """Return the best-performing team size, else the smallest that succeeded, else None.

        A size performs if its share has a better verdict than "needs a new strategy".
        """
        succeeded = [(team, statistics) for team, statistics in sorted(page.teams.items()) if statistics.successes]
        if not succeeded:
            return None
        best, statistics = min(succeeded, key=lambda pair: (self._merit(pair[1]), pair[0]))
        return best if (statistics.progress or 0.0) > VERDICTS[-1][0] else succeeded[0][0]

    def library(self, task: TaskKey) -> Library:
        """Return the plan library's page, best first; an empty one for an unknown task."""
        page = self._page(task)
        kind = {key.lifted: key.prototype for key in page.plans}
        causes: dict[str, Counter[str]] = defaultdict(Counter)
        by_kind: dict[str, Counter[str]] = defaultdict(Counter)
        for (lifted, cause), count in page.causes.items():
            causes[lifted][cause] += count
            by_kind[kind.get(lifted, "")][cause] += count
        plans = self._records(page.by(lambda key: key.lifted), causes)
        prototypes = self._records(page.by(lambda key: key.prototype), by_kind)
        return Library(_sum(page.plans.values()).attempts, prototypes, plans)

    def _records(self, by_text: dict[str, PlanStatistics], causes: dict[str, Counter[str]]) -> tuple[PlanRecord, ...]:
        order = sorted(by_text.items(), key=lambda item: (self._merit(item[1]), item[0]))
        return tuple(
            PlanRecord(
                text,
                counts.attempts,
                counts.successes,
                counts.share_sum / PARTS / counts.attempts,
                counts.steps_sum / counts.attempts,
                counts.mean_duration,
                counts.team_sum / counts.attempts,
                _most(causes[text]) if text in causes else (),
            )
            for text, counts in order
        )

    def best(self) -> TaskKey | None:
        """Return the task that went best so far; None where nothing succeeded."""
        done = [(total, task) for task in self._tasks() if (total := self._page(task).total).successes]
        return min(done, key=lambda pair: (self._merit(pair[0]), pair[1]))[1] if done else None

    def _merit(self, counts: PlanStatistics) -> tuple[float, ...]:
        """Return the sort key of a ranking, ascending: the best has the least.

        What never did anything comes last: by how little it was tried.
        """
        if not counts.share_sum:
            return (1.0, counts.attempts)
        share, steps = counts.share_sum / PARTS, counts.steps_sum / counts.attempts
        if self._ranking == "expected":
            return (0.0, steps / smoothed(share, counts.attempts), -counts.attempts)
        if self._ranking == "wilson":
            return (0.0, -wilson(share, counts.attempts), -counts.attempts, steps)
        return (0.0, -counts.successes / counts.attempts, -share / counts.attempts, -counts.attempts, steps)


def _most(causes: Counter[str]) -> tuple[tuple[str, int], ...]:
    """Return the most frequent causes, equals by name."""
    return tuple(sorted(causes.items(), key=lambda item: (-item[1], item[0]))[:CAUSES])
