"""Times world models on a PostgreSQL server: writers side by side beside the limit of the server, and restarts of it.

Run: ``python benchmarks/postgres.py [seconds] [folder]``. ``scripts/postgres.sh`` starts the server in the folder
(left out: a temporary one), with the settings of PostgreSQL: each commit is on the disk of the folder before it counts.
The limit is pgbench with as many clients, sending the same statement with the same document, prepared.
"""

from __future__ import annotations

import multiprocessing
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path

import msgspec
from memory_store import instances  # beside this file

import teamworld
from teamworld.experiment.store.answer_cache import AnswerCache
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.guidebook import WorldModel
from teamworld.memory.server_store import ServerStore
from teamworld.memory.store import MemoryStore
from teamworld.reasoning.llm.contract import CallKey, Completion, Request, Turn, Usage
from teamworld.record.server import login

WRITERS = 8
ROUNDS = 3
RESTARTS = 20
SCRIPT = Path(__file__).parents[1] / "scripts" / "postgres.sh"
DELTA = MemoryDelta(episode=0, completed=True, ticks=100, tasks=(), instances=instances(4))
COMPLETION = Completion(text="push(1, 4)", finish="stop", usage=Usage(prompt=900, output=20))


def control(*arguments: str | Path) -> str:
    return subprocess.run([SCRIPT, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="teamworld-", dir="/tmp"))
    address = control("start", folder)
    try:
        ServerStore(login(address)).close()
        print(f"{WRITERS} writers, a document of {len(msgspec.json.encode(DELTA)):,} bytes, transactions a second")
        print(f"{'round':>5} {'deltas':>8} {'pgbench':>8} {'share':>6} {'answers':>8}")
        for number in range(ROUNDS):
            ours, limit = write(address, "deltas", seconds, number), pgbench(address, folder, seconds)
            answers = write(address, "answers", seconds, number)
            print(f"{number:5} {ours:8,.0f} {limit:8,.0f} {ours / limit:6.0%} {answers:8,.0f}")
        survive(address, folder)
    finally:
        control("stop", folder)
        shutil.rmtree(folder, ignore_errors=True)


# ---- writers


def write(address: str, what: str, seconds: float, number: int) -> float:
    """Return the transactions a second of all writers together."""
    context = multiprocessing.get_context("spawn")
    begin, counts = context.Barrier(WRITERS + 1), context.Queue()
    work = {"deltas": write_deltas, "answers": write_answers}[what]
    children = [
        context.Process(target=work, args=(address, f"{number}/{writer}", seconds, begin, counts))
        for writer in range(WRITERS)
    ]
    for child in children:
        child.start()
    begin.wait()
    rates = [counts.get() for _ in children]
    for child in children:
        child.join()
    return sum(rates)


def write_deltas(address: str, name: str, seconds: float, begin: Barrier, counts: multiprocessing.Queue[float]) -> None:
    with ServerStore(login(address)) as store:
        begin.wait()
        begun = time.perf_counter()
        number = 0
        while (passed := time.perf_counter() - begun) < seconds:
            store.commit(name, msgspec.structs.replace(DELTA, episode=number))
            number += 1
        counts.put(number / passed)
        assert len(store.episodes(name)) == number


def write_answers(
    address: str, name: str, seconds: float, begin: Barrier, counts: multiprocessing.Queue[float]
) -> None:
    request = Request(
        model="openai:model", turns=(Turn("user", name),), answer="Plan", schema={}, form="json", max_tokens=500
    )
    with AnswerCache(address) as cache:
        calls = cache.of(0, 1)
        begin.wait()
        begun = time.perf_counter()
        number = 0
        while (passed := time.perf_counter() - begun) < seconds:
            calls.add(CallKey("agent_0", "drwell.draft", number, 0), request, COMPLETION)
            number += 1
        counts.put(number / passed)


def pgbench(address: str, folder: Path, seconds: float) -> float:
    """Return the transactions a second that the server carries out for its own program of measurement."""
    text = msgspec.json.encode(DELTA).decode().replace("'", "''").replace(":", "\\x3a")
    script = folder / "pgbench.sql"
    script.write_text(
        "\\set episode random(0, 1000000000)\n"
        "INSERT INTO teamworld.deltas AS held (run, episode, delta) "
        f"VALUES ('pgbench/' || :client_id, :episode, E'{text}') ON CONFLICT (run, episode) "
        "DO UPDATE SET delta = excluded.delta WHERE held.delta <> excluded.delta;\n"
    )
    program = Path(control()) / "pgbench"
    clients = ["--client", str(WRITERS), "--jobs", "2", "--protocol", "prepared", "--no-vacuum"]
    done = subprocess.run(
        [program, *clients, "--time", str(round(seconds)), "--file", script, address],
        check=True,
        capture_output=True,
        text=True,
    )
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("tps = "))
    return float(line.split()[2])


# ---- restarts


def survive(address: str, folder: Path) -> None:
    """Play a run while the server is started anew again and again, and compare what is there with a run in files."""
    where = folder / "runs"
    fields = {"level": "n2", "method": "drwell", "max_steps": 20, "seed": [0, 1], "episodes": 100}
    restarts, done = 0, threading.Event()

    def restart() -> None:
        nonlocal restarts
        while not done.is_set():
            time.sleep(0.5)
            control("restart", folder, ("immediate", "fast")[restarts % 2])
            restarts += 1

    with ServerStore(login(address)) as store:
        store.server.execute("DELETE FROM teamworld.deltas")
    teamworld.run("cube", out=where / "file", **fields)
    restarting = threading.Thread(target=restart)
    episodes = 0

    def begin(_: object) -> None:
        nonlocal episodes
        episodes += 1
        if episodes == 1:
            restarting.start()
        while restarts * 200 < episodes * RESTARTS:  # spread over the run, so that there are as many
            time.sleep(0.01)

    teamworld.run("cube", out=where / "server", memory=address, progress=begin, **fields)
    done.set()
    restarting.join()
    with MemoryStore(where / "file" / "memory.sqlite") as file, ServerStore(login(address)) as server:
        runs = server.runs()
        assert [server.deltas(run) for run in runs] == [file.deltas(run) for run in file.runs()]
        same = [describe(server.world_model(run)) for run in runs] == [
            describe(file.world_model(run)) for run in file.runs()
        ]
    assert same
    print(f"{restarts} restarts of the server during a run of {episodes} episodes: nothing lost, nothing twice,")
    print("the same guidebook as in a file")


def describe(model: WorldModel) -> str:
    return repr([*model.rows(), *model.team_rows(), *model.cause_rows(), *model.notes])


if __name__ == "__main__":
    main()
