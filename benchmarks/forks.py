"""Forks of an episode in a minute, as ``teamworld worth`` plays them.

    python benchmarks/forks.py [--level paper-n2] [--continuations 8] [--processes 2]

An episode of DR. WELL in CUBE, whose rules err at a rate of 0.1, is continued from each of its messages, with and
without it, and without each agent, as often as ``--continuations`` says. Aim: at least 300 forks of ``paper-n2`` a
minute on two cores. CPU seconds are those of this process and its children: on a machine that others use too, they say
what the wall time would be.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from teamworld.experiment.fork import find_episode
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import build
from teamworld.experiment.store.folder import RunFolder
from teamworld.report.worth import measure


def cpu() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--level", default="paper-n2")
    parser.add_argument("--continuations", type=int, default=8)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "run"
        spec = {"world": "cube", "level": options.level, "methods": ["drwell"], "reasoner": "rules:noise=0.1"}
        run(build(spec), out)
        origin = find_episode(RunFolder(out), 1, None, None)
        print(f"load before: {os.getloadavg()[0]:.2f}, {origin.row.summary.steps} steps an episode")
        wall, spent = time.perf_counter(), cpu()
        running = RunOptions(processes=options.processes)
        forks = measure(origin, continuations=options.continuations, running=running).forks
        wall, spent = time.perf_counter() - wall, cpu() - spent
    print(
        f"{forks} forks in {wall:.1f} s on {options.processes} processes: {60 * forks / wall:.0f} a minute;"
        f" {1000 * spent / forks:.0f} ms CPU a fork, {60 * forks / spent * options.processes:.0f} a minute on"
        f" {options.processes} free cores"
    )


if __name__ == "__main__":
    main()
