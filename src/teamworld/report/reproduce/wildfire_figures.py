"""Figures of wildfire: a panel for each method, ours as filled dots, what was published as hollow diamonds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from teamworld.report.figure_style import COLOURS, WIDTH, bare, figure, save
from teamworld.report.statistics import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS: Final = {
    "do_nothing": "do nothing",
    "greedy": "scripted",
    "random": "random",
    "coela": "COELA",
    "camon": "CAMON",
    "hmas2": "HMAS-2",
    "embodied": "Embodied",
    "drwell": "DR. WELL",
    "zero_shot": "zero-shot",
}
_OURS, _THEIRS = COLOURS[0], COLOURS[5]


class Axis(NamedTuple):
    """The axis of values, the same in all panels."""

    name: str
    low: float
    """What lies below is drawn at the edge, as an arrow with its value."""
    high: float = 1.0


class Line(NamedTuple):
    """One line of every panel."""

    name: str
    ours: Mapping[str, Interval | None]
    """By method."""
    theirs: Mapping[str, float]
    above: bool = False
    """Whether a rule parts it from the line above."""


def dots(lines: Sequence[Line], methods: Sequence[str], axis: Axis, stem: Path) -> Path:
    """Draw lines in a panel for each method.

    Args:
        lines: From top to bottom.
        methods: One panel each.
        axis: What is shown.
        stem: The files without their ending.
    """
    from matplotlib.lines import Line2D

    per_row = -(-len(methods) // -(-len(methods) // 6))
    rows = -(-len(methods) // per_row)
    with figure(WIDTH, rows * (0.55 + 0.19 * len(lines)) + 0.45) as drawn:
        grid = drawn.subplots(rows, per_row, sharex=True, sharey=True, squeeze=False)
        panels = [axes for row in grid for axes in row]
        for axes, method in zip(panels, methods, strict=False):
            _panel(axes, lines, method, axis)
        for axes in panels[len(methods) :]:
            axes.set_visible(False)
        drawn.supxlabel(axis.name, fontsize=8)
        dot = Line2D(
            [], [], marker="o", markersize=4, color=_OURS, label="ours: rules, no language model; 95 % interval"
        )
        hollow = Line2D(
            [], [], marker="D", markersize=5, ls="", markerfacecolor="none", color=_THEIRS, label="published: GPT-4o"
        )
        drawn.legend(handles=[dot, hollow], loc="outside upper center", ncols=2, frameon=False)
        return save(drawn, stem)


def _panel(axes: Axes, lines: Sequence[Line], method: str, axis: Axis) -> None:
    margin = 0.05 * (axis.high - axis.low)
    axes.axvline(0, color="0.6", linewidth=0.6, zorder=1)
    for y, line in enumerate(lines):
        if line.above:
            axes.axhline(y - 0.5, color="0.75", linewidth=0.6, zorder=1)
        if (theirs := line.theirs.get(method)) is not None:
            axes.plot(
                theirs,
                y,
                "D",
                markersize=5.5,
                markerfacecolor="none",
                color=_THEIRS,
                markeredgewidth=0.9,
                zorder=4,
                clip_on=False,
            )
        if (ours := line.ours.get(method)) is not None:
            _ours(axes, ours, y, axis)
    axes.set_title(LABELS.get(method, method))
    axes.set_yticks(range(len(lines)), [line.name for line in lines])
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.set_xlim(axis.low - margin, axis.high + margin)
    axes.set_xticks([0, 0.5, 1], ["0", "½", "1"])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="0.92", linewidth=0.5)
    axes.label_outer()
    bare(axes)


def _ours(axes: Axes, ours: Interval, y: float, axis: Axis) -> None:
    if ours.mean < axis.low:
        axes.plot(axis.low, y, "<", markersize=4, color=_OURS, zorder=3)
        axes.text(axis.low, y - 0.32, f"{ours.mean:.1f}".replace("-", "−"), fontsize=5, va="center_baseline")
        return
    ends = [min(axis.high, max(axis.low, end)) for end in (ours.low, ours.high)]
    axes.plot(ends, [y, y], color=_OURS, linewidth=1.1, solid_capstyle="butt", zorder=2)
    axes.plot(ours.mean, y, "o", markersize=3.2, color=_OURS, zorder=3)
