"""Metrics across runs: paired with references, silence, smaller teams and untaught memories."""

from __future__ import annotations

from typing import Any

import pytest

from teamworld.metrics.definition import NULL, Value, count, metrics, share
from teamworld.metrics.summary import Extract, PlanTally
from teamworld.report import cross_run, measurement
from teamworld.report.comparison import Sample
from teamworld.report.cross_run import Partners

NOBODY = Partners({}, {})


def episode_of(
    method: str,
    completion: float = 1.0,
    steps: float = 100.0,
    *,
    seed: int = 0,
    episode: int = 1,
    team: int = 2,
    setting: str = "",
    **more: Any,
) -> Sample:
    values = {
        "success": share(completion == 1.0, 1),
        "completion": share(completion, 1),
        "steps": count(steps),
        "messages": count(more.get("tokens", 0)),
        "message_tokens": count(more.pop("tokens", 0)),
        "world_score": count(more.pop("score", 0.0)),
    }
    extract = Extract(more.pop("world", seed), team, more.pop("reused", {}), more.pop("fresh", {}))
    return Sample(method, f"cube n2 {seed}", "cube n2", episode, values, extract, setting, **more)


def values(samples: list[Sample], partners: Partners = NOBODY) -> list[dict[str, Value]]:
    return [dict(sample.values) for sample in cross_run.of_episodes(samples, partners)]


def first_value(name: str, *samples: Sample) -> Value:
    return values(list(samples))[0][name]


def test_a_score_lies_between_the_random_and_the_scripted_team() -> None:
    scores = values([episode_of("a", score=5.0), episode_of("random", score=1.0), episode_of("greedy", score=9.0)])
    assert [score["normalised_score"].value for score in scores] == [0.5, 0.0, 1.0]
    own, greedy = episode_of("a", score=5.0), episode_of("greedy", score=9.0)
    assert first_value("normalised_score", own, episode_of("random", score=9.0), greedy) == NULL
    assert first_value("normalised_score", own, greedy) == NULL


def test_talk_is_worth_what_silence_costs() -> None:
    samples = [episode_of("a", 0.9, 80, tokens=200), episode_of("silent", 0.5, 100, tokens=220)]
    aloud, quiet = values(samples, Partners({"a": "silent"}, {}))
    assert aloud["talk_value_completion"].value == pytest.approx(0.4)
    assert aloud["talk_value_steps"].value == -20
    assert "talk_value_completion" not in quiet


def test_teams_are_set_against_one_agent_and_the_best_smaller_team_on_the_same_instances() -> None:
    samples = [
        episode_of("a", 0.5, 100, team=1, setting="1"),
        episode_of("a", 1.0, 50, team=2, setting="2"),
        episode_of("a", 0.75, 80, team=4, setting="4"),
        episode_of("b", 1.0, 10, team=1, setting="1"),
    ]
    alone, two, four, _ = values(samples)
    assert two["speedup"].value is None  # the one agent did not get all done
    assert two["scaling_tax"].value == -1.0
    assert (four["scaling_tax"].num, four["scaling_tax"].den) == (0.25, 1.0)  # against two, the best smaller team
    assert alone["scaling_tax"] == NULL
    assert alone["speedup"].value is None
    solved = values([episode_of("a", 1.0, 90, team=1, setting="1"), episode_of("a", 1.0, 30, team=2, setting="2")])[1]
    assert solved["speedup"].value == 3.0


def test_learning_is_set_against_the_frozen_memory() -> None:
    samples = [episode_of("a", 0.5 + 0.1 * at, 100 - 10 * at, episode=at, tokens=50 - at) for at in range(1, 6)]
    samples += [episode_of("a:frozen", 0.5, 100, episode=at) for at in range(1, 6)]
    measured = values(samples, Partners({}, {"a": "a:frozen"}))
    gains = [episode["learning_over_frozen_completion"].value for episode in measured[:5]]
    assert gains == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    assert measured[4]["learning_over_frozen_steps"].value == -50
    learned = next(cross_run.of_units(samples)).values
    assert learned["learning_completion"].value == pytest.approx(0.1)
    assert learned["learning_steps"].value == pytest.approx(-10)
    assert learned["learning_tokens"].value == pytest.approx(-1)
    assert learned["learning_gain_steps"].value == -40  # of five episodes the last less the first
    assert learned["learning_joint_success"] == NULL
    level = next(cross_run.of_units([episode_of("a", 0.3, 70, episode=at) for at in (1, 2, 3, 4)])).values
    assert level["learning_completion"].value == 0.0


def test_reuse_is_set_against_other_plans_for_the_same_goal() -> None:
    first = episode_of(
        "a", episode=1, reused={"x": PlanTally(1, 2)}, fresh={"x": PlanTally(0, 2), "y": PlanTally(3, 3)}
    )
    second = episode_of(
        "a", episode=2, reused={"x": PlanTally(2, 2), "z": PlanTally(1, 1)}, fresh={"x": PlanTally(1, 2)}
    )
    lift = next(cross_run.of_units([first, second])).values["reuse_lift"]
    assert lift.value == pytest.approx(3 / 4 - 1 / 4)  # z was never done otherwise, y never reused
    assert lift.den == 4
    assert next(cross_run.of_units([episode_of("a")])).values["reuse_lift"].value is None


def test_what_was_learned_elsewhere_is_set_against_nothing_learned() -> None:
    samples = [episode_of("a", 0.9, 70, setting="with", memory="there"), episode_of("a", 0.6, 90, setting="without")]
    taught, untaught = values(samples)
    assert taught["transfer_completion"].value == pytest.approx(0.3)
    assert taught["transfer_steps"].value == -20
    assert "transfer_completion" not in untaught


def test_sizes_and_memories_are_told_apart() -> None:
    done = {(1, ""): 0.2, (4, ""): 0.8, (1, "there"): 0.3, (4, "there"): 0.9}
    samples = [
        episode_of("a", completion, team=team, memory=memory, setting=f"{team}{memory}")
        for (team, memory), completion in done.items()
    ]
    measured = dict(zip(done, values(samples), strict=True))
    assert measured[4, "there"]["transfer_completion"].value == pytest.approx(0.1)
    assert measured[4, "there"]["scaling_tax"].num == pytest.approx(0.3 - 0.9)  # against one agent as well taught
    assert measured[4, ""]["scaling_tax"].num == pytest.approx(0.2 - 0.8)
    other_mind = values([*samples, episode_of("a", 0.0, team=1, setting="x", others="another mind")])
    taxes = [sample["scaling_tax"] for sample in other_mind]
    assert taxes == [*(sample["scaling_tax"] for sample in measured.values()), NULL]


def test_a_comparison_shows_what_is_of_episodes_seeds_and_methods() -> None:
    samples = [episode_of("drwell", 1.0, tokens=10, seed=seed, world=7) for seed in range(5)]
    samples += [episode_of("silent", 0.5, seed=seed, world=7) for seed in range(5)]
    partners = Partners({"drwell": "silent"}, {})
    measured = measurement.Measurement(
        list(cross_run.of_episodes(samples, partners)), list(cross_run.of_units(samples))
    )
    shown = measurement.compared(measured, ["completion", "talk_value_completion", "learning_completion"])
    rows = {(row.method, row.metric): row for row in shown.rows}
    assert rows["drwell", "talk_value_completion"].value == pytest.approx(0.5)
    assert rows["drwell", "talk_value_completion"].n == 5
    assert {pair.metric for pair in shown.paired} == {"completion"}


def test_settings_on_the_same_layout_are_one_observation() -> None:
    alone = [episode_of("drwell", 0.1 * seed, seed=seed) for seed in range(6)]
    four = [episode_of("drwell", 0.1 * seed, seed=seed, setting=name) for seed in range(6) for name in "abcd"]
    rows = [
        measurement.compared(measurement.Measurement(samples, []), ["completion"]).rows[0] for samples in (alone, four)
    ]
    assert (rows[0].n, rows[0].low, rows[0].high) == (rows[1].n, rows[1].low, rows[1].high)


def test_every_metric_across_runs_is_one_that_a_comparison_can_show() -> None:
    assert {name for name, metric in metrics().items() if not metric.is_of_episode} <= set(
        measurement.metric_names("all")
    )


# ---- formulas


def test_golden_numbers() -> None:
    assert cross_run.later_gain([1, 2, 3, 4, 5, 6, 7]).value == 5.0
    assert cross_run.later_gain([1, 2]) == NULL


def test_scores_beyond_the_reference_are_not_clipped() -> None:
    better = values([episode_of("a", score=11.0), episode_of("random", score=1.0), episode_of("greedy", score=9.0)])[0]
    assert better["normalised_score"].value == 1.25
