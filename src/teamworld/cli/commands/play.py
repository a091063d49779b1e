"""Commands that play episodes: one run or many, once more, compared, a paper's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from teamworld.cli.commands.application import DEFAULTS, Int, Names, RunningOptions, app
from teamworld.errors import UserError


@app.command
def run(
    world: str,
    *,
    level: str | None = None,
    method: Names = None,
    reasoner: str | None = None,
    answers: str | None = None,
    retries: Int = None,
    sampling: Names = None,
    episodes: Int = None,
    seed: Int = None,
    seeds: Int = None,
    max_steps: Int = None,
    set: Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())] = None,
    instances: str | None = None,
    memory: Path | None = None,
    log_level: str | None = None,
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
    level:
        Level of the world (see: teamworld levels). [default: paper-n2]
    method:
        Coordination method, or a variant of one such as drwell:no_memory (see: teamworld methods);
        several by repeating it or with commas. [default: drwell]
    reasoner:
        The mind that answers the method's questions: rules (no key, no network); rules:slips=0.2, a stand-in
        that errs like a weak model; openai:MODEL, anthropic:MODEL, google:MODEL; any server that speaks
        OpenAI's protocol, as http://localhost:8000/v1#MODEL; gguf:FILE, a model file run by llama.cpp; human.
        Several as WHO=MIND,..., the first that fits: agent_0=rules,@drwell.propose=openai:SMALL,*=openai:LARGE.
        replay asks nobody and answers from the record in --out, replay:DIR from another run's. [default: rules]
    answers:
        How a language model is made to keep the form of an answer: schema, tool, json, text, or auto for the
        strictest that it supports. [default: auto]
    retries:
        How often a bad answer is asked again, with what was wrong, before a fallback stands. [default: 2]
    sampling:
        A change of how language models are sampled, for all questions or some: temperature=0,
        drwell.draft.max_tokens=500, 'drwell.*.seed=1'; may be repeated. [default: as published]
    episodes:
        Episodes in a row; what a method learns in one it has in the next. [default: 1]
    seed:
        Seed of the run: fixes the layout of seeded levels and names all random generators. [default: 0]
    seeds:
        Run this many seeds, counting up from --seed, each with a memory of its own. [default: 1]
    max_steps:
        Steps of the world after which an episode ends. [default: 150]
    set:
        An option of the world, a method or the messages as OWNER.OPTION=VALUE, for example
        drwell.task_identity=class or cube.view_radius=5; may be repeated. What is set for a method holds for
        its variants too; drwell:mine.explore=3 makes a variant of your own.
    instances:
        fixed: the episodes of a seed take place in one instance of the level; fresh: each in one of its
        own; a number: all seeds in the instance of that seed (published layouts are always the same).
        [default: fixed]
    memory:
        Folder of a run whose world models the methods begin with. They are copied into the new run.
    log_level:
        play, or beliefs: logs also hold what is true, what agents perceive, and what methods say that they believe
        and predict. The metrics of beliefs need it. [default: play]
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
    from teamworld.experiment.config import build, load, samplings, settings
    from teamworld.experiment.grid import is_grid

    given: dict[str, Any] = {
        "level": level,
        "methods": _split(method),
        "reasoner": reasoner,
        "answers": answers,
        "retries": retries,
        "sampling": samplings(sampling) if sampling else None,
        "episodes": episodes,
        "seeds": _seeds(seed, seeds),
        "max_steps": max_steps,
        "options": settings(set) if set else None,
        "instances": instances,
        "memory": memory,
        "log_level": log_level,
    }
    given = {name: value for name, value in given.items() if value is not None}
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
    from teamworld.experiment.folder import Folder

    execute(Folder(folder).experiment(), folder, running, as_json=json)
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
    *methods: str,
    world: str | None = None,
    level: str | None = None,
    reasoner: str | None = None,
    answers: str | None = None,
    retries: Int = None,
    sampling: Names = None,
    episodes: Int = None,
    seed: Int = None,
    seeds: Int = None,
    max_steps: Int = None,
    set: Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())] = None,
    instances: str | None = None,
    vary: Names = None,
    metrics: str | None = None,
    references: bool = True,
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

    Methods:
        Two methods or more, or one to see beside the references; variants as drwell:no_memory. Or an experiment file
        ending in .yaml, which may name a grid of runs.
    world:
        Name of a world (see: teamworld worlds). [default: cube]
    level:
        Level of the world (see: teamworld levels). [default: paper-n2]
    reasoner:
        The mind, see: teamworld run --help. [default: rules]
    answers:
        Form of a language model's answers, see: teamworld run --help.
    retries:
        How often a bad answer is asked again. [default: 2]
    sampling:
        A change of how language models are sampled, see: teamworld run --help.
    episodes:
        Episodes in a row for each seed. [default: 1]
    seed:
        The first seed. [default: 0]
    seeds:
        So many seeds, counting up; the units that intervals and tests go by. [default: 1]
    max_steps:
        Steps of the world after which an episode ends. [default: 150]
    set:
        An option as OWNER.OPTION=VALUE, see: teamworld run --help.
    instances:
        fixed or fresh, see: teamworld run --help.
    vary:
        What varies from setting to setting, as FIELD=VALUE,VALUE,...: level=n1,n2,n4 or cube.agents=1,2,4 for team
        sizes, reasoner=rules,rules:slips=0.2, instances=1,2,3, an option as OWNER.OPTION=...; may be repeated.
    metrics:
        Ids with commas (see: teamworld metrics), or all. [default: those of a results table]
    references:
        Whether random, greedy (the world's scripted team) and silent (the methods when nobody hears a message) stand
        beside.
    out:
        Folder of the comparison. [default: a name made from the arguments, under runs/]
    figures:
        Also draw values, frontiers, profiles, learning curves and curves over what varies (needs the extra: plots).
    json:
        Print one JSON object, and nothing else.
    """
    from teamworld.cli import comparing
    from teamworld.experiment.config import load, samplings, settings
    from teamworld.experiment.grid import axes

    if not methods:
        raise UserError("which methods? expected at least one, such as: teamworld compare drwell zero_shot --seeds 20")
    given: dict[str, Any] = {
        "world": world,
        "level": level,
        "methods": _split(list(methods)),
        "reasoner": reasoner,
        "answers": answers,
        "retries": retries,
        "sampling": samplings(sampling) if sampling else None,
        "episodes": episodes,
        "seeds": _seeds(seed, seeds),
        "max_steps": max_steps,
        "options": settings(set) if set else None,
        "instances": instances,
        "grid": axes(vary) if vary else None,
    }
    given = {name: value for name, value in given.items() if value is not None}
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


@app.command
def reproduce(
    paper: Literal["drwell", "cube"],
    *,
    out: Path | None = None,
    seeds: Int = None,
    reasoner: str | None = None,
    latency: float | None = None,
    step_time: float | None = None,
    quick: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Make a paper's figures from own runs, beside the published values, with a page that says what holds.

    The same command on the same folder goes on where it stopped and draws again (needs the extras: plots,
    for cube also rl).

    Parameters
    ----------
    paper:
        drwell: completion, steps, simulated seconds, commitments, world model and a checklist of trends.
        cube: baselines, cost of a step and of a macro-action; its times are measured on this machine.
    out:
        Folder of the page, the figures and the runs. [default: runs/reproduce-PAPER]
    seeds:
        Number of seeds, counting up from 42. [default: drwell 10, cube 3]
    reasoner:
        drwell only: the mind, see: teamworld run --help. [default: rules]
    latency:
        drwell only: assumed seconds of a call. [default: 0.7, published for gpt-4o]
    step_time:
        drwell only: assumed seconds of a step. [default: 0.047, the published heuristic's]
    quick:
        A look at everything in some seconds: fewer seeds, episodes and sizes.
    json:
        Print the numbers, ours and the published ones, as one JSON object, and nothing else.
    """
    from teamworld.cli import reproducing

    reproducing.reproduce(
        paper,
        out,
        seeds=seeds,
        reasoner=reasoner,
        latency=latency,
        step_time=step_time,
        quick=quick,
        as_json=json,
    )
    return 0


def _split(names: list[str] | None) -> list[str] | None:
    """Return names given one by one or with commas."""
    return [part for name in names for part in name.split(",") if part] if names else None


def _seeds(first: int | None, count: int | None) -> list[int] | None:
    if first is None and count is None:
        return None
    if count is not None and not 1 <= count <= 100_000:
        raise UserError(f"--seeds is a number from 1 to 100000, got {count}")
    begin = first or 0
    return list(range(begin, begin + (count or 1)))
