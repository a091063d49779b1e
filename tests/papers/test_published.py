"""The published values: they have the shapes of their axes, and stand where the papers have them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from teamworld.papers import PaperOptions, cube, drwell
from teamworld.papers.cube.costs import VERBS
from teamworld.papers.cube.figures import Band
from teamworld.papers.drwell.claims import METHODS, published_runs
from teamworld.papers.drwell.figures import Strip
from teamworld.papers.reproduction import load_yaml


@pytest.mark.parametrize("paper", ["drwell", "cube", "wildfire", "cwah", "tdwmat"])
def test_every_table_names_its_source(paper: str) -> None:
    tables = [table for table in load_yaml(paper, "published").values() if isinstance(table, dict) and 0 not in table]
    assert tables
    assert all(isinstance(table["source"], str) for table in tables)


def test_the_drwell_tables_have_the_shapes_of_their_axes() -> None:
    assert set(published_runs()) == set(METHODS)
    for runs in published_runs().values():
        assert runs.completed.shape == runs.steps.shape == runs.seconds.shape == (1, 3, 10)
        assert runs.completed.dtype == np.bool_
        assert (runs.steps > 0).all()
        assert (runs.seconds > 0).all()
    commitments = drwell.published_commitments()
    assert len(commitments) == 10
    agents = [agent for episode in commitments for agent in episode]
    assert len(agents) == 20
    for strips in agents:
        assert all(strip.block in range(3) and 0 <= strip.begin < strip.end for strip in strips)
        assert all(before.end <= after.begin for before, after in pairwise(strips))


def test_the_cube_tables_have_the_shapes_of_their_axes() -> None:
    baselines, scaling, actions = cube.published().values()
    assert baselines["sizes"] == [1, 2, 4, 8]
    assert len(baselines["blocks"]) == 4
    for planners in baselines["measures"].values():
        assert set(planners) == {"gpt-4o", "gpt-4o-mini", "heuristic"}
        assert all(len(bands) == 4 for bands in planners.values())
        assert all(band.low <= band.mean <= band.high for bands in planners.values() for band in bands)
    assert all(len(scaling[name]) == 12 for name in ("sizes", "seconds", "gigabytes", "cpu"))
    assert set(actions["seconds"]) == set(VERBS)
    assert all(len(row) == len(actions["sizes"]) == 9 for row in actions["seconds"].values())
    plan = cube.CubePlan()
    sizes = [list(own) for own in (plan.sizes, plan.step_sizes, plan.action_sizes)]
    assert sizes == [table["sizes"] for table in (baselines, scaling, actions)]


def test_some_values_stand_where_the_paper_has_them() -> None:
    paper, runs = cube.published(), published_runs()
    assert runs["drwell"].completed[0, 0].tolist() == [False] * 4 + [True] * 6
    assert runs["drwell"].steps[0, 0, 7] == 148
    assert np.isinf(runs["drwell"].steps[0, 0, :4]).all()
    assert runs["drwell"].seconds[0, 2, 9] == 8
    assert runs["zero_shot"].completed[0, 0].sum() == 3
    assert drwell.published_commitments()[9][1] == (Strip(2, 0, 22), Strip(0, 22, 123))
    assert paper["baselines"]["measures"]["steps"]["gpt-4o"][1] == Band(147, 138, 161)
    assert paper["baselines"]["measures"]["seconds"]["heuristic"][3] == Band(8.4, 8.4, 8.4)
    assert paper["scaling"]["seconds"][-1] == 0.047
    assert paper["actions"]["seconds"]["push_block"][-1] == 0.0366


def test_the_default_times_are_those_of_the_cube_paper() -> None:
    """Latency of gpt-4o, and the run time of the heuristic over its steps."""
    plan = drwell.plan(PaperOptions(), None)
    assert (plan.latency, plan.step_time) == pytest.approx((0.7, 4.7 / 100))
