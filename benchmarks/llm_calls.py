"""Language models as minds: wall time over the longest chain of calls, own cost of a call, replay. On a real server.

    python benchmarks/llm_calls.py [wall] [cost] [replay]

The server is a process on loopback that answers after a set time. Wall time counts from the first call to the last log;
a chain is the calls of an episode that had to wait for one another.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the server stands among the tests

from teamworld.experiment.replay import replay
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.experiment.store.results import Results
from teamworld.papers.drwell import timeline
from teamworld.reasoning.llm import providers
from teamworld.reasoning.llm.contract import CallKey, Request
from teamworld.reasoning.llm.model_names import parse_endpoint
from teamworld.record import read_log
from tests.reasoning.llm.server import Peer, running

PARTS = ("wall", "cost", "replay")
BRAIN = "tests.reasoning.llm.player:plays"
#: Level, episodes at the same time, seconds of a call, steps: what the bar names.
WALLS = [
    *((f"n{n}", episodes, 1.0, steps) for n, steps in ((2, 30), (8, 12), (32, 3)) for episodes in (1, 8)),
    *((f"n{n}", episodes, 0.2, steps) for n, steps in ((2, 60), (8, 30)) for episodes in (1, 8)),
]


def given(server: Peer, **more: object) -> ExperimentSpec:
    """Return an experiment with the server's model as the mind."""
    return build({"reasoner": server.name(), "methods": ["drwell"]} | more)


def walls(server: Peer, scratch: Path) -> None:
    """Print wall time over the longest chain of calls."""
    run(given(server, max_steps=2), scratch / "warm")  # imports and kernels
    heads = {"level": 6, "episodes": 9, "s a call": 9, "calls": 7, "peak": 6, "chain, s": 10, "wall, s": 9, "ratio": 7}
    print("".join(f"{head:>{width}}" for head, width in heads.items()), "  CPU, s")
    for number, (level, episodes, seconds, steps) in enumerate(WALLS):
        out = scratch / f"wall{number}"
        server.reset()
        server.set(seconds=seconds)
        begun, cpu = time.perf_counter(), time.process_time()
        run(given(server, level=level, max_steps=steps, seeds=list(range(episodes))), out)
        wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
        chain = max(timeline(read_log(path)).chain for path in out.glob("logs/*/*.zst")) * seconds
        stats = server.stats()
        print(
            f"{level:>6}{episodes:>9}{seconds:>9}{stats['requests']:>7}{stats['peak']:>6}{chain:>10.1f}{wall:>9.1f}"
            f"{wall / chain:>7.3f}{cpu:>8.1f}",
            flush=True,
        )


async def bare(server: Peer, requests: list[Request], flying: int) -> float:
    """Return CPU seconds of a call through the provider library alone."""
    from pydantic_ai.direct import model_request

    library: Any = providers.import_provider_client()
    client = providers.make_client(parse_endpoint(server.name()))
    model = library.make_model(parse_endpoint(server.name()), library.http(parse_endpoint(server.name()), None, 60, 60))
    gate = asyncio.Semaphore(flying)

    async def one(request: Request) -> None:
        async with gate:
            await model_request(
                model,
                library.messages_of(request.turns),
                model_settings=library.settings_of(request, True),
                model_request_parameters=library.parameters_of(request, True),
            )

    await asyncio.gather(*(one(request) for request in requests[:flying]))
    begun = time.process_time()
    await asyncio.gather(*(one(request) for request in requests))
    took = (time.process_time() - begun) / len(requests)
    await client.close()
    return took


async def ours(server: Peer, requests: list[Request], flying: int, scratch: Path) -> tuple[float, list[float]]:
    """Return CPU seconds of a call through gateway, budget, prices and record, and memory in MB as calls go on."""
    from teamworld.experiment.reasoner_factory import RunMonitor, live, prepare

    experiment = given(server)
    running = RunOptions(calls=flying)
    memory = []
    scratch.mkdir()
    with Results(scratch / "results.sqlite"):
        pass
    plan = prepare(experiment, running, RunMonitor())
    async with live(experiment, RunFolder(scratch), plan, running, RunMonitor()) as reasoners:
        line = reasoners.model(server.name(), experiment.cells()[0], 1).line

        async def one(number: int, request: Request) -> None:
            await line.call(CallKey("agent_0", "bench", number, 0), request)

        await asyncio.gather(*(one(-number - 1, request) for number, request in enumerate(requests[:flying])))
        begun = time.process_time()
        part = len(requests) // 10
        for at in range(0, len(requests), part):
            await asyncio.gather(
                *(one(number, requests[number]) for number in range(at, min(at + part, len(requests))))
            )
            memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return (time.process_time() - begun) / len(requests), memory


def costs(server: Peer, scratch: Path, count: int) -> None:
    """Print own CPU of a call over the library's, and what is in flight."""
    run(given(server, max_steps=6), scratch / "example")
    with CallStore(scratch / "example" / "results.sqlite", readonly=True) as store:
        calls = store.of(given(server).cells()[0], 1)
        example = calls.find(CallKey("agent_0", "drwell.propose", 1, 0))
    assert example is not None
    import msgspec

    requests = [msgspec.structs.replace(example.request, seed=number) for number in range(count)]
    for flying in (64, 1000):
        server.reset()
        server.set(seconds=0.2)
        library = asyncio.run(bare(server, requests, flying))
        whole, memory = asyncio.run(ours(server, requests, flying, scratch / f"ours{flying}"))
        print(
            f"{flying:>5} in flight, {count:,} calls: library {library * 1e3:.2f} ms CPU a call, "
            f"with gateway, budget and record {whole * 1e3:.2f} ms; "
            f"peak {server.stats()['peak']}; memory {memory[0]:.0f} to {memory[-1]:.0f} MB",
            flush=True,
        )


def replays(server: Peer, scratch: Path) -> None:
    """Print how much faster a replay is than the run."""
    server.reset()
    server.set(seconds=1.0)
    out = scratch / "run"
    begun = time.perf_counter()
    run(given(server, level="n4", max_steps=60, episodes=2), out)
    live = time.perf_counter() - begun
    (scratch / "again").mkdir()
    begun = time.perf_counter()
    found = list(replay(RunFolder(out), RunFolder(out).experiment(), scratch / "again"))
    took = time.perf_counter() - begun
    same = sum(one.difference is None for one in found)
    print(
        f"run {live:.1f} s at 1 s a call, replay {took:.2f} s: {live / took:.0f} x faster, "
        f"{same} of {len(found)} logs the same"
    )


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="*", help=f"{', '.join(PARTS)}; all if none is named")
    parser.add_argument("--calls", type=int, default=10_000, help="calls of the cost rows")
    options = parser.parse_args()
    parts = options.what or PARTS
    if not set(parts) <= set(PARTS):
        parser.error(f"expected some of {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory(prefix="teamworld-") as folder, running(BRAIN) as server:
        for what in parts:
            scratch = Path(folder) / what
            scratch.mkdir()
            if what == "wall":
                walls(server, scratch)
            elif what == "cost":
                costs(server, scratch, options.calls)
            else:
                replays(server, scratch)


if __name__ == "__main__":
    main()
