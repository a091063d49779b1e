"""Does any rule know what its prompt hides? Every question of every method in every world, changed place by place.

python benchmarks/parity.py --contexts 1000
python benchmarks/parity.py --worlds cube:n4:40 --methods drwell --contexts 200
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from teamworld.errors import UserError
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.guidebook import WorldModel
from teamworld.memory.store import MemoryStore
from teamworld.methods import registry as methods
from teamworld.reasoning.contract import Reasoner
from teamworld.reasoning.rules import RuleReasoner
from teamworld.seeding import generator
from teamworld.testing.episodes import Scenario, play
from teamworld.testing.parity import Hunt, Pace, ParityMonitor

WORLDS = (
    *("cube:n4:60", "wildfire:suppress_fire_contain:30", "wildfire:cut_trees_sparse_small:30", "household:dev-tea:80"),
    *("rooms:two:40", "lbf:Foraging-2s-10x10-3p-3f-v3:40", "overcooked:cramped_room:40", "rware:rware-tiny-2ag-v2:40"),
    *("wildfire:rescue_civilians_search_and_rescue:30", "transport:dev-food-low:600"),
)
#: Variants that ask what the methods themselves do not.
VARIANTS = (
    *("drwell:reflections", "drwell:free_chat", "coela:cwah", "cobel:original", "camon:reference"),
    *("embodied:elected", "embodied:reflect", "react:reflexion", "hmas2:own"),
)


#: Episodes over which the contexts of a kind are spread.
SPREAD = 3
#: The share of contexts that a variant adds of a kind that the methods before it have been asked often enough.
AGAIN = 4
#: Changes of a question at most, where a kind is asked seldom.
MOST = 150


def main() -> None:
    """Print contexts, changed answers and leaks of every kind."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", nargs="+", default=WORLDS, metavar="WORLD:LEVEL:STEPS")
    parser.add_argument("--methods", nargs="+", default=[*methods.names(), *VARIANTS])
    parser.add_argument("--contexts", type=int, default=1000, help="of each kind in each world")
    parser.add_argument("--changes", type=int, default=10, help="of each question; more where a kind is seldom asked")
    parser.add_argument("--seeds", type=int, default=9, help="episodes at most")
    parser.add_argument("--show", type=int, default=4, help="leaks of each kind that are shown")
    args = parser.parse_args()
    total = 0
    unasked = set(methods.kinds(args.methods))
    for place in args.worlds:
        start, of_kinds, leaked = time.process_time(), Counter[str](), 0
        for label in args.methods:
            tally = hunt(label, place, of_kinds, args)
            leaks = Counter(leak.kind for leak in tally.leaks)
            of_kinds += tally.contexts
            leaked += len(tally.leaks)
            for kind in sorted(tally.contexts):
                line = (
                    f"{tally.contexts[kind]} contexts of {tally.questions[kind]} questions, {tally.untold[kind]} untold"
                )
                line += f", {tally.moved[kind]} of {tally.asked[kind]} answers moved, {leaks[kind]} leaks"
                print(f"{place} {label} {kind}: {line}", flush=True)
                for leak in [leak for leak in tally.leaks if leak.kind == kind][: args.show]:
                    print(f"  LEAK {leak}", flush=True)
        unasked -= of_kinds.keys()
        total += leaked
        few = {kind: count for kind, count in of_kinds.items() if count < args.contexts}
        line = (
            f"{of_kinds.total()} contexts of {len(of_kinds)} kinds, {leaked} leaks, {time.process_time() - start:.0f} s"
        )
        print(f"WORLD {place}: {line}; fewer than {args.contexts}: {few or 'none'}", flush=True)
    print(f"{total} leaks; never asked: {', '.join(sorted(unasked)) or 'none'}")


def hunt(label: str, place: str, before: Counter[str], args: argparse.Namespace) -> Hunt:
    """Play episodes of a method that remembers them, and change its questions.

    Args:
        label: The method.
        place: World, level and steps.
        before: Contexts of each kind of question that other methods asked there.
        args: Of the command.
    """
    hunted, paces = Hunt(generator(0, "benchmarks", "parity", place, label)), dict[str, Pace]()
    wanted = {kind: args.contexts // (AGAIN if before[kind] >= args.contexts else 1) for kind in methods.kinds([label])}
    memory = WorldModel()
    with tempfile.TemporaryDirectory() as folder, MemoryStore(Path(folder) / "memory.sqlite") as learned:
        for seed in range(args.seeds):
            quotas = {kind: count * min(seed + 1, SPREAD) // SPREAD for kind, count in wanted.items()}
            earlier = hunted.questions.copy()
            try:
                watched = partial(ParityMonitor, changes=args.changes, enough=quotas, hunt=hunted, paces=paces)
                delta = watch(label, place, seed, watched, memory)
            except UserError as error:
                print(f"{place} {label}: {error}")
                break
            left = {kind: wanted[kind] - hunted.contexts[kind] for kind in hunted.questions}
            if all(count <= 0 for count in left.values()):
                break
            paces = {kind: _pace(left[kind], hunted.questions[kind] - earlier[kind], seed, args) for kind in left}
            if delta is not None:
                learned.commit(label, msgspec.structs.replace(delta, episode=seed + 1))
                memory = learned.world_model(label)
    return hunted


def _pace(left: int, asked: int, seed: int, args: argparse.Namespace) -> Pace:
    """Return how often to change questions of a kind in the next episode, if they are asked as often as in the last."""
    share = left / max(1, SPREAD - 1 - seed)
    changes = math.ceil(share / max(1, asked))
    return Pace(min(MOST, max(args.changes, changes)), max(1, int(asked * args.changes / max(1, share))))


def watch(
    label: str, place: str, seed: int, watched: Callable[[Reasoner], ParityMonitor], memory: WorldModel
) -> MemoryDelta | None:
    """Play an episode whose reasoner is watched; return what the method learned.

    Raises:
        UserError: The method cannot play there.
    """
    world, level, steps = place.split(":")
    scenario = Scenario(world, level, seed, int(steps))
    played = play(label, scenario, {}, lambda streams: watched(RuleReasoner(streams)), memory=memory)
    return methods.make(label, methods.resolve(label, {}).model_dump(mode="json")).learn(played.events)


if __name__ == "__main__":
    main()
