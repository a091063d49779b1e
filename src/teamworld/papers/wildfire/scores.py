"""The scores of a reproduction of wildfire: from logs, with intervals and paired differences, and what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import Final, NamedTuple

from teamworld.errors import UserError
from teamworld.metrics.summary import Summary
from teamworld.papers.reproduction import Check, interval_verdict, load_yaml, paired_difference
from teamworld.record import Event, StepDone
from teamworld.report.competence import IDLE
from teamworld.report.statistics import Interval, Paired, mean_interval, ratio_interval
from teamworld.worlds.wildfire.physics import BUILDING_COST, CIVILIAN_COST, FIREFIGHTER_COST

SCRIPTED: Final = "greedy"
#: The methods that the paper compares.
COMPARED: Final = ("camon", "coela", "embodied", "hmas2")
#: What can be said of a claim. ``not decided``: the interval holds both; ``same``: a method should have more, and all
#: seeds are equal; ``one seed``: there is no interval.
VERDICTS: Final = ("holds", "does not hold", "not decided", "same", "one seed")


# ---- published values


class Reported(NamedTuple):
    """A published score."""

    mean: float
    sd: float | None = None
    """Standard deviation; None where only the mean is given."""

    @property
    def text(self) -> str:
        """The score as it is printed: mean ± standard deviation."""
        return f"{self.mean:.10g}" if self.sd is None else f"{self.mean:.10g} ± {self.sd:.10g}"


def published(table: str, level: str) -> dict[str, Reported]:
    """Return the published scores of a level by method: ``final``, or ``earlier`` where they differ; else none."""
    rows = load_yaml("wildfire", "published")[table]["scores"].get(level, {})
    return {method: Reported(*score) for method, score in rows.items()}


# ---- episodes


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
    cut: float | None = None
    """Trees that the team cut; None where no fire is fought."""
    lost: float | None = None
    """Agents of the team that died; None where no fire is fought."""


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
        lost = BUILDING_COST * score["buildings_lost"] + CIVILIAN_COST * score["civilians_lost"]
        destroyed = score["trees_burnt"] + lost
    return EpisodeScore(
        method,
        seed,
        score["score_reference"],
        score["score_burnt"],
        destroyed,
        *(summary.steps, summary.messages, summary.questions),
        cut=score.get("trees_cut"),
        lost=score.get("agents_lost"),
    )


class Spread(NamedTuple):
    """A mean over seeds."""

    interval: Interval
    sd: float | None
    """Sample standard deviation (n - 1); None of a single seed."""


class LevelScores(NamedTuple):
    """The episodes of one level."""

    level: str
    best: float
    """Best possible score; 0 where a fire is fought."""
    episodes: Sequence[EpisodeScore]

    @property
    def methods(self) -> list[str]:
        """The methods, in the order in which they come."""
        return list(dict.fromkeys(score.method for score in self.episodes))

    def of(self, method: str) -> list[EpisodeScore]:
        """Return the episodes of a method, in the order of their seeds."""
        return sorted((score for score in self.episodes if score.method == method), key=lambda score: score.seed)

    def spread(self, method: str, name: str) -> Spread:
        """Return the mean of a value over seeds, its 95 % interval and standard deviation.

        The interval of a score ends at the best one.

        Raises:
            ValueError: The method has no episode.
        """
        numbers = [getattr(score, name) for score in self.of(method)]
        unit = self.best or 1.0
        interval = mean_interval([number / unit for number in numbers])
        if interval is None:
            raise ValueError("no seed has no mean")
        is_count = name in ("destroyed", "cut", "lost")  # from 0 up, where a score is from the best down
        low = max(0.0, interval.low) if self.best or is_count else interval.low
        high = interval.high * unit if is_count else min(self.best, interval.high * unit)
        scaled = Interval(interval.mean * unit, low * unit, high, interval.n)
        return Spread(scaled, stdev(numbers) if len(numbers) > 1 else None)

    def mean(self, method: str, name: str) -> float:
        """Return the mean of a value over seeds."""
        return fmean(getattr(score, name) for score in self.of(method))

    def difference(
        self, method: str, other: str, value: Callable[[EpisodeScore], float], factor: float = 1.0
    ) -> Paired | None:
        """Return the mean of the differences of two methods on the seeds that both have, with its interval.

        Args:
            method: A method.
            other: The method whose value is subtracted.
            value: What is compared.
            factor: What the other's values are multiplied by before.
        """
        return paired_difference(
            {score.seed: value(score) for score in self.of(method)},
            {score.seed: factor * value(score) for score in self.of(other)},
        )

    def share(self, method: str) -> Interval | None:
        """Return how much of the best a method reaches, by ``score_reference``; 0 is doing nothing.

        Where there is something to be gained, score over best score. Where a fire is fought, the share of the damage
        of doing nothing that does not happen, of all seeds together: sum of (s - b) over sum of (0 - b); below 0 is
        worse than doing nothing. None without episodes, or if nothing could be lost.
        """
        own = self.of(method)
        if self.best:
            return mean_interval([score.reference / self.best for score in own])
        idle = {score.seed: score.reference for score in self.of(IDLE)}
        units = [(score.reference - idle[score.seed], 0.0 - idle[score.seed]) for score in own if score.seed in idle]
        return ratio_interval({"": units})

    def published_share(self, method: str) -> float | None:
        """Return the same of the published means; None where nothing is published."""
        row = published("final", self.level)
        if method not in row:
            return None
        idle = 0.0 if self.best else row[IDLE].mean
        return (row[method].mean - idle) / (self.best - idle)


# ---- what can be compared


class IdleTeam(NamedTuple):
    """A team that does nothing, ours beside the published one, with the damage by fire apart from its own losses."""

    level: str
    damage: Spread
    """Ours, by fire: points of trees, buildings and civilians."""
    lost: Spread
    """Agents that ours lost."""
    published: Reported | None
    """The published score; None where there is none."""
    published_lost: int | None
    """Agents that the published team lost, as far as its table shows."""

    @property
    def published_damage(self) -> float | None:
        """The published damage by fire: the score without the agents; None where these are not known."""
        if self.published is None or self.published_lost is None:
            return None
        return 0.0 - self.published.mean - FIREFIGHTER_COST * self.published_lost


def idle_team(scores: LevelScores) -> IdleTeam:
    """Return the teams that do nothing on a fire level."""
    return IdleTeam(
        scores.level,
        scores.spread(IDLE, "destroyed"),
        scores.spread(IDLE, "lost"),
        published("final", scores.level).get(IDLE),
        load_yaml("wildfire", "published")["idle_agents_lost"]["teams"].get(scores.level),
    )


def comparable(scores: LevelScores, method: str) -> str:
    """Return what of a row can be compared with the published one, and what cannot."""
    paper = load_yaml("wildfire", "published")
    if method not in published("final", scores.level):
        return "nothing published"
    if method != IDLE:
        return f"no: rules against {paper['reasoner']}, on other maps"
    if scores.best:
        return "yes: 0 by the rules of the score"
    lost = paper["idle_agents_lost"]["teams"].get(scores.level)
    if lost is None:
        return "the score; how many agents the published one holds is not known"
    return f"damage by fire; the published score holds {lost} agents lost, {FIREFIGHTER_COST * lost} points"


# ---- texts


def points_text(value: float, sign: str = "") -> str:
    """Return a score in four digits, or whole where it is longer; ``sign`` is that of format specifications."""
    return f"{value:{sign}.0f}" if abs(value) >= 1000 else f"{value:{sign}.4g}"


def difference_text(result: Paired | None) -> str:
    """Return a paired difference with its interval, in points."""
    if result is None:
        return "–"
    bounds = f" [{points_text(result.low, '+')}, {points_text(result.high, '+')}]" if result.n > 1 else ""
    return f"{points_text(result.difference, '+')}{bounds}"


# ---- claims


def reference(score: EpisodeScore) -> float:
    """Return the final score."""
    return score.reference


def judge(levels: Sequence[LevelScores]) -> Iterator[Check]:
    """Judge every claim on every level that it is about."""
    claims = load_yaml("wildfire", "claims")
    texts = {number: claim["claim"] for number, claim in claims["claims"].items()}
    by_name = {scores.level: scores for scores in levels}
    fires = [scores for scores in levels if not scores.best]

    def check(number: str, scores: LevelScores, verdict: tuple[str, str], method: str | None = None) -> Check:
        return Check(number, texts[number], *verdict, scores.level, method)

    for scores in levels:
        if scores.best:
            yield check("1", scores, _count([score.reference == 0 for score in scores.of(IDLE)]))
    for scores in (by_name[level] for level in claims["reachable"] if level in by_name):
        yield check("2", scores, _count([score.reference >= scores.best for score in scores.of(SCRIPTED)]))
    for scores in (by_name[level] for level in claims["small"] if level in by_name):
        for method in (method for method in COMPARED if method in scores.methods):
            less = scores.difference(method, SCRIPTED, reference, claims["half"])
            yield check("3", scores, _verdict(less, strict=False), method)
    for scores in fires:
        spared = scores.difference(SCRIPTED, IDLE, lambda score: 0.0 - (score.destroyed or 0.0))
        yield check("4a", scores, _verdict(spared))
    for scores in fires:
        yield check("4b", scores, _verdict(scores.difference(SCRIPTED, IDLE, reference)))
    for scores in fires:
        for method in (method for method in COMPARED if method in scores.methods):
            yield check("5", scores, _verdict(scores.difference(method, IDLE, lambda score: score.burnt)), method)


def _count(holds: Sequence[bool]) -> tuple[str, str]:
    """Return the numbers and the verdict on whether something holds in all seeds."""
    return f"{sum(holds)} of {len(holds)} seeds", "holds" if all(holds) else "does not hold"


def _verdict(result: Paired | None, *, strict: bool = True) -> tuple[str, str]:
    """Return the numbers and the verdict on whether a difference is 0 or more, or more than 0 if ``strict``."""
    if result is None:
        return "not run", "not decided"
    text = f"{difference_text(result)}, n {result.n}"
    if result.n < 2:
        return text, "one seed"
    if strict and result.low == result.high == 0:
        return text, "same"
    return text, interval_verdict(result.low, result.high, strict=strict)
