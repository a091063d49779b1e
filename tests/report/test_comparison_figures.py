"""Figures of comparisons: every method can be seen, numbers are exact, and nothing is drawn of nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from teamworld.metrics.definition import count, metrics, only, share
from teamworld.metrics.summary import Extract
from teamworld.report import comparison_figures as drawing
from teamworld.report.comparison import Sample, compare
from teamworld.report.comparison_tables import label
from teamworld.report.figure_style import COLOURS, MARKERS, STYLES, layer, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

pytest.importorskip("matplotlib")

METHODS = ("drwell", "zero_shot", "random", "greedy")
NAMES = ("completion", "steps", "messages", "message_tokens", "talk_value_steps", "calls")
SETTINGS: dict[str, dict[str, Any]] = {"level=n1": {"level": "n1"}, "level=n2": {"level": "n2"}}


def samples(episodes: int = 3) -> list[Sample]:
    """Two methods that do the same, one without a number of messages, one that never gets anything done."""
    return [
        Sample(
            method,
            f"{setting}/{seed}",
            setting,
            episode,
            {
                "completion": share(0 if method == "random" else 7 + seed, 10),
                "steps": count(40 + seed),
                "messages": only(None) if method == "greedy" and seed else count(0),
                "calls": count(0),
            },
            Extract(size, 0, {}, {}),
            setting,
        )
        for method in METHODS
        for size, setting in enumerate(SETTINGS, start=1)
        for seed in range(3)
        for episode in range(1, episodes + 1)
    ]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Keep the figures that are saved, by stem."""
    kept: dict[str, Any] = {}

    def save(figure: object, stem: Path) -> Path:
        kept[stem.name] = figure
        return stem

    monkeypatch.setattr(drawing, "save", save)
    return kept


def lines(axes: Axes) -> dict[str, Any]:
    return {str(line.get_label()): line for line in axes.get_lines() if not str(line.get_label()).startswith("_")}


@pytest.fixture
def figures(drawn: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    measured = samples()
    drawing.draw(compare(measured, NAMES), measured, NAMES, "caption", tmp_path / "figures", SETTINGS)
    return drawn


def test_all_are_drawn_and_tell_their_n(figures: dict[str, Any]) -> None:
    assert list(figures) == ["values", "profile", "learning", "by_level"]  # no cost was measured
    captions = {name: figure.get_suptitle().replace("\N{NO-BREAK SPACE}", " ") for name, figure in figures.items()}
    assert captions["profile"] == "caption; n = 6 instances a method"
    assert captions["learning"] == "caption; n = 6 instances a point"
    assert captions["by_level"] == "caption; n = 3 instances a point"


@pytest.mark.parametrize("name", ["profile", "learning", "by_level"])
def test_every_line_is_seen_and_the_first_lies_on_top(figures: dict[str, Any], name: str) -> None:
    drawn = lines(figures[name].axes[0])
    assert tuple(drawn) == METHODS
    assert len({str(line._unscaled_dash_pattern) for line in drawn.values()}) == len(METHODS)
    assert len({line.get_marker() for line in drawn.values()}) == len(METHODS)
    order = [drawn[method] for method in METHODS]
    assert [line.get_zorder() for line in order] == sorted((line.get_zorder() for line in order), reverse=True)
    assert [line.get_linewidth() for line in order] == sorted(line.get_linewidth() for line in order)
    shown = [line.get_xdata()[(line.get_markevery() or (0, 1))[0]] for line in order]
    assert len(set(shown)) == len(METHODS)  # no marker lies on another's, though two methods do the same
    legend = figures[name].legends[0]
    assert tuple(text.get_text() for text in legend.get_texts()) == METHODS


def test_looks_differ_in_black_and_white() -> None:
    many = [look(index) for index in range(len(COLOURS) * len(STYLES))]
    assert len({(style["marker"], str(style["linestyle"])) for style in many}) == len(many) == 36
    assert (
        len({str(style["linestyle"]) for style in many[:6]})
        == len({style["marker"] for style in many[:6]})
        == len(MARKERS)
    )
    assert layer(0, 3)["zorder"] > layer(1, 3)["zorder"] > 1 < layer(99, 100)["zorder"]


@pytest.mark.parametrize("hundredths", range(101))
def test_a_profile_counts_what_reaches_a_level_exactly(hundredths: int) -> None:
    pair = [Sample("a", f"s/{seed}", "s", 1, {"completion": share(hundredths, 100)}) for seed in range(2)]
    reached = [interval.mean for interval in drawing._reached(pair)]
    assert reached == [float(level <= hundredths) for level in range(101)]


def test_a_profile_is_drawn_in_steps(figures: dict[str, Any]) -> None:
    line = lines(figures["profile"].axes[0])["drwell"]
    assert line.get_drawstyle() == "steps-pre"
    at = dict(zip(line.get_xdata(), line.get_ydata(), strict=True))
    reached = [at[level] for level in (0.7, 0.71, 0.8, 0.9, 0.91)]
    assert reached == pytest.approx([1, 2 / 3, 2 / 3, 1 / 3, 0])
    assert figures["profile"].get_figwidth() == 3.3


def test_panels_of_values_tell_units_once_nulls_and_zeros(figures: dict[str, Any]) -> None:
    panels = {axes.get_xlabel(): axes for axes in figures["values"].axes if axes.get_visible()}
    assert list(panels) == ["Completion", "Steps", "Messages", "Calls"]
    low, high = panels["Calls"].get_xlim()
    assert low < 0 < 1 < high < 1.2
    assert list(panels["Calls"].get_xticks()) == [0, 1]
    assert [note.get_text() for note in panels["Messages"].texts] == ["4 null"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("message_tokens", "Message tokens"),
        ("talk_value_steps", "Value of talk, steps"),
        ("steps", "Steps"),
        ("completion", "Completion"),
        ("memory_duration_error", "Memory honesty, duration, steps"),
        ("learning_steps", "Learning of steps, steps/episode"),
        ("cost_usd", "Cost, USD"),
    ],
)
def test_a_label_says_the_unit_once(name: str, expected: str) -> None:
    assert label(metrics()[name]) == expected


@pytest.mark.parametrize("metric", metrics())
def test_each_label_says_its_unit(metric: str) -> None:
    unit = metrics()[metric].unit
    assert unit is None or unit.lower() in label(metrics()[metric]).lower()


def test_a_figure_of_nothing_is_left_out(drawn: dict[str, Any], tmp_path: Path) -> None:
    measured = [sample._replace(values={"steps": count(3)}) for sample in samples()]
    paths = drawing.draw(
        compare(measured, ["talk_value_steps"]),
        measured,
        ["talk_value_steps"],
        "caption",
        tmp_path / "figures",
        {"": {}},
    )
    assert [path.name for path in paths] == list(drawn) == ["learning"]


def test_intervals_are_those_of_the_tables(figures: dict[str, Any]) -> None:
    row = compare([sample for sample in samples(1) if sample.method == "drwell"], ["steps"]).rows[0]
    point = drawing._by_episode([sample for sample in samples(1) if sample.method == "drwell"], "steps")[0]
    assert point == (1.0, row.value, row.low, row.high)


def test_one_metric_and_many_episodes_are_drawn(drawn: dict[str, Any], tmp_path: Path) -> None:
    measured = samples(40)
    drawing.over("level", measured, SETTINGS, ["completion"], "caption", tmp_path / "one")
    drawing.curves(measured, "caption", tmp_path / "many")
    first, second, *_ = lines(drawn["many"].axes[0]).values()
    assert first.get_markevery() != second.get_markevery()
    assert len(first.get_xdata()) == 40


def test_files_have_the_same_bytes_every_time(tmp_path: Path) -> None:
    measured = samples(1)
    first, second = (drawing.curves(measured, "caption", tmp_path / name) for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    assert first.with_suffix(".svg").read_bytes() == second.with_suffix(".svg").read_bytes()
