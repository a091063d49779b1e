"""How wrong are CoBel-World's beliefs where they are no exact posterior, and how long does an update take?

    nice python benchmarks/cobel_inference.py --cases 150

Error: total variation between the engine's table and that of listing every joint history (the reference of the
tests), mean and greatest over all variables of random cases. Time: CPU time of one thread, best of several windows.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import fmean
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[1]))  # the reference stands among the tests

from teamworld.methods.cobel.inference import Beliefs, Claim, Limit, Minds, Sight, coupling
from tests.methods.cobel.inference.engine import evidence, play, tables
from tests.methods.cobel.inference.reference import MATES, ME, Bound, WitnessGraph, distance, draw

WEIGHTS = (0.1, 0.3, 0.5, 0.7, 0.9)
EVENTS = (1, 2, 4, 6)
GROUPS = (2, 3, 4, 5)


def mixed(cases: int, weight: float, events: int) -> Iterator[float]:
    """Errors of first-order tables where mates perhaps witnessed events."""
    for number in range(cases):
        case = draw(random.Random(f"mixed {weight} {events} {number}"), [4], 0, events, weights=(weight,), again=0)
        _, minds = play(case)
        truth = case.mixed([(event, weight) for event in case.events])[0]
        yield from (distance(minds[mate].table("x0"), truth) for mate in MATES[:1])


def told(cases: int, weight: float, events: int) -> Iterator[float]:
    """Errors where the mate perhaps witnessed events, and was then told of all of them."""
    for number in range(cases):
        case = draw(random.Random(f"told {weight} {events} {number}"), [4], 0, events, weights=(weight,), again=0)
        _, minds = play(case)
        for event in case.events:
            minds.said(evidence(event), ME, MATES)
        yield distance(minds[MATES[0]].table("x0"), case.posterior(case.events)[0])


def factorised(cases: int, size: int, limits: int, changes: int) -> Iterator[float]:
    """Errors of tables of coupled variables that are not listed jointly."""
    for number in range(cases):
        rng = random.Random(f"factorised {size} {limits} {changes} {number}")
        bounds = [Bound(frozenset({f"v{n}"}), 0, max(1, size // 2)) for n in range(limits)]
        case = draw(rng, [4 if changes == 0 else 3] * size, changes, 2 * size, bounds)
        with patch.object(coupling, "JOINT", 0):
            mine, _ = play(case)
        for one, other in zip(tables(mine), WitnessGraph(case).tables(ME), strict=True):
            yield distance(one, other)


def show(title: str, columns: Iterable[object], rows: Iterable[tuple[object, list[list[float]]]]) -> None:
    """Print mean and greatest error of each cell."""
    print(f"\n{title}")
    print("".join(f"{head!s:>18}" for head in ("", *columns)))
    for head, cells in rows:
        text = "".join(f"{f'{fmean(cell):.4f} / {max(cell):.3f}':>18}" for cell in cells)
        print(f"{head!s:>18}{text}")


def seconds(work: Callable[[], object], windows: int = 7) -> float:
    """CPU time of one call, best of several windows."""
    best = float("inf")
    for _ in range(windows):
        start, calls = time.thread_time(), 0
        while time.thread_time() - start < 0.05:
            work()
            calls += 1
        best = min(best, (time.thread_time() - start) / calls)
    return best


def house(size: int, variables: int, coupled: bool = False) -> Beliefs[str]:
    """Variables with as many values."""
    beliefs = Beliefs[str]()
    for n in range(variables):
        beliefs.add(f"x{n}", {f"place {at}": 1.0 for at in range(size)})
    if coupled:
        beliefs.couple(beliefs.names, [Limit(frozenset({"place 0"}), most=1)])
    return beliefs


def speed() -> None:
    """Print how long the operations take."""
    print("\nMicroseconds, tables of 20 values")
    look = {f"place {n}": 0.9 for n in range(4)}
    plain, moving, few = house(20, 5), house(20, 5), house(20, 5)
    for n in range(250):
        few.apply(Sight("x0", (f"seen {n}",), n, visible={"place 1": 0.01}))
    for now in range(1, 9):
        moving.predict(now, {"x0": {"place 1": {"place 1": 0.9, "place 2": 0.1}}})
    number = iter(range(10**9))

    def sight(beliefs: Beliefs[str], *names: str, at: int = 99) -> None:
        one = (f"o{next(number)}",)
        for name in names:
            beliefs.apply(Sight(name, one, at, visible=look))

    def claim() -> None:
        plain.apply(Claim("x0", (f"o{next(number)}",), 99, ("place 7",)))

    def copied() -> None:
        few.copy().apply(Claim("x0", (f"o{next(number)}",), 99, ("place 7",)))

    def message() -> None:
        minds.said(Claim("x0", (f"o{next(number)}",), 99, ("place 7",)), "alice", ("bob", "carol", "dave"))

    minds = Minds(("bob", "carol", "dave"), house(20, 5))
    pair, three = house(20, 2, True), house(12, 3, True)
    five = house(20, 5, True)

    def limited() -> None:
        sight(five, "x0")
        for name in five.names:
            five.table(name)

    rows: list[tuple[str, Callable[[], object]]] = [
        ("a look, 1 variable", lambda: sight(plain, "x0")),
        ("a look, 5 variables", lambda: sight(plain, "x0", "x1", "x2", "x3", "x4")),
        ("a claim", claim),
        ("a claim, on a copy of 250 looks", copied),
        ("a message, 3 mates", message),
        ("reading 5 tables", lambda: [plain.table(name) for name in plain.names]),
        ("a change of 1 variable", lambda: moving.predict(99, {"x0": {"place 1": {"place 1": 0.9, "place 2": 0.1}}})),
        ("a look 8 changes late", lambda: sight(late, "x0", at=0)),
        ("a look, 2 coupled (400 joint)", lambda: sight(pair, "x0")),
        ("a look, 3 coupled (1,728 joint)", lambda: sight(three, "x0")),
        ("a look and 5 tables, 5 factorised", limited),
    ]
    late = moving.copy()
    for head, work in rows:
        print(f"{head:>34} {seconds(work) * 1e6:8.1f}")


def errors(cases: int) -> None:
    """Print how far tables are from the truth."""
    print(f"Total variation, mean / greatest, {cases} cases a cell")
    show(
        "First-order tables, 4 values: weight of each event (rows), number of events (columns)",
        EVENTS,
        ((weight, [list(mixed(cases, weight, events)) for events in EVENTS]) for weight in WEIGHTS),
    )
    show(
        "The same after a message has told the mate of all of them",
        EVENTS,
        ((weight, [list(told(cases, weight, events)) for events in EVENTS]) for weight in WEIGHTS),
    )
    show(
        "Factorised groups, nothing changes: limits (rows), variables (columns)",
        GROUPS,
        ((limits, [list(factorised(cases, size, limits, 0)) for size in GROUPS]) for limits in (1, 2, 3)),
    )
    show(
        "Factorised groups, one change: limits (rows), variables (columns)",
        GROUPS[:3],
        ((limits, [list(factorised(cases, size, limits, 1)) for size in GROUPS[:3]]) for limits in (1, 2)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=150, help="random cases of each cell; 0: speed only")
    cases = parser.parse_args().cases
    if cases:
        errors(cases)
    speed()


if __name__ == "__main__":
    main()
