"""A person at a terminal plays a run from the command line: interrupted, gone on with, replayed."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from teamworld.experiment.store.recorded_calls import CallStore
from tests.experiment.ledger import logs

pty = pytest.importorskip("pty", reason="needs pseudo-terminals")

#: Makes standard input the controlling terminal, so that Ctrl-C typed there is an interrupt.
COMMAND = """
import fcntl, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin by ignoring it
from teamworld.cli import main
sys.argv = ["teamworld", *sys.argv[1:]]
main()
"""
RUN = ["run", "cube", "--reasoner", "agent_1=human,*=rules", "--max-steps", "60"]
#: The last line where something is to be typed: a field of an answer.
PROMPT = re.compile(rb"(goal|reason|actions|reflection)(, a number| \(.*\)).*: ")
CTRL_C = b"\x03"
PATIENCE = 60.0
CAP = 200  # lines typed


class Session(NamedTuple):
    """What came of a command at a terminal."""

    code: int
    shown: str
    asked: int
    """Questions that were put."""


def at_terminal(arguments: list[str], interrupt_at: int | None = None) -> Session:
    """Run a command at a terminal of its own; take the first option of all that is asked, and say nothing.

    Args:
        arguments: Of the command.
        interrupt_at: Type Ctrl-C in place of an answer to this prompt, counting from 1.
    """
    keyboard, screen = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        stdin=screen,
        stdout=screen,
        stderr=screen,
        start_new_session=True,
        env=os.environ | {"TERM": "dumb", "COLUMNS": "200"},
    )
    os.close(screen)
    shown = b""
    try:
        prompts = 0
        for shown in _screens(keyboard):
            last = shown.rpartition(b"\n")[2]
            if not PROMPT.fullmatch(last):
                continue
            prompts += 1
            assert prompts < CAP
            if prompts == interrupt_at:
                os.write(keyboard, CTRL_C)
            else:
                os.write(keyboard, b"1\n" if b"a number" in last else b"\n")
        code = process.wait(PATIENCE)
    finally:
        process.kill()
        process.wait()
        os.close(keyboard)
    text = shown.decode().replace("\r\n", "\n")
    return Session(code, text, text.count(" is asked: "))


def _screens(keyboard: int) -> Iterator[bytes]:
    """Yield all that was shown so far, each time there is more, until nobody holds the terminal any more."""
    shown = b""
    while True:
        ready, _, _ = select.select([keyboard], [], [], PATIENCE)
        assert ready, f"nothing more is shown after: {shown[-500:].decode(errors='replace')}"
        more = b""
        with suppress(OSError):  # Linux tells the end so
            more = os.read(keyboard, 65536)
        if not more:
            return
        shown += more
        yield shown


def kept(out: Path) -> int:
    """Return how many answers are on record."""
    with CallStore(out / "results.sqlite", readonly=True) as store:
        return store.count()


@pytest.mark.heavy
def test_an_interrupted_person_goes_on_after_the_last_answer(tmp_path: Path) -> None:
    whole = at_terminal([*RUN, "--out", str(tmp_path / "whole")])
    assert whole.code == 0, whole.shown
    assert whole.asked == kept(tmp_path / "whole") >= 4
    out = tmp_path / "run"
    asked = 0
    for interrupt_at in (1, 6):  # before anything was typed, and in the middle of an answer
        session = at_terminal([*RUN, "--out", str(out)], interrupt_at)
        assert session.code == 130, session.shown
        _, _, after = session.shown.rpartition(": ^C")
        assert after.split("\n") == ["", "interrupted; the same command goes on from here", ""], session.shown
        asked += session.asked - 1  # the one at which it was interrupted was not answered
        assert kept(out) == asked
    assert asked >= 2
    rest = at_terminal([*RUN, "--out", str(out)])
    assert rest.code == 0, rest.shown
    assert kept(out) == asked + rest.asked == whole.asked
    assert logs(out) == logs(tmp_path / "whole")
    replayed = at_terminal(["replay", str(out)])
    assert (replayed.code, replayed.asked) == (0, 0)
    assert "1 episodes replayed: every log is the same" in replayed.shown
