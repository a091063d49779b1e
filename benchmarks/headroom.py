"""How far silent teams are from the optimum on each level: for `teamworld levels`, and the suite that is made of it.

    PYTHONPATH=benchmarks python benchmarks/headroom.py --out runs/headroom

Plays each level with methods that say nothing and share nothing, on 10 seeds for development and, on levels that are
tried for the suite, 10 for the test; takes the best method of the development half by its mean steps, and sets its
steps against the proven bounds. What is known beside are joint plans of the worlds, and teams that share what they
know or see all. A run that beats a bound ends it with an error. The same command goes on where it stopped;
``--tables`` writes the tables alone, of what is there. Rules, no language model; 0.05 to 2 s an episode on one core.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

from teamworld.errors import UserError
from teamworld.experiment.api import run
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.store.folder import RunFolder
from teamworld.report.statistics import mean_interval
from teamworld.worlds import registry

#: Levels, by world; those that are played on the test half too come first, see ``SUITE``.
LEVELS: dict[str, tuple[str, ...]] = {
    "cube": ("n2", "n4", "n8", "n1"),
    "household": ("dev", "dev-tea", "dev-dishes", "dev-meal", "dev-groceries", "dev-table"),
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
SPLITS = {("household", level): level.replace("dev", "test") for level in LEVELS["household"]}
#: Methods that keep to themselves: no message is heard, and nobody knows what another has seen.
SILENT = ("react", "coela", "embodied", "cobel:silent")
#: What is played on levels whose episodes take long.
FEW = {("cube", "n8"): ("react", "coela"), ("wildfire", "scale_simple"): ("react",)}
#: Silent planners of one world's benchmark.
OWN = {"household": ("mhp:plus",)}
SILENCE = {"messages": {"loss": 1.0}}
#: Play for the best that is known beside: the first pools what its agents know, the other talks.
OTHERS = ("greedy", "drwell")
#: Ends the name of a method that plays with full sight.
SEES_ALL = ":full_sight"
#: Play with full sight for the best that is known, where nobody sees all and no joint plan is made, see ``full_sight``.
SIGHTED = {"rware": ("greedy",), "wildfire": ("greedy", "coela")}
HALVES = {"development": range(10), "test": range(1000, 1010)}
#: The least share of a silent team's steps that a known plan or team saves, for a level of the suite.
THRESHOLD = 0.1
COLUMNS = (
    *("world", "level", "half", "method", "seeds", "bound", "known", "steps", "headroom", "low", "high"),
    *("saved", "saved_low", "saved_high", "exact", "near"),
)
DATA = Path(__file__).parent.parent / "src/teamworld/experiment/suites"


class Played(NamedTuple):
    """One instance: what is proven, and the steps of each method; the step limit where goals were or must be left."""

    bound: int
    planned: int | None
    steps: dict[str, int]
    solved: dict[str, int]

    @property
    def known(self) -> int | None:
        """Steps of the best plan or team that is known."""
        steps = [*self.solved.values(), *(() if self.planned is None else (self.planned,))]
        return min(steps, default=None)


def folder_of(out: Path, world: str, level: str, method: str, half: str) -> Path:
    return out / f"{world}-{level}-{method.replace(':', '_')}-{half}"


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


def play(out: Path, world: str, level: str, method: str, half: str) -> RunFolder | None:
    folder = folder_of(out, world, level, method, half)
    options: dict[str, Any] = {} if method in OTHERS or method.endswith(SEES_ALL) else SILENCE
    running = RunOptions(processes=1)
    if method.endswith(SEES_ALL):
        method, world = method.removesuffix(SEES_ALL), f"full_sight:{world.title()}"
        registry.load(world)
    try:
        run(world, level=level, method=method, seed=HALVES[half], out=folder, options=options, running=running)
    except UserError as error:
        print(f"{world} {level}: {error}", file=sys.stderr)
        return None
    return RunFolder(folder)


@cache
def read(out: Path, world: str, level: str, half: str) -> dict[int, Played] | None:
    """Return what is known of each instance; None where nothing was played, or nothing is proven."""
    played: dict[int, Played] = {}
    for method in list_methods(world, level):
        folder = RunFolder(folder_of(out, world, level, method, half))
        if not folder.is_begun:
            continue
        experiment = folder.experiment()
        limit = experiment.step_limit
        if not played:
            for seed in HALVES[half]:
                if (bound := registry.step_bound(world, level, seed, {})) is None:
                    return None
                planned = bound.planned if bound.can_be_done else limit
                played[seed] = Played(bound.within(limit), planned, {}, {})
        for cell, row in folder.finished(experiment):
            is_solved = bool(row.summary.success)
            if is_solved and row.summary.steps < played[cell.seed].bound:
                raise SystemExit(f"{world} {level} seed {cell.seed}: {method} beats the bound: {row.summary.steps}")
            played[cell.seed].steps[method] = row.summary.steps if is_solved else limit
            if is_solved:
                played[cell.seed].solved[method] = row.summary.steps
    return played or None


def best_method(world: str, played: Sequence[Played]) -> str | None:
    """Return the silent method whose steps are the fewest in the mean."""
    silent = (*SILENT, *OWN.get(world, ()))
    means = {m: fsum(p.steps[m] for p in played) for m in silent if all(m in p.steps for p in played)}
    return min(means, key=means.__getitem__, default=None)


def rows(out: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of the table: the best silent method of the development half is that of both."""
    for world in LEVELS:
        chosen: dict[str, str | None] = {}
        for level, half in list_plays(world):
            by_seed = read(out, world, level, half)
            if by_seed is None:
                continue
            played = list(by_seed.values())
            place = next((own for (w, own), other in SPLITS.items() if w == world and other == level), level)
            if half == "development":
                chosen[place] = best_method(world, played)
            method = chosen.get(place)
            if method is not None and all(method in each.steps for each in played):
                yield dict(zip(COLUMNS, (world, level, half, *values(played, method)), strict=True))


def values(played: Sequence[Played], method: str) -> Iterator[str]:
    """Yield the columns of a level from the method on."""
    bounds, steps = [each.bound for each in played], [each.steps[method] for each in played]
    known = [end if each.known is None else each.known for each, end in zip(played, steps, strict=True)]
    yield method
    yield str(len(played))
    yield from (f"{fsum(numbers) / len(played):.1f}" for numbers in (bounds, known, steps))
    for best in (bounds, known):  # what could be saved at most, and what is saved at least
        interval = mean_interval([1 - few / many for few, many in zip(best, steps, strict=True)])
        assert interval is not None
        yield from (f"{max(0.0, number):.3f}" for number in (interval.mean, interval.low, interval.high))
    yield str(sum(each.bound == each.planned for each in played))
    yield str(sum(each.known is not None and each.known <= 1.1 * each.bound for each in played))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--world", choices=LEVELS, help="play this world alone, write no tables")
    parser.add_argument("--tables", action="store_true", help="write the tables, play nothing")
    asked = parser.parse_args()
    for world in LEVELS if not asked.tables else ():
        for level, half in list_plays(world) if asked.world in (None, world) else ():
            for method in list_methods(world, level):
                play(asked.out, world, level, method, half)
    if asked.world is not None:
        return
    table = list(rows(asked.out))
    write("headroom", [COLUMNS, *(tuple(row.values()) for row in table)])
    saved = {(row["world"], row["level"]): float(row["saved"]) for row in table if row["half"] == "development"}
    chosen = [place for place in SUITE if saved.get(place, 0.0) > THRESHOLD]
    lines = []
    for half, seeds in HALVES.items():
        for world, level in chosen:
            name = SPLITS.get((world, level), level) if half == "test" else level
            lines.append((world, name, half, " ".join(map(str, seeds[: SUITE[world, level]]))))
    write("coordination-1", [("world", "level", "half", "seeds"), *lines])
    for row in table:
        print(markdown(row))
    for world in dict.fromkeys(world for world, _ in chosen):
        print(markdown_of_world(asked.out, world, [line for line in lines if line[0] == world]))


def markdown(row: Mapping[str, str]) -> str:
    """Return the line of a level and half in the table of ``docs/how-to/bounds.md``."""
    shares = [f"{100 * float(row[name]):.0f}" for name in COLUMNS[8:14]]
    most, least = (f"{mean}% [{low}, {high}]" for mean, low, high in (shares[:3], shares[3:]))
    cells = (*(row[name] for name in ("world", "level", "half", "method", "bound", "known", "steps")), most, least)
    return f"| {' | '.join(cells)} | {row['near']}/{row['seeds']} |"


def markdown_of_world(out: Path, world: str, lines: Sequence[tuple[str, ...]]) -> str:
    """Return the line of a world in the table of the suite."""
    counts = {half: [0, 0, 0] for half in HALVES}
    for _, level, half, seeds in lines:
        played = read(out, world, level, half) or {}
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
