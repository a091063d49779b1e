"""What is proven of the steps of instances: no team beats it, whichever method it plays."""

from __future__ import annotations

from pathlib import Path

import pytest

from teamworld.experiment.api import run
from teamworld.worlds import registry

PLACES = (
    *(("household", "dev", method) for method in ("mhp:plus", "greedy")),
    *(("wildfire", level, "greedy") for level in ("rescue_civilians_known_location_small", "cut_trees_lines_small")),
    *(("wildfire", level, "greedy") for level in ("cut_trees_sparse_small", "scout_fire_small")),
    ("wildfire", "transport_firefighters_small", "drwell"),
    ("wildfire", "rescue_civilians_search_rescue_transport", "greedy"),
    ("rware", "rware-tiny-2ag-v2", "greedy"),
)


#: Instances of homes whose bounds take seconds, where others take up to a minute.
HOMES = (4, 9)


@pytest.mark.heavy
@pytest.mark.parametrize(("world", "level", "method"), PLACES)
def test_no_run_beats_the_bound(world: str, level: str, method: str, tmp_path: Path) -> None:
    seeds = HOMES if world == "household" else range(3)
    for row in run(world, level=level, method=method, seed=seeds, out=tmp_path / "run"):
        bound = registry.step_bound(world, level, row.seed, {})
        assert bound is not None
        assert bound.steps > 0
        assert not row.summary.success or row.summary.steps >= bound.steps


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("world", "level", "method", "options"),
    [
        ("overcooked", "cramped_room", "greedy", {"soups": 1}),
        ("overcooked", "asymmetric_advantages", "greedy", {"soups": 2}),
        ("overcooked", "forced_coordination", "greedy", {"soups": 1}),
    ],
)
def test_no_run_with_options_beats_the_bound(
    world: str, level: str, method: str, options: dict[str, object], tmp_path: Path
) -> None:
    (row,) = run(world, level=level, method=method, seed=[0], options={world: options}, out=tmp_path / "run")
    bound = registry.step_bound(world, level, 0, options)
    assert bound is not None
    assert bound.steps > 0
    assert row.summary.steps >= bound.steps
    assert row.summary.success


def test_bodies_that_are_shifted_further_may_deliver_earlier() -> None:
    for level in ("dev", "test-food-low"):
        for seed in range(5):
            slow, fast = (registry.step_bound("transport", level, seed, {"creep": creep}) for creep in (0.06, 0.5))
            alone = registry.step_bound("transport", level, seed, {"agents": 1})
            assert slow is not None
            assert fast is not None
            assert alone is not None
            assert 0 < fast.steps <= slow.steps < 3000
            assert alone.steps >= 25  # five frames for each of the targets at least


@pytest.mark.parametrize("level", ["suppress_fire_contain", "full_game"])
def test_nothing_is_proven_of_the_steps_of_who_fights_a_fire(level: str) -> None:
    assert registry.step_bound("wildfire", level, 0, {}) is None


@pytest.mark.heavy
@pytest.mark.parametrize("options", [{}, {"agents": 1}, {"agents": 3}, {"sight": "cone"}, {"strict_put": True}])
def test_plans_that_were_played_in_homes_do_not_beat_the_bound(options: dict[str, object]) -> None:
    for seed in HOMES:
        bound = registry.step_bound("household", "dev", seed, options)
        assert bound is not None
        assert bound.planned is not None
        assert 0 < bound.steps <= bound.planned
    assert registry.step_bound("household", "dev", 0, {**options, "mode": "engine"}) is None
