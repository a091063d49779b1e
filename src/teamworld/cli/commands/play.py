"""Commands that play episodes: one run or many, once more, compared, a paper's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from teamworld.cli.commands.application import DEFAULTS, UNSAID, Int, Names, PlayingOptions, RunningOptions, app
from teamworld.errors import UserError
from teamworld.papers import PaperName, PaperOptions

#: Not in the docstring: there, these names stand for parts of its own.
_COMPARED = (
    "Two methods or more, or one to see beside the references; variants as drwell:no_memory. Or an experiment file "
    "ending in .yaml, which may name a grid of runs."
)
_BESIDE = (
    "Whether random, greedy (the world's scripted team) and silent (the methods when nobody hears a message) stand "
    "beside."
)


@app.command
def run(
    world: str,
    *,
    method: Names = None,
    playing: PlayingOptions = UNSAID,
    out: Path | None = None,
    figures: Annotated[bool, Parameter(negative=())] = False,
    estimate: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    running: RunningOptions = DEFAULTS,
) -> int:
    """Run episodes, or go on with a run that was stopped.

    Everything is recorded under --out. The same command on the same folder continues where it
    stopped; other arguments on the same folder are refused.

    Parameters
    ----------
    world:
        Name of a world (see: teamworld worlds), or an experiment file ending in .yaml, which may name a grid of runs.
    method:
        Coordination method, or a variant of one such as drwell:no_memory (see: teamworld methods);
        several by repeating it or with commas; joined by + they share a team. [default: drwell]
    out:
        Folder of the run. [default: a name made from the arguments, under runs/]
    figures:
        Also draw the learning curve and the world model into the folder (needs the extra: plots).
    estimate:
        Run nothing; print what calls of language models would take, from a dry run with the rules.
    json:
        Print one JSON object with every episode, and nothing else.
    """
    from teamworld.cli import gridding
    from teamworld.cli.running import execute, expect
    from teamworld.experiment.config import build, load
    from teamworld.experiment.grid import is_grid

    given = playing.fields() | ({"methods": _split(method)} if method else {})
    if world.endswith((".yaml", ".yml")):
        if given:
            raise UserError(f"an experiment file says it all: leave out --{'/--'.join(given)} or write it into {world}")
        given = load(Path(world))
        if is_grid(given):
            if figures:
                raise UserError("--figures is for single runs: leave it out of a grid; teamworld compare draws several")
            gridding.execute(given, out, running, estimate=estimate, as_json=json)
            return 0
    else:
        given["world"] = world
    if estimate:
        expect(build(given), running, as_json=json)
    else:
        execute(build(given), out, running, figures=figures, as_json=json)
    return 0


@app.command
def resume(
    folder: Path,
    *,
    json: Annotated[bool, Parameter(negative=())] = False,
    running: RunningOptions = DEFAULTS,
) -> int:
    """Go on with a run that was stopped.

    Parameters
    ----------
    folder:
        Folder of the run.
    json:
        Print one JSON object with every episode, and nothing else.
    """
    from teamworld.cli.running import execute
    from teamworld.experiment.folder import RunFolder

    execute(RunFolder(folder).experiment(), folder, running, as_json=json)
    return 0


@app.command
def status(folder: Path, *, json: Annotated[bool, Parameter(negative=())] = False) -> int:
    """Show how far a run, or each run of a grid, is; also while it goes on.

    Parameters
    ----------
    folder:
        Folder of the run or the grid.
    json:
        Print one JSON object, and nothing else.
    """
    from teamworld.cli import gridding

    gridding.status(folder, as_json=json)
    return 0


@app.command
def replay(folder: Path) -> int:
    """Run every finished episode again and compare its log byte for byte.

    Exits with 0 if all are equal, with 1 at the first difference.

    Parameters
    ----------
    folder:
        Folder of the run.
    """
    from teamworld.cli.running import replay_run

    return replay_run(folder)


@app.command
def compare(
    *methods: Annotated[str, Parameter(help=_COMPARED)],
    world: str | None = None,
    playing: PlayingOptions = UNSAID,
    vary: Names = None,
    metrics: str | None = None,
    references: Annotated[bool, Parameter(help=_BESIDE)] = True,
    out: Path | None = None,
    figures: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    running: RunningOptions = DEFAULTS,
) -> int:
    """Compare methods on the same instances and seeds, beside random, scripted and silent teams.

    What is missing is run, what is there is used again. Prints values with intervals, paired differences as
    sentences, and writes tables (Markdown, LaTeX, CSV, Parquet) and figures into --out.

    Parameters
    ----------
    world:
        Name of a world (see: teamworld worlds). [default: cube]
    vary:
        What varies from setting to setting, as FIELD=VALUE,VALUE,...: level=n1,n2,n4 or cube.agents=1,2,4 for team
        sizes, reasoner=rules,rules:noise=0.2, instances=1,2,3, an option as OWNER.OPTION=...; may be repeated.
    metrics:
        Ids with commas (see: teamworld metrics), or all. [default: those of a results table]
    out:
        Folder of the comparison. [default: a name made from the arguments, under runs/]
    figures:
        Also draw values, frontiers, profiles, learning curves and curves over what varies (needs the extra: plots).
    json:
        Print one JSON object, and nothing else.
    """
    from teamworld.cli import comparing
    from teamworld.experiment.config import load
    from teamworld.experiment.grid import axes

    if not methods:
        raise UserError("which methods? expected at least one, such as: teamworld compare drwell zero_shot --seeds 20")
    given = playing.fields() | {"methods": _split(methods)}
    if world is not None:
        given["world"] = world
    if vary:
        given["grid"] = axes(vary)
    if len(methods) == 1 and methods[0].endswith((".yaml", ".yml")):
        if asked := given.keys() - {"methods"}:
            told = "/--".join(sorted(asked)).replace("grid", "vary")
            raise UserError(f"an experiment file says it all: leave out --{told} or write it into {methods[0]}")
        given = load(Path(methods[0]))
    elif "world" not in given.get("grid", {}):
        given.setdefault("world", "cube")
    comparing.compare(given, out, running, wanted=metrics, references=references, figures=figures, as_json=json)
    return 0


@app.command
def evidence(
    file: Path,
    *,
    out: Path | None = None,
    page: Path | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
    running: RunningOptions = DEFAULTS,
) -> int:
    """Make a page of evidence: several comparisons in one file, with tables, figures and what they support.

    The same command goes on where it stopped, and makes the same page again (needs the extra: plots).

    Parameters
    ----------
    file:
        YAML file of the page, such as experiments/evidence.yaml: what is compared, where, and why.
    out:
        Folder of the runs. [default: runs/NAME-OF-THE-FILE]
    page:
        The Markdown file to write; figures go into the folder images beside it. [default: evidence.md in --out]
    json:
        Print one JSON object with the paths, and nothing else.
    """
    from teamworld.cli import proving

    proving.prove(file, out, page, running, as_json=json)
    return 0


@dataclass(frozen=True, kw_only=True)
class _PaperOptions(PaperOptions):
    __doc__ = PaperOptions.__doc__
    seeds: Int = None
    level: Names = None
    method: Annotated[Names, Parameter(name=("--method", "--methods"))] = None
    cap: Int = None
    quick: Annotated[bool, Parameter(negative=())] = False


@app.command
def reproduce(
    paper: PaperName,
    *,
    out: Path | None = None,
    options: Annotated[_PaperOptions, Parameter(name="*")] = _PaperOptions(),
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Make a paper's figures from own runs, beside the published values, with a page that says what holds.

    The same command on the same folder goes on where it stopped and draws again (needs the extras: plots,
    for cube also rl; cwah draws where plots is there).

    Parameters
    ----------
    paper:
        drwell: completion, steps, simulated seconds, commitments, world model and a checklist of trends.
        cube: baselines, cost of a step and of a macro-action; its times are measured on this machine.
        wildfire: final scores of seven methods on the 17 presets, competency scores and a checklist.
        cwah: steps and messages of planners and methods on the ten household episodes, which --data names.
    out:
        Folder of the page, the figures and the runs. [default: runs/reproduce-PAPER]
    json:
        Print the numbers, ours and the published ones, as one JSON object, and nothing else.
    """
    from teamworld.cli import reproducing

    level, method = (_split(names) if names else None for names in (options.level, options.method))
    reproducing.reproduce(paper, out, replace(options, level=level, method=method), as_json=json)
    return 0


def _split(names: Iterable[str]) -> list[str]:
    """Return names given one by one or with commas."""
    return [part for name in names for part in name.split(",") if part]
