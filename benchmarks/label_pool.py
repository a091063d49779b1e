"""Episodes for people to label by hand: what the rules of `teamworld report --failures` are measured against.

    python benchmarks/label_pool.py --out runs/pool
    python benchmarks/label_pool.py --out runs/fresh --first-seed 1700 --name label-pool-2

Plays 150 short episodes over all worlds with a mix of methods, some of them good, some made to err (random teams, rules
with noise, lost messages, short sight), shuffles them and writes the logs as ``a/000.jsonl.zst`` to ``a/074.jsonl.zst``
and ``b/...``, with an ``index.json`` in each half. Who tunes the rules must not look at half b. Rules, no language
model; some minutes on one core. The same command goes on where it stopped. Other seeds and another name give a pool of
episodes that nobody has seen.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from teamworld.experiment.api import run
from teamworld.experiment.store.folder import RunFolder

HALVES = ("a", "b")
#: Name of the first pool; it sets the order in which the episodes are shuffled.
NAME = "label-pool-1"
#: The first seed of the first pool: apart from those that examples and tests use.
FIRST_SEED = 700
LOSS = {"messages.loss": 0.5}
SHORT_SIGHT = {"cube.view_radius": 3}


class Row(NamedTuple):
    """Episodes that differ in their seed alone."""

    level: str
    method: str
    steps: int
    seeds: int = 1
    noise: float = 0.0
    options: Mapping[str, Any] = MappingProxyType({})


ROWS: dict[str, tuple[Row, ...]] = {
    "cube": (
        Row("n2", "greedy", 60, 2),
        Row("n4", "greedy", 60, 2),
        Row("n4", "cobel:exact", 60, 2),
        Row("n2", "drwell", 60, 2),
        Row("paper-n4", "drwell", 80, 1),
        Row("n4", "drwell:no_negotiation", 60, 2),
        Row("n4", "zero_shot", 60, 2),
        Row("n4", "zero_shot:draw", 60, 1),
        Row("n4", "greedy", 80, 2, options=SHORT_SIGHT),
        Row("n4", "coela", 60, 2, options=SHORT_SIGHT),
        Row("n2", "coela:silent", 60, 1),
        Row("n4", "camon", 50, 2),
        Row("n4", "hmas2", 50, 1),
        Row("n4", "capo", 50, 1),
        Row("n4", "embodied", 40, 1, noise=0.3),
        Row("n4", "react", 60, 2, noise=0.5),
        Row("n2", "drwell", 60, 2, noise=0.4),
        Row("n4", "drwell:draw", 60, 2, noise=0.3),
        Row("n4", "coela", 50, 2, noise=0.3, options=LOSS),
        Row("n2", "random", 50, 2),
        Row("n4", "random", 50, 1),
    ),
    "wildfire": (
        Row("cut_trees_sparse_small", "greedy", 30, 1),
        Row("cut_trees_lines_small", "random", 30, 2),
        Row("cut_trees_lines_small", "embodied", 30, 1, noise=0.6),
        Row("scout_fire_small", "camon", 30, 1),
        Row("scout_fire_small", "coela", 30, 2, noise=0.5, options=LOSS),
        Row("transport_firefighters_small", "coela:silent", 15, 1),
        Row("transport_firefighters_small", "random", 15, 1),
        Row("transport_firefighters_small", "drwell", 15, 1, noise=0.5),
        Row("rescue_civilians_known_location_small", "capo", 25, 2),
        Row("rescue_civilians_known_location_small", "random", 25, 2),
        Row("rescue_civilians_known_location_small", "embodied:silent", 25, 2, noise=0.6),
        Row("suppress_fire_contain", "greedy", 60, 2),
        Row("suppress_fire_contain", "coela", 60, 2, noise=0.6, options={"wildfire.careful": False}),
        Row("suppress_fire_contain", "react", 60, 3, noise=0.6, options={"wildfire.careful": False}),
        Row("suppress_fire_contain", "random", 60, 3, options={"wildfire.careful": False}),
        Row("rescue_civilians_search_and_rescue", "cobel:exact", 40, 1),
        Row("rescue_civilians_search_and_rescue", "coela", 40, 1, options=LOSS),
        Row("perception", "drwell", 30, 2),
    ),
    "household": (
        Row("dev", "mhp", 60, 3),
        Row("dev", "mhp:comm", 60, 3),
        Row("dev", "cobel:exact", 60, 3),
        Row("dev", "coela:cwah", 60, 3),
        Row("dev", "coela", 60, 2, noise=0.5, options=LOSS),
        Row("dev", "coela:silent", 60, 2),
        Row("dev", "capo", 60, 2, options={"household.agents": 3}),
        Row("dev", "camon", 60, 2, noise=0.2),
        Row("dev", "embodied:leader", 40, 2, options=LOSS),
        Row("dev", "drwell", 60, 2),
        Row("dev", "drwell", 60, 2, noise=0.4),
        Row("dev", "greedy", 80, 2),
        Row("dev", "zero_shot", 60, 2, options={"household.agents": 3}),
        Row("dev", "cobel:silent", 60, 1),
        Row("dev", "react", 60, 2, noise=0.3),
        Row("dev", "random", 60, 2),
    ),
    "transport": (
        Row("dev", "greedy", 2000, 2),
        Row("dev", "cobel:exact", 1500, 3),
        Row("dev", "coela:tdwmat", 1500, 3),
        Row("dev", "coela", 1500, 2, noise=0.3, options=LOSS),
        Row("dev", "capo", 900, 2, options={"transport.agents": 3}),
        Row("dev", "rhp", 1500, 2),
        Row("dev", "camon", 1200, 2, noise=0.3),
        Row("dev", "zero_shot", 1500, 1),
        Row("dev", "react", 1500, 1, noise=0.3),
        Row("dev", "random", 800, 2),
    ),
    "rooms": (
        Row("two", "greedy", 60),
        Row("two-hazard", "greedy", 60),
        Row("two", "drwell", 60),
        Row("two-hazard", "coela", 60, 2, noise=0.3),
        Row("three", "capo", 60),
        Row("three", "cobel:exact", 60),
        Row("two", "react", 60),
        Row("two-hazard", "random", 60),
        Row("three", "hmas2", 50, 1, noise=0.3),
    ),
    "lbf": (
        Row("Foraging-8x8-2p-2f-coop-v3", "greedy", 50),
        Row("Foraging-10x10-3p-3f-v3", "coela", 50),
        Row("Foraging-2s-10x10-3p-3f-v3", "react", 50, 2),
        Row("Foraging-8x8-2p-2f-coop-v3", "coela", 50, 1, noise=0.3),
        Row("Foraging-8x8-2p-2f-coop-v3", "random", 50),
        Row("Foraging-10x10-3p-3f-v3", "drwell", 50),
    ),
    "overcooked": (
        Row("cramped_room", "greedy", 100, 2),
        Row("cramped_room", "coela", 80),
        Row("coordination_ring", "zero_shot", 80),
        Row("forced_coordination", "react", 80),
        Row("cramped_room", "embodied", 50, 1, noise=0.3),
        Row("counter_circuit", "random", 60),
    ),
    "rware": (
        Row("rware-tiny-2ag-v2", "greedy", 100, 2),
        Row("rware-tiny-4ag-v2", "coela", 80),
        Row("rware-tiny-2ag-easy-v2", "react", 80, 1, noise=0.3),
        Row("rware-tiny-4ag-v2", "zero_shot", 80, 2),
    ),
}


def play(out: Path, world: str, number: int, row: Row, first_seed: int) -> list[tuple[Path, dict[str, Any]]]:
    """Play the episodes of a row; return their logs and what the index says of them."""
    options: dict[str, dict[str, Any]] = {}
    for name, value in row.options.items():
        owner, _, option = name.partition(".")
        options.setdefault(owner, {})[option] = value
    reasoner = f"rules:noise={row.noise}" if row.noise else "rules"
    folder = out / f"{world}-{number:02d}"
    first = first_seed + 10 * number
    run(
        world,
        level=row.level,
        method=row.method,
        seed=range(first, first + row.seeds),
        max_steps=row.steps,
        reasoner=reasoner,
        options=options,
        log_level="beliefs",
        out=folder,
    )
    runs = RunFolder(folder)
    about = {
        "world": world,
        "level": row.level,
        "method": row.method,
        "reasoner": reasoner,
        "options": dict(row.options),
    }
    return [
        (runs.log(cell, result.episode), {**about, "seed": cell.seed})
        for cell, result in runs.finished(runs.experiment())
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the pool")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED, help="seeds of the episodes begin here")
    parser.add_argument("--name", default=NAME, help="name of the pool, which sets the order of its episodes")
    arguments = parser.parse_args()
    out: Path = arguments.out
    played = []
    for world, rows in ROWS.items():
        for number, row in enumerate(rows):
            played += play(out / "runs", world, number, row, arguments.first_seed)
    random.Random(arguments.name).shuffle(played)
    for place, half in enumerate(HALVES):
        index = {}
        (out / half).mkdir(exist_ok=True)
        for number, (log, about) in enumerate(played[place :: len(HALVES)]):
            shutil.copyfile(log, out / half / f"{number:03d}.jsonl.zst")
            index[f"{number:03d}"] = about
        (out / half / "index.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
        print(f"{half}: {len(index)} episodes")


if __name__ == "__main__":
    main()
