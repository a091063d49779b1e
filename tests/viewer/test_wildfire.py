"""The page of an episode of wildfire, in a headless Chromium: the land, the team and nothing on the console."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teamworld.experiment.runner import run
from teamworld.experiment.spec import build as experiment
from teamworld.record import DrawingState, Event, read_log
from teamworld.viewer import build, page
from teamworld.worlds.wildfire import draw
from tests.viewer.test_browser import ARGUMENTS, missing

if TYPE_CHECKING:
    from collections.abc import Sequence

COUNT = """
() => {
  const canvas = document.querySelector("#stage canvas") ?? document.querySelector("canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const counts = {};
  for (let at = 0; at < data.length; at += 4) {
    const key = `${data[at]},${data[at + 1]},${data[at + 2]}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Event]:
    """An episode on a small map with a fire and civilians."""
    out = tmp_path_factory.mktemp("wildfire") / "run"
    run(experiment({"world": "wildfire", "level": "perception", "methods": ["greedy"], "max_steps": 8}), out)
    return tuple(read_log(out / "logs" / "greedy-s0" / "0001.jsonl.zst"))


def test_the_page_has_the_drawer_and_small_frames(log: Sequence[Event]) -> None:
    text = page(build(log))
    assert "tw.drawers.wildfire" in text
    frames = [event.state for event in log if isinstance(event, DrawingState)]
    assert all(len(frame["land"]) < 3 * 400 for frame in frames)


@pytest.mark.heavy
def test_the_land_is_drawn(log: Sequence[Event], tmp_path: Path) -> None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or missing("there is no Chromium")
    file = tmp_path / "replay.html"
    file.write_text(page(build(log)), "utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        shown = browser.new_page(viewport={"width": 1300, "height": 900})
        said: list[str] = []
        shown.on("console", lambda message: said.append(message.text))
        shown.on("pageerror", lambda error: said.append(str(error)))
        shown.goto(file.as_uri())
        shown.wait_for_function("() => window.teamworld.player !== undefined")
        shown.wait_for_timeout(200)
        counts: dict[str, int] = shown.evaluate(COUNT)
        words = shown.evaluate(
            "() => { const e = window.teamworld.episode;"
            " return window.teamworld.drawers.wildfire.words({ t: 0, frame: e.frame(0) }, e); }"
        )
        browser.close()
    assert said == []
    assert words == "Map of 20 by 20 cells at step 0: 1 agent, cells 1 ignited and 0 on fire."
    green, ignited, civilian = (
        counts.get(",".join(map(str, colour)), 0)
        for colour in (draw.COLOURS[8].tolist(), draw.COLOURS[9].tolist(), draw.CIVILIAN)
    )
    assert green > ignited > 50
    assert civilian > 20
