"""An episode as a page, from Python: shown in a notebook, or written to a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NamedTuple

from teamworld.experiment.store.remote import local_folder
from teamworld.experiment.store.selection import SelectedEpisode, select_episode
from teamworld.metrics.failures import tags
from teamworld.plain_files import write_file
from teamworld.record import read_log
from teamworld.report import moments
from teamworld.report.stored_worth import StoredWorth, load_worth
from teamworld.report.worth import ALL_MESSAGES, MEASURES
from teamworld.viewer.differences import find_differences
from teamworld.viewer.html_export import page, pair_page
from teamworld.viewer.questions import read_calls
from teamworld.viewer.replay_data import build
from teamworld.viewer.replay_types import Replay, WorthRow
from teamworld.viewer.world_model import read_memory
from teamworld.worlds.registry import finder


@dataclass(frozen=True)
class ReplayPage:
    """A page that plays an episode: no server, no network. A notebook shows it in a frame."""

    html: str
    """The whole document."""
    episode: SelectedEpisode
    """What it shows."""
    height: int
    """Of the frame, in pixels."""

    def save(self, path: Path | str) -> None:
        """Write it to a file; raises ``OSError``."""
        write_file(Path(path), self.html.encode())

    def __repr__(self) -> str:
        cell = self.episode.cell
        return f"<replay of {cell.method}, seed {cell.seed}, episode {self.episode.episode}; save(PATH) writes it>"

    def _repr_html_(self) -> str:
        # Scripts run, but the page has an origin of its own: it reaches nothing of the notebook's.
        style = f"width: 100%; height: {self.height}px; border: 0"
        return f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" style="{style}"></iframe>'


def view(
    folder: Path | str,
    method: str | None = None,
    seed: int | None = None,
    episode: int | None = None,
    *,
    prompts: bool = True,
    height: int = 760,
) -> ReplayPage:
    """Return the page that plays a finished episode of a run; the same as ``teamworld view``.

    Args:
        folder: Of the run, or its URL.
        method: One of its methods; the first with a finished episode if None.
        seed: One of its seeds; the first with a finished episode if None.
        episode: The last finished one if None.
        prompts: Whether the page holds what language models were sent, and their answers as they came.
        height: Of the frame in a notebook, in pixels.

    Raises:
        UserError: The folder holds no such episode, or its log is damaged or altered.
    """
    chosen, replay = _load(EpisodeName(Path(folder), method, seed, episode), prompts=prompts)
    return ReplayPage(page(replay), chosen, height)


class EpisodeName(NamedTuple):
    """A finished episode of a run, by the names that a user gives; see ``select_episode`` for those left out."""

    folder: Path
    method: str | None = None
    seed: int | None = None
    episode: int | None = None


class PairPage(NamedTuple):
    """A page that plays two episodes of one instance, locked in time."""

    html: str
    """The whole document."""
    episodes: tuple[SelectedEpisode, SelectedEpisode]

    def save(self, path: Path | str) -> None:
        """Write it to a file; raises ``OSError``."""
        write_file(Path(path), self.html.encode())


def served_page(name: EpisodeName) -> str:
    """Return the page of a finished episode for a server, which the page may ask; raises ``UserError`` as ``view``."""
    return page(_load(name, prompts=True)[1], served=True)


def view_pair(first: EpisodeName, second: EpisodeName, *, prompts: bool = True) -> PairPage:
    """Return the page that plays two episodes of one instance side by side, with what differs.

    Args:
        first: An episode.
        second: Another one of the same world, level and seed; by default with the seed and number of the first.
        prompts: Whether the page holds what language models were sent, and their answers as they came.

    Raises:
        UserError: One of them does not exist or is damaged, or they are not of one instance.
    """
    chosen, replay = _load(first, prompts=prompts)
    other = second._replace(
        seed=chosen.cell.seed if second.seed is None else second.seed,
        episode=chosen.episode if second.episode is None else second.episode,
    )
    beside, other_replay = _load(other, prompts=prompts)
    differences = find_differences(replay, other_replay)
    return PairPage(pair_page(replay, other_replay, differences), (chosen, beside))


def _load(name: EpisodeName, *, prompts: bool) -> tuple[SelectedEpisode, Replay]:
    """Return a finished episode of a run, and its data."""
    chosen = select_episode(local_folder(name.folder), *name[1:])
    log = list(read_log(chosen.log, expected=chosen.digest))
    calls = read_calls(chosen.folder, chosen.cell, chosen.episode)
    experiment = chosen.experiment
    made = build(log, tags(log, finder(experiment.world)), calls, prompts=prompts)
    made.fork = experiment.fork.in_words() if experiment.fork is not None else ""
    made.memory = read_memory(chosen.folder, chosen.cell, chosen.episode)
    worth = load_worth(chosen.folder, chosen.cell, chosen.episode, chosen.digest)
    made.worths = [] if worth is None else [_worth_row(part) for part in (*worth.messages, *worth.agents)]
    return chosen, made


def _worth_row(part: StoredWorth) -> WorthRow:
    measured = {name: getattr(part, name) for name in MEASURES}
    bounds = {name: (it.mean, it.low, it.high) for name, it in measured.items() if it is not None}
    if part.name == ALL_MESSAGES:
        return WorthRow(values=bounds)
    kind, _, number = part.name.partition(" ")
    if kind == "message" and number.isdecimal():
        return WorthRow(message=int(number), values=bounds)
    return WorthRow(agent=part.name, values=bounds)


def draw_moments(
    folder: Path | str,
    path: Path | str,
    steps: Sequence[int] | None = None,
    method: str | None = None,
    seed: int | None = None,
    episode: int | None = None,
) -> SelectedEpisode:
    """Write a figure of moments of a finished episode as PNG, with an SVG beside it; return which episode it is of.

    Args:
        folder: Of the run.
        path: The file to write, such as moments.png.
        steps: Which moments, at most 6; the first, the middle and the last if None.
        method: One of its methods; the first with a finished episode if None.
        seed: One of its seeds; the first with a finished episode if None.
        episode: The last finished one if None.

    Raises:
        UserError: The folder holds no such episode or moments, its log is damaged or altered, or matplotlib is missing.
    """
    chosen = select_episode(Path(folder), method, seed, episode)
    moments.draw_moments(list(read_log(chosen.log, expected=chosen.digest)), Path(path).with_suffix(""), steps)
    return chosen
