"""Showing episodes: the page of a folder that is served on this machine, and pages and figures as files."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from teamworld.cli.options import split_names
from teamworld.errors import UserError, printable, suggest
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.selection import select_episode
from teamworld.viewer import replay_page
from teamworld.viewer.replay_page import EpisodeName
from teamworld.viewer.server import AGAINST, ViewServer


def serve(
    folder: Path,
    port: int,
    chosen: dict[str, Any],
    against: str | None,
    forks: RunOptions | None,
    *,
    opens: bool,
) -> int:
    """Answer for the page of a folder until ctrl-C."""
    other = pair = None
    if against is not None:
        first, second = _pair(folder, against, **chosen)
        other = None if second.folder == folder else second.folder
        names = {"run": ".", "method": first.method, "seed": first.seed, "episode": first.episode}
        names |= {"run2": "." if other is None else AGAINST, "method2": second.method}
        pair = f"pair?{urlencode(names | {'seed2': second.seed, 'episode2': second.episode})}"
    with ViewServer(folder, port, other, forks) as server:
        wanted = urlencode({name: value for name, value in chosen.items() if value is not None})
        address = f"{server.address}{pair or ('#' if wanted else '') + wanted}"
        print(printable(f"{folder}: {address}"))
        print("For this machine only; ctrl-C ends it.", flush=True)
        if opens:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


def _pair(
    folder: Path, against: str, method: str | None, seed: int | None, episode: int | None
) -> tuple[EpisodeName, EpisodeName]:
    """Return two episodes of one seed by their full names: one of a run, and another of it or of another folder."""
    first = select_episode(folder, method, seed, episode)
    names = RunFolder(folder).experiment().methods
    if against not in names and not Path(against).is_dir():
        raise UserError(
            f"--against takes a method of {folder}, which are {', '.join(names)}, or the folder of another run; "
            f"got '{against}'{suggest(against, list(names))}"
        )
    place, other = (folder, against) if against in names else (Path(against), None)
    second = select_episode(place, other, first.cell.seed, first.episode)
    return (
        EpisodeName(folder, first.cell.method, first.cell.seed, first.episode),
        EpisodeName(place, second.cell.method, second.cell.seed, second.episode),
    )


def export(
    folder: Path,
    target: Path,
    method: str | None,
    seed: int | None,
    episode: int | None,
    steps: list[str] | None,
    against: str | None,
    *,
    prompts: bool,
) -> int:
    """Write an episode as a page or as a figure."""
    ending = target.suffix.lower()
    if ending not in (".html", ".htm", ".png"):
        raise UserError(
            f"--export takes the name of a web page, such as replay.html, or of a figure, moments.png; got {target}"
        )
    if not target.parent.is_dir():
        raise UserError(f"there is no folder {target.parent}: make it, or choose another place for {target.name}")
    if target.is_dir():
        raise UserError(f"{target} is a folder: expected the name of a file, such as {target / 'replay.html'}")
    beside = None
    if ending == ".png" and not (prompts and against is None):
        raise UserError("--no-prompts and --against are for a page, such as --export replay.html")
    if ending == ".png":
        chosen = replay_page.draw_moments(folder, target, _read_steps(steps), method, seed, episode)
    elif steps is not None:
        raise UserError("--steps is for a figure, such as --export moments.png: a page has all steps")
    elif against is not None:
        pair = replay_page.view_pair(*_pair(folder, against, method, seed, episode), prompts=prompts)
        pair.save(target)
        chosen, beside = pair.episodes
    else:
        made = replay_page.view(folder, method, seed, episode, prompts=prompts)
        made.save(target)
        chosen = made.episode
    shown = f"{chosen.cell.method}, seed {chosen.cell.seed}, episode {chosen.episode}"
    if beside is not None:
        shown += f", beside {beside.cell.method}{'' if against == beside.cell.method else f' of {against}'}"
    print(printable(f"written: {target} ({shown}; {target.stat().st_size / 1000:.0f} kB)"))
    return 0


def _read_steps(steps: list[str] | None) -> list[int] | None:
    """Return numbers of steps that were given one by one or with commas."""
    names = None if steps is None else split_names(steps)
    if names is not None and not all(re.fullmatch("[0-9]{1,9}", name, re.ASCII) for name in names):
        raise UserError(f"--steps takes numbers of steps, such as 0,10,20; got {', '.join(names)}")
    return None if names is None else [int(name) for name in names]
