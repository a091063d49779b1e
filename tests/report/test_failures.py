"""Failure labels of a run: the table, the list, JSON, and one clear line for what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.experiment.api import run
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.folder import RunFolder
from teamworld.metrics.failures import LABELS, Tag
from teamworld.record import read_log
from teamworld.report.failures import Tagged, counts, finished, lines, plain, tagged, tags


def tag(label: str, first: int = 0, agents: tuple[str, ...] = ("a",)) -> Tag:
    return Tag(label=label, first=first, last=first + 1, agents=agents, goal="g", text=f"why {first}", source="here")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "r"
    run(level="n4", method=["greedy", "random"], episodes=2, seed=[0, 1], max_steps=100, out=out)
    return out


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert command(["report", *arguments]) == 0
    return capsys.readouterr().out


def test_counts_keep_what_they_are_a_share_of() -> None:
    experiment = ExperimentSpec(methods=("greedy", "random", "drwell"))
    episodes = [
        Tagged("greedy", 0, 1, (tag("deadlock"), tag("deadlock", 20), tag("cell-race"))),
        Tagged("greedy", 1, 1, ()),
        Tagged("random", 0, 1, ()),
    ]
    table = counts(episodes, experiment)
    assert table.columns[:3] == ("label", "greedy tags", "greedy episodes")
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["deadlock"] == ("2", "0.50 (1/2)", "0", "0.00 (0/1)", "none", "none")
    assert set(rows) == {"deadlock", "cell-race"}
    assert "understaffed" in table.caption
    assert "not looked for" not in table.caption
    assert table.narrow[1] == ("cell-race", "1 in 1/2", "0", "none")


def test_what_no_log_can_show_is_not_said_to_be_absent() -> None:
    experiment = ExperimentSpec(methods=("greedy", "random"))
    takes = {"withheld": "eyes"}
    episodes = [Tagged("greedy", 0, 1, (), takes), Tagged("random", 0, 1, (), takes)]
    caption = counts(episodes, experiment).caption
    assert caption.endswith("\nnot looked for: withheld (takes eyes)")
    assert "withheld" not in caption.partition("not seen: ")[2].partition("\n")[0]
    rows = {(row["label"], row["method"]): row for row in plain(episodes, experiment)["counts"]}
    assert rows["withheld", "greedy"]["tags"] is None
    assert rows["deadlock", "greedy"]["tags"] == 0
    mixed = counts([episodes[0], Tagged("random", 0, 1, (tag("withheld"),))], experiment)
    assert mixed.rows == (("withheld", "none", "none", "1", "1.00 (1/1)"),)


def test_the_list_shows_some_of_each_label_and_counts_the_rest() -> None:
    many = tuple(tag("cell-race", step) for step in range(0, 60, 3))
    episodes = [Tagged("greedy", 0, 1, (*many, tag("deadlock", 90)))]
    shown = lines(episodes, "greedy", 3)
    assert len(shown) == 4
    assert shown[0].startswith("seed 0 episode 1 steps 0-1: cell-race [g; a] why 0")
    assert "deadlock" in shown[2]
    assert shown[3] == "... and 18 more (--all lists them)"
    assert len(lines(episodes, "greedy", None)) == 21
    assert lines(episodes, "random") == []
    crowd = Tagged("greedy", 0, 1, (tag("deadlock", agents=tuple("abcde")),))
    assert "[g; a, b, c and 2 more]" in lines([crowd], "greedy")[0]


def test_what_is_too_much_for_a_report_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(level="n8", method="random", seed=[0, 1, 2, 3], max_steps=150, out=tmp_path / "r")
    out, everything = (shown(capsys, str(tmp_path / "r"), "--failures", *more) for more in ((), ("--all",)))
    assert "more (--all" in out
    assert "more (--all" not in everything
    assert len(everything.splitlines()) > len(out.splitlines())


def test_the_report_of_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, str(folder), "--failures")
    assert "cube n4: failures" in out
    assert "understaffed" in out
    assert "greedy: seed 0 episode 1 step" in out
    assert "not seen:" in out
    assert "not looked for: false-belief, ignored-input, withheld (takes --log-level beliefs)" in " ".join(out.split())
    everything = shown(capsys, str(folder), "--failures", "--all")
    assert "more (--all" not in everything
    assert len(everything.splitlines()) >= len(out.splitlines())
    second = shown(capsys, str(folder), "--failures", "--all", "--episode", "2")
    assert "episode 1 " not in second
    assert "episode 2 " in second


def test_json_has_every_tag(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(shown(capsys, str(folder), "--failures", "--json"))
    assert data["unfinished"] == 0
    for row in data["counts"]:
        mine = [one for one in data["tags"] if (one["label"], one["method"]) == (row["label"], row["method"])]
        can = not LABELS[row["label"]].needs_beliefs  # the run's log level is play
        assert row["tags"] == (len(mine) if can else None)
        assert row["episodes"] == {
            "num": len({(one["seed"], one["episode"]) for one in mine}),
            "den": 4 if can else 0,
        }
    assert {row["label"] for row in data["counts"]} == set(LABELS)
    log = list(read_log(folder / "logs" / "random-s1" / "0002.jsonl.zst"))
    here = [one for one in data["tags"] if (one["method"], one["seed"], one["episode"]) == ("random", 1, 2)]
    assert here
    assert [{key: one[key] for key in one if key not in ("method", "seed", "episode")} for one in here] == tags(log)


def test_what_cannot_be_read(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, experiment = RunFolder(folder), RunFolder(folder).experiment()
    with pytest.raises(UserError, match="episodes 1 to 2, got 3"):
        finished(place, experiment, 3)
    empty = RunFolder(tmp_path)
    with pytest.raises(UserError, match="no finished episode yet"):
        finished(empty, experiment)
    rows = finished(place, experiment, 1)
    assert [(row.method, row.seed) for row in rows] == [("greedy", 0), ("greedy", 1), ("random", 0), ("random", 1)]
    with pytest.raises(UserError, match="cannot be read"):
        list(tagged(empty, experiment, rows))
    whole = place.log(experiment.cells()[0], 1).read_bytes()
    broken = empty.log(experiment.cells()[0], 1)
    broken.parent.mkdir(parents=True)
    for content, why in ((b"", "not finished"), (whole[: len(whole) // 2], "not finished"), (b"hello", "not a log")):
        broken.write_bytes(content)
        with pytest.raises(UserError, match=why):
            list(tagged(empty, experiment, rows[:1]))
    for wrong in (["--episode", "1"], ["--all"], ["--failures", "--figures"], ["--failures", "--episode", "9"]):
        assert command(["report", str(folder), *wrong]) == 2
        shout = capsys.readouterr()
        assert shout.out == ""
        assert len(shout.err.strip().splitlines()) == 1


def test_episodes_still_to_come_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Enough(Exception):
        pass

    def stop(_: object) -> None:
        raise Enough

    with pytest.raises(Enough):
        run(level="paper-n1", method="random", episodes=3, max_steps=5, out=tmp_path / "r", progress=stop)
    assert "left out: 2 episodes that are not finished" in shown(capsys, str(tmp_path / "r"), "--failures")
    assert json.loads(shown(capsys, str(tmp_path / "r"), "--failures", "--json"))["unfinished"] == 2


def test_plain_of_nothing_is_null() -> None:
    data = plain([], ExperimentSpec(methods=("greedy",)))
    assert data["tags"] == []
    assert all(row["tags"] is None and row["episodes"] == {"num": 0, "den": 0} for row in data["counts"])


def test_the_page_says_what_the_rules_say() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "failures.md").read_text("utf-8")
    for label in LABELS.values():
        assert f"| {label.name} | {label.rule} | {label.diagnoses} | {label.source}" in page
