"""Times the world model's store: 100,000 instances in and out, statistics, export, writers side by side.

Run: ``python benchmarks/memory_store.py [instances] [folder]``. The aims stand in DESIGN section 8.
"""

from __future__ import annotations

import multiprocessing
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import TypeVar

import msgspec

from teamworld.memory.contract import MemoryDelta, PlanInstance, TaskOutcome
from teamworld.memory.graph import build, to_json
from teamworld.memory.store import MemoryStore

RUN = "cell"
WRITERS = 8
EACH = 500
ROUNDS = 3
TASKS = 20
AIMS = {
    "insert in one transaction": "0.6",
    "all statistics": "0.2",
    "graph JSON of the deltas": "1.0 with reading them",
}

Value = TypeVar("Value")


def instances(count: int, episode: int = 0) -> tuple[PlanInstance, ...]:
    """Return plan instances: tasks with 100 lifted plans each, few of them common, starts up to tick 300."""
    rng = random.Random(episode)
    ranks = range(100)
    popular = [1 / (1 + rank) for rank in ranks]

    def one(place: int) -> PlanInstance:
        task, (lifted,) = rng.randrange(TASKS), rng.choices(ranks, popular)
        start, steps = rng.randrange(300), rng.randrange(1, 6)
        return PlanInstance(
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


def delta(episode: int, found: tuple[PlanInstance, ...]) -> MemoryDelta:
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
    print(f"{what:<44} {wall:7.3f} s wall {cpu:7.3f} s CPU   aim {aim}")


def write(path: str, writer: int, ready: Barrier) -> None:
    """Commit small deltas, one transaction each, when all are ready."""
    with MemoryStore(path) as store:
        found = [delta(episode, instances(1, episode)) for episode in range(EACH)]
        ready.wait()
        for one in found:
            store.commit(f"run_{writer}", one)
        ready.wait()


def side_by_side(path: Path) -> None:
    """Print how many transactions a second several processes get through."""
    MemoryStore(path).close()
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(WRITERS + 1)
    processes = [context.Process(target=write, args=(str(path), writer, ready)) for writer in range(WRITERS)]
    for process in processes:
        process.start()
    ready.wait()
    begun = time.perf_counter()
    ready.wait()
    rate = WRITERS * EACH / (time.perf_counter() - begun)
    for process in processes:
        process.join()
    failed = sum(process.exitcode != 0 for process in processes)
    with MemoryStore(path) as store:
        stored = sum(len(store.episodes(run)) for run in store.runs())
    what = f"{WRITERS} writers x {EACH}"
    print(f"{what:<44} {rate:7,.0f} transactions/s, {failed} failed, {stored} stored   aim 5,000")


def answer(store: MemoryStore) -> None:
    """Ask everything that a method can ask."""
    world_model = store.world_model(RUN)
    for task in range(TASKS):
        world_model.guide(f"block_{task}")
        world_model.library(f"block_{task}")
    world_model.best()


def as_json(found: tuple[MemoryDelta, ...]) -> int:
    """Write the graph and return the number of bytes."""
    return len(msgspec.json.encode(to_json(found)))


def as_graph(found: tuple[MemoryDelta, ...]) -> int:
    """Build the graph and return the number of nodes."""
    return len(build(found))


def main() -> None:
    """Run all."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    folder = Path(tempfile.mkdtemp(dir=sys.argv[2] if len(sys.argv) > 2 else None))
    whole = delta(0, instances(count))
    times: dict[str, list[tuple[float, float]]] = {}

    def measure(what: str, work: Callable[[], Value]) -> Value:
        wall, cpu, value = timed(work)
        times.setdefault(what, []).append((wall, cpu))
        return value

    for attempt in range(ROUNDS):
        path = folder / f"memory_{attempt}.sqlite"
        with MemoryStore(path) as store:
            measure("insert in one transaction", partial(store.commit, RUN, whole))
            measure("all statistics", partial(answer, store))
            found = measure("read the deltas", partial(store.deltas, RUN))
            if found != (whole,):
                raise SystemExit("what was stored is not what came back")
            measure("graph JSON of the deltas", partial(as_json, found))
            measure("graph in networkx", partial(as_graph, found))
            del found  # what is still in memory slows down the next round
        measure("open and check", partial(MemoryStore, path)).close()
    print(f"{count:,} instances, medians of {ROUNDS}")
    for what, pairs in times.items():
        show(what, pairs, AIMS.get(what, "-"))
    side_by_side(folder / "writers.sqlite")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
