"""The text grid and the description of what an agent sees."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.worlds.wildfire import observe, physics, text
from teamworld.worlds.wildfire.briefing import task_text
from teamworld.worlds.wildfire.levels import Team, instance_for
from teamworld.worlds.wildfire.observe import Observation
from teamworld.worlds.wildfire.physics import ScoreName
from teamworld.worlds.wildfire.state import BULLDOZER, DESTROYED, FIREFIGHTER
from teamworld.worlds.wildfire.text import DIRECTIONS, AgentSituation, NearbyTeammate, Weather
from tests.worlds.wildfire.maps import flat
from tests.worlds.wildfire.test_observe import busy
from tests.worlds.wildfire.test_sightings import send, started


@pytest.mark.parametrize(
    ("level", "score", "prices"),
    [
        ("suppress_fire_contain", "reference", (1, 1, None, None, 20, 20)),
        ("suppress_fire_contain", "burnt", (1, 0, None, None, 20, 20)),
        ("suppress_fire_extinguish", "reference", (1, 1, None, None, 20, None)),
        ("full_game", "reference", (1, 1, 10, 100, 20, 20)),
        ("scout_fire_small", "reference", (None,) * 6),
    ],
)
def test_the_mission_names_the_price_of_each_loss(level: str, score: ScoreName, prices: tuple[int | None, ...]) -> None:
    """The prices in the words are those that the score charges, one thing lost at a time."""
    instance = instance_for(level, 0)
    words = task_text(instance.level, instance, score)
    names = ("a tree that burns", "a tree that you cut", "a building", "a civilian", "a firefighter", "a bulldozer")
    told = tuple((re.findall(rf"{name} (\d+)", words) or [None])[0] for name in names)
    assert told == tuple(None if price is None else str(price) for price in prices)
    assert ("even if the whole team is lost" in words) == physics.fights_fire(instance.level)
    incident = physics.begin_incident(instance, 0)
    before = getattr(physics.score(incident), score)
    for name, kind in (("a firefighter", FIREFIGHTER), ("a bulldozer", BULLDOZER)):
        rows = np.flatnonzero(incident.units.kind == kind)
        if prices[names.index(name)] is not None:
            incident.units.alive[rows[0]] = False
            after = getattr(physics.score(incident), score)
            assert before - after == prices[names.index(name)]
            before = after


def test_the_grid_of_the_specification() -> None:
    window = np.array([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14], [15, 0, 5, 5, 5], [5] * 5])
    assert text.grid_text(window) == "-,'0','1','2','3'\n0,1,2,3,i\nf,e,*x*,w,B\nC,-,0,0,0\n0,0,0,0,0"
    assert text.grid_text(np.array([[4]])) == "*'3'*"
    assert text.grid_text(np.zeros((0, 0), np.uint8)) == ""


@given(st.sampled_from([1, 3, 21]), st.integers(0, 10**6))
def test_every_window_can_be_read_back(side: int, seed: int) -> None:
    window = np.random.default_rng(seed).integers(0, 16, (side, side))
    rows = [line.split(",") for line in text.grid_text(window).split("\n")]
    marked = [(y, x) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell.startswith("*")]
    assert marked == [(side // 2, side // 2)]
    assert [[text.SYMBOLS.index(cell.strip("*")) for cell in row] for row in rows] == window.tolist()


def test_the_legend_names_every_character_once() -> None:
    assert list(text.LEGEND) == list(text.SYMBOLS)
    assert len(text.LEGEND) == len(set(text.LEGEND.values())) == 16
    assert text.LEGEND["'2'"] == "wet ground with 2 trees"
    assert text.LEGEND["1"] == "dry ground with 1 tree"
    assert text.grid_legend().startswith("- not seen yet, or outside the map; '0' wet ground without trees;")
    with pytest.raises(TypeError):
        text.LEGEND["?"] = "no"  # type: ignore[index]


@pytest.mark.parametrize(
    ("window", "words"),
    [
        (np.zeros((2, 2), np.uint8), "a cell in the middle"),
        (np.zeros((3, 5), np.uint8), "a cell in the middle"),
        (np.full((3, 3), 16), "codes from 0 to 15"),
        (np.full((3, 3), -1), "codes from 0 to 15"),
    ],
)
def test_what_is_no_window_is_told(window: np.ndarray, words: str) -> None:
    with pytest.raises(UserError, match=words):
        text.grid_text(window)


NOTHING = (
    "I see no fire. I see no civilian. I see no water. I see no building. Mostly unseen on all "
    "sides. No team-mate is near me."
)


def situation(window: np.ndarray, x: int = 30, y: int = 40, extras: tuple[int, int, int] = (0, 2, 0)) -> AgentSituation:
    """Return that of a firefighter."""
    return AgentSituation("firefighter_1", Observation(0, window, 0, x, y, extras), 60)


def test_the_words_are_exact() -> None:
    window = np.full((21, 21), 7, np.uint8)
    window[8:12, 14:17] = 10
    window[11, 16] = 9
    window[0, 0] = 10
    window[10, 13] = 11
    window[9, 13] = 12
    window[20, 10] = 13
    window[10, 4] = window[14, 10] = 15
    window[2, 3] = window[3, 3] = 14
    window[12:15, 10] = 3, 4, 15
    window[:5, 17:] = 0
    about = situation(window, 52, 40)._replace(
        teammates=(NearbyTeammate("drone_4", 2, 50, 47), NearbyTeammate("bulldozer_3", 1, 52, 41)),
        weather=Weather(-3.0, 4.0, 210, 63),
    )
    assert text.describe(about) == (
        "I am firefighter_1, a firefighter, at (52, 40); my own cell: dry ground with 2 trees. I carry no civilian and "
        "2 of 5 water. My window shows x 42 to 59 and y 30 to 50; the map runs from 0 to 59 in x, to the east, and in "
        "y, to the south. Fire: 13 cells in 2 fronts: nearest cell (56, 40), 4 cells to the east, 12 cells within x 56 "
        "to 58, y 38 to 41; nearest cell (42, 30), 14 cells to the north-west, 1 cell within x 42 to 42, y 30 to 30. "
        "Civilians: (52, 44), 4 cells to the south; (46, 40), 6 cells to the west. "
        "Water: (52, 50), 10 cells to the south. "
        "Buildings: (45, 33), 10 cells to the north-west; (45, 32), 11 cells to the north-west. "
        "Ground that smoulders: 1 cell, the nearest (55, 40), 3 cells to the east. "
        "Burnt-out ground: 1 cell, the nearest (55, 39), 3 cells to the east. "
        "Wet ground: 2 cells, the nearest (52, 42), 2 cells to the south. "
        "Trees to a cell: north medium forest (2.0), north-east medium forest (2.0), east medium forest (2.0), "
        "south-east medium forest (2.0), south medium forest (2.0), south-west medium forest (2.0), west medium "
        "forest (2.0), north-west medium forest (2.0). "
        "Team-mates near me: bulldozer_3 (bulldozer) 1 cell to the south at (52, 41); drone_4 (drone) 7 cells to the "
        "south at (50, 47). "
        "Here the wind blows at 5 m/s to the south-west; the ground lies at 210 m, fuel moisture 63 %."
    )


def test_nothing_is_said_of_what_is_not_known() -> None:
    window = np.zeros((21, 21), np.uint8)
    window[10, 10] = 5
    words = text.describe(situation(window))
    assert words.endswith(NOTHING)
    assert "dry ground without trees" in words


def test_riders_and_the_lost_get_a_notice() -> None:
    window = np.full((21, 21), 10, np.uint8)
    rider = text.describe(situation(window, extras=(0, 2, 1)))
    assert rider == (
        "I am firefighter_1, a firefighter, and ride in a helicopter above (30, 40). "
        "I cannot act until it sets me down."
    )
    lost = AgentSituation("drone_2", Observation(DESTROYED, np.zeros((0, 0), np.uint8), 0, 3, 4, (0, 0, 0)), 60)
    assert text.describe(lost) == "I am drone_2. I was lost at (3, 4)."


@pytest.mark.parametrize(
    ("tenths", "word"),
    [(0, "no trees"), (1, "few trees"), (5, "light forest"), (15, "medium forest"), (30, "dense forest")],
)
def test_densities_have_names(tenths: int, word: str) -> None:
    window = np.full((21, 21), 5, np.uint8)
    north = [(y, x) for y in range(10) for x in range(21) if (abs(x - 10) + abs(y - 10)) ** 2 < 2 * (y - 10) ** 2]
    trees = round(tenths * len(north) / 10)
    for k, (y, x) in enumerate(north):
        window[y, x] += trees // len(north) + (k < trees % len(north))
    words = text.describe(situation(window))
    assert f"Trees to a cell: north {word} ({tenths // 10}.{tenths % 10}), north-east no trees (0.0)" in words


def test_directions_are_those_of_the_angle() -> None:
    reach = 30
    along = np.arange(-reach, reach + 1)
    right, down = np.broadcast_arrays(along[None, :], along[:, None])
    sectors = np.array(text.sectors(right, down))
    assert sectors.sum(axis=0)[reach, reach] == 0
    assert (sectors.sum(axis=0) == 1).sum() == 61 * 61 - 1
    for y in range(-reach, reach + 1):
        for x in range(-reach, reach + 1):
            if (x, y) != (0, 0):
                angle = math.degrees(math.atan2(x, -y)) % 360  # clockwise from the north
                expected = DIRECTIONS[round(angle / 45) % 8]
                assert text.bearing(x, y) == expected
                assert DIRECTIONS[int(np.argmax(sectors[:, y + reach, x + reach]))] == expected
                distance = int(re.match(r"\d+", text.whither(x, y))[0])  # type: ignore[index]
                assert abs(distance - math.hypot(x, y)) <= 0.5


@settings(max_examples=50, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=40))
def test_fronts_are_the_connected_groups(cells: set[tuple[int, int]]) -> None:
    order = sorted(cells)
    groups = text.connected(order)
    assert sorted(cell for group in groups for cell in group) == order
    for k, group in enumerate(groups):
        assert group == sorted(group)
        reached = {group[0]}
        while more := {cell for cell in group for start in reached if math.dist(cell, start) < 1.5} - reached:
            reached |= more
        assert reached == set(group)
        for other in groups[:k]:
            assert other[0] < group[0]
            assert min(math.dist(start, two) for start in group for two in other) > 1.5


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(12, 70))
def test_every_coordinate_is_right(seed: int, size: int) -> None:
    running = busy(seed, size, Team(2, 1, 1, 1))
    seen = observe.begin_sightings(running)
    known = seen.seen()
    codes = {"Civilians": {15}, "Water": {13}, "Buildings": {14}, "Fire": {9, 10}, "Wet ground": {1, 2, 3, 4}}
    codes |= {"Ground that smoulders": {11}, "Burnt-out ground": {12}}
    for agent in range(5):
        about = text.agent_situation(running, seen, agent)
        words = text.describe(about)
        assert words == text.describe(text.agent_situation(running.copy(), seen.copy(), agent))
        for sentence in re.split(r"(?<=[a-z)0-9])\. ", words):
            title = sentence.partition(":")[0]
            if title not in codes:
                continue
            places = [(int(x), int(y)) for x, y in re.findall(r"\((\d+), (\d+)\)", sentence)]
            assert places
            assert {int(known[y, x]) for x, y in places} <= codes[title]
            x0, y0 = about.seen.x, about.seen.y
            far = [math.dist((x0, y0), place) for place in places]
            assert far == sorted(far)
            reach = len(about.seen.window) // 2
            window = known[max(0, y0 - reach) : y0 + reach + 1, max(0, x0 - reach) : x0 + reach + 1]
            ys, xs = np.nonzero(np.isin(window, list(codes[title])))
            assert far[0] == min(np.hypot(xs + max(0, x0 - reach) - x0, ys + max(0, y0 - reach) - y0))


def test_team_mates_within_a_window_are_named() -> None:
    running = started(flat(80), Team(2, drones=1), (10, 10))
    seen = observe.begin_sightings(running)
    send(running, np.array([[10.0, 10.0], [31.0, 10.0], [32.0, 10.0]]))
    names = [teammate.name for teammate in text.agent_situation(running, seen, 0).teammates]
    assert names == ["firefighter_2"]  # 21 cells off; the drone is 22 off
    names = [teammate.name for teammate in text.agent_situation(running, seen, 2).teammates]
    assert names == ["firefighter_1", "firefighter_2"]
    running.units.alive[1] = False
    assert not text.agent_situation(running, seen, 0).teammates


def test_the_weather_is_told_if_asked() -> None:
    running = started(flat(20, wind=(0.0, -7.0), moisture=0.55), Team(1), (10, 10))
    seen = observe.begin_sightings(running)
    assert text.agent_situation(running, seen, 0).weather is None
    words = text.describe(text.agent_situation(running, seen, 0, weather=True))
    assert words.endswith("Here the wind blows at 7 m/s to the north; the ground lies at 0 m, fuel moisture 55 %.")
    still = started(flat(20), Team(1), (10, 10))
    about = text.agent_situation(still, observe.begin_sightings(still), 0, weather=True)
    assert "the wind is still" in text.describe(about)


def test_long_lists_are_cut() -> None:
    window = np.full((21, 21), 5, np.uint8)
    window[:3, ::3] = 15
    window[15:, ::2] = 10
    words = text.describe(situation(window))
    assert "; and 15 more." in words
    assert "66 cells in 11 fronts" in words
    assert "; and 8 more." in words
