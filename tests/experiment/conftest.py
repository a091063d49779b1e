"""A model's server for the tests of a module; each test finds it as at the start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.reasoning.llm.server import Peer, running


@pytest.fixture(scope="module")
def shared_server() -> Iterator[Peer]:
    pytest.importorskip("pydantic_ai")
    with running("tests.reasoning.llm.player:plays") as peer:
        yield peer


@pytest.fixture
def server(shared_server: Peer) -> Peer:
    shared_server.reset()
    return shared_server
