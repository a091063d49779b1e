"""Commands that look at what was played: tables, metrics, prompts, world models, replays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from teamworld.cli.commands.application import Int, app
from teamworld.errors import UserError


@app.command
def report(
    folder: Path,
    *,
    figures: Annotated[bool, Parameter(negative=())] = False,
    failures: Annotated[bool, Parameter(negative=())] = False,
    bill: Annotated[bool, Parameter(negative=())] = False,
    competence: Annotated[bool, Parameter(negative=())] = False,
    prices: Path | None = None,
    episode: Int = None,
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
    competence:
        Print Behavioural Competency Scores instead, of runs in wildfire with do_nothing among the methods; also of a
        grid or a comparison.
    prices:
        With --bill: YAML file with prices for calls that were made before a price was known.
    episode:
        With --failures: only the episodes with this number.
    all:
        With --failures: list every one, not a choice of each method's.
    json:
        Print the table as one JSON object, and nothing else.
    """
    from teamworld.cli.running import report_bill, report_competence, report_failures, report_run

    if figures + failures + bill + competence > 1:
        raise UserError("--figures, --failures, --bill and --competence are four reports: ask for one")
    if prices is not None and not bill:
        raise UserError("--prices belongs to --bill: add --bill")
    if bill:
        report_bill(folder, prices, as_json=json)
        return 0
    if not failures and (all or episode is not None):
        raise UserError("--episode and --all belong to --failures: add --failures")
    if competence:
        report_competence(folder, as_json=json)
        return 0
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
def prompts(
    question: str | None = None,
    *,
    run: Path | None = None,
    method: str | None = None,
    seed: Int = None,
    episode: Int = None,
    agent: str | None = None,
    number: Int = None,
    step: Int = None,
    attempt: Int = None,
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

    moment = prompting.PromptPosition(method, seed, episode, agent, number, step, attempt)
    if question is None:
        if run is not None or moment != prompting.PromptPosition():
            raise UserError("which question? expected one such as drwell.propose; see: teamworld prompts")
        for line in prompting.listing():
            print(line)
    elif run is None:
        raise UserError(f"the prompt of {question} at which moment? add --run DIR")
    else:
        prompting.show(question, run, moment)
    return 0


@app.command
def memory(
    folder: Path,
    *,
    method: str = "drwell",
    seed: Int = None,
    episode: Int = None,
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
    seed: Int = None,
    episode: Int = None,
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
