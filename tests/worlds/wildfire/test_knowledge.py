"""What is known: fires and what has grown together, the ground in tiles, and that nothing hidden shows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from teamworld.language import Action
from teamworld.worlds.wildfire.kernels.agents import SEEN_EXTINGUISHING, SEEN_IGNITED, TILE
from teamworld.worlds.wildfire.knowledge import Fires, oldest
from teamworld.worlds.wildfire.levels import Event, Team
from teamworld.worlds.wildfire.physics import step
from teamworld.worlds.wildfire.skills import TURNS
from teamworld.worlds.wildfire.state import Cell
from teamworld.worlds.wildfire.world import WildfireOptions
from tests.worlds.wildfire.incidents import do, scene
from tests.worlds.wildfire.maps import cut_trees, flat
from tests.worlds.wildfire.test_world import world

if TYPE_CHECKING:
    from teamworld.worlds.wildfire.state import Incident

ALONE = WildfireOptions(shared_map=False)


# ---- which fire is which


def two(second: tuple[int, int], t: int = 0) -> Incident:
    """Return a fire at (10, 20) and another that a script begins east of it, downwind."""
    return scene(
        team=Team(1), terrain=flat(40, wind=(5.0, 0.0)), task="contain", fire=(10, 20), fire_every=100, spawn=(2, 2),
        events=(Event(t, "fire"),), event_cells=((Cell(*second),),),
    )  # fmt: skip


def played(incident: Incident, steps: int) -> Fires:
    fires = Fires(incident)
    fires.look(incident)
    for _ in range(steps):
        step(incident, do(incident))
        fires.look(incident)
    return fires


def test_a_cell_stays_with_the_fire_that_it_caught_fire_from() -> None:
    incident = two((16, 20))
    xs, ys = np.array([10, 16, 18]), np.array([20, 20, 20])
    fires = played(incident, 3)
    before = fires.labels(xs, ys).tolist()
    assert before == [0, 1, 1]
    assert fires.front(1).part_of is None
    for _ in range(6):
        step(incident, do(incident))
        fires.look(incident)
    assert fires.labels(xs, ys).tolist() == before
    assert fires.front(1).part_of == 0
    assert not fires.front(1).cells
    assert not fires.out(1)


def test_that_fires_grew_together_shows_only_where_it_was_seen() -> None:
    fires = played(two((16, 20)), 9)
    incident = two((16, 20))
    played(incident, 9)
    ys, xs = (cells - 1 for cells in np.nonzero(incident.land.burn >= 3))
    assert fires.known(xs, ys, (0, 1)) == {0: 0, 1: 0}
    mine = fires.labels(xs, ys) == 1
    assert fires.known(xs[mine], ys[mine], (1,)) == {1: 1}


@pytest.mark.parametrize("cut", [False, True])
def test_no_fire_begins_where_it_burnt_before_or_cannot(cut: bool) -> None:
    incident = two((12, 20), t=4)
    if cut:
        cut_trees(incident.land, np.array([incident.land.cell(12, 20)]), 3)
    assert list(played(incident, 8).origins) == [0]


def test_a_chain_of_fires_is_one() -> None:
    labels = np.full((6, 9), -1, np.int16)
    labels[2, 1:7] = [2, 2, 1, 1, 3, 0]
    assert oldest(labels, range(5)) == {0: 0, 1: 0, 2: 0, 3: 0, 4: 4}
    labels[2, 5] = -1
    assert oldest(labels, (1, 2, 3)) == {1: 1, 2: 1, 3: 3}


def test_a_fire_far_away_does_not_change_what_is_known_of_another() -> None:
    """Somebody sees the younger fire; that the older one has reached it on its far side stays hidden."""
    here = world(
        Team(1), "contain", spawn=(5, 35), fire=Cell(10, 2), trees=2, fire_every=100,
        events=(Event(0, "fire"),), event_cells=((Cell(8, 35),),),
    )  # fmt: skip
    here.step({})
    front = here.view("firefighter_1").state.fires
    assert front[1].cells
    assert front[1].part_of is None
    assert front[0].cells == ()


def test_who_dies_in_a_fire_of_the_script_is_burnt() -> None:
    here = world(
        Team(2), "contain", spawn=(5, 5), fire=Cell(30, 30), trees=2,
        events=(Event(0, "fire"),), event_cells=((Cell(5, 5),),),
    )  # fmt: skip
    report = here.step({"firefighter_1": Action("move_to", ((20, 20),))})
    assert report.gone == {"firefighter_1": "burnt", "firefighter_2": "burnt"}
    assert report.outcomes["firefighter_1"].word == "burnt"


# ---- the ground


@pytest.mark.parametrize("shared", [True, False])
def test_the_ground_is_the_map_that_was_sighted(shared: bool) -> None:
    here = world(
        Team(2, 1, 1), "contain", size=70, spawn=(30, 30), fire=Cell(40, 30), trees=2, known=False,
        options=WildfireOptions(shared_map=shared),
    )  # fmt: skip
    goals = {"firefighter_1": (66, 2), "bulldozer_3": (2, 30), "drone_4": (69, 69)}
    orders = {agent: Action("move_to", (goal,)) for agent, goal in goals.items()}
    for t in range(1, 7):
        here.step(orders if t == 1 else {})
        for row, agent in enumerate(here.spec.agents):
            ground = here.view(agent).state.ground
            assert ground is not None
            codes = here._sightings.seen(row)
            assert np.array_equal(ground.codes, codes)
            assert np.array_equal(ground.seen >= 0, codes > 0)
            assert ground.seen.max() == t
            hot = (codes >= SEEN_IGNITED) & (codes <= SEEN_EXTINGUISHING)
            assert ground.hot == hot.any()
            for x, y in ((41, 30), (39, 31), (42, 33), (0, 0), (69, 69), (30, 30)):
                round_about = hot[max(0, y - 1) : y + 2, max(0, x - 1) : x + 2]
                assert ground.dangerous((x, y)) == round_about.any()
                assert (ground.code((x, y)), ground.date((x, y))) == (codes[y, x], ground.seen[y, x])
            scene = here.view(agent).state
            for number, (x0, x1, y0, y1) in enumerate(here.domain.mission.sectors):
                part = codes[y0:y1, x0:x1]
                assert scene.unseen.get(number, 0) == -(-100 * int((part == 0).sum()) // part.size)
                x, y = scene.ahead.get(number, scene.sectors[number])
                assert x0 <= x < x1
                assert y0 <= y < y1
                assert number not in scene.unseen or codes[y, x] == 0, "the search goes on where nobody looked"


def test_what_was_known_then_does_not_change() -> None:
    here = world(Team(1), "contain", fire=Cell(12, 5), trees=2, fire_every=100)
    before = here.view("firefighter_1").state.ground
    assert before is not None
    dates, danger = before.seen.copy(), before.dangerous((11, 5))
    fresh = world(Team(1), "contain", fire=Cell(12, 5), trees=2, fire_every=100).view("firefighter_1").state.ground
    for _ in range(3):
        here.step({})
    assert fresh is not None
    assert np.array_equal(before.seen, dates)
    assert before.dangerous((11, 5)) == danger == fresh.dangerous((11, 5))


def test_a_map_of_ones_own_costs_what_was_seen() -> None:
    here = world(Team(3), "contain", size=400, spawn=(20, 20), fire=Cell(300, 300), trees=2, options=ALONE)
    here.step({})
    for agent in here.spec.agents:
        ground = here.view(agent).state.ground
        assert ground is not None
        assert len(ground._tiles) <= 4  # of 13 x 13
        assert all(tile.codes.shape == (TILE, TILE) for tile in ground._tiles.values())


# ---- who is where, with maps of one's own


def test_texts_tell_only_of_mates_in_sight() -> None:
    here = world(Team(2), "contain", spawn=(5, 5), fire=Cell(30, 30), trees=0, options=ALONE)
    assert "firefighter_2 at (5, 5), right here" in here.view("firefighter_1").text()
    here.step({"firefighter_2": Action("move_to", ((17, 5),))})
    assert "No teammate is known of." in here.view("firefighter_1").text()
    here = world(Team(2), "contain", spawn=(5, 5), fire=Cell(30, 30), trees=0)
    here.step({"firefighter_2": Action("move_to", ((17, 5),))})
    assert "firefighter_2 at (17, 5), 12 cells to the east" in here.view("firefighter_1").text()  # the team knows


def test_who_dies_out_of_sight_is_missed_by_nobody() -> None:
    def after(burn: bool) -> object:
        here = world(
            Team(2), "contain", spawn=(5, 5), fire=Cell(37, 37), trees=2, options=ALONE, max_steps=30,
            events=(Event(6, "fire"),), event_cells=((Cell(5, 5) if burn else Cell(25, 35),),),
        )  # fmt: skip
        here.step({"firefighter_1": Action("move_to", ((25, 5),))})
        for _ in range(7):
            here.step({})
        assert here.incident.units.alive.tolist() == [True, not burn]
        assert "firefighter_2" in here.view("firefighter_1").state.agents
        return here.view("firefighter_1").state.agents

    assert after(True) == after(False)


def test_who_is_not_where_it_was_seen_is_nowhere() -> None:
    here = world(Team(2), "contain", spawn=(5, 5), fire=Cell(37, 37), trees=0, options=ALONE)
    here.step({"firefighter_2": Action("move_to", ((8, 20),))})
    here.step({})
    assert "firefighter_2" not in here.view("firefighter_1").state.agents


def test_what_was_found_stays_found() -> None:
    """The goal to search is done by what anybody found, also by those who are dead."""
    here = world(
        Team(1, 0, 1), "contain", fire=Cell(30, 30), trees=2, known=False, options=ALONE, spawn=(5, 5),
        events=(Event(5, "lose_drone"),), event_cells=((),), fire_every=10**5,
    )  # fmt: skip
    events = [
        event
        for _ in range(8)
        for event in here.step({"drone_2": Action("move_to", ((28, 28),))} if here.incident.t < 5 else {}).goals
    ]
    assert not here.incident.units.alive[1]
    assert ("search", "done") in [(event.goal, event.event) for event in events]
    assert here.goals()[0].state == "done"


def test_ways_round_a_fire_are_the_same_on_every_machine() -> None:
    for degrees, cos, sin in TURNS:
        assert (cos, sin) == pytest.approx((math.cos(math.radians(degrees)), math.sin(math.radians(degrees))), abs=1e-7)
