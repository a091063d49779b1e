"""What do agents gain that need not wait for each other, and is the log the same whenever answers come?

Both parts play in lock-step and with ``--schedule causal``, in one process, on a clock that jumps to the next answer:
an hour of waiting takes no time, and none of our own processor time is on it; that is told apart. Answers take
log-normal times with a median of 1 s, drawn by agent and question, so both schedules wait for the same answers. A
stand-in answers: agents part at first, then work on what is near (``tests/episode/schedules.py``).

- ``same``: so many drawn schedules of small worlds; the log of each has to be that of lock-step to the byte, with no
  question more or fewer.
- ``speed``: a large team, firefighters with maps of their own on a plain with a few trees to cut.

    python benchmarks/causal.py same --schedules 1000
    python benchmarks/causal.py speed --agents 500 --size 1500 --steps 70
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import nullcontext
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

from teamworld.reasoning.rules import NoisyRules, RuleReasoner

sys.path.insert(0, str(Path(__file__).parents[1]))  # worlds, answers and the clock stand among the tests
from tests.episode.schedules import Played, Slow, Wander, play, scattered, streams, wide

#: Instances that the drawn schedules share, each played in lock-step once for each stand-in.
INSTANCES = 8
SMALL = {"agents": 4, "size": 250, "steps": 14, "targets": 5}


class Timed(NamedTuple):
    """What came of an episode, and what it took of our own processor time."""

    played: Played
    own: float


def timed(path: Path, world: dict[str, int], method: str, slow: Slow, *, causal: bool) -> Timed:
    """Play an episode."""
    made = wide(0, **world)
    begun = time.process_time()
    played = play(path, made, method, slow, causal=causal)
    return Timed(played, time.process_time() - begun)


def same(path: Path, schedules: int) -> bool:
    """Play drawn schedules of small worlds and print what came of them; return whether all were the same."""
    stands: tuple[tuple[str, RuleReasoner], ...] = (
        ("react", Wander(streams)),
        ("react", NoisyRules(streams, 0.5)),
        ("zero_shot:draw", NoisyRules(streams, 0.5)),
    )
    truths: dict[tuple[int, int], Played] = {}
    count, unlike = 0, 0
    for times in range(schedules):
        place = (times % INSTANCES, times // INSTANCES % len(stands))
        method, stand = stands[place[1]]
        if place not in truths:
            truths[place] = play(path, wide(place[0], **SMALL), method, Slow(deepcopy(stand), 0), causal=False)
        truth = truths[place]
        causal = play(path, wide(place[0], **SMALL), method, Slow(deepcopy(stand), times), causal=True)
        is_same = (causal.digest, causal.calls, causal.unused) == (truth.digest, truth.calls, 0)
        count, unlike = count + 1, unlike + (not is_same)
        if count % 100 == 0:
            print(f"{count} schedules, {unlike} unlike", flush=True)
    print(f"same bytes: {count - unlike} of {count} schedules ({len(truths)} episodes)")
    return unlike == 0


def speed(path: Path, world: dict[str, int], near: int, shape: float, *, parts: bool) -> None:
    """Print how much sooner a large team is done, and what each schedule takes of our own processor time."""
    lock_step, causal = (
        timed(path, world, "react", Slow(Wander(streams, near, parts=parts), 1, shape), causal=is_causal)
        for is_causal in (False, True)
    )
    assert lock_step.played.digest == causal.played.digest
    waited = lock_step.played.seconds, causal.played.seconds
    print(
        f"{world}, near {near}, shape {shape:g}: {causal.played.calls} calls, waited {waited[0]:.1f} s in lock-step, "
        f"{waited[1]:.1f} s causal, {waited[0] / waited[1]:.2f} x; own processor time {lock_step.own:.1f} s and "
        f"{causal.own:.1f} s; same bytes, {causal.played.unused} questions in vain"
    )


def main() -> int:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("same", "speed"))
    parser.add_argument("--schedules", type=int, default=1000)
    parser.add_argument("--agents", type=int, default=500)
    parser.add_argument("--size", type=int, default=1500)
    parser.add_argument("--steps", type=int, default=70)
    parser.add_argument("--targets", type=int, default=30)
    parser.add_argument("--near", type=int, default=60, help="cells that agents go at most with one answer")
    parser.add_argument("--shape", type=float, default=1.0, help="of the times: standard deviation of the logarithm")
    parser.add_argument("--scattered", action="store_true", help="agents start anywhere, not all in one cell")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "log.zst"
        if args.part == "same":
            return 0 if same(path, args.schedules) else 1
        world = {name: getattr(args, name) for name in ("agents", "size", "steps", "targets")}
        with scattered() if args.scattered else nullcontext():
            speed(path, world, args.near, args.shape, parts=not args.scattered)
    return 0


if __name__ == "__main__":
    sys.exit(main())
