"""How far silent teams are from the optimum on each level: for `teamworld levels`, and the suite that is made of it.

    PYTHONPATH=benchmarks python benchmarks/headroom.py --out runs/headroom
    PYTHONPATH=benchmarks python benchmarks/headroom.py --out runs/headroom rware household/test-tea

Plays each level with methods that say nothing and share nothing, on seeds for development and, on levels that are
tried for the suite or have a test level of their own, as many for the test; takes the best method of the development
half by its mean steps, and sets its steps against the proven bounds. Where a fire is fought, damage stands in place of
steps, and 0 in place of the bound. What is known beside are joint plans of the worlds, and teams that share what they
know or see all. A run that beats a bound ends it with an error. The same command goes on where it stopped;
``--tables`` writes the table alone, of what is there. Levels that are not asked for, or were not played, keep their
rows. Rules, no language model; 0.05 to 10 s an episode on one core.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

from teamworld.errors import UserError
from teamworld.experiment.api import run
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.store.folder import RunFolder
from teamworld.report.statistics import mean_interval
from teamworld.worlds import registry

#: Levels of wildfire whose aim is less damage, not fewer steps.
FIRES = (
    "suppress_fire_contain",
    "suppress_fire_extinguish",
    "suppress_fire_locate_and_suppress",
    "suppress_fire_locate_deploy_suppress",
    "full_game",
    "full_game_exposed",
    "scale_complex",
    "perception",
    "dynamic_second_fire",
    "dynamic_water_appears",
    "dynamic_sudden_growth",
)
_SLOW_FIRES = ("suppress_fire_locate_deploy_suppress", "scale_complex", "full_game_exposed")
LAYOUTS = ("paper-n1", "paper-n2", "paper-n4", "paper-n8", "paper-n16", "paper-n32")
OFFICIAL = tuple(f"official-{task}" for task in (0, 5, 10, 16, 20, 26, 30, 32, 40, 49))
_LOADS = ("", "-food-high", "-food-low", "-stuff-high", "-stuff-low")
#: Levels, by world; those that are played on the test half too come first, see ``SUITE``.
LEVELS: dict[str, tuple[str, ...]] = {
    "cube": ("n2", "n4", "n8", "n1", "n16", "n32", *LAYOUTS),
    "household": ("dev", "dev-tea", "dev-dishes", "dev-meal", "dev-groceries", "dev-table", *OFFICIAL),
    "rware": (
        "rware-tiny-2ag-v2",
        "rware-tiny-4ag-v2",
        "rware-tiny-2ag-easy-v2",
        "rware-tiny-2ag-hard-v2",
        "rware-small-4ag-v2",
        "rware-medium-4ag-easy-v2",
    ),
    "wildfire": (
        "rescue_civilians_search_and_rescue",
        "cut_trees_sparse_small",
        "cut_trees_lines_small",
        "scout_fire_small",
        "rescue_civilians_known_location_small",
        "rescue_civilians_known_location_large",
        "transport_firefighters_small",
        "cut_trees_sparse_large",
        "cut_trees_lines_large",
        "scout_fire_large",
        "transport_firefighters_large",
        "dynamic_more_civilians",
        "dynamic_drone_lost",
        "dynamic_helicopter_lost",
        "rescue_civilians_search_rescue_transport",
        "scale_simple",
        *FIRES,
    ),
    "rooms": ("two-hazard", "three", "two", "one"),
    "lbf": (
        "Foraging-2s-8x8-2p-2f-coop-v3",
        "Foraging-2s-10x10-3p-3f-v3",
        "Foraging-8x8-2p-2f-coop-v3",
        "Foraging-10x10-3p-3f-v3",
        "Foraging-15x15-4p-3f-v3",
        "Foraging-15x15-3p-4f-v3",
        "Foraging-8x8-2p-1f-v3",
        "Foraging-5x5-2p-1f-v3",
    ),
    "overcooked": (
        "cramped_room",
        "asymmetric_advantages",
        "coordination_ring",
        "forced_coordination",
        "counter_circuit",
    ),
    "transport": tuple(f"{split}{load}" for split in ("dev", "train") for load in _LOADS),
}
#: What is tried for the suite, partial views and unlike agents among it, with the instances of each half.
SUITE = {
    ("cube", "n2"): 6,
    ("cube", "n4"): 4,
    ("household", "dev"): 10,
    ("wildfire", "rescue_civilians_search_and_rescue"): 5,
    ("wildfire", "cut_trees_sparse_small"): 4,
    ("rooms", "two-hazard"): 6,
    ("rooms", "two"): 5,
    **{("lbf", level): 5 for level in LEVELS["lbf"][:4]},
    ("rware", "rware-tiny-2ag-v2"): 4,  # tried, and not in it: less than the threshold is known to be saved
    ("rooms", "three"): 4,
    ("wildfire", "rescue_civilians_known_location_small"): 4,
}
#: The levels whose test half is a level of its own: it is played as well.
SPLITS = {
    (world, level): level.replace("dev", "test").replace("train", "official")
    for world in ("household", "transport")
    for level in LEVELS[world]
    if level not in OFFICIAL
}
TESTS = {world: tuple(test for (own, _), test in SPLITS.items() if own == world) for world in LEVELS}
#: Methods that keep to themselves: no message is heard, and nobody knows what another has seen.
SILENT = ("react", "coela", "embodied", "cobel:silent")
#: What is played where that is not all: on levels whose episodes or bounds take long, and those that are many.
FEW = {
    ("cube", "n8"): ("react", "coela"),
    ("cube", "n16"): ("coela",),
    ("cube", "n32"): ("react",),
    **dict.fromkeys(product(("cube",), LAYOUTS), ("react", "coela", "greedy", "drwell")),
    **dict.fromkeys(product(("cube",), LAYOUTS[3:]), ("react", "coela", "greedy")),
    ("cube", "paper-n32"): ("react", "greedy"),
    **dict.fromkeys(product(("overcooked",), LEVELS["overcooked"]), ("react", "greedy", "drwell")),
    **dict.fromkeys(product(("transport",), (*LEVELS["transport"], *TESTS["transport"])), ("react", "greedy")),
    **dict.fromkeys(
        product(("household",), (*OFFICIAL, *TESTS["household"][1:])), ("cobel:silent", "mhp:plus", "greedy")
    ),
    ("rware", "rware-small-4ag-v2"): ("react", "embodied", "greedy", "greedy:full_sight"),
    ("rware", "rware-medium-4ag-easy-v2"): ("react", "greedy"),
    **dict.fromkeys(product(("wildfire",), FIRES), ("react", "greedy", "greedy:full_sight")),
    **dict.fromkeys(product(("wildfire",), _SLOW_FIRES), ("react", "greedy")),
    ("wildfire", "scale_simple"): ("react", "greedy:full_sight"),
}
#: Silent planners of one world's benchmark.
OWN = {"household": ("mhp:plus",)}
SILENCE = {"messages": {"loss": 1.0}}
#: Play for the best that is known beside: the first pools what its agents know, the other talks.
OTHERS = ("greedy", "drwell")
#: Ends the name of a method that plays with full sight.
SEES_ALL = ":full_sight"
#: Play with full sight for the best that is known, where nobody sees all and no joint plan is made, see ``full_sight``.
SIGHTED = {"rware": ("greedy",), "wildfire": ("greedy", "coela")}
#: The first seed of each half.
HALVES = {"development": 0, "test": 1000}
#: Instances of a level and half: ten; one where all seeds have the same layout, few where that takes long enough.
INSTANCES = 10
FEWER = {
    **dict.fromkeys(product(("overcooked",), LEVELS["overcooked"]), 4),
    **dict.fromkeys(product(("cube",), LAYOUTS), 1),
    **dict.fromkeys(product(("transport",), (*LEVELS["transport"], *TESTS["transport"])), 4),
    **dict.fromkeys(product(("household",), TESTS["household"][1:]), 4),
    **dict.fromkeys(product(("household",), OFFICIAL), 2),
    **dict.fromkeys(product(("rware",), LEVELS["rware"][4:]), 4),
    **dict.fromkeys(product(("wildfire",), _SLOW_FIRES), 4),
    ("cube", "n16"): 3,
    ("cube", "n32"): 3,
    ("wildfire", "scale_simple"): 3,
}
#: The least share of a silent team's steps that a known plan or team saves, for a level of the suite.
THRESHOLD = 0.1
COLUMNS = (
    *("world", "level", "half", "method", "seeds", "measure", "bound", "known", "silent", "headroom", "low", "high"),
    *("saved", "saved_low", "saved_high", "exact", "near"),
)
DATA = Path(__file__).parent.parent / "src/teamworld/experiment/suites"


class Runs(NamedTuple):
    """Where the runs are, and of which levels."""

    out: Path
    asked: tuple[str, ...]
    """Worlds and ``WORLD/LEVEL``; none for all."""
    data: tuple[tuple[str, str], ...]
    """The folder with the data of others, by world."""

    def options(self, world: str) -> dict[str, Any]:
        paths = dict(self.data)
        return {"data": paths[world]} if world in paths else {}

    def folder(self, world: str, level: str, method: str, half: str) -> RunFolder:
        return RunFolder(self.out / f"{world}-{level}-{method.replace(':', '_')}-{half}")

    def are_asked(self, world: str, level: str) -> bool:
        return not self.asked or world in self.asked or f"{world}/{level}" in self.asked


class Played(NamedTuple):
    """One instance: what is proven, and what each method took.

    That is steps, the step limit where goals were or must be left; where a fire is fought, damage.
    """

    bound: int
    planned: int | None
    taken: dict[str, int]
    done: dict[str, int]
    """The same, of methods that did all goals."""

    @property
    def known(self) -> int | None:
        """What the best plan or team that is known took."""
        return min((*self.done.values(), *(() if self.planned is None else (self.planned,))), default=None)


def list_seeds(world: str, level: str, half: str) -> range:
    return range(HALVES[half], HALVES[half] + FEWER.get((world, level), INSTANCES))


def list_methods(world: str, level: str) -> tuple[str, ...]:
    if (world, level) in FEW:
        return FEW[world, level]
    sighted = tuple(f"{method}{SEES_ALL}" for method in SIGHTED.get(world, ()))
    return *SILENT, *OWN.get(world, ()), *OTHERS, *sighted


def list_plays(world: str) -> Iterator[tuple[str, str]]:
    """Yield levels and halves: the test half of what is tried for the suite, and where it is a level of its own."""
    for level in LEVELS[world]:
        yield level, "development"
        if (world, level) in SUITE or (world, level) in SPLITS:
            yield SPLITS.get((world, level), level), "test"


def play(runs: Runs, world: str, level: str, method: str, half: str) -> None:
    folder, seeds = runs.folder(world, level, method, half).path, list_seeds(world, level, half)
    options: dict[str, Any] = {} if method in OTHERS or method.endswith(SEES_ALL) else dict(SILENCE)
    if own := runs.options(world):
        options[world] = own
    if method.endswith(SEES_ALL):
        method, world = method.removesuffix(SEES_ALL), f"full_sight:{world.title()}"
        registry.load(world)
    running = RunOptions(processes=1)
    try:
        run(world, level=level, method=method, seed=seeds, out=folder, options=options, running=running)
    except UserError as error:
        print(f"{world} {level}: {error}", file=sys.stderr)


@cache
def read(runs: Runs, world: str, level: str, half: str) -> dict[int, Played] | None:
    """Return what is known of each instance; None where nothing was played, or nothing is proven."""
    played: dict[int, Played] = {}
    for method in list_methods(world, level):
        folder = runs.folder(world, level, method, half)
        if not folder.is_begun:
            continue
        experiment = folder.experiment()
        if not played:
            bounds = prove(runs, world, level, half, experiment.step_limit)
            if bounds is None:
                return None
            played = {seed: Played(*proven, {}, {}) for seed, proven in bounds.items()}
        for cell, row in folder.finished(experiment):
            each, is_done = played[cell.seed], level in FIRES or bool(row.summary.success)
            taken = round(-row.summary.reward) if level in FIRES else row.summary.steps
            if is_done and taken < each.bound:
                raise SystemExit(f"{world} {level} seed {cell.seed}: {method} beats the bound: {taken}")
            each.taken[method] = taken if is_done else experiment.step_limit
            if is_done:
                each.done[method] = taken
    return played or None


def prove(runs: Runs, world: str, level: str, half: str, limit: int) -> dict[int, tuple[int, int | None]] | None:
    """Return by seed what is proven and planned; None where nothing is proven. Nobody proves damage beyond 0."""
    proven: dict[int, tuple[int, int | None]] = {}
    for seed in list_seeds(world, level, half):
        if level in FIRES:
            proven[seed] = 0, None
        elif bound := registry.step_bound(world, level, seed, runs.options(world)):
            proven[seed] = bound.within(limit), bound.planned if bound.can_be_done else limit
        else:
            return None
    return proven


def best_method(world: str, played: Collection[Played]) -> str | None:
    """Return the silent method that took the least in the mean."""
    silent = (*SILENT, *OWN.get(world, ()))
    means = {m: fsum(p.taken[m] for p in played) for m in silent if all(m in p.taken for p in played)}
    return min(means, key=means.__getitem__, default=None)


def rows(runs: Runs, kept: Iterable[dict[str, str]]) -> Iterator[dict[str, str]]:
    """Yield the rows of the table: the best silent method of the development half is that of both.

    Args:
        runs: What was played.
        kept: The rows of an earlier table, which stand for what is not asked for, or was not played.
    """
    earlier = {(row["world"], row["level"], row["half"]): row for row in kept}
    for world in LEVELS:
        method: str | None = None
        for level, half in list_plays(world):
            played = (read(runs, world, level, half) if runs.are_asked(world, level) else None) or {}
            row = earlier.get((world, level, half))
            if half == "development":
                method = best_method(world, played.values()) if played else (row or {}).get("method")
            if played and method is not None and all(method in each.taken for each in played.values()):
                row = dict(zip(COLUMNS, (world, level, half, *values(level, [*played.values()], method)), strict=True))
            if row is not None:
                yield row


def values(level: str, played: Sequence[Played], method: str) -> Iterator[str]:
    """Yield the columns of a level from the method on."""
    bounds, silent = [each.bound for each in played], [each.taken[method] for each in played]
    known = [end if each.known is None else each.known for each, end in zip(played, silent, strict=True)]
    yield method
    yield str(len(played))
    yield "damage" if level in FIRES else "steps"
    yield from (f"{fsum(numbers) / len(played):.1f}" for numbers in (bounds, known, silent))
    for best in (bounds, known):  # what could be saved at most, and what is saved at least
        interval = mean_interval([1 - few / many if many else 0.0 for few, many in zip(best, silent, strict=True)])
        assert interval is not None
        yield from (f"{max(0.0, number):.3f}" for number in (interval.mean, interval.low, min(interval.high, 1.0)))
    yield str(sum(each.bound == each.planned for each in played))
    yield str(sum(each.known is not None and each.known <= 1.1 * each.bound for each in played))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("levels", nargs="*", metavar="WORLD[/LEVEL]", help="these alone")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--tables", action="store_true", help="write the table, play nothing")
    parser.add_argument("--suite", action="store_true", help="make the suite anew, of levels that are in the folder")
    parser.add_argument(
        "--data", action="append", default=[], metavar="WORLD=PATH", help="data of others, of official levels"
    )
    asked = parser.parse_args()
    data = tuple((world, path) for world, _, path in (text.partition("=") for text in asked.data))
    runs = Runs(asked.out, tuple(asked.levels), data)
    for world in LEVELS if not asked.tables else ():
        for level, half in list_plays(world):
            for method in list_methods(world, level) if runs.are_asked(world, level) else ():
                play(runs, world, level, method, half)
    with (DATA / "headroom.csv").open(encoding="utf-8", newline="") as file:
        kept = list(csv.DictReader(file))
    table = list(rows(runs, kept))
    write("headroom", [COLUMNS, *(tuple(row[name] for name in COLUMNS) for row in table)])
    for row in table:
        print(markdown(row))
    if asked.suite:
        make_suite(runs, table)


def make_suite(runs: Runs, table: Sequence[Mapping[str, str]]) -> None:
    """Write the suite, and print its table."""
    saved = {(row["world"], row["level"]): float(row["saved"]) for row in table if row["half"] == "development"}
    chosen = [place for place in SUITE if saved.get(place, 0.0) > THRESHOLD]
    lines = []
    for half, first in HALVES.items():
        for world, level in chosen:
            name = SPLITS.get((world, level), level) if half == "test" else level
            lines.append((world, name, half, " ".join(map(str, range(first, first + SUITE[world, level])))))
    write("coordination-1", [("world", "level", "half", "seeds"), *lines])
    for world in dict.fromkeys(world for world, _ in chosen):
        print(markdown_of_world(runs, world, [line for line in lines if line[0] == world]))


def markdown(row: Mapping[str, str]) -> str:
    """Return the line of a level and half in the table of ``docs/reference/headroom.md``."""
    shares = [
        f"{100 * float(row[name]):.0f}" for name in ("headroom", "low", "high", "saved", "saved_low", "saved_high")
    ]
    most, least = (f"{mean}% [{low}, {high}]" for mean, low, high in (shares[:3], shares[3:]))
    if row["seeds"] == "1":
        most, least = f"{shares[0]}%", f"{shares[3]}%"
    cells = (
        *(row[name] for name in ("world", "level", "half", "method", "measure", "bound", "known", "silent")),
        most,
        least,
    )
    return f"| {' | '.join(cells)} | {row['near']}/{row['seeds']} |"


def markdown_of_world(runs: Runs, world: str, lines: Sequence[tuple[str, ...]]) -> str:
    """Return the line of a world in the table of the suite."""
    counts = {half: [0, 0, 0] for half in HALVES}
    for _, level, half, seeds in lines:
        played = read(runs, world, level, half) or {}
        for each in (played[int(seed)] for seed in seeds.split()):
            is_near = each.known is not None and each.known <= 1.1 * each.bound
            counts[half] = [a + b for a, b in zip(counts[half], (1, is_near, each.known == each.bound), strict=True)]
    cells = (f"{number}" for parts in zip(*counts.values(), strict=True) for number in parts)
    return f"| {' | '.join((world, *cells))} |"


def write(name: str, lines: Sequence[Sequence[str]]) -> None:
    with (DATA / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()
