"""An episode as a page, from Python: shown in a notebook, or written to a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from teamworld.experiment.store.remote import local_folder
from teamworld.experiment.store.selection import SelectedEpisode, select_episode
from teamworld.metrics.failures import tags
from teamworld.plain_files import write_file
from teamworld.record import read_log
from teamworld.report import moments
from teamworld.viewer.html_export import page
from teamworld.viewer.questions import read_calls
from teamworld.viewer.replay_data import build
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
    chosen = select_episode(local_folder(folder), method, seed, episode)
    log = list(read_log(chosen.log, expected=chosen.digest))
    calls = read_calls(chosen.folder, chosen.cell, chosen.episode)
    built = build(log, tags(log, finder(chosen.experiment.world)), calls, prompts=prompts)
    return ReplayPage(page(built), chosen, height)


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
