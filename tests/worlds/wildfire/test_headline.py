"""The headline of each level, and the damage of a fire that nobody fights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from teamworld.experiment.api import run
from teamworld.experiment.store.folder import RunFolder
from teamworld.metrics.definition import metrics
from teamworld.report.episode_columns import EpisodeColumns
from teamworld.report.tables import by_method, of_run
from teamworld.worlds.contract import StepResult
from teamworld.worlds.wildfire.headline import headline_of
from teamworld.worlds.wildfire.levels import LEVELS, level_for
from teamworld.worlds.wildfire.physics import fights_fire
from teamworld.worlds.wildfire.world import WildfireWorld, make

FIRES = ["suppress_fire_contain", "suppress_fire_locate_and_suppress@2026", "dynamic_sudden_growth"]
STEPS = 25


def played(world: WildfireWorld, seed: int, *, idle: bool) -> list[StepResult]:
    """Play to the end: nobody does anything, or each agent does the first thing that it could."""
    world.reset(seed)
    results: list[StepResult] = []
    while not results or results[-1].end_reason is None:
        gone = {agent for result in results for agent in result.gone}
        able = [] if idle else [agent for agent in world.spec.agents if agent not in gone]
        options = {agent: world.view(agent).options for agent in able}
        results.append(world.step({agent: some[0].action for agent, some in options.items() if some}))
    return results


@pytest.mark.parametrize("options", [{}, {"fire": "stochastic", "score": "burnt"}], ids=["reference", "stochastic"])
@pytest.mark.parametrize("level", FIRES)
def test_the_damage_of_doing_nothing_is_told_at_the_end_and_is_that_of_who_does_nothing(
    level: str, options: Mapping[str, object]
) -> None:
    for seed in range(2):
        world = make(level, seed, STEPS, options)
        busy, idle = played(world, seed, idle=False), played(world, seed, idle=True)
        assert busy[-1].idle == idle[-1].idle
        assert not any(result.idle for result in (*busy[:-1], *idle[:-1]))
        total = sum(result.score["reward"] for result in idle)
        assert idle[-1].idle == {**idle[-1].score, "reward": total}
        assert idle[-1].score["score"] < 0
        assert any(outcome.moved for result in busy for outcome in result.outcomes.values())


def test_only_fires_tell_of_it() -> None:
    assert not played(make("cut_trees_sparse_small", 0, 5, {}), 0, idle=True)[-1].idle


@pytest.mark.parametrize("name", LEVELS)
def test_every_level_has_a_headline_of_metrics(name: str) -> None:
    for score in ("reference", "burnt"):
        measures = headline_of(level_for(name), score)
        assert measures[0].metric == "world_score"
        assert all(part.metric in metrics() and "\n" not in part.definition for part in measures)
        assert ("damage_prevented" in {part.metric for part in measures}) == fights_fire(level_for(name))


def test_a_fire_level_knows_no_success_and_tells_what_it_charges(tmp_path: Path) -> None:
    rows = run("wildfire", level=FIRES[0], method=["do_nothing", "greedy"], seed=[0, 1], max_steps=STEPS, out=tmp_path)
    for row in rows:
        values = {part.metric: part.value.value for part in row.summary.headline}
        assert row.summary.success is None
        assert values["world_score"] == row.summary.reward < 0 < (values["area_burnt"] or 0)
        assert (values["damage_prevented"] == 0.0) == (row.method == "do_nothing")
    experiment = RunFolder(tmp_path).experiment()
    columns = EpisodeColumns(rows)
    table = by_method(columns, experiment)
    assert table.columns[2:6] == ("world score", "damage prevented", "area burnt", "steps")
    assert table.plain()["rows"][0]["damage prevented"] == "0.00 (2/2)"
    assert "1 a tree burnt or cut" in table.caption
    assert of_run(columns, experiment)[0].columns[1:3] == ("do_nothing world score", "do_nothing damage prevented")
