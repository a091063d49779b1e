"""The failure labels of a run: counts by label and method, and the list of tags with what happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from teamworld.errors import UserError
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow
from teamworld.metrics import failures
from teamworld.metrics.failures import LABELS, Tag
from teamworld.record import EpisodeStart, Event, read_log
from teamworld.report.tables import Table, describe_reasoner_and_talk
from teamworld.worlds import registry as worlds

#: Tags that are listed of each method, unless all are wanted.
SHOWN: Final = 20


class Tagged(NamedTuple):
    """One episode with its tags."""

    method: str
    seed: int
    episode: int
    tags: tuple[Tag, ...]
    blind: Mapping[str, str] = MappingProxyType({})
    """Labels that its log cannot show, each with what that takes."""


def tags(log: Sequence[Event]) -> list[dict[str, Any]]:
    """Return the failure tags of one episode as plain data: for a replay, or for your own tables.

    Each has ``label``, ``first`` and ``last`` (steps from 0), ``agents``, ``goal`` (or None), ``text``, ``source``.

    Args:
        log: The events of a finished episode, for example ``list(read_log(path))``.

    Raises:
        ValueError: The log has no start or no end.
    """
    start = log[0] if log else None
    finder = worlds.finder(start.world) if isinstance(start, EpisodeStart) else None
    return [_plain(tag) for tag in failures.tags(log, finder)]


def finished(folder: RunFolder, experiment: ExperimentSpec, episode: int | None = None) -> list[EpisodeRow]:
    """Return the finished episodes of a run, ordered by method as the experiment names them, seed and episode.

    Args:
        folder: The run; it is only read.
        experiment: Its experiment.
        episode: Only the episodes with this number.

    Raises:
        UserError: There is none.
    """
    numbers = experiment.episode_numbers
    if episode is not None and episode not in numbers:
        known = f"episodes 1 to {numbers[-1]}" if experiment.fork is None else f"episode {numbers[0]} alone"
        raise UserError(f"{folder.path} has {known}, got {episode}")
    rows = (row for _, row in folder.finished(experiment))
    chosen = [row for row in rows if episode in (None, row.episode)]
    if not chosen:
        which = "" if episode is None else f" {episode}"
        raise UserError(f"{folder.path} has no finished episode{which} yet: go on with teamworld resume {folder.path}")
    return chosen


def tagged(folder: RunFolder, experiment: ExperimentSpec, rows: Iterable[EpisodeRow]) -> Iterator[Tagged]:
    """Yield the episodes with their tags, reading one log at a time.

    Raises:
        UserError: A log is missing, damaged or cut off.
    """
    finder = worlds.finder(experiment.world)
    logs = {cell.name: cell for cell in experiment.cells()}
    for row in rows:
        log = list(read_log(folder.log(logs[row.cell], row.episode), expected=row.digest))
        yield Tagged(row.method, row.seed, row.episode, tuple(failures.tags(log, finder)), failures.blind(log))


def counts(episodes: Sequence[Tagged], experiment: ExperimentSpec) -> Table:
    """Return how many tags of each label each method has, and in how many of its episodes.

    Labels that nobody has are named in the caption, and those that no log can show with what they take.
    """
    columns = ["label"]
    for method in experiment.methods:
        columns += [f"{method} tags", f"{method} episodes"]
    lines: list[tuple[str, ...]] = []
    narrow: list[tuple[str, ...]] = [("label", *experiment.methods)]
    absent = []
    lacking: dict[str, list[str]] = {}
    for label in LABELS:
        cells = [_cells(_count_tags(episodes, label, method)) for method in experiment.methods]
        if episodes and all(label in tagged.blind for tagged in episodes):
            lacking.setdefault(episodes[0].blind[label], []).append(label)
            continue
        if all(tags in ("none", "0") for tags, _ in cells):
            absent.append(label)
            continue
        lines.append((label, *(part for cell in cells for part in cell)))
        narrow.append((label, *(_short(*cell) for cell in cells)))
    caption = f"tags, and episodes with a tag of all episodes; {describe_reasoner_and_talk(experiment)}"
    if absent:
        caption += f"\nnot seen: {', '.join(absent)}"
    if not worlds.is_there(experiment.world):
        caption += "\nnot looked for: what only the world's own rules find (a report does not import them)"
    for takes, names in lacking.items():
        caption += f"\nnot looked for: {', '.join(names)} (takes {takes})"
    return Table(
        f"{experiment.world} {experiment.level}: failures", tuple(columns), tuple(lines), caption, tuple(narrow)
    )


def _count_tags(episodes: Sequence[Tagged], label: str, method: str) -> list[int]:
    """Return how often each episode of a method has a label, of those whose logs can show it."""
    showing = (tagged for tagged in episodes if tagged.method == method and label not in tagged.blind)
    return [sum(tag.label == label for tag in tagged.tags) for tagged in showing]


def _cells(tag_counts: Sequence[int]) -> tuple[str, str]:
    if not tag_counts:
        return "none", "none"
    affected = sum(map(bool, tag_counts))
    return str(sum(tag_counts)), f"{affected / len(tag_counts):.2f} ({affected}/{len(tag_counts)})"


def _short(tags: str, share: str) -> str:
    """Return a cell of the table for a terminal: ``12 in 2/3``."""
    return tags if tags in ("none", "0") else f"{tags} in {share.partition('(')[2].rstrip(')')}"


def lines(episodes: Sequence[Tagged], method: str, limit: int | None = SHOWN) -> list[str]:
    """Return one line a tag of a method, and how many were left out.

    Args:
        episodes: The tagged episodes.
        method: The method.
        limit: Tags to show at most, of each label about as many, the earliest first; None shows all.
    """
    tagged = [(episode, tag) for episode in episodes if episode.method == method for tag in episode.tags]
    turn: Counter[str] = Counter()
    order = []
    for place, (_, tag) in enumerate(tagged):
        turn[tag.label] += 1
        order.append((turn[tag.label], place))
    chosen = sorted(place for _, place in sorted(order)[:limit])
    shown = [_line(*tagged[place]) for place in chosen]
    if len(chosen) < len(tagged):
        shown.append(f"... and {len(tagged) - len(chosen)} more (--all lists them)")
    return shown


def _line(episode: Tagged, tag: Tag) -> str:
    steps = f"step {tag.first}" if tag.first == tag.last else f"steps {tag.first}-{tag.last}"
    who = ", ".join(tag.agents[:3]) + (f" and {len(tag.agents) - 3} more" if len(tag.agents) > 3 else "")
    about = "; ".join(part for part in (tag.goal, who) if part)
    return f"seed {episode.seed} episode {episode.episode} {steps}: {tag.label} [{about}] {tag.text}"


def plain(episodes: Sequence[Tagged], experiment: ExperimentSpec) -> dict[str, Any]:
    """Return counts and all tags as plain data, for ``--json``; null where no episode's log can show a label."""
    return {
        "counts": [
            {
                "label": label,
                "method": method,
                "tags": sum(tag_counts) if tag_counts else None,
                "episodes": {"num": sum(map(bool, tag_counts)), "den": len(tag_counts)},
            }
            for label in LABELS
            for method in experiment.methods
            for tag_counts in [_count_tags(episodes, label, method)]
        ],
        "tags": [
            {"method": episode.method, "seed": episode.seed, "episode": episode.episode} | _plain(tag)
            for episode in episodes
            for tag in episode.tags
        ],
    }


def _plain(tag: Tag) -> dict[str, Any]:
    return msgspec.structs.asdict(tag) | {"agents": list(tag.agents)}
