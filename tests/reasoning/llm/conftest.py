"""A server process that tests of one module share; each test finds it as new."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.reasoning.llm.server import Peer, running


@pytest.fixture(scope="module")
def process() -> Iterator[Peer]:
    with running() as peer:
        yield peer


@pytest.fixture
def server(process: Peer) -> Peer:
    process.reset()
    return process
