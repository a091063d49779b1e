"""Times the way to an endpoint by itself: CPU per call with many in flight, and memory over many calls.

Run: ``python benchmarks/llm_gateway.py [calls] [in flight]``. The client behind it only sleeps; the same calls sent
straight to it are subtracted. Aim: at most 0.2 ms CPU per call at 1,000 in flight, memory flat.
"""

from __future__ import annotations

import asyncio
import gc
import random
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable

from teamworld.reasoning.llm.contract import Completion, Fault, FaultKind, ProviderError, Request, Usage
from teamworld.reasoning.llm.gateway import Gateway, Patience

LATENCY = 0.05
AIM = 0.2
REQUEST = Request(
    model="m", turns=(), answer="A", schema={}, form="schema", temperature=None, top_p=None, max_tokens=1, seed=None
)
ANSWER = Completion(text="", finish="stop", usage=Usage())


class Sleeper:
    """A client that answers after a while, or fails at a rate."""

    def __init__(self, faults: float = 0.0) -> None:
        self._faults = faults
        self._rng = random.Random(1)
        self.flying = self.peak = self.sends = 0

    async def complete(self, request: Request) -> Completion:
        self.sends += 1
        self.flying += 1
        self.peak = max(self.peak, self.flying)
        try:
            await asyncio.sleep(LATENCY)
        finally:
            self.flying -= 1
        if self._rng.random() < self._faults:
            kind: FaultKind = self._rng.choice(["gone", "broken"])
            raise ProviderError(Fault(kind=kind, text="x"))
        return ANSWER

    async def close(self) -> None:
        pass


async def flood(send: Callable[[Request], Awaitable[object]], calls: int, at_once: int) -> None:
    """Make calls, so many of them waiting for an answer at any time."""
    left = iter(range(calls))

    async def caller() -> None:
        for _ in left:
            await send(REQUEST)

    await asyncio.gather(*[caller() for _ in range(at_once)])


async def cpu(send: Callable[[Request], Awaitable[object]], calls: int, at_once: int) -> float:
    """Return CPU milliseconds per call."""
    gc.collect()
    before = time.process_time()
    await flood(send, calls, at_once)
    return 1e3 * (time.process_time() - before) / calls


async def memory(calls: int, at_once: int) -> list[int]:
    """Return the memory in use after every fifth of the calls, in bytes."""
    gateway = Gateway(Sleeper(faults=0.1), "there", Patience(first_wait=0.1), most=at_once)
    used = []
    tracemalloc.start()
    for _ in range(5):
        await flood(gateway.complete, calls // 5, at_once)
        gc.collect()
        used.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    return used


async def main() -> None:
    given = [int(value) for value in sys.argv[1:]]
    calls, at_once = [*given, *[100_000, 1_000][len(given) :]]
    await flood(Sleeper().complete, 10 * at_once, at_once)
    bare = await cpu(Sleeper().complete, calls, at_once)
    print(f"{calls:,} calls, {at_once:,} wanted at once; the client alone: {bare:.4f} ms CPU per call")
    for most, faults in ((at_once, 0.0), (at_once, 0.1), (max(1, at_once // 8), 0.0)):
        client = Sleeper(faults)
        gateway = Gateway(client, "there", Patience(first_wait=0.1), most)
        taken = await cpu(gateway.complete, calls // 2, at_once) - bare * client.sends / (calls // 2)
        print(
            f"  at most {most:,} in flight, {faults:.0%} faults: {taken:.4f} ms of the gateway's own (aim {AIM}), "
            f"{client.peak:,} in flight at the peak, {client.sends:,} sends"
        )
    used = await memory(calls, at_once)
    print("  memory in use after every fifth: " + ", ".join(f"{value / 1024:,.0f} KiB" for value in used))


if __name__ == "__main__":
    asyncio.run(main())
