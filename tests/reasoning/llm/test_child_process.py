"""A client in a process of its own: its crash is a fault of one call, and the next call gets a new process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

from teamworld.reasoning.llm.child_process import ChildClient
from teamworld.reasoning.llm.contract import Completion, Fault, ProviderError
from tests.reasoning.llm.records import request

Result = TypeVar("Result")


def play(work: Callable[[ChildClient], Coroutine[Any, Any, Result]]) -> Result:
    """Do something with a client and close it."""

    async def main() -> Result:
        client = ChildClient("tests.reasoning.llm.crashing:CrashingClient", "hello")
        try:
            return await work(client)
        finally:
            await asyncio.wait_for(client.close(), 20)
            assert client._process is None

    return asyncio.run(main())


async def ask(client: ChildClient, text: str) -> Completion | Fault:
    try:
        return await client.complete(request(text))
    except ProviderError as error:
        return error.fault


def said(outcome: Completion | Fault) -> list[str]:
    assert isinstance(outcome, Completion), outcome
    return outcome.text.split()


def test_one_process_answers_all() -> None:
    async def work(client: ChildClient) -> list[Completion | Fault]:
        return [await ask(client, "a"), await ask(client, "print"), *await asyncio.gather(*[ask(client, "b")] * 1)]

    first, second, third = map(said, play(work))
    assert first == second == third
    assert first[0] == "hello"


@pytest.mark.parametrize(("how", "told"), [("crash", "SIGSEGV"), ("leave", "exit code 3")])
def test_a_crash_is_a_fault_and_the_next_call_gets_another_process(how: str, told: str) -> None:
    async def work(client: ChildClient) -> list[Completion | Fault]:
        before = await ask(client, "a")
        bystander = asyncio.create_task(ask(client, "wait"))
        await asyncio.sleep(0.2)
        return [before, await ask(client, how), await bystander, await ask(client, "a")]

    before, crashed, bystander, after = play(work)
    for outcome in (crashed, bystander):
        assert isinstance(outcome, Fault)
        assert (outcome.kind, told in outcome.text) == ("broken", True), outcome
    assert said(before)[1] != said(after)[1]


def test_faults_and_long_answers_come_as_they_are() -> None:
    async def work(client: ChildClient) -> list[Completion | Fault]:
        return [await ask(client, "fault"), await ask(client, "long")]

    refused, long = play(work)
    assert refused == Fault(kind="refused", text="too long")
    assert isinstance(long, Completion)
    assert len(long.text) == 400_000


def test_a_request_whose_time_is_over_is_stopped_and_the_next_one_comes() -> None:
    async def work(client: ChildClient) -> list[Completion | Fault]:
        before = await ask(client, "a")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await ask(client, "wait")
        await asyncio.sleep(0.2)
        return [before, await ask(client, "a")]

    before, after = map(said, play(work))
    assert before[:2] == after[:2]  # the same process
    assert after[2] == "1"


def test_a_client_that_cannot_be_made_is_a_fault() -> None:
    async def work() -> Completion | Fault:
        client = ChildClient("tests.reasoning.llm.crashing:Nobody")
        try:
            return await ask(client, "a")
        finally:
            await client.close()

    outcome = asyncio.run(work())
    assert isinstance(outcome, Fault)
    assert "exit code 1" in outcome.text


def test_a_client_that_was_never_asked_starts_nothing() -> None:
    async def work(client: ChildClient) -> None:
        assert client._process is None

    play(work)
