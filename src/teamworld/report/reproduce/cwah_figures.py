"""The figure of C-WAH: average steps of each team, ours as dots with intervals, what was published as hollow marks."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from teamworld.report.figure_style import COLOURS, WIDTH, bare, figure, save
from teamworld.report.statistics import Interval

_OURS: Final = COLOURS[0]
#: Marks of published values, by the beginning of what they are called.
_THEIRS: Final = {"planner": ("s", COLOURS[2]), "GPT": ("D", COLOURS[5]), "Qwen": ("^", COLOURS[1])}


class Line(NamedTuple):
    """A team."""

    name: str
    ours: Interval
    theirs: Mapping[str, float]
    """Published mean steps, by mind and source."""


def ready() -> bool:
    """Whether what draws is installed (the extra ``plots``)."""
    return importlib.util.find_spec("matplotlib") is not None


def dots(lines: Sequence[Line], stem: Path) -> Path:
    """Draw a line for each team, from top to bottom.

    Args:
        lines: The teams.
        stem: The files without their ending.
    """
    from matplotlib.lines import Line2D

    with figure(WIDTH, 0.7 + 0.19 * len(lines)) as drawn:
        axes = drawn.subplots()
        shown = set()
        for y, line in enumerate(lines):
            axes.plot([line.ours.low, line.ours.high], [y, y], color=_OURS, linewidth=1.2, solid_capstyle="butt")
            axes.plot(line.ours.mean, y, "o", markersize=3.6, color=_OURS, zorder=3)
            for name, value in line.theirs.items():
                kind = next(one for one in _THEIRS if name.startswith(one))
                mark, colour = _THEIRS[kind]
                axes.plot(value, y, mark, markersize=5, markerfacecolor="none", color=colour, zorder=4)
                shown.add(kind)
        axes.set_yticks(range(len(lines)), [line.name for line in lines])
        axes.set_ylim(len(lines) - 0.4, -0.6)
        axes.set_xlim(left=0)
        axes.set_xlabel("average steps of an episode")
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="0.92", linewidth=0.5)
        axes.set_axisbelow(True)
        bare(axes)
        handles = [Line2D([], [], marker="o", markersize=4, color=_OURS, label="ours, 95 % interval")]
        words = {"planner": "published: a planner", "GPT": "published: GPT-4, GPT-4o", "Qwen": "published: Qwen3-32B"}
        handles += [
            Line2D([], [], marker=mark, markersize=5, ls="", markerfacecolor="none", color=colour, label=words[kind])
            for kind, (mark, colour) in _THEIRS.items()
            if kind in shown
        ]
        drawn.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False)
        return save(drawn, stem)
