"""How fast CUBE steps beside its peers, each in an environment of its own, in one run.

Run ``python benchmarks/peers/compare.py``. The first time it makes one virtual environment a peer under ``.peers``
(a few minutes, 2 GB). All processes stay alive and are measured in turn, one window each, round after round on the
same core, so that what slows the machine slows all: the ratio of a pair is that of one round, and the table shows
the median over the rounds and its range.

What is compared: agent-steps per CPU second with the observations that users get, ours an 11 x 11 window for each
agent, at the same number of agents and of environments stepped in one call (64 of ours beside a peer that steps one
at a time). These are different worlds; the figures say how long a learner waits for a
sample, not which world is better.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
#: What each environment holds: versions that were measured. ``ours`` is this checkout.
PACKAGES = {
    "gymnasium": ["lbforaging==2.0.0", "rware==2.0.0"],
    "vmas": ["torch==2.13.0", "vmas==1.5.2"],
    "jaxmarl": ["jaxmarl==0.2.0", "jax==0.10.2", "jaxlib==0.10.2"],
    "pyretechnics": ["pyretechnics==2026.10.20"],
    "ours": [str(ROOT)],
    "fire": [str(ROOT)],
}


class Peer(NamedTuple):
    """One environment to measure."""

    family: str
    label: str
    kind: str
    n: int
    arguments: dict[str, Any]

    @property
    def size(self) -> tuple[int, int]:
        """Number of agents, and of environments stepped in one call: 64 of ours beside a peer that steps one."""
        return self.n, self.arguments.get("envs", 64)


def peers() -> list[Peer]:
    """Return what is measured, ours beside them; the batch sizes are those at which each peer is fast."""
    found = []
    for name, n in (("8x8-2p-2f", 2), ("15x15-4p-4f", 4), ("19x19-8p-4f", 8)):
        found.append(Peer("lbforaging", f"Foraging-{name}", "gymnasium", n, {"name": f"Foraging-{name}-v3", "n": n}))
    for name, n in (("tiny-2ag", 2), ("small-4ag", 4), ("medium-8ag", 8), ("large-16ag", 16)):
        found.append(Peer("rware", f"rware-{name}", "gymnasium", n, {"name": f"rware-{name}-v2", "n": n}))
    for n in (2, 4, 8):
        for envs in (1024, 8192):
            arguments = {"scenario": "transport", "n": n, "envs": envs}
            found.append(Peer("VMAS", f"transport E={envs}", "vmas", n, arguments))
    for name, n in (("overcooked", 2), *(("MPE_simple_spread_v3", n) for n in (2, 4, 8))):
        for envs in (64, 1024):
            arguments = {"name": name, "n": n, "envs": envs}
            found.append(Peer("JaxMARL", f"{name} E={envs}", "jaxmarl", n, arguments))
    return found


#: Times faster than each family, at the least: the project's bars.
BARS = {"lbforaging": 400, "rware": 400, "JaxMARL": 5, "VMAS": 3}


def ours(n: int, envs: int) -> Peer:
    """Return our own row for n agents and so many environments."""
    arguments = {"n": n, "envs": envs, "observation": "window:5"}
    return Peer("ours", f"CUBE E={envs}", "ours", n, arguments)


class Worker:
    """A process that steps one environment."""

    def __init__(self, peer: Peer, python: Path) -> None:
        command = [str(python), str(HERE / "workers.py"), peer.kind, json.dumps(peer.arguments)]
        self.peer = peer
        self._said = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115  (lives as long as the process)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, text=True
        )

    def ready(self) -> None:
        """Wait until it has made its environment and stepped it once."""
        if self._read() != "ready":
            self._said.seek(0)
            sys.exit(f"{self.peer.family} {self.peer.label} does not run:\n{self._said.read()[-2000:]}")

    def measure(self, window: float) -> float:
        """Return agent-steps per CPU second over one window of so many seconds."""
        assert self._process.stdin is not None
        print(window, file=self._process.stdin, flush=True)
        steps, seconds = json.loads(self._read())
        return float(steps) / float(seconds)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def python_of(kind: str, folder: Path) -> Path:
    """Return the Python of a kind's environment, made when it is not there."""
    home = folder / ("ours" if kind == "fire" else kind)
    python = home / "bin" / "python"
    stamp = home / "installed"
    wanted = "\n".join(PACKAGES[kind])
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing {', '.join(PACKAGES[kind])} into {home} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        packages = ["--editable", f"{ROOT}[rl]"] if kind in ("ours", "fire") else PACKAGES[kind]
        subprocess.run([*pip, *packages], check=True)
        stamp.write_text(wanted)
    return python


def run(folder: Path, rounds: int, window: float, wanted: list[str]) -> list[dict[str, Any]]:
    """Measure all, round after round, and return one row a peer."""
    theirs = [peer for peer in peers() if not wanted or peer.family in wanted]
    own = {size: ours(*size) for size in sorted({peer.size for peer in theirs})}
    everybody = [*own.values(), *theirs]
    pythons = {kind: python_of(kind, folder) for kind in dict.fromkeys(peer.kind for peer in everybody)}
    workers = []
    for peer in everybody:  # one after the other: they compile
        worker = Worker(peer, pythons[peer.kind])
        worker.ready()
        workers.append(worker)
        print(f"ready: {peer.family} {peer.label}, n = {peer.n}", file=sys.stderr)
    rates: list[list[float]] = [[] for _ in workers]
    for turn in range(rounds):
        for rate, worker in zip(rates, workers, strict=True):
            rate.append(worker.measure(window))
        print(f"round {turn + 1} of {rounds}", file=sys.stderr)
    for worker in workers:
        worker.close()
    base = dict(zip(own, rates, strict=False))
    rows = []
    for peer, rate in zip(everybody, rates, strict=True):
        ratios = sorted(a / b for a, b in zip(base[peer.size], rate, strict=True))
        rows.append(
            {
                "family": peer.family,
                "environment": peer.label,
                "n": peer.n,
                "agent_steps_per_second": statistics.median(rate),
                "ratio": statistics.median(ratios),
                "ratio_low": ratios[0],
                "ratio_high": ratios[-1],
            }
        )
    return rows


def show(rows: list[dict[str, Any]]) -> bool:
    """Print the table; return whether every bar is held by the family's fastest environment."""
    print("agent-steps per CPU second on one core, with observations; ratio = ours over the peer at the same n and E,")
    print("median over the rounds [lowest, highest]")
    print(f"\n{'peer':<12}{'environment':<34}{'n':>4}{'agent-steps/s':>15}{'ratio':>9}   spread")
    for row in rows:
        spread = f"[{row['ratio_low']:.1f}, {row['ratio_high']:.1f}]" if row["family"] != "ours" else ""
        ratio = f"{row['ratio']:.1f}" if row["family"] != "ours" else ""
        print(
            f"{row['family']:<12}{row['environment']:<34}{row['n']:>4}{row['agent_steps_per_second']:>15,.0f}"
            f"{ratio:>9}   {spread}"
        )
    held = True
    print()
    for family, bar in BARS.items():
        found = [row["ratio"] for row in rows if row["family"] == family]
        if found:
            held &= min(found) >= bar
            print(f"{family}: at least {min(found):.1f} x (bar {bar} x) {'holds' if min(found) >= bar else 'MISSED'}")
    return held


def main() -> None:
    """Parse the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", type=Path, default=ROOT / ".peers", help="where the virtual environments stand")
    parser.add_argument("--rounds", type=int, default=5, help="windows measured of each")
    parser.add_argument("--window", type=float, default=1.0, help="CPU seconds of one window")
    parser.add_argument("--only", nargs="+", default=[], choices=list(BARS), help="these families")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON, and nothing else")
    options = parser.parse_args()
    if options.rounds < 1 or options.window <= 0:
        parser.error("--rounds and --window must be above 0")
    rows = run(options.envs.absolute(), options.rounds, options.window, options.only)
    if options.json:
        print(json.dumps(rows, indent=1))
        sys.exit(0)
    sys.exit(0 if show(rows) else 1)


if __name__ == "__main__":
    main()
