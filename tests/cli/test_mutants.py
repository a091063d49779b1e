"""Mutants of logs, databases and experiment files over all reading commands: one line each, no traceback, no hang.

The corpus is drawn by seed, so a mutant that was bad once stays in the tests.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import sqlite3
import time
from pathlib import Path

import pytest
import zstandard

from teamworld.cli import run as command
from tests.cli.reading import READING

pytestmark = pytest.mark.heavy

#: Mutants of each command; ``MUTANTS=1000`` plays the long form.
COUNT = 20
#: Seconds that none may take: each takes less than one, what hangs or is not linear takes minutes.
LONGEST = 60.0
COMMANDS = READING | {"log": lambda folder, out: ["metrics", str(sorted(folder.glob("logs/*/*.zst"))[0])]}
#: What is put in place of a part of a text.
ODD = (
    *(
        b"",
        b"0",
        b"-1",
        b"1e999",
        b"9" * 400,
        b"null",
        b"true",
        b'""',
        b"[]",
        b"{}",
        b"NaN",
        b"\\ud83d",
        b"\x00",
        b"\xff",
    ),
    *(
        b"[" * 3000,
        b'{"a":' * 3000,
        b"a" * 70_000,
        b"!!python/object:os.system",
        b"*anchor",
        b"&a [*a]",
        b"\n",
        b"\x1b[2J",
    ),
)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("original") / "run"
    fields = ["--method", "drwell", "--level", "n1", "--max-steps", "8", "--reasoner", "rules:noise=0.3"]
    assert command(["run", "cube", *fields, "--out", str(out)]) == 0
    return out


def change_text(data: bytes, draw: random.Random) -> bytes:
    """Return a text with some of its parts changed."""
    for _ in range(draw.choice((1, 1, 2, 5))):
        at = draw.randrange(len(data) + 1)
        kind = draw.randrange(4)
        if kind == 0:
            data = data[:at] + draw.choice(ODD) + data[at + draw.randrange(8) :]
        elif kind == 1:
            data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
        elif kind == 2:
            data = data[:at]
        else:
            values = [place for place, char in enumerate(data) if char in b":,"]
            place = draw.choice(values) + 1 if values else at
            end = next((n for n in range(place, len(data)) if data[n : n + 1] in b",}\n"), len(data))
            data = data[:place] + draw.choice(ODD) + data[end:]
    return data


def change_table(path: Path, draw: random.Random) -> None:
    """Change a value, a column or a table of a database, or its bytes."""
    if draw.random() < 0.3:
        path.write_bytes(change_text(path.read_bytes(), draw))
        return
    odd = draw.choice((None, -1, 2**62, 1e308, "", "x" * 5000, b"\xff\x00", "\x1b[2J", "{}", "[[[["))
    with contextlib.closing(sqlite3.connect(path)) as db, contextlib.suppress(sqlite3.Error), db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        table = draw.choice(tables)
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        change = draw.choice(("value", "value", "value", "drop", "add", "empty", "rename"))
        if change == "value":
            db.execute(f"UPDATE OR IGNORE {table} SET {draw.choice(columns)} = ?", (odd,))
        elif change == "drop":
            db.execute(f"DROP TABLE {table}")
        elif change == "add":
            db.execute(f"ALTER TABLE {table} ADD COLUMN another TEXT DEFAULT 'more'")
        elif change == "empty":
            db.execute(f"DELETE FROM {table}")
        else:
            db.execute(f"ALTER TABLE {table} RENAME COLUMN {draw.choice(columns)} TO other")


def mutate(folder: Path, draw: random.Random) -> None:
    """Change one file of a run."""
    kind = draw.choice(("log", "log", "results", "memory", "experiment", "experiment", "missing"))
    if kind == "log":
        for path in sorted(folder.glob("logs/*/*.zst")):
            if draw.random() < 0.2:
                path.write_bytes(change_text(path.read_bytes(), draw))
            else:
                with zstandard.open(path, "rb") as log:
                    text = log.read()
                path.write_bytes(zstandard.compress(change_text(text, draw)))
    elif kind == "missing":
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        draw.choice(files).unlink()
    elif kind == "experiment":
        file = folder / "experiment.yaml"
        file.write_bytes(change_text(file.read_bytes(), draw))
    else:
        change_table(folder / f"{kind}.sqlite", draw)


def play(name: str, number: int, original: Path, tmp_path: Path) -> str | None:
    """Run a command on a mutant; return what is wrong with how it ended."""
    draw = random.Random(f"{name} {number}")
    folder = tmp_path / "theirs"
    shutil.copytree(original, folder)
    mutate(folder, draw)
    if not sorted(folder.glob("logs/*/*.zst")):
        shutil.rmtree(folder)
        return None
    out, err = io.StringIO(), io.StringIO()
    begun = time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = command(COMMANDS[name](folder, tmp_path))
    took, said = time.monotonic() - begun, err.getvalue()
    shutil.rmtree(folder)
    if code not in (0, 1, 2) or took > LONGEST or (code == 2 and said.count("\n") > 1):
        return f"code {code} after {took:.1f} s: {said}"
    if "Traceback" in said or "was not thought of" in said:
        return said
    return "it commands the terminal" if any(char in out.getvalue() + said for char in "\x1b\x07\x9b") else None


@pytest.mark.parametrize("name", COMMANDS)
def test_whatever_was_done_to_a_folder_ends_in_one_line(name: str, original: Path, tmp_path: Path) -> None:
    numbers = range(int(os.environ.get("MUTANTS", COUNT)))
    wrong = {number: said for number in numbers if (said := play(name, number, original, tmp_path)) is not None}
    assert wrong == {}
