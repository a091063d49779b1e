"""The figures of the DR. WELL paper, published beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from teamworld.papers.drwell.claims import METHODS, Floats, RunsByMethod
from teamworld.report.figure_style import BAD, COLOURS, GOOD, MARKERS, WIDTH, bare, figure, legend_below, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS = {"zero_shot": "zero-shot", "drwell": "DR. WELL"}
_BLOCKS = COLOURS[:3]
_WHITE_EDGE = {"edgecolor": "white", "linewidth": 0.4}


class Strip(NamedTuple):
    """A stretch of steps during which an agent is committed to a block."""

    block: int
    begin: int
    end: int


#: The strips of each agent of each episode.
Commitments = tuple[tuple[tuple[Strip, ...], ...], ...]


def quartiles(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the lower quartile, the median and the upper quartile over the first axis; inf is the largest value.

    They are values that occurred: none lies between a number and inf.
    """
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75), axis=0, method="inverted_cdf")
    return low, middle, high


def completion(paper: RunsByMethod, ours: RunsByMethod, seed: int, reasoner: str, stem: Path) -> Path:
    """Draw which block was completed in which episode."""
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("completion", [BAD, "#F2F2F2", GOOD])
    seeds = len(ours["drwell"].completed)
    with figure(WIDTH, 2.7) as drawn:
        grid = drawn.subplots(2, 3, sharey=True)
        for row, method in zip(grid, METHODS, strict=True):
            shares = (
                (paper[method].completed[0].astype(float), "published, LLM"),
                (ours[method].completed[0].astype(float), f"ours, {reasoner}, seed {seed}"),
                (ours[method].completed.mean(axis=0), f"ours, {reasoner}, share of {seeds} seed{'s' * (seeds > 1)}"),
            )
            for column, (axes, (share, title)) in enumerate(zip(row, shares, strict=True)):
                axes.pcolormesh(share, cmap=shades, vmin=0, vmax=1, edgecolors="white", linewidth=1)
                for (block, episode), value in np.ndenumerate(share):
                    text = ("✓" if value else "×") if column < 2 else _share(value)
                    axes.text(episode + 0.5, block + 0.5, text, ha="center", va="center", fontsize=6.5)
                if method == METHODS[0]:
                    axes.set_title(title)
                axes.set_xticks(np.arange(share.shape[1]) + 0.5, [str(e + 1) for e in range(share.shape[1])])
                axes.set_yticks(np.arange(len(share)) + 0.5, [f"block {b}" for b in range(len(share))])
                axes.tick_params(length=0)
                axes.spines[:].set_visible(False)
                axes.set_ylim(len(share), 0)
            row[0].set_ylabel(LABELS[method])
            if method == METHODS[-1]:
                for axes in row:
                    axes.set_xlabel("episode")
        return save(drawn, stem)


def _share(value: float) -> str:
    return "1" if value == 1 else "0" if value == 0 else f"{value:.2f}".lstrip("0").rstrip("0")


def bars(runs: Sequence[RunsByMethod], unit: str, titles: tuple[str, str], top: float, stem: Path) -> Path:
    """Draw steps or seconds: a bar for each block and episode, infinity as a hatched bar over a break of the axis.

    ``runs`` and ``titles`` are the published ones and ours, ``top`` is the end of the finite part of the axis.
    """
    with figure(WIDTH, 3.9) as drawn:
        grid = drawn.subplots(2, 2, sharey=True)
        for row, method in zip(grid, METHODS, strict=True):
            for axes, by_method, title in zip(row, runs, titles, strict=True):
                _bar_panel(axes, getattr(by_method[method], unit), top)
                axes.set_title(f"{LABELS[method]}: {title}")
            row[0].set_ylabel(f"{unit} at completion")
        for axes in grid[-1]:
            axes.set_xlabel("episode")
        legend_below(drawn)
        return save(drawn, stem)


def _bar_panel(axes: Axes, values: Floats, top: float) -> None:
    low, middle, high = quartiles(values)
    break_at, infinity = 1.06 * top, 1.14 * top
    for block in range(values.shape[1]):
        episodes = np.arange(values.shape[2]) + 1
        at = episodes + (block - 1) * 0.27
        finite = np.isfinite(middle[block])
        height = np.where(finite, middle[block], infinity)
        shown = axes.bar(at, height, 0.25, color=_BLOCKS[block], alpha=0.55, label=f"block {block}", zorder=2)
        for patch, known in zip(shown, finite, strict=True):
            if not known:
                patch.set(facecolor="white", edgecolor=_BLOCKS[block], hatch="//////", alpha=1, linewidth=0.6)
        line = np.where(finite, middle[block], np.nan)
        axes.plot(at, line, color=_BLOCKS[block], marker=MARKERS[block], markersize=2.5, linewidth=0.9, zorder=4)
        if len(values) > 1:
            bottom, above = (np.where(np.isfinite(end[block]), end[block], infinity) for end in (low, high))
            axes.vlines(at, bottom, above, color="0.25", linewidth=0.8, zorder=2.5)
    axes.axhspan(break_at - 0.012 * top, break_at + 0.012 * top, color="white", zorder=3)
    axes.set_ylim(0, infinity)
    ticks = [tick for tick in axes.get_yticks() if tick <= top]
    axes.set_yticks([*ticks, infinity], [*(f"{tick:g}" for tick in ticks), "∞"])
    axes.set_xticks(np.arange(values.shape[2]) + 1)
    axes.tick_params(axis="x", length=0)
    axes.plot([0, 0], [break_at / infinity - 0.012, break_at / infinity + 0.012], transform=axes.transAxes, zorder=6,
              color="white", linewidth=2.5, clip_on=False)  # fmt: skip
    for side in (-0.012, 0.012):
        y = break_at / infinity + side
        axes.plot([-0.008, 0.008], [y - 0.01, y + 0.01], transform=axes.transAxes, color="black", linewidth=0.6,
                  clip_on=False, zorder=7)  # fmt: skip
    bare(axes, "y")


def strips(
    paper: Commitments, ours: Commitments, ends: Sequence[int], titles: tuple[str, str], limit: int, stem: Path
) -> Path:
    """Draw what each agent was committed to, one strip for each agent and episode.

    ``ends`` are the steps of each of our episodes: before it grey is uncommitted, after it white is done.
    """
    from matplotlib.patches import Patch

    paper_ends = [max(strip.end for agent in episode for strip in agent) for episode in paper]
    rows = max(len(paper), len(ours))
    with figure(WIDTH, 0.9 + 0.31 * rows) as drawn:
        panels = drawn.subplots(1, 2, sharey=True)
        for axes, episodes, stops, title in zip(panels, (paper, ours), (paper_ends, ends), titles, strict=True):
            for number, (episode, stop) in enumerate(zip(episodes, stops, strict=True), start=1):
                for agent, own_strips in enumerate(episode):
                    y = number + (agent - (len(episode) - 1) / 2) * 0.4
                    axes.barh(y, stop, 0.36, color="0.85", **_WHITE_EDGE)
                    for strip in own_strips:
                        axes.barh(y, strip.end - strip.begin, 0.36, left=strip.begin, color=_BLOCKS[strip.block],
                                  **_WHITE_EDGE)  # fmt: skip
                        if strip.end - strip.begin >= 7:
                            ink = "white" if strip.block == 0 else "black"
                            axes.text((strip.begin + strip.end) / 2, y, str(strip.block), ha="center",
                                      va="center_baseline", fontsize=5.5, color=ink)  # fmt: skip
            axes.set_title(title)
            axes.set_xlim(0, limit)
            axes.set_xlabel("step of the environment")
            axes.set_yticks(range(1, rows + 1))
            axes.tick_params(axis="y", length=0)
            axes.set_ylim(rows + 0.6, 0.4)
            bare(axes)
        panels[0].set_ylabel("episode (upper strip agent 0, lower agent 1)")
        handles = [Patch(color=_BLOCKS[b], label=f"committed to block {b}") for b in range(3)]
        handles += [Patch(color="0.85", label="not committed"), Patch(fc="white", ec="0.6", label="done", lw=0.5)]
        drawn.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
        return save(drawn, stem)
