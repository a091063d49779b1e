"""Tables of a run that is small enough to work out by hand."""

from __future__ import annotations

import io
import re

import msgspec
import pytest
from rich.console import Console

from teamworld.experiment.spec import ExperimentSpec, MessageProtocol
from teamworld.experiment.store.results import EpisodeRow
from teamworld.metrics.all_metrics import HeadlineValue
from teamworld.metrics.definition import Value, share
from teamworld.metrics.summary import Rate, Summary
from teamworld.report import measurement
from teamworld.report.episode_columns import EpisodeColumns
from teamworld.report.tables import Table, by_episode, by_method, describe_reasoner, of_run, rich_tables

METHODS = ("drwell", "greedy")
EXPERIMENT = ExperimentSpec(level="n2", methods=METHODS, episodes=2, seeds=(0, 1, 2), max_steps=150)


def row(
    method: str,
    seed: int,
    episode: int,
    completion: float | None,
    steps: int,
    *,
    messages: int = 0,
    attempts: Rate = Rate(0, 0),  # noqa: B008  (an immutable value)
    plans: Rate = Rate(0, 0),  # noqa: B008
    asked: tuple[int, int] = (0, 0),
) -> EpisodeRow:
    summary = Summary(
        completion=completion,
        success=None if completion is None else completion == 1.0,
        steps=steps,
        anytime=completion,
        reward=0.0,
        done={},
        plans=plans,
        attempts=attempts,
        messages=messages,
        questions=asked[1],
        re_asked=asked[0],
        fallbacks=0,
        reason="all_done" if completion == 1.0 else "horizon",
    )
    return EpisodeRow(f"{method}-s{seed}", episode, method, seed, summary, "digest", 1.0)


DRWELL = [
    row("drwell", 0, 1, 0.5, 100, messages=2, attempts=Rate(1, 4), plans=Rate(3, 4), asked=(1, 10)),
    row("drwell", 0, 2, 1.0, 50, messages=4, plans=Rate(2, 2), asked=(0, 10)),
    row("drwell", 1, 1, 1.0, 40, attempts=Rate(2, 2), plans=Rate(1, 1), asked=(1, 5)),
    row("drwell", 1, 2, 1.0, 20, attempts=Rate(2, 2), plans=Rate(1, 1)),
    row("drwell", 2, 1, 0.0, 150, messages=6, plans=Rate(0, 9), asked=(0, 5)),
    row("drwell", 2, 2, 0.5, 150, messages=6, attempts=Rate(0, 12), plans=Rate(3, 3), asked=(0, 10)),
]
GREEDY = [row("greedy", seed, episode, 1.0, 80) for seed in range(3) for episode in (1, 2)]


def test_episodes_are_averaged_over_seeds() -> None:
    table = by_episode(EpisodeColumns([*GREEDY, *DRWELL]), EXPERIMENT)
    assert table.columns == ("episode", "drwell completion", "drwell steps", "greedy completion", "greedy steps")
    assert table.rows == (("1", "0.50", "96.7", "1.00", "80.0"), ("2", "0.83", "73.3", "1.00", "80.0"))
    assert "mean of 3 seeds" in table.caption
    assert "at most 150 steps" in table.caption


def test_an_episode_that_nobody_has_run_is_no_number() -> None:
    table = by_episode(EpisodeColumns(DRWELL[:1]), EXPERIMENT)
    assert table.rows == (("1", "0.50", "100.0", "none", "none"), ("2", "none", "none", "none", "none"))


def test_methods_with_intervals_over_seeds() -> None:
    table = by_method(EpisodeColumns([*GREEDY, *DRWELL]), EXPERIMENT)
    lines = table.plain()["rows"]
    # Seeds average 0.75, 1 and 0.25. One resample in 27 has the least of them three times: more than 2.5 %.
    assert lines[0] == {
        "method": "drwell",
        "episodes": "6",
        "completion": "0.67 [0.00, 1.00]",
        "solved": "0.50 [0.00, 1.00]",
        "steps": "85.0 [0.0, 150.0]",
        "joint acts": "0.25 (5/20)",
        "plans": "0.50 (10/20)",
        "messages": "3.0",
        "re-asked": "0.05 (2/40)",
    }
    assert lines[1] == {
        "method": "greedy",
        "episodes": "6",
        "completion": "1.00 (3/3)",
        "solved": "1.00 [0.44, 1.00]",
        "steps": "80.0 (3/3)",
        "joint acts": "none",
        "plans": "none",
        "messages": "0.0",
        "re-asked": "none",
    }
    assert "3 seeds" in table.caption


def of_fire(seed: int, score: float, saved: float, whole: float) -> EpisodeRow:
    """Return an episode on a level that asks for no goals."""
    plain = row("greedy", seed, 1, 1.0, 30)
    headline = (
        HeadlineValue("world_score", "points", "high", "minus what is lost", Value(score, score, None)),
        HeadlineValue("damage_prevented", "", "high", "share kept", share(saved, whole)),
    )
    return plain._replace(summary=msgspec.structs.replace(plain.summary, success=None, headline=headline))


def test_a_level_that_asks_for_no_goals_shows_its_headline_instead() -> None:
    rows = [of_fire(0, -10.0, 90.0, 100.0), of_fire(1, -30.0, -20.0, 10.0)]
    experiment = ExperimentSpec(methods=("greedy",), seeds=(0, 1), max_steps=100)
    table, episodes = by_method(EpisodeColumns(rows), experiment), by_episode(EpisodeColumns(rows), experiment)
    assert table.columns[2:5] == ("world score", "damage prevented", "steps")
    # 70 of 110: a small fire does not outweigh a large one, as in the mean of 0.9 and -2
    assert table.rows[0][2:5] == ("-20.0 [-147.1, 107.1]", "0.64 [-17.79, 1.00]", "30.0 (2/2)")
    assert "world score (points, more is better): minus what is lost" in table.caption
    assert (episodes.columns[1:], episodes.rows) == (
        ("greedy world score", "greedy damage prevented"),
        (("1", "-20.0", "0.64"),),
    )


def test_a_comparison_is_made_for_one_metric() -> None:
    fire, goals = [of_fire(0, -10.0, 9.0, 10.0)], DRWELL
    names = measurement.metric_names(None, rows=fire)
    assert names[:2] == ("world_score", "damage_prevented")
    assert measurement.primary_metrics(fire) == ("world_score",)
    assert measurement.primary_metrics(fire, "area_burnt,steps") == ("area_burnt", "steps")
    assert {"steps", "message_tokens"} < set(names)
    assert not {"success", "completion", "anytime_completion"} & set(names)
    assert {"success", "completion", "anytime_completion"} < set(measurement.metric_names(None, rows=[*fire, *goals]))
    assert measurement.primary_metrics(goals) == measurement.primary_metrics([*fire, *goals]) == ("steps",)


def test_every_seed_weighs_the_same() -> None:
    rows = [row("drwell", 0, 1, 0.0, 10), *(row("drwell", 1, episode, 1.0, 30) for episode in (1, 2, 3))]
    line = by_method(EpisodeColumns(rows), EXPERIMENT).plain()["rows"][0]
    assert line["completion"] == "0.50 [0.00, 1.00]"  # 0.75 if episodes were pooled
    assert line["steps"] == "20.0 [0.0, 147.1]"


def test_an_episode_without_goals_is_left_out_of_means() -> None:
    rows = [row("drwell", 0, 1, None, 10), row("drwell", 0, 2, 1.0, 30), row("drwell", 1, 1, 0.5, 20)]
    line = by_method(EpisodeColumns(rows), EXPERIMENT).plain()["rows"][0]
    assert (line["completion"], line["solved"]) == ("0.75 [0.00, 1.00]", "0.50 [0.09, 0.91]")
    assert by_episode(EpisodeColumns(rows), EXPERIMENT).rows[0][1:3] == ("0.50", "15.0")
    assert by_method(EpisodeColumns(rows[:1]), EXPERIMENT).plain()["rows"][0]["completion"] == "none"


def test_one_seed_has_no_interval() -> None:
    line = by_method(EpisodeColumns(DRWELL[:2]), EXPERIMENT).plain()["rows"][0]
    assert (line["completion"], line["solved"], line["steps"]) == ("0.75", "0.50", "75.0")
    single = ExperimentSpec(methods=("drwell",), seeds=(7,))
    assert "seed 7" in by_episode(EpisodeColumns([]), single).caption


def test_a_method_without_episodes_is_named() -> None:
    table = by_method(EpisodeColumns(DRWELL), EXPERIMENT)
    assert table.rows[1] == ("greedy", "0", *["none"] * 7)
    assert [shown.title for shown in of_run(EpisodeColumns(DRWELL), EXPERIMENT)] == [
        "cube n2: episodes in a row",
        "cube n2: methods",
    ]


def test_the_mind_is_called_what_it_is() -> None:
    assert describe_reasoner(EXPERIMENT) == "built-in rules, no language model"
    erring = describe_reasoner(ExperimentSpec(reasoner="rules:noise=0.1"))
    assert "stand-in" in erring
    assert "rules:noise=0.1" in erring
    assert "no language model" in erring
    assert describe_reasoner(ExperimentSpec(reasoner="some/model")) == "some/model"
    for table in of_run(EpisodeColumns(DRWELL), EXPERIMENT):
        assert "built-in rules" in table.caption
    for table in of_run(EpisodeColumns(DRWELL), ExperimentSpec(methods=METHODS, reasoner="rules:noise=0.1")):
        assert "stand-in" in table.caption


def shown(table: Table, width: int) -> str:
    console = Console(width=width, record=True, file=io.StringIO(), force_terminal=False)
    for part in rich_tables(table):
        console.print(part)
    return console.export_text()


def wide() -> tuple[list[EpisodeRow], ExperimentSpec]:
    """Return five methods over many episodes, with numbers as long as they come."""
    methods = ("drwell", "zero_shot", "greedy", "do_nothing", "not_here")
    many = {"messages": 1234, "attempts": Rate(412, 998), "plans": Rate(700, 999), "asked": (123, 999)}
    rows = [
        row(method, seed, episode, (seed + 1) / 10, 100 + 20 * seed, **many)  # type: ignore[arg-type]
        for method in methods
        for seed in range(3)
        for episode in (1, 2)
    ]
    return rows, ExperimentSpec(methods=methods, episodes=10, seeds=(0, 1, 2))


def test_a_run_of_a_method_that_is_not_installed_now_is_reported() -> None:
    rows = [row("not_here", seed, 1, 0.5, 100) for seed in range(3)]
    talks: tuple[tuple[str, MessageProtocol | None], ...] = (("", None), ("; native talk", "native"))
    for ending, talk in talks:
        experiment = ExperimentSpec(methods=("not_here", "coela"), episodes=1, seeds=(0, 1, 2), talk=talk)
        assert of_run(EpisodeColumns(rows), experiment)[1].caption.endswith(f"no language model{ending}")


@pytest.mark.parametrize("which", [0, 1], ids=["by episode", "by method"])
@pytest.mark.parametrize("size", ["two methods", "five methods"])
def test_a_terminal_of_80_columns_shows_every_number(which: int, size: str) -> None:
    rows, experiment = wide() if size == "five methods" else ([*GREEDY, *DRWELL], EXPERIMENT)
    table = of_run(EpisodeColumns(rows), experiment)[which]
    text = shown(table, 80)
    assert "…" not in text
    assert max(len(line) for line in text.splitlines()) <= 80
    whole = set(re.findall(r"[\d.]+", text))
    for line in table.rows:
        for number in re.findall(r"[\d.]+", " ".join(line)):
            assert number in whole, f"{number} is cut"


def test_more_methods_than_fit_follow_in_further_tables() -> None:
    methods = tuple(f"drwell:variant_number_{number}" for number in range(9))
    rows = [row(method, seed, 1, 0.5, 100) for method in methods for seed in range(3)]
    experiment = ExperimentSpec(methods=methods, episodes=1, seeds=(0, 1, 2))
    for table in of_run(EpisodeColumns(rows), experiment):
        text = shown(table, 80)
        assert "…" not in text
        assert len(rich_tables(table)) > 1
        assert all(text.count(method) == 1 for method in methods)


def test_headings_of_two_words_and_long_names_are_shown_whole() -> None:
    headings = (
        "question",
        *("calls", "prompt", "cached", "output", "reasoning", "USD", "s, median", "s, 95 %", "faults"),
    )
    lines = [("drwell.propose", *["22,206"] * 9), ("http://a-machine.example.org:8000/v1#" + "m" * 60, *["1"] * 9)]
    for line in lines:
        text = shown(Table("calls", headings, (line,), ""), 80)
        assert "…" not in text
        assert max(len(row) for row in text.splitlines()) <= 80
        assert all(heading in text for heading in headings)
        assert len({row[-1] for row in text.splitlines()} & {"┓", "┃", "┩", "│", "┘"}) == 5  # no edge is cut off
    assert "drwell.propose" in shown(Table("calls", headings, (lines[0],), ""), 80)


def test_a_narrow_terminal_does_cut() -> None:
    """The test above can fail."""
    rows, experiment = wide()
    assert "…" in shown(of_run(EpisodeColumns(rows), experiment)[1], 40)


def test_an_unfinished_run_says_so_and_counts_the_seeds_that_it_has() -> None:
    rows = [row(m, seed, episode, 1.0, 50) for seed in (0, 1, 2) for m in METHODS for episode in (1, 2)]
    for count, words in ((12, "over 3 seeds]"), (7, "unfinished: 7 of 12 episodes"), (4, "one seed, no interval")):
        caption = by_method(EpisodeColumns(rows[:count]), EXPERIMENT).caption
        assert words in caption
        assert ("unfinished" in caption) == (count < 12)
    assert "seed 0; unfinished: 4 of 12 episodes" in by_episode(EpisodeColumns(rows[:4]), EXPERIMENT).caption
    assert "mean of 2 seeds; unfinished" in by_episode(EpisodeColumns(rows[:7]), EXPERIMENT).caption
