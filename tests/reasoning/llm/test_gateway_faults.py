"""The way to an endpoint when calls are cancelled, and under anything at once."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.reasoning.llm.contract import (
    PASSING,
    Completion,
    Fault,
    ProviderError,
    Request,
    Usage,
)
from teamworld.reasoning.llm.gateway import ANSWERED_AGAIN, Gateway, Sent, Unreachable
from tests.reasoning.llm.gateways import Bench, Step, fault, request, steps, until
from tests.reasoning.llm.virtual import run

# Cancellation: wherever a call stands, it leaves nothing behind


def cancelled_at(bench: Bench, seconds: float, victims: Sequence[int], count: int) -> list[Sent | BaseException]:
    async def main() -> list[Sent | BaseException]:
        tasks = bench.calls(count)
        await asyncio.sleep(seconds)
        for victim in victims:
            tasks[victim].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    results: list[Sent | BaseException] = bench.play(main())
    for number, result in enumerate(results):
        assert isinstance(result, asyncio.CancelledError if number in victims else Sent), (number, result)
    return results


def test_cancelled_in_the_queue() -> None:
    bench = Bench(steps(), most=1)
    cancelled_at(bench, 0.5, [1, 3], 5)
    assert bench.client.names == ["0", "2", "4"]


def test_cancelled_in_flight() -> None:
    bench = Bench(steps(), most=1)
    cancelled_at(bench, 0.5, [0], 3)
    assert bench.client.times == [0.0, 0.5, 1.5]
    assert bench.client.cancelled == 1


def test_cancelled_between_two_tries() -> None:
    bench = Bench(steps(Step(0.0, fault("gone"))), most=1)
    cancelled_at(bench, 0.5, [0], 2)
    assert bench.client.names == ["0", "1", "1"]


def test_a_wait_that_is_cancelled_leaves_no_timer() -> None:
    bench = Bench(steps(Step(0.0, fault("gone"))))

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await bench.call()
        timers = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined]
        assert all(timer.cancelled() for timer in timers)

    bench.play(main())


def test_cancelled_while_the_endpoint_is_held() -> None:
    bench = Bench(lambda name, count, time: Step(0.0, fault("busy", 9.0) if time == 0 else None), most=1)
    cancelled_at(bench, 0.5, [0], 2)
    assert bench.client.names == ["0", "1"]
    assert bench.client.times == [0.0, 9.0]


def test_cancelled_as_the_probe() -> None:
    bench = Bench(lambda name, count, time: Step(0.0, fault("gone")) if time == 0 else Step(5.0))
    cancelled_at(bench, 2.0, [0], 6)  # since 1.0 it is out as the probe
    assert bench.client.times[6:8] == [1.0, 2.0]
    assert bench.client.names[6:8] == ["0", "1"]


def test_cancelled_during_an_outage() -> None:
    bench = Bench(until(30.0))
    cancelled_at(bench, 5.0, range(1, 10), 11)
    assert len(bench.told) == 2


def test_all_cancelled_during_an_outage_and_then_others_come() -> None:
    bench = Bench(until(30.0))

    async def main() -> Sent:
        tasks = bench.calls(5)
        await asyncio.sleep(10)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(25)
        return await bench.call("new")

    sent: Sent = bench.play(main())
    assert sent.completion is not None
    assert not sent.faults


@pytest.mark.parametrize("most", [1, 2])
def test_cancelled_in_the_moment_in_which_its_place_comes(most: int) -> None:
    bench = Bench(steps(), most=most)

    async def main() -> list[Sent | BaseException]:
        tasks = bench.calls(6)
        tasks[0].add_done_callback(lambda task: tasks[most].cancel())
        await asyncio.sleep(0)
        original = bench.gateway._release_waiting

        def pump() -> None:
            original()
            if bench.gateway.flying == most and not tasks[most].done() and asyncio.get_running_loop().time() == 1.0:
                tasks[most].cancel()  # after its place was given, before it runs

        bench.gateway._release_waiting = pump  # type: ignore[method-assign]
        return await asyncio.gather(*tasks, return_exceptions=True)

    results = bench.play(main())
    assert [isinstance(result, asyncio.CancelledError) for result in results].count(True) == 1
    assert str(most) not in bench.client.names
    assert len(bench.client.seen) == 5


def test_a_run_stops_in_the_moment_in_which_a_place_comes() -> None:
    # The refused one frees the place, which goes to the third; before that one runs, the run is stopped.
    bench = Bench(lambda name, count, time: Step(1.0, fault("refused" if name == "0" else "denied")), most=2)
    first, second, third = bench.play(bench.outcomes(3))
    assert isinstance(first, Sent)
    assert type(second) is type(third) is UserError
    assert bench.client.names == ["0", "1"]


# Everything at once

KINDS = st.sampled_from([*sorted(PASSING), "refused"])
RETRY_AFTER = st.none() | st.floats(0.0, 59.0)


@st.composite
def tries(draw: st.DrawFn) -> Step:
    seconds = draw(st.sampled_from([0.0, 0.1, 1.0, 3.0, 100.0]))
    failed = draw(st.booleans())
    return Step(seconds, Fault(kind=draw(KINDS), text="x", retry_after=draw(RETRY_AFTER)) if failed else None)


@settings(max_examples=50)
@given(
    script=st.lists(st.lists(tries(), max_size=8), min_size=1, max_size=12),
    most=st.integers(1, 8),
    jitter=st.sampled_from([0.0, 0.3, 1.0]),
    cancels=st.dictionaries(st.integers(0, 11), st.floats(0.0, 80.0), max_size=4),
    outage=st.none() | st.tuples(st.floats(0.0, 40.0), st.floats(0.0, 80.0)),
)
def test_whatever_happens_every_call_ends_and_every_try_is_told(
    script: list[list[Step]],
    most: int,
    jitter: float,
    cancels: dict[int, float],
    outage: tuple[float, float] | None,
) -> None:
    def step(name: str, count: int, time: float) -> Step:
        if outage is not None and outage[0] <= time < outage[0] + outage[1]:
            return Step(0.1, fault("gone"))
        return steps(*script[int(name)])(name, count, time)

    bench = Bench(step, most=most, jitter=jitter)
    gateway, original = bench.gateway, bench.gateway._release_waiting

    def pump() -> None:
        before, probe = gateway._tries, gateway._probe
        original()
        if gateway._tries > before:
            if gateway._dead:
                assert (gateway._tries, probe) == (before + 1, 0)
            else:
                assert gateway.flying <= gateway.limit <= most

    gateway._release_waiting = pump  # type: ignore[method-assign]
    witnesses: list[str] = []
    ask = gateway._ask_witness

    def ask_witness(permit: Callable[[], None]) -> Coroutine[Any, Any, Fault]:
        assert gateway._witness is not None
        witnesses.append(gateway._witness.model.removeprefix("test:"))
        return ask(permit)

    gateway._ask_witness = ask_witness  # type: ignore[method-assign]

    async def main() -> list[Sent | BaseException]:
        tasks = bench.calls(len(script))
        loop = asyncio.get_running_loop()
        for victim, when in cancels.items():
            if victim < len(tasks):
                loop.call_later(when, tasks[victim].cancel)
        return await asyncio.gather(*tasks, return_exceptions=True)

    results = bench.play(main())
    for number, result in enumerate(results):
        sends = bench.client.names.count(str(number)) - witnesses.count(str(number))
        if isinstance(result, Sent):
            own = [told for told in result.faults if told.text != ANSWERED_AGAIN]
            assert sends == len(own) + (result.completion is not None)
            assert result.completion is None or result.completion.text == str(number)
            if result.completion is None:
                assert result.faults
        else:
            assert isinstance(result, Unreachable) or (isinstance(result, asyncio.CancelledError) and number in cancels)


def test_requests_that_fail_alone_are_given_up_and_do_not_stop_the_run() -> None:
    bench = Bench(lambda name, count, time: Step(0.5, fault("broken")) if name in ("1", "3") else Step(0.5))
    results = bench.run(5)
    assert [sent.completion is not None for sent in results] == [True, False, True, False, True]
    assert sum(told.text == ANSWERED_AGAIN for sent in results for told in sent.faults) == 1

    async def later() -> Sent:
        return await bench.call("1")

    again: Sent = bench.play(later())  # asked again, it is tried once
    assert (again.completion, len(again.faults)) == (None, 1)


def test_an_endpoint_that_answered_before_and_is_gone_stops_the_run() -> None:
    bench = Bench(lambda name, count, time: Step(0.5) if time < 1.0 else Step(0.1, fault("gone")))

    async def main() -> list[Sent | BaseException]:
        await bench.call("0")
        await asyncio.sleep(2.0)
        return await bench.outcomes(3)

    results = bench.play(main())
    assert [type(result) for result in results] == [Unreachable] * 3
    assert bench.client.names[-1] == "0"  # what was answered once is asked before the run stops


@pytest.mark.heavy
def test_nothing_grows_with_the_number_of_calls() -> None:
    async def answer(request: Request) -> Completion:
        await asyncio.sleep(0.1)
        if next(numbers) % 7 == 0:
            raise ProviderError(fault("gone"))
        return Completion(text="", finish="stop", usage=Usage())

    async def flood(gateway: Gateway, count: int) -> int:
        left = iter(range(count))

        async def caller() -> None:
            for number in left:
                if number % 50 == 0:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(0.05):
                            await gateway.complete(request())
                await gateway.complete(request())

        await asyncio.gather(*[caller() for _ in range(20)])
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    async def main() -> list[int]:
        gateway = Gateway(bench.client, "there", most=10)
        return [await flood(gateway, count) for count in (500, 500, 2000)]

    numbers = count()
    bench = Bench(steps())
    bench.client.complete = answer  # type: ignore[method-assign]
    tracemalloc.start()
    try:
        _, before, after = run(main())
    finally:
        tracemalloc.stop()
    assert after - before < 30_000
