"""A run of a million episodes: how long to list them, open one, ask a question of all, and find what is missing.

The episodes are not played: one short episode on built-in rules is, and its rows and its log are written again for each
seed and number, with the seed and the number of that place. So the folder is what such a run would leave, and its
numbers mean nothing.

    nice python benchmarks/many_episodes.py make runs/million --episodes 1000000
    nice python -m teamworld compact runs/million --tables episodes,calls
    nice python benchmarks/many_episodes.py measure runs/million
    nice python benchmarks/many_episodes.py s3 runs/million

The last one uploads the run, the logs of one cell among them, to an S3 server that it starts as a process of its own
(``moto``), and takes the same measures by URL, each in a process of its own: first without a copy on this machine,
then with the copy of before.
"""

from __future__ import annotations

import argparse
import http.client
import os
import resource
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
import zstandard

from teamworld import run
from teamworld.experiment import runner
from teamworld.experiment.spec import ExperimentSpec, RunCell, build
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.remote import local_folder
from teamworld.experiment.store.results import Results
from teamworld.memory.store import MemoryStore
from teamworld.record import EpisodeStart, read_log
from teamworld.record.log import encode

METHODS = ("greedy", "random", "zero_shot", "do_nothing")
PER_CELL = 1000
STEPS = 4
BUCKET, PLACE = "lake", "results/million"


def _specify(episodes: int) -> ExperimentSpec:
    seeds = max(1, episodes // (len(METHODS) * PER_CELL))
    numbers = episodes // (len(METHODS) * seeds)
    fields = {"world": "cube", "level": "n1", "methods": list(METHODS), "seeds": list(range(seeds))}
    return build({**fields, "episodes": numbers, "max_steps": STEPS}).resolved()


class Template:
    """An episode that was played, to be written again in other places."""

    def __init__(self, folder: Path, cell: RunCell) -> None:
        place = RunFolder(folder)
        (self.row,) = (row for own, row in place.finished(place.experiment()) if own == cell)
        first, *rest = read_log(place.log(cell, 1))
        assert isinstance(first, EpisodeStart)
        self._first, self._rest = first, b"".join(encode(event) + b"\n" for event in rest)
        self._compressor = zstandard.ZstdCompressor(level=3, write_checksum=True)
        self.summary = msgspec.json.encode(self.row.summary).decode()

    def log(self, seed: int, episode: int) -> tuple[bytes, str]:
        """Return a log and its digest."""
        import hashlib

        start = msgspec.structs.replace(self._first, seed=seed, world_seed=seed, episode=episode)
        data = encode(start) + b"\n" + self._rest
        return self._compressor.compress(data), hashlib.blake2b(data, digest_size=16).hexdigest()


def make(out: Path, episodes: int, log_every: int) -> None:
    """Write a run; of its logs every so many."""
    experiment = _specify(episodes)
    folder = RunFolder(out)
    with tempfile.TemporaryDirectory() as scratch:
        played = Path(scratch) / "run"
        run("cube", level="n1", method=list(METHODS), seed=0, max_steps=STEPS, out=played)
        templates = {method: Template(played, RunCell(method, 0)) for method in METHODS}
    out.mkdir(parents=True)
    with Results(folder.results_file), MemoryStore(folder.memory_file):
        folder.claim(experiment)
    begun = time.perf_counter()
    with closing(sqlite3.connect(folder.results_file)) as db:
        db.execute("PRAGMA synchronous = OFF")
        for cell in experiment.cells():
            template, rows = templates[cell.method], []
            (out / "logs" / cell.name).mkdir(parents=True)
            for number in experiment.episode_numbers:
                digest = template.row.digest
                if number % log_every == 0:
                    data, digest = template.log(cell.seed, number)
                    folder.new_log(cell, number).write_bytes(data)
                rows.append((cell.name, number, cell.method, cell.seed, template.summary, digest, 0.01))
            with db:
                db.executemany("INSERT INTO episodes VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    print(f"{experiment.episode_count:,} episodes in {time.perf_counter() - begun:.0f} s: {out}")


# ---- measures, each in a process of its own


def listed(folder: Path) -> str:
    """List the episodes as the page of ``teamworld view`` does."""
    from teamworld.viewer.overview import EpisodeFolder

    overview = EpisodeFolder(folder).overview()
    return f"{len(overview.episodes):,} of {overview.finished:,}"


def opened(folder: Path) -> str:
    """Read an episode from the middle."""
    from teamworld.experiment.store.selection import select_episode

    experiment = RunFolder(folder).experiment()
    seed = experiment.seeds[len(experiment.seeds) // 2]
    begun, cpu = time.perf_counter(), time.process_time()
    selected = select_episode(folder, experiment.methods[1], seed, experiment.episodes // 2)
    events = list(read_log(selected.log, expected=selected.digest))
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    return f"{len(events)} events in {wall * 1000:.0f} ms ({cpu * 1000:.0f} ms CPU)"


def grouped(folder: Path) -> str:
    """Ask for means by method and seed."""
    import polars

    from teamworld import load

    query = load(folder).scan("episodes").group_by("method", "seed").agg(polars.col("completion", "steps").mean())
    return f"{query.collect(engine='streaming').height:,} groups"


def resumed(folder: Path) -> str:
    """Go on with the run, in which nothing is missing, as ``teamworld resume`` does before it reports."""
    finished: list[int] = []
    runner.finish(RunFolder(folder).experiment(), folder, earlier=lambda cell, numbers: finished.append(len(numbers)))
    return f"{sum(finished):,} episodes finished"


def reported(folder: Path) -> str:
    """Make the tables of the run, as ``teamworld resume`` and ``report`` do."""
    from teamworld.report import tables
    from teamworld.report.episode_columns import columns_of

    experiment = RunFolder(folder).experiment()
    made = tables.of_run(columns_of(RunFolder(folder), experiment), experiment)
    return f"{sum(len(table.rows) for table in made):,} lines"


MEASURES: dict[str, tuple[Callable[[Path], str], str]] = {
    "listed": (listed, "1 s"),
    "opened": (opened, "50 ms"),
    "grouped": (grouped, "10 s"),
    "resumed": (resumed, "5 s"),
    "reported": (reported, "none"),
}


def measure(folder: Path | str, names: Iterable[str] = tuple(MEASURES)) -> None:
    """Print each measure with its time, without imports, and the most memory that its process took."""
    for name in names:
        command = [sys.executable, __file__, "one", str(folder), "--measure", name]
        line = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        print(f"{name:8} (bar {MEASURES[name][1]:>5}): {line}", flush=True)


def single(folder: Path, name: str) -> None:
    """Take one measure twice in this process and print both: the first reads what the second finds in memory."""
    function, _ = MEASURES[name]
    times = []
    for _ in range(2):
        begun, cpu = time.perf_counter(), time.process_time()
        said = function(local_folder(folder))
        times.append(f"{time.perf_counter() - begun:.3f} s ({time.process_time() - cpu:.3f} s CPU)")
    print(f"{', then '.join(times)}, {_peak_memory():.0f} MB; {said}")


def _peak_memory() -> float:
    """Return the most memory of this process, MB; what the system counts for it may be that of who started it."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def _s3_server() -> Iterator[int]:
    """Start an S3 server as a process of its own, and yield its port."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = int(free.getsockname()[1])
    code = "import logging, sys; logging.disable(); from moto.server import main; main(['-p', sys.argv[1]])"
    server = subprocess.Popen([sys.executable, "-c", code, str(port)], stdout=subprocess.DEVNULL)
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait()


def _upload(folder: Path, port: int) -> None:
    """Put a run and the logs of the cell that is opened on the server, each file by one plain request."""
    experiment = RunFolder(folder).experiment()
    cell = RunCell(experiment.methods[1], experiment.seeds[len(experiment.seeds) // 2])
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith((".lock", "-wal", "-shm"))]
    names = {path.relative_to(folder).as_posix(): path for path in files}
    times = {name: path.stat().st_mtime_ns for name, path in names.items() if not name.startswith("logs/")}
    bodies = {name: path for name, path in names.items() if name in times or name.startswith(f"logs/{cell.name}/")}
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as server:

        def put(name: str, body: object) -> None:
            server.request("PUT", f"/{BUCKET}{name}", body, {"x-amz-acl": "public-read"})
            answer = server.getresponse()
            answer.read()
            assert answer.status == 200, (name, answer.status)

        put("", b"")
        for name, path in bodies.items():
            with path.open("rb") as file:
                put(f"/{PLACE}/{name}", file)
        put(f"/{PLACE}/.times.json", msgspec.json.encode(times))  # as teamworld leaves it
    print(f"{len(bodies):,} files uploaded, {sum(path.stat().st_size for path in bodies.values()) / 1e6:,.0f} MB")


def _bare(folder: Path, port: int) -> None:
    """Print what the server itself takes for the bytes of the measures."""
    for what, paths in (
        ("results.sqlite", [folder / "results.sqlite"]),
        ("parquet/episodes", sorted((folder / "parquet" / "episodes").glob("*.parquet"))),
    ):
        begun, size = time.perf_counter(), 0
        with closing(http.client.HTTPConnection("127.0.0.1", port)) as server:
            for path in paths:
                server.request("GET", f"/{BUCKET}/{PLACE}/{path.relative_to(folder).as_posix()}")
                answer = server.getresponse()
                while data := answer.read(2**20):
                    size += len(data)
        print(
            f"bare requests for {what}: {len(paths)} files, {size / 1e6:,.1f} MB, {time.perf_counter() - begun:.3f} s"
        )


def measure_s3(folder: Path) -> None:
    """Take the measures from a run at a URL."""
    with _s3_server() as port, tempfile.TemporaryDirectory() as copies:
        os.environ |= {
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        }
        _upload(folder, port)
        _bare(folder, port)
        for name in MEASURES:
            os.environ["TEAMWORLD_COPIES"] = f"{copies}/{name}"
            measure(f"s3://{BUCKET}/{PLACE}", [name])
            if name in ("listed", "grouped", "opened"):
                held = [path.name for path in Path(copies, name).rglob("*.sqlite")]
                assert "results.sqlite" not in held, "the Parquet tables were to do"


def main() -> None:
    """Parse and call."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("make", "measure", "s3", "one"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--episodes", type=int, default=1_000_000)
    parser.add_argument("--log-every", type=int, default=1, help="write the log of every so many episodes alone")
    parser.add_argument("--measure", choices=MEASURES)
    arguments = parser.parse_args()
    match arguments.what:
        case "make":
            make(arguments.folder, arguments.episodes, arguments.log_every)
        case "measure":
            measure(arguments.folder)
        case "s3":
            measure_s3(arguments.folder)
        case "one":
            single(arguments.folder, arguments.measure)


if __name__ == "__main__":
    main()
