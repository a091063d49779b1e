"""Dot plots: lines of means with intervals, filled dots for ours, hollow marks for published values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from teamworld.report.figure_style import COLOURS, WIDTH, bare, figure, save
from teamworld.report.statistics import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OURS = COLOURS[0]


class PublishedMark(NamedTuple):
    """How the published values of one source are drawn."""

    label: str
    marker: str
    colour: str


class DotLine(NamedTuple):
    """One line of every panel; panels go by name."""

    name: str
    ours: Mapping[str, Interval | None]
    published: Mapping[str, Sequence[tuple[PublishedMark, float]]]
    above: bool = False
    """Whether a rule parts it from the line above."""


class DotAxis(NamedTuple):
    """The axis of values, the same in all panels."""

    name: str
    ends: tuple[float, float] | None = None
    """A mean below the lower end is drawn there, as an arrow with its value; None: from 0 as far as needed."""
    ticks: Mapping[str, float] | None = None
    """Values by label; None: as matplotlib places them."""


def draw_dots(lines: Sequence[DotLine], panels: Mapping[str, str], axis: DotAxis, ours: str, stem: Path) -> Path:
    """Draw lines from top to bottom, in one panel or in several side by side; return the PNG.

    Panels have titles by name; ``ours`` is what the legend says of the filled dots, ``stem`` the files' path without
    their ending.
    """
    from matplotlib.lines import Line2D

    per_row = -(-len(panels) // -(-len(panels) // 6))
    rows = -(-len(panels) // per_row)
    with figure(WIDTH, rows * (0.55 + 0.19 * len(lines)) + 0.45) as drawn:
        grid = drawn.subplots(rows, per_row, sharex=True, sharey=True, squeeze=False)
        every = [axes for row in grid for axes in row]
        for axes, (panel, title) in zip(every, panels.items(), strict=False):
            _draw_panel(axes, lines, panel, axis)
            axes.set_title(title)
        for axes in every[len(panels) :]:
            axes.set_visible(False)
        drawn.supxlabel(axis.name, fontsize=8)
        marks = dict.fromkeys(mark for line in lines for values in line.published.values() for mark, _ in values)
        handles = [Line2D([], [], marker="o", markersize=4, color=_OURS, label=ours)]
        handles += [
            Line2D([], [], marker=mark.marker, markersize=5, ls="", markerfacecolor="none", color=mark.colour,
                   label=mark.label)
            for mark in marks
        ]  # fmt: skip
        drawn.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False)
        return save(drawn, stem)


def _draw_panel(axes: Axes, lines: Sequence[DotLine], panel: str, axis: DotAxis) -> None:
    for y, line in enumerate(lines):
        if line.above:
            axes.axhline(y - 0.5, color="0.75", linewidth=0.6, zorder=1)
        for mark, value in line.published.get(panel, ()):
            axes.plot(
                value, y, mark.marker, markersize=5.5, markerfacecolor="none", color=mark.colour, markeredgewidth=0.9,
                zorder=4, clip_on=False,
            )  # fmt: skip
        if (interval := line.ours.get(panel)) is not None:
            _draw_interval(axes, interval, y, axis)
    if axis.ends is None:
        axes.set_xlim(left=0)
    else:
        low, high = axis.ends
        axes.set_xlim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        axes.axvline(0, color="0.6", linewidth=0.6, zorder=1)
    if axis.ticks is not None:
        axes.set_xticks(list(axis.ticks.values()), list(axis.ticks))
    axes.set_yticks(range(len(lines)), [line.name for line in lines])
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.label_outer()
    bare(axes, "x")


def _draw_interval(axes: Axes, interval: Interval, y: float, axis: DotAxis) -> None:
    low, high = (interval.low, interval.high) if axis.ends is None else axis.ends
    if interval.mean < low and axis.ends is not None:
        axes.plot(low, y, "<", markersize=4, color=_OURS, zorder=3)
        axes.text(low, y - 0.32, f"{interval.mean:.1f}".replace("-", "−"), fontsize=5, va="center_baseline")
        return
    ends = [min(high, max(low, end)) for end in (interval.low, interval.high)]
    axes.plot(ends, [y, y], color=_OURS, linewidth=1.1, solid_capstyle="butt", zorder=2)
    axes.plot(interval.mean, y, "o", markersize=3.2, color=_OURS, zorder=3)
