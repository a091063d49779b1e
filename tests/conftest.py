"""Settings that every test shares."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from teamworld.experiment import process_pool
from tests.record.postgres_server import PostgresServer, running

# The same examples on every run and machine; a slow machine is no failure.
settings.register_profile("deterministic", max_examples=50, derandomize=True, deadline=None, database=None)
settings.load_profile("deterministic")


@pytest.fixture(scope="session", autouse=True)
def only_one_process() -> Iterator[None]:
    """Play in the process of the test unless it names a number of processes: pytest's workers use all processors."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process_pool, "processors", lambda: 1)
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server of this machine, one for each process of the tests."""
    pytest.importorskip("psycopg", reason="needs teamworld[postgres]")
    with running() as server:
        yield server
