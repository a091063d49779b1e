"""The way to an endpoint that is dead, or that nobody can wait for."""

from __future__ import annotations

import asyncio
import re
from typing import get_args

import msgspec
import pytest

from teamworld.errors import UserError
from teamworld.reasoning.llm.contract import (
    HOPELESS,
    PASSING,
    FaultKind,
)
from teamworld.reasoning.llm.gateway import START, Patience, Sent, Unreachable
from tests.reasoning.llm.gateways import PATIENCE, Bench, Entry, Script, Step, fault, kinds, one_poisoned, steps, until

# Outages


def test_a_dead_endpoint_is_waited_for() -> None:
    bench = Bench(until(30.0))
    answers = bench.run(100)
    assert all(sent.completion for sent in answers)
    assert len(bench.told) == 2
    assert bench.told[0] == "http://there does not answer (gone: a gone one); the run waits for it, 60 s at most"
    assert re.fullmatch(r"http://there answers again after 3\d s; the run goes on", bench.told[1])
    probes = [entry for entry in bench.client.seen if 0.2 < entry.at < 30.0]
    assert probes
    assert all(entry.flying == 1 for entry in probes)
    assert max(kinds(sent).count("gone") for sent in answers) <= 2


def test_probes_go_out_one_by_one_with_growing_waits() -> None:
    bench = Bench(until(25.0, seconds=0.0))
    bench.run(10)
    assert bench.client.times[:10] == [0.0] * 10
    assert bench.client.times[10:17] == [1.0, 3.0, 7.0, 12.0, 17.0, 22.0, 27.0]
    assert bench.client.times[17:] == [28.0] * 9


def test_a_lone_call_outlives_an_outage_longer_than_its_own_patience() -> None:
    bench = Bench(until(50.0, seconds=1.0))
    (sent,) = bench.run()
    assert sent.completion is not None
    assert sent.seconds > 2 * PATIENCE.total
    assert len(sent.faults) > 2 * PATIENCE.tries
    assert len(sent.faults) + 1 == len(bench.client.seen)


def test_a_stalled_endpoint_is_waited_for_as_well() -> None:
    bench = Bench(lambda name, count, time: Step(1000.0) if time < 40 else Step())
    answers = bench.run(10)
    assert all(sent.completion for sent in answers)
    assert len(bench.told) == 2


def test_after_several_outages_calls_still_have_all_their_patience() -> None:
    def dead(now: float) -> bool:
        return any(start <= now < start + 40 for start in (0, 100, 200, 300))

    bench = Bench(lambda name, count, now: Step(0.5, fault("gone")) if dead(now) else Step(0.5))

    async def member() -> list[Sent]:
        got = []
        while asyncio.get_running_loop().time() < 390:
            got.append(await bench.call("member"))
        return got

    async def main() -> list[list[Sent]]:
        return await asyncio.gather(*[member() for _ in range(20)])

    for answers in bench.play(main()):
        assert all(sent.completion for sent in answers)
        assert sum(sent.seconds > 30 for sent in answers) == 4
    assert len(bench.told) == 8
    assert [line.split(" ")[1] for line in bench.told] == ["does", "answers"] * 4


def test_an_outage_beyond_the_patience_stops_the_run() -> None:
    bench = Bench(until(1e9))

    async def main() -> float:
        for error in await bench.outcomes(100):
            assert isinstance(error, Unreachable)
            assert re.fullmatch(
                r"http://there has answered nothing since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(gone: a gone one\): "
                r"when it does, the same command goes on where it stopped",
                str(error),
            )
        return asyncio.get_running_loop().time()

    assert bench.play(main()) == pytest.approx(60.1)
    assert len(bench.told) == 1


def test_the_patience_ends_on_time_while_a_probe_hangs() -> None:
    ends: list[float] = []
    bench = Bench(lambda name, count, now: Step(0.0, fault("gone")) if now < 50 else Step(1000.0))

    async def one(name: str) -> None:
        with pytest.raises(Unreachable):
            await bench.call(name)
        ends.append(asyncio.get_running_loop().time())

    async def main() -> None:
        await asyncio.gather(*[one(str(number)) for number in range(10)])

    bench.play(main())
    assert ends[:9] == [60.0] * 9
    assert 60.0 < ends[9] < 65.0


def test_the_line_says_since_when(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("teamworld.reasoning.llm.gateway.time.time", lambda: 1_000_000.0)
    monkeypatch.setattr("teamworld.reasoning.llm.gateway.time.localtime", __import__("time").gmtime)
    bench = Bench(until(1e9))
    (error, *_) = bench.play(bench.outcomes(3))
    assert "since 1970-01-12 13:45:40 " in str(error)


def test_slow_answers_are_no_outage() -> None:
    patience = msgspec.structs.replace(PATIENCE, per_try=500.0, total=1000.0)
    bench = Bench(
        lambda name, count, time: Step(0.0, fault("gone")) if time in (0, 400) else Step(450.0), patience=patience
    )

    async def main() -> list[Sent]:
        tasks = bench.calls(1)
        await asyncio.sleep(400)
        return await asyncio.gather(*tasks, *bench.calls(1))

    assert all(sent.completion for sent in bench.play(main()))


def test_one_answer_may_take_all_the_time_that_is_given_to_it() -> None:
    bench = Bench(lambda name, count, time: Step(6000.0), patience=Patience.lasting(7200.0, 300.0))
    assert all(sent.completion for sent in bench.play(bench.all(1)))
    assert Patience.lasting(1.0, 300.0).total == Patience().total


def test_a_request_that_kills_every_try_does_not_keep_the_others_waiting() -> None:
    bench = Bench(one_poisoned("gone"))

    async def main() -> list[Sent]:
        poison = asyncio.create_task(bench.call("poison"))
        await asyncio.sleep(10.7)  # it is alone, and so the endpoint counts as dead
        assert len(bench.told) == 1
        sent = await bench.all(5)
        while not poison.done():
            sent.append(await bench.call("other"))
        return [await poison, *sent]

    poison, *others = bench.play(main())
    assert poison.completion is None
    assert all(sent.completion and sent.seconds == 0.5 for sent in others)
    assert len(bench.told) == 2


@pytest.mark.parametrize("kind", ["busy", "refused"])
def test_another_fault_is_a_sign_of_life(kind: FaultKind) -> None:
    def script(name: str, count: int, time: float) -> Step:
        return Step(0.0, fault("gone" if count % 2 else kind)) if count < 16 else Step()

    bench = Bench(script, patience=msgspec.structs.replace(PATIENCE, tries=5, total=1000.0))

    async def main() -> None:
        for _ in range(10):
            await bench.call()

    bench.play(main())
    assert not bench.told


def test_stragglers_of_an_outage_do_not_start_another() -> None:
    # Eight die at once, the others hang; the endpoint is back long before those have timed out, all but one.
    def script(name: str, count: int, time: float) -> Step:
        if time == 0 and name == "8":
            return Step(9.5)
        if time < 2:
            return Step(0.0, fault("gone")) if int(name) < 8 else Step(1000.0)
        return Step(0.5)

    bench = Bench(script)

    async def main() -> list[Sent]:
        tasks = bench.calls(30)
        await asyncio.sleep(10.2)
        return [*await asyncio.gather(bench.call("new")), *await asyncio.gather(*tasks)]

    assert all(sent.completion for sent in bench.play(main()))
    assert Entry(10.2, "new", 1) in bench.client.seen
    assert [line.split(" ")[1] for line in bench.told] == ["does", "answers"]


def test_some_faults_in_a_row_by_chance_are_no_outage() -> None:
    # Faults come fast and answers slowly, so that of many calls sent at once the first to end are all faults.
    bench = Bench(lambda name, count, time: Step(0.1, fault("broken")) if time == 0 and int(name) < 10 else Step(2.0))
    assert all(sent.completion for sent in bench.run(100))
    assert not bench.told
    assert bench.gateway.limit > START
    assert max(bench.client.times) < 10


def test_one_stall_among_answers_does_not_halve_the_limit() -> None:
    bench = Bench(lambda name, count, time: Step(1000.0 if name == "5" and count == 1 else 1.0))

    async def main() -> None:
        tasks = bench.calls(1)
        for _ in range(15):
            tasks += bench.calls(10)
            await asyncio.sleep(1.0)
        await asyncio.gather(*tasks)

    bench.play(main())
    assert bench.client.cancelled == 1
    assert bench.gateway.limit == START


def test_an_answer_to_a_straggler_ends_an_outage() -> None:
    def script(name: str, count: int, time: float) -> Step:
        if int(name) == 9:
            return Step(9.0)
        return Step(0.0, fault("gone")) if time < 8.9 else Step(0.5)

    bench = Bench(script)
    bench.run(10)
    assert bench.told[-1].startswith("http://there answers again after 9 s")
    assert max(bench.client.times) == 9.0


def test_after_an_outage_the_flood_is_let_in_slowly() -> None:
    bench = Bench(lambda name, count, time: Step(0.5, fault("gone")) if 4 <= time < 10 else Step(), most=1000)
    bench.run(2000)
    after = [entry.flying for entry in bench.client.seen if 10 <= entry.at < 15]
    assert after[0] == 1
    assert max(entry.flying for entry in bench.client.seen if entry.at < 10) > 4 * START
    first = min(entry.at for entry in bench.client.seen if entry.at >= 10)
    assert bench.client.times.count(first + 1.0) == START


# What nobody can wait for


@pytest.mark.parametrize(
    ("kind", "todo"),
    [("denied", "--key-env"), ("unknown", "'test:0'"), ("unfit", "'schema' with --answers")],
)
def test_a_hopeless_fault_stops_every_call_at_once(kind: FaultKind, todo: str) -> None:
    script: Script = lambda name, count, now: Step(0.5, fault(kind)) if name == "0" else Step(0.0, fault("gone"))  # noqa: E731
    bench = Bench(script, most=3)

    async def main() -> float:
        errors = await bench.outcomes(20)  # one in flight, two between their tries, the others in the queue
        assert len({id(error) for error in errors}) == 20
        for error in [*errors, *await bench.outcomes(2)]:
            assert type(error) is UserError
            assert str(error).startswith(f"http://there: a {kind} one; ")
            assert todo in str(error)
        return asyncio.get_running_loop().time()

    assert bench.play(main()) == 0.5


def test_every_hopeless_kind_has_its_line() -> None:
    assert set(get_args(FaultKind)) == PASSING | HOPELESS | {"refused"}
    for kind in HOPELESS:
        (error,) = Bench(steps(Step(0.0, fault(kind)))).play(Bench(steps(Step(0.0, fault(kind)))).outcomes(1))
        assert type(error) is UserError


def test_the_first_of_two_hopeless_faults_is_told() -> None:
    bench = Bench(lambda name, count, time: Step(0.5, fault("denied")) if name == "0" else Step(1.0, fault("unknown")))
    for error in bench.play(bench.outcomes(2)):
        assert "a denied one" in str(error)


def test_what_is_in_flight_when_the_run_stops_still_comes_back() -> None:
    bench = Bench(lambda name, count, time: Step(0.5, fault("denied")) if name == "0" else Step(2.0))
    first, second = bench.play(bench.outcomes(2))
    assert isinstance(first, UserError)
    assert isinstance(second, Sent)
    assert second.completion is not None
