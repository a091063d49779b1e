"""Make pictures of the reference: episodes in CUBE and wildfire, and the world model of DR. WELL.

python examples/pictures.py --out docs/images
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import teamworld
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.record import DrawingState, EpisodeStart, read_log
from teamworld.report.episode_columns import EpisodeColumns
from teamworld.report.run_figures import draw_all
from teamworld.worlds.cube.draw import Snapshot, frame
from teamworld.worlds.wildfire import draw


def episode(log: Path, steps: tuple[int, ...], path: Path) -> None:
    """Draw some moments of an episode from its log: the rows in which something happens."""
    events = list(read_log(log))
    start = next(event for event in events if isinstance(event, EpisodeStart))
    side, weights = start.static["grid_size"], start.static["weights"]
    frames = [event for event in events if isinstance(event, DrawingState)]
    figure, axes = plt.subplots(2, len(steps) // 2, figsize=(12, 3.6), layout="constrained")
    for panel, step in zip(axes.flat, steps, strict=True):
        state = frames[step].state
        blocks = [(b, weights[b], *place) for b, place in enumerate(state["blocks"]) if place is not None]
        scene = Snapshot(side, step, tuple(map(tuple, state["agents"])), tuple(blocks))
        panel.imshow(frame(scene, 60)[: 5 * 60])
        panel.set_title(f"step {step}", fontsize=11, loc="left")
        panel.axis("off")
    figure.savefig(path, dpi=100, metadata={"Software": None})


def fire(scratch: Path, path: Path) -> None:
    """Draw what is left of a forest when nobody does anything, and when a team on rules does, at the same moments."""
    names = {"do_nothing": "nobody does anything", "coela": "COELA on rules: a firebreak in time"}
    level, seed, steps = "suppress_fire_contain", 47, (5, 10, 25, 99)
    folder = RunFolder(scratch / "fire")
    teamworld.run("wildfire", level=level, method=list(names), seed=seed, out=folder.path)
    figure, axes = plt.subplots(len(names), len(steps), figsize=(12, 6.4), layout="constrained")
    for (method, told), row in zip(names.items(), axes, strict=True):
        events = list(read_log(folder.log(RunCell(method, seed), 1)))
        start = next(event for event in events if isinstance(event, EpisodeStart))
        frames = [event for event in events if isinstance(event, DrawingState)]
        for panel, step in zip(row, steps, strict=True):
            last = min(step, len(frames) - 1)
            panel.imshow(draw.frame(start.static, frames[last].state, 240, key=False))
            panel.set_title(f"step {last}" + (", all out" if last < step else ""), fontsize=11, loc="left")
            panel.set(xticks=[], yticks=[])
        row[0].set_ylabel(told, fontsize=11)
    figure.savefig(path, dpi=80, metadata={"Software": None})


def main() -> None:
    """Run a level of each world and draw what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        fire(Path(scratch), given.out / "wildfire.png")
        folder = RunFolder(Path(scratch) / "run")
        rows = teamworld.run("cube", method="drwell", episodes=10, out=folder.path)
        _, world_model = draw_all(folder, folder.experiment(), EpisodeColumns(rows))
        shutil.copy(world_model, given.out / "world_model.png")
        steps = rows[-1].summary.steps
        episode(folder.log(RunCell("drwell", 0), 10), (0, 12, steps // 2, steps - 4), given.out / "episode.png")


if __name__ == "__main__":
    main()
