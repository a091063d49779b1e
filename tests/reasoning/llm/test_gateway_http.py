"""The way to an endpoint over real connections: the provider library, a server process on loopback."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from teamworld.errors import UserError
from teamworld.reasoning.llm import providers
from teamworld.reasoning.llm.contract import Request, Turn
from teamworld.reasoning.llm.gateway import Gateway, Patience, Sent, Unreachable
from teamworld.reasoning.llm.model_names import parse_endpoint
from tests.reasoning.llm import server
from tests.reasoning.llm.gateways import request

pytest.importorskip("pydantic_ai")
pytest.importorskip("openai")

PATIENCE = Patience(per_try=0.5, first_wait=0.02, outage=2.0)


def asked(name: str, number: int) -> Request:
    turns = (Turn("system", "s"), Turn("user", str(number)))
    return msgspec.structs.replace(request(), model=name, turns=turns, form="json", max_tokens=50)


def send(name: str, count: int, told: list[str], most: int = 128) -> list[Sent | BaseException]:
    async def main() -> list[Sent | BaseException]:
        gateway = Gateway(providers.make_client(parse_endpoint(name)), name, PATIENCE, most, told.append)
        try:
            calls = [gateway.complete(asked(name, number)) for number in range(count)]
            return await asyncio.gather(*calls, return_exceptions=True)
        finally:
            await gateway.close()

    return asyncio.run(main())


def test_every_call_gets_through_faults_of_every_kind() -> None:
    notices: list[str] = []
    with server.running() as peer:
        peer.set(seconds=0.01, faults=dict.fromkeys(set(server.PASSING) - {"busy-after"}, 0.02), seed=3)
        answers = send(f"{peer.url}#m", 80, notices, most=16)
        stats = peer.stats()
    sent = [answer for answer in answers if isinstance(answer, Sent)]
    assert len(sent) == 80
    assert all(answer.completion for answer in sent)
    faults = sum(len(answer.faults) for answer in sent)
    assert faults >= 8
    assert stats["requests"] == 80 + faults
    assert stats["peak"] <= 16
    assert not notices


def test_retry_after_of_a_server_is_respected() -> None:
    with server.running() as peer:
        peer.set(script=["busy-after"])
        (sent,) = send(f"{peer.url}#m", 1, [])
    assert isinstance(sent, Sent)
    assert [fault.retry_after for fault in sent.faults] == [1.0]
    assert sent.seconds >= 1.0


def test_a_server_that_is_gone_stops_the_run() -> None:
    notices: list[str] = []
    with server.running() as peer:
        name = f"{peer.url}#m"
    errors = send(name, 5, notices)
    assert all(type(error) is Unreachable for error in errors)
    assert str(errors[0]).startswith(f"{name} has answered nothing since ")
    assert len(notices) == 1


@pytest.mark.parametrize(("behaviour", "todo"), [({"key": "k"}, "--key-env"), ({"forms": ["text"]}, "--answers")])
def test_a_server_that_will_never_answer_stops_the_run(behaviour: dict[str, Any], todo: str) -> None:
    with server.running() as peer:
        peer.set(**behaviour)
        errors = send(f"{peer.url}#m", 5, [])
    assert all(type(error) is UserError for error in errors)
    assert todo in str(errors[0])
