"""The page of transport in a headless Chromium: what is drawn, its layers, the words, and nothing on the console."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teamworld.record import DrawingState, Event
from teamworld.viewer import build, page
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
    assert "tw.drawers.transport" in file.read_text("utf-8")
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
