"""Times the world model's store: 100,000 instances in and out, statistics, export, writers side by side.

Run: ``python benchmarks/memory_store.py [instances] [folder]``. The aims stand in DESIGN section 8.
"""

from __future__ import annotations

import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from teamworld.memory.contract import Instance, MemoryDelta, TaskOutcome
from teamworld.memory.store import MemoryStore

RUN = "cell"
WRITERS = 8
EACH = 500
ROUNDS = 3

Value = TypeVar("Value")


def instances(count: int, episode: int = 0) -> tuple[Instance, ...]:
    """Return plan instances: 20 tasks with 100 lifted plans each, few of them common, starts up to tick 300."""
    rng = random.Random(episode)
    ranks = range(100)
    popular = [1 / (1 + rank) for rank in ranks]

    def one(place: int) -> Instance:
        task, (lifted,) = rng.randrange(20), rng.choices(ranks, popular)
        start, steps = rng.randrange(300), rng.randrange(1, 6)
        return Instance(
            episode=episode,
            agent=f"agent_{rng.randrange(16)}",
            task=f"block_{task}",
            goal=f"block_{task}",
            plan=f"plan for block_{task} {{ move_to_block(<block>({task}), left); push({lifted}, {steps}) }}",
            lifted=f"plan {{ move_to_block(?goal, left); push({lifted}, ?units) }}",
            prototype=f"move_to_block > push_{lifted % 10}",
            origin="fresh",
            start=start,
            end=start + rng.randrange(1, 90),
            success=rng.random() < 0.6,
            truncated=place % 50 == 0,
            units=10,
            progress=rng.randrange(11),
            team=rng.randrange(1, 5),
            communication="negotiated",
        )

    return tuple(map(one, range(count)))


def delta(episode: int, found: tuple[Instance, ...]) -> MemoryDelta:
    """Return a delta of the instances."""
    tasks = sorted({instance.task for instance in found})
    outcomes = (TaskOutcome(task=task, goal=task, success=True, end=9, order=n) for n, task in enumerate(tasks, 1))
    return MemoryDelta(episode=episode, completed=True, ticks=700, tasks=tuple(outcomes), instances=found)


def timed(what: Callable[[], Value]) -> tuple[float, float, Value]:
    """Return wall seconds, CPU seconds and the value."""
    wall, cpu = time.perf_counter(), time.process_time()
    value = what()
    return time.perf_counter() - wall, time.process_time() - cpu, value


def show(what: str, times: list[tuple[float, float]], aim: str) -> None:
    """Print the medians."""
    wall, cpu = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"{what:<44} {wall:7.3f} s wall {cpu:7.3f} s CPU   aim {aim}")  # noqa: T201


def write(path: str, writer: int) -> None:
    """Commit small deltas, one transaction each."""
    with MemoryStore.open(path) as store:
        for episode in range(EACH):
            store.commit(f"run_{writer}", delta(episode, instances(1, episode)))


def side_by_side(path: Path) -> None:
    """Print how many transactions a second several processes get through."""
    MemoryStore.open(path).close()
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=write, args=(str(path), writer)) for writer in range(WRITERS)]
    wall, _, _ = timed(lambda: [process.start() for process in processes] and [process.join() for process in processes])
    failed = sum(process.exitcode != 0 for process in processes)
    with MemoryStore.open(path) as store:
        stored = sum(len(store.episodes(run)) for run in store.runs())
    rate = WRITERS * EACH / wall
    print(f"{WRITERS} writers x {EACH}: {rate:,.0f} transactions/s with starting up, {failed} failed, {stored} stored")  # noqa: T201


def main() -> None:
    """Run all."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    folder = Path(tempfile.mkdtemp(dir=sys.argv[2] if len(sys.argv) > 2 else None))
    whole = delta(0, instances(count))
    inserts, sums, loads = [], [], []
    for attempt in range(ROUNDS):
        store = MemoryStore.open(folder / f"memory_{attempt}.sqlite")
        inserts.append(timed(lambda store=store: store.commit(RUN, whole))[:2])
        sums.append(timed(lambda store=store: store.experience(RUN))[:2])
        wall, cpu, found = timed(lambda store=store: store.deltas(RUN))
        loads.append((wall, cpu))
        if found != (whole,):
            raise SystemExit("what was stored is not what came back")
        store.close()
    show(f"insert {count:,} in one transaction", inserts, "0.6")
    show("all statistics", sums, "0.2")
    show("read all deltas", loads, "-")
    wall, cpu, again = timed(lambda: MemoryStore.open(folder / "memory_0.sqlite"))
    show("open and check", [(wall, cpu)], "-")
    again.close()
    side_by_side(folder / "writers.sqlite")


if __name__ == "__main__":
    main()
