"""A PostgreSQL server for tests, which ``scripts/postgres.sh`` starts in a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "postgres.sh"
#: Set where these tests may not be skipped.
NEEDED = "TEAMWORLD_NEED_POSTGRES"


class PostgresServer:
    """A server that runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = _script("start", folder)
        """Of its database ``postgres``, for a role that may do anything and needs no password."""
        self._databases = 0

    def database(self) -> str:
        """Make an empty database, and return its address."""
        self._databases += 1
        name = f"test_{self._databases}"
        self.run(f"CREATE DATABASE {name}")
        return self.address.replace("/postgres?", f"/{name}?")

    def run(self, statement: str, address: str | None = None) -> list[tuple[Any, ...]]:
        """Carry out a statement, and return its rows."""
        import psycopg

        with psycopg.connect(address or self.address, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description is not None else []

    def restart(self, how: str = "immediate") -> None:
        """Stop it without a word to whoever is connected, and start it again."""
        _script("restart", self.folder, how)

    def stop(self) -> None:
        """Stop it."""
        _script("stop", self.folder)

    def start(self) -> None:
        """Start it again."""
        _script("start", self.folder)


@contextmanager
def running() -> Iterator[PostgresServer]:
    """Start a server; it ends with the block."""
    # In memory where that can be had. Not in the folder of the tests, which another user need not be able to enter.
    folder = Path(tempfile.mkdtemp(prefix="teamworld-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"))
    try:
        try:
            server = PostgresServer(folder)
        except subprocess.CalledProcessError as error:
            if os.environ.get(NEEDED):
                raise AssertionError(error.stderr) from None
            pytest.skip(error.stderr.strip())
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _script(*arguments: str | Path) -> str:
    done = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()
