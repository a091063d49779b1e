"""``teamworld reproduce cwah``: published values, what episodes come to, checks, the command from end to end."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from teamworld.cli import run
from teamworld.errors import UserError
from teamworld.methods import registry
from teamworld.papers import cwah
from teamworld.papers.cwah import CwahPlan, Generated, parse_episodes
from teamworld.papers.cwah.results import CwahResult, published, teams
from teamworld.papers.cwah.teams import (
    EpisodesByRow,
    TeamEpisode,
    TeamRow,
    all_rows,
    by_level,
    checks,
    choose_rows,
    difference,
    horizon,
    mean,
    mean_steps,
    mean_steps_by_task,
    official_tasks,
    one_stratum,
    saved,
)
from teamworld.papers.page import data
from teamworld.worlds.household.homes import official_episodes
from tests.reasoning.test_human import Typing
from tests.worlds.household.data import FOLDER, needs_data


def episode(level: str, seed: int, taken: int, *, done: bool = True, said: int = 0) -> TeamEpisode:
    return TeamEpisode(level, seed, taken, done, said, 3.0 * said, None, None, 0, 0)


def some(*taken: Sequence[int], said: int = 0) -> list[TeamEpisode]:
    """Return episodes: the steps of each seed, level by level."""
    return [episode(f"official-{at}", seed, steps, said=said) for at, row in enumerate(taken) for seed, steps in
            enumerate(row)]  # fmt: skip


# ---- published values

VALUES = data("cwah", "published")
TABLE, EARLIER = VALUES["table"]["columns"], VALUES["earlier"]["rows"]
SIGHTS = ("symbolic", "visual")


@pytest.mark.parametrize("name", TABLE)
def test_published_means_are_those_of_their_tasks_but_for_two(name: str) -> None:
    column = TABLE[name]
    odd = VALUES["table"]["odd_means"].get(name, {})
    for sight, printed in zip(SIGHTS, column["mean"], strict=True):
        own = sum(column[sight]) / len(column[sight])
        assert len(column[sight]) == len(VALUES["tasks"]) == 5
        if sight in odd:
            assert odd[sight] == [printed, pytest.approx(own)]
            assert abs(printed - own) > 0.5
        else:
            assert abs(printed - own) <= 0.5


def test_some_published_values_stand_where_the_source_has_them() -> None:
    assert TABLE["gpt_cobel"]["symbolic"] == [53, 38, 49, 59, 44]
    assert TABLE["qwen_capo"]["visual"] == [180, 187, 151, 168, 140]
    assert (TABLE["gpt_coela"]["tokens"], TABLE["mhp_2"]["mean"]) == ([938, 889], [68, 90])
    assert (EARLIER["mixed"]["symbolic"], EARLIER["mixed"]["saved"]) == (59, [0.45, 0.34])
    assert VALUES["ablations"]["steps"] == {"full": 51, "no_sbr": 55, "no_bbc": 68}
    assert VALUES["ablations"]["agents"][4] == 43
    spent = VALUES["spent"]["rows"]["cobel"]
    assert spent["prompt"] + spent["completion"] == 141_769
    assert [column["mind"] is None for column in TABLE.values()] == ["tokens" not in c for c in TABLE.values()]


def test_what_planners_save_is_as_printed_to_within_rounding() -> None:
    """A mean of ratios was printed, and only means are known: they agree to a few percent."""
    single = EARLIER["mhp_1"]["symbolic"]
    teams_that_save = [team for team in EARLIER.values() if "saved" in team]
    assert len(teams_that_save) == 3
    for team in teams_that_save:
        assert 1 - team["symbolic"] / single == pytest.approx(team["saved"][0], abs=0.03)


def test_the_episodes_are_the_published_ones_two_of_each_task() -> None:
    assert tuple(official_tasks()) == official_episodes.PUBLISHED
    assert [list(official_tasks().values()).count(task) for task in VALUES["tasks"]] == [2] * 5


# ---- rows


def test_rows_name_what_is_published_and_have_folders_of_their_own() -> None:
    assert len({row.key for row in all_rows()}) == len(all_rows())
    for row in all_rows():
        assert set(row.table) <= set(TABLE)
        assert row.earlier is None or row.earlier in EARLIER
        assert row.ablation is None or row.ablation in VALUES["ablations"]["steps"]
        assert row.full is None or any(row.full == other.method for other in all_rows())
    assert {row.method for row in all_rows()} >= {
        "mhp",
        "mhp:comm",
        "mhp:plus",
        "coela:cwah",
        "capo",
        "cobel:exact",
        "cobel",
    }


def test_all_rows_stand_but_those_left_open() -> None:
    assert [row.method for row in all_rows() if not row.is_available] == ["capo"]


def test_parts_of_a_team_on_exact_inference_are_made_of_its_variants() -> None:
    row = next(row for row in all_rows() if row.method == "cobel:exact_no_bbc")
    options = registry.resolve(row.method, row.options())
    exact, part = (registry.resolve(f"cobel:{variant}", {}).model_dump() for variant in ("exact", "no_bbc"))
    plain = registry.resolve("cobel", {}).model_dump()
    values = options.model_dump()
    assert values == {name: part[name] if part[name] != plain[name] else exact[name] for name in plain}
    assert values != exact


def test_rows_are_chosen_by_method_in_the_order_of_the_table() -> None:
    assert choose_rows(None) == all_rows()
    assert [(row.method, row.agents) for row in choose_rows(["coela", "mhp"])] == [("mhp", 1), ("mhp", 2), ("coela", 2)]
    assert [row.method for row in choose_rows(["mhp_comm"])] == ["mhp:comm"]
    (beside,) = choose_rows(["random"])
    assert (beside.method, beside.agents, beside.by) == ("random", 2, "script")
    assert choose_rows(["greedy+zero_shot"])[0].by == "reasoners and script"
    with pytest.raises(UserError, match="no method 'mph'; did you mean 'mhp'"):
        choose_rows(["mph"])
    with pytest.raises(UserError, match="no variant"):
        choose_rows(["mhp:pluss"])
    with pytest.raises(UserError, match="no method 'nobody'"):
        choose_rows(["greedy+nobody"])
    with pytest.raises(UserError, match="capo"):
        choose_rows(["capo"])


# ---- what episodes come to


def test_means_are_over_seeds_then_episodes_and_failures_count_all_steps() -> None:
    episodes = [*some([10, 20], [30, 50]), episode("official-2", 0, horizon(), done=False)]
    means = mean(episodes[:4], by_level)
    assert (means.steps.mean, means.steps.n, means.failures, means.runs) == (27.5, 4, 0, 4)
    assert means.steps.low < 27.5 < means.steps.high
    assert mean(episodes, by_level).failures == 1
    assert means.total_tokens is None
    assert mean_steps(episodes) == {"official-0": 15, "official-1": 40, "official-2": 250}
    assert mean_steps_by_task(episodes, {"official-0": "tea", "official-1": "tea", "official-2": "meal"}) == {
        "tea": 27.5,
        "meal": 250,
    }
    with pytest.raises(ValueError, match="no episode"):
        mean([], one_stratum)


def test_official_episodes_are_strata_and_generated_ones_a_sample() -> None:
    episodes = some([10, 12, 14, 16, 18], [90, 92, 94, 96, 98])
    apart, sample = mean(episodes, by_level).steps, mean(episodes, one_stratum).steps
    assert apart.mean == sample.mean
    assert apart.high - apart.low < (sample.high - sample.low) / 5


def test_a_team_saves_by_episode() -> None:
    alone, team = some([100, 100], [10, 10]), some([50, 70], [5, 5])
    assert saved(team, alone) == pytest.approx((0.4 + 0.5) / 2)  # not 1 - 65 / 110
    assert saved(team, []) is None
    seeds = [episode("dev", 0, 100), episode("dev", 1, 10)]
    halves = [episode("dev", 0, 50), episode("dev", 1, 10), episode("dev", 2, 7)]
    assert saved(halves, seeds) == pytest.approx(0.25)  # each seed of a split is an episode


def test_differences_are_paired_by_episode_and_seed() -> None:
    own, other = some([10, 20], [30, 40]), [*reversed(some([11, 21], [31, 41])), episode("official-9", 9, 1)]
    result = difference(own, other, by_level, "steps")
    assert result is not None
    assert (result.difference, result.n) == (-1, 4)
    assert difference(own, [], by_level, "steps") is None


# ---- checks


def key(label: str, agents: int = 2) -> str:
    return next(row.key for row in all_rows() if (row.method, row.agents) == (label, agents))


def verdicts(episodes: EpisodesByRow, *, official: bool = True) -> dict[str, str]:
    return {check.number: check.verdict for check in checks(episodes, one_stratum, official=official)}


def test_the_planners_level_is_judged_on_the_official_episodes_alone() -> None:
    episodes = {key("mhp", 1): some([110, 112]), key("mhp"): some([90, 92])}
    assert verdicts(episodes) == {"1a": "holds", "1b": "does not hold"}
    assert verdicts(episodes, official=False) == {}
    failed = [*some([90]), episode("official-1", 0, 120, done=False)]
    assert verdicts({key("mhp", 1): failed}) == {"1a": "does not hold"}


def test_beliefs_are_judged_by_the_side_of_the_interval() -> None:
    full = [episode("dev", seed, 40 + seed % 7, said=1) for seed in range(50)]

    def beside(more: int, wide: int, said: int) -> list[TeamEpisode]:
        return [episode("dev", own.seed, own.steps + more + wide * (-1) ** own.seed, said=said) for own in full]

    rows = {
        key("cobel:exact"): full,
        key("cobel:exact_no_bbc"): beside(3, 2, 1),
        key("cobel:exact_silent"): beside(1, 20, 0),
        key("coela:cwah"): beside(-3, 1, 4),
    }
    assert verdicts(rows) == {"2a": "holds", "2b": "not decided", "3a": "holds", "3b": "does not hold"}
    same = {key("cobel:exact"): full, key("coela:cwah"): full}
    assert verdicts(same) == {"3a": "does not hold", "3b": "holds"}
    assert verdicts({name: episodes[:1] for name, episodes in rows.items()})["2a"] == "not decided"  # of one pair


# ---- plans


def test_generated_episodes_name_their_split() -> None:
    assert parse_episodes("official") is None
    assert parse_episodes("dev:50") == Generated("dev", range(50))
    assert parse_episodes("test:100-149") == Generated("test", range(100, 150))
    for text in ("50", "dev", "generated:50", "dev:0", "dev:-5", "train:5", "dev:9-3", "dev:10001", "test:9999-10000"):
        with pytest.raises(UserError, match="--episodes"):
            parse_episodes(text)


def test_folders_of_generated_episodes_serve_larger_tables() -> None:
    rows = choose_rows(["greedy"])
    small, large = (CwahPlan(rows=rows, generated=parse_episodes(text)).places() for text in ("dev:20", "dev:50"))
    assert large[:2] == small == [("dev", range(10)), ("dev", range(10, 20))]
    assert CwahPlan(generated=parse_episodes("dev:95-113")).places() == [
        ("dev", range(95, 100)), ("dev", range(100, 110)), ("dev", range(110, 114)),
    ]  # fmt: skip
    plan = CwahPlan(seeds=3, rows=rows)
    assert (plan.size, len(plan.places())) == (30, 10)
    assert (
        CwahPlan(seeds=3, rows=(*rows, TeamRow("open", "capo", "reasoners"))).size == 30
    )  # what does not stand is not run


# ---- from end to end


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["reproduce", "cwah", *arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.heavy
def test_generated_episodes_from_end_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ("--episodes", "dev:4", "--methods", "greedy,do_nothing", "--out", str(out))
    code, text, errors = call(capsys, *arguments, "--json")
    assert (code, errors) == (0, "")
    numbers = json.loads(text)
    greedy, idle = numbers["rows"]
    assert (greedy["method"], greedy["agents"], greedy["llm"], greedy["runs"]) == ("greedy", 2, False, 4)
    assert (idle["steps"], idle["failures"], idle["runs"]) == (horizon(), 4, 4)
    assert greedy["steps"] < 100
    assert greedy["steps"] == pytest.approx(sum(result["steps"] for result in greedy["episodes"]) / 4)
    assert (greedy["messages"], greedy["message_tokens"], greedy["total_tokens"]) == (0, 0, None)
    assert numbers["episodes"] == "dev"
    page = Path(numbers["page"]).read_text("utf-8")
    assert "tune on, `test` to report" in page
    assert "published:" not in page  # nothing published is of these episodes
    assert str(tmp_path) not in page
    assert "teamworld reproduce cwah --method greedy,do_nothing --episodes dev:4" in page
    # Again, with one method more: what stands is not run anew.
    logs = {path: path.stat().st_mtime_ns for path in out.rglob("*.zst")}
    assert len(logs) == 8
    if importlib.util.find_spec("matplotlib"):
        assert (out / "figures" / "steps.png").read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    code, text, _ = call(capsys, *arguments[:3], "greedy,do_nothing,random", *arguments[4:], "--json")
    again = json.loads(text)["rows"]
    assert (code, again[:2]) == (0, [greedy, idle])
    assert {path: path.stat().st_mtime_ns for path in logs} == logs
    assert "figures/" not in (out / "report.md").read_text("utf-8")


@pytest.mark.heavy
def test_a_cap_holds_for_all_teams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--episodes", "dev:3", "--methods", "coela", "--json")
    code, free, _ = call(capsys, *arguments, "--out", str(tmp_path / "free"))
    assert code == 0
    code, capped, _ = call(capsys, *arguments, "--cap", "1", "--out", str(tmp_path / "capped"))
    assert code == 0
    said = [[result["messages"] for result in json.loads(text)["rows"][0]["episodes"]] for text in (free, capped)]
    assert max(said[0]) > 2 >= max(said[1])  # one of each agent
    assert "more than 1 messages" in (tmp_path / "capped" / "report.md").read_text("utf-8")


@pytest.mark.heavy
def test_a_person_may_be_one_of_the_team(tmp_path: Path) -> None:
    typing = Typing(repeat("1"))
    plan = CwahPlan(
        rows=choose_rows(["coela:cwah+cobel:exact"]),
        generated=Generated("dev", range(1)),
        reasoner="Alice=human,*=rules",
        terminal=typing,
    )
    (row,) = cwah.reproduce(tmp_path / "team", plan, "teamworld reproduce cwah").numbers["rows"]
    assert typing.typed > 10
    asked = {
        line.partition(" is asked: ")[0].split()[-1]
        for text in typing.shown
        for line in text.splitlines()
        if " is asked: " in line
    }
    assert asked == {"Alice"}  # Bob infers
    assert row["agents"] == 2
    assert "a person, no language model" in (tmp_path / "team" / "report.md").read_text("utf-8")
    with pytest.raises(UserError, match="a person answers at a terminal"):
        cwah.reproduce(tmp_path / "none", plan._replace(terminal=None), "teamworld reproduce cwah")


@needs_data
@pytest.mark.heavy
def test_the_official_episodes_from_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--data", str(FOLDER), "--methods", "greedy", "--seeds", "1", "--out", str(tmp_path / "out"))
    code, text, errors = call(capsys, *arguments, "--json")
    assert (code, errors) == (0, "")
    numbers = json.loads(text)
    (row,) = numbers["rows"]
    assert row["runs"] == len(row["by_episode"]) == 10
    assert row["steps"] == pytest.approx(sum(row["by_episode"].values()) / 10)
    assert row["steps"] == pytest.approx(sum(row["tasks"].values()) / 5)
    page = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert str(FOLDER) not in page
    assert "| published: CoBel-World | GPT-4o | 53 / 91 |" in page
    assert "--data PATH" in page
    code, text, _ = call(capsys, *arguments)
    assert code == 0
    assert "scripted team, pooled knowledge" in text.splitlines()[3]


def test_a_row_left_open_shows_what_was_published() -> None:
    capo = next(row for row in all_rows() if row.method == "capo")
    columns, (line,) = teams(_made([capo], {}))
    shown = dict(zip(columns, line, strict=True))
    assert shown["decided by"] == "not there yet"
    assert shown["published: CoBel-World paper"].startswith("66 (GPT-4o, 7,231 message tokens); 76 (Qwen3-32B")
    assert published(capo) == {"GPT-4o, CoBel-World paper": 66, "Qwen3-32B, CoBel-World paper": 76}


def test_rows_say_where_there_is_no_language_model() -> None:
    mhp = next(row for row in all_rows() if row.key == key("mhp", 1))
    coela = next(row for row in all_rows() if row.key == key("coela:cwah"))
    asked = [result._replace(questions=3) for result in some([50])]
    made = _made([mhp, coela], {mhp.key: some([100]), coela.key: asked})
    assert [made.decider(row) for row in (mhp, coela)] == ["a planner, no LLM", "built-in rules, no language model"]
    assert not made.asks_model(coela)
    silent = _made([coela], {coela.key: some([50])})
    assert silent.decider(coela) == "nobody asked, no LLM"
    model = _made([coela], {coela.key: [result._replace(total_tokens=9.0) for result in asked]})._replace(
        reasoner="gpt"
    )
    assert (model.decider(coela), model.asks_model(coela)) == ("gpt", True)
    assert [made.short_decider(row) for row in (mhp, coela)] == ["planner", "rules"]
    mixed = next(row for row in all_rows() if row.method == "mhp+coela:cwah")
    both = _made([mixed], {mixed.key: asked})
    assert both.decider(mixed) == "a planner; built-in rules, no language model"
    assert both.short_decider(mixed) == "planner + rules"
    assert made.saved(coela) == pytest.approx(0.5)
    assert made.saved(mhp) is None


def _made(rows: Sequence[TeamRow], episodes: EpisodesByRow) -> CwahResult:
    return CwahResult("seed 42", rows, episodes, None, "built-in rules, no language model", None)


@needs_data
def test_data_that_lacks_an_episode_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    index: dict[str, Any] = json.loads((FOLDER / "index.json").read_text("utf-8"))
    index["episodes"] = index["episodes"][:9]
    (tmp_path / "index.json").write_text(json.dumps(index))
    for entry in index["episodes"]:
        target = tmp_path / entry["file"]
        target.parent.mkdir(exist_ok=True)
        target.write_bytes((FOLDER / entry["file"]).read_bytes())
    plan = CwahPlan(data=tmp_path, seeds=1, rows=choose_rows(["greedy"]))
    with pytest.raises(UserError, match="expected an episode of task 49"):
        cwah.reproduce(tmp_path / "out", plan, "")
    assert not (tmp_path / "out").exists()
