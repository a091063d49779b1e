"""Rules of placement: where things that tasks ask for lie at the start, in homes of our own.

``uniform`` restates the benchmark's tables: any kind of furniture that they allow is as likely as any other.
``official`` lays things as they lie in the ten official episodes. Its weights and numbers are our own estimates from
counts over all ten together (202 things), solved so that homes of our own show the same shares; no episode is restated.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from teamworld.worlds.household.homes.furnishing import TASKS
from teamworld.worlds.household.homes.home import Relation

Place: TypeAlias = tuple[Relation, str]
"""How a thing lies, and the class of the furniture."""
Rule: TypeAlias = Literal["uniform", "official"]
"""The name of a rule of placement."""

#: Where the benchmark's tables let things lie, but for those below.
PLACES: Final[tuple[Place, ...]] = (
    ("INSIDE", "kitchencabinet"), ("INSIDE", "cabinet"), ("INSIDE", "fridge"), ("INSIDE", "dishwasher"),
    ("INSIDE", "microwave"), ("ON", "coffeetable"), ("ON", "kitchentable"), ("ON", "bench"),
)  # fmt: skip
NEVER: Final[Mapping[str, frozenset[str]]] = {
    "microwave": frozenset({"wine"}),
    "bench": frozenset({"cutleryfork", "pancake", "plate", "pudding"}),
}
#: Classes that some task asks for.
ASKED: Final = tuple(sorted({name for task in TASKS.values() for name in task.names}))


class Others(NamedTuple):
    """How many things of a class there are where the task does not ask for it, and where."""

    least: int
    most: int
    weights: Mapping[Place, float]


class Numbers(NamedTuple):
    """How many classes the goal asks for, at least and at most, and how many things of each there are, at most."""

    least: int
    most: int
    things: int


class Placement(NamedTuple):
    """A rule of placement."""

    weights: Mapping[Place, float]
    """Of the task's things, but for what ``NEVER`` forbids."""
    others: Mapping[str, Others]
    numbers: Mapping[str, Numbers]
    """Of tasks that may ask for two classes, ``few``, or for more, ``many``."""
    uncounted: str | None = None
    """A class of furniture: of things in it the goal asks for none, as in the benchmark's rule for how many it asks."""

    def of(self, name: str) -> Mapping[Place, float]:
        """Return the places of a thing that the task may ask for, with their weights."""
        return _allowed(self.weights, name)


def _allowed(weights: Mapping[Place, float], name: str) -> dict[Place, float]:
    return {place: weight for place, weight in weights.items() if name not in NEVER.get(place[1], ())}


_UNIFORM: Final = dict.fromkeys(PLACES, 1.0)
_TABLE: Final[Place] = ("ON", "kitchentable")
_DESK: Final[Place] = ("ON", "desk")
_COFFEE: Final[Place] = ("ON", "coffeetable")

#: By name. The shares that ``official`` follows stand in docs/reference/worlds/household.md.
PLACEMENTS: Final[Mapping[Rule, Placement]] = {
    "uniform": Placement(
        _UNIFORM,
        {name: Others(0, 1, _allowed(_UNIFORM, name)) for name in ASKED},
        {"few": Numbers(1, 2, 3), "many": Numbers(3, 5, 3)},
    ),
    "official": Placement(
        {
            ("INSIDE", "fridge"): 25, ("INSIDE", "dishwasher"): 24, ("INSIDE", "cabinet"): 16,
            ("INSIDE", "microwave"): 13, _COFFEE: 20, _TABLE: 25, ("ON", "bench"): 15,
        },
        {
            "apple": Others(12, 14, {_TABLE: 8, _DESK: 10, ("ON", "kitchencounter"): 1, _COFFEE: 2}),
            "plate": Others(6, 8, {
                ("ON", "kitchencounter"): 5, _TABLE: 4, ("INSIDE", "microwave"): 5, ("ON", "bookshelf"): 3,
                ("ON", "tvstand"): 3, _DESK: 1, _COFFEE: 1,
            }),
            "cutleryfork": Others(0, 3, {_TABLE: 1}),
            "coffeepot": Others(1, 1, {("INSIDE", "coffeemaker"): 1}),
            "cupcake": Others(2, 2, {_DESK: 1, _COFFEE: 1}),
            "juice": Others(0, 1, {_DESK: 1}),
            "wine": Others(0, 1, {_COFFEE: 1}),
            "pancake": Others(0, 1, {_TABLE: 1}),
            "poundcake": Others(0, 1, {_TABLE: 1}),
            "pudding": Others(0, 0, {}),
        },
        {"few": Numbers(1, 2, 3), "many": Numbers(5, 5, 2)},
        "dishwasher",
    ),
}  # fmt: skip
#: The classes of furniture in or on which a rule lays things.
HOLDERS: Final[Mapping[Rule, frozenset[str]]] = {
    rule: frozenset(
        kind
        for weights in (placement.weights, *(others.weights for others in placement.others.values()))
        for _, kind in weights
    )
    for rule, placement in PLACEMENTS.items()
}


def draw_place(weights: Mapping[Place, float], rng: np.random.Generator) -> Place:
    """Draw a place by its weight; where all weights are equal this takes one whole number of the generator."""
    places = tuple(weights)
    if len(set(weights.values())) == 1:
        return places[rng.integers(len(places))]
    upto = tuple(accumulate(weights.values()))
    return places[min(bisect_right(upto, rng.random() * upto[-1]), len(places) - 1)]
