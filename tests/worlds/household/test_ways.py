"""Estimated ways lead through doors, add up, fall while one walks, and are right to a step."""

from __future__ import annotations

from itertools import pairwise

import pytest

from teamworld.language import Action, Entity, Facts
from teamworld.worlds.contract import View
from teamworld.worlds.household.domain import HouseholdDomain
from teamworld.worlds.household.world import HouseholdWorld, make


def far(here: HouseholdWorld, agent: str = "Alice") -> tuple[Entity, tuple[Entity, ...]]:
    """Return the room most doors away from an agent, and those between, in the order of the way."""
    nodes, home = here.domain.names, here.episode.home
    ways: list[tuple[int, ...]] = [(here.domain.read(here.view(agent).known).at[agent].id,)]
    for way in ways:
        ways += [(*way, room) for room in home.beside[way[-1]] if room not in way]
    _, *between, end = map(nodes.room, ways[-1])  # they get longer
    return end, tuple(between)


def steps(here: HouseholdWorld, view: View, room: Entity) -> int:
    return here.domain.estimate_steps(view.agent, Action("explore", (room,)), view.known)


@pytest.mark.parametrize("level", ["dev-3", "dev-8", "test-3"])
def test_a_way_leads_through_the_rooms_between_and_adds_up(level: str) -> None:
    here = make(level, 0, 250, {})
    end, between = far(here)
    view, domain = here.view("Alice"), here.domain
    assert between
    known = view.known
    for room in (*between, end):
        assert len(domain.ways.doors(domain.read(view.known).at["Alice"], room)) >= 1
    parts = 0
    for room in (*between, end):
        parts += domain.estimate_steps("Alice", Action("explore", (room,)), known)
        known = domain.predict("Alice", Action("explore", (room,)), known)
    assert steps(here, view, end) <= parts <= steps(here, view, end) + len(between)  # each part is rounded up


@pytest.mark.parametrize("seed", range(6))
def test_the_estimate_falls_with_every_step_of_the_way(seed: int) -> None:
    here = make("dev", seed, 250, {})
    end, _ = far(here)
    left = [steps(here, here.view("Alice"), end)]
    report = here.step({"Alice": Action("explore", (end,))})
    while report.outcomes["Alice"].status == "running":
        left.append(steps(here, here.view("Alice"), end))
        report = here.step({})
    assert all(later <= earlier for earlier, later in pairwise(left)), left
    assert sum(later == earlier for earlier, later in pairwise(left)) <= 1, left
    assert abs(left[0] - len(left)) <= 1


@pytest.mark.parametrize("level", ["dev-2", "dev-5", "test-9"])
@pytest.mark.parametrize("rooms", [3, 6])
def test_every_room_has_a_way_to_every_other_and_back_by_the_same_doors(level: str, rooms: int) -> None:
    domain = make(level, 0, 250, {"rooms": rooms}).domain
    for start in domain.names.rooms:
        for end in domain.names.rooms:
            way = domain.ways.doors(start, end)
            assert way == domain.ways.doors(end, start)[::-1]
            assert bool(way) == (start != end)


def test_where_a_room_is_not_known_the_line_is_straight() -> None:
    here = make("dev", 0, 250, {})
    domain: HouseholdDomain = here.domain
    first, other = list(domain.names.rooms)[:2]
    known = domain.read(Facts())
    assert domain.ways.doors(None, first) == domain.ways.doors(first, None) == ()
    assert domain.ways.doors(first, Entity("ghost", 5)) == ()
    assert domain.ways.steps("Zoe", other, known) == 5
