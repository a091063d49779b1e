"""The scores of a reproduction of wildfire: from logs, with intervals and paired differences, and what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from statistics import stdev
from typing import Final, NamedTuple, TypeAlias

from teamworld.errors import UserError
from teamworld.metrics.summary import Summary
from teamworld.papers.claims import Check, paired_difference
from teamworld.papers.page import data
from teamworld.record import Event, StepDone
from teamworld.report.competence import COMPETENCIES, PROVISIONAL, Competency, Seed, shown_by, values
from teamworld.report.statistics import Interval, Paired, Ratio, fitting_interval
from teamworld.worlds.wildfire.physics import BUILDING_COST, CIVILIAN_COST

IDLE: Final = "do_nothing"
SCRIPTED: Final = "greedy"
#: What can be said of a claim. ``not decided``: the interval holds both; ``same``: a method should have more, and all
#: seeds are equal; ``one seed``: there is no interval.
VERDICTS: Final = ("holds", "does not hold", "not decided", "same", "one seed")


class Reported(NamedTuple):
    """A published score."""

    mean: float
    sd: float | None = None
    """Standard deviation; None where only the mean is given."""

    @property
    def text(self) -> str:
        """The score as it is printed: mean ± standard deviation."""
        return f"{self.mean:.10g}" if self.sd is None else f"{self.mean:.10g} ± {self.sd:.10g}"


#: By level and method.
PublishedScores: TypeAlias = Mapping[str, Mapping[str, Reported]]


@cache
def published(table: str) -> PublishedScores:
    """Return a published table of scores: ``final``, or ``earlier`` of the levels where it differs."""
    content = data("wildfire", "published")
    order = (*content["methods"], content["idle"])
    return {
        level: {
            method: Reported(*score) if isinstance(score, list) else Reported(score)
            for method, score in zip(order, row, strict=False)  # the earlier table lacks doing nothing
        }
        for level, row in content[table]["scores"].items()
    }


def compared_methods() -> list[str]:
    """Return the methods that the paper compares."""
    return list(data("wildfire", "published")["methods"])


class EpisodeScore(NamedTuple):
    """The result of one episode."""

    method: str
    seed: int
    reference: float
    """Final score; trees that agents cut count as lost where a fire is fought."""
    burnt: float
    """Final score of which only what burnt counts."""
    destroyed: float | None
    """Points of trees, buildings and civilians that the fire destroyed, own agents not counted; None where none is
    fought."""
    steps: int
    messages: int
    questions: int


#: By level, the episodes that were run there.
ScoresByLevel: TypeAlias = Mapping[str, Sequence[EpisodeScore]]


def episode_score(method: str, seed: int, summary: Summary, log: Iterable[Event]) -> EpisodeScore:
    """Return the result of an episode: the scores are those that its last step leaves.

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
    return EpisodeScore(
        method,
        seed,
        score["score_reference"],
        score["score_burnt"],
        destroyed,
        summary.steps,
        summary.messages,
        summary.questions,
    )


def of(scores: Iterable[EpisodeScore], method: str) -> list[EpisodeScore]:
    """Return the episodes of a method, in the order of their seeds."""
    return sorted((score for score in scores if score.method == method), key=lambda score: score.seed)


def methods(scores: Iterable[EpisodeScore]) -> list[str]:
    """Return the methods, in the order in which they come."""
    return list(dict.fromkeys(score.method for score in scores))


# ---- means and differences


class Spread(NamedTuple):
    """A mean over seeds."""

    interval: Interval
    sd: float | None
    """Sample standard deviation (n - 1); None of a single seed."""


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
    interval = fitting_interval({"": [(number / unit, 1.0) for number in numbers]}, shares=bool(best))
    if interval is None:
        raise ValueError("no seed has no mean")
    low = max(0.0, interval.low) if best else interval.low
    scaled = Interval(interval.mean * unit, low * unit, min(best, interval.high * unit), interval.n)
    return Spread(scaled, stdev(numbers) if len(numbers) > 1 else None)


def difference(
    scores: Sequence[EpisodeScore],
    method: str,
    other: str,
    value: Callable[[EpisodeScore], float],
    factor: float = 1.0,
) -> Paired | None:
    """Return the mean of the differences of two methods on the seeds that both have, with its interval.

    Args:
        scores: Episodes of one level.
        method: A method.
        other: The method whose value is subtracted.
        value: What is compared.
        factor: What the other's values are multiplied by before.
    """
    return paired_difference(
        {score.seed: value(score) for score in of(scores, method)},
        {score.seed: factor * value(score) for score in of(scores, other)},
    )


def points(value: float, sign: str = "") -> str:
    """Return a score in four digits, or whole where it is longer; ``sign`` is that of format specifications."""
    return f"{value:{sign}.0f}" if abs(value) >= 1000 else f"{value:{sign}.4g}"


def points_of(result: Paired) -> str:
    """Return a paired difference with its interval, in points."""
    bounds = f" [{points(result.low, '+')}, {points(result.high, '+')}]" if result.n > 1 else ""
    return f"{points(result.difference, '+')}{bounds}"


# ---- shares of the best


def share(scores: Sequence[EpisodeScore], method: str, best: float) -> Interval | None:
    """Return how much of the best a method reaches, by ``score_reference``; 0 is doing nothing where a fire is fought.

    Where there is something to be gained, score over best score. Where a fire is fought, the share of the damage of
    doing nothing that does not happen, of all seeds together: sum of (s - b) over sum of (0 - b); below 0 is worse
    than doing nothing.

    Args:
        scores: Episodes of one level.
        method: The method.
        best: Best score of the level; 0 where a fire is fought.

    Returns:
        None without episodes, or if nothing could be lost.
    """
    own = of(scores, method)
    if best:
        return fitting_interval({"": [(score.reference / best, 1.0) for score in own]}, shares=True)
    idle = {score.seed: score.reference for score in of(scores, IDLE)}
    units = [(score.reference - idle[score.seed], 0.0 - idle[score.seed]) for score in own if score.seed in idle]
    return fitting_interval({"": units}, shares=False)


def published_share(level: str, method: str, best: float) -> float | None:
    """Return the same of the published means; None where nothing is published."""
    row = published("final").get(level, {})
    if method not in row:
        return None
    if best:
        return row[method].mean / best
    return (row[method].mean - row[IDLE].mean) / (0.0 - row[IDLE].mean)


# ---- competencies


def competencies(seeds: Sequence[Seed]) -> dict[Competency, Interval | None]:
    """Return the competency scores of a method with intervals over seeds, within levels; None of what is not shown."""
    by_level = _worths(seeds)
    return {
        name: _bounded(
            {level: [(n, 1.0) for n in worths] for level, worths in by_level.items() if name in shown_by(level)}
        )
        for name in COMPETENCIES
    }


def mean_competency(seeds: Sequence[Seed]) -> Interval | None:
    """Return the mean of the competencies that the levels show, the provisional one left out, with its interval.

    Each seed weighs by the competencies that it counts in, over how many seeds each of these has.
    """
    by_level = _worths(seeds)
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


def _worths(seeds: Sequence[Seed]) -> dict[str, list[float]]:
    """Return by level the value of each seed that has doing nothing beside it."""
    by_level = {}
    for level in dict.fromkeys(seed.level for seed in seeds):
        shown = values(seed for seed in seeds if seed.level == level)
        if names := shown_by(level):
            by_level[level] = [worth.n for worth in shown[names[0]]]
    return by_level


def _bounded(strata: Mapping[str, Sequence[Ratio]]) -> Interval | None:
    interval = fitting_interval(strata, shares=all(unit[1] == 1.0 for units in strata.values() for unit in units))
    return None if interval is None else interval._replace(low=max(0.0, interval.low), high=min(1.0, interval.high))


# ---- claims


def claim(number: str) -> str:
    """Return a claim in words."""
    return str(data("wildfire", "claims")["claims"][number]["claim"])


def checks(scores: ScoresByLevel, best: Mapping[str, float]) -> list[Check]:
    """Judge every claim on every level that it is about.

    Args:
        scores: Episodes by level.
        best: Best score by level; 0 where a fire is fought.
    """
    return list(_judge(scores, best))


def _judge(scores: ScoresByLevel, best: Mapping[str, float]) -> Iterator[Check]:
    claims = data("wildfire", "claims")
    fires = [level for level in scores if not best[level]]
    for level in (level for level in scores if best[level]):
        yield _count("1", level, [score.reference == 0 for score in of(scores[level], IDLE)])
    for level in (level for level in claims["reachable"] if level in scores):
        yield _count("2", level, [score.reference >= best[level] for score in of(scores[level], SCRIPTED)])
    for level in (level for level in claims["small"] if level in scores):
        for method in _compared(scores[level]):
            numbers = difference(scores[level], method, SCRIPTED, _reference, claims["half"])
            yield Check("3", claim("3"), *_verdict(numbers, strict=False), level, method)
    for number, value in (("4a", _spared), ("4b", _reference)):
        for level in fires:
            numbers = difference(scores[level], SCRIPTED, IDLE, value)
            yield Check(number, claim(number), *_verdict(numbers, strict=True), level)
    for level in fires:
        for method in _compared(scores[level]):
            numbers = difference(scores[level], method, IDLE, lambda score: score.burnt)
            yield Check("5", claim("5"), *_verdict(numbers, strict=True), level, method)


def _compared(scores: Sequence[EpisodeScore]) -> list[str]:
    return [method for method in compared_methods() if method in methods(scores)]


def _reference(score: EpisodeScore) -> float:
    return score.reference


def _spared(score: EpisodeScore) -> float:
    return 0.0 - (score.destroyed or 0.0)


def _count(number: str, level: str, holds: Sequence[bool]) -> Check:
    verdict = "holds" if all(holds) else "does not hold"
    return Check(number, claim(number), f"{sum(holds)} of {len(holds)} seeds", verdict, level)


def _verdict(result: Paired | None, *, strict: bool) -> tuple[str, str]:
    """Return the numbers and the verdict on whether a difference is 0 or more, or more than 0 if ``strict``."""
    if result is None:
        return "not run", "not decided"
    text = f"{points_of(result)}, n {result.n}"
    if result.n < 2:
        return text, "one seed"
    if strict and result.low == result.high == 0:
        return text, "same"
    above = result.low > 0 if strict else result.low >= 0
    below = result.high <= 0 if strict else result.high < 0
    return text, "holds" if above else "does not hold" if below else "not decided"
