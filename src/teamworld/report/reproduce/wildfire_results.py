"""What the runs of a reproduction of wildfire came to: scores from logs, with intervals and paired differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import stdev
from typing import Final, NamedTuple, TypeAlias

from teamworld.errors import UserError
from teamworld.metrics.summary import Summary
from teamworld.record import Event, StepDone
from teamworld.report.competence import COMPETENCIES, PROVISIONAL, Competency, Seed, shown_by, values
from teamworld.report.reproduce.wildfire_published import FINAL, IDLE
from teamworld.report.statistics import Interval, Paired, Ratio, fitting_interval, paired
from teamworld.worlds.wildfire.physics import BUILDING_COST, CIVILIAN_COST

SCRIPTED: Final = "greedy"


class Outcome(NamedTuple):
    """What one episode came to."""

    method: str
    seed: int
    reference: float
    """Final score; trees that agents cut count as lost where a fire is fought (B22)."""
    burnt: float
    """Final score of which only what burnt counts."""
    destroyed: float | None
    """Points of trees, buildings and civilians that the fire destroyed, own agents not counted; None where none is
    fought."""
    steps: int
    messages: int
    questions: int


#: By level, what was run there.
Outcomes: TypeAlias = Mapping[str, Sequence[Outcome]]


def outcome(method: str, seed: int, summary: Summary, log: Iterable[Event]) -> Outcome:
    """Return what an episode came to: the scores are those that its last step leaves (wildfire spec A13).

    Raises:
        UserError: The log is that of an episode without a step, or of another world.
    """
    score: Mapping[str, float] = {}
    for event in log:
        if isinstance(event, StepDone):
            score = event.score
    if "score_reference" not in score:
        raise UserError(f"the log of {method}, seed {seed}, has no score: it is no finished episode of wildfire")
    destroyed = None
    if "trees_burnt" in score:
        points = BUILDING_COST * score["buildings_lost"] + CIVILIAN_COST * score["civilians_lost"]
        destroyed = score["trees_burnt"] + points
    return Outcome(
        method,
        seed,
        score["score_reference"],
        score["score_burnt"],
        destroyed,
        summary.steps,
        summary.messages,
        summary.questions,
    )


def of(found: Iterable[Outcome], method: str) -> list[Outcome]:
    """Return the episodes of a method, in the order of their seeds."""
    return sorted((one for one in found if one.method == method), key=lambda one: one.seed)


def methods(found: Iterable[Outcome]) -> list[str]:
    """Return the methods, in the order in which they come."""
    return list(dict.fromkeys(one.method for one in found))


class Spread(NamedTuple):
    """A mean over seeds."""

    interval: Interval
    sd: float | None
    """Sample standard deviation (n - 1), B38; None of a single seed."""


def spread(numbers: Sequence[float], best: float) -> Spread:
    """Return the mean of some seeds, its 95 % interval and their standard deviation.

    Args:
        numbers: The scores.
        best: Best possible score, at which the interval ends. Where it is not 0, the interval is that of shares of it,
            so that ten times the maximum is not sure of the eleventh.

    Raises:
        ValueError: There are no scores.
    """
    unit = best or 1.0
    found = fitting_interval({"": _over_one([number / unit for number in numbers])}, shares=bool(best))
    if found is None:
        raise ValueError("no seed has no mean")
    low = max(0.0, found.low) if best else found.low
    interval = Interval(found.mean * unit, low * unit, min(best, found.high * unit), found.n)
    return Spread(interval, stdev(numbers) if len(numbers) > 1 else None)


def difference(
    found: Sequence[Outcome], one: str, other: str, value: Callable[[Outcome], float], times: float = 1.0
) -> Paired | None:
    """Return the mean of the differences of two methods on the seeds that both have, with its interval.

    Args:
        found: Episodes of one level.
        one: A method.
        other: What is taken from it.
        value: What is compared.
        times: What the other's values are multiplied by before.
    """
    beside = {each.seed: each for each in of(found, other)}
    pairs = [(each, beside[each.seed]) for each in of(found, one) if each.seed in beside]
    return paired(_over_one([value(a) for a, _ in pairs]), _over_one([times * value(b) for _, b in pairs]))


def _over_one(numbers: Sequence[float]) -> list[Ratio]:
    return [(number, 1.0) for number in numbers]


def points(value: float, sign: str = "") -> str:
    """Return a score in four digits, or whole where it is longer; ``sign`` is that of format specifications."""
    return f"{value:{sign}.0f}" if abs(value) >= 1000 else f"{value:{sign}.4g}"


# ---- shares of the best


def share(found: Sequence[Outcome], method: str, best: float) -> Interval | None:
    """Return how much of the best a method reaches, by ``score_reference``; 0 is doing nothing where a fire is fought.

    Where there is something to be gained, score over best score. Where a fire is fought, the share of the damage of
    doing nothing that does not happen, of all seeds together: sum of (s - b) over sum of (0 - b); below 0 is worse
    than doing nothing.

    Args:
        found: Episodes of one level.
        method: The method.
        best: Best score of the level; 0 where a fire is fought.

    Returns:
        None without episodes, or if nothing could be lost.
    """
    own = of(found, method)
    if best:
        return fitting_interval({"": [(one.reference / best, 1.0) for one in own]}, shares=True)
    idle = {one.seed: one.reference for one in of(found, IDLE)}
    units = [(one.reference - idle[one.seed], 0.0 - idle[one.seed]) for one in own if one.seed in idle]
    return fitting_interval({"": units}, shares=False)


def published_share(level: str, method: str, best: float) -> float | None:
    """Return the same of the published means; None where nothing is published."""
    row = FINAL.get(level, {})
    if method not in row:
        return None
    if best:
        return row[method].mean / best
    return (row[method].mean - row[IDLE].mean) / (0.0 - row[IDLE].mean)


# ---- competencies


def competencies(some: Sequence[Seed]) -> dict[Competency, Interval | None]:
    """Return the competency scores of a method with intervals over seeds, within levels; None of what is not shown."""
    by_level = _worths(some)
    return {
        name: _bounded(
            {level: [(n, 1.0) for n in worths] for level, worths in by_level.items() if name in shown_by(level)}
        )
        for name in COMPETENCIES
    }


def mean_competency(some: Sequence[Seed]) -> Interval | None:
    """Return the mean of the competencies that the levels show, the provisional one left out, with its interval.

    Each seed weighs by the competencies that it counts in, over how many seeds each of these has.
    """
    by_level = _worths(some)
    counts = {
        name: sum(len(worths) for level, worths in by_level.items() if name in shown_by(level))
        for name in COMPETENCIES
        if name not in PROVISIONAL
    }
    shown = [name for name, count in counts.items() if count]
    strata = {}
    for level, worths in by_level.items():
        weight = sum(1.0 / counts[name] for name in shown if name in shown_by(level)) / max(1, len(shown))
        strata[level] = [(n * weight, weight) for n in worths]
    return _bounded(strata)


def _worths(some: Sequence[Seed]) -> dict[str, list[float]]:
    """Return by level what each seed that has doing nothing beside it is worth."""
    found = {}
    for level in dict.fromkeys(seed.level for seed in some):
        shown = values(seed for seed in some if seed.level == level)
        if names := shown_by(level):
            found[level] = [one.n for one in shown[names[0]]]
    return found


def _bounded(strata: Mapping[str, Sequence[Ratio]]) -> Interval | None:
    found = fitting_interval(strata, shares=all(unit[1] == 1.0 for units in strata.values() for unit in units))
    return None if found is None else found._replace(low=max(0.0, found.low), high=min(1.0, found.high))
