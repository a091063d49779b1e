"""Commands that carry out runs: run, resume, status, replay, merge.

What they do stands in ``executions``, which is imported when they are used: help is shown without it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from teamworld.cli.options import DEFAULT_RUN, DEFAULT_SPEC, Flag, Names, RunArguments, SpecArguments, split_names
from teamworld.errors import UserError


def run(
    world: str,
    *,
    method: Names = None,
    spec: SpecArguments = DEFAULT_SPEC,
    out: Path | None = None,
    figures: Flag = False,
    estimate: Flag = False,
    json: Flag = False,
    options: RunArguments = DEFAULT_RUN,
) -> int:
    """Run episodes, or continue a run that was stopped.

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
    from teamworld.cli import executions
    from teamworld.experiment import grid
    from teamworld.experiment.spec import build, load

    fields = spec.fields() | ({"methods": split_names(method)} if method else {})
    if world.endswith((".yaml", ".yml")):
        if fields:
            raise UserError(
                f"an experiment file says it all: leave out --{'/--'.join(fields)} or write it into {world}"
            )
        fields = load(Path(world))
        if grid.is_grid(fields):
            if figures:
                raise UserError("--figures is for single runs: leave it out of a grid; teamworld compare draws several")
            executions.run_grid(fields, out, options, estimate=estimate, as_json=json)
            return 0
    else:
        fields["world"] = world
    experiment = build(fields)
    if estimate:
        executions.print_estimate(experiment, options, as_json=json)
    else:
        executions.execute(experiment, out, options, figures=figures, as_json=json)
    return 0


def resume(
    folder: Path, *, reasoner: str | None = None, json: Flag = False, options: RunArguments = DEFAULT_RUN
) -> int:
    """Continue a run that was stopped.

    Parameters
    ----------
    folder:
        Folder of the run.
    reasoner:
        The run's reasoner once more, where that is a server elsewhere: prompts, and a key if you have one, go to where
        it says, and somebody else may have written it. Not needed for hosts that your keys file names.
    json:
        Print one JSON object with every episode, and nothing else.
    """
    from teamworld.cli import executions
    from teamworld.experiment.store.folder import RunFolder
    from teamworld.reasoning.llm.keys import list_hosts
    from teamworld.reasoning.llm.model_names import parse_endpoint
    from teamworld.reasoning.registry import list_models

    experiment = RunFolder(folder).experiment()
    if reasoner is not None and reasoner != experiment.reasoner:
        raise UserError(f"the reasoner of {folder} is '{experiment.reasoner}', not '{reasoner}'")
    endpoints = [parse_endpoint(name) for text in experiment.reasoners for name in list_models(text)]
    elsewhere = {end.host for end in endpoints if end.provider == "server" and not end.local} - list_hosts()
    elsewhere |= {f"the folder {end.model}" for end in endpoints if end.provider == "mailbox"}
    if elsewhere and reasoner is None:
        raise UserError(
            f"{folder} sends its prompts, and your key, to {', '.join(sorted(elsewhere))}: if that is what you want, "
            f"add --reasoner '{experiment.reasoner}'"
        )
    held = RunFolder(folder).shard()
    if held is not None and options.shard is None:
        options = replace(options, shard=str(held.shard))
    executions.execute(experiment, folder, options, figures=False, as_json=json)
    return 0


def replay(folder: Path) -> int:
    """Run every finished episode again and compare its log byte for byte.

    Exits with 0 if all are equal, with 1 at the first difference.

    Parameters
    ----------
    folder:
        Folder of the run.
    """
    from teamworld.cli import executions

    return executions.replay_run(folder)


def status(folder: Path, *, json: Flag = False) -> int:
    """Show how far a run, or each run of a grid, is; also while it goes on.

    Parameters
    ----------
    folder:
        Folder of the run or the grid.
    json:
        Print one JSON object, and nothing else.
    """
    from teamworld.cli import executions

    return executions.show_status(folder, as_json=json)


def merge(
    *shards: Path,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    accept_changes: Flag = False,
    json: Flag = False,
) -> int:
    """Join the shards of an experiment to one run, as if it had been run in one folder.

    Exits with 0 if all episodes are there, with 1 if some are missing: what came is joined, and one line says what is
    missing. The same command, or one with more shards, goes on; what is joined already is not touched.

    - Run two shards: `teamworld run cube --seeds 8 --shard 1/2 --out shards/1`, and the same with `2/2` and `shards/2`
    - Join them: `teamworld merge shards/1 shards/2 --out runs/joined`
    - Play what is missing: `teamworld run cube --seeds 8 --out runs/joined`

    Parameters
    ----------
    shards:
        Folders of the shards in any order: of run, compare, evidence or reproduce with --shard.
    out:
        Folder of the joined run.
    accept_changes:
        Join shards that were played by different code; the joined run says so.
    json:
        Print one JSON object, and nothing else.
    """
    from teamworld.cli import executions

    if out is None:
        raise UserError("where to? add --out DIR, the folder of the joined run")
    return executions.join_shards(shards, out, accept_changes=accept_changes, as_json=json)
