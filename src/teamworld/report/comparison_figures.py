"""Figures of a comparison: values with intervals, cost frontiers, performance profiles, learning curves."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teamworld.metrics.definition import metrics
from teamworld.report.comparison import COSTS, Comparison, MetricRow, Sample, compare
from teamworld.report.comparison_tables import label
from teamworld.report.cross_run import undominated
from teamworld.report.figure_style import COLUMN, WIDTH, bare, figure, layer, legend_below, look, need, save
from teamworld.report.statistics import Interval, stratified_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What is drawn over what varies, beside a cost.
CURVES = ("completion", "steps")
#: Shares of the work that a profile asks for, each the number itself and not a sum of steps near it.
LEVELS = tuple(hundredths / 100 for hundredths in range(101))
_SLACK = 1e-9  # of a completion that is a sum of weights
_FEW = 12  # points up to which intervals are bars
_ROWS = 1.5  # inches of a row of panels
_HANDLE = 3.5  # length of a line in a legend, in which its dashes are seen


def draw(
    comparison: Comparison,
    samples: Sequence[Sample],
    names: Sequence[str],
    caption: str,
    out: Path,
    settings: Mapping[str, Mapping[str, Any]],
) -> list[Path]:
    """Draw all figures of a comparison; return the PNG files, each with an SVG beside it.

    Args:
        comparison: Over all settings.
        samples: All episodes.
        names: Metrics to show.
        caption: What every figure says of where it is from.
        out: Folder of the figures.
        settings: What varies: by setting, the value of each axis.

    Raises:
        UserError: matplotlib is not installed.
    """
    need(matplotlib="plots")
    out.mkdir(exist_ok=True)
    caption_with_counts = f"{caption}; {_number(_sizes(samples))} a method"
    drawn = [
        _values(comparison, names, caption_with_counts, out / "values"),
        _profiles(samples, caption_with_counts, out / "profile"),
        curves(samples, caption, out / "learning"),
    ]
    cost = next((name for name in COSTS if _known(comparison, name)), None)
    if cost is not None:
        drawn.append(_frontiers(comparison, cost, caption_with_counts, out / "frontier"))
    for axis in next(iter(settings.values())):
        if len({str(values[axis]) for values in settings.values()}) > 1:
            stem = out / f"by_{axis.replace('.', '_')}"
            drawn.append(over(axis, samples, settings, (*CURVES, cost or "messages"), caption, stem))
    return [path for path in drawn if path is not None]


def over(
    axis: str,
    samples: Sequence[Sample],
    settings: Mapping[str, Mapping[str, Any]],
    shown: Sequence[str],
    caption: str,
    stem: Path,
) -> Path:
    """Draw metrics over what varies, such as the team size: a line a method, with 95 % intervals over instances."""
    values = list(dict.fromkeys(str(setting[axis]) for setting in settings.values()))
    at = {name: values.index(str(setting[axis])) for name, setting in settings.items()}
    places = [[sample for sample in samples if at[sample.setting] == place] for place in range(len(values))]
    teams = [{sample.extract.team for sample in group} for group in places]
    sizes = [team.pop() for team in teams if len(team) == 1]
    by_size = len(set(sizes)) == len(values)
    labels = list(map(str, sizes)) if by_size else values
    methods = list(dict.fromkeys(sample.method for sample in samples))
    with figure(WIDTH, 2.6) as drawn:
        panels = drawn.subplots(1, len(shown), squeeze=False)[0]
        for axes, name in zip(panels, shown, strict=True):
            rows_of_groups = [{row.method: row for row in compare(group, [name], ()).rows} for group in places]
            for index, method in enumerate(methods):
                rows = ((x, by_method.get(method)) for x, by_method in enumerate(rows_of_groups))
                points = [(float(x), *_bounds(row)) for x, row in rows if row is not None and row.value is not None]
                _line(axes, points, index, len(methods), len(values) - 1.0, method)
            axes.set_xticks(range(len(values)), labels)
            if sum(map(len, labels)) > 24:
                axes.tick_params("x", labelrotation=20)
            axes.set_xlabel("agents" if by_size else axis)
            _scale(axes, name)
        legend_below(drawn, 5, _HANDLE)
        counts = [size for group in places for size in _sizes(group)]
        _tell(drawn, f"{caption}; {_number(counts)} a point")
        return save(drawn, stem)


def _line(
    axes: Axes, points: Sequence[tuple[float, float, float, float]], index: int, number: int, span: float, label: str
) -> None:
    """Draw the line of a method, a little aside of the others' so that equal ones are seen.

    Points are x, value, and the bounds of its interval: bars where there are few, a band where there are many. The
    method is the one of this index among a number of them; x spans so much from its first to its last.
    """
    style, place = look(index), layer(index, number)
    few = len(points) <= _FEW
    aside = (index - (number - 1) / 2) * min(0.02 * max(span, 1.0), 0.6 / number) if few else 0.0
    x = [point[0] + aside for point in points]
    middle, low, high = ([point[at] for point in points] for at in (1, 2, 3))
    apart = max(number, len(points) // _FEW)
    every = None if few else (index * apart // number, apart)
    axes.plot(x, middle, **style, **place, markevery=every, label=label)
    if few:
        axes.vlines(x, low, high, color=style["color"], linewidth=0.8, zorder=place["zorder"])
    else:
        axes.fill_between(x, low, high, color=style["color"], alpha=0.12, linewidth=0, zorder=1)


def _bounds(row: MetricRow) -> tuple[float, float, float]:
    """Return the value of a row and its interval, which is the value where there is none."""
    value = row.value or 0.0
    return value, value if row.low is None else row.low, value if row.high is None else row.high


def _sizes(samples: Sequence[Sample]) -> list[int]:
    """Return how many instances each method was run on."""
    instances_of: dict[str, set[str]] = {}
    for sample in samples:
        instances_of.setdefault(sample.method, set()).add(sample.instance)
    return [len(instances) for instances in instances_of.values()]


def _number(counts: Sequence[int]) -> str:
    low, high = min(counts, default=0), max(counts, default=0)
    text = f"n = {low if low == high else f'{low} to {high}'} instance{'' if high == 1 else 's'}"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _tell(drawn: Figure, text: str, width: int = 112, size: int = 8) -> None:
    drawn.suptitle("\n".join(textwrap.wrap(text, width)), fontsize=size, x=0.01, ha="left")


def _scale(axes: Axes, name: str) -> None:
    """Set the y axis of a metric: of shares always the same, and none that shows a line of equal values as noise."""
    metric = metrics()[name]
    axes.set_ylabel(label(metrics()[name]))
    if (metric.low, metric.high) == (0.0, 1.0):
        axes.set_ylim(-0.04, 1.06)
    elif axes.dataLim.height == 0.0:
        axes.set_ylim(*_room(axes.dataLim.y0 if axes.has_data() else 0.0))
    bare(axes)


def _room(value: float) -> tuple[float, float]:
    """Return an axis for values that are all the same: from 0 to the value, or to 1."""
    end = value or 1.0
    return min(0.0, end) - 0.06 * abs(end), max(0.0, end) + 0.06 * abs(end)


def _known(comparison: Comparison, metric: str) -> bool:
    return any(row.metric == metric and row.value for row in comparison.rows)


def _values(comparison: Comparison, names: Sequence[str], caption: str, stem: Path) -> Path | None:
    """Draw each metric as a panel: a point and its interval for each method; None where nobody has a value."""
    shown = [name for name in names if any(row.metric == name and row.value is not None for row in comparison.rows)]
    if not shown:
        return None
    methods = list(dict.fromkeys(row.method for row in comparison.rows))
    columns = 3
    lines = -(-len(shown) // columns)
    with figure(WIDTH, max(_ROWS, 0.17 * len(methods) + 0.6) * lines + 0.4) as drawn:
        panels = drawn.subplots(lines, columns, sharey=True, squeeze=False)
        for axes, name in zip(panels.flat, shown, strict=False):
            by_method = {row.method: row for row in comparison.rows if row.metric == name}
            _points(axes, methods, by_method)
            axes.set_xlabel(label(metrics()[name]))
            bare(axes)
        for axes in panels.flat[len(shown) :]:
            axes.set_visible(False)
        _tell(drawn, f"{caption}; null: instances with nothing to measure")
        return save(drawn, stem)


def _points(axes: Axes, methods: Sequence[str], by_method: Mapping[str, MetricRow]) -> None:
    note: dict[str, Any] = {"textcoords": "offset points", "color": "0.35", "fontsize": 6}
    ends = []
    for at, method in enumerate(methods):
        row = by_method[method]
        if row.value is None:
            text = f"all {row.nulls} null" if row.nulls else "no value"
            axes.annotate(text, (0.02, at), (0, 0), xycoords=("axes fraction", "data"), va="center", **note)
            continue
        drawn = look(at)
        value, low, high = _bounds(row)
        axes.plot([low, high], [at, at], color=drawn["color"], linewidth=1.2)
        axes.plot([value], [at], color=drawn["color"], marker=drawn["marker"], markersize=4)
        ends += [low, high]
    if min(ends) == max(ends):
        axes.set_xlim(*_room(ends[0]))
        axes.set_xticks(sorted({0.0, ends[0] or 1.0}))
    left, right = axes.get_xlim()
    for at, method in enumerate(methods):
        row = by_method[method]
        if row.nulls and row.value is not None:
            side = ("left", "center", "right")[min(2, int(3 * (row.value - left) / (right - left)))]  # inside the panel
            axes.annotate(f"{row.nulls} null", (row.value, at), (0, 3), ha=side, va="bottom", **note)
    axes.set_yticks(range(len(methods)), methods)
    axes.set_ylim(len(methods) - 0.5, -0.7)
    axes.grid(axis="x", color="0.9")


def _frontiers(comparison: Comparison, cost: str, caption: str, stem: Path) -> Path:
    """Draw completion and steps against a cost; methods that none beats in both are joined by a line."""
    rows = {(row.method, row.metric): row for row in comparison.rows}
    methods = list(dict.fromkeys(row.method for row in comparison.rows))
    with figure(WIDTH, 2.6) as drawn:
        panels = drawn.subplots(1, 2)
        for axes, (name, better) in zip(panels, zip(CURVES, (1, -1), strict=True), strict=True):
            points = []
            for at, method in enumerate(methods):
                x, y = rows.get((method, cost)), rows.get((method, name))
                if x is None or y is None or x.value is None or y.value is None:
                    continue
                style, place = look(at), layer(at, len(methods))
                bars: dict[str, Any] = {"color": style["color"], "linewidth": 0.8, "zorder": place["zorder"]}
                axes.plot(_bounds(x)[1:], [y.value, y.value], **bars)
                axes.plot([x.value, x.value], _bounds(y)[1:], **bars)
                axes.plot(x.value, y.value, **{**style, **place, "linestyle": ""}, label=method)
                points.append((x.value, y.value))
            best = sorted(undominated([(x, better * y) for x, y in points]))
            axes.plot([x for x, _ in best], [better * y for _, y in best], color="0.6", linewidth=0.8, zorder=0)
            axes.set_xlabel(label(metrics()[cost]))
            _scale(axes, name)
        legend_below(drawn, 5, _HANDLE)
        _tell(drawn, f"{caption}; grey line: methods that none beats in both")
        return save(drawn, stem)


def _profiles(samples: Sequence[Sample], caption: str, stem: Path) -> Path | None:
    """Draw which share of episodes completes at least so much, one line a method (Agarwal et al. 2021)."""
    methods = list(dict.fromkeys(sample.method for sample in samples))
    reached = {method: _reached([sample for sample in samples if sample.method == method]) for method in methods}
    if not any(reached.values()):
        return None
    with figure(COLUMN, 3.2) as drawn:
        axes = drawn.subplots()
        every = max(20, 4 * len(methods))
        for index, (method, shares) in enumerate(reached.items()):
            if not shares:
                continue
            style, place = look(index), layer(index, len(methods))
            middle, low, high = ([interval[at] for interval in shares] for at in (0, 1, 2))
            marks = (4 * index + 4, every)
            axes.plot(LEVELS, middle, **style, **place, drawstyle="steps-pre", markevery=marks, label=method)
            axes.fill_between(LEVELS, low, high, step="pre", color=style["color"], alpha=0.1, linewidth=0, zorder=1)
        axes.set_xlabel("completion τ")
        axes.set_ylabel("share of episodes that reach τ")
        axes.set_ylim(-0.03, 1.05)
        bare(axes)
        legend_below(drawn, 2, _HANDLE)
        _tell(drawn, caption, 56, 7)
        return save(drawn, stem)


def _reached(samples: Sequence[Sample]) -> list[Interval]:
    """Return which share of episodes reaches each of ``LEVELS``, over instances; empty where none has a completion."""
    completions: dict[str, dict[str, list[float]]] = {}
    for sample in samples:
        value = sample.values[CURVES[0]].value if CURVES[0] in sample.values else None
        if value is not None:
            completions.setdefault(sample.stratum, {}).setdefault(sample.instance, []).append(value)
    known: dict[str, Interval | None] = {}  # most levels are reached by the same episodes as the one before
    intervals = []
    for level in LEVELS:
        strata = {
            stratum: [
                fsum(value >= level - _SLACK for value in values) / len(values) for values in by_instance.values()
            ]
            for stratum, by_instance in completions.items()
        }
        key = str(strata)
        if key not in known:
            known[key] = _interval(CURVES[0], strata)
        intervals.append(known[key])
    return [interval for interval in intervals if interval is not None]


def _interval(name: str, strata: Mapping[str, Sequence[float]]) -> Interval | None:
    """Return a mean over instances with its interval, cut to the values that the metric can have."""
    metric = metrics()[name]
    interval = stratified_interval(strata, binary=metric.is_binary)
    if interval is None:
        return None
    low, high = metric.within(interval.low, interval.high)
    return interval._replace(low=low, high=high)


def curves(samples: Sequence[Sample], caption: str, stem: Path) -> Path:
    """Draw completion and steps over the episodes, with 95 % intervals over instances."""
    methods = list(dict.fromkeys(sample.method for sample in samples))
    span = max((float(sample.episode) for sample in samples), default=1.0) - 1.0
    with figure(WIDTH, 2.8) as drawn:
        panels = drawn.subplots(1, 2)
        for axes, name in zip(panels, CURVES, strict=True):
            for index, method in enumerate(methods):
                points = _by_episode([sample for sample in samples if sample.method == method], name)
                _line(axes, points, index, len(methods), span, method)
            axes.set_xlabel("episode")
            axes.xaxis.get_major_locator().set_params(integer=True)
            _scale(axes, name)
        legend_below(drawn, 5, _HANDLE)
        _tell(drawn, f"{caption}; {_number(_sizes(samples))} a point")
        return save(drawn, stem)


def _by_episode(samples: Sequence[Sample], name: str) -> list[tuple[float, float, float, float]]:
    by_episode: dict[int, dict[str, list[float]]] = {}
    for sample in samples:
        value = sample.values[name].value if name in sample.values else None
        if value is not None:
            by_episode.setdefault(sample.episode, {}).setdefault(sample.stratum, []).append(value)
    intervals = ((float(episode), _interval(name, by_episode[episode])) for episode in sorted(by_episode))
    return [
        (episode, interval.mean, interval.low, interval.high) for episode, interval in intervals if interval is not None
    ]
