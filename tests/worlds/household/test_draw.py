"""Pictures of a home: they show what the data says, and change with it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("PIL")

from teamworld.errors import UserError
from teamworld.seeding import generator
from teamworld.worlds.household import draw, drawing_data, physics, sheet
from teamworld.worlds.household.homes import home_generator
from teamworld.worlds.household.homes.home import Point
from teamworld.worlds.household.pathfinding import Floor
from teamworld.worlds.household.state import State
from tests.worlds.household import homes
from tests.worlds.household.homes import APPLE, COFFEE, CUPCAKE, FRIDGE

EPISODE = homes.tea()
FLOOR = Floor(EPISODE.home)
STATIC = drawing_data.static(EPISODE)


def begin() -> State:
    return physics.start(EPISODE, FLOOR, generator(0, "test"), at={1: Point(-1.0, -0.5), 2: Point(4.5, -1.5)})


def pixels(state: State, width: int | None = 900) -> Any:  # noqa: ANN401
    return draw.frame(STATIC, drawing_data.snapshot(state, EPISODE), width)


def colour(text: str) -> list[int]:
    return [int(text[k : k + 2], 16) for k in (1, 3, 5)]


def count(picture: Any, text: str) -> int:  # noqa: ANN401
    return int((abs(picture.astype(int) - colour(text)).max(axis=2) <= 3).sum())


def at(picture: Any, x: float, z: float) -> list[int]:  # noqa: ANN401
    """Return the colour at a place of the flat, whose walls' middles go from -3 to 9 and from -2.5 to 2.5 m."""
    scale = picture.shape[1] / 12.6
    found: list[int] = picture[round((2.8 - z) * scale), round((x + 3.3) * scale)].tolist()
    return found


def near(one: list[int], text: str) -> bool:
    return bool(np.abs(np.array(one) - colour(text)).max() <= 6)


def test_rooms_walls_doors_and_furniture_are_where_they_are() -> None:
    picture = pixels(begin())
    assert picture.shape[1:] == (900, 3)
    assert picture.dtype == np.uint8
    assert near(at(picture, -1.0, 1.6), draw.ROOMS["kitchen"])
    assert near(at(picture, 8.5, -2.0), draw.ROOMS["livingroom"])
    assert near(at(picture, -3.0, -1.0), draw.WALL)
    assert near(at(picture, 3.0, 1.5), draw.WALL)
    assert not near(at(picture, 3.0, 0.0), draw.WALL), "the door"
    assert near(at(picture, -0.7, -1.2), draw.FURNITURE)
    assert near(at(picture, -2.1, 2.3), sheet.CLOSED), "the fridge"
    assert near(at(picture, 5.6, -1.2), draw.TARGET)
    assert near(at(picture, 2.0, 3.0), sheet.PAPER)


def test_containers_open_and_show_what_they_hold() -> None:
    state = begin()
    before = pixels(state)
    state.open(FRIDGE)
    after = pixels(state)
    assert near(at(after, -2.1, 2.3), draw.OPEN)
    apple = sheet.THINGS[0]
    assert count(after, apple) > count(before, apple), "faint before"
    changed = np.argwhere((before != after).any(axis=2))
    scale = 900 / 12.6
    low, high = changed.min(axis=0), changed.max(axis=0)
    assert low[1] > 0.2 * scale
    assert high[1] < 2.0 * scale, "only the fridge and the tag in it"


def test_agents_are_where_they_are_look_where_they_look_and_carry_what_they_hold() -> None:
    state = begin()
    picture = pixels(state)
    assert near(at(picture, -1.1, -0.42), draw.AGENTS[0])
    assert near(at(picture, 4.4, -1.42), draw.AGENTS[1])
    assert near(at(picture, -1.0, -0.25), draw.AGENTS[0]), "a nose to the north"
    state.headings[1] = 90.0
    turned = pixels(state)
    assert not near(at(turned, -1.0, -0.25), draw.AGENTS[0])
    assert near(at(turned, -0.78, -0.5), draw.AGENTS[0])
    free = count(turned, sheet.THINGS[1])
    state.grab(1, CUPCAKE)
    state.put(1, Point(-1.0, 0.9))
    carried = pixels(state)
    assert near(at(carried, -0.83, 0.98), sheet.THINGS[1])
    assert count(carried, sheet.THINGS[1]) > 0.8 * free


def test_what_is_missing_is_told_below() -> None:
    state = begin()
    before = pixels(state)
    state.grab(1, CUPCAKE)
    state.release(CUPCAKE, ("ON", COFFEE))
    after = pixels(state)
    floor = round(5.6 * 900 / 12.6)
    assert count(after[floor:], draw.TARGET_RIM) > count(before[floor:], draw.TARGET_RIM), "a filled disc"
    assert (before[floor:] != after[floor:]).any()


def test_agents_on_one_place_are_both_seen() -> None:
    state = begin()
    state.put(2, state.points[1])
    picture = pixels(state)
    assert min(count(picture, draw.AGENTS[0]), count(picture, draw.AGENTS[1])) > 100


def test_tags_do_not_cover_each_other_and_say_where_their_things_are() -> None:
    spots: list[tuple[float, float]] = []
    room = [sheet.Area(0, 0, 200, 60)]
    for home in [(100.0, 30.0)] * 5 + [(5.0, 30.0)]:
        spots.append(draw._find_spot(home, spots, room, 20.0))
    assert spots[0] == (100, 30)
    assert spots[-1][0] == 15, "moved into the room"
    for k, (x, y) in enumerate(spots):
        assert 10 <= x <= 190
        assert 10 <= y <= 50
        assert all(max(abs(x - a), abs(y - b)) >= 20 for a, b in spots[:k])


def test_furniture_of_a_kind_that_touches_has_one_label() -> None:
    def piece(number: int, name: str, left: int) -> dict[str, Any]:
        return {"id": number, "name": name, "goal": False, "box": [left, 0, left + 50, 40]}

    row = [piece(1, "sink", 0), piece(4, "cabinet", 110), piece(2, "cabinet", 60), piece(3, "cabinet", 300)]
    assert drawing_data.touching(row) == [[2, 4]]
    assert drawing_data.touching([*row, piece(5, "cabinet", 160)]) == [[2, 4, 5]]
    assert drawing_data.touching([]) == []


def test_furniture_has_its_name_and_the_colours_a_legend(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    plain = sheet.Plan.words

    def note(plan: sheet.Plan, at: sheet.Spot, words: str, *rest: Any) -> None:
        written.append(words)
        plain(plan, at, words, *rest)

    monkeypatch.setattr(sheet.Plan, "words", note)
    episode = home_generator.episode(0)
    state = physics.start(episode, Floor(episode.home), generator(0, "test"))
    static = drawing_data.static(episode)
    draw.frame(static, drawing_data.snapshot(state, episode), 1000)
    names = {piece["name"] for piece in static["furniture"]}
    lacking = {name for name in names if not any(words.split(" x")[0] == name for words in written)}
    assert len(lacking) <= 0.1 * len(names), "nearly every name has room"
    assert {words for _, words in drawing_data.STYLE["legend"]} <= set(written)


@pytest.mark.parametrize("width", [160, 320, 900, 1600])
def test_sizes(width: int) -> None:
    for seed in (0, 1):
        episode = home_generator.episode(seed)
        state = physics.start(episode, Floor(episode.home), generator(seed, "test"), agents=10)
        moment = drawing_data.snapshot(state, episode)
        picture = draw.frame(drawing_data.static(episode), moment, width)
        assert picture.shape[1] == width
        assert 0.4 < picture.shape[0] / width < 3
        assert np.array_equal(picture, draw.frame(drawing_data.static(episode), moment, width))


@pytest.mark.parametrize("width", [0, 159, 4001, True, 300.0, "big"])
def test_bad_widths(width: object) -> None:
    with pytest.raises(UserError, match="width must be None or an integer from 160 to 4000"):
        draw.frame(STATIC, drawing_data.snapshot(begin(), EPISODE), width)  # type: ignore[arg-type]


def test_other_versions_are_refused() -> None:
    moment = drawing_data.snapshot(begin(), EPISODE)
    for form in (draw.frame, draw.text):
        with pytest.raises(UserError, match="expected a household picture of version 1, got 2"):
            form(STATIC, moment | {"v": 2})
        with pytest.raises(UserError, match="version 1, got None"):
            form({}, moment)


def test_as_text() -> None:
    state = begin()
    state.grab(2, CUPCAKE)
    lines = draw.text(STATIC, drawing_data.snapshot(state, EPISODE)).split("\n")
    assert lines[0] == "step 0 of 250"
    plan = lines[1:12]
    assert plan == [
        "XXXX##########################::::#########XXXX##",
        "XXXX                    #                  XXXX #",
        "#                       #                       #",
        "XXXX                    #                       #",
        "XXXX                                            #",
        "#                                               #",
        "#       1               #        TTTTTT         #",
        "#       ::::::::        #        TTTTTT         #",
        "#       ::::::::        #     2                 #",
        "#                       #                       #",
        "#################################################",
    ]
    assert lines[12:] == [
        "1 apple ON coffeetable 23: 1 missing",
        "1 cupcake ON coffeetable 23: 1 missing",
        "1 Alice at (-100, -50) cm, heading 0",
        "2 Bob at (450, -150) cm, heading 0",
        "apple 30 INSIDE fridge 20 (closed)",
        "cupcake 32 held by Bob",
    ]
    assert "a" not in "".join(plan)
    state.open(FRIDGE)
    opened = draw.text(STATIC, drawing_data.snapshot(state, EPISODE)).split("\n")
    assert "a" in "".join(opened[1:12])
    assert f"apple {APPLE} INSIDE fridge {FRIDGE}" in opened


def test_without_pillow_the_text_is_there_and_the_picture_says_what_is_missing() -> None:
    code = (
        "import sys; sys.modules['PIL'] = None\n"
        "from teamworld.worlds.household import draw\n"
        "from teamworld.errors import UserError\n"
        "from tests.worlds.household import test_scene as t\n"
        "e = t.homes.tea(); s = t.play(e, 0, 0)\n"
        "args = t.drawing_data.static(e), t.drawing_data.snapshot(s, e)\n"
        "print(draw.text(*args).split(chr(10))[0])\n"
        "try:\n    draw.frame(*args)\nexcept UserError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("step 0 of 250")
    assert "pip install 'teamworld[plots]'" in done.stdout
