"""How fast the fire of the wildfire world burns beside a published fire simulator, each in its own environment.

Run ``python benchmarks/peers/wildfire.py``. The first time it makes the environments under ``.peers``; pyretechnics is
built from source, some minutes. Both processes stay alive and are measured in turn, round after round on one core: the
ratio is that of one round, and the table shows the median and the range.

What is compared: cells that catch fire per CPU second, for a fire that spreads from one cell of a flat, uniform map in
a steady wind until about as many cells burn. Both do work only near the front. The physics differ: pyretechnics solves
a level set with Rothermel's rates, ours is a cellular automaton; the figures say how long an experiment waits for its
fire, not which fire is truer.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from compare import ROOT, Peer, Worker, python_of

#: Side of the map in cells, minutes of the peer's fire, and about the cells that it burns in them.
SIZES = ((256, 600.0, 4_800), (1024, 1380.0, 25_000))


def run(folder: Path, rounds: int, window: float) -> list[dict[str, Any]]:
    """Measure all, round after round, and return one row for each of our modes at each size."""
    rows = []
    pythons = {kind: python_of(kind, folder) for kind in ("fire", "pyretechnics")}
    for side, minutes, caught in SIZES:
        theirs = Peer("pyretechnics", f"{side} x {side}", "pyretechnics", 0, {"side": side, "minutes": minutes})
        own = [
            Peer("wildfire", f"{mode} {side} x {side}", "fire", 0, {"side": side, "mode": mode, "caught": caught})
            for mode in ("reference", "stochastic")
        ]
        workers = [Worker(peer, pythons[peer.kind]) for peer in (theirs, *own)]
        for worker in workers:
            worker.ready()
        rates: list[list[float]] = [[] for _ in workers]
        for _ in range(rounds):
            for rate, worker in zip(rates, workers, strict=True):
                rate.append(worker.measure(window))
        for worker in workers:
            worker.close()
        for peer, rate in zip(own, rates[1:], strict=True):
            ratios = sorted(a / b for a, b in zip(rate, rates[0], strict=True))
            rows.append(
                {
                    "fire": peer.label,
                    "ours": statistics.median(rate),
                    "pyretechnics": statistics.median(rates[0]),
                    "ratio": statistics.median(ratios),
                    "ratio_low": ratios[0],
                    "ratio_high": ratios[-1],
                }
            )
    return rows


def main() -> None:
    """Parse the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", type=Path, default=ROOT / ".peers", help="where the virtual environments stand")
    parser.add_argument("--rounds", type=int, default=5, help="windows measured of each")
    parser.add_argument("--window", type=float, default=1.0, help="CPU seconds of one window")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON, and nothing else")
    options = parser.parse_args()
    if options.rounds < 1 or options.window <= 0:
        parser.error("--rounds and --window must be above 0")
    rows = run(options.envs.absolute(), options.rounds, options.window)
    if options.json:
        print(json.dumps(rows, indent=1))
        sys.exit(0)
    print("cells that catch fire per CPU second on one core; ratio: median over the rounds [lowest, highest]")
    print(f"\n{'fire':<28}{'ours':>14}{'pyretechnics':>14}{'ratio':>9}")
    for row in rows:
        spread = f"[{row['ratio_low']:.0f}, {row['ratio_high']:.0f}]"
        print(f"{row['fire']:<28}{row['ours']:>14,.0f}{row['pyretechnics']:>14,.0f}{row['ratio']:>9.0f}   {spread}")


if __name__ == "__main__":
    main()
