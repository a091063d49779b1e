"""Figures of a run: the learning curve and the world model. Needs matplotlib (extra ``plots``)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from teamworld.errors import UserError
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow
from teamworld.memory.store import MemoryStore
from teamworld.report.figure_style import COLOURS, look, need
from teamworld.report.statistics import mean_interval
from teamworld.report.tables import describe_reasoner_and_talk

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = 100  # characters


def draw_all(folder: RunFolder, experiment: ExperimentSpec, rows: Sequence[EpisodeRow]) -> list[Path]:
    """Draw the learning curve and the world model of each method's first seed that learned; return the files.

    Raises:
        UserError: matplotlib is not installed, or there are no episodes yet.
    """
    if not rows:
        raise UserError(f"{folder.path} has no finished episode yet: nothing to draw")
    target = folder.path / "figures"
    target.mkdir(exist_ok=True)
    return [
        learning_curve(rows, experiment, target / "learning_curve.png"),
        *_world_models(folder, experiment, target),
    ]


def learning_curve(rows: Sequence[EpisodeRow], experiment: ExperimentSpec, path: Path) -> Path:
    """Draw completion and steps over the episodes, one line a method, with 95 % bands over seeds."""
    need(matplotlib="plots")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True)
    for index, method in enumerate(experiment.methods):
        own = [row for row in rows if row.method == method]
        _line(top, own, [row.summary.completion for row in own], method, index)
        _line(bottom, own, [float(row.summary.steps) for row in own], method, index)
    top.set_ylabel("completion (share of weight)")
    top.set_ylim(-0.03, 1.05)
    bottom.set_ylabel("steps of the world")
    bottom.set_ylim(0, experiment.step_limit * 1.05)
    bottom.axhline(experiment.step_limit, color="0.6", linewidth=0.8, linestyle=":")
    bottom.annotate("limit", (1, experiment.step_limit), color="0.4", fontsize=8, va="bottom")
    bottom.set_xlabel("episode")
    bottom.xaxis.get_major_locator().set_params(integer=True)
    for axes in (top, bottom):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="0.9")
        axes.set_axisbelow(True)
    if len(experiment.methods) <= len(COLOURS):
        top.legend(frameon=False, loc="lower right")
    else:  # too many to lie on the lines
        figure.set_figheight(5.6 + 0.1 * len(experiment.methods))
        entries = top.get_legend_handles_labels()
        figure.legend(*entries, frameon=False, loc="outside lower center", ncols=2, handlelength=4, fontsize=8)
    seeds = len(experiment.seeds)
    band = f"mean and 95 % interval of {seeds} seeds" if seeds > 1 else f"seed {experiment.seeds[0]}"
    title = f"{experiment.world} {experiment.level}: {band}; {describe_reasoner_and_talk(experiment)}"
    figure.suptitle(textwrap.fill(title, _LINE), fontsize=9, x=0.01, ha="left")
    figure.savefig(path, dpi=160, metadata={"Software": None})
    return path


def _line(axes: Axes, rows: Sequence[EpisodeRow], values: Sequence[float | None], label: str, index: int) -> None:
    by_episode: dict[int, list[float]] = {}
    for row, value in zip(rows, values, strict=True):
        if value is not None:
            by_episode.setdefault(row.episode, []).append(value)
    episodes = sorted(by_episode)
    intervals = [interval for episode in episodes if (interval := mean_interval(by_episode[episode])) is not None]
    drawn = look(index)
    axes.plot(episodes, [i.mean for i in intervals], **drawn, markersize=4, label=label)
    if any(interval.n > 1 for interval in intervals):
        axes.fill_between(
            episodes,
            [i.low for i in intervals],
            [i.high for i in intervals],
            color=drawn["color"],
            alpha=0.2,
            linewidth=0,
        )


def _world_models(folder: RunFolder, experiment: ExperimentSpec, target: Path) -> list[Path]:
    from teamworld.memory.drawing import draw_stages

    if not folder.memory_file.exists():
        return []
    drawn = []
    with MemoryStore(folder.memory_file, readonly=True) as memory:
        for method in experiment.methods:
            name = RunCell(method, experiment.seeds[0]).name
            if deltas := memory.deltas(name):
                alone = experiment.model_copy(update={"methods": (method,)})
                title = f"World model of {method}, seed {experiment.seeds[0]}; {describe_reasoner_and_talk(alone)}"
                drawn.append(draw_stages(deltas, target / f"world_model_{name}.png", title=title))
    return drawn
