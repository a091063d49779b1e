"""The commands a user types."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter, Token

from teamworld import __version__
from teamworld.errors import UserError
from teamworld.experiment.running import Running

if TYPE_CHECKING:
    from pydantic import BaseModel

_EPILOGUE = """
Start with:  teamworld run cube --method drwell --episodes 10 --out runs/first
Then:        teamworld report runs/first --figures
"""

app = App(
    name="teamworld",
    version=__version__,
    help="Teams of agents in embodied worlds: run them, compare them, see why they fail.",
    help_epilogue=_EPILOGUE,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,  # told by main, with what to do
)


def _whole(_: object, tokens: Sequence[Token]) -> int:
    """Read a whole number; nothing is rounded."""
    text = tokens[0].value
    if not re.fullmatch(r"-?[0-9]{1,30}", text, re.ASCII):
        raise ValueError(f"expected a whole number, got '{text}'")
    return int(text)


_Int = Annotated[int | None, Parameter(converter=_whole)]
_Name = Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())]


@dataclass(frozen=True, kw_only=True)
class _Carrying(Running):
    __doc__ = Running.__doc__
    processes: _Int = Running.processes
    calls: Annotated[int, Parameter(converter=_whole)] = Running.calls
    jobs: Annotated[int, Parameter(converter=_whole)] = Running.jobs


_Running = Annotated[_Carrying, Parameter(name="*")]


@app.command
def run(
    world: str,
    *,
    level: str | None = None,
    method: _Name = None,
    reasoner: str | None = None,
    answers: str | None = None,
    retries: _Int = None,
    sampling: _Name = None,
    episodes: _Int = None,
    seed: _Int = None,
    seeds: _Int = None,
    max_steps: _Int = None,
    set: Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())] = None,
    instances: str | None = None,
    memory: Path | None = None,
    log_level: str | None = None,
    out: Path | None = None,
    figures: Annotated[bool, Parameter(negative=())] = False,
    estimate: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    running: _Running = _Carrying(),
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
            if estimate or figures:
                raise UserError("--estimate and --figures are for single runs: leave them out of a grid")
            gridding.execute(given, out, running, as_json=json)
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
    running: _Running = _Carrying(),
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
def report(
    folder: Path,
    *,
    figures: Annotated[bool, Parameter(negative=())] = False,
    failures: Annotated[bool, Parameter(negative=())] = False,
    bill: Annotated[bool, Parameter(negative=())] = False,
    prices: Path | None = None,
    episode: _Int = None,
    all: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Print the table of a run.

    Parameters
    ----------
    folder:
        Folder of the run.
    figures:
        Also draw the learning curve and the world model into the folder (needs the extra: plots).
    failures:
        Print the failure labels instead: how often, in how many episodes, and a list with steps, agents and reason.
    bill:
        Print what calls of language models took instead: tokens, dollars, seconds, by method, model, kind of
        question, mind and episode.
    prices:
        With --bill: YAML file with prices for calls that were made before a price was known.
    episode:
        With --failures: only the episodes with this number.
    all:
        With --failures: list every one, not a choice of each method's.
    json:
        Print the table as one JSON object, and nothing else.
    """
    from teamworld.cli.running import report_bill, report_failures, report_run

    if figures + failures + bill > 1:
        raise UserError("--figures, --failures and --bill are three reports: ask for one")
    if prices is not None and not bill:
        raise UserError("--prices belongs to --bill: add --bill")
    if bill:
        report_bill(folder, prices, as_json=json)
        return 0
    if not failures and (all or episode is not None):
        raise UserError("--episode and --all belong to --failures: add --failures")
    if failures:
        report_failures(folder, episode, everything=all, as_json=json)
        return 0
    report_run(folder, figures=figures, as_json=json)
    return 0


@app.command
def metrics(
    log: Path | None = None,
    *,
    markdown: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """List the metrics and what they mean, or measure a log or a run.

    Parameters
    ----------
    log:
        A log (.jsonl.zst): its episode's metrics; or the folder of a run: those of each method, pooled over episodes.
    markdown:
        Without a log: print the definitions as Markdown tables.
    json:
        Print one JSON object, and nothing else: value, num and den of each metric; null where there was nothing to
        measure.
    """
    from teamworld.cli import measuring

    if log is None:
        measuring.listing(markdown=markdown, as_json=json)
    elif markdown:
        raise UserError("--markdown prints the definitions: leave out the log")
    else:
        measuring.of_path(log, as_json=json)
    return 0


@app.command
def compare(
    *methods: str,
    world: str = "cube",
    level: str | None = None,
    reasoner: str | None = None,
    answers: str | None = None,
    retries: _Int = None,
    sampling: _Name = None,
    episodes: _Int = None,
    seed: _Int = None,
    seeds: _Int = None,
    max_steps: _Int = None,
    set: Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())] = None,
    instances: str | None = None,
    metrics: str | None = None,
    references: bool = True,
    out: Path | None = None,
    figures: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    running: _Running = _Carrying(),
) -> int:
    """Compare methods on the same instances and seeds, beside random, scripted and silent teams.

    What is missing is run, what is there is used again. Prints values with intervals, paired differences as
    sentences, and writes tables (Markdown, LaTeX, CSV) and figures into --out.

    Parameters
    ----------

    Methods:
        Two methods or more, or one to see beside the references; variants as drwell:no_memory.
    world:
        Name of a world (see: teamworld worlds).
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
    metrics:
        Ids with commas (see: teamworld metrics), or all. [default: those of a results table]
    references:
        Whether random, greedy (the world's scripted team) and silent (the methods when nobody hears a message) stand
        beside.
    out:
        Folder of the comparison. [default: a name made from the arguments, under runs/]
    figures:
        Also draw values, frontiers, profiles and learning curves (needs the extra: plots).
    json:
        Print one JSON object, and nothing else.
    """
    from teamworld.cli import comparing
    from teamworld.experiment.config import build, samplings, settings

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
    }
    asked = build({name: value for name, value in given.items() if value is not None})
    comparing.compare(asked, out, running, wanted=metrics, references=references, figures=figures, as_json=json)
    return 0


@app.command
def memory(
    folder: Path,
    *,
    method: str = "drwell",
    seed: _Int = None,
    episode: _Int = None,
    out: Path,
) -> int:
    """Export the world model that a method had learned after an episode.

    The ending of --out says how: .json (node-link), .graphml, .png, .svg or .pdf.

    Parameters
    ----------
    folder:
        Folder of the run.
    method:
        The method whose world model it is.
    seed:
        Its seed. [default: the run's first]
    episode:
        The last episode to take in. [default: all]
    out:
        The file to write.
    """
    from teamworld.cli.running import export_memory

    export_memory(folder, method, seed, episode, out)
    return 0


@app.command
def view(
    folder: Path,
    *,
    export: Path,
    method: str | None = None,
    seed: _Int = None,
    episode: _Int = None,
) -> int:
    """Write an episode as one web page that plays it: no server, no network, it can be mailed.

    Parameters
    ----------
    folder:
        Folder of the run.
    export:
        The file to write, such as replay.html.
    method:
        The method whose episode it is. [default: the run's first]
    seed:
        Its seed. [default: the run's first]
    episode:
        The episode. [default: the last that is finished]
    """
    from teamworld.cli.viewing import export_replay

    export_replay(folder, export, method, seed, episode)
    return 0


@app.command
def reproduce(
    paper: Literal["drwell", "cube"],
    *,
    out: Path | None = None,
    seeds: _Int = None,
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


@app.command
def worlds() -> int:
    """List the worlds and their options, and those of the messages."""
    from teamworld.episode.talk import MessageRule
    from teamworld.worlds import registry

    lines: dict[str, str] = {}
    for name in registry.names():
        lines[name] = registry.summary(name)
        lines |= _options(name, registry.option_model(name))
    lines["messages"] = "what may be said, who hears it and what it costs, in every world"
    _listing(lines | _options("messages", MessageRule))
    return 0


@app.command
def methods() -> int:
    """List the coordination methods, their options and their variants."""
    from teamworld.methods import registry

    lines: dict[str, str] = {}
    for name in registry.names():
        found = registry.method_class(name)
        lines[name] = found.summary
        lines |= _options(name, found.options)
        lines |= {f"  {name}:{variant}": one.summary for variant, one in found.variants.items()}
    _listing(lines)
    return 0


@app.command
def prompts(
    question: str | None = None,
    *,
    run: Path | None = None,
    method: str | None = None,
    seed: _Int = None,
    episode: _Int = None,
    agent: str | None = None,
    number: _Int = None,
    step: _Int = None,
    attempt: _Int = None,
) -> int:
    """List the prompts with their versions and hashes, or print one as a mind was shown it.

    Parameters
    ----------
    question:
        Kind of a question, such as drwell.propose: print its exact prompt at a moment of --run.
    run:
        Folder of the run.
    method:
        The method whose episode it is. [default: the run's first]
    seed:
        Its seed. [default: the run's first]
    episode:
        A finished episode. [default: the last]
    agent:
        Who was asked. [default: the first who was]
    number:
        Which of these questions to that agent in the episode, from 1. [default: 1]
    step:
        Instead of --number: the step in which it was asked.
    attempt:
        Where a model answered: 1 for what it was sent when it was asked again, 2 for the time after. [default: 0]
    """
    from teamworld.cli import prompting

    moment = prompting.Moment(method, seed, episode, agent, number, step, attempt)
    if question is None:
        if run is not None or moment != prompting.Moment():
            raise UserError("which question? expected one such as drwell.propose; see: teamworld prompts")
        for line in prompting.listing():
            print(line)
    elif run is None:
        raise UserError(f"the prompt of {question} at which moment? add --run DIR")
    else:
        prompting.show(question, run, moment)
    return 0


@app.command
def doctor(
    *,
    reasoner: str,
    answers: str | None = None,
    key_env: str | None = None,
    timeout: float = 60.0,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Look whether a mind can be used: name, packages, key, server, model, forms of answers, a round trip.

    Asks each language model four small questions. Exits with 1 if something has to be done first.

    Parameters
    ----------
    reasoner:
        As for teamworld run; of a server's address the model may be missing, to see what it serves.
    answers:
        Form of the answers of the run to come: schema, tool, json or text. [default: the best for the model]
    key_env:
        Name of the environment variable that holds the key (never the key itself).
    timeout:
        Seconds to wait for one answer. [default: 60]
    json:
        Print one JSON object, and nothing else.
    """
    from teamworld.cli.doctoring import look
    from teamworld.reasoning.llm.contract import FORMS

    form = next((form for form in FORMS if form == answers), None)
    if answers not in (None, "auto") and form is None:
        raise UserError(f"--answers is one of auto, {', '.join(FORMS)}; got '{answers}'")
    return look(reasoner, form, Running(key_env=key_env, timeout=timeout), as_json=json)


@app.command
def levels(world: str = "cube") -> int:
    """List the levels of a world.

    Parameters
    ----------
    world:
        Name of the world.
    """
    from teamworld.worlds import registry

    _listing(registry.levels(world))
    return 0


def _options(owner: str, model: type[BaseModel]) -> dict[str, str]:
    """Return one line for each option of a world, a method or the messages."""
    fields = model.model_fields.items()
    return {f"  --set {owner}.{name}={_yaml(field.default)}": field.description or "" for name, field in fields}


def _yaml(value: object) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


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


def _listing(lines: Mapping[str, str]) -> None:
    width = max(map(len, lines), default=0)
    for name, text in lines.items():
        print(f"{name:<{width}}  {text}".rstrip())
