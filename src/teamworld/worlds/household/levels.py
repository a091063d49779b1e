"""Levels: episodes of our own from the published dev and test seeds, and those of the official set.

``dev-17`` is one episode, whatever the seed of the run, which then decides only what is drawn while playing. ``dev``
is another episode for every seed: with seed 17, ``dev-17``. ``dev-tea`` and ``dev-tea-17`` are the same with one task,
where else the five tasks take turns. No name reaches a home of the other split. The options ``placement`` and ``rooms``
give each of them another home.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from teamworld.errors import UserError, brief, suggest
from teamworld.worlds.household.homes import home_generator, official_episodes
from teamworld.worlds.household.homes.furnishing import TASKS
from teamworld.worlds.household.homes.home import Episode
from teamworld.worlds.household.homes.placement import Rule

#: The seeds of each split.
SPLITS: Final[Mapping[str, range]] = {"dev": home_generator.DEV, "test": home_generator.TEST}
#: Rooms of a generated home, unless asked for.
ROOMS: Final = 4
_SHORT: Final = {task.short: name for name, task in TASKS.items()}
_PURPOSE: Final = {"dev": "to tune on", "test": "to report, never to tune on"}

#: The levels to list, each with one line; ``dev-<number>``, ``test-tea-<number>`` and so on are levels too.
LEVELS: Final[Mapping[str, str]] = {
    **{
        split: f"an episode of the {split} homes by seed, {_PURPOSE[split]}; options rooms and placement: other homes"
        for split in SPLITS
    },
    **{
        f"{split}-{short}": f"the same, always: {TASKS[name].title}"
        for split in SPLITS
        for short, name in _SHORT.items()
    },
    **{
        f"official-{number}": f"task {number} of the C-WAH test set, from the data of that set"
        for number in official_episodes.PUBLISHED
    },
}


class HomeOptions(NamedTuple):
    """What decides on the home of a level beside its name and the seed."""

    data: Path | None = None
    """The folder, or pickle, of the official set."""
    placement: Rule = "uniform"
    """The rule by which things are laid out in a generated home."""
    rooms: int = ROOMS
    """How many rooms a generated home has."""


#: Homes as the names of levels alone mean them.
AS_IS: Final = HomeOptions()


def episode(level: str, seed: int, options: HomeOptions = AS_IS) -> Episode:
    """Return the episode of a level; equal for equal arguments.

    Args:
        level: ``dev`` or ``test``, then perhaps a task (``tea``, ``dishes``, ``meal``, ``groceries``, ``table``), then
            perhaps a number from 0 on: ``test``, ``dev-tea``, ``dev-3``, ``test-meal-12``. Or ``official-<task id>``.
        seed: Which episode of the split, where the name has no number; from the last one on they begin anew.
        options: What else decides on the home.

    Raises:
        UserError: There is no such level, its data is not there or cannot be read, or options do not fit it.
    """
    if match := re.fullmatch(r"(dev|test)(?:-([a-z]+))?(?:-(0|[1-9][0-9]{0,8}))?", level):
        split, short, number = match.groups()
        seeds = SPLITS[split]
        if short is not None and short not in _SHORT:
            raise UserError(f"there is no household task '{short}'{suggest(short, list(_SHORT))}")
        if number is not None and int(number) >= len(seeds):
            raise UserError(f"level {level}: {split} has {len(seeds)} episodes, expected a number below that")
        if number is None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
            raise UserError(f"level {level} needs a seed that is an integer from 0 on, got {brief(seed)}")
        place = seeds[seed % len(seeds) if number is None else int(number)]
        task = None if short is None else _SHORT[short]
        return home_generator.episode(place, task, placement=options.placement, number=options.rooms)
    if match := re.fullmatch(r"official-(0|[1-9][0-9]{0,3})", level):
        if options != HomeOptions(options.data):
            raise UserError(f"level {level} is a home as it was published: leave out the options placement and rooms")
        return _published(int(match[1]), options.data)
    raise UserError(
        f"there is no household level {brief(level)}: expected dev or test, perhaps with a task and a number, or "
        f"official-<task id>{suggest(level, list(LEVELS))}"
    )


def _published(number: int, data: Path | None) -> Episode:
    if data is None:
        raise UserError(
            f"level official-{number} needs the data of the C-WAH test set, which this package has not: give its "
            "folder as the option data"
        )
    episodes = _all(data)
    for published in episodes:
        if published.name.startswith(f"task{number:02d}_"):
            return published
    names = ", ".join(published.name for published in episodes)
    raise UserError(f"{data}: expected an episode of task {number}, found {names}")


@lru_cache(maxsize=2)
def _all(data: Path) -> tuple[Episode, ...]:
    return official_episodes.episodes(data)
