"""Two protocols of talk: each method by its own rule, or all by one; what is recorded, resumed and told of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

import teamworld
from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment import comparison_runs
from teamworld.experiment.replay import replay
from teamworld.experiment.spec import RunCell, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.language import AgentId
from teamworld.methods import registry
from teamworld.methods.contract import WAIT, Decision, DecisionContext, Message, Method
from teamworld.record import ActionStep, EpisodeStart, read_log
from teamworld.report import comparison_tables, tables
from teamworld.report.episode_columns import EpisodeColumns

FREE = {
    **{"ticks": 0, "chars_per_tick": None, "maximum": None, "reach": None, "loss": 0.0},
    **{"echo": False, "seen": "now", "paid_by": "nobody"},
}
PAID = {"ticks": 1, "paid_by": "speaker", "echo": True}
SMALL: dict[str, Any] = {"world": "rooms", "level": "one", "max_steps": 8}


class Talker(Method):
    """Says where it is in every step; as published, that takes the step."""

    name: ClassVar[str] = "talker"
    summary: ClassVar[str] = "for tests"
    talk: ClassVar[Mapping[str, Any]] = PAID

    async def decide(self, moment: DecisionContext) -> Mapping[AgentId, Decision]:
        for agent in moment.free:
            moment.post(Message(agent, "inform", f"{agent} at {moment.t}"))
        return dict.fromkeys(moment.free, WAIT)


@pytest.fixture(autouse=True)
def _talker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BUILT_IN, "talker", f"{__name__}:Talker")


def rule(folder: Path, method: str) -> dict[str, Any]:
    """Return the rule in a method's first log."""
    start = next(iter(read_log(RunFolder(folder).log(RunCell(method, 0), 1))))
    assert isinstance(start, EpisodeStart)
    return start.message_rule


def talks(folder: Path, method: str) -> int:
    """Return in how many steps agents talked instead of acting."""
    log = read_log(RunFolder(folder).log(RunCell(method, 0), 1))
    return sum(isinstance(event, ActionStep) and event.verb == "talk" for event in log)


def test_each_talks_by_its_own_rule_unless_told_otherwise(tmp_path: Path) -> None:
    out = tmp_path / "run"
    teamworld.run(**SMALL, method=["talker", "zero_shot"], out=out)
    assert rule(out, "talker") == {**FREE, **PAID}
    assert rule(out, "zero_shot") == FREE
    assert talks(out, "talker") > 0
    held = RunFolder(out).experiment()
    assert held.talk == "native"
    assert "messages" not in held.options


def test_one_rule_holds_for_all_if_wanted(tmp_path: Path) -> None:
    teamworld.run(**SMALL, method="talker", talk="equal", out=tmp_path / "free")
    assert rule(tmp_path / "free", "talker") == FREE
    assert talks(tmp_path / "free", "talker") == 0
    options = {"messages": {"maximum": 5}}
    teamworld.run(**SMALL, method=["talker", "zero_shot"], options=options, out=tmp_path / "short")
    for method in ("talker", "zero_shot"):
        assert rule(tmp_path / "short", method) == {**FREE, "maximum": 5}
    assert RunFolder(tmp_path / "short").experiment().talk == "equal"


def test_where_only_one_rule_could_apply_runs_are_recorded_as_ever(tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = {**SMALL, "method": "zero_shot", "out": out}
    teamworld.run(**arguments)
    data = yaml.safe_load((out / "experiment.yaml").read_text("utf-8"))
    assert "talk" not in data
    assert data["options"]["messages"] == FREE
    before = (out / "experiment.yaml").read_bytes()
    teamworld.run(**arguments)  # a folder of the time before there were protocols goes on, by whatever name they have
    for talk in ("native", "equal"):
        teamworld.run(**arguments, talk=talk)
    assert (out / "experiment.yaml").read_bytes() == before


@pytest.mark.parametrize("messages", [{"ticks": 1, "paid_by": "speaker"}, {"loss": 0.5, "echo": False}])
@pytest.mark.parametrize("method", ["talker", "zero_shot"])
def test_native_with_a_rule_for_all_is_refused(method: str, messages: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^--talk native takes each method's own rule: leave out messages\.\w+, or"):
        teamworld.run(**SMALL, method=method, talk="native", options={"messages": messages}, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--talk", "loud"], "option 'talk' of an experiment: expected 'native' or 'equal', got 'loud'"),
        (["--set", "messages.recipients=0"], "option 'recipients' of messages"),
        (["--talk", "equal", "--set", "messages.tick=1"], "unknown option 'tick' of messages; did you mean 'ticks'?"),
    ],
)
def test_what_cannot_be_set_is_told_in_one_line(
    given: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["run", "rooms", "--method", "talker", *given, "--out", str(tmp_path / "run")]) != 0
    output = capsys.readouterr().err
    assert says in output
    assert output.count("\n") == 1


def test_a_native_rule_that_is_none_is_the_methods_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Talker, "talk", {"ticks": -1})
    with pytest.raises(UserError, match="'ticks' of messages, by the native rule of 'talker'"):
        build({**SMALL, "methods": ["talker"]}).resolved()


def test_losses_may_stand_beside_native_rules(tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = {**SMALL, "method": "talker", "talk": "native", "options": {"messages": {"loss": 0.5}}, "out": out}
    teamworld.run(**arguments)
    assert rule(out, "talker") == {**FREE, **PAID, "loss": 0.5}
    teamworld.run(**arguments)
    assert command(["resume", str(out)]) == 0
    assert RunFolder(out).experiment().resolved() == RunFolder(out).experiment()


@pytest.mark.parametrize("talk", ["native", "equal"])
def test_a_run_is_resumed_and_replayed_by_its_protocol(talk: Any, tmp_path: Path) -> None:  # noqa: ANN401
    out = tmp_path / "run"
    teamworld.run(**SMALL, method="talker", talk=talk, out=out)
    RunFolder(out).log(RunCell("talker", 0), 1).rename(tmp_path / "first")
    RunFolder(out).results_file.unlink()
    assert command(["resume", str(out)]) == 0
    assert RunFolder(out).log(RunCell("talker", 0), 1).read_bytes() == (tmp_path / "first").read_bytes()
    (tmp_path / "scratch").mkdir()
    result = [
        episode.difference for episode in replay(RunFolder(out), RunFolder(out).experiment(), tmp_path / "scratch")
    ]
    assert result == [None]


def test_another_protocol_is_another_experiment(tmp_path: Path) -> None:
    teamworld.run(**SMALL, method="talker", out=tmp_path / "run")
    with pytest.raises(UserError, match="holds another experiment"):
        teamworld.run(**SMALL, method="talker", talk="equal", out=tmp_path / "run")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"methods": ["zero_shot"]}, ""),
        ({"methods": ["zero_shot"], "options": {"messages": {"reach": 4}}}, "talk: reach 4"),
        ({"methods": ["talker"]}, "native talk: 1 tick a message, paid by the speaker, echoed"),
        (
            {"methods": ["talker", "zero_shot", "greedy"]},
            "native talk (talker: 1 tick a message, paid by the speaker, echoed; zero_shot, greedy: free)",
        ),
        ({"methods": ["talker", "zero_shot"], "talk": "equal"}, "equal talk: free"),
        ({"methods": ["talker"], "options": {"messages": {"maximum": 9}}}, "equal talk: at most 9 characters"),
    ],
)
def test_captions_name_the_protocol_where_more_than_one_rule_could_apply(asked: dict[str, Any], words: str) -> None:
    experiment = build({**SMALL, **asked})
    for one in (experiment, experiment.resolved()):
        assert tables.talk(one) == words
        made = [*tables.of_run(EpisodeColumns([]), one), tables.Table("", (), (), comparison_tables.caption([one]))]
        for table in made:
            assert words in table.caption if words else "talk" not in table.caption
        assert comparison_tables.where([one]).get("talk", "") == words


def test_silence_stands_on_the_protocol_of_the_comparison(tmp_path: Path) -> None:
    for talk, wanted in (("native", {**FREE, **PAID, "loss": 1.0}), ("equal", {**FREE, "loss": 1.0})):
        (setting,) = comparison_runs.settings({**SMALL, "methods": ["talker", "zero_shot"], "talk": talk})
        part = comparison_runs.in_silence(setting, tmp_path, ["talker"])
        assert part is not None
        assert part.experiment.resolved().message_rule("talker").model_dump() == wanted


def test_a_comparison_names_its_protocols(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "both"
    asked = ["compare", "talker", "zero_shot", "--world", "rooms", "--level", "one", "--max-steps", "8", "--seeds", "2"]
    assert command([*asked, "--vary", "talk=native,equal", "--out", str(out)]) == 0
    output = capsys.readouterr().out
    assert "native talk (talker: 1 tick a message" in " ".join(output.split())
    assert "equal talk: free" in " ".join(output.split())
    assert "talk=native" in output
    assert (out / "rows.csv").read_text("utf-8").splitlines()[0].endswith(",world,level,mind,talk")
    for name, paid in (("talk=native", 1), ("talk=equal", 0)):
        assert rule(out / name / "silent", "talker")["ticks"] == paid
        assert rule(out / name / "silent", "talker")["loss"] == 1.0
    assert command(["metrics", str(out / "talk=native" / "run")]) == 0
    assert "native talk" in " ".join(capsys.readouterr().out.split())
