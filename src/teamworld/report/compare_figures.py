"""Figures of a comparison: values with intervals, cost frontiers, performance profiles, learning curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from teamworld.metrics.definition import metrics
from teamworld.report.compare import Comparison, Row, Sample
from teamworld.report.statistics import mean_interval
from teamworld.report.style import WIDTH, bare, figure, look, need, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What a frontier sets against completion and steps: the first of these that was measured.
COSTS = ("K3", "K2", "M1")
_ROWS = 1.5  # inches of a row of panels


def draw(
    comparison: Comparison, samples: Sequence[Sample], names: Sequence[str], caption: str, out: Path
) -> list[Path]:
    """Draw all figures of a comparison; return the PNG files, each with an SVG beside it.

    Raises:
        UserError: matplotlib is not installed.
    """
    need(matplotlib="plots")
    out.mkdir(exist_ok=True)
    drawn = [
        _values(comparison, names, caption, out / "values"),
        _profiles(samples, caption, out / "profile"),
        _curves(samples, caption, out / "learning"),
    ]
    cost = next((name for name in COSTS if _known(comparison, name)), None)
    if cost is not None:
        drawn.append(_frontiers(comparison, cost, caption, out / "frontier"))
    return drawn


def _known(comparison: Comparison, metric: str) -> bool:
    return any(row.metric == metric and row.value for row in comparison.rows)


def _label(name: str) -> str:
    metric = metrics()[name]
    return f"{metric.name}, {metric.unit}" if metric.unit not in (None, metric.name.lower()) else metric.name


def _values(comparison: Comparison, names: Sequence[str], caption: str, stem: Path) -> Path:
    """Draw each metric as a panel: a point and its interval for each method."""
    shown = [name for name in names if any(row.metric == name and row.value is not None for row in comparison.rows)]
    methods = list(dict.fromkeys(row.method for row in comparison.rows))
    columns = 3
    lines = -(-len(shown) // columns)
    with figure(WIDTH, max(_ROWS, 0.17 * len(methods) + 0.6) * lines + 0.4) as drawn:
        panels = drawn.subplots(lines, columns, sharey=True, squeeze=False)
        for axes, name in zip(panels.flat, shown, strict=False):
            by_method = {row.method: row for row in comparison.rows if row.metric == name}
            _points(axes, methods, by_method)
            axes.set_xlabel(_label(name))
            bare(axes)
        for axes in panels.flat[len(shown) :]:
            axes.set_visible(False)
        drawn.suptitle(_wrapped(caption), fontsize=8, x=0.01, ha="left")
        return save(drawn, stem)


def _points(axes: Axes, methods: Sequence[str], by_method: Mapping[str, Row]) -> None:
    for at, method in enumerate(methods):
        row = by_method[method]
        if row.value is None:
            axes.annotate("none", (0.02, at), xycoords=("axes fraction", "data"), va="center", color="0.4", fontsize=7)
            continue
        drawn = look(at)
        low, high = (row.value if end is None else end for end in (row.low, row.high))
        axes.plot([low, high], [at, at], color=drawn["color"], linewidth=1.2)
        axes.plot([row.value], [at], color=drawn["color"], marker=drawn["marker"], markersize=4)
    axes.set_yticks(range(len(methods)), methods)
    axes.set_ylim(len(methods) - 0.5, -0.5)
    axes.grid(axis="x", color="0.9")


def _frontiers(comparison: Comparison, cost: str, caption: str, stem: Path) -> Path:
    """Draw completion and steps against a cost; methods that none beats in both are joined by a line."""
    found = {(row.method, row.metric): row for row in comparison.rows}
    methods = list(dict.fromkeys(row.method for row in comparison.rows))
    with figure(WIDTH, 2.6) as drawn:
        panels = drawn.subplots(1, 2)
        for axes, (name, better) in zip(panels, (("O2", 1), ("E1", -1)), strict=True):
            points = []
            for at, method in enumerate(methods):
                x, y = found.get((method, cost)), found.get((method, name))
                if x is None or y is None or x.value is None or y.value is None:
                    continue
                style = look(at)
                axes.plot([x.low or 0.0, x.high or 0.0], [y.value, y.value], color=style["color"], linewidth=0.8)
                axes.plot([x.value, x.value], [y.low or 0.0, y.high or 0.0], color=style["color"], linewidth=0.8)
                axes.plot(x.value, y.value, color=style["color"], marker=style["marker"], linestyle="", label=method)
                points.append((x.value, y.value))
            best = sorted(undominated([(x, better * y) for x, y in points]))
            axes.plot([x for x, _ in best], [better * y for _, y in best], color="0.6", linewidth=0.8, zorder=0)
            axes.set_xlabel(_label(cost))
            axes.set_ylabel(_label(name))
            bare(axes)
        drawn.legend(*panels[0].get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=4)
        drawn.suptitle(_wrapped(f"{caption}; line: not beaten in both"), fontsize=8, x=0.01, ha="left")
        return save(drawn, stem)


def undominated(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points of (cost, gain) that no other beats: as cheap and better, or cheaper and as good (K10)."""
    return [
        (cost, gain)
        for cost, gain in points
        if not any((c <= cost and g >= gain) and (c < cost or g > gain) for c, g in points)
    ]


def _profiles(samples: Sequence[Sample], caption: str, stem: Path) -> Path:
    """Draw which share of episodes completes at least so much, one line a method (Agarwal et al. 2021)."""
    with figure(WIDTH / 2, 3.2) as drawn:
        axes = drawn.subplots()
        levels = np.linspace(0.0, 1.0, 101)
        for at, method in enumerate(dict.fromkeys(sample.method for sample in samples)):
            reached = _by_instance([one for one in samples if one.method == method], "O2")
            if not reached:
                continue
            shares = np.array([[np.mean(np.asarray(values) >= level) for level in levels] for values in reached])
            intervals = [mean_interval(column.tolist()) for column in shares.T]
            style = look(at)
            axes.plot(levels, shares.mean(axis=0), color=style["color"], linestyle=style["linestyle"], label=method)
            if len(reached) > 1:
                bounds = [one for one in intervals if one is not None]
                low, high = [one.low for one in bounds], [one.high for one in bounds]
                axes.fill_between(levels, low, high, color=style["color"], alpha=0.15, linewidth=0)
        axes.set_xlabel("completion τ")
        axes.set_ylabel("share of episodes that reach τ")
        axes.set_ylim(-0.02, 1.04)
        bare(axes)
        drawn.legend(frameon=False, loc="outside lower center", ncols=2)
        drawn.suptitle(_wrapped(caption, 58), fontsize=7, x=0.01, ha="left")
        return save(drawn, stem)


def _by_instance(samples: Sequence[Sample], name: str) -> list[list[float]]:
    found: dict[str, list[float]] = {}
    for sample in samples:
        value = sample.values[name].value if name in sample.values else None
        if value is not None:
            found.setdefault(sample.instance, []).append(value)
    return list(found.values())


def _curves(samples: Sequence[Sample], caption: str, stem: Path) -> Path:
    """Draw completion and steps over the episodes, with 95 % bands over instances."""
    with figure(WIDTH, 2.8) as drawn:
        panels = drawn.subplots(1, 2)
        for axes, name in zip(panels, ("O2", "E1"), strict=True):
            for at, method in enumerate(dict.fromkeys(sample.method for sample in samples)):
                _curve(axes, [one for one in samples if one.method == method], name, method, at)
            axes.set_xlabel("episode")
            axes.set_ylabel(_label(name))
            axes.xaxis.get_major_locator().set_params(integer=True)
            bare(axes)
        panels[0].set_ylim(-0.03, 1.05)
        drawn.legend(*panels[0].get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=4)
        drawn.suptitle(_wrapped(caption), fontsize=8, x=0.01, ha="left")
        return save(drawn, stem)


def _curve(axes: Axes, samples: Sequence[Sample], name: str, label: str, at: int) -> None:
    by_episode: dict[int, list[float]] = {}
    for sample in samples:
        value = sample.values[name].value
        if value is not None:
            by_episode.setdefault(sample.episode, []).append(value)
    episodes = sorted(by_episode)
    intervals = [one for episode in episodes if (one := mean_interval(by_episode[episode])) is not None]
    style = look(at)
    axes.plot(episodes, [one.mean for one in intervals], **style, markersize=3, label=label)  # type: ignore[arg-type]
    low, high = [one.low for one in intervals], [one.high for one in intervals]
    axes.fill_between(episodes, low, high, color=style["color"], alpha=0.15, linewidth=0)


def _wrapped(text: str, width: int = 112) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(text, width))
