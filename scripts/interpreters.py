"""See that every Python plays the same episodes: the digests of their logs, method by method and world by world.

    python scripts/interpreters.py play FILE [--seeds 8] [--steps 60] [--variants]   # on each Python
    python scripts/interpreters.py compare FILE FILE ...                             # 1 if they differ

Each method plays two episodes in a row at both levels of detail of the log: the first with rules that err, the second
with the built-in rules and what was learned in the first.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from teamworld.episode.compatibility import applies
from teamworld.memory.guidebook import WorldModel
from teamworld.methods import registry as methods
from teamworld.reasoning.rules import NoisyRules, RuleReasoner
from teamworld.record import LogLevel
from teamworld.seeding import Streams
from teamworld.testing.episodes import play
from teamworld.testing.matrix import Scenario, method_labels, scenarios

#: Slips of the rules that err.
NOISE = 0.2


def play_all(
    seeds: int, steps: int, levels: Sequence[LogLevel], *, variants: bool, every: int = 1
) -> dict[str, list[str]]:
    """Return the digests of the episodes of each method, place and log level, by these.

    A method plays the first level of each world and, by turns, each ``every``-th of the others.
    """
    digests: dict[str, list[str]] = {}
    places = scenarios(seeds=range(seeds), horizon=steps)
    first = {scenario.world: scenario.level for scenario in reversed(places)}
    for number, scenario in enumerate(places):
        for turn, label in enumerate(method_labels(every=True) if variants else methods.ready_names()):
            if first[scenario.world] != scenario.level and (turn + number) % every:
                continue
            if applies(methods.method_class(label), scenario.make()):
                for level in levels:
                    digests[f"{label} in {scenario}, {level}"] = play_two(label, scenario, level)
    return digests


def play_two(label: str, scenario: Scenario, level: LogLevel) -> list[str]:
    """Return the digests of two episodes in a row, of which the first teaches the second."""

    def erring(streams: Streams) -> RuleReasoner:
        return NoisyRules(streams, NOISE)

    memory, digests = WorldModel(), []
    for reasoner in (erring, RuleReasoner):
        played = play(label, scenario, {}, reasoner, memory=memory, log_level=level)
        digests.append(played.digest)
        learned = methods.make(label, methods.resolve(label, {}).model_dump(mode="json")).learn(played.events)
        for instance in learned.instances if learned else ():
            memory.add(instance)
        for report in learned.reflections if learned else ():
            memory.remember(report.text)
    return digests


def compare(files: list[Path]) -> int:
    """Print what differs between the first file and the others; return 1 if anything does, or nothing is shared."""
    first, *others = (json.loads(file.read_text("utf-8")) for file in files)
    wrong = 0
    for other in others:
        shared = first["digests"].keys() & other["digests"].keys()
        different = sorted(name for name in shared if first["digests"][name] != other["digests"][name])
        wrong += len(different) + (not shared)
        print(
            f"Python {first['python']} and {other['python']}: {len(shared)} pairs of episodes, {len(different)} differ"
        )
        for name in different[:20]:
            print(f"  {name}")
    return 1 if wrong or not others else 0


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    player = commands.add_parser("play")
    player.add_argument("file", type=Path)
    player.add_argument("--seeds", type=int, default=8)
    player.add_argument("--steps", type=int, default=60)
    player.add_argument("--levels", nargs="+", choices=get_args(LogLevel), default=get_args(LogLevel))
    player.add_argument("--variants", action="store_true", help="of methods too")
    player.add_argument("--every", type=int, default=1, help="of further levels of a world, by turns (all)")
    comparer = commands.add_parser("compare")
    comparer.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    if options.command == "compare":
        return compare(options.files)
    digests = play_all(options.seeds, options.steps, options.levels, variants=options.variants, every=options.every)
    options.file.write_text(json.dumps({"python": platform.python_version(), "digests": digests}, indent=0), "utf-8")
    print(f"Python {platform.python_version()}: {len(digests)} pairs of episodes in {options.file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
