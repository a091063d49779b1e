"""Figures: written, the same bytes every time, and refused where there is nothing to draw."""

from __future__ import annotations

from pathlib import Path

import pytest

from teamworld.errors import UserError
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow
from teamworld.report.episode_columns import EpisodeColumns
from teamworld.report.figure_style import COLOURS, STYLES, look
from teamworld.report.run_figures import draw_all, learning_curve
from tests.report.test_tables import DRWELL, EXPERIMENT, GREEDY

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def _needs_matplotlib() -> None:
    pytest.importorskip("matplotlib")


def test_the_learning_curve_has_the_same_bytes_every_time(tmp_path: Path) -> None:
    rows = [*DRWELL, *GREEDY]
    first = learning_curve(EpisodeColumns(rows), EXPERIMENT, tmp_path / "first.png")
    assert first == tmp_path / "first.png"
    again = learning_curve(EpisodeColumns(rows), EXPERIMENT, tmp_path / "again.png")
    assert first.read_bytes().startswith(PNG)
    assert first.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("rows", [DRWELL, [*DRWELL[1:], *GREEDY]], ids=["a method less", "an episode less"])
def test_the_learning_curve_shows_the_rows(tmp_path: Path, rows: list[EpisodeRow]) -> None:
    whole = learning_curve(EpisodeColumns([*DRWELL, *GREEDY]), EXPERIMENT, tmp_path / "whole.png")
    part = learning_curve(EpisodeColumns(rows), EXPERIMENT, tmp_path / "part.png")
    assert part.read_bytes() != whole.read_bytes()


def test_one_seed_is_drawn_without_a_band(tmp_path: Path) -> None:
    experiment = ExperimentSpec(methods=("drwell",), episodes=2, seeds=(0,))
    assert learning_curve(EpisodeColumns(DRWELL[:2]), experiment, tmp_path / "one.png").read_bytes().startswith(PNG)


def test_no_two_of_many_lines_look_alike(tmp_path: Path) -> None:
    many = range(len(COLOURS) * len(STYLES))
    assert len({tuple(look(index).values()) for index in many}) == len(many)
    labels = ("drwell", "greedy", *(f"drwell:v{number}" for number in range(9)))
    rows = [row._replace(method=label) for label in labels for row in DRWELL]
    experiment = EXPERIMENT.model_copy(update={"methods": labels})
    assert learning_curve(EpisodeColumns(rows), experiment, tmp_path / "many.png").read_bytes().startswith(PNG)


def test_figures_of_a_run(tmp_path: Path) -> None:
    drawn = draw_all(RunFolder(tmp_path), EXPERIMENT, EpisodeColumns([*DRWELL, *GREEDY]))
    assert drawn == [tmp_path / "figures" / "learning_curve.png"]  # no memory file: no world model
    assert drawn[0].read_bytes().startswith(PNG)
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]


def test_without_episodes_there_is_nothing_to_draw(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no finished episode") as caught:
        draw_all(RunFolder(tmp_path), EXPERIMENT, EpisodeColumns([]))
    assert str(tmp_path) in str(caught.value)
    assert list(tmp_path.iterdir()) == []
