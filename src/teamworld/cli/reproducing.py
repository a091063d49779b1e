"""Reproducing the papers' figures from the command line: progress and findings."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from teamworld.cli.terminal import Keyboard
from teamworld.errors import UserError
from teamworld.experiment.message_protocol import Talk
from teamworld.reasoning.human import HUMAN
from teamworld.reasoning.router import shares
from teamworld.report.reproduce import cube, cwah, cwah_rows, drwell, wildfire
from teamworld.report.reproduce.page import Reproduction

PaperName: TypeAlias = Literal["drwell", "cube", "wildfire", "cwah"]
Work: TypeAlias = Callable[[Callable[[str], None]], Reproduction]
_MOST_SEEDS = 1000


def reproduce(
    paper: PaperName,
    out: Path | None,
    *,
    seeds: int | None,
    reasoner: str | None,
    latency: float | None,
    step_time: float | None,
    level: Sequence[str] | None,
    method: Sequence[str] | None,
    talk: str | None,
    data: Path | None,
    episodes: str | None,
    cap: int | None,
    quick: bool,
    as_json: bool,
) -> None:
    """Reproduce a paper's figures, then print the findings or the JSON.

    Raises:
        UserError: An option does not fit the paper or its range.
    """
    if seeds is not None and not 1 <= seeds <= _MOST_SEEDS:
        raise UserError(f"--seeds is a number from 1 to {_MOST_SEEDS}, got {seeds}")
    given = {
        "--seeds": seeds,
        "--reasoner": reasoner,
        "--latency": latency,
        "--step-time": step_time,
        "--level": ",".join(level) if level else None,
        "--method": ",".join(method) if method else None,
        "--talk": talk,
        "--data": data,
        "--episodes": episodes,
        "--cap": cap,
    }
    _check_owners(paper, given)
    told = {**given, "--data": None if data is None else "PATH"}  # pages name no place of this machine
    words = [f"{name} {value}" for name, value in told.items() if value is not None]
    command = " ".join(["teamworld reproduce", paper, *words, *["--quick"] * quick])
    own = "" if episodes in (None, "official") else f"-{str(episodes).partition(':')[0]}"
    folder = out if out is not None else Path("runs") / f"reproduce-{paper}{own}{'-quick' * quick}"
    match paper:
        case "cube":
            work, count = _cube(folder, seeds, quick, command)
        case "wildfire":
            work, count = _wildfire(folder, seeds, level, method, talk, quick, command)
        case "drwell":
            work, count = _drwell(folder, seeds, reasoner, latency, step_time, quick, command)
        case "cwah":
            work, count = _cwah(folder, seeds, reasoner, method, data, episodes, cap, quick, command)
    # A bar that redraws itself would garble what a person reads and types.
    found = _shown(work, count, quiet=_person(reasoner))
    if as_json:
        print(json.dumps({**found.numbers, "page": str(found.page)}, allow_nan=False))
        return
    for line in found.lines:
        print(line)
    print(f"\nThe page with all figures and tables: {found.page}")


def _drwell(
    folder: Path,
    seeds: int | None,
    reasoner: str | None,
    latency: float | None,
    step_time: float | None,
    quick: bool,
    command: str,
) -> tuple[Work, int]:
    for name, value in (("--latency", latency), ("--step-time", step_time)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise UserError(f"{name} is a time in seconds, 0 or more; got {value}")
    plan = (drwell.QUICK if quick else drwell.Plan())._replace(latency=latency, step_time=step_time)
    plan = plan._replace(seeds=seeds or plan.seeds, reasoner=plan.reasoner if reasoner is None else reasoner)
    return lambda step: drwell.reproduce(folder, plan, command, step), plan.work


def _cube(folder: Path, seeds: int | None, quick: bool, command: str) -> tuple[Work, int]:
    plan = cube.QUICK if quick else cube.Plan()
    plan = plan._replace(seeds=seeds or plan.seeds)
    return lambda step: cube.reproduce(folder, plan, command, step), plan.work


def _wildfire(
    folder: Path,
    seeds: int | None,
    level: Sequence[str] | None,
    method: Sequence[str] | None,
    talk: str | None,
    quick: bool,
    command: str,
) -> tuple[Work, int]:
    plan = wildfire.chosen(wildfire.QUICK if quick else wildfire.Plan(), level, method)
    protocol = next((one for one in get_args(Talk) if one == talk), plan.talk)
    if talk is not None and protocol != talk:
        raise UserError(f"--talk is {' or '.join(get_args(Talk))}, got '{talk}'")
    plan = plan._replace(seeds=seeds or plan.seeds, talk=protocol)
    return lambda step: wildfire.reproduce(folder, plan, command, step), plan.work


def _cwah(
    folder: Path,
    seeds: int | None,
    reasoner: str | None,
    method: Sequence[str] | None,
    data: Path | None,
    episodes: str | None,
    cap: int | None,
    quick: bool,
    command: str,
) -> tuple[Work, int]:
    plan = cwah.QUICK if quick else cwah.Plan()
    generated = None if episodes is None else cwah.generated(episodes)
    if generated is None and data is None:
        raise UserError(
            "reproduce cwah needs --data PATH, the folder of the C-WAH test set, which this package has not; "
            "--episodes dev:50 plays episodes of our own"
        )
    if generated is not None:
        for name, given in {"--data": data, "--seeds": seeds, "--quick": quick or None}.items():
            if given is not None:
                raise UserError(f"{name} belongs to the official episodes: leave it out with --episodes {episodes}")
    if data is not None and not data.exists():
        raise UserError(f"--data {data}: there is no such folder or file")
    if cap is not None and cap < 1:
        raise UserError(f"--cap is a number of messages from 1 on, got {cap}")
    plan = plan._replace(
        data=None if data is None else data.resolve(),
        seeds=seeds or plan.seeds,
        rows=cwah_rows.chosen(method),
        generated=generated,
        reasoner=reasoner or plan.reasoner,
        cap=cap,
        terminal=Keyboard() if _person(reasoner) else None,
    )
    return lambda step: cwah.reproduce(folder, plan, command, step), plan.work


#: Options that not all papers take, with those that do.
_OWNERS: Mapping[str, tuple[PaperName, ...]] = {
    "--reasoner": ("drwell", "cwah"),
    "--latency": ("drwell",),
    "--step-time": ("drwell",),
    "--level": ("wildfire",),
    "--method": ("wildfire", "cwah"),
    "--talk": ("wildfire",),
    "--data": ("cwah",),
    "--episodes": ("cwah",),
    "--cap": ("cwah",),
}


def _check_owners(paper: PaperName, options: Mapping[str, object]) -> None:
    for name, value in options.items():
        owners = _OWNERS.get(name, (paper,))
        if value is not None and paper not in owners:
            told = " and ".join(f"'reproduce {owner}'" for owner in owners)
            raise UserError(f"{name} belongs to {told}: leave it out for {paper}")


def _person(reasoner: str | None) -> bool:
    """Return whether a person is one of the team."""
    return reasoner is not None and any(share.name == HUMAN for share in shares(reasoner))


def _shown(work: Work, count: int, *, quiet: bool = False) -> Reproduction:
    """Do the work under a progress bar on standard error."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("reproducing", total=count)
        return work(lambda text: bar.update(task, advance=1, description=text))
