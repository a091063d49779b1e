"""Kill a run at random moments, give the same command again, and compare with a run never killed.

    python benchmarks/durability.py --kills 50

Compares every log byte for byte, the results without wall time, and the memory; checks that no finished
episode was run again and that both databases pass SQLite's integrity check. Exits with 1 at a difference.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from teamworld.experiment.store.results import Results
from teamworld.memory.store import MemoryStore

ARGUMENTS = ["run", "cube", "--method", "drwell,zero_shot", "--episodes", "10", "--seeds", "3"]


def command(folder: Path) -> list[str]:
    """Return the command that runs, or goes on, in a folder."""
    return [sys.executable, "-m", "teamworld", *ARGUMENTS, "--out", str(folder)]


def finished(folder: Path) -> dict[tuple[str, int], tuple[object, ...]]:
    """Return the finished episodes with what was stored of them, wall time included, if there are any."""
    if not (folder / "results.sqlite").exists():
        return {}
    with contextlib.closing(sqlite3.connect(f"file:{folder / 'results.sqlite'}?mode=ro", uri=True)) as database:
        return {(row[0], row[1]): row for row in database.execute("SELECT * FROM episodes")}


def state(folder: Path) -> dict[str, object]:
    """Return everything that must be the same."""
    logs = {str(path.relative_to(folder)): path.read_bytes() for path in sorted((folder / "logs").rglob("*.zst"))}
    with Results(folder / "results.sqlite") as results:
        rows = [row._replace(seconds=0.0) for row in results.rows()]
    with MemoryStore(folder / "memory.sqlite") as memory:
        deltas = {run: memory.deltas(run) for run in memory.runs()}
    for name in ("results.sqlite", "memory.sqlite"):
        with contextlib.closing(sqlite3.connect(folder / name)) as database:
            verdict = database.execute("PRAGMA integrity_check").fetchone()[0]
            if verdict != "ok":
                raise SystemExit(f"{name}: {verdict}")
    return {"logs": logs, "results": rows, "memory": deltas}


def main() -> None:
    """Run once undisturbed, then under fire."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    moments = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as scratch:
        quiet = Path(scratch) / "quiet"
        begun = time.perf_counter()
        subprocess.run(command(quiet), check=True, stdout=subprocess.DEVNULL)
        length = time.perf_counter() - begun
        expected = state(quiet)
        hit = runs = again = 0
        while hit < given.kills:
            folder = Path(scratch) / f"run{runs}"
            runs += 1
            while True:
                before = finished(folder)
                process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(moments.uniform(0.05, length / 3) if hit < given.kills else None)
                killed = process.poll() is None
                process.send_signal(signal.SIGKILL) if killed else None
                errors = process.communicate()[1].decode()
                hit += killed
                after = finished(folder)
                again += sum(after[key] != row for key, row in before.items())
                if not killed:
                    break
            if process.returncode != 0:
                raise SystemExit(f"after {hit} kills: exit code {process.returncode}: {errors}")
            if state(folder) != expected:
                raise SystemExit(f"after {hit} kills: the run differs from one never killed")
        print(f"{hit} kills over {runs} runs of {length:.1f} s: all equal to a run never killed")
        print(f"finished episodes that were run again: {again}")
        if again:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
