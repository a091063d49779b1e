"""The published values: they load, have the shapes of their axes, and a slip in the file is refused."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from teamworld.report.reproduce.measure import VERBS
from teamworld.report.reproduce.published import METHODS, Band, Strip, parse, published, step_seconds

TEXT = files("teamworld.report.reproduce").joinpath("published.yaml").read_text("utf-8")


def test_the_drwell_tables_have_the_shapes_of_their_axes() -> None:
    paper = published().drwell
    assert set(paper.runs) == set(METHODS)
    for runs in paper.runs.values():
        assert runs.completed.shape == runs.steps.shape == runs.seconds.shape == (1, 3, 10)
        assert runs.completed.dtype == np.bool_
    assert len(paper.commitments) == 10
    assert all(len(episode) == 2 for episode in paper.commitments)


def test_some_values_stand_where_the_paper_has_them() -> None:
    paper = published()
    drwell = paper.drwell.runs["drwell"]
    assert drwell.completed[0, 0].tolist() == [False] * 4 + [True] * 6
    assert drwell.steps[0, 0, 7] == 148
    assert np.isinf(drwell.steps[0, 0, :4]).all()
    assert drwell.seconds[0, 2, 9] == 8
    assert paper.drwell.runs["zero_shot"].completed[0, 0].sum() == 3
    assert paper.drwell.commitments[9][1] == (Strip(2, 0, 22), Strip(0, 22, 123))
    assert paper.cube.baselines.measures["steps"]["gpt-4o"][1] == Band(147, 138, 161)
    assert paper.cube.baselines.measures["seconds"]["heuristic"][3] == Band(8.4, 8.4, 8.4)
    assert paper.cube.scaling.seconds[-1] == 0.047
    assert paper.cube.actions.seconds["push_block"][-1] == 0.0366


def test_the_cube_tables_have_the_shapes_of_their_axes() -> None:
    cube = published().cube
    assert cube.baselines.sizes == (1, 2, 4, 8)
    for planners in cube.baselines.measures.values():
        assert set(planners) == {"gpt-4o", "gpt-4o-mini", "heuristic"}
        assert all(len(bands) == 4 for bands in planners.values())
    assert len(cube.scaling.sizes) == len(cube.scaling.seconds) == 12
    assert set(cube.actions.seconds) == set(VERBS)
    assert all(len(row) == len(cube.actions.sizes) == 9 for row in cube.actions.seconds.values())


def test_the_step_time_is_the_heuristics_run_time_over_its_steps() -> None:
    assert step_seconds() == pytest.approx(4.7 / 100)


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("C---C----C", "C---C----", "numbers in the shape"),  # a ragged table
        ("[C---C----C, CCCCCCCCCC, CCCCCCCCCC]", "[C---C----C, CCCCCCCCCC]", "shape"),
        ("C---C----C", "C---c----C", "C and -"),
        ("[142, .inf, 149", "[142, many, 149", "numbers"),
        ("[142, .inf, 149", "[-142, .inf, 149", "0 or more"),
        ("[142, .inf, 149", "[.nan, .inf, 149", "0 or more"),
        ("[2, 37, 98]", "[3, 37, 98]", "from < to"),
        ("[2, 37, 98]", "[2, 98, 37]", "from < to"),
        ("[2, 37, 98]", "[2, 30, 98]", "overlap"),
        ("[147, 138, 161]", "[147, 150, 161]", "within its band"),
        ("    source: drwell C3\n", "", "no source"),
        ("blocks: [1, 3, 3, 6]", "blocks: [1, 3, 3]", "number of blocks"),
        ("cpu: [0, 0, 2,", "cpu: [0, 2,", "shape"),
    ],
)
def test_a_slip_in_the_file_is_refused(old: str, new: str, match: str) -> None:
    assert TEXT.count(old) == 1
    with pytest.raises(ValueError, match=match):
        parse(TEXT.replace(old, new))
