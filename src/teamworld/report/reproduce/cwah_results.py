"""What episodes of C-WAH came to, and what is said of them: means, intervals, paired differences, what a team saves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from teamworld.experiment.episode_metrics import Measured
from teamworld.metrics.definition import Value
from teamworld.report.reproduce.cwah_published import HORIZON
from teamworld.report.statistics import Interval, Paired, paired, stratified_interval


class Outcome(NamedTuple):
    """What one episode came to."""

    level: str
    seed: int
    steps: int
    """Until all was done; ``HORIZON`` of a failure, whenever it ended (household spec A11)."""
    done: bool
    messages: int
    message_tokens: float
    """Of messages sent: words, and signs that are none, so that all methods are counted alike (M2)."""
    written_tokens: float | None
    """Completion tokens of what writes messages, sent or not (M2b); None without a language model."""
    total_tokens: float | None
    """Of all calls, prompts included (K2); None without a language model."""
    questions: int
    fallbacks: int
    """Questions that no answer could be read of."""


#: Episodes of each row by its key.
Outcomes: TypeAlias = Mapping[str, Sequence[Outcome]]


def outcome(level: str, found: Measured) -> Outcome:
    """Return what an episode came to."""
    summary, values = found.row.summary, found.values
    done = bool(summary.success)
    return Outcome(
        level=level,
        seed=found.cell.seed,
        steps=summary.steps if done else HORIZON,
        done=done,
        messages=summary.messages,
        message_tokens=_number(values.get("M2")) or 0.0,
        written_tokens=_number(values.get("M2b")),
        total_tokens=_number(values.get("K2")),
        questions=summary.questions,
        fallbacks=summary.fallbacks,
    )


def _number(value: Value | None) -> float | None:
    return None if value is None else value.value


#: Which episodes belong together where seeds are resampled.
Strata: TypeAlias = Callable[[Outcome], str]


def by_episode(one: Outcome) -> str:
    """Put each episode apart: the official ones are what they are, and seeds vary within each."""
    return one.level


def together(one: Outcome) -> str:
    """Put all episodes together: generated ones are drawn, and another seed is another episode."""
    return ""


class Mean(NamedTuple):
    """What a row comes to."""

    steps: Interval
    failures: int
    runs: int
    messages: Interval
    message_tokens: Interval
    written_tokens: Interval | None
    total_tokens: Interval | None
    questions: int
    fallbacks: int


def mean(found: Sequence[Outcome], strata: Strata) -> Mean:
    """Return the means of a row: over the seeds of each episode, then over episodes, with 95 % intervals.

    Raises:
        ValueError: There is no episode.
    """

    def over(value: Callable[[Outcome], float | None]) -> Interval | None:
        by_stratum: dict[str, list[float]] = {}
        for one in found:
            if (number := value(one)) is not None:
                by_stratum.setdefault(strata(one), []).append(number)
        return stratified_interval(by_stratum)

    steps, messages, tokens = over(lambda one: one.steps), over(lambda one: one.messages), over(_message_tokens)
    if steps is None or messages is None or tokens is None:
        raise ValueError("no episode has no mean")
    return Mean(
        steps=steps,
        failures=sum(not one.done for one in found),
        runs=len(found),
        messages=messages,
        message_tokens=tokens,
        written_tokens=over(lambda one: one.written_tokens),
        total_tokens=over(lambda one: one.total_tokens),
        questions=sum(one.questions for one in found),
        fallbacks=sum(one.fallbacks for one in found),
    )


def _message_tokens(one: Outcome) -> float:
    return one.message_tokens


def by_level(found: Iterable[Outcome]) -> dict[str, float]:
    """Return the mean steps of each episode over its seeds."""
    steps: dict[str, list[int]] = {}
    for one in found:
        steps.setdefault(one.level, []).append(one.steps)
    return {level: sum(some) / len(some) for level, some in steps.items()}


def by_task(found: Sequence[Outcome], tasks: Mapping[str, str]) -> dict[str, float]:
    """Return the mean steps of each task: over seeds, then over the task's episodes.

    Args:
        found: Episodes of a row.
        tasks: The task of each level; levels that have none are passed over.
    """
    levels: dict[str, list[float]] = {}
    for level, steps in by_level(found).items():
        if level in tasks:
            levels.setdefault(tasks[level], []).append(steps)
    return {task: sum(some) / len(some) for task, some in levels.items()}


def saved(team: Sequence[Outcome], alone: Sequence[Outcome]) -> float | None:
    """Return the efficiency improvement 1 - L(team) / L(one agent) of each episode, averaged (household spec A11).

    Args:
        team: Episodes of a team; of generated ones each seed is an episode.
        alone: Those of one agent.

    Returns:
        None where no episode was played by both.
    """
    one, other = (_lengths(found) for found in (team, alone))
    shares = [1 - one[place] / other[place] for place in one if place in other]
    return sum(shares) / len(shares) if shares else None


def _lengths(found: Sequence[Outcome]) -> dict[tuple[str, int | None], float]:
    """Return the mean steps by episode: a level that names one, else the level with the seed."""
    steps: dict[tuple[str, int | None], list[int]] = {}
    for one in found:
        steps.setdefault((one.level, one.seed if one.level in ("dev", "test") else None), []).append(one.steps)
    return {place: sum(some) / len(some) for place, some in steps.items()}


def difference(
    one: Sequence[Outcome], other: Sequence[Outcome], strata: Strata, value: Callable[[Outcome], float]
) -> Paired | None:
    """Return the mean difference of two rows on the episodes and seeds that both have; None where there is none."""
    beside = {(each.level, each.seed): each for each in other}
    pairs = [(each, beside[each.level, each.seed]) for each in one if (each.level, each.seed) in beside]
    ones, others = [(value(a), 1.0) for a, _ in pairs], [(value(b), 1.0) for _, b in pairs]
    return paired(ones, others, [strata(a) for a, _ in pairs])


def steps(one: Outcome) -> float:
    """Return the steps of an episode."""
    return float(one.steps)


def messages(one: Outcome) -> float:
    """Return the messages of an episode."""
    return float(one.messages)
