"""What scenes of CUBE and of worlds on cells show, against the log and the world, in a headless Chromium."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from teamworld.record import AttemptMade, DrawingState, Event
from teamworld.viewer import build, page
from teamworld.worlds import registry
from tests.viewer import samples
from tests.viewer.conftest import opened, settle

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def logs() -> dict[str, Sequence[Event]]:
    return {"cube": samples.played("drwell", "n4", 60), "rooms": samples.played("greedy", "two", 60, "rooms")}


@pytest.fixture(scope="module")
def files(logs: dict[str, Sequence[Event]], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    paths = {world: folder / f"{world}.html" for world in logs}
    for world, path in paths.items():
        path.write_text(page(build(logs[world])), "utf-8")
    return paths


def find_box(shown: Page, part: str) -> Any:  # noqa: ANN401  (a mapping of Playwright's)
    box = shown.locator(part).bounding_box()
    assert box is not None, part
    return box


def go(shown: Page, step: int) -> None:
    shown.evaluate(f"teamworld.player.go({step})")
    settle(shown)


@pytest.mark.heavy
def test_the_picture_takes_about_half_of_the_page_with_the_buttons_in_sight(
    browser: Page, files: dict[str, Path]
) -> None:
    for width, height in ((1280, 800), (1440, 900)):
        with opened(browser, files["cube"], width=width, height=height) as shown:
            parts = ("#stage", "#key", "#play", "#curve", "#ruler")
            stage, key, play, curve, ruler = (find_box(shown, part) for part in parts)
            assert stage["width"] >= 0.45 * width
            assert stage["x"] + stage["width"] <= key["x"]
            assert play["y"] + play["height"] <= height
            assert play["y"] < curve["y"] < ruler["y"], "curves are under the scrubber, above the lanes"


@pytest.mark.heavy
def test_the_force_of_each_push_is_that_of_the_log(
    browser: Page, files: dict[str, Path], logs: dict[str, Sequence[Event]]
) -> None:
    tried = [event for event in logs["cube"] if isinstance(event, AttemptMade)]
    assert {event.success for event in tried} == {True, False}
    with opened(browser, files["cube"]) as shown:
        for step in sorted({event.step for event in tried}):
            moment = f"teamworld.player.stage.moment({step}, teamworld.player.theme, null)"
            forces = dict(shown.evaluate(f"[...teamworld.drawers.cube.forces({moment})]"))
            for event in (event for event in tried if event.step == step):
                force = forces[int(event.goal.removeprefix("block_"))]
                assert (force["have"], force["need"]) == (event.have["temporal"], event.need["temporal"])
        short = next(event for event in tried if event.have["temporal"] < event.need["temporal"])
        go(shown, short.step)
        block = int(short.goal.removeprefix("block_"))
        row, column = shown.evaluate(f"teamworld.episode.frame({short.step}).blocks[{block}]")
        cell = shown.evaluate("teamworld.player.stage.size / teamworld.episode.static.grid_size")
        words = shown.evaluate(f"teamworld.player.stage.wordsAt({(column + 0.5) * cell}, {(row + 0.5) * cell})")
        have, need = short.have["temporal"], short.need["temporal"]
        assert any(f"force {have} of {need}, {need - have} missing" in line for line in words), words
        shown.click("#near")
        settle(shown)
        assert shown.evaluate("teamworld.player.stage.drawn.agents[0].radius") == pytest.approx(0.38 * cell * 1.6)
        for words in ("a missing agent", "weight", "blocks go here", "held up"):
            assert words in shown.inner_text("#key")


@pytest.mark.heavy
def test_rooms_are_drawn_with_a_key_and_who_carries_what(
    browser: Page, files: dict[str, Path], logs: dict[str, Sequence[Event]]
) -> None:
    states = [event.state for event in logs["rooms"] if isinstance(event, DrawingState)]
    step = next(at for at, state in enumerate(states) if any(agent and agent[4] for agent in state["agents"]))
    place = next(at for at, agent in enumerate(states[step]["agents"]) if agent[4])
    with opened(browser, files["rooms"]) as shown:
        assert shown.is_hidden("#nodrawer")
        for words in ("wall", "takes 2 agents at once", "what it carries", "1/2: one acts"):
            assert words in shown.inner_text("#key")
        go(shown, step)
        spot = shown.evaluate(f"teamworld.player.stage.drawn.agents[{place}]")
        (first, *_) = shown.evaluate(f"teamworld.player.stage.wordsAt({spot['x']}, {spot['y']})")
        assert first.startswith(f"agent {place}, carries ")


@pytest.mark.heavy
def test_a_map_of_what_is_known_is_drawn_without_those_whom_nobody_sees(browser: Page, files: dict[str, Path]) -> None:
    rooms = registry.make("rooms", "two", 3, 60, {})
    rooms.reset(3)
    draw = registry.known_picture("rooms")
    assert draw is not None
    agent = rooms.spec.agents[0]
    known = draw(rooms.view(agent), rooms.spec.agents)
    frame: dict[str, Any] = {**known.frame, "agents": [known.frame["agents"][0], None]}
    with opened(browser, files["rooms"]) as shown:
        drawn = shown.evaluate(
            """({ fixed, frame }) => {
              const stage = teamworld.player.stage;
              const own = { static: fixed, frames: [frame], steps: 0 };
              const episode = Object.assign(Object.create(teamworld.episode), own);
              const moment = { ...stage.moment(0, teamworld.player.theme, null), frame, next: frame, joints: [] };
              const pen = stage.canvas.getContext("2d");
              const { agents } = teamworld.drawers.grid.draw(pen, stage.size, moment, episode);
              const words = teamworld.drawers.grid.label(moment, episode, stage.size * 0.9, stage.size / 2, stage.size);
              return { agents, words, key: teamworld.drawers.grid.key(moment, episode).map((row) => row.words) };
            }""",
            {"fixed": known.static, "frame": frame},
        )
    assert drawn["agents"][0]["radius"] > 5
    assert drawn["agents"][1]["radius"] == 0
    assert "not seen yet" in drawn["key"]
    assert drawn["words"][0] == "not seen yet"
