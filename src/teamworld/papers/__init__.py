"""Reproductions of published results: a paper's figures and tables from own runs, beside the published values.

A paper is a folder here: ``published.yaml`` (its numbers and their sources), ``claims.yaml`` (what a reproduction
should show), ``page.md.j2`` (its page) and a plan, which runs, judges and draws. This module is light to import.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from teamworld.errors import UserError
from teamworld.experiment.run_options import LOCAL, RunOptions, parse_shard

if TYPE_CHECKING:
    from teamworld.papers.reproduction import Reproduction
    from teamworld.reasoning.human import Terminal

PaperName: TypeAlias = Literal["drwell", "cube", "wildfire", "cwah", "tdwmat"]
#: Called after every episode and measurement with what it was.
Progress: TypeAlias = Callable[[str], None]
#: The first seed of every reproduction: the published default of DR. WELL, and the seed of CUBE's published layouts.
FIRST_SEED = 42
_MAX_SEEDS = 1000


@dataclass(frozen=True, kw_only=True)
class PaperOptions:
    """Options of a reproduction; None stands for the paper's default.

    Args:
        seeds: Number of seeds, counting up from 42. [default: drwell 10, cube 3, wildfire 10, cwah 5,
            tdwmat 1]
        reasoner: drwell, cwah and tdwmat: the reasoner, see: teamworld run --help. [default: rules]
        latency: drwell only: assumed seconds of a call. [default: 0.7, published for gpt-4o]
        step_time: drwell only: assumed seconds of a step. [default: 0.047, the published heuristic's]
        level: wildfire only: some of the 17 presets (see: teamworld levels wildfire), in the published edition; for
            another one NAME@2025 or NAME@2026. [default: all]
        method: wildfire: methods to run beside the paper's: drwell, zero_shot; cwah and tdwmat: the rows of the table,
            by method. [default: wildfire neither, cwah and tdwmat all]
        references: wildfire only: the levels on which only the reference teams play: doing nothing, scripted, random.
            [default: none]
        talk: wildfire only: native or equal, see: teamworld run --help. [default: native]
        data: cwah: folder, or pickle, of the official test set; tdwmat: folder of the published sets. They are not part
            of this package.
        episodes: cwah only: official, or episodes of our own generator: dev:NUMBER (to tune on), test:NUMBER (to
            report), or a range such as dev:100-149. [default: official]
        cap: cwah only: most messages of an agent in an episode, in all teams. [default: no bound]
        shard: Run one part of the episodes and make no page, as I/N: 3/16 is the third of 16. Each has a folder of
            its own; teamworld merge joins them, and the same command without it makes the page. Not for cube, which
            measures times.
        engine: What plays the episodes: local, ray or ray:ADDRESS, see: teamworld run --help. Not for cube.
        quick: Run a small version in a short time: fewer seeds, episodes, sizes and levels.
    """

    seeds: int | None = None
    reasoner: str | None = None
    latency: float | None = None
    step_time: float | None = None
    level: list[str] | None = None
    method: list[str] | None = None
    references: list[str] | None = None
    talk: str | None = None
    data: Path | None = None
    episodes: str | None = None
    cap: int | None = None
    shard: str | None = None
    engine: str | None = None
    quick: bool = False


#: The papers that an option belongs to, where it is not for all.
_OWNERS: dict[str, tuple[PaperName, ...]] = {
    "reasoner": ("drwell", "cwah", "tdwmat"),
    "latency": ("drwell",),
    "step_time": ("drwell",),
    "level": ("wildfire",),
    "method": ("wildfire", "cwah", "tdwmat"),
    "references": ("wildfire",),
    "talk": ("wildfire",),
    "data": ("cwah", "tdwmat"),
    "episodes": ("cwah",),
    "cap": ("cwah",),
}


class Job(NamedTuple):
    """A reproduction that is ready to run."""

    run: Callable[[Progress], Reproduction | None]
    """Gives nothing for a shard. Raises a UserError if an extra is missing, or if the folder holds something else."""
    size: int
    """Episodes and measurements: how often its progress is reported."""
    folder: Path
    """Of the page."""


def prepare(paper: PaperName, options: PaperOptions, out: Path | None, terminal: Terminal | None = None) -> Job:
    """Check the options of a reproduction and return it, ready to run.

    Args:
        paper: The paper.
        options: What to run.
        out: Folder of the page; None: a folder under ``runs`` named after the paper.
        terminal: Where a person answers who is part of a team.

    Raises:
        UserError: An option does not fit the paper or its range.
    """
    if options.seeds is not None and not 1 <= options.seeds <= _MAX_SEEDS:
        raise UserError(f"--seeds is a number from 1 to {_MAX_SEEDS}, got {options.seeds}")
    words = ["teamworld reproduce", paper]
    for field in fields(options):
        name, value = f"--{field.name.replace('_', '-')}", getattr(options, field.name)
        if value is None or value is False or field.name == "engine":  # which changes nothing of what comes out
            continue
        owners = _OWNERS.get(field.name, (paper,))
        if paper not in owners:
            commands = " and ".join(f"'reproduce {owner}'" for owner in owners)
            raise UserError(f"{name} belongs to {commands}: leave it out for {paper}")
        if isinstance(value, list):
            value = ",".join(value)
        # A page names no place of this machine.
        words += [name] if value is True else [name, "PATH" if isinstance(value, Path) else str(value)]
    split = "" if options.episodes in (None, "official") else f"-{str(options.episodes).partition(':')[0]}"
    shard = None if options.shard is None else parse_shard(options.shard)
    running = RunOptions(engine=options.engine or LOCAL, shard=options.shard)
    part = f"-{shard.number}of{shard.total}" if shard else ""
    folder = Path("runs") / f"reproduce-{paper}{split}{'-quick' * options.quick}{part}" if out is None else out
    from teamworld.papers.reproduction import PaperPlan, reproduce, run_shard

    plan: PaperPlan = import_module(f"teamworld.papers.{paper}").plan(options, terminal)
    if shard is not None:
        return Job(partial(run_shard, plan, folder, running), -(-plan.size // shard.total), folder)
    return Job(partial(reproduce, plan, folder, " ".join(words), running=running), plan.size, folder)
