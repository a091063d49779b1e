"""Metrics across runs: paired with references, silence, smaller teams and untaught memories."""

from __future__ import annotations

from typing import Any

import pytest

from teamworld.metrics.definition import NULL, Value, count, metrics, only, share
from teamworld.metrics.extract import Extract, Tally
from teamworld.report import comparison, cross_run
from teamworld.report.compare import Sample
from teamworld.report.cross_run import Partners

NOBODY = Partners({}, {})


def one(
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
        "O1": share(completion == 1.0, 1),
        "O2": share(completion, 1),
        "E1": count(steps),
        "M1": count(more.get("tokens", 0)),
        "M2": count(more.pop("tokens", 0)),
        "O7.raw": count(more.pop("score", 0.0)),
    }
    extract = Extract(more.pop("world", seed), team, more.pop("reused", {}), more.pop("fresh", {}))
    return Sample(method, f"cube n2 {seed}", "cube n2", episode, values, extract, setting, **more)


def values(found: list[Sample], partners: Partners = NOBODY) -> list[dict[str, Value]]:
    return [dict(sample.values) for sample in cross_run.of_episodes(found, partners)]


def test_a_score_lies_between_the_random_and_the_scripted_team() -> None:
    found = values([one("a", score=5.0), one("random", score=1.0), one("greedy", score=9.0)])
    assert [told["O7"].value for told in found] == [0.5, 0.0, 1.0]
    assert values([one("a", score=5.0), one("random", score=9.0), one("greedy", score=9.0)])[0]["O7"] == NULL
    assert values([one("a", score=5.0), one("greedy", score=9.0)])[0]["O7"] == NULL


def test_steps_are_set_against_those_of_the_scripted_team_where_it_gets_all_done() -> None:
    assert values([one("a", 1.0, 60), one("greedy", 1.0, 40)])[0]["E4"].value == pytest.approx(2 / 3)
    assert values([one("a", 0.5, 60), one("greedy", 1.0, 40)])[0]["E4"].value == 0.0
    assert values([one("a", 1.0, 60), one("greedy", 0.9, 150)])[0]["E4"] == NULL
    assert values([one("a", 1.0, 60), one("greedy", 1.0, 40, seed=1)])[0]["E4"] == NULL  # another instance


def test_talk_is_worth_what_silence_costs() -> None:
    found = [one("a", 0.9, 80, tokens=200), one("silent", 0.5, 100, tokens=220)]
    told, quiet = values(found, Partners({"a": "silent"}, {}))
    assert told["M14.C"].value == pytest.approx(0.4)
    assert told["M14.T"].value == -20
    assert told["M15"].value == pytest.approx(2.0)  # 0.4 for 200 tokens
    assert "M14.C" not in quiet


def test_teams_are_set_against_one_agent_and_the_best_smaller_team_on_the_same_instances() -> None:
    found = [
        one("a", 0.5, 100, team=1, setting="1"),
        one("a", 1.0, 50, team=2, setting="2"),
        one("a", 0.75, 80, team=4, setting="4"),
        one("b", 1.0, 10, team=1, setting="1"),
    ]
    alone, two, four, _ = values(found)
    assert (two["E2.T"].value, two["E2.C"].value) == (0.5, 0.5)
    assert two["E3.speed"].value is None  # the one agent did not get all done
    assert two["D23"].value == -1.0
    assert (four["D23"].num, four["D23"].den) == (0.25, 1.0)  # against two, the best smaller team
    assert alone["D23"] == NULL
    assert "E2.T" not in alone
    solved = values([one("a", 1.0, 90, team=1, setting="1"), one("a", 1.0, 30, team=2, setting="2")])[1]
    assert (solved["E3.speed"].value, solved["E3.efficiency"].value) == (3.0, 1.5)


def test_learning_is_set_against_the_frozen_memory() -> None:
    found = [one("a", 0.5 + 0.1 * at, 100 - 10 * at, episode=at, tokens=50 - at) for at in range(1, 6)]
    found += [one("a:frozen", 0.5, 100, episode=at) for at in range(1, 6)]
    told = values(found, Partners({}, {"a": "a:frozen"}))
    assert [round(one["B11.area.C"].value or 0.0, 9) for one in told[:5]] == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert told[4]["B11.area.T"].value == -50
    learned = next(cross_run.of_units(found)).values
    assert learned["B11.C"].value == pytest.approx(0.1)
    assert learned["B11.T"].value == pytest.approx(-10)
    assert learned["B11.tokens"].value == pytest.approx(-1)
    assert learned["B11.gain.T"].value == -40  # of five episodes the last less the first
    assert learned["B11.joint"] == NULL
    level = next(cross_run.of_units([one("a", 0.3, 70, episode=at) for at in (1, 2, 3, 4)])).values
    assert level["B11.C"].value == 0.0


def test_reuse_is_set_against_other_plans_for_the_same_goal() -> None:
    first = one("a", episode=1, reused={"x": Tally(1, 2)}, fresh={"x": Tally(0, 2), "y": Tally(3, 3)})
    second = one("a", episode=2, reused={"x": Tally(2, 2), "z": Tally(1, 1)}, fresh={"x": Tally(1, 2)})
    lift = next(cross_run.of_units([first, second])).values["B12.lift"]
    assert lift.value == pytest.approx(3 / 4 - 1 / 4)  # z was never done otherwise, y never reused
    assert lift.den == 4
    assert next(cross_run.of_units([one("a")])).values["B12.lift"].value is None


def test_what_was_learned_elsewhere_is_set_against_nothing_learned() -> None:
    found = [one("a", 0.9, 70, setting="with", memory="there"), one("a", 0.6, 90, setting="without")]
    told, untaught = values(found)
    assert told["B14.C"].value == pytest.approx(0.3)
    assert told["B14.T"].value == -20
    assert "B14.C" not in untaught


def test_sizes_and_memories_are_told_apart() -> None:
    done = {(1, ""): 0.2, (4, ""): 0.8, (1, "there"): 0.3, (4, "there"): 0.9}
    found = [
        one("a", completion, team=team, memory=memory, setting=f"{team}{memory}")
        for (team, memory), completion in done.items()
    ]
    told = dict(zip(done, values(found), strict=True))
    assert told[4, "there"]["B14.C"].value == pytest.approx(0.1)
    assert told[4, "there"]["E2.C"].value == pytest.approx(0.6 / 0.9)  # against one agent as well taught
    assert told[4, ""]["D23"].num == pytest.approx(0.2 - 0.8)
    other_mind = values([*found, one("a", 0.0, team=1, setting="x", others="another mind")])
    assert [one["E2.C"].value for one in other_mind if "E2.C" in one] == [
        one["E2.C"].value for one in told.values() if "E2.C" in one
    ]


def test_reliability_takes_repeats_of_one_instance() -> None:
    wins = [True, True, True, True, False]
    found = [one("a", 1.0 if won else 0.5, seed=seed, world=7) for seed, won in enumerate(wins)]
    rows = {row.metric: row for row in cross_run.of_methods(found, ("M1",))}
    assert rows["O8"].value == pytest.approx(0.4)  # metrics spec, section 12
    assert (rows["O8"].low, rows["O8"].high) == (None, None)
    apart = [one("a", seed=seed) for seed in range(5)]  # each seed has a layout of its own: nothing is repeated
    assert next(cross_run.of_methods(apart, ("M1",))).value is None


def test_a_method_is_on_the_frontier_if_none_is_better_and_cheaper() -> None:
    found = [one("good", 0.9, tokens=10), one("dear", 0.8, tokens=20), one("cheap", 0.5, tokens=0)]
    told = {(row.method, row.metric): row.value for row in cross_run.of_methods(found, ("K2", "M2"))}
    assert [told[name, "K10.cost"] for name in ("good", "dear", "cheap")] == [1.0, 0.0, 1.0]
    quick = [one("good", 0.9, 50), one("slow", 0.8, 90), one("quick", 0.5, 20)]
    told = {(row.method, row.metric): row.value for row in cross_run.of_methods(quick, ("K2", "M2"))}
    assert [told[name, "K10.T"] for name in ("good", "slow", "quick")] == [1.0, 0.0, 1.0]


def test_a_comparison_shows_what_is_of_episodes_seeds_and_methods() -> None:
    found = [one("drwell", 1.0, tokens=10, seed=seed, world=7) for seed in range(5)]
    found += [one("silent", 0.5, seed=seed, world=7) for seed in range(5)]
    partners = Partners({"drwell": "silent"}, {})
    measured = comparison.Measured(list(cross_run.of_episodes(found, partners)), list(cross_run.of_units(found)))
    shown = comparison.compared(measured, ["O2", "M14.C", "O8", "K10.cost", "B11.C"])
    rows = {(row.method, row.metric): row for row in shown.rows}
    assert rows["drwell", "M14.C"].value == pytest.approx(0.5)
    assert rows["drwell", "M14.C"].n == 5
    assert rows["drwell", "O8"].value == 1.0  # all five solved it: a seed's own sample is no repeat
    assert rows["silent", "O8"].value == 0.0
    assert rows["drwell", "K10.cost"].value == 1.0
    assert {pair.metric for pair in shown.paired} == {"O2"}


def test_settings_on_the_same_layout_are_one_observation() -> None:
    alone = [one("drwell", 0.1 * seed, seed=seed) for seed in range(6)]
    four = [one("drwell", 0.1 * seed, seed=seed, setting=name) for seed in range(6) for name in "abcd"]
    rows = [comparison.compared(comparison.Measured(found, []), ["O2"]).rows[0] for found in (alone, four)]
    assert (rows[0].n, rows[0].low, rows[0].high) == (rows[1].n, rows[1].low, rows[1].high)


def test_every_metric_across_runs_is_one_that_a_comparison_can_show() -> None:
    defined = {name for name, metric in metrics().items() if metric.basis == "runs"}
    shown = set(comparison.named("all"))
    assert defined - shown == {"E13.gain", "K11"}
    assert only(None) == NULL
