"""Write the pages of the documentation that are made from the code: the gallery of levels and the commands.

python scripts/docs_pages.py    # docs/reference/levels.md with its pictures, docs/reference/commands.md
python scripts/docs_pages.py runs/reproduce-wildfire    # docs/results/wildfire.md and its figures; so of cwah and tdwmat
"""

from __future__ import annotations

import importlib
import io
import shutil
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Final

import matplotlib.image
import numpy as np

from teamworld import cli
from teamworld.worlds import registry
from teamworld.worlds.base import picture as grid_picture
from teamworld.worlds.cube import draw as cube_draw
from teamworld.worlds.cube.draw import Snapshot

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = ROOT / "docs" / "reference"
RESULT_PAGES: Final = ROOT / "docs" / "results"
IMAGES: Final = ROOT / "docs" / "images"
#: By paper: the page of its results, its world, and its part of the page on reproductions.
RESULTS: Final = {
    "wildfire": ("wildfire", "wildfire", "wildfire"),
    "cwah": ("household", "household", "c-wah"),
    "tdwmat": ("transport", "transport", "tdw-mat"),
}
#: Levels whose picture would show single pixels: they are listed without one.
LARGE: Final = ("n32", "n64", "n128", "n256", "paper-n32", "darpa", "stress", "scale")
#: Levels that are read from data which the package does not hold.
FROM_DATA: Final = ("official", "train")
#: Longest side of a picture, in pixels.
SIDE: Final = 480
COMMANDS: Final = tuple(command for commands in cli.COMMANDS.values() for command in commands)


def picture(world: str, level: str, path: Path) -> None:
    """Draw the first moment of a level at seed 0."""
    instance = registry.make(world, level, 0, None, {})
    instance.reset(0)
    static, snapshot = instance.spec.static, instance.snapshot()
    if static.get("drawer") == "grid":
        pixels = grid_picture.frame(static, snapshot)
    elif world == "cube":
        placed = [
            (number, static["weights"][number], *place)
            for number, place in enumerate(snapshot["blocks"])
            if place is not None
        ]
        pixels = cube_draw.frame(Snapshot(static["grid_size"], 0, tuple(map(tuple, snapshot["agents"])), tuple(placed)))
    else:
        pixels = importlib.import_module(f"teamworld.worlds.{world}.draw").frame(static, snapshot)
    block = max(1, -(-max(pixels.shape[:2]) // (2 * SIDE)))  # pixels that become one: their mean
    rows, columns = pixels.shape[0] // block, pixels.shape[1] // block
    blocks = pixels[: rows * block, : columns * block].reshape(rows, block, columns, block, 3)
    matplotlib.image.imsave(path, blocks.mean(axis=(1, 3)).astype(np.uint8))


def gallery() -> Iterator[str]:
    """Yield the lines of the gallery of levels, and write its pictures."""
    yield from ("# Levels", "", "Every level of every world, as it stands at the start of an episode with seed 0.", "")
    yield from ("```console", "teamworld levels cube      # the same list at the terminal", "```", "")
    folder = PAGES / "levels"
    folder.mkdir(exist_ok=True)
    for world in registry.WORLDS:
        yield from (f"## {world}", "", registry.summary(world)[0].upper() + registry.summary(world)[1:] + ".", "")
        for level, line in registry.levels(world).items():
            steps = registry.step_limit(world, level, {})
            yield from (f"### `{level}`", "", f"{line[0].upper()}{line[1:]}. At most {steps:,} steps.", "")
            if not level.startswith((*LARGE, *FROM_DATA)):
                picture(world, level, folder / f"{world}-{level}.png")
                yield from (f'![{world}, {level}](levels/{world}-{level}.png){{ width="{SIDE}" loading=lazy }}', "")


def commands() -> Iterator[str]:
    """Yield the lines of the page of commands: what ``--help`` prints of each."""
    yield from ("# Commands", "", "What `teamworld COMMAND --help` prints.", "")
    for command in ("", *COMMANDS):
        printed = io.StringIO()
        with redirect_stdout(printed):
            cli.run([*command.split(), "--help"])
        yield from (f"## {f'teamworld {command}'.strip()}", "", "```text")
        yield from (printed.getvalue().rstrip().splitlines())
        yield from ("```", "")


def result(reproduction: Path) -> None:
    """Write the page of a reproduction into the documentation: its figures by their names there, and links."""
    text = (reproduction / "report.md").read_text("utf-8")
    paper = text.partition("teamworld reproduce ")[2].partition("`")[0]
    name, world, anchor = RESULTS[paper]
    for figure in sorted((reproduction / "figures").glob("*.png")):
        copy = f"reproduce_{paper}_{figure.name}"
        shutil.copyfile(figure, IMAGES / copy)
        text = text.replace(f"(figures/{figure.name})", f"(../images/{copy})")
    links = f"[The world](../reference/worlds/{world}.md), [how to reproduce this](../how-to/reproduce.md#{anchor})."
    first, code, rest = text.partition("\n```console\n")
    (RESULT_PAGES / f"{name}.md").write_text(f"{first}\n{links}\n{code}{rest}", "utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        result(Path(argument))
    if sys.argv[1:]:
        sys.exit()
    (PAGES / "levels.md").write_text("\n".join(gallery()), encoding="utf-8")
    (PAGES / "commands.md").write_text("\n".join(commands()), encoding="utf-8")
