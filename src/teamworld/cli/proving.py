"""Pages of evidence from the command line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from teamworld.cli.running import expect_all, watched
from teamworld.errors import UserError
from teamworld.experiment.config import load
from teamworld.experiment.grid import claim
from teamworld.experiment.run_options import RunOptions
from teamworld.report import evidence
from teamworld.report.figure_style import need

_IMAGES = "images"


def prove(file: Path, out: Path | None, page: Path | None, running: RunOptions, *, as_json: bool) -> None:
    """Run what is missing of a page, and write it.

    Raises:
        UserError: The file, one of its runs or a place to write to cannot be used.
    """
    data = load(file)
    asked = evidence.parsed(data)
    need(matplotlib="plots")
    folder = out if out is not None else Path("runs") / file.stem
    target = page if page is not None else folder / "evidence.md"
    if target.is_dir() or target.suffix != ".md":
        raise UserError(f"--page is a Markdown file such as docs/results/evidence.md, got {target}")
    claim(folder, data, "evidence", same=False)
    given = [
        part for name, path in (("--out", out), ("--page", page)) if path is not None for part in (name, str(path))
    ]
    command = shlex.join(["teamworld", "evidence", str(file), *given])
    first = asked.settings(asked.sections[0], folder)[0].experiment
    told = expect_all(evidence.planned(asked, folder), running)
    with watched(evidence.episodes(asked), first, running, told=told) as (step, watch):
        made = evidence.make(
            asked,
            folder,
            target.parent / _IMAGES,
            f"{_IMAGES}/",
            command,
            progress=step,
            running=running,
            watch=watch,
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(made.text, "utf-8")
    if as_json:
        print(json.dumps({"page": str(target), "figures": [str(path) for path in made.figures], "runs": str(folder)}))
        return
    print(f"{target} with {len(made.figures)} figures; its runs are in {folder}")
