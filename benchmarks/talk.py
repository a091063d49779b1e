"""What is talk worth? Every method with its messages and with all of them lost, built-in rules, on the same seeds.

Where one agent sees all, messages can only agree; where it does not, they can tell. Of a level that counts no success
the world's own score stands in place of completion. With ``--against`` another table stands beside.

    python benchmarks/talk.py --seeds 5 --save talk.json
    python benchmarks/talk.py --places cube:n4:cube.view_radius=4 --methods coela embodied
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from statistics import mean
from typing import Any

import teamworld
from teamworld.errors import UserError

#: Worlds, levels and options; the second half of the list are places where one agent cannot see all.
PLACES = (
    *("cube:paper-n2:", "cube:n4:", "cube:n4:cube.view_radius=4", "household:dev-tea:", "household:dev-meal:"),
    *("rooms:two:", "wildfire:cut_trees_sparse_small:", "wildfire:suppress_fire_contain:"),
)
METHODS = ("zero_shot", "drwell", "camon", "embodied", "hmas2", "coela", "coela:cwah", "cobel", "mhp", "greedy")


def play(place: str, method: str, seeds: int, episodes: int, silent: bool) -> dict[str, float]:
    """Return the means of some episodes."""
    world, level, settings = place.split(":")
    options: dict[str, dict[str, Any]] = {"messages": {"loss": 1.0}} if silent else {}
    for setting in filter(None, settings.split(",")):
        name, value = setting.split("=")
        owner, option = name.split(".")
        options.setdefault(owner, {})[option] = json.loads(value)
    with tempfile.TemporaryDirectory() as folder:
        rows = teamworld.run(
            world, level=level, method=method, seeds=list(range(seeds)), episodes=episodes, options=options, out=folder
        )
    last = [row.summary for row in rows if row.episode == episodes]
    return {
        "completion": mean(one.completion or 0.0 for one in last),
        "steps": mean(one.steps for one in last),
        "reward": mean(one.reward for one in last),
    }


def main() -> None:
    """Print a line for each method and place."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--places", nargs="+", default=PLACES, metavar="WORLD:LEVEL:OWNER.OPTION=VALUE,...")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=1, help="episodes that share a memory; the last is measured")
    parser.add_argument("--no-silent", action="store_true", help="only with messages")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    args = parser.parse_args()
    before = json.loads(args.against.read_text("utf-8")) if args.against else {}
    table: dict[str, dict[str, float]] = {}
    for place in args.places:
        for method in args.methods:
            for silent in (False,) if args.no_silent else (False, True):
                key = f"{place} {method}{' silent' if silent else ''}"
                try:
                    table[key] = play(place, method, args.seeds, args.episodes, silent)
                except UserError as error:
                    print(f"{key}: {error}")
                    break
                text = ", ".join(f"{name} {value:.2f}" for name, value in table[key].items())
                was = before.get(key)
                then = f"   before: {', '.join(f'{name} {value:.2f}' for name, value in was.items())}" if was else ""
                print(f"{key}: {text}{then}", flush=True)
                if args.save:
                    args.save.write_text(json.dumps(table, indent=0), "utf-8")


if __name__ == "__main__":
    main()
