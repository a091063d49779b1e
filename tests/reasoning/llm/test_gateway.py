"""The way to an endpoint: tries and waits of a call, how many at once, rate limits."""

from __future__ import annotations

import asyncio
import re
from itertools import pairwise

import msgspec
import pytest

from teamworld.reasoning.llm.contract import (
    PASSING,
    Completion,
    Fault,
    FaultKind,
    Usage,
)
from teamworld.reasoning.llm.gateway import BUSY, START, ConcurrencyLimit, Sent, Unreachable
from tests.reasoning.llm.gateways import PATIENCE, Bench, Script, Step, fault, kinds, one_poisoned, steps
from tests.reasoning.llm.virtual import run

# One call


def test_a_completion_comes_back() -> None:
    bench = Bench(steps())
    (sent,) = bench.run()
    assert sent == Sent(Completion(text="0", finish="stop", usage=Usage()), (), 1.0)


@pytest.mark.parametrize("kind", sorted(PASSING - {"busy"}))
def test_a_passing_fault_is_tried_again_after_a_growing_wait(kind: FaultKind) -> None:
    bench = Bench(steps(*[Step(0.0, fault(kind))] * 3))
    (sent,) = bench.run()
    assert sent.completion is not None
    assert sent.faults == (fault(kind),) * 3
    assert bench.client.times == [0.0, 1.0, 3.0, 7.0]
    assert sent.seconds == 8.0


def test_the_wait_stops_growing() -> None:
    patience = msgspec.structs.replace(PATIENCE, tries=7, total=1000.0)
    bench = Bench(steps(*[Step(0.0, fault("gone"))] * 6), patience=patience)
    bench.run()
    assert [after - before for before, after in pairwise(bench.client.times)] == [
        1.0, 2.0, 4.0, 5.0, 5.0, 5.0
    ]  # fmt: skip


def test_jitter_takes_from_nothing_to_all_of_a_wait() -> None:
    faults = steps(*[Step(0.0, fault("gone"))] * 2)
    bench = Bench(faults, jitter=0.0)
    bench.run()
    assert bench.client.times == [0.0, 0.0, 0.0]
    drawn = []
    for _ in range(2):
        bench = Bench(faults, patience=msgspec.structs.replace(PATIENCE, tries=99), jitter=None)
        bench.run(20)
        drawn.append(bench.client.times)
    first = drawn[0][20:40]
    assert all(0.0 < time < 1.0 for time in first)
    assert len(set(first)) == 20
    assert drawn[0] == drawn[1]


def test_a_call_ends_after_its_tries_while_others_are_answered() -> None:
    bench = Bench(one_poisoned("broken"))

    async def main() -> Sent:
        poison = asyncio.create_task(bench.call("poison"))
        while not poison.done():
            assert (await bench.call("other")).completion is not None
        return await poison

    sent: Sent = bench.play(main())
    assert sent.completion is None
    assert kinds(sent) == ["broken"] * 4
    assert bench.client.names.count("poison") == 4
    assert not bench.told
    assert sent.seconds == pytest.approx(4 * 0.5 + 1 + 2 + 4)


@pytest.mark.parametrize("extra", [(), (Step(0.0, fault("gone")),)])
def test_a_refused_request_ends_its_call_only(extra: tuple[Step, ...]) -> None:
    bench = Bench(lambda name, count, time: steps(*extra, Step(0.0, fault("refused")))(name, count, time))
    for sent in bench.run(3):
        assert sent.completion is None
        assert kinds(sent) == [step.fault.kind for step in extra if step.fault] + ["refused"]


def test_what_the_client_does_wrong_is_raised_and_frees_the_place() -> None:
    def script(name: str, count: int, time: float) -> Step:
        raise ZeroDivisionError

    bench = Bench(script, most=1)
    for error in bench.play(bench.outcomes(3)):
        assert isinstance(error, ZeroDivisionError)


def test_close_closes_the_client() -> None:
    bench = Bench(steps())
    run(bench.gateway.close())
    assert bench.client.closed == 1


# Time


def test_a_try_has_a_deadline() -> None:
    bench = Bench(steps(Step(1000.0)))
    (sent,) = bench.run()
    assert sent.completion is not None
    assert sent.faults == (Fault(kind="late", text="no answer within 10 s", usage=Usage()),)
    assert bench.client.times == [0.0, 11.0]
    assert bench.client.cancelled == 1


def test_a_call_has_a_deadline_for_its_tries_and_waits() -> None:
    bench = Bench(lambda name, count, time: Step(1000.0 if name == "poison" else 0.5))

    async def main() -> Sent:
        poison = asyncio.create_task(bench.call("poison"))
        while not poison.done():
            await bench.call("other")
        return await poison

    sent: Sent = bench.play(main())
    assert sent.completion is None
    assert [each.text for each in sent.faults] == [f"no answer within {seconds} s" for seconds in (10, 10, 2)]
    assert sent.seconds == pytest.approx(25.0)


def test_waiting_for_others_is_not_the_time_of_a_call() -> None:
    bench = Bench(lambda name, count, time: Step(9.0), most=1)
    answers = bench.run(5)
    assert all(sent.completion for sent in answers)
    assert [sent.seconds for sent in answers] == [9.0] * 5
    assert bench.client.times == [0.0, 9.0, 18.0, 27.0, 36.0]


# How many at once


def test_the_limit_starts_low_and_doubles_while_it_holds_calls_back() -> None:
    bench = Bench(steps(), most=1000)
    bench.run(1500)
    started = [bench.client.times.count(second) for second in range(6)]
    assert started == [START, 2 * START, 4 * START, 8 * START, 16 * START, 1500 - 31 * START]


@pytest.mark.parametrize("most", [1, 3, 50, 128])
def test_never_more_than_the_most_are_in_flight(most: int) -> None:
    bench = Bench(steps(), most=most)
    bench.run(400)
    assert max(entry.flying for entry in bench.client.seen) == most


def test_the_limit_does_not_grow_where_it_holds_nobody_back() -> None:
    bench = Bench(steps())

    async def main() -> None:
        for _ in range(10):
            await bench.all(START - 1)

    bench.play(main())
    assert bench.gateway.limit == START


def test_a_limit_halves_once_for_all_that_was_in_flight() -> None:
    limit = ConcurrencyLimit(128)
    assert [limit.halve(number, 32) for number in (1, 7, 32)] == [True, False, False]
    assert limit.value == START / 2
    limit.grow(32)
    assert limit.value == START / 2
    assert limit.halve(33, 40)
    assert limit.value == START / 4
    for number in range(41, 60):
        limit.halve(number, number)
    assert limit.value == 1


def test_a_limit_feels_its_way_up_after_a_halving() -> None:
    limit = ConcurrencyLimit(1000)
    limit.halve(1, 1)
    values = [limit.value]
    for _ in range(5):
        for _ in range(limit.value):
            limit.grow(2)
        values.append(limit.value)
    low = START // 2
    assert values[:2] == [low, low + 1]
    assert all(2 * (before - low) <= after - low for before, after in pairwise(values))
    assert values[-1] < 6 * low
    for _ in range(5000):
        limit.grow(2)
    assert limit.value == 1000


@pytest.mark.parametrize("kind", ["busy", "late"])
def test_congestion_halves_the_limit_of_a_gateway_once(kind: FaultKind) -> None:
    script: Script = lambda name, count, time: Step(1.0, fault(kind) if time == 0 and int(name) % 9 == 0 else None)  # noqa: E731
    bench = Bench(script, jitter=0.0)

    async def main() -> int:
        tasks = bench.calls(START)
        await asyncio.sleep(1.5)
        value = bench.gateway.limit
        await asyncio.gather(*tasks)
        return value

    assert bench.play(main()) == START // 2


@pytest.mark.parametrize("kind", ["gone", "broken", "refused"])
def test_other_faults_do_not_halve_it(kind: FaultKind) -> None:
    bench = Bench(lambda name, count, time: Step(1.0, fault(kind) if count == 1 and int(name) % 9 == 0 else None))
    bench.run(START)
    assert bench.gateway.limit >= START


def test_the_limit_settles_near_what_a_server_takes() -> None:
    capacity = 10
    flights: list[int] = []

    def script(name: str, count: int, time: float) -> Step:
        flights.append(bench.client.flying)
        return Step(0.0, fault("busy")) if bench.client.flying > capacity else Step(1.0)

    bench = Bench(script)
    answers = bench.run(1000)
    assert all(sent.completion for sent in answers)
    busy = sum(len(sent.faults) for sent in answers)
    assert busy < 0.35 * 1000
    seconds = max(bench.client.times) - 0.0
    assert seconds < 2.0 * 1000 / capacity


def test_calls_go_out_in_the_order_in_which_they_came() -> None:
    bench = Bench(lambda name, count, time: Step(1.0 + int(name) % 3), most=4)
    bench.run(50)
    assert bench.client.names == [str(number) for number in range(50)]


def test_an_older_call_that_tries_again_goes_before_newer_ones() -> None:
    bench = Bench(lambda name, count, time: Step(1.0, fault("gone") if name == "0" and count == 1 else None), most=1)
    bench.run(5)
    assert bench.client.names == ["0", "1", "0", "2", "3", "4"]


# Rate limits


def test_retry_after_holds_the_whole_endpoint() -> None:
    bench = Bench(lambda name, count, time: Step(0.25, fault("busy", 7.0) if time == 0 else None), most=2)
    answers = bench.run(6)
    assert bench.client.times[:2] == [0.0, 0.0]
    assert min(bench.client.times[2:]) == 7.25
    assert bench.client.names[2] == "0"
    assert all(sent.completion for sent in answers)


def test_the_longest_retry_after_counts() -> None:
    waits = {"0": 3.0, "1": 9.0, "2": 5.0}
    bench = Bench(lambda name, count, time: Step(0.0, fault("busy", waits[name]) if count == 1 else None))
    bench.run(3)
    assert bench.client.times == [0.0] * 3 + [9.0] * 3


@pytest.mark.parametrize("kind", ["broken", "gone"])
def test_other_faults_may_ask_to_wait_as_well(kind: FaultKind) -> None:
    bench = Bench(lambda name, count, time: Step(0.0, fault(kind, 20.0) if time == 0 else None), most=1)
    bench.run(2)
    assert bench.client.times == [0.0, 20.0, 20.0]


def test_a_rate_limit_without_a_time_holds_the_endpoint_longer_and_longer() -> None:
    bench = Bench(lambda name, count, time: Step(0.0, fault("busy")) if time < 20 else Step(), jitter=1.0)
    answers = bench.run(4)
    assert sorted(set(bench.client.times)) == [0.0, 1.0, 3.0, 7.0, 12.0, 17.0, 22.0, 23.0, 24.0]
    assert all(sent.completion for sent in answers)
    assert not bench.told


def test_an_answer_ends_a_row_of_rate_limits() -> None:
    bench = Bench(lambda name, count, time: Step(0.0, fault("busy") if count < 3 else None), most=1)

    async def main() -> None:
        await bench.call("0")
        await bench.call("1")

    bench.play(main())
    assert bench.client.times == [0.0, 1.0, 3.0, 3.0, 4.0, 6.0]


def test_a_retry_after_of_nothing_does_not_hammer() -> None:
    bench = Bench(steps(*[Step(0.0, fault("busy", 0.0))] * 2, Step(0.0, fault("broken", 0.0))))
    bench.run()
    assert bench.client.times == [0.0, 1.0, 3.0, 4.0]


def test_a_long_wait_is_told_once() -> None:
    bench = Bench(lambda name, count, time: Step(0.0, fault("busy", 40.0) if time == 0 else None))
    bench.run(30)
    assert bench.told == ["http://there asks to wait 40 s (a busy one); the run waits"]
    assert set(bench.client.times) == {0.0, 40.0}


def test_a_wait_beyond_the_patience_stops_the_run_at_once() -> None:
    bench = Bench(steps(Step(0.5, fault("busy", 3600.0))), most=2)

    async def main() -> float:
        for error in await bench.outcomes(10):
            assert isinstance(error, Unreachable)
            assert str(error) == (
                "http://there asks to wait 3600 s, longer than the patience of 60 s (a busy one): "
                "after that the same command goes on where it stopped"
            )
        return asyncio.get_running_loop().time()

    assert bench.play(main()) == 0.5
    assert len(bench.client.seen) == 2


def test_one_request_that_is_always_too_much_ends() -> None:
    bench = Bench(one_poisoned("busy"))

    async def main() -> Sent:
        poison = asyncio.create_task(bench.call("poison"))
        while not poison.done():
            await bench.call("other")
        return await poison

    sent: Sent = bench.play(main())
    assert sent.completion is None
    assert kinds(sent) == ["busy"] * int(PATIENCE.tries / BUSY)
    assert bench.client.names.count("other") > 10


def test_nothing_but_rate_limits_stops_the_run() -> None:
    bench = Bench(lambda name, count, now: Step(0.25, fault("busy")))

    async def main() -> float:
        for error in await bench.outcomes(50):
            assert isinstance(error, Unreachable)
            assert re.fullmatch(
                r"http://there has answered nothing since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(busy: a busy one\): "
                r"when it does, the same command goes on where it stopped",
                str(error),
            )
        return asyncio.get_running_loop().time()

    assert 60.0 <= bench.play(main()) <= 66.0
