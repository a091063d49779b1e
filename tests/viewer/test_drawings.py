"""The pages of household and wildfire in a headless Chromium: what is drawn, the words, and nothing on the console."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teamworld.record import DrawingState, Event
from teamworld.viewer import build, page
from teamworld.worlds.household import draw as home
from teamworld.worlds.wildfire import draw as land
from tests.viewer import samples
from tests.viewer.conftest import opened, settle

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: Counts the pixels of the picture by colour.
COUNT = """
() => {
  const { width, height } = document.getElementById("stage");
  const copy = Object.assign(document.createElement("canvas"), { width, height });
  const pen = copy.getContext("2d", { willReadFrequently: true });
  pen.drawImage(document.getElementById("stage"), 0, 0);
  const { data } = pen.getImageData(0, 0, width, height);
  const counts = {};
  for (let at = 0; at < data.length; at += 4) {
    const key = `${data[at]},${data[at + 1]},${data[at + 2]}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
"""


@pytest.fixture(scope="module")
def logs() -> dict[str, Sequence[Event]]:
    """Episodes of the scripted team: in a home, and on a small map with a fire and civilians."""
    return {
        "household": samples.played("greedy", "dev-0", 250, "household"),
        "wildfire": samples.played("greedy", "perception", 8, "wildfire"),
    }


@pytest.fixture(scope="module")
def files(logs: dict[str, Sequence[Event]], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    paths = {world: folder / f"{world}.html" for world in logs}
    for world, path in paths.items():
        path.write_text(page(build(logs[world])), "utf-8")
    return paths


def test_a_page_has_the_drawer_of_its_world_and_small_frames(
    logs: dict[str, Sequence[Event]], files: dict[str, Path]
) -> None:
    assert all(f"tw.drawers.{world}" in path.read_text("utf-8") for world, path in files.items())
    assert files["household"].stat().st_size < 400_000
    frames = {world: [event.state for event in log if isinstance(event, DrawingState)] for world, log in logs.items()}
    assert frames["household"][-1]["missing"] == [0] * len(frames["household"][-1]["missing"])
    assert frames["wildfire"]
    assert all(len(frame["land"]) < 3 * 400 for frame in frames["wildfire"])


def drawn(shown: Page, world: str, step: int) -> tuple[dict[str, int], str]:
    """Return the pixels by colour and the words of a step."""
    shown.evaluate(f"teamworld.player.go({step})")
    settle(shown)
    frame = f"{{ t: {step}, frame: teamworld.episode.frame({step}) }}"
    return shown.evaluate(COUNT), shown.evaluate(f"teamworld.drawers.{world}.words({frame}, teamworld.episode)")


def number(counts: dict[str, int], colour: str) -> int:
    return counts.get(",".join(str(int(colour[k : k + 2], 16)) for k in (1, 3, 5)), 0)


@pytest.mark.heavy
def test_the_home_is_drawn(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["household"], width=1300, height=900) as shown:
        (first, words), (last, last_words) = (
            drawn(shown, "household", step) for step in (0, shown.evaluate("teamworld.episode.steps"))
        )
        team = shown.evaluate("[teamworld.player.stage.drawn.agents.length, teamworld.episode.team.length]")
    assert words == (
        "Floor plan with 4 rooms at step 0: 0 of 1 juice, 0 of 1 pudding, 0 of 3 apple delivered, 0 containers open."
    )
    assert "1 of 1 juice, 1 of 1 pudding, 3 of 3 apple delivered" in last_words
    assert team[0] == team[1]
    for colour in (*home.ROOMS.values(), home.FURNITURE, home.TARGET):
        assert number(first, colour) > 200, colour
    assert number(first, home.CLOSED) > number(last, home.CLOSED), "containers were opened"
    assert min(number(counts, home.OPEN) for counts in (first, last)) > 0


@pytest.mark.heavy
def test_the_land_is_drawn(browser: Page, files: dict[str, Path]) -> None:
    with opened(browser, files["wildfire"], width=1300, height=900) as shown:
        counts, words = drawn(shown, "wildfire", 0)
    assert words == "Map of 20 by 20 cells at step 0: 1 agent, cells 1 ignited and 0 on fire."
    green, ignited, civilian = (
        counts.get(",".join(map(str, colour)), 0)
        for colour in (land.COLOURS[8].tolist(), land.COLOURS[9].tolist(), land.CIVILIAN)
    )
    assert green > ignited > 50
    assert civilian > 20
