"""Where things are expected before anybody has looked: shares counted in development homes, stored with the package.

The shares are counted by rule of placement, goal and class, over homes that no page reports on (``HOMES``).
``scripts/household_prior.py`` writes the file. No official episode has a part in it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from teamworld.worlds.household.homes import home_generator
from teamworld.worlds.household.homes.furnishing import TASKS
from teamworld.worlds.household.homes.home import Episode
from teamworld.worlds.household.homes.placement import Rule

#: Development seeds whose homes are counted: the last of the split. Report nothing on them.
HOMES: Final = range(9_940, 10_000)
#: Things of a class count as if so many more of it had been seen, lying as those of all classes of the goal do.
SMOOTHING: Final = 20.0
#: The stored shares.
FILE: Final = Path(__file__).with_name("placement_prior.json")


class Spot(NamedTuple):
    """Where a thing may lie."""

    room: str
    """Kind of the room."""
    relation: str
    furniture: str
    """Class of the furniture."""


Shares = Mapping[Spot, float]


@cache
def shares(rule: str, target: str, name: str) -> Shares:
    """Return how the things of a class lie, as shares of 1; empty for a goal that the file does not tell of.

    Args:
        rule: The rule of placement of the home.
        target: Class of the goal furniture.
        name: Class of the things.
    """
    stored = _stored().get(rule, {}).get(target, {}).get(name, {})
    return {Spot(*words.split()): share for words, share in stored.items()}


@cache
def _stored() -> Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]:
    stored: Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return stored


def estimate(rule: Rule, homes: range = HOMES) -> dict[str, dict[str, dict[str, float]]]:
    """Count where things lie in homes of four rooms, every task laid out in each.

    Returns:
        By class of the goal furniture and class of the things: the share of each place, ``kitchen INSIDE fridge``.
    """
    counts: dict[str, dict[str, Counter[str]]] = {}
    for seed in homes:
        home = home_generator.home(seed)
        for task, asked in TASKS.items():
            episode = home_generator.episode(seed, task, home, placement=rule)
            for name, words in _lying(episode):
                counts.setdefault(asked.target, {}).setdefault(name, Counter())[words] += 1
    return {target: _smoothed(by_name) for target, by_name in sorted(counts.items())}


def _lying(episode: Episode) -> Iterator[tuple[str, str]]:
    """Yield class and place of each thing that the task may ask for."""
    home, asked = episode.home, TASKS[episode.task].names
    for number, (relation, holder) in home.parent.items():
        if (name := home.nodes[number].name) in asked:
            yield name, " ".join((home.nodes[home.room[number]].name, relation, home.nodes[holder].name))


def _smoothed(by_name: Mapping[str, Counter[str]]) -> dict[str, dict[str, float]]:
    """Return shares, those of a class drawn towards those of all."""
    every: Counter[str] = sum(by_name.values(), Counter())
    smoothed: dict[str, dict[str, float]] = {}
    for name, counts in sorted(by_name.items()):
        whole = counts.total() + SMOOTHING
        parts = ((words, counts[words] + SMOOTHING * every[words] / every.total()) for words in sorted(every))
        smoothed[name] = {words: round(part / whole, 4) for words, part in parts}
    return smoothed
