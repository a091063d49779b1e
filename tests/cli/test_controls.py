"""``teamworld compare --control central --equal-tokens``: one reasoner for all bodies on the tokens of a team."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

import teamworld
from teamworld.cli import run as command
from teamworld.experiment.runner import run
from teamworld.experiment.spec import TokenLimit, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.token_use import team_use
from teamworld.reasoning.contract import Answer, Question, Rejected, Reply
from teamworld.reasoning.prompts import render
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import EpisodeEnd, Event, QuestionAsked, QuestionSkipped, TokensTaken, read_log
from teamworld.testing.episodes import Scenario, play

ASKED = ["coela", "zero_shot", "--level", "n2", "--seeds", "2", "--max-steps", "30", "--metrics", "steps"]
EQUAL = ["--control", "central", "--equal-tokens", "--no-references"]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("controls") / "c"
    assert command(["compare", *ASKED, *EQUAL, "--out", str(folder)]) == 0
    return folder


def plain(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert command(["compare", *arguments, "--json"]) == 0
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return printed


def logs(folder: Path) -> list[list[Event]]:
    return [list(read_log(path)) for path in sorted(folder.rglob("*.zst"))]


def tokens(events: Sequence[Event]) -> TokensTaken:
    end = events[-1]
    assert isinstance(end, EpisodeEnd)
    assert isinstance(end.tokens, TokensTaken)
    return end.tokens


class CountingRules(RuleReasoner):
    """The rules, and a plain count of what they were asked and said."""

    taken = 0

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        reply = await super().ask(question, tries)
        prompt = render(question)
        for text in (prompt.system, prompt.user, reply.answer.model_dump_json()):
            self.taken += len(re.findall(r"\w+|[^\w\s]", text))
        return reply


def test_the_tokens_of_rules_are_those_of_prompts_and_answers_as_sent(tmp_path: Path) -> None:
    asked = build({"methods": ["coela"], "level": "n2", "max_steps": 12})
    (row,) = run(asked, tmp_path / "r")
    used = team_use(RunFolder(tmp_path / "r"), "coela")
    made: list[CountingRules] = []

    def counting(_: object) -> CountingRules:
        made.append(CountingRules(asked.cells()[0].streams(1)))
        return made[-1]

    play("coela", Scenario("cube", "n2", 0, 12), {}, counting)
    assert made[0].taken > 1000
    assert used == {0: (TokenLimit(tokens=made[0].taken, steps=row.summary.steps),)}


@pytest.mark.heavy
def test_a_control_takes_what_its_team_took(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = plain([str(out), "--metrics", "steps"], capsys)
    uses = {use["method"]: use for use in result["controls"]}
    assert {method: use["control"] for method, use in uses.items()} == {
        "coela": "central",
        "zero_shot": "central:zero_shot",
    }
    for method, use in uses.items():
        taken = [tokens(events) for events in logs(out / f"central-{method}")]
        assert use["limit"] == sum(count.limit for count in taken)
        assert use["taken"] == sum(count.taken for count in taken)
        assert all(0.5 < count.taken / count.limit < 1.1 for count in taken)
        assert 0.5 < use["ratio"] < 1.1
        assert {seed: tuple(limits) for seed, limits in team_use(RunFolder(out / "run"), method).items()} == (
            RunFolder(out / f"central-{method}").experiment().allowances
        )
    pairs = {(pair["a"], pair["b"]) for pair in result["paired"]}
    assert pairs == {("coela", "zero_shot"), ("coela", "central"), ("zero_shot", "central:zero_shot")}
    text = (out / "comparison.md").read_text("utf-8")
    assert re.search(r"central plans for all bodies on the tokens of coela: it took 0\.\d\d of them", text)
    assert (out / "controls.csv").exists()


def test_once_the_tokens_are_spent_the_planner_is_asked_no_more(out: Path) -> None:
    spent = 0
    for events in logs(out / "central-zero_shot"):
        skipped = [
            event.seq for event in events if isinstance(event, QuestionSkipped) and event.cause == "tokens spent"
        ]
        asked = [event.seq for event in events if isinstance(event, QuestionAsked)]
        assert asked
        spent += bool(skipped)
        assert not skipped or max(asked) < min(skipped)
    assert spent


@pytest.mark.heavy
def test_a_control_replays_and_goes_on_as_it_is(out: Path) -> None:
    assert command(["replay", str(out / "central-coela")]) == 0
    before = {path: path.read_bytes() for path in out.rglob("*.zst")}
    assert command(["compare", *ASKED, *EQUAL, "--out", str(out)]) == 0
    assert {path: path.read_bytes() for path in out.rglob("*.zst")} == before


@pytest.mark.heavy
def test_a_control_grows_with_its_comparison(tmp_path: Path) -> None:
    small: dict[str, Any] = {"level": "n1", "max_steps": 10, "metrics": "steps", "references": False}
    small |= {"control": "central", "equal_tokens": True, "out": tmp_path / "c"}
    teamworld.compare("zero_shot", seeds=[0], **small)
    first = {path: path.read_bytes() for path in (tmp_path / "c").rglob("*.zst")}
    result = teamworld.compare("zero_shot", seeds=[0, 1], episodes=2, **small)
    assert [use.episodes for use in result.comparison.controls] == [4]
    assert all(path.read_bytes() == data for path, data in first.items())
    allowances = RunFolder(tmp_path / "c" / "central-zero_shot").experiment().allowances
    assert {seed: len(limits) for seed, limits in allowances.items()} == {0: 2, 1: 2}


def test_a_control_without_a_limit_is_another_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["zero_shot", "--level", "n1", "--max-steps", "10", "--out", str(tmp_path / "c")]
    assert command(["compare", *small, "--control", "central", "--no-references"]) == 0
    ends = [events[-1] for events in logs(tmp_path / "c")]
    assert all(isinstance(end, EpisodeEnd) and end.tokens is UNSET for end in ends)
    capsys.readouterr()
    assert command(["compare", *small, *EQUAL]) == 2
    assert "allowance of tokens" in capsys.readouterr().err


def test_who_asks_nothing_has_no_control_on_equal_tokens(tmp_path: Path) -> None:
    teamworld.compare(
        "do_nothing",
        level="n1",
        max_steps=5,
        references=False,
        control="central",
        equal_tokens=True,
        out=tmp_path / "c",
    )
    assert not (tmp_path / "c" / "central-do_nothing").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--equal-tokens"], "add --control central"),
        (["--control", "middle"], "expected central"),
        ([*EQUAL, "--shard", "1/2"], "leave it out of a shard"),
        ([*EQUAL, "--reasoner", "@coela.*=rules,*=rules"], "no question"),
    ],
)
def test_what_no_control_can_be_of_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    assert command(["compare", *ASKED, *arguments, "--out", str(tmp_path / "c")]) == 2
    assert why in capsys.readouterr().err
    assert not (tmp_path / "c").exists()


def test_a_planner_that_waits_for_free_agents_asks_less_often() -> None:
    place = Scenario("rooms", "two", 0, 12)
    asked = {
        label: sum(isinstance(event, QuestionAsked) for event in play(label, place, {}).events)
        for label in ("cmas", "cmas:free")
    }
    assert 0 < asked["cmas:free"] < asked["cmas"]


@pytest.mark.parametrize("arguments", [["fork", "runs/none"], ["worth", "runs/none"], ["play", "rooms"]])
def test_what_plays_in_one_piece_takes_no_shard(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert command([*arguments, "--shard", "1/2"]) == 2
    assert "plays in one piece" in capsys.readouterr().err
