"""The teams of the table of C-WAH: their rows, their episodes, means and paired differences, and the claims on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from teamworld.errors import UserError, suggest
from teamworld.experiment.episode_metrics import EpisodeMetrics
from teamworld.methods import registry
from teamworld.metrics.definition import Value
from teamworld.papers.claims import Check, paired_difference
from teamworld.papers.page import data
from teamworld.report.statistics import Interval, Paired, stratified_interval

#: What can be said of a claim; ``not decided``: the interval holds both.
VERDICTS: Final = ("holds", "does not hold", "not decided")


def horizon() -> int:
    """Return the steps after which an episode ends, and what a failure counts."""
    return int(data("cwah", "published")["horizon"])


def official_tasks() -> dict[int, str]:
    """Return the task of each official episode, by the number that papers give it."""
    return dict(data("cwah", "published")["episodes"])


# ---- rows


class TeamRow(NamedTuple):
    """A team; see ``rows.yaml``."""

    name: str
    """As the table shows it."""
    method: str
    """Its label."""
    by: str
    """What decides: a planner, a script, exact inference, or reasoners that are asked."""
    agents: int = 2
    full: str | None = None
    table: tuple[str, ...] = ()
    earlier: str | None = None
    ablation: str | None = None
    variants: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Name of the row, of its folder too."""
        return f"{self.method.replace(':', '_')}-x{self.agents}"

    @property
    def asks(self) -> bool:
        """Whether reasoners are asked."""
        return self.by.startswith("reasoners")

    def options(self) -> dict[str, dict[str, Any]]:
        """Return the options that make the row's label, by label; empty where the method knows it."""
        if not self.variants:
            return {}
        known = registry.method_class(self.method).variants
        return {self.method: {name: value for part in self.variants for name, value in known[part].options.items()}}

    @property
    def is_available(self) -> bool:
        """Whether the method, and all that the label names of it, is in this version."""
        try:
            registry.resolve(self.method, self.options())
        except (UserError, KeyError, ImportError):
            return False
        return True


@cache
def all_rows() -> tuple[TeamRow, ...]:
    """Return all rows, from top to bottom."""
    rows = []
    for fields in data("cwah", "rows"):
        listed = {name: tuple(fields[name]) for name in ("table", "variants") if name in fields}
        rows.append(TeamRow(**{**fields, **listed}))
    return tuple(rows)


def choose_rows(names: Sequence[str] | None) -> tuple[TeamRow, ...]:
    """Return the rows of some labels, in the order of the table; all rows where none is named.

    A label without a row gets one of two agents after the others. ``mhp_comm`` names ``mhp:comm`` too.

    Raises:
        UserError: There is no such method or variant.
    """
    if names is None:
        return all_rows()
    known = {name: row.method for row in all_rows() for name in (row.method, row.method.replace(":", "_"))}
    labels = list(dict.fromkeys(known.get(name, name) for name in names))
    rows = [row for row in all_rows() if row.method in labels]
    for row in rows:
        if not row.is_available and not row.variants:
            registry.resolve(row.method, {})  # raises an error that says what is missing
    new = [label for label in labels if label not in known.values()]
    return (*rows, *(_row_of(label, list(known.values())) for label in new))


def _row_of(label: str, known: list[str]) -> TeamRow:
    """Return the row of a label that the table lacks; raises UserError."""
    parts = registry.parts_of(label)
    for part in parts:
        if registry.method_of(part) not in registry.names():
            raise UserError(f"--methods: there is no method '{part}'{suggest(part, [*known, *registry.names()])}")
    registry.resolve(label, {})
    asking = [bool(registry.method_class(part).questions) for part in parts]
    return TeamRow(label, label, "reasoners" if all(asking) else "reasoners and script" if any(asking) else "script")


# ---- episodes


class TeamEpisode(NamedTuple):
    """The result of one episode."""

    level: str
    seed: int
    steps: int
    """Until all was done; all steps of the horizon for a failure, whenever it ended."""
    done: bool
    messages: int
    message_tokens: float
    """Words and signs of the messages sent, so that all methods are counted alike."""
    written_tokens: float | None
    """Completion tokens of what writes messages, sent or not; None without a language model."""
    total_tokens: float | None
    """Of all calls, prompts included; None without a language model."""
    questions: int
    fallbacks: int
    """Questions without an answer that could be read."""


#: Episodes of each row by its key.
EpisodesByRow: TypeAlias = Mapping[str, Sequence[TeamEpisode]]
#: Which episodes belong together where seeds are resampled.
Strata: TypeAlias = Callable[[TeamEpisode], str]


def team_episode(level: str, measured: EpisodeMetrics) -> TeamEpisode:
    """Return the result of an episode."""
    summary, values = measured.row.summary, measured.values
    done = bool(summary.success)
    return TeamEpisode(
        level=level,
        seed=measured.cell.seed,
        steps=summary.steps if done else horizon(),
        done=done,
        messages=summary.messages,
        message_tokens=_number(values.get("message_tokens")) or 0.0,
        written_tokens=_number(values.get("message_generation_tokens")),
        total_tokens=_number(values.get("tokens")),
        questions=summary.questions,
        fallbacks=summary.fallbacks,
    )


def _number(value: Value | None) -> float | None:
    return None if value is None else value.value


def by_level(episode: TeamEpisode) -> str:
    """Return the stratum of an official episode: they are what they are, and seeds vary within each."""
    return episode.level


def one_stratum(episode: TeamEpisode) -> str:
    """Return the one stratum of generated episodes: they are drawn, and another seed is another episode."""
    return ""


# ---- means and differences


class TeamMeans(NamedTuple):
    """The means of a row."""

    steps: Interval
    failures: int
    runs: int
    messages: Interval
    message_tokens: Interval
    written_tokens: Interval | None
    total_tokens: Interval | None
    questions: int
    fallbacks: int


def mean(episodes: Sequence[TeamEpisode], strata: Strata) -> TeamMeans:
    """Return the means of a row: over the seeds of each episode, then over episodes, with 95 % intervals.

    Raises:
        ValueError: There is no episode.
    """

    def over(name: str) -> Interval | None:
        by_stratum: dict[str, list[float]] = {}
        for episode in episodes:
            if (number := getattr(episode, name)) is not None:
                by_stratum.setdefault(strata(episode), []).append(number)
        return stratified_interval(by_stratum)

    steps, messages, tokens = over("steps"), over("messages"), over("message_tokens")
    if steps is None or messages is None or tokens is None:
        raise ValueError("no episode has no mean")
    return TeamMeans(
        steps=steps,
        failures=sum(not episode.done for episode in episodes),
        runs=len(episodes),
        messages=messages,
        message_tokens=tokens,
        written_tokens=over("written_tokens"),
        total_tokens=over("total_tokens"),
        questions=sum(episode.questions for episode in episodes),
        fallbacks=sum(episode.fallbacks for episode in episodes),
    )


def mean_steps(episodes: Iterable[TeamEpisode]) -> dict[str, float]:
    """Return the mean steps of each level over its seeds."""
    return _means((episode.level, episode.steps) for episode in episodes)


def mean_steps_by_task(episodes: Sequence[TeamEpisode], tasks: Mapping[str, str]) -> dict[str, float]:
    """Return the mean steps of each task: over seeds, then over the task's episodes.

    Args:
        episodes: Episodes of a row.
        tasks: The task of each level; levels that have none are passed over.
    """
    return _means((tasks[level], steps) for level, steps in mean_steps(episodes).items() if level in tasks)


def _means(values: Iterable[tuple[Any, float]]) -> dict[Any, float]:
    by_key: dict[Any, list[float]] = {}
    for key, value in values:
        by_key.setdefault(key, []).append(value)
    return {key: sum(numbers) / len(numbers) for key, numbers in by_key.items()}


def saved(team: Sequence[TeamEpisode], single: Sequence[TeamEpisode]) -> float | None:
    """Return the efficiency improvement 1 - L(team) / L(single agent) of each episode, averaged.

    Args:
        team: Episodes of a team; of generated ones each seed is an episode.
        single: Those of one agent.

    Returns:
        None where no episode was played by both.
    """

    def lengths(episodes: Sequence[TeamEpisode]) -> dict[Any, float]:
        return _means(((e.level, e.seed if e.level in ("dev", "test") else None), e.steps) for e in episodes)

    team_steps, single_steps = lengths(team), lengths(single)
    shares = [1 - team_steps[place] / single_steps[place] for place in team_steps if place in single_steps]
    return sum(shares) / len(shares) if shares else None


def difference(
    episodes: Sequence[TeamEpisode], others: Sequence[TeamEpisode], strata: Strata, value: str
) -> Paired | None:
    """Return the mean difference of two rows on the episodes and seeds that both have; None where there is none.

    Args:
        episodes: Those of a row.
        others: Those of the row that is subtracted.
        strata: Which episodes belong together.
        value: ``steps`` or ``messages``.
    """
    own, other = (
        {(episode.level, episode.seed): float(getattr(episode, value)) for episode in row} for row in (episodes, others)
    )
    return paired_difference(own, other, {(episode.level, episode.seed): strata(episode) for episode in episodes})


# ---- claims


def checks(episodes: EpisodesByRow, strata: Strata, *, official: bool) -> list[Check]:
    """Judge every claim whose rows were run.

    Args:
        episodes: Episodes by the key of their row.
        strata: Which episodes belong together.
        official: Whether they are the official ones, on which the planner's level is known.
    """
    return [*(_level_checks(episodes, strata) if official else ()), *_comparison_checks(episodes, strata)]


def _level_checks(episodes: EpisodesByRow, strata: Strata) -> Iterator[Check]:
    for claim in data("cwah", "claims")["levels"]:
        if own := episodes.get(_key(*claim["row"])):
            means = mean(own, strata)
            low, high = claim["steps"]
            numbers = f"{means.steps.mean:.1f} steps, {means.failures} of {means.runs} failed"
            holds = low <= means.steps.mean <= high and not means.failures
            yield Check(claim["number"], claim["claim"], numbers, VERDICTS[0 if holds else 1])


def _comparison_checks(episodes: EpisodesByRow, strata: Strata) -> Iterator[Check]:
    for claim in data("cwah", "claims")["comparisons"]:
        own, other = (episodes.get(_key(label), ()) for label in claim["rows"])
        result = difference(own, other, strata, claim["value"])
        if result is None:
            continue
        at_most = claim.get("at_most", False)
        holds = result.n > 1 and (result.high <= 0 if at_most else result.high < 0)
        fails = result.n > 1 and (result.low > 0 if at_most else result.low >= 0)
        numbers = f"{result.difference:+.2f} [{result.low:+.2f}, {result.high:+.2f}], {result.n} pairs"
        yield Check(claim["number"], claim["claim"], numbers, VERDICTS[0 if holds else 1 if fails else 2])


def _key(label: str, agents: int = 2) -> str:
    return next(row.key for row in all_rows() if (row.method, row.agents) == (label, agents))
