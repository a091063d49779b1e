"""The replay of an episode as one file."""

from __future__ import annotations

from pathlib import Path

from teamworld.errors import UserError
from teamworld.experiment.folder import RunFolder
from teamworld.metrics.failures import tags
from teamworld.record import read_log
from teamworld.viewer.build import build
from teamworld.viewer.page import page
from teamworld.viewer.selection import select_episode
from teamworld.worlds.registry import finder


def export_replay(folder: Path, target: Path, method: str | None, seed: int | None, episode: int | None) -> None:
    """Write an episode as one HTML file, whole or not at all, and say which it is.

    Raises:
        UserError: There is no such episode, its log cannot be used, or the file cannot be written there.
    """
    if target.suffix.lower() not in (".html", ".htm"):
        raise UserError(f"--export takes the name of a web page, such as replay.html; got {target}")
    if not target.parent.is_dir():
        raise UserError(f"{target.parent} is no folder: make it, or choose another place for {target.name}")
    if target.is_dir():
        raise UserError(f"{target} is a folder: expected the name of a file, such as {target / 'replay.html'}")
    chosen, world = select_episode(folder, method, seed, episode), RunFolder(folder).experiment().world
    log = list(read_log(chosen.log))
    text = page(build(log, tags(log, finder(world))))
    draft = target.with_name(f".{target.name}.new")
    try:
        draft.write_text(text, "utf-8", newline="\n")
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    size = f"{target.stat().st_size / 1000:.0f} kB"
    print(f"written: {target} ({chosen.cell.method}, seed {chosen.cell.seed}, episode {chosen.episode}; {size})")
