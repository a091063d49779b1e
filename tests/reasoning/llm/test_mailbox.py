"""A folder as an endpoint: nothing is lost or asked twice, whatever whoever answers does."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from teamworld.cli import run as command
from teamworld.errors import UserError
from teamworld.plain_files import write_file
from teamworld.reasoning.llm import mailbox
from teamworld.reasoning.llm.contract import CallKey, Completion, Request, Turn, Usage
from teamworld.reasoning.llm.gateway import Sent
from teamworld.reasoning.llm.mailbox import ANSWERS, QUESTIONS, Mailbox
from tests.reasoning.llm import brains

#: Questions of a run; ``MAILBOX_QUESTIONS=10000`` asks more.
MANY = int(os.environ.get("MAILBOX_QUESTIONS", "3000"))


def question(number: int) -> Request:
    turns = (Turn("system", "You answer."), Turn("user", f"What is {number} squared? «ü \ud800»"))
    return Request(
        model="mailbox:box", turns=turns, answer="Number", schema={"type": "integer"}, form="json", max_tokens=9
    )


def key(number: int) -> CallKey:
    return CallKey("Alice", "toy.square", number, 0)


@contextmanager
def someone(folder: Path, answer: Callable[[Path], None], seed: int = 0) -> Iterator[None]:
    """Let somebody answer what is open, in random order, until the end."""
    stop, draw = threading.Event(), random.Random(seed)

    def work() -> None:
        answered: set[str] = set()
        while not stop.is_set():
            folder_of_questions = folder / QUESTIONS
            waiting = [path for path in folder_of_questions.glob("*.json") if path.name not in answered]
            draw.shuffle(waiting)
            for path in waiting[:500]:
                answer(path)
                answered.add(path.name)
            time.sleep(0.01)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def square(path: Path, draw: random.Random) -> None:
    """Answer right, in one of the ways that are allowed, or bit by bit."""
    asked = json.loads(path.read_text("utf-8"))
    number = int(asked["messages"][1]["content"].split()[2])
    target = path.parents[1] / ANSWERS / path.name
    way = draw.randrange(4)
    if way == 0:
        target.with_suffix(".part").write_text(str(number**2))
        target.with_suffix(".part").rename(target.with_suffix(".txt"))
    elif way == 1:  # whole, without a rename
        target.write_text(json.dumps({"text": str(number**2), "model": "m", "usage": {"prompt": 7, "output": 1}}))
    else:  # piece by piece
        text = json.dumps({"text": str(number**2)})
        cut = draw.randrange(len(text))
        with target.open("w") as file:
            file.write(text[:cut])
            file.flush()
            if number % 97 == 0:
                time.sleep(0.3)  # longer than from one look to the next
            file.write(text[cut:])


@pytest.mark.heavy
def test_thousands_of_questions_over_three_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box, numbers, draw = tmp_path / "box", range(MANY), random.Random(5)
    written: Counter[str] = Counter()
    write = write_file

    def counted(path: Path, data: bytes) -> None:
        written[path.name] += 1
        write(path, data)

    monkeypatch.setattr("teamworld.reasoning.llm.mailbox.write_file", counted)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # so many take minutes on a slow disk
    record: dict[int, str] = {}

    async def live(stop_after: int) -> None:
        """Ask all that is not on record, until so many are; what was asked then stays where it is."""
        office = Mailbox(box)
        enough = asyncio.Event()

        async def ask(number: int) -> None:
            sent = await office.complete("drwell-s0", 1, key(number), question(number))
            assert sent.completion is not None
            assert number not in record
            record[number] = sent.completion.text
            if len(record) >= stop_after:
                enough.set()

        tasks = [asyncio.create_task(ask(number)) for number in numbers if number not in record]
        await enough.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await office.close()

    with someone(box, lambda path: square(path, draw)):
        for stop_after in (MANY // 10, MANY // 2, MANY):
            asyncio.run(live(stop_after))
    assert record == {number: str(number**2) for number in numbers}
    del written[mailbox.NOTE]
    assert len(written) == len(numbers)
    assert set(written.values()) == {1}


def ask_one(box: Path, data: dict[str, bytes], seconds: float = 5.0) -> Sent:
    """Return what comes of one question whose answer lies there already, in files by their endings."""

    async def call() -> Sent:
        office = Mailbox(box)
        name = mailbox._name("c", "1", *map(str, key(3)))
        (box / ANSWERS).mkdir(parents=True)
        for ending, content in data.items():
            (box / ANSWERS / f"{name}{ending}").write_bytes(content)
        try:
            async with asyncio.timeout(seconds):
                return await office.complete("c", 1, key(3), question(3))
        finally:
            await office.close()

    return asyncio.run(call())


def test_usage_and_model_are_taken_where_they_are_told(tmp_path: Path) -> None:
    told = b'{"text": "9", "model": "big-1", "usage": {"prompt": 12, "output": 1}, "anything": 3}'
    sent = ask_one(tmp_path, {".json": told})
    assert sent.completion == Completion(text="9", finish="stop", usage=Usage(prompt=12, output=1), served="big-1")


def test_there_may_be_no_answer(tmp_path: Path) -> None:
    sent = ask_one(tmp_path, {".json": b'{"error": "too\\nlong"}'})
    assert sent.completion is None
    assert [(fault.kind, fault.text) for fault in sent.faults] == [("refused", "too long")]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'"9"', b"{}", b'{"text": 9}', b"\xff", b"[" * 100_000, b'{"text'])
def test_what_is_no_answer_is_waited_for_and_told_of(
    tmp_path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "PATIENCE", 0.0)
    monkeypatch.setattr(mailbox, "LOOK", 0.05)
    lines: list[str] = []
    monkeypatch.setattr(Mailbox.__init__, "__defaults__", (lines.append,))
    with pytest.raises(TimeoutError):
        ask_one(tmp_path, {".json": data}, seconds=0.5)
    assert [line for line in lines if "is no answer" in line] == lines[1:]
    assert len(lines) == 2


def test_a_name_holds_no_path_and_no_two_places_share_one() -> None:
    places = [("a", "../../b"), ("a.b", "c"), ("a", "b.c"), ("", ".."), ("ü", "x"), ("a" * 300, "b"), ("a" * 301, "b")]
    names = [mailbox._name(*place) for place in places]
    assert all("/" not in name and not name.startswith(".") and len(name) < 200 for name in names)
    different = [name for place, name in zip(places, names, strict=True) if place not in (("a.b", "c"), ("a", "b.c"))]
    assert len(set(different)) == len(different)


def test_another_runs_question_is_not_answered_by_mistake(tmp_path: Path) -> None:
    async def both() -> None:
        for number in (1, 2):
            office = Mailbox(tmp_path / "box")
            task = asyncio.create_task(office.complete("c", 1, key(1), question(number)))
            await asyncio.sleep(0.05)
            if number == 1:
                task.cancel()
            await office.close()
            if number == 2:
                await task

    with pytest.raises(UserError, match="holds a question of another run"):
        asyncio.run(both())


def test_a_run_that_stops_waits_for_no_letter(tmp_path: Path) -> None:
    async def call() -> None:
        office = Mailbox(tmp_path / "box")
        task = asyncio.create_task(office.complete("c", 1, key(1), question(1)))
        await asyncio.sleep(0.05)
        assert office.flying == 1
        office.stop(UserError("the run stops"))
        with pytest.raises(UserError, match="the run stops"):
            await task
        with pytest.raises(UserError, match="the run stops"):
            await office.complete("c", 1, key(2), question(2))
        await office.close()

    asyncio.run(call())


def least(path: Path) -> None:
    """Answer with the least that has the form."""
    asked: dict[str, Any] = json.loads(path.read_text("utf-8"))
    target = path.parents[1] / ANSWERS / path.name
    target.with_suffix(".part").write_text(json.dumps({"text": json.dumps(brains.least(asked["schema"]))}))
    target.with_suffix(".part").rename(target)


def test_a_killed_run_takes_what_was_answered_meanwhile_and_replays_without_the_mailbox(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    box, out = tmp_path / "box", tmp_path / "run"
    asked = ["run", "rooms", "--level", "two", "--method", "drwell", "--max-steps", "12", "--seeds", "2"]
    asked += ["--reasoner", f"mailbox:{box}", "--out", str(out)]
    with subprocess.Popen([sys.executable, "-m", "teamworld", *asked], stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while len(list((box / QUESTIONS).glob("*.json"))) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        process.kill()
    before = {path.name: path.stat().st_mtime_ns for path in (box / QUESTIONS).iterdir()}
    assert len(before) == 2
    for path in (box / QUESTIONS).iterdir():
        least(path)
    with someone(box, least):
        assert command(asked) == 0
    assert {name: (box / QUESTIONS / name).stat().st_mtime_ns for name in before} == before
    for path in [*box.rglob("*.*")]:
        path.unlink()
    assert command(["replay", str(out)]) == 0
    assert "2 episodes replayed: every log is the same" in capsys.readouterr().out


def test_a_strangers_run_writes_no_questions_where_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    box, out = tmp_path / "box", tmp_path / "run"
    asked = ["run", "rooms", "--level", "one", "--max-steps", "3", "--reasoner", f"mailbox:{box}", "--out", str(out)]
    with someone(box, least):
        assert command(asked) == 0
    (out / "results.sqlite").unlink()
    for path in [*box.rglob("*.*")]:
        path.unlink()
    assert command(["resume", str(out)]) == 2
    assert "the folder" in capsys.readouterr().err
    assert [*box.rglob("*.*")] == []


@pytest.mark.parametrize(
    ("name", "said"), [("mailbox:", "expected the path of a folder"), ("mailbox:FILE", "is a file")]
)
def test_what_is_no_mailbox(name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    name = name.replace("FILE", str(tmp_path / "file"))
    assert command(["run", "rooms", "--max-steps", "3", "--reasoner", name, "--out", str(tmp_path / "run")]) == 2
    assert said in capsys.readouterr().err
