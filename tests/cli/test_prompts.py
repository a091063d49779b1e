"""``teamworld prompts``: which there are, and the exact prompt of a question at a moment that is on record."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest
import yaml

from teamworld import run as run_experiment
from teamworld.cli import run
from teamworld.experiment.code_identity import code_of
from teamworld.experiment.runner import completed, play
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.warm_start import RunMemories
from teamworld.memory.store import MemoryStore
from teamworld.methods.registry import kinds
from teamworld.reasoning.prompts import template_info, template_versions
from teamworld.reasoning.rules import NoisyRules
from teamworld.record import QuestionAsked, read_log
from tests.methods.asked import Asked, Listening

SLIPS = "rules:noise=0.7"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which answers were refused and fallbacks stood, by a stand-in that errs."""
    path = tmp_path_factory.mktemp("prompts") / "run"
    run_experiment(
        "cube", method=["drwell:reflections", "zero_shot"], reasoner=SLIPS, episodes=3, max_steps=60, out=path
    )
    return path


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["prompts", *arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_all_questions_are_listed_with_version_hash_and_template(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys)
    assert code == 0
    head, *rows = [line.split() for line in out.splitlines()]
    assert head == ["question", "version", "hash", "template"]
    assert [row[0] for row in rows] == list(kinds())
    assert {row[3]: (int(row[1]), row[2]) for row in rows} == {
        question.template: tuple(template_info(question.template)) for question in kinds().values()
    }


@pytest.mark.heavy
def test_the_prompt_printed_is_the_one_that_was_shown(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
) -> None:
    """Played once more with everything that was known then, here by another way than the command's."""
    cell, experiment = RunCell("drwell:reflections", 0), RunFolder(folder).experiment()
    with MemoryStore(tmp_path / "memory.sqlite") as memory:
        with MemoryStore(folder / "memory.sqlite", readonly=True) as store:
            for delta in store.deltas(cell.name, up_to=2):
                memory.commit(cell.name, delta)
        mind = Listening(NoisyRules(cell.streams(3), 0.7))
        log = tmp_path / "log.zst"
        played_by = code_of(experiment, cell.method)
        completed(play(experiment, cell, 3, log, RunMemories(memory), mind, played_by, RunFolder(folder).registered))
    assert log.read_bytes() == RunFolder(folder).log(cell, 3).read_bytes()
    records = [event for event in read_log(log) if isinstance(event, QuestionAsked)]
    assert any(event.fallback for event in records)
    first: dict[tuple[str, str, int], Asked] = {}
    for question in mind.asked:  # asked again, it is shown again
        first.setdefault((question.kind, question.respondent, question.t), question)
    checked = 0
    for kind in ("drwell.propose", "drwell.commit", "drwell.draft", "drwell.revise"):
        for agent in ("agent_0", "agent_1"):
            mine = [event for event in records if (event.purpose, event.agent) == (kind, agent)]
            for number, event in list(enumerate(mine, start=1))[-2:]:
                where = ("--run", str(folder), "--episode", "3", "--agent", agent)
                code, out, err = call(capsys, kind, *where, "--number", str(number))
                assert code == 0, err
                prompt = first[kind, agent, event.step].prompt
                assert out == f"==== system ====\n{prompt.system}\n==== user ====\n{prompt.user}\n"
                assert call(capsys, kind, *where, "--step", str(event.step))[1] == out
                checked += 1
    assert checked >= 8


def test_what_came_later_changes_no_prompt(capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path) -> None:
    short = tmp_path / "short"
    run_experiment("cube", method="drwell:reflections", reasoner=SLIPS, episodes=2, max_steps=60, out=short)
    where = ("drwell.propose", "--episode", "2", "--agent", "agent_1", "--run")
    one, other = (call(capsys, *where, str(path)) for path in (short, folder))
    assert one == other
    assert one[0] == 0
    assert "Record:" in one[1]


def test_a_run_records_versions_and_hashes_and_a_change_since_is_told(
    capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path
) -> None:
    assert RunFolder(folder).prompts() == {name: result._asdict() for name, result in template_versions().items()}
    assert call(capsys, "zero_shot.plan", "--run", str(folder), "--method", "zero_shot")[2].count("\n") == 1
    copy = shutil.copytree(folder, tmp_path / "copy")
    data = yaml.safe_load((copy / "experiment.yaml").read_text("utf-8"))
    data["prompts"]["zero_shot/prompts/plan.md.j2"]["hash"] = "0" * 16
    (copy / "experiment.yaml").write_text(yaml.safe_dump(data), "utf-8")
    code, out, err = call(capsys, "zero_shot.plan", "--run", str(copy), "--method", "zero_shot")
    assert (code, out[:4]) == (0, "====")
    assert "has changed since this run began" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["drwell.propos"], "did you mean 'drwell.propose'?"),
        (["propose"], "unknown question 'propose'"),
        (["drwell.chat"], "nobody was asked drwell.chat in this episode; there were: drwell.commit"),
        (["drwell.propose", "--agent", "agent_7"], "agent_7 was not asked drwell.propose"),
        (["drwell.propose", "--number", "99"], "has no 99"),
        (["drwell.propose", "--number", "0"], "has no 0"),
        (["drwell.propose", "--number", "-1"], "has no -1"),
        (["drwell.propose", "--step", "1"], "not in step 1"),
        (["drwell.propose", "--step", "0", "--number", "1"], "give one of them"),
        (["drwell.propose", "--episode", "9"], "it has 1 to 3"),
        (["drwell.propose", "--seed", "5"], "no seed 5"),
        (["drwell.propose", "--method", "greedy"], "no method 'greedy'"),
        ([], "which question?"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str], folder: Path, arguments: list[str], says: str
) -> None:
    code, out, err = call(capsys, *arguments, "--run", str(folder))
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1


def test_several_questions_in_one_step_are_told_apart(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "run"
    run_experiment("cube", method="drwell:free_chat", max_steps=40, out=out)
    code, _, err = call(capsys, "drwell.chat", "--run", str(out), "--step", "0")
    assert code == 2
    assert "2 times in step 0: say which with --number 1 to 2" in err
    texts = [call(capsys, "drwell.chat", "--run", str(out), "--number", number)[1] for number in "12"]
    assert "This is your turn 1 of 2" in texts[0]
    assert "This is your turn 2 of 2" in texts[1]


def test_a_prompt_without_a_run_and_a_run_that_is_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "add --run DIR" in call(capsys, "drwell.propose")[2]
    assert "holds no run" in call(capsys, "drwell.propose", "--run", str(tmp_path))[2]


def test_what_was_known_before_must_be_there(capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    where = ("drwell.propose", "--run", str(copy), "--episode")
    with MemoryStore(copy / "memory.sqlite") as store:
        store.discard("drwell-reflections-s0", keep=[2, 3])
    assert "lacks what drwell-reflections-s0 learned in episode 1" in call(capsys, *where, "2")[2]
    for file in copy.glob("memory.sqlite*"):
        file.unlink()
    assert "memory.sqlite is missing" in call(capsys, *where, "2")[2]
    assert call(capsys, *where, "1")[0] == 0  # nothing was known before the first


def test_a_log_of_another_course_is_refused(capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path) -> None:
    short, cell = tmp_path / "short", RunCell("drwell:reflections", 0)
    run_experiment("cube", method="drwell:reflections", reasoner=SLIPS, max_steps=5, out=short)
    # The log of a longer episode stands in its place: the last questions are never asked.
    log = shutil.copy(RunFolder(folder).log(cell, 1), RunFolder(short).log(cell, 1))
    asked = [event for event in read_log(log) if isinstance(event, QuestionAsked) and event.agent == "agent_0"]
    count = sum(event.purpose == "drwell.propose" for event in asked)
    assert asked[-1].step > 5
    where = ("drwell.propose", "--run", str(short), "--agent", "agent_0", "--number", str(count))
    code, out, err = call(capsys, *where)
    assert (code, out) == (2, "")
    assert "was altered since its episode was played" in err
    digest = RunFolder(folder).finished(RunFolder(folder).experiment())[0][1].digest
    with contextlib.closing(sqlite3.connect(RunFolder(short).results_file)) as db, db:
        db.execute("UPDATE episodes SET digest = ?", (digest,))  # whoever altered it thought of that
    code, out, err = call(capsys, *where)
    assert (code, out) == (2, "")
    assert "another way than its log says" in err
