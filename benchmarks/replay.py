"""Size of a replay, and frames per second while scrubbing through all of it in a headless Chromium.

    python benchmarks/replay.py [PAGE ...]

Without pages it plays three episodes of 150 steps on rules and exports them. One frame is everything that the page
does for a step: the picture, the lanes, the lists that are open, and the layout; one step per frame of the screen.
Needs Playwright and a Chromium on the path (``scripts/browser.sh``).
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from teamworld.cli.reports import view
from teamworld.experiment.runner import run
from teamworld.experiment.spec import build

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
EPISODES = [("zero_shot", "paper-n2"), ("drwell", "paper-n32"), ("greedy", "n128")]
TABS = [("team", "talk"), ("goals", "joints"), ("goals", "failures"), ("knows", "asked")]
SCRUB = """async () => {
  const { player, episode } = teamworld, waits = [], draws = [];
  let last = null;
  for (let step = 0; step <= episode.steps; step++) {
    await new Promise((done) => requestAnimationFrame(() => {
      const begun = performance.now();
      player.go(step);
      player.render();
      document.body.offsetHeight;
      draws.push(performance.now() - begun);
      if (last !== null) waits.push(begun - last);
      last = begun;
      done();
    }));
  }
  return { waits, draws };
}"""


def measure(browser: Browser, path: Path) -> None:
    for tabs in TABS:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(path.as_uri())
        for tab in tabs:
            page.click(f"#tab-{tab}")
        page.evaluate(SCRUB)  # once for the compiler of the browser
        found = page.evaluate(SCRUB)
        waits, draws = sorted(found["waits"]), sorted(found["draws"])
        print(
            f"{path.stem:24} {path.stat().st_size / 1000:7.0f} kB  {len(draws):5} frames  {'+'.join(tabs):15}"
            f" {1000 / statistics.mean(waits):5.1f} frames/s"
            f"  redraw {statistics.median(draws):5.2f} ms, 95 %: {draws[int(0.95 * len(draws))]:5.2f} ms"
        )
        page.close()


def main() -> None:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("expected a Chromium on the path, there is none: run scripts/browser.sh")
    with tempfile.TemporaryDirectory() as scratch:
        pages = [Path(name).resolve() for name in sys.argv[1:]]
        for method, level in EPISODES if not pages else []:
            out, page = Path(scratch) / f"{method}-{level}", Path(scratch) / f"{method}-{level}.html"
            run(build({"world": "cube", "level": level, "methods": [method], "max_steps": 150}), out)
            view(out, export=page)
            pages.append(page)
        print(f"load before: {os.getloadavg()[0]:.2f}")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
            for page in pages:
                measure(browser, page)
            browser.close()


if __name__ == "__main__":
    main()
