"""The n-th call of the system fails, for every n of a short run: one line, and the same command ends in the same."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self

import pytest

from teamworld.cli import run as command
from teamworld.experiment.runner import run
from teamworld.experiment.spec import build
from teamworld.reasoning.llm.gateway import Patience
from tests.experiment.ledger import logs
from tests.reasoning.llm.server import Peer

#: Calls that can fail, by the module or class that has them. Files of the run alone: what Python imports is not meant.
KINDS: dict[str, tuple[Any, str]] = {
    "open": (os, "open"),
    "file": (Path, "open"),
    "fsync": (os, "fsync"),
    "replace": (Path, "replace"),
    "link": (os, "link"),
    "unlink": (Path, "unlink"),
    "mkdir": (Path, "mkdir"),
}
#: Where something else fails than a call by its name: the n-th statement of a database, the n-th write to a file.
DATABASE, WRITE = "database", "write"
#: Of the calls of a database and of writing one in so many fails; FAILING_EVERY=1 tries all.
EVERY = int(os.environ.get("FAILING_EVERY", "7"))


class Broken:
    """Fails once, at the n-th call that touches a folder."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder, self._left = str(folder), number
        self.has_failed = False

    def __call__(self, target: object) -> bool:
        """Return whether this call fails."""
        touches = isinstance(target, int) or str(target).startswith(self._folder)
        self._left -= touches
        if not self._left and touches and not self.has_failed:
            self.has_failed = True
            return True
        return False


@contextmanager
def failing(kind: str, folder: Path, number: int) -> Iterator[Broken]:
    """Let the n-th call of a kind fail with a full disk."""
    broken = Broken(folder, number)
    if kind in (DATABASE, WRITE):
        with _failing_database(broken) if kind == DATABASE else _failing_writes(broken):
            yield broken
        return
    owner, name = KINDS[kind]
    original: Callable[..., Any] = getattr(owner, name)

    def call(target: Any, *rest: Any, **options: Any) -> Any:  # noqa: ANN401
        if broken(target):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        return original(target, *rest, **options)

    setattr(owner, name, call)
    try:
        yield broken
    finally:
        setattr(owner, name, original)


class _Full:
    """A file that fails once to be written to."""

    def __init__(self, file: IO[Any], broken: Broken, path: Path) -> None:
        self._file, self._broken, self._path = file, broken, path

    def write(self, data: Any) -> int:  # noqa: ANN401
        if self._broken(self._path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))
        return self._file.write(data)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._file, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


@contextmanager
def _failing_writes(broken: Broken) -> Iterator[None]:
    original: Callable[..., IO[Any]] = Path.open

    def call(path: Path, *rest: Any, **options: Any) -> Any:  # noqa: ANN401
        return _Full(original(path, *rest, **options), broken, path)

    Path.open = call  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        Path.open = original  # type: ignore[method-assign,assignment]


@contextmanager
def _failing_database(broken: Broken) -> Iterator[None]:
    original = sqlite3.connect

    class Connection(sqlite3.Connection):
        """Fails once."""

        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if broken(0):
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorcode = sqlite3.SQLITE_FULL
                raise error
            return super().execute(sql, *values)

    def connect(*rest: Any, **options: Any) -> sqlite3.Connection:
        return original(*rest, factory=Connection, **options)

    sqlite3.connect = connect  # type: ignore[assignment]
    try:
        yield
    finally:
        sqlite3.connect = original


def asked(out: Path) -> list[str]:
    fields = ["--method", "drwell,greedy", "--level", "n1", "--max-steps", "6", "--episodes", "2"]
    return ["run", "cube", *fields, "--processes", "1", "--out", str(out)]


@pytest.mark.heavy
@pytest.mark.parametrize("kind", [*KINDS, DATABASE, WRITE])
def test_every_call_that_fails_ends_in_a_line_and_loses_nothing(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(asked(tmp_path / "whole")) == 0
    whole = logs(tmp_path / "whole")
    capsys.readouterr()
    for number in range(1, 400, EVERY if kind in (DATABASE, WRITE) else 1):
        out = tmp_path / f"{number}"
        begun = time.monotonic()
        with failing(kind, out, number) as broken:
            code = command(asked(out))
        if not broken.has_failed:
            break
        shown = capsys.readouterr()
        assert code in (0, 2), (number, code)
        assert "Traceback" not in shown.err
        assert "was not thought of" not in shown.err, (number, shown.err)
        assert code == 0 or shown.err.count("\n") == 1, (number, shown.err)
        assert time.monotonic() - begun < 60  # and not the minutes of a patience
        assert command(asked(out)) == 0, (number, capsys.readouterr().err)
        capsys.readouterr()
        assert logs(out) == whole, number
    assert number > 1 or kind == "unlink", "nothing of this kind was called"


SOCKETS = {
    "connect": (asyncio.BaseEventLoop, "create_connection"),
    "send": (asyncio.selector_events._SelectorSocketTransport, "write"),  # type: ignore[attr-defined]
    "receive": (asyncio.selector_events._SelectorSocketTransport, "_read_ready"),  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("kind", SOCKETS)
def test_every_connection_that_fails_is_tried_again_and_changes_nothing(
    kind: str, server: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai")
    quick = Patience(tries=3, first_wait=0.001, longest_wait=0.002, outage=5.0)
    monkeypatch.setattr(Patience, "lasting", lambda *_: quick)
    experiment = build({"reasoner": server.name(), "max_steps": 6})
    run(experiment, tmp_path / "whole")
    owner, name = SOCKETS[kind]
    original: Callable[..., Any] = getattr(owner, name)
    for number in range(1, 400):
        left = number

        def call(itself: Any, *rest: Any, **options: Any) -> Any:  # noqa: ANN401
            nonlocal left
            left -= 1
            if left:
                return original(itself, *rest, **options)
            if kind == "connect":
                raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
            itself.abort()
            return None

        monkeypatch.setattr(owner, name, call)
        run(experiment, tmp_path / f"{number}")
        monkeypatch.setattr(owner, name, original)
        if left > 0:
            break
        assert logs(tmp_path / f"{number}") == logs(tmp_path / "whole"), number
    assert number > 1
