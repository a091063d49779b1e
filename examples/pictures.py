"""Make the pictures of the README: an episode in CUBE, the learning curve, and the world model.

python examples/pictures.py --out docs/images
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import teamworld
from teamworld.experiment.config import Cell
from teamworld.experiment.folder import Folder
from teamworld.record import EpisodeStart, Frame, read_log
from teamworld.report.figures import draw_all
from teamworld.worlds.cube.draw import Snapshot, frame


def episode(log: Path, steps: tuple[int, ...], path: Path) -> None:
    """Draw some moments of an episode from its log: the rows in which something happens."""
    events = list(read_log(log))
    start = next(event for event in events if isinstance(event, EpisodeStart))
    side, weights = start.static["grid_size"], start.static["weights"]
    frames = [event for event in events if isinstance(event, Frame)]
    figure, axes = plt.subplots(2, len(steps) // 2, figsize=(12, 3.6), layout="constrained")
    for panel, step in zip(axes.flat, steps, strict=True):
        state = frames[step].state
        blocks = [(b, weights[b], *place) for b, place in enumerate(state["blocks"]) if place is not None]
        scene = Snapshot(side, step, tuple(map(tuple, state["agents"])), tuple(blocks))
        panel.imshow(frame(scene, 60)[: 5 * 60])
        panel.set_title(f"step {step}", fontsize=11, loc="left")
        panel.axis("off")
    figure.savefig(path, dpi=100, metadata={"Software": None})


def main() -> None:
    """Run the paper's experiment over twenty seeds and draw what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Folder(Path(scratch) / "run")
        rows = teamworld.run(
            "cube", method=["zero_shot", "drwell"], episodes=10, seed=range(given.seeds), out=folder.path
        )
        for drawn in draw_all(folder, folder.experiment(), rows):
            shutil.copy(drawn, given.out / drawn.name.replace("_drwell-s0", ""))
        last = folder.log(Cell("drwell", 0), 10)
        steps = next(row.summary.steps for row in rows if (row.method, row.seed, row.episode) == ("drwell", 0, 10))
        episode(last, (0, 12, steps // 2, steps - 4), given.out / "episode.png")


if __name__ == "__main__":
    main()
