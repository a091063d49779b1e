"""Figures of a run: the learning curve and the world model. Needs matplotlib (extra ``plots``)."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from teamworld.errors import UserError
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.memory.store import MemoryStore
from teamworld.report.episode_columns import EpisodeColumns, MethodColumns
from teamworld.report.figure_style import COLOURS, look, need
from teamworld.report.tables import describe_reasoner_and_talk, first_metrics, over_seeds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = 100  # characters


def draw_all(folder: RunFolder, experiment: ExperimentSpec, rows: EpisodeColumns) -> list[Path]:
    """Draw the learning curve and the world model of each method's first seed that learned; return the files.

    Raises:
        UserError: matplotlib is not installed, or there are no episodes yet.
    """
    if not len(rows):
        raise UserError(f"{folder.path} has no finished episode yet: nothing to draw")
    target = folder.path / "figures"
    target.mkdir(exist_ok=True)
    return [
        learning_curve(rows, experiment, target / "learning_curve.png"),
        *_world_models(folder, experiment, target),
    ]


def learning_curve(rows: EpisodeColumns, experiment: ExperimentSpec, path: Path) -> Path:
    """Draw the first two measures over the episodes, one line a method, with 95 % bands over seeds."""
    need(matplotlib="plots")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True)
    for axes, metric in zip((top, bottom), first_metrics(rows.examples), strict=True):
        for index, method in enumerate(experiment.methods):
            if (own := rows.methods.get(method)) is not None:
                _line(axes, own, metric, method, index)
        _label(axes, metric, experiment)
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


def _label(axes: Axes, metric: str, experiment: ExperimentSpec) -> None:
    """Name a vertical axis, and set its bounds where they are known."""
    if metric == "completion":
        axes.set_ylabel("completion (share of weight)")
        axes.set_ylim(-0.03, 1.05)
    elif metric == "steps":
        axes.set_ylabel("steps of the world")
        axes.set_ylim(0, experiment.step_limit * 1.05)
        axes.axhline(experiment.step_limit, color="0.6", linewidth=0.8, linestyle=":")
        axes.annotate("limit", (1, experiment.step_limit), color="0.4", fontsize=8, va="bottom")
    else:
        axes.set_ylabel(metric.replace("_", " "))


def _line(axes: Axes, rows: MethodColumns, metric: str, label: str, index: int) -> None:
    by_episode = {number: over_seeds(rows, metric, episode=number) for number in rows.episodes}
    known = {number: interval for number, interval in by_episode.items() if interval is not None}
    episodes, intervals = list(known), list(known.values())
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
