"""The command ``play``: addresses of pages, an interrupt that loses nothing, and the run that comes of it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from teamworld.cli import run
from tests.viewer.play.people import PATIENCE, Person, first_values

COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin by ignoring it
from teamworld.cli import main
main()
"""
ADDRESS = re.compile(r"agent_1: http://127\.0\.0\.1:(\d+)/([\w-]+)/")


@contextmanager
def playing(out: Path) -> Iterator[tuple[subprocess.Popen[str], Person]]:
    """The command under way, and who plays agent_1."""
    options = ["--as", "agent_1", "--max-steps", "20", "--no-browser", "--json", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "play", "cube", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        address = ADDRESS.match(process.stderr.readline())
        assert address
        yield process, Person(int(address[1]), address[2])
    finally:
        process.kill()
        process.wait()


@pytest.mark.heavy
def test_a_command_that_is_interrupted_goes_on_after_the_last_answer(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with playing(out) as (process, person):
        state = person.wait("asked")
        assert person.answer(state["question"], first_values(state["sheet"]["form"], "near")) is None
        person.wait("asked", behind=state["question"])
        process.send_signal(signal.SIGINT)
        assert person.wait("over")["note"].startswith("It was stopped.")
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        assert said.endswith("interrupted; the same command goes on from here\n")
    with playing(out) as (process, person):
        second = person.wait("asked")
        assert second["sheet"]["kind"] != state["sheet"]["kind"]
        person.play("near")
        printed, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert [episode["episode"] for episode in json.loads(printed)["episodes"]] == [1]
    assert run(["replay", str(out)]) == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--as", "agent_7"], "--as takes who is asked in this team (agent_0, agent_1), got 'agent_7'"),
        (["--method", "random"], "random asks its agents nothing"),
        (["--method", "drvell"], "did you mean 'drwell'?"),
        (["--as", "agent_0", "--port", "70000"], "choose another --port"),
    ],
)
def test_what_cannot_be_played_is_told_in_one_line(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["play", "cube", *arguments, "--no-browser", "--out", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert says in said
    assert not (tmp_path / "run").exists()
