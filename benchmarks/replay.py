"""How a replay opens and scrubs in a headless Chromium: size, seconds until it is there, frames per second, memory.

    python benchmarks/replay.py [PAGE ...]
    python benchmarks/replay.py --large

Without pages it plays three episodes of 150 steps on rules and exports them. With --large it takes 50 steps of 256
agents in CUBE, lays them end to end until there are 2,000, and lets 8 agents say something in each. One frame is
everything that the page does for a step: the picture, the lanes, the lists that are open, and the layout; one step per
frame of the screen.
Needs Playwright and a Chromium on the path (``scripts/browser.sh``).
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
from playwright.sync_api import Browser, Page, sync_playwright

from teamworld.cli.reports import view
from teamworld.experiment.runner import run
from teamworld.experiment.spec import build
from teamworld.metrics.failures import tags
from teamworld.record import read_log
from teamworld.viewer import build as build_replay
from teamworld.viewer import page
from teamworld.viewer.replay_types import (
    ActionSpan,
    CommitmentSpan,
    FailureRow,
    JointAct,
    PlanRow,
    Replay,
    SentMessage,
    StepRecord,
)
from teamworld.worlds.registry import finder

Row = TypeVar("Row", ActionSpan, CommitmentSpan, FailureRow, JointAct, PlanRow, StepRecord)

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
EPISODES = [("zero_shot", "paper-n2"), ("drwell", "paper-n32"), ("greedy", "n128")]
LARGE = ("greedy", "n256", 50, 40)  # method, level, steps, and how often these follow one another
TALKERS = 8
REST = 20  # seconds in which a browser that has nothing to do lets garbage go by itself
TALK = "I go on as we agreed; who stands where I am bound for goes first."
FIRST = """() => new Promise((done) => {
  const isThere = () => globalThis.teamworld?.player?.shown >= 0 && teamworld.player.ask;
  const look = () => isThere() ? done(performance.now()) : requestAnimationFrame(look);
  look();
})"""
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


def lengthened(replay: Replay, times: int) -> Replay:
    """Return an episode that goes the same way several times."""
    steps, agents = len(replay.frames) - 1, len(replay.team)

    def shifted(rows: list[Row]) -> list[Row]:
        return [_later(row, steps * part) for part in range(times) for row in rows]

    team = [
        msgspec.structs.replace(
            actor, spans=shifted(actor.spans), paces=shifted(actor.paces), holds=shifted(actor.holds)
        )
        for actor in replay.team
    ]
    messages = [
        SentMessage(
            id=step * TALKERS + n, step=step, agent=replay.team[(7 * step + n) % agents].name, act="inform", text=TALK
        )
        for step in range(steps * times)
        for n in range(TALKERS)
    ]
    plans = [
        plan for actor in replay.team for plan in shifted([row for row in replay.plans if row.agent == actor.name])
    ]
    return msgspec.structs.replace(
        replay,
        team=team,
        plans=plans,
        messages=messages,
        joints=shifted(replay.joints),
        failures=shifted(replay.failures),
        frames=[*replay.frames[:1], *(replay.frames[1:] * times)],
    )


def _later(row: Row, steps: int) -> Row:
    moved = {name: getattr(row, name) + steps for name in ("start", "end", "step") if hasattr(row, name)}
    return msgspec.structs.replace(row, **moved)


def large(folder: Path) -> Path:
    """Write the page of a large team's long episode; return its file."""
    method, level, steps, times = LARGE
    run(build({"world": "cube", "level": level, "methods": [method], "max_steps": steps}), folder / "run")
    [file] = (folder / "run" / "logs").glob("*/*.jsonl.zst")
    log = list(read_log(file))
    replay = lengthened(build_replay(log, tags(log, finder("cube"))), times)
    target = folder / f"{level}-{steps * times}.html"
    target.write_text(page(replay), "utf-8")
    return target


class Memory(NamedTuple):
    """Memory of the browser in MB, summed over its processes.

    PSS is the figure that counts: what processes share is counted once, in equal parts. A sum of RSS counts the program
    itself once for each of about ten processes.
    """

    pss: float
    rss: float
    #: Processes of other browsers. They take a part of what is shared, so that PSS is up to 150 MB too low beside them.
    strangers: int

    def __str__(self) -> str:
        return f"{self.pss:.0f} MB (RSS {self.rss:.0f}{', beside other browsers' if self.strangers else ''})"


def memory() -> Memory:
    """Return what the browser of this process takes."""
    parents = {int(path.parent.name): _field(path, "PPid") for path in Path("/proc").glob("[0-9]*/status")}
    tree = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    names = {pid: _text(Path(f"/proc/{pid}/comm")) for pid in parents}
    browsers = {pid for pid, name in names.items() if "chrom" in name and "crashpad" not in name}
    pss, rss = (
        sum(_field(Path(f"/proc/{pid}/{file}"), name) for pid in browsers & tree) / 1024
        for file, name in (("smaps_rollup", "Pss"), ("status", "VmRSS"))
    )
    return Memory(pss, rss, len(browsers - tree))


def collect(page: Page) -> None:
    """Let the page's garbage go; the browser does so by itself when it needs the room."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.detach()


def _field(file: Path, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+)", _text(file), re.MULTILINE)
    return int(found[1]) if found else 0


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:  # the process has ended
        return ""


def measure(browser: Browser, path: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    empty = memory()
    page.goto(path.as_uri(), wait_until="commit")
    opened = page.evaluate(FIRST)
    print(f"{path.stem:24} {path.stat().st_size / 1000:7.0f} kB  opens in {opened / 1000:.2f} s  empty browser {empty}")
    for tabs in TABS:
        for tab in tabs:
            page.click(f"#tab-{tab}")
        page.evaluate(SCRUB)  # once for the compiler of the browser
        found = page.evaluate(SCRUB)
        used = memory()
        collect(page)
        kept = memory()
        waits, draws = sorted(found["waits"]), sorted(found["draws"])
        print(
            f"{'':24} {len(draws):5} frames  {'+'.join(tabs):15} {1000 / statistics.mean(waits):5.1f} frames/s"
            f"  redraw {statistics.median(draws):5.2f} ms, 95 %: {draws[int(0.95 * len(draws))]:5.2f} ms"
            f"  browser {used}, without garbage {kept}"
        )
    page.evaluate(SCRUB)
    time.sleep(REST)
    print(f"{'':24} {REST} s after the last frame, with no collection asked for: browser {memory()}")
    page.close()


def main() -> None:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("expected a Chromium on the path, there is none: run scripts/browser.sh")
    with tempfile.TemporaryDirectory() as scratch:
        pages = [Path(name).resolve() for name in sys.argv[1:]]
        if pages == [Path("--large").resolve()]:
            pages = [large(Path(scratch))]
        for method, level in EPISODES if not pages else []:
            out, target = Path(scratch) / f"{method}-{level}", Path(scratch) / f"{method}-{level}.html"
            run(build({"world": "cube", "level": level, "methods": [method], "max_steps": 150}), out)
            view(out, export=target)
            pages.append(target)
        print(f"load before: {os.getloadavg()[0]:.2f}")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
            for file in pages:
                measure(browser, file)
            browser.close()


if __name__ == "__main__":
    main()
