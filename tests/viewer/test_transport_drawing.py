"""The page of transport in a headless Chromium: what is drawn, its layers, the words, and nothing on the console."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teamworld.record import DrawingState, Event
from teamworld.viewer import build, page
from teamworld.worlds.transport.draw import list_sight
from teamworld.worlds.transport.drawing_data import STYLE
from tests.viewer import samples
from tests.viewer.conftest import opened, settle
from tests.viewer.test_drawings import drawn, number

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def log() -> Sequence[Event]:
    """An episode of the scripted team."""
    return samples.played("greedy", "dev-food-high-1", 1200, "transport")


@pytest.fixture(scope="module")
def files(log: Sequence[Event], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    path = tmp_path_factory.mktemp("pages") / "transport.html"
    path.write_text(page(build(log)), "utf-8")
    return {"transport": path}


def test_a_page_has_its_drawer_and_small_moments(log: Sequence[Event], files: dict[str, Path]) -> None:
    file = files["transport"]
    assert 'register("transport"' in file.read_text("utf-8")
    assert file.stat().st_size < 500_000
    moments = [event.state for event in log if isinstance(event, DrawingState)]
    assert moments[0]["t"] == 0
    assert moments[-1]["t"] == 1200
    for before, after in pairwise(moments):
        for agent, way in enumerate(after["trails"]):
            assert way[0] == before["agents"][agent][:2]
            assert way[-1] == after["agents"][agent][:2]


@pytest.mark.heavy
def test_the_house_is_drawn(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["transport"], width=1300, height=900) as shown:
        steps = shown.evaluate("teamworld.episode.steps")
        (first, words), (_, last_words) = (drawn(shown, "transport", step) for step in (0, steps))
        team = shown.evaluate("[teamworld.player.stage.drawn.agents.length, teamworld.episode.team.length]")
        assert team == [2, 2]
        assert words.startswith("Floor plan with ")
        assert "Alice holds nothing; Bob holds nothing." in words
        assert "delivered" in last_words
        for colour in (STYLE["rooms"]["Bedroom"], STYLE["furniture"][0], STYLE["bed"][0], STYLE["wall"]):
            assert number(first, colour) > 200, colour
        assert number(first, STYLE["container"][0]) > 20
        shown.select_option("#layer", "Alice")
        settle(shown)
        assert "Alice does not know of it" in shown.inner_text("#key")
        known, _ = drawn(shown, "transport", 0)
        assert number(known, STYLE["rooms"]["Bedroom"]) < number(first, STYLE["rooms"]["Bedroom"]), "not seen yet"
        spot = shown.evaluate("teamworld.player.stage.drawn.agents[0]")
        told = shown.evaluate(f"teamworld.player.stage.wordsAt({spot['x']}, {spot['y']})")
        assert told


@pytest.mark.heavy
def test_tags_do_not_cover_each_other_and_walls_cut_off_sight(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["transport"], width=1300, height=900) as shown:
        steps, size = shown.evaluate("[teamworld.episode.steps, teamworld.player.stage.size]")
        for step in range(0, steps + 1, 4):
            moment = f"teamworld.player.stage.moment({step}, teamworld.player.theme, null)"
            tags = shown.evaluate(f"teamworld.drawers.transport.tags({moment}, teamworld.episode, {size})")
            kinds = shown.evaluate("teamworld.episode.static.items.map((item) => item.kind)")
            at = [place for number, _, place in tags if kinds[number] != "unrelated"]
            assert at
            near = [math.dist(place, other) for k, place in enumerate(at) for other in at[:k]]
            assert min(near, default=99.0) >= 15
        walls = [[100, -1000, 110, 1], [-1000, 300, 1000, 310]]
        look = "(walls) => teamworld.drawers.transport.view({ walls, sight: 500 }, [0, 0], 45)"
        corners = shown.evaluate(look, walls)
        assert corners[0] == [0, 0]
        east, north = corners[-1], corners[1]
        assert east == pytest.approx([100, 0], abs=1e-6), "the wall in the east reaches up to here"
        assert north == pytest.approx([0, 300], abs=1e-6)
        middle = shown.evaluate("(walls) => teamworld.drawers.transport.view({ walls, sight: 200 }, [0, 0], 45)", walls)
        assert math.hypot(*middle[46]) == pytest.approx(200), "no wall is nearer"
        still = list_sight({"walls": walls, "sight": 500}, (0, 0), 45)
        assert [list(corner) for corner in still] == [pytest.approx(corner, abs=1e-6) for corner in corners]
        (wide, *_) = shown.evaluate("teamworld.drawers.transport.view({ walls: [], sight: 200 }, [0, 0], 0)")[1:]
        assert wide == pytest.approx([-200, 200]), "sight is as deep aside as ahead"


@pytest.mark.heavy
def test_the_pointer_tells_furniture_and_room(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["transport"], width=1300, height=900) as shown:
        size = shown.evaluate("teamworld.player.stage.size")
        words = {
            line
            for x in range(0, size, 9)
            for line in shown.evaluate(
                f"Array.from({{ length: 90 }}, (_, k) => teamworld.player.stage.wordsAt({x}, k * {size} / 90)).flat()"
            )
        }
        assert "bed" in words
        assert any(line.startswith("Bedroom ") for line in words)
        for words_of_key in ("m deep, up to the walls", "way of the last 4 steps"):
            assert words_of_key in shown.inner_text("#key")
