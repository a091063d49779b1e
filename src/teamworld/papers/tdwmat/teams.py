"""The teams of the table of TDW-MAT: their rows, their episodes with means and differences, and the claims on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import fsum
from typing import Final, NamedTuple

from teamworld.errors import UserError, suggest
from teamworld.experiment.episode_metrics import EpisodeMetrics
from teamworld.papers.reproduction import Check, interval_verdict, load_yaml, paired_difference
from teamworld.report.statistics import Interval, Paired, mean_interval

#: Groups of episodes by the task and by how many containers there are, and what lies in each.
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "food low": ("food low",),
    "stuff low": ("stuff low",),
    "food high": ("food high",),
    "stuff high": ("stuff high",),
    "low": ("food low", "stuff low"),
    "high": ("food high", "stuff high"),
    "all": ("food low", "stuff low", "food high", "stuff high"),
}


@dataclass(frozen=True)
class TransportRow:
    """A team; see ``rows.yaml``."""

    name: str
    method: str
    by: str
    agents: int = 2
    table: tuple[str, ...] = ()
    earlier: str | None = None

    @property
    def key(self) -> str:
        """Name of the row, of its folder too."""
        return f"{self.method.replace(':', '_')}-x{self.agents}"

    @property
    def asks(self) -> bool:
        """Whether reasoners are asked."""
        return self.by.startswith("reasoners")

    def published(self, group: str = "all") -> Iterator[tuple[float, str]]:
        """Yield the published rates of such a team with oracle perception, in per cent, each with who decided."""
        values = load_yaml("tdwmat", "published")
        at = values["table"]["groups"].index(group)
        for column in (values["table"]["columns"][name] for name in self.table):
            yield column["rates"][at], column["mind"] or "planner"
        if self.earlier is not None and group == "all":
            team = values["earlier"]["rows"][self.earlier]
            yield team["oracle"][2], team["mind"] or "planner, other paper"

    def published_tokens(self) -> Iterator[tuple[int, str]]:
        """Yield the published message tokens of an episode, each with who decided."""
        columns = (load_yaml("tdwmat", "published")["table"]["columns"][name] for name in self.table)
        yield from ((column["tokens"], column["mind"]) for column in columns if column["tokens"] is not None)


@cache
def all_rows() -> tuple[TransportRow, ...]:
    """Return all rows, from top to bottom."""
    return tuple(
        TransportRow(**{**fields, "table": tuple(fields.get("table", ()))}) for fields in load_yaml("tdwmat", "rows")
    )


def choose_rows(methods: Sequence[str] | None) -> tuple[TransportRow, ...]:
    """Return the rows of some methods, in the order of the table; all for None.

    Raises:
        UserError: There is no row of a method.
    """
    if methods is None:
        return all_rows()
    known = list(dict.fromkeys(row.method for row in all_rows()))
    for method in methods:
        if method not in known:
            raise UserError(f"--method: the table of TDW-MAT has no row of '{method}'{suggest(method, known)}")
    return tuple(row for row in all_rows() if row.method in methods)


class TransportEpisode(NamedTuple):
    """An episode of a team."""

    level: str
    group: str
    seed: int
    rate: float
    """Targets delivered, in per cent of all."""
    frames: int
    messages: float
    message_tokens: float
    """Words and signs of what was sent."""
    questions: int
    fallbacks: int


def team_episode(level: str, group: str, measured: EpisodeMetrics) -> TransportEpisode:
    """Return an episode as the table counts it."""
    summary, targets = measured.row.summary, load_yaml("tdwmat", "published")["targets"]
    return TransportEpisode(
        level,
        group,
        measured.cell.seed,
        100.0 * summary.reward / targets,
        summary.steps,
        measured.values["messages"].value or 0.0,
        measured.values["message_tokens"].value or 0.0,
        summary.questions,
        summary.fallbacks,
    )


class TransportTeam(NamedTuple):
    """A row with its episodes.

    An official episode is one observation, whatever the number of its seeds: what draws nothing plays copies in them.
    """

    row: TransportRow
    episodes: Sequence[TransportEpisode]

    def mean(self, name: str, group: str = "all") -> Interval | None:
        """Return a mean with its 95 % interval over the official episodes of a group, each the mean of its seeds."""
        interval = mean_interval([*self.by_level(name, group).values()])
        if interval is None or name != "rate":
            return interval
        return interval._replace(low=max(0.0, interval.low), high=min(100.0, interval.high))

    def by_level(self, name: str, group: str = "all") -> dict[str, float]:
        """Return the mean over seeds of each official episode of a group."""
        values: dict[str, list[float]] = {}
        for episode in self.episodes:
            if episode.group in GROUPS[group]:
                values.setdefault(episode.level, []).append(float(getattr(episode, name)))
        return {level: fsum(numbers) / len(numbers) for level, numbers in values.items()}

    def difference(self, other: TransportTeam, name: str) -> Paired | None:
        """Return the mean difference to another team on the episodes that both have; None without any."""
        return paired_difference(self.by_level(name), other.by_level(name))

    def gained(self, single: TransportTeam | None) -> float | None:
        """Return what share of its transport a team gains over one agent, (M - M_one) / M (arXiv 2307.02485)."""
        ours, alone = self.mean("rate"), None if single is None else single.mean("rate")
        return None if ours is None or alone is None or not ours.mean else (ours.mean - alone.mean) / ours.mean


def judge(teams: Mapping[str, TransportTeam]) -> Iterator[Check]:
    """Judge every claim whose teams were run.

    Args:
        teams: By the key of their row.
    """
    claims = load_yaml("tdwmat", "claims")
    for claim in claims["levels"]:
        rate = teams[claim["row"]].mean("rate") if claim["row"] in teams else None
        if rate is not None:
            low, high = claim["rate"]
            holds = low <= rate.mean <= high
            numbers = f"{rate.mean:.1f} % [{rate.low:.1f}, {rate.high:.1f}]"
            yield Check(claim["number"], claim["claim"], numbers, "holds" if holds else "does not hold")
    for claim in claims["comparisons"]:
        team, other = (teams.get(key) for key in claim["rows"])
        paired = team.difference(other, claim["value"]) if team is not None and other is not None else None
        if paired is not None:
            low, high = (-paired.high, -paired.low) if claim.get("less") else (paired.low, paired.high)
            verdict = interval_verdict(low, high, strict=True) if paired.n > 1 else "not decided"
            numbers = f"{paired.difference:+.1f} [{paired.low:+.1f}, {paired.high:+.1f}], {paired.n} pairs"
            yield Check(str(claim["number"]), claim["claim"], numbers, verdict)
