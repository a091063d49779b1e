"""Metrics of a log of a million events: seconds and memory, by part. On one core.

    python benchmarks/metrics.py [--events N]

The log is real: an episode of DR. WELL on the rules, its events repeated with the clock running on.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from teamworld.experiment.api import run
from teamworld.record import EpisodeEnd, EpisodeStart, LogWriter, StepDone, read_log


def make(path: Path, events: int) -> int:
    """Write a log of so many events; return how many they are."""
    with tempfile.TemporaryDirectory(prefix="teamworld-") as folder:
        run(level="n8", method="drwell", max_steps=400, episodes=1, out=Path(folder) / "run")
        start, *middle, end = read_log(next(Path(folder).glob("run/logs/*/*.zst")))
    assert isinstance(start, EpisodeStart)
    assert isinstance(end, EpisodeEnd)
    steps = sum(isinstance(event, StepDone) for event in middle)
    rounds = -(-events // len(middle))
    with LogWriter(path) as writer:
        writer.write(msgspec.structs.replace(start, horizon=rounds * steps), 0, 0)
        for number in range(rounds):
            for event in middle:
                plan = getattr(event, "plan", None)
                again = event if plan is None else msgspec.structs.replace(event, plan=plan + number * 1_000_000)
                writer.write(again, event.step + number * steps, event.tick + number * steps)
        writer.write(end, rounds * steps, rounds * steps)
        writer.finish()
        return len(writer.events)


def main() -> None:
    """Make the log here, measure in a process of its own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--log", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.log is None:
        with tempfile.TemporaryDirectory(prefix="teamworld-") as folder:
            path = Path(folder) / "long.jsonl.zst"
            print(f"{make(path, options.events):,} events, {path.stat().st_size / 1e6:.1f} MB")
            subprocess.run([sys.executable, __file__, "--log", str(path)], check=True)
        return
    from teamworld.metrics.all_metrics import measure
    from teamworld.metrics.definition import metric_functions
    from teamworld.metrics.log_reader import tabulate

    begun = time.process_time()
    number = sum(1 for _ in read_log(options.log))
    decoded = time.process_time()
    table = tabulate(read_log(options.log))
    tabulated = time.process_time()
    measure(table)
    print(f"decode {decoded - begun:.2f} s ({(decoded - begun) / number * 1e6:.2f} us an event)")
    print(f"decode and tabulate {tabulated - decoded:.2f} s")
    print(f"all metrics {time.process_time() - tabulated:.2f} s, of which the slowest:")
    seconds = {}
    for name, function in metric_functions().items():
        table.memo.clear()
        begun = time.process_time()
        function(table)
        seconds[name] = time.process_time() - begun
    for name in sorted(seconds, key=lambda name: -seconds[name])[:8]:
        print(f"{name} {seconds[name]:.2f} s")
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(f"peak memory {int(peak.split()[1]) / 1024:.0f} MB")


if __name__ == "__main__":
    main()
