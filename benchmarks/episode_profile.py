"""Where does a DR. WELL run on rules spend its time?

Samples the running code by a timer of CPU time, each case in a process of its own, and prints CPU seconds and
shares by part. A sample counts for the innermost part that is at work; what only serves others (concepts,
scenes, the language) counts for whoever called it.

    python benchmarks/episode_profile.py
    python benchmarks/episode_profile.py --case n64
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from types import FrameType


class Case(NamedTuple):
    """One run: its level, episodes and steps."""

    level: str
    episodes: int = 1
    max_steps: int = 200


CASES = {
    "paper-n2": Case("paper-n2", episodes=10, max_steps=150),
    "n8": Case("n8"),
    "n32": Case("n32"),
    "n64": Case("n64"),
    "n256": Case("n256"),
}
#: Seconds of CPU time between samples.
INTERVAL = 0.002
#: Part -> where its code stands, as the beginning of a path under teamworld/ or of a function in it.
PARTS = {
    "simulations, candidate plans": ("planning/simulate", "worlds/cube/candidate_plans"),
    "paths": ("worlds/cube/geometry",),
    "skills": ("worlds/cube/skills",),
    "world step": ("worlds/cube/world", "worlds/cube/physics", "worlds/cube/step_effects", "worlds/cube/state"),
    "layout": ("worlds/cube/levels",),
    "views, facts, checks": ("worlds/cube/actions", "worlds/cube/beliefs", "worlds/cube/domain.py:CubeDomain.check"),
    "questions": ("methods/drwell/questions", "methods/drwell/library", "methods/common/plan_answers", "reasoning/"),
    "negotiation, messages": ("methods/drwell/", "episode/message_delivery"),
    "log": ("record/log", "episode/event_recorder"),
    "sqlite": ("record/database", "memory/store", "experiment/store/results"),
    "memory": ("memory/",),
    "loop": ("episode/",),
    "metrics, digest, folder": ("metrics/", "experiment/"),
}
#: Imports, and loading the compiled kernels, which is no part of what calls them first.
IMPORT, REST = "import, kernel loading", "rest"
LOADERS = ("/numba/", "/llvmlite/")


def part_of(frame: FrameType | None) -> str:
    """Return the innermost part on a stack."""
    importing = False
    while frame is not None:
        code = frame.f_code
        loading = code.co_filename.startswith("<frozen importlib") or any(map(code.co_filename.__contains__, LOADERS))
        importing = importing or loading
        name = f"{code.co_filename.rpartition('/teamworld/')[2]}:{code.co_qualname}"
        for part, places in PARTS.items():
            if not importing and "/teamworld/" in code.co_filename and name.startswith(places):
                return part
        frame = frame.f_back
    return IMPORT if importing else REST


def profile(case: Case) -> None:
    """Run one case and print its table."""
    seen: Counter[str] = Counter()

    def sample(number: int, frame: Any) -> None:  # noqa: ANN401  (what signal.signal asks for)
        seen[part_of(frame)] += 1

    signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
    begun = time.process_time()
    from teamworld import run

    with tempfile.TemporaryDirectory() as folder:
        run("cube", level=case.level, episodes=case.episodes, max_steps=case.max_steps, out=Path(folder) / "run")
    signal.setitimer(signal.ITIMER_PROF, 0)
    spent, samples = time.process_time() - begun, max(1, seen.total())
    episodes = f"{case.episodes} episode{'s' if case.episodes > 1 else ''}"
    print(f"\n{case.level}, {episodes} of at most {case.max_steps} steps: {spent:.2f} s of CPU, {samples} samples")
    for part, count in seen.most_common():
        print(f"  {part:24s} {spent * count / samples:7.2f} s  {count / samples:6.1%}")


def main() -> None:
    """Profile one case here, or each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=list(CASES), help="only this one")
    given = parser.parse_args()
    if given.case is not None:
        profile(CASES[given.case])
        return
    for name in CASES:
        subprocess.run([sys.executable, __file__, "--case", name], check=True)


if __name__ == "__main__":
    main()
