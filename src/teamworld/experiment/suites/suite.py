"""The named sets of instances on which methods are compared, and the headroom of levels.

Headroom is the share of its steps that the best silent team without shared knowledge could save: 1 - bound / steps,
with the bound of ``worlds.registry.step_bound``, and the step limit in place of the steps where goals were left. Where
a fire is fought it is the share of its damage, and the bound is 0. Both tables are files beside this one, made by
``benchmarks/headroom.py``; ``unmeasured.csv`` is kept by hand and says of all other levels why they are not in them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from teamworld.errors import UserError, suggest

#: What a suite is called where a world may stand: ``suite:coordination-1``.
PREFIX: Final = "suite:"
NAMES: Final = ("coordination-1",)
#: Instances to develop methods on, and those to report: ``suite:coordination-1/test``.
HALVES: Final = ("development", "test")


class Place(NamedTuple):
    """The instances of one level."""

    world: str
    level: str
    seeds: tuple[int, ...]


class Headroom(NamedTuple):
    """What separates the best silent team from the optimum on a level, with 95 % intervals over instances.

    A level with one layout has no interval: its bounds are the share.
    """

    most: tuple[float, float, float]
    """Mean, low and high of the share of its steps beyond the bound."""
    least: tuple[float, float, float]
    """Of that beyond the best plan or team that is known. Both are the same where bounds are the optimum."""
    instances: int
    measure: str
    """What is saved: ``steps`` or ``damage``."""

    def in_words(self) -> str:
        """Return it in words, in percent."""
        most, least = (
            f"{mean:.0f}%" if self.instances == 1 else f"{mean:.0f}% [{low:.0f}, {high:.0f}]"
            for mean, low, high in ([100 * number for number in part] for part in (self.most, self.least))
        )
        share = most if most == least else f"from {least} to {most}"
        of = "" if self.measure == "steps" else f" of its {self.measure}"
        return f"headroom {share}{of}{', one instance' if self.instances == 1 else ''}"


def places(text: str) -> list[Place]:
    """Return the instances of a suite, level by level.

    Args:
        text: Its name, ``coordination-1`` for the development half; ``coordination-1/test`` for the other.

    Raises:
        UserError: There is no such suite or half.
    """
    name, slash, half = text.partition("/")
    if name not in NAMES:
        raise UserError(f"there is no suite '{name}'{suggest(name, list(NAMES))}")
    if half not in (HALVES if slash else ("",)):
        raise UserError(f"a suite has the halves {' and '.join(HALVES)}, got '{half}'{suggest(half, list(HALVES))}")
    wanted = half or HALVES[0]
    return [
        Place(row["world"], row["level"], tuple(map(int, row["seeds"].split())))
        for row in _rows(f"{name}.csv")
        if row["half"] == wanted
    ]


@cache
def headrooms() -> Mapping[tuple[str, str], Headroom]:
    """Return the headroom of levels by world and level, as measured on the development half; else on the test half."""
    rows = sorted(_rows("headroom.csv"), key=lambda row: row["half"] == HALVES[0])  # what comes last counts
    return {
        (row["world"], row["level"]): Headroom(
            (float(row["headroom"]), float(row["low"]), float(row["high"])),
            (float(row["saved"]), float(row["saved_low"]), float(row["saved_high"])),
            int(row["seeds"]),
            row["measure"],
        )
        for row in rows
    }


@cache
def unmeasured() -> Mapping[tuple[str, str], str]:
    """Return by world and level why a level's headroom was not measured."""
    return {(row["world"], row["level"]): row["reason"] for row in _rows("unmeasured.csv")}


def _rows(name: str) -> Iterator[dict[str, str]]:
    yield from csv.DictReader(files("teamworld.experiment.suites").joinpath(name).read_text("utf-8").splitlines())
