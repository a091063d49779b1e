"""The teams of the table of C-WAH: their rows, their episodes with means and differences, and the claims on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import fsum
from typing import Any, NamedTuple

import msgspec

from teamworld import plugins
from teamworld.errors import UserError, suggest
from teamworld.experiment.episode_metrics import EpisodeMetrics
from teamworld.methods import registry
from teamworld.metrics.event_table import CallRow
from teamworld.papers.reproduction import Check, interval_verdict, load_yaml, paired_difference
from teamworld.report.statistics import Interval, Paired, mean_interval


def horizon() -> int:
    """Return the steps after which an episode ends, and what a failure counts."""
    return int(load_yaml("cwah", "published")["horizon"])


def official_tasks() -> dict[str, str]:
    """Return the task of each official episode, by its level."""
    return {f"official-{number}": task for number, task in load_yaml("cwah", "published")["episodes"].items()}


# ---- rows


class PublishedSteps(NamedTuple):
    """The published mean steps of a team, with symbolic observation."""

    steps: float
    reasoner: str
    source: str
    note: str = ""


@dataclass(frozen=True)
class TeamRow:
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
    counted: tuple[str, ...] = ()
    """Kinds of questions that the published message tokens count; empty: all that write messages."""

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

    def published(self) -> Iterator[PublishedSteps]:
        """Yield what was published of such a team."""
        values = load_yaml("cwah", "published")
        for column in (values["table"]["columns"][name] for name in self.table):
            tokens = f", {column['tokens'][0]:,} message tokens" if column["tokens"] else ""
            yield PublishedSteps(column["mean"][0], column["mind"] or "planner", "CoBel-World paper", tokens)
        if self.ablation is not None:
            steps = values["ablations"]["steps"][self.ablation]
            yield PublishedSteps(steps, "GPT-4o", "CoBel-World paper's ablation")
        if self.earlier is not None:
            team = values["earlier"]["rows"][self.earlier]
            share = f", saves {100 * team['saved'][0]:.0f} %" if team.get("saved") else ""
            yield PublishedSteps(team["symbolic"], team["mind"] or "planner", "CoELA paper", share)


@cache
def all_rows() -> tuple[TeamRow, ...]:
    """Return all rows, from top to bottom."""
    return msgspec.convert(load_yaml("cwah", "rows"), tuple[TeamRow, ...])


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
        name = registry.method_of(part)
        if plugins.reference(name) is None and name not in registry.names():
            raise UserError(f"--methods: there is no method '{part}'{suggest(part, [*known, *registry.names()])}")
    registry.load(label)
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
    counted_tokens: float | None = None
    """Completion tokens of the kinds of questions that were counted for publication, of a row that names some."""


def team_episode(level: str, measured: EpisodeMetrics, counted_tokens: float | None = None) -> TeamEpisode:
    """Return the result of an episode; ``counted_tokens`` as ``count_tokens`` has them."""
    summary = measured.row.summary
    sent, written, total = (
        value.value if (value := measured.values.get(name)) is not None else None
        for name in ("message_tokens", "message_generation_tokens", "tokens")
    )
    return TeamEpisode(
        level=level,
        seed=measured.cell.seed,
        steps=summary.steps if summary.success else horizon(),
        done=bool(summary.success),
        messages=summary.messages,
        message_tokens=sent or 0.0,
        written_tokens=written,
        total_tokens=total,
        questions=summary.questions,
        fallbacks=summary.fallbacks,
        counted_tokens=counted_tokens,
    )


def count_tokens(calls: Iterable[CallRow], kinds: Collection[str]) -> float | None:
    """Return the completion tokens of calls for some kinds of questions; None where none has a count."""
    made = [call.output_tokens for call in calls if call.purpose in kinds]
    known = [tokens for tokens in made if tokens is not None]
    return float(sum(known)) if made and len(known) == len(made) else None


class Team(NamedTuple):
    """A row with its episodes; none where it was not run.

    An official episode is one observation, whatever the number of its seeds: what draws nothing plays copies in them.
    """

    row: TeamRow
    episodes: Sequence[TeamEpisode]

    @property
    def failures(self) -> int:
        """Episodes that were not done in time."""
        return sum(not episode.done for episode in self.episodes)

    def mean(self, name: str) -> Interval | None:
        """Return a mean with its 95 % interval over episodes, an official one being the mean of its seeds."""
        values = ((_place(episode), getattr(episode, name)) for episode in self.episodes)
        return mean_interval([*_means((place, number) for place, number in values if number is not None).values()])

    def mean_steps(self) -> dict[str, float]:
        """Return the mean steps of each level over its seeds."""
        return _means((episode.level, episode.steps) for episode in self.episodes)

    def mean_steps_by_task(self) -> dict[str, float]:
        """Return the mean steps of each task: over the seeds of each of its official episodes, then over these."""
        tasks = official_tasks()
        return _means((tasks[level], steps) for level, steps in self.mean_steps().items() if level in tasks)

    def saved(self, single: Team | None) -> float | None:
        """Return the efficiency improvement 1 - L(team) / L(single agent) of each episode, averaged.

        Args:
            single: One agent; None: it was not run.

        Returns:
            None where no episode was played by both. Of generated episodes each seed is an episode.
        """
        if single is None or single == self:
            return None
        own, alone = (_means((_place(e), e.steps) for e in team.episodes) for team in (self, single))
        shares = [1 - own[place] / alone[place] for place in own if place in alone]
        return fsum(shares) / len(shares) if shares else None

    def difference(self, other: Team | None, name: str) -> Paired | None:
        """Return the mean difference to another team on the episodes that both have; None without any."""
        if other is None:
            return None
        values, others = (
            _means((_place(episode), float(getattr(episode, name))) for episode in team.episodes)
            for team in (self, other)
        )
        return paired_difference(values, others)


def _place(episode: TeamEpisode) -> tuple[str, int | None]:
    """Return what makes an episode one observation: of generated ones each seed does."""
    return episode.level, None if episode.level.startswith("official-") else episode.seed


def _means(values: Iterable[tuple[Any, float]]) -> dict[Any, float]:
    by_key: dict[Any, list[float]] = {}
    for key, value in values:
        by_key.setdefault(key, []).append(value)
    return {key: fsum(numbers) / len(numbers) for key, numbers in by_key.items()}


# ---- claims


def judge(teams: Mapping[str, Team], *, official: bool) -> Iterator[Check]:
    """Judge every claim whose teams were run.

    Args:
        teams: By the key of their row.
        official: Whether on the official episodes: on them alone is the planner's level known.
    """
    claims = load_yaml("cwah", "claims")
    for claim in claims["levels"] if official else ():
        team = teams.get(claim["row"])
        if team is not None and (steps := team.mean("steps")) is not None:
            low, high = claim["steps"]
            holds = low <= steps.mean <= high and not team.failures
            numbers = f"{steps.mean:.1f} steps, {team.failures} of {len(team.episodes)} failed"
            yield Check(claim["number"], claim["claim"], numbers, "holds" if holds else "does not hold")
    for claim in claims["comparisons"]:
        team, other = (teams.get(key) for key in claim["rows"])
        less = team.difference(other, claim["value"]) if team is not None else None
        if less is not None:
            strict = not claim.get("at_most", False)
            verdict = interval_verdict(-less.high, -less.low, strict=strict) if less.n > 1 else "not decided"
            numbers = f"{less.difference:+.2f} [{less.low:+.2f}, {less.high:+.2f}], {less.n} pairs"
            yield Check(claim["number"], claim["claim"], numbers, verdict)
