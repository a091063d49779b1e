"""A large run through every fault that a server can have, beside one without: nothing is lost, paid twice or untold.

    python benchmarks/llm_faults.py [--calls 10000]

A server process on loopback counts, prompt by prompt, what came, what it answered and what it did instead. Three runs
of the same experiment: without faults; with those that are over when a request is sent again, whose logs have to be the
same byte for byte; with all kinds, answers that cannot be used among them. In both, every fault of the server has to
stand on record at the call that met it, every answer once, and every call and flaw of the record in the logs. Exits
with 1 where anything does not agree.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the server stands among the tests

from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import run
from teamworld.experiment.spec import ExperimentSpec, build
from tests.experiment.ledger import Ledger, balance, logs
from tests.reasoning.llm.behaviour import FLAWED, HIDDEN
from tests.reasoning.llm.server import Peer, running

BRAIN = "tests.reasoning.llm.player:plays"
#: Of all requests, those that meet a fault.
SHARE = 0.2
#: What holds up the whole run, or a call for as long as a try may take, comes more rarely.
SLOW = {"busy": 0.002, "busy-after": 0.001, "stall": 0.002, "stall-body": 0.002}
QUICK = ("error", "gateway", "drop", "drop-body", "cut", "json", "type", "choiceless", "null", "inband")
ON_THE_WAY = (*QUICK, "drip", "mislabelled")
EVERY = (*ON_THE_WAY, *FLAWED, "usageless", "long", "moderated")
#: Such an experiment makes at least so many calls for each seed.
CALLS = 150
SECONDS = 0.02
CARRIED = RunOptions(timeout=3.0, calls=32, jobs=32)


def rates(faults: Sequence[str]) -> dict[str, float]:
    """Return the share of each fault, the slow ones added."""
    return SLOW | dict.fromkeys(faults, (SHARE - sum(SLOW.values())) / len(faults))


def experiment(server: Peer, seeds: int) -> ExperimentSpec:
    """Return one of that many seeds, two episodes each."""
    given = {"reasoner": server.name(), "level": "n4", "max_steps": 60, "episodes": 2, "seeds": list(range(seeds))}
    return build(given)


def played(server: Peer, out: Path, seeds: int, faults: Mapping[str, float], **more: Any) -> tuple[Ledger, list[str]]:
    """Run under faults, print what came of it, and return it with what is wrong."""
    server.reset()
    script = [outcome for fault in faults for outcome in (fault, "ok")]  # of each at least one, however small the run
    server.set(seconds=SECONDS, drip=0.2, retry_after="1", seed=1, faults=dict(faults), script=script, **more)
    told: list[str] = []
    begun = time.perf_counter()
    rows = run(experiment(server, seeds), out, running=CARRIED, watch=RunMonitor(notice=told.append))
    wall, stats = time.perf_counter() - begun, server.stats()
    found = balance(stats, out)
    wrong = list(found.wrong)
    if len(rows) != 2 * seeds:
        wrong.append(f"{len(rows)} of {2 * seeds} episodes are finished")
    if missing := faults.keys() - stats["faults"].keys():
        wrong.append(f"faults that no request met: {', '.join(sorted(missing))}")
    share = sum(stats["faults"].values()) / stats["requests"]
    if faults and share < SHARE - 3 * math.sqrt(SHARE / stats["requests"]):
        wrong.append(f"{share:.1%} of the requests met a fault, {SHARE:.0%} were meant to")
    print(f"{out.name}: {found.calls:,} calls, {stats['requests']:,} requests, {share:.1%} with a fault, {wall:.0f} s")
    for line in dict.fromkeys(told):
        print(f"  said: {line}")
    return found, wrong


def show(server: Peer, found: Ledger) -> None:
    """Print both sides of what a run met."""
    met = server.stats()["faults"]
    print("  faults:", ", ".join(f"{name} {met[name]}" for name in sorted(met)))
    for head, sides, table in (
        ("fault on the way", ("server", "record"), found.faults),
        ("answer", ("server", "record"), found.answers),
        ("flaw", ("record", "logs"), found.flaws),
    ):
        if table:
            print(f"  {head:<24}{sides[0]:>10}{sides[1]:>10}")
        for name, (one, other) in table.items():
            print(f"  {name:<24}{one:>10,}{other:>10,}{'' if one == other else '  <- not the same'}")
    print(
        f"  lost {found.lost}, paid twice {found.twice}, calls without an answer {found.given_up}, "
        f"answers that {'/'.join(HIDDEN)} hid from every client: {found.hidden}",
        flush=True,
    )


def main() -> None:
    """Run three times and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=10_000)
    calls = parser.parse_args().calls
    seeds = -(-calls // CALLS)
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="teamworld-") as folder, running(BRAIN) as server:
        scratch = Path(folder)
        run(build({"reasoner": server.name(), "max_steps": 2}), scratch / "warm")  # imports and kernels
        quiet, found = played(server, scratch / "quiet", seeds, {})
        wrong += found
        if quiet.calls < calls:
            wrong.append(f"{quiet.calls:,} calls are fewer than {calls:,}")
        # As many faults in a row as end a call would make another answer of it: none.
        passing, found = played(server, scratch / "passing", seeds, rates(ON_THE_WAY), row=3)
        wrong += found
        show(server, passing)
        plain, other = logs(scratch / "quiet"), logs(scratch / "passing")
        same = sum(plain[path] == other.get(path) for path in plain)
        print(f"  {same} of {len(plain)} logs are those of the run without faults, byte for byte")
        if plain != other:
            wrong.append(f"{len(plain) - same} logs differ from those of the run without faults")
        if passing.given_up or passing.flaws:
            wrong.append("faults that pass left a trace in the answers")
        every, found = played(server, scratch / "every", seeds, rates(EVERY))
        wrong += found
        show(server, every)
    for line in wrong[:20]:
        print(f"wrong: {line}")
    if wrong:
        raise SystemExit(f"{len(wrong)} things do not agree")
    print("everything agrees")


if __name__ == "__main__":
    main()
