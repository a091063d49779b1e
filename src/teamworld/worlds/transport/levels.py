"""Levels: episodes of our own from the published dev and test seeds, and those of the published sets.

``dev-17`` is one episode, whatever the seed of the run, which then decides only what is drawn while playing. ``dev`` is
another episode for every seed: with seed 17, ``dev-17``. ``dev-food``, ``dev-low`` and ``dev-stuff-high-17`` are the
same with one task or one number of containers, where else they take turns. No name reaches a house of the other split.

``official`` and ``train`` are the published test and training sets: ``official-0`` to ``official-23`` are the episodes
of one in the published order. ``official-food-low`` is one of six by the seed, ``official-food-low-2`` always the third
of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

from teamworld.errors import UserError, brief, suggest
from teamworld.seeding import generator
from teamworld.worlds.transport import official
from teamworld.worlds.transport.generator import DEV, MOST_AGENTS, TEST, generate_instance
from teamworld.worlds.transport.scene import Capacity, Instance, Task
from teamworld.worlds.transport.starting_places import draw_starts, reached_from, walkable_floor

#: The level that is played unless another is asked for; it needs no data.
DEFAULT_LEVEL: Final = "dev"
#: The seeds of each split of our own.
SPLITS: Final[Mapping[str, range]] = {"dev": DEV, "test": TEST}
#: The published sets, by the beginning of their names.
PUBLISHED: Final[Mapping[str, official.Split]] = {"official": "test", "train": "train"}

_PURPOSE: Final = {"dev": "to tune on", "test": "to report, never to tune on"}
_TASKS: Final[tuple[Task, ...]] = ("food", "stuff")
_CAPACITIES: Final[tuple[Capacity, ...]] = ("high", "low")
_GROUPS: Final = tuple(product(_TASKS, _CAPACITIES))
_NAME: Final = re.compile(r"(dev|test|official|train)(?:-(food|stuff))?(?:-(high|low))?(?:-(0|[1-9][0-9]{0,8}))?")
_SET_NAMES: Final = {"official": "TDW-MAT test set", "train": "TDW-MAT training set"}

_CONTAINERS: Final = {"high": "many containers", "low": "few containers"}

#: The levels to list, each with one line; a number at the end of any of them makes it one episode.
LEVELS: Final[Mapping[str, str]] = {
    **{split: f"an episode of the {split} houses by seed, {_PURPOSE[split]}" for split in SPLITS},
    **{
        f"{split}-{task}-{capacity}": f"the same, always {task} with {_CONTAINERS[capacity]}"
        for split in SPLITS
        for task, capacity in _GROUPS
    },
    **{
        name: f"one of the {official.EPISODES} episodes of the {title}, from its data; {name}-0 is the first of them"
        for name, title in _SET_NAMES.items()
    },
    **{
        f"{name}-{task}-{capacity}": f"one of the six of them that ask for {task} with {_CONTAINERS[capacity]}"
        for name in PUBLISHED
        for task, capacity in _GROUPS
    },
}


class LevelOptions(NamedTuple):
    """What decides on the instance of a level beside its name and the seed."""

    data: Path | None = None
    """The folder of the published sets."""
    agents: int = 2
    """How many agents start, 1 to 4."""


#: Instances as the names of levels alone mean them.
AS_IS: Final = LevelOptions()


def instance(level: str, seed: int, options: LevelOptions = AS_IS) -> Instance:
    """Return the instance of a level; equal for equal arguments.

    Args:
        level: ``dev``, ``test``, ``official`` or ``train``, then perhaps a task (``food``, ``stuff``), then perhaps a
            capacity (``high``, ``low``), then perhaps a number from 0 on: ``test``, ``dev-low``, ``dev-food-3``. The
            number counts houses, or of a published set the episodes that the rest of the name leaves.
        seed: Which of them it is, where the name has no number; from the last one on they begin anew.
        options: What else decides.

    Raises:
        UserError: There is no such level, its data is not there or cannot be read, or options do not fit.
    """
    match = _NAME.fullmatch(level)
    if match is None:
        raise UserError(
            f"there is no transport level {brief(level)}: expected dev, test, official or train, perhaps with food or "
            f"stuff, high or low, and a number, such as dev-food-low-3{suggest(level, list(LEVELS))}"
        )
    if options.agents not in range(1, MOST_AGENTS + 1):
        raise UserError(f"a transport level starts with 1 to {MOST_AGENTS} agents, got {brief(options.agents)}")
    split, task, capacity, number = match.groups()
    if number is None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise UserError(f"level {level} needs a seed that is an integer from 0 on, got {brief(seed)}")
    place = seed if number is None else int(number)
    groups = [group for group in _GROUPS if task in (None, group[0]) and capacity in (None, group[1])]
    if split in PUBLISHED:
        return _published(level, split, groups, place, number is not None, options)
    if number is not None and place >= len(SPLITS[split]):
        raise UserError(f"level {level}: {split} has {len(SPLITS[split])} episodes, expected a number below that")
    house = SPLITS[split][place % len(SPLITS[split])]
    return generate_instance(house, *groups[house % len(groups)], options.agents)


def _published(
    level: str, name: str, groups: list[tuple[Task, Capacity]], place: int, is_number: bool, options: LevelOptions
) -> Instance:
    """Return an episode of a published set."""
    if options.data is None:
        raise UserError(
            f"level {level} needs the data of the {_SET_NAMES[name]}, which this package has not: give its folder as "
            "the option data"
        )
    listed = official.list_episodes(options.data, PUBLISHED[name])
    numbers = [episode.number for episode in listed if (episode.task, episode.capacity) in groups]
    if not numbers or (is_number and place >= len(numbers)):
        raise UserError(f"level {level}: there are {len(numbers)} such episodes, expected a number below that")
    return _staffed(
        official.read_instance(options.data, PUBLISHED[name], numbers[place % len(numbers)]), options.agents
    )


def _staffed(published: Instance, agents: int) -> Instance:
    """Return a published episode with so many agents.

    It comes with two starts. Further agents start in further rooms, at places that the name of the episode decides.

    Raises:
        UserError: There is no place for them.
    """
    missing = agents - len(published.starts)
    if missing <= 0:
        return replace(published, starts=published.starts[:agents])
    plan, rasters, starts = published.plan, published.rasters, published.starts
    rng = generator(0, "transport", "starts", published.name)
    is_reached = reached_from(rasters, walkable_floor(plan, rasters, published.items), starts[0])
    # All are drawn at once, so that the third is the same in a team of three and of four.
    more = draw_starts(plan, rasters, is_reached, starts, MOST_AGENTS - len(starts), rng)
    if more is None:
        raise UserError(f"{published.name} has no rooms for {agents} agents to start in")
    return replace(published, starts=starts + more[:missing])
