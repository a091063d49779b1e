"""What is known so far, ready to be asked: guidebook and plan library (DR. WELL spec A8, A9, B10).

The same instances give the same answers in whatever order they came.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import sqrt
from typing import Literal, NamedTuple, TypeAlias

from teamworld.memory.contract import (
    GuideEntry,
    Instance,
    Library,
    PlanRecord,
    Ranking,
    StartRecord,
    TaskKey,
    TeamRecord,
)
from teamworld.memory.notes import collected
from teamworld.memory.tally import BUCKET, PARTS, Tally, smoothed

Verdict: TypeAlias = Literal["untested", "highly effective", "moderate", "challenging", "needs a new strategy"]

#: Least success rate, exclusive, of each verdict (DR. WELL spec A8).
VERDICTS: tuple[tuple[float, Verdict], ...] = (
    (0.7, "highly effective"),
    (0.4, "moderate"),
    (0.1, "challenging"),
)
_NONE = StartRecord(0, 0)
_Z = 1.959963984540054  # two-sided 95 % quantile of the normal distribution


class Key(NamedTuple):
    """What instances have in common that are counted together."""

    task: TaskKey
    team: int
    lifted: str
    prototype: str


class Row(NamedTuple):
    """One line of the statistics; all that is asked is computed from these and the start rows."""

    key: Key
    tally: Tally


class StartRow(NamedTuple):
    """How a task went when begun in a bucket of ticks."""

    task: TaskKey
    bucket: int
    """Start tick // ``BUCKET``."""
    attempts: int
    successes: int


def verdict(rate: float | None) -> Verdict:
    """Return the guidebook's word for a success rate (DR. WELL spec A8)."""
    if rate is None:
        return "untested"
    return next((word for least, word in VERDICTS if rate > least), "needs a new strategy")


def wilson(successes: int, attempts: int) -> float:
    """Return the lower bound of the 95 % Wilson score interval of a rate (Wilson 1927).

    Args:
        successes: From 0 to ``attempts``.
        attempts: At least 1.
    """
    rate, z2 = successes / attempts, _Z * _Z
    middle = rate + z2 / (2 * attempts)
    spread = _Z * sqrt((rate * (1 - rate) + z2 / (4 * attempts)) / attempts)
    return (middle - spread) / (1 + z2 / attempts)


def _merit(tally: Tally, ranking: Ranking) -> tuple[float, ...]:
    """Return what is sorted by, ascending: the best has the least (DR. WELL spec B10).

    What never succeeded comes last: by progress, then by how little it was tried.
    """
    if not tally.successes:
        return (1.0, -tally.share_sum / tally.attempts, tally.attempts)
    duration = tally.duration_sum / tally.successes
    if ranking == "expected":
        return (0.0, duration / smoothed(tally.successes, tally.attempts), -tally.attempts)
    if ranking == "wilson":
        return (0.0, -wilson(tally.successes, tally.attempts), -tally.attempts, duration)
    return (0.0, -tally.successes / tally.attempts, -tally.attempts, duration)


def joined(*parts: Experience) -> Experience:
    """Return what several experiences know together; adding to it leaves them as they are."""
    return Experience.from_rows(
        (row for part in parts for row in part.rows()),
        (start for part in parts for start in part.starts()),
        notes=(note for part in parts for note in part.notes),
    )


class _Page:
    """All that is known about one task."""

    __slots__ = ("plans", "prototypes", "starts", "teams", "total")

    def __init__(self) -> None:
        self.total = Tally()
        self.teams: dict[int, Tally] = defaultdict(Tally)
        self.plans: dict[str, Tally] = defaultdict(Tally)
        self.prototypes: dict[str, Tally] = defaultdict(Tally)
        self.starts: dict[int, StartRecord] = {}

    def begun(self, bucket: int, attempts: int, successes: int) -> None:
        """Count attempts by when they were begun."""
        before = self.starts.get(bucket, _NONE)
        self.starts[bucket] = StartRecord(before.attempts + attempts, before.successes + successes)

    def about(self, tick: int) -> StartRecord:
        """How it went when begun in the tick's bucket."""
        return self.starts.get(tick // BUCKET, _NONE)


class Experience:
    """The world model as a method asks it; implements ``teamworld.memory.contract.Memory``.

    Adding an instance takes constant time; an answer costs what it shows.

    Args:
        ranking: How plans, prototypes, team sizes and tasks are ranked when samples are few.
            ``expected``: ticks to be expected until a success, the mean duration of the successes over
            the smoothed rate (s + 1) / (n + 2). ``wilson``: lower bound of the 95 % Wilson
            interval, then attempts, then duration. ``rate``: success rate, then attempts, then
            duration (as in the paper). What never succeeded comes last, by mean progress.
    """

    def __init__(self, ranking: Ranking = "expected") -> None:
        self._ranking: Ranking = ranking
        self._rows: dict[Key, Tally] = {}
        self._pages: dict[TaskKey, _Page] = {}
        self._texts: list[str] = []

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Row],
        starts: Iterable[StartRow],
        ranking: Ranking = "expected",
        notes: Iterable[str] = (),
    ) -> Experience:
        """Return the experience that the rows sum up: those of others, or the store's; one key may come twice."""
        experience = cls(ranking)
        experience._texts += collected(notes)
        for key, tally in rows:
            for part in experience._parts(key):
                part.merge(tally)
        for task, bucket, attempts, successes in starts:
            experience._page(task).begun(bucket, attempts, successes)
        return experience

    def ranked(self, by: Ranking) -> Experience:
        """Return the same memory under another ranking: what is added to one, both know."""
        other = Experience(by)
        other._rows, other._pages, other._texts = self._rows, self._pages, self._texts
        return other

    def rows(self) -> Iterator[Row]:
        """Yield the statistics, ordered by their keys."""
        return (Row(key, self._rows[key]) for key in sorted(self._rows))

    def starts(self) -> Iterator[StartRow]:
        """Yield when tasks were begun, ordered by task and time."""
        for task, page in sorted(self._pages.items()):
            for bucket, record in sorted(page.starts.items()):
                yield StartRow(task, bucket, *record)

    def add(self, instance: Instance) -> None:
        """Take in an instance while the episode runs (DR. WELL spec B3)."""
        for part in self._parts(Key(instance.task, instance.team, instance.lifted, instance.prototype)):
            part.count(instance)
        self._page(instance.task).begun(instance.start // BUCKET, 1, int(instance.success))

    @property
    def notes(self) -> tuple[str, ...]:
        """What agents told the team so far, oldest first, each once (DR. WELL spec B18)."""
        return tuple(self._texts)

    def remember(self, text: str) -> None:
        """Take in what an agent tells the team while the episode runs."""
        self._texts[:] = collected([*self._texts, text])

    def _page(self, task: TaskKey) -> _Page:
        """The task's page, made when it is first written to."""
        page = self._pages.get(task)
        if page is None:
            page = self._pages[task] = _Page()
        return page

    def _parts(self, key: Key) -> tuple[Tally, ...]:
        """All tallies that an instance with this key counts in."""
        page = self._page(key.task)
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = Tally()
        return row, page.total, page.teams[key.team], page.plans[key.lifted], page.prototypes[key.prototype]

    def guide(self, task: TaskKey, now: int = 0) -> GuideEntry:
        """Return the guidebook's entry (DR. WELL spec A8) at a tick; an untested one for an unknown task."""
        page = self._pages.get(task) or _Page()
        total = page.total
        teams = sorted(page.teams.items())
        return GuideEntry(
            task=task,
            attempts=total.attempts,
            successes=total.successes,
            mean_duration=total.mean_duration,
            shortest=total.shortest,
            smallest_team=next((team for team, tally in teams if tally.successes), None),
            team=self._recommended(teams),
            mean_start=total.start_sum / total.successes if total.successes else None,
            earliest_start=total.earliest,
            latest_start=total.latest,
            verdict=verdict(total.rate),
            teams=tuple(TeamRecord(team, t.attempts, t.successes, t.mean_duration) for team, t in teams),
            about_now=page.about(now),
        )

    def _recommended(self, teams: list[tuple[int, Tally]]) -> int | None:
        """Return the best-performing size, else the smallest that succeeded, else None (A8).

        A size performs if its rate has a better verdict than "needs a new strategy".
        """
        succeeded = [(team, tally) for team, tally in teams if tally.successes]
        if not succeeded:
            return None
        best, tally = min(succeeded, key=lambda pair: (_merit(pair[1], self._ranking), pair[0]))
        return best if (tally.rate or 0.0) > VERDICTS[-1][0] else succeeded[0][0]

    def library(self, task: TaskKey) -> Library:
        """Return the plan library's page (DR. WELL spec A9), best first; empty for an unknown task."""
        page = self._pages.get(task) or _Page()
        return Library(task, page.total.attempts, self._records(page.prototypes), self._records(page.plans))

    def _records(self, tallies: dict[str, Tally]) -> tuple[PlanRecord, ...]:
        order = sorted(tallies.items(), key=lambda item: (_merit(item[1], self._ranking), item[0]))
        return tuple(
            PlanRecord(
                text=text,
                attempts=tally.attempts,
                successes=tally.successes,
                mean_duration=tally.mean_duration,
                mean_team=tally.team_sum / tally.attempts,
                mean_progress=tally.share_sum / tally.attempts / PARTS,
            )
            for text, tally in order
        )

    def best(self) -> TaskKey | None:
        """Return the task that went best so far; None where nothing succeeded."""
        done = [(page.total, task) for task, page in self._pages.items() if page.total.successes]
        return min(done, key=lambda pair: (_merit(pair[0], self._ranking), pair[1]))[1] if done else None
