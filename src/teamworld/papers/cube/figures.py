"""The figures of the CUBE paper, published beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from teamworld.papers.cube.costs import POLICIES, VERBS, ActionCost, StepCost
from teamworld.report.figure_style import COLOURS, MARKERS, WIDTH, bare, figure, legend_below, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

Floats = npt.NDArray[np.float64]


class Band(NamedTuple):
    """A mean with its smallest and largest value."""

    mean: float
    low: float
    high: float


#: measure (of ``MEASURES``) -> planner -> one band for each size.
Bands = Mapping[str, Mapping[str, Sequence[Band]]]


#: What is measured of a baseline, with the words for its axis.
MEASURES = {"completed": "blocks delivered", "steps": "steps", "seconds": "run time (s)"}


class Line(NamedTuple):
    """How one planner is shown."""

    label: str
    colour: str
    marker: str
    dashed: bool


#: Published planners, then ours: what is an LLM's and what is rules is said in each label.
LINES = {
    "gpt-4o": Line("published: gpt-4o (LLM)", COLOURS[0], MARKERS[0], True),
    "gpt-4o-mini": Line("published: gpt-4o-mini (LLM)", COLOURS[3], MARKERS[3], True),
    "heuristic": Line("published: heuristic", COLOURS[5], MARKERS[1], True),
    "greedy": Line("ours: greedy, scripted", COLOURS[1], MARKERS[1], False),
    "zero_shot": Line("ours: zero-shot, rules", COLOURS[2], MARKERS[2], False),
}


def baselines(paper: Mapping[str, Any], ours: Bands, stem: Path) -> Path:
    """Draw blocks, steps and run time by number of agents, with min-max bands; ours for the first of the sizes."""
    with figure(WIDTH, 3.0) as drawn:
        for axes, (measure, label) in zip(drawn.subplots(1, 3), MEASURES.items(), strict=True):
            if measure == "completed":
                axes.plot(range(len(paper["sizes"])), paper["blocks"], color="0.88", lw=6, label="all blocks", zorder=0)
            for index, (planner, line) in enumerate(LINES.items()):
                bands = {**paper["measures"][measure], **ours[measure]}[planner]
                _banded(axes, bands, line, 0.07 * (index - len(LINES) // 2))
            if measure == "completed":
                axes.yaxis.get_major_locator().set_params(integer=True)
            elif measure == "steps":
                axes.axhline(paper["limit"], color="0.5", lw=0.8, ls=":")
                axes.annotate("limit", (0, paper["limit"]), fontsize=6.5, color="0.4", va="bottom")
            else:
                axes.set_yscale("log")
            axes.set_xticks(range(len(paper["sizes"])), map(str, paper["sizes"]))
            axes.set(xlabel="number of agents n", ylabel=label)
            if measure != "seconds":
                axes.set_ylim(bottom=0)
            bare(axes, "y")
        legend_below(drawn)
        return save(drawn, stem)


def _banded(axes: Axes, bands: Sequence[Band], line: Line, aside: float) -> None:
    """Draw a line with its band, a little aside so that equal values do not hide one another."""
    at = np.arange(len(bands)) + aside
    axes.fill_between(at, [b.low for b in bands], [b.high for b in bands], color=line.colour, alpha=0.15, linewidth=0)
    axes.plot(
        at, [b.mean for b in bands], color=line.colour, marker=line.marker, markersize=3.5, linewidth=1,
        linestyle="--" if line.dashed else "-", markerfacecolor="white" if line.dashed else line.colour,
        label=line.label,
    )  # fmt: skip


def scaling(paper: Mapping[str, Any], ours: Sequence[StepCost], stem: Path) -> Path:
    """Draw step time, memory and load by number of agents."""
    milliseconds = [1e3 * seconds for seconds in paper["seconds"]]
    panels = (
        ("step time (ms)", milliseconds, [(1e3 * cost.mean, 1e3 * cost.std) for cost in ours]),
        ("resident memory (GB)", paper["gigabytes"], [(cost.gigabytes or np.nan, 0.0) for cost in ours]),
        ("CPU load (% of one core)", paper["cpu"], [(cost.cpu, 0.0) for cost in ours]),
    )
    with figure(WIDTH, 2.7) as drawn:
        for axes, (label, published, measured) in zip(drawn.subplots(1, 3), panels, strict=True):
            axes.plot(paper["sizes"], published, color="0.35", marker="D", markersize=3, linewidth=1, linestyle="--",
                      markerfacecolor="white", label="published")  # fmt: skip
            for index, policy in enumerate(POLICIES):
                rows = [(cost.n, *pair) for cost, pair in zip(ours, measured, strict=True) if cost.policy == policy]
                n, mean, std = (np.array(column) for column in zip(*rows, strict=True))
                colour = COLOURS[index]
                axes.plot(n, mean, color=colour, marker=MARKERS[index], markersize=3, linewidth=1,
                          label=f"ours, {policy}")  # fmt: skip
                if std.any():
                    axes.fill_between(n, np.maximum(mean - std, mean / 3), mean + std, color=colour, alpha=0.15, lw=0)
            axes.set_xscale("log", base=2)
            axes.set_xticks([2, 8, 32, 128], ["2", "8", "32", "128"])
            axes.minorticks_off()
            if label.startswith("step"):
                axes.set_yscale("log")
            else:
                axes.set_ylim(bottom=0)
            axes.set(xlabel="number of agents n", ylabel=label)
            bare(axes, "both")
        legend_below(drawn)
        return save(drawn, stem)


def actions(paper: Mapping[str, Any], ours: Sequence[ActionCost], stem: Path) -> Path:
    """Draw the heat map of macro-actions: milliseconds for each macro-action and agent, by number of agents."""
    verbs = list(paper["seconds"])
    sizes = sorted({cost.n for cost in ours})
    published = 1e3 * np.array([paper["seconds"][verb] for verb in verbs])
    by_verb = {(cost.verb, cost.n): 1e3 * cost.seconds for cost in ours}
    measured = np.array([[by_verb[verb, n] for n in sizes] for verb in verbs])
    with figure(WIDTH, 3.8) as drawn:
        top, bottom = drawn.subplots(2, 1)
        _heat(top, published, verbs, paper["sizes"], "published: ms for each symbolic action", digits=1)
        shown = _heat(bottom, measured, verbs, sizes, "ours: ms for each agent and step, all agents at it", digits=3)
        bottom.set_xlabel("number of agents n")
        bar = drawn.colorbar(shown, ax=[top, bottom], pad=0.01, aspect=40)
        bar.set_label("ms, logarithmic")
        return save(drawn, stem)


def _heat(axes: Axes, values: Floats, verbs: Sequence[str], sizes: Sequence[int], title: str, digits: int) -> AxesImage:
    from matplotlib.colors import LogNorm

    norm = LogNorm(0.005, 50, clip=True)
    shown = axes.imshow(np.maximum(values, 0.005), cmap="cividis", norm=norm, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        text = f"{value:.{digits}f}" if value >= 10**-digits / 2 else f"<{10**-digits / 2:g}"
        axes.text(column, row, text, ha="center", va="center", fontsize=6.5,
                  color="white" if norm(max(value, 0.005)) < 0.55 else "black")  # fmt: skip
    axes.set_title(title)
    axes.set_xticks(range(len(sizes)), list(map(str, sizes)))
    axes.set_yticks(range(len(verbs)), [VERBS[verb] for verb in verbs])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return shown
