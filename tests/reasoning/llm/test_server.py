"""The test server itself: what it is told, it does, again and again alike."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reasoning.llm.behaviour import prompt_digest
from tests.reasoning.llm.brains import least
from tests.reasoning.llm.server import Peer, running


def post(server: Peer, text: str, model: str = "m", seconds: float = 5.0) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=seconds)
    try:
        body = json.dumps({"model": model, "messages": [{"role": "user", "content": text}]})
        connection.request("POST", "/v1/chat/completions", body)
        response = connection.getresponse()
        response.read()
        return response.status
    except http.client.RemoteDisconnected:
        return 0
    finally:
        connection.close()


def test_faults_are_drawn_by_seed_request_and_count(server: Peer) -> None:
    def outcomes(seed: int) -> list[int]:
        server.reset()
        server.set(faults={"error": 0.3, "busy": 0.2, "drop": 0.1}, seed=seed)
        return [post(server, str(number % 60)) for number in range(120)]

    first = outcomes(1)
    assert first == outcomes(1)
    assert first != outcomes(2)
    assert first[:60] != first[60:]
    assert 0.2 < sum(status == 500 for status in first) / 120 < 0.4
    assert set(first) == {200, 500, 429, 0}


def test_counters(server: Peer) -> None:
    server.set(script=["error", "ok", "busy"])
    assert [post(server, "same") for _ in range(4)] == [500, 200, 429, 200]
    stats = server.stats()
    assert (stats["requests"], stats["completions"], stats["peak"], stats["in_flight"]) == (4, 2, 1, 0)
    assert list(stats["came"].values()) == [4]
    assert list(stats["delivered"].values()) == [2]
    assert stats["faults"] == {"error": 1, "busy": 1}


def test_how_each_request_ended_is_counted_by_its_prompt(server: Peer) -> None:
    server.set(script=["drop", "drip", "busy", "refusal"], drip=0.1)
    assert [post(server, text) for text in ("a", "a", "b", "b")] == [0, 200, 429, 200]
    server.set(seconds=5.0)
    with pytest.raises(TimeoutError):
        post(server, "c", seconds=0.1)
    while (stats := server.stats())["in_flight"]:
        time.sleep(0.01)
    ended = [stats["outcomes"][prompt_digest([("user", text)])] for text in "abc"]
    assert ended == [{"drop": 1, "drip": 1}, {"busy": 1, "refusal": 1}, {"abandoned": 1}]
    assert (stats["completions"], stats["late"], stats["late_tokens"]) == (2, 0, 0)
    assert stats["tokens"] > 0


def test_a_request_gets_so_many_faults_in_a_row_and_no_more(server: Peer) -> None:
    server.set(faults={"error": 1.0}, row=2)
    assert [post(server, "x") for _ in range(7)] == [500, 500, 200, 500, 500, 200, 500]


def test_names_that_need_no_control(server: Peer) -> None:
    assert [post(server, "x", "once-error") for _ in range(2)] == [500, 200]
    assert [post(server, "x", "always-status-503") for _ in range(2)] == [503, 503]


def test_what_it_does_not_know_is_an_error(server: Peer) -> None:
    for changes in ({"faults": {"nonsense": 1.0}}, {"speed": 1}, {"seconds": "fast"}):
        with pytest.raises(ValueError, match="test server"):
            server.set(**changes)


def test_it_comes_back_on_its_port() -> None:
    with running() as server:
        port = server.port
        server.stop()
        with pytest.raises(ConnectionRefusedError):
            post(server, "x")
        server.start()
        assert server.port == port
        assert post(server, "x") == 200


@given(st.integers(-5, 5), st.integers(0, 3))
def test_least_instances(low: int, count: int) -> None:
    schema: dict[str, Any] = {
        "$defs": {"N": {"type": "integer", "minimum": low}},
        "type": "object",
        "properties": {
            "n": {"$ref": "#/$defs/N"},
            "list": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": count},
            "maybe": {"anyOf": [{"type": "null"}, {"type": "string"}]},
            "left": {"type": "string"},
        },
        "required": ["n", "list", "maybe"],
    }
    assert least(schema) == {"n": low, "list": ["a"] * count, "maybe": None}
