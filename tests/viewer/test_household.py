"""The page of an episode in a home, in a headless Chromium: the floor plan, the team and nothing on the console."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from teamworld.experiment.runner import run
from teamworld.experiment.spec import build as experiment
from teamworld.record import DrawingState, Event, read_log
from teamworld.viewer import build, page
from teamworld.worlds.household import draw
from tests.viewer.test_browser import ARGUMENTS, missing

if TYPE_CHECKING:
    from collections.abc import Sequence

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
WORDS = (
    "(t) => { const e = window.teamworld.episode;"
    " return window.teamworld.drawers.household.words({ t, frame: e.frame(t) }, e); }"
)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Event]:
    """An episode of the scripted team."""
    out = tmp_path_factory.mktemp("household") / "run"
    run(experiment({"world": "household", "level": "dev-0", "methods": ["greedy"], "max_steps": 250}), out)
    return tuple(read_log(out / "logs" / "greedy-s0" / "0001.jsonl.zst"))


def test_the_page_has_the_drawer_and_small_frames(log: Sequence[Event]) -> None:
    text = page(build(log))
    assert "tw.drawers.household" in text
    assert len(text) < 400_000
    frames = [event.state for event in log if isinstance(event, DrawingState)]
    assert frames[-1]["missing"] == [0] * len(frames[-1]["missing"])


def number(counts: dict[str, int], colour: str) -> int:
    return counts.get(",".join(str(int(colour[k : k + 2], 16)) for k in (1, 3, 5)), 0)


@pytest.mark.heavy
def test_the_home_is_drawn(log: Sequence[Event], tmp_path: Path) -> None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or missing("there is no Chromium")
    replay = build(log)
    file = tmp_path / "replay.html"
    file.write_text(page(replay), "utf-8")
    last = len(replay.frames) - 1
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        shown = browser.new_page(viewport={"width": 1300, "height": 900})
        said: list[str] = []
        shown.on("console", lambda message: said.append(message.text))
        shown.on("pageerror", lambda error: said.append(str(error)))
        shown.goto(file.as_uri())
        counts: list[dict[str, int]] = []
        for step in (0, last):
            shown.wait_for_function("() => window.teamworld.player !== undefined")
            shown.evaluate(f"window.teamworld.player.go({step})")
            shown.wait_for_timeout(200)
            counts.append(shown.evaluate(COUNT))
        words: Any = [shown.evaluate(WORDS, step) for step in (0, last)]
        spots: Any = shown.evaluate("window.teamworld.player.stage.drawn.agents.length")
        browser.close()
    assert said == []
    assert words[0] == (
        "Floor plan with 4 rooms at step 0: 0 of 1 juice, 0 of 1 pudding, 0 of 3 apple delivered, 0 containers open."
    )
    assert "1 of 1 juice, 1 of 1 pudding, 3 of 3 apple delivered" in words[1]
    assert spots == len(replay.team)
    for colour in (*draw.ROOMS.values(), draw.FURNITURE, draw.TARGET):
        assert number(counts[0], colour) > 200, colour
    closed, opened = ([number(one, colour) for one in counts] for colour in (draw.CLOSED, draw.OPEN))
    assert closed[0] > closed[1], "containers were opened"
    assert min(opened) > 0
