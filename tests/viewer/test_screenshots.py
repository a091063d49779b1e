"""Pictures of the replay of every world, in build/screenshots for a person to look at; none of them may be blank."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teamworld.viewer import build, page
from teamworld.worlds import registry
from tests.viewer import samples
from tests.viewer.conftest import opened, settle, wait

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOLDER = Path(__file__).parents[2] / "build" / "screenshots"
STEPS = 12
#: Shares of the picture by colour, the largest first.
SHARES = """
() => {
  const { width, height } = document.getElementById("stage");
  const copy = Object.assign(document.createElement("canvas"), { width, height });
  const pen = copy.getContext("2d", { willReadFrequently: true });
  pen.drawImage(document.getElementById("stage"), 0, 0);
  const pixels = new Uint32Array(pen.getImageData(0, 0, width, height).data.buffer);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  return [...counts.values()].map((count) => count / pixels.length).sort((one, other) => other - one);
}
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    paths = {world: folder / f"{world}.html" for world in registry.WORLDS}
    for world, path in paths.items():
        log = samples.played("greedy", registry.module(world).DEFAULT_LEVEL, STEPS, world)
        path.write_text(page(build(log)), "utf-8")
    return paths


@pytest.mark.heavy
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("world", registry.WORLDS)
def test_the_picture_of_a_world_is_not_blank(browser: Page, files: dict[str, Path], world: str, scheme: str) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with opened(browser, files[world], scheme="dark" if scheme == "dark" else "light", height=900) as shown:
        wait(shown, "teamworld.player.ask")
        shown.evaluate("teamworld.player.go(Math.floor(teamworld.episode.steps / 2))")
        settle(shown)
        shown.screenshot(path=FOLDER / f"{world}-{scheme}.png")
        if shown.is_visible("#nodrawer"):
            assert shown.locator("#state tr").count() > 3, "a world without a drawing shows its state"
        else:
            shares = shown.evaluate(SHARES)
            assert len(shares) >= 20, "letters and edges alone have more colours"
            assert shares[0] < 0.97
