"""Where agents start: at random places of their rooms, where recorded runs began, or at given places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from teamworld.errors import UserError, brief
from teamworld.seeding import generator
from teamworld.worlds.household.homes.home import Episode, NodeId, Point
from teamworld.worlds.household.pathfinding import Floor

Starts: TypeAlias = Literal["random", "recorded"] | Sequence[tuple[float, float]]


def check_starts(starts: Starts, agents: int) -> None:
    """Check the form of where agents start.

    Raises:
        UserError: It is neither a known word nor a list of places, or names more places than there are agents.
    """
    if starts in ("random", "recorded"):
        return
    places = starts if isinstance(starts, list | tuple) else ()
    if not places or not all(_is_place(place) for place in places):
        raise UserError(f"starts must be random, recorded, or a list of places [x, z] in metres, got {brief(starts)}")
    if len(places) > agents:
        raise UserError(f"starts names {len(places)} places, expected at most one for each of the {agents} agents")


def _is_place(place: object) -> bool:
    is_pair = isinstance(place, list | tuple) and len(place) == 2
    return is_pair and all(isinstance(metres, int | float) and abs(metres) < 1000 for metres in place)  # type: ignore[attr-defined]


def starting_places(episode: Episode, floor: Floor, starts: Starts, agents: int, seed: int) -> dict[NodeId, Point]:
    """Return the places at which agents start that do not start at random ones of their rooms.

    Args:
        episode: The task.
        floor: Of its home.
        starts: ``random``; ``recorded``: one of the places at which recorded runs began, drawn by the seed; or places
            for the first agents, in their order.
        agents: How many there are.
        seed: Of the play.

    Raises:
        UserError: There are no recorded places, or a given place lies outside the home.
    """
    if starts == "random":
        return {}
    if isinstance(starts, str):
        if not episode.recorded:
            raise UserError(
                f"starts=recorded needs recorded runs, and {episode.name} has none: use random, or give places"
            )
        draw = generator(seed, "household", "recorded")
        runs = ((number, seen) for number, seen in enumerate(episode.recorded[:agents], 1) if seen)
        return {number: Point(*seen[int(draw.integers(len(seen)))]) for number, seen in runs}
    places = {number: Point(float(x), float(z)) for number, (x, z) in enumerate(starts, 1)}
    for number, place in places.items():
        if not floor.doorway(place):
            raise UserError(
                f"starts: agent {number} would start at {list(place)}, which is in no room of {episode.name}"
            )
    return places
