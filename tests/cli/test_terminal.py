"""The terminal of a person: lines of a pipe, the end of it, and an interrupt while it waits."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from teamworld.cli.terminal import Keyboard


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reads, writes = os.pipe()
    yield reads, writes
    os.close(reads)


def lines(source: int, count: int) -> list[str]:
    async def read() -> list[str]:
        keyboard = Keyboard(source)
        return [await keyboard.read("? ") for _ in range(count)]

    return asyncio.run(read())


def test_lines_are_read_whole_however_they_arrive(pipe: tuple[int, int]) -> None:
    reads, writes = pipe
    os.write(writes, "one\ntwo\r\nth\u00fcr\n\n\xff".encode() + b"\xff")
    os.close(writes)
    assert lines(reads, 5) == ["one", "two", "th\u00fcr", "", "\xff\ufffd"]


@pytest.mark.parametrize("text", ["", "one\n"])
def test_the_end_of_the_input_is_told(pipe: tuple[int, int], text: str) -> None:
    reads, writes = pipe
    os.write(writes, text.encode())
    os.close(writes)
    with pytest.raises(EOFError):
        lines(reads, 2)


def test_other_work_goes_on_while_somebody_thinks(pipe: tuple[int, int]) -> None:
    reads, writes = pipe

    async def both() -> list[str]:
        done: list[str] = []

        async def other() -> None:
            done.append("other")
            os.write(writes, b"typed\n")

        async def person() -> None:
            done.append(await Keyboard(reads).read("? "))

        await asyncio.gather(person(), other())
        return done

    assert asyncio.run(both()) == ["other", "typed"]
    os.close(writes)


def test_what_is_shown_is_plain_text_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    long = "[red]<block>(1)[/red] " * 20
    Keyboard().show(long)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == f"{long}\n"


WAITING = """
import asyncio, os, signal, sys
from teamworld.cli.terminal import Keyboard
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin by ignoring it
def read(*arguments):
    print("waits", file=sys.stderr, flush=True)
    return wait(*arguments)
wait, os.read = os.read, read
try:
    asyncio.run(Keyboard().read("? "))
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_an_interrupt_ends_a_process_that_waits_for_a_line() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "? waits\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (130, "")
