"""Does any rule know what its prompt hides? Every question of every method in every world, changed place by place.

python benchmarks/parity.py --contexts 1000
python benchmarks/parity.py --worlds cube:n4:40 --methods drwell --contexts 200
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import msgspec

from teamworld.errors import UserError
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.guidebook import WorldModel
from teamworld.memory.store import MemoryStore
from teamworld.methods import registry as methods
from teamworld.reasoning.rules import RuleReasoner
from teamworld.seeding import Streams
from teamworld.testing.episodes import Scenario, play
from teamworld.testing.parity import Leak, ParityMonitor

WORLDS = (
    *("cube:n4:60", "wildfire:suppress_fire_contain:30", "wildfire:cut_trees_sparse_small:30", "household:dev-tea:80"),
    *("rooms:two:40", "lbf:Foraging-2s-10x10-3p-3f-v3:40", "overcooked:cramped_room:40", "rware:rware-tiny-2ag-v2:40"),
)
#: Variants that ask what the methods themselves do not.
VARIANTS = (
    *("drwell:reflections", "drwell:free_chat", "coela:cwah", "cobel:original", "camon:reference"),
    *("embodied:elected", "embodied:reflect", "react:reflexion", "hmas2:own"),
)


def main() -> None:
    """Print contexts, changed answers and leaks of every kind."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", nargs="+", default=WORLDS, metavar="WORLD:LEVEL:STEPS")
    parser.add_argument("--methods", nargs="+", default=[*methods.names(), *VARIANTS])
    parser.add_argument("--contexts", type=int, default=1000, help="of each kind in each world")
    parser.add_argument("--changes", type=int, default=20, help="of each question")
    parser.add_argument("--seeds", type=int, default=6, help="episodes at most")
    parser.add_argument("--show", type=int, default=4, help="leaks of each kind that are shown")
    args = parser.parse_args()
    total = 0
    unasked = set(methods.kinds(args.methods))
    for place in args.worlds:
        for label in args.methods:
            contexts, moved, leaks = hunt(label, place, args)
            found = Counter(leak.kind for leak in leaks)
            total += len(leaks)
            unasked -= contexts.keys()
            for kind in sorted(contexts):
                line = f"{contexts[kind]} contexts, {moved[kind]} answers moved, {found[kind]} leaks"
                print(f"{place} {label} {kind}: {line}", flush=True)
                for leak in [leak for leak in leaks if leak.kind == kind][: args.show]:
                    print(f"  LEAK {leak}", flush=True)
    print(f"{total} leaks; never asked: {', '.join(sorted(unasked)) or 'none'}")


def hunt(label: str, place: str, args: argparse.Namespace) -> tuple[Counter[str], Counter[str], list[Leak]]:
    """Play episodes of a method that remembers them; return contexts and moved answers of each kind, and leaks."""
    contexts, moved, leaks = Counter[str](), Counter[str](), list[Leak]()
    memory = WorldModel()
    with tempfile.TemporaryDirectory() as folder, MemoryStore(Path(folder) / "memory.sqlite") as learned:
        for seed in range(args.seeds):
            try:
                monitor, delta = watch(label, place, seed, args.changes, args.contexts, contexts, memory)
            except UserError as error:
                print(f"{place} {label}: {error}")
                break
            contexts, moved, leaks = monitor.contexts, moved + monitor.moved, leaks + monitor.leaks
            if contexts and min(contexts.values()) >= args.contexts:
                break
            if delta is not None:
                learned.commit(label, msgspec.structs.replace(delta, episode=seed + 1))
                memory = learned.world_model(label)
    return contexts, moved, leaks


def watch(
    label: str, place: str, seed: int, changes: int, enough: int, so_far: Counter[str], memory: WorldModel
) -> tuple[ParityMonitor, MemoryDelta | None]:
    """Play an episode; return what its monitor found, and what the method learned.

    Raises:
        UserError: The method cannot play there.
    """
    world, level, steps = place.split(":")
    monitors: list[ParityMonitor] = []

    def make(streams: Streams) -> ParityMonitor:
        monitors.append(ParityMonitor(RuleReasoner(streams), changes, enough))
        monitors[-1].contexts.update(so_far)
        return monitors[-1]

    played = play(label, Scenario(world, level, seed, int(steps)), {}, make, memory=memory)
    method = methods.make(label, methods.resolve(label, {}).model_dump(mode="json"))
    return monitors[-1], method.learn(played.events)


if __name__ == "__main__":
    main()
