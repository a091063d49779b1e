"""A client that follows a script, behind a gateway, on a clock that jumps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple, TypeAlias

from teamworld.reasoning.llm.contract import (
    Completion,
    Fault,
    FaultKind,
    ProviderError,
    Request,
    Usage,
)
from teamworld.reasoning.llm.gateway import Gateway, Patience, Sent
from tests.reasoning.llm import records
from tests.reasoning.llm.virtual import Result, run

#: No more patience than the numbers in the tests need.
PATIENCE = Patience(tries=4, per_try=10.0, total=25.0, first_wait=1.0, longest_wait=5.0, outage=60.0)
#: What the longest jitter makes of the first waits.
WAITS = (1.0, 2.0, 4.0, 5.0, 5.0)


def request(text: str = "0") -> Request:
    return records.request(model=f"test:{text}")


def fault(kind: FaultKind, retry_after: float | None = None) -> Fault:
    return Fault(kind=kind, text=f"a {kind} one", retry_after=retry_after)


class Step(NamedTuple):
    """One try: how long it takes and what comes of it; None: a completion."""

    seconds: float = 1.0
    fault: Fault | None = None


class Entry(NamedTuple):
    """A try as the client saw it."""

    at: float
    name: str
    flying: int
    """Of the client, this one included."""


Script: TypeAlias = Callable[[str, int, float], Step]


class Fake:
    """A client that does what a script says for a request, the number of its try and the time."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.seen: list[Entry] = []
        self.flying = self.cancelled = self.closed = 0
        self._tries: dict[str, int] = {}

    async def complete(self, request: Request) -> Completion:
        now, name = asyncio.get_running_loop().time(), request.model.removeprefix("test:")
        self._tries[name] = self._tries.get(name, 0) + 1
        self.flying += 1
        self.seen.append(Entry(now, name, self.flying))
        try:
            step = self.script(name, self._tries[name], now)
            await asyncio.sleep(step.seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.flying -= 1
        if step.fault is not None:
            raise ProviderError(step.fault)
        return Completion(text=name, finish="stop", usage=Usage())

    async def close(self) -> None:
        self.closed += 1

    @property
    def times(self) -> list[float]:
        return [entry.at for entry in self.seen]

    @property
    def names(self) -> list[str]:
        return [entry.name for entry in self.seen]


def steps(*each: Step) -> Script:
    """The same for every request: its first tries one by one, then completions."""
    return lambda name, count, time: each[count - 1] if count <= len(each) else Step()


def until(time: float, kind: FaultKind = "gone", seconds: float = 0.1) -> Script:
    """Nothing but faults before a time."""
    return lambda name, count, now: Step(seconds, fault(kind)) if now < time else Step()


class Bench:
    """A gateway over a fake client, and what it told."""

    def __init__(
        self, script: Script, most: int = 128, patience: Patience = PATIENCE, jitter: float | None = 1.0
    ) -> None:
        self.client = Fake(script)
        self.told: list[str] = []
        self.gateway = Gateway(
            self.client, "http://there", patience, most, self.told.append, None if jitter is None else lambda: jitter
        )

    async def call(self, name: str = "0") -> Sent:
        return await self.gateway.complete(request(name))

    def calls(self, count: int) -> list[asyncio.Task[Sent]]:
        return [asyncio.create_task(self.call(str(number))) for number in range(count)]

    def run(self, count: int = 1) -> list[Sent]:
        return self.play(self.all(count))

    async def all(self, count: int) -> list[Sent]:
        return await asyncio.gather(*self.calls(count))

    async def outcomes(self, count: int) -> list[Sent | BaseException]:
        return await asyncio.gather(*self.calls(count), return_exceptions=True)

    def play(self, main: Coroutine[Any, Any, Result]) -> Result:
        result = run(main)
        self.is_idle()
        return result

    def is_idle(self) -> None:
        assert self.gateway.flying == self.client.flying == 0
        assert not self.gateway._turns
        assert not [turn for _, turn in self.gateway._queue if not turn.done()]


def kinds(sent: Sent) -> list[FaultKind]:
    return [each.kind for each in sent.faults]


def one_poisoned(kind: FaultKind) -> Script:
    """Everything is answered but the request that is called poison."""
    return lambda name, count, time: Step(0.5, fault(kind)) if name == "poison" else Step(0.5)
