"""Commands that show what was played: report, metrics, prompts, memory, view.

Each imports what it needs when it is used: help is shown without it.
"""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teamworld.cli.options import Flag, Int, Names
from teamworld.errors import UserError, printable

if TYPE_CHECKING:
    from teamworld.experiment.spec import ExperimentSpec
    from teamworld.experiment.store.folder import RunFolder


def report(
    folder: Path,
    *,
    figures: Flag = False,
    failures: Flag = False,
    bill: Flag = False,
    competence: Flag = False,
    regret: Flag = False,
    prices: Path | None = None,
    episode: Int = None,
    all: Flag = False,
    json: Flag = False,
) -> int:
    """Print the table of a run, or those of all runs of a grid or a comparison.

    Parameters
    ----------
    folder:
        Folder of the run, or of several.
    figures:
        Also draw the learning curve and the world model into the folder (needs the extra: plots).
    failures:
        Print the failure labels instead: how often, in how many episodes, and a list with steps, agents and reason.
    bill:
        Print what calls of language models took instead: tokens, dollars, seconds, by method, model, kind of
        question, reasoner and episode.
    competence:
        Print Behavioural Competency Scores instead, of runs in wildfire with do_nothing among the methods; also of a
        grid or a comparison.
    regret:
        Print the steps beyond the proven bounds instead, of runs in worlds that have some (see: teamworld bounds).
    prices:
        With --bill: YAML file with prices for calls that were made before a price was known.
    episode:
        With --failures: only the episodes with this number.
    all:
        With --failures: list every one, not a choice of each method's.
    json:
        Print the table as one JSON object, and nothing else.
    """
    if figures + failures + bill + competence + regret > 1:
        raise UserError("--figures, --failures, --bill, --competence and --regret are five reports: ask for one")
    if prices is not None and not bill:
        raise UserError("--prices belongs to --bill: add --bill")
    if not failures and not bill and (all or episode is not None):
        raise UserError("--episode and --all belong to --failures: add --failures")
    from teamworld.cli.executions import draw_figures
    from teamworld.cli.monitor import dump, print_table
    from teamworld.experiment import grid
    from teamworld.experiment.store.folder import RunFolder
    from teamworld.reasoning.llm.prices import Prices
    from teamworld.report import bills, tables
    from teamworld.report import competence as competences
    from teamworld.report import regret as regrets
    from teamworld.report.episode_columns import columns_of

    if failures:
        _report_failures(RunFolder(folder), episode, everything=all, as_json=json)
        return 0
    notes: list[str] = []
    if competence:
        shown = [competences.of_folder(folder)]
    else:
        runs, shown = list(_begun(folder)), []
        for path, experiment in runs:
            run_folder = RunFolder(path)
            if bill:
                own = list(bills.of_run(run_folder, Prices.load(prices)))
            elif regret:
                own = [regrets.by_method([row for _, row in run_folder.finished(experiment)], experiment)]
            else:
                own = tables.of_run(columns_of(run_folder, experiment), experiment)
            name = f"{path.relative_to(folder).as_posix()}: " if grid.kind_of(folder) is not None else ""
            shown += [replace(table, title=f"{name}{table.title}") for table in own]
            said = (tables.describe_errors(run_folder.errors(experiment)), tables.describe_code(run_folder.codes()))
            notes += [f"{name}{note}" for note in said if note]
    if json:
        dump({"run": str(folder), "tables": [table.plain() for table in shown]})
    else:
        for table in shown:
            print_table(table)
        for note in notes:
            print(printable(note))
        if not shown:
            asked = ", ".join(dict.fromkeys(tables.describe_reasoner(experiment) for _, experiment in runs))
            print(printable(f"{folder} asked no language model: {asked}"))
    if figures:
        for path, experiment in _begun(folder):
            draw_figures(RunFolder(path), columns_of(RunFolder(path), experiment), quiet=json)
    return 0


def _begun(folder: Path) -> Iterator[tuple[Path, ExperimentSpec]]:
    """Yield the run of a folder, or those of a folder of several that have begun; raises ``UserError``."""
    from teamworld.experiment import grid
    from teamworld.experiment.store.folder import RunFolder

    for path, _ in grid.runs(folder):
        if RunFolder(path).is_begun or path == folder:
            yield path, RunFolder(path).experiment()


def _report_failures(folder: RunFolder, episode: int | None, *, everything: bool, as_json: bool) -> None:
    """Print the failure labels of a run: a table of counts, then what happened, method by method."""
    from teamworld.cli.monitor import dump, print_table, progress_bar
    from teamworld.report import failures as failure_reports

    experiment = folder.experiment()
    rows = failure_reports.finished(folder, experiment, episode)
    with progress_bar() as bar:
        tagged = failure_reports.tagged(folder, experiment, rows)
        labels = list(bar.track(tagged, len(rows), description="reading logs"))
    wanted = len(experiment.cells()) * (experiment.episodes if episode is None else 1)
    if as_json:
        plain = failure_reports.plain(labels, experiment)
        dump({"run": str(folder.path), "unfinished": wanted - len(rows)} | plain)
        return
    print_table(failure_reports.counts(labels, experiment))
    for method in experiment.methods:
        for line in failure_reports.lines(labels, method, None if everything else failure_reports.SHOWN):
            print(printable(f"{method}: {line}"))
    if wanted > len(rows):
        print(f"left out: {wanted - len(rows)} episodes that are not finished")


# ---- metrics


def metrics(log: Path | None = None, *, markdown: Flag = False, json: Flag = False) -> int:
    """List the metrics and what they mean, or measure a log or a run.

    Parameters
    ----------
    log:
        A log (.jsonl.zst): its episode's metrics; or the folder of a run: those of each method, pooled over episodes;
        of a grid or a comparison those of every run.
    markdown:
        Without a log: print the definitions as Markdown tables.
    json:
        Print one JSON object, and nothing else: value, num and den of each metric; null where there was nothing to
        measure.
    """
    from teamworld.cli.monitor import dump, print_table
    from teamworld.experiment import episode_metrics, grid
    from teamworld.experiment.store.folder import RunFolder
    from teamworld.metrics.definition import metrics as defined_metrics
    from teamworld.report import metric_tables

    if log is None:
        if json:
            dump({name: metric._asdict() for name, metric in defined_metrics().items()})
        else:
            print("\n".join(metric_tables.definitions() if markdown else metric_tables.lines()).rstrip())
    elif markdown:
        raise UserError("--markdown prints the definitions: leave out the log")
    elif log.is_dir():
        measured = [_measure_run(RunFolder(path), as_json=json) for path, _ in _begun(log)]
        if json:
            dump(measured[0] if grid.kind_of(log) is None else {"folder": str(log), "runs": measured})
    else:
        values = episode_metrics.of_log(log)
        if json:
            dump({"metrics": {name: value._asdict() for name, value in values.items()}})
        else:
            print_table(metric_tables.of_episode(values, str(log)))
    return 0


def _measure_run(folder: RunFolder, *, as_json: bool) -> dict[str, Any]:
    """Return the metrics of every method of a run as plain data, and print them unless that is what is asked for."""
    from rich.console import Console
    from rich.progress import track

    from teamworld.cli.monitor import print_table
    from teamworld.experiment import episode_metrics
    from teamworld.metrics.definition import Value, pool_all
    from teamworld.report import metric_tables, tables

    experiment = folder.experiment()
    count = folder.count_finished(experiment)
    if not count:
        raise UserError(f"{folder.path} has no finished episode yet: nothing to measure")
    errors = Console(stderr=True)
    by_episode: dict[str, list[dict[str, Value]]] = {method: [] for method in experiment.methods}
    for _, measured in track(
        episode_metrics.of_runs([(folder, experiment)]),
        "measuring",
        count,
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    ):
        by_episode[measured.cell.method].append(measured.values)
    by_method = {method: pool_all(values) for method, values in by_episode.items()}
    if not as_json:
        title = f"{experiment.world} {experiment.level}: {count} episode{'' if count == 1 else 's'}"
        steps = f"at most {experiment.step_limit:,} steps"
        said = f"{tables.describe_reasoner_and_talk(experiment)}; {steps}"
        print_table(metric_tables.of_run(by_method, title, said))
    plain = {m: {name: value._asdict() for name, value in values.items()} for m, values in by_method.items()}
    talk = {"talk": words} if (words := tables.talk(experiment)) else {}
    return {"run": str(folder.path), "mind": tables.describe_reasoner(experiment), **talk, "methods": plain}


# ---- prompts


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
    """List the prompts with their versions and hashes, or print one as a reasoner was shown it.

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
    if question is None:
        if any(value is not None for value in (run, method, seed, episode, agent, number, step, attempt)):
            raise UserError("which question? expected one such as drwell.propose; see: teamworld prompts")
        print("\n".join(_prompt_lines()))
        return 0
    if run is None:
        raise UserError(f"the prompt of {question} at which moment? add --run DIR")
    from teamworld.viewer import recorded_prompt

    prompt = recorded_prompt.prompt(
        run,
        question,
        method=method,
        seed=seed,
        episode=episode,
        agent=agent,
        number=number,
        step=step,
        attempt=attempt,
    )
    print(printable(prompt.place), file=sys.stderr)
    if prompt.changed:
        print("the template has changed since this run began: this is what it would show now", file=sys.stderr)
    for turn in prompt.turns:
        print(f"==== {turn.role} ====\n{printable(turn.text)}")
    return 0


def _prompt_lines() -> Iterator[str]:
    """Yield one line for each kind of question: its kind, version, hash and template."""
    from teamworld.methods.registry import kinds
    from teamworld.reasoning.prompts import template_info

    rows = [("question", "version", "hash", "template")]
    for kind, question in kinds().items():
        version = template_info(question.template)
        rows.append((kind, str(version.version), version.hash, question.template))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


# ---- world models and replays


def memory(folder: Path, *, method: str = "drwell", seed: Int = None, episode: Int = None, out: Path) -> int:
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
    from teamworld.experiment.spec import RunCell
    from teamworld.experiment.store.folder import RunFolder
    from teamworld.memory import drawing, graph
    from teamworld.memory.store import MemoryStore

    place = RunFolder(folder)
    cell = RunCell(method, place.experiment().seeds[0] if seed is None else seed)
    if not place.memory_file.exists():
        raise UserError(f"{folder} has no world model yet")
    with MemoryStore(place.memory_file, readonly=True) as store:
        if cell.name not in store.runs():
            raise UserError(f"{folder} has no world model of {cell.name}; it has: {', '.join(store.runs()) or 'none'}")
        last = store.episodes(cell.name)[-1]
        if episode is not None and not 1 <= episode <= last:
            raise UserError(f"{cell.name} has episodes 1 to {last}, got {episode}")
        deltas = store.deltas(cell.name, up_to=episode)
    match out.suffix.lower():
        case ".json":
            out.write_text(json_text.dumps(graph.to_json(deltas, views=True), indent=1), "utf-8")
        case ".graphml":
            out.write_text(graph.to_graphml(graph.build(deltas)), "utf-8")
        case ending if ending not in drawing.FORMATS:
            raise UserError(f"--out ends in .json, .graphml, {', '.join(drawing.FORMATS)}; got {out.name}")
        case _:
            drawing.draw(deltas, out, (len(deltas),), title=f"World model of {method}, seed {cell.seed}")
    print(printable(f"written: {out}"))
    return 0


def view(
    folder: Path,
    *,
    export: Path | None = None,
    method: str | None = None,
    seed: Int = None,
    episode: Int = None,
    steps: Names = None,
    against: str | None = None,
    no_prompts: Flag = False,
    forks: Flag = False,
    budget: str | None = None,
    port: Int = None,
    no_browser: Flag = False,
) -> int:
    """Open a page that lists and plays the episodes of a run, a grid or a comparison; or write an episode as a file.

    The page is for this machine only, and grows while the run goes on; ctrl-C ends it. With --export an episode is
    written as one web page that plays it (no server, no network, it can be mailed), or as a figure.

    Parameters
    ----------
    folder:
        Folder of the run, or of several.
    export:
        The file to write: a page such as replay.html, or a figure of some moments such as moments.png, with an SVG
        beside it (needs the extra: plots).
    method:
        The method whose episode it is. [default: the first with a finished episode]
    seed:
        Its seed. [default: the first with a finished episode]
    episode:
        The episode. [default: the last that is finished]
    steps:
        With a figure: the moments, such as 0,10,20. [default: the first, the middle and the last]
    against:
        Show a second episode of the same seed beside it, locked in time, with what differs: a method of the run, or
        the folder of another run, such as a fork.
    no_prompts:
        With a page as a file: leave out what language models were sent and their answers word for word.
    forks:
        Let the page play forks of episodes, each into a folder of its own beside the run; without, it changes nothing.
    budget:
        With --forks: what each fork may spend on language models, such as 1usd or 200ktok; without, the page forks
        episodes that rules answered.
    port:
        Of the page. [default: any that is free]
    no_browser:
        Only print the address of the page.
    """
    from teamworld.cli import view_output
    from teamworld.experiment.run_options import RunOptions
    from teamworld.reasoning.llm.budget import parse_limit

    if export is None:
        if steps is not None:
            raise UserError("--steps is for a figure: add --export moments.png")
        if episode is not None and against is None:
            raise UserError("--episode is for a file: add --export replay.html")
        if no_prompts:
            raise UserError("--no-prompts is for a file: add --export replay.html")
        chosen = {"method": method, "seed": seed, "episode": episode}
        if budget is not None and not forks:
            raise UserError("--budget is for forks: add --forks")
        if budget is not None:
            parse_limit(budget)  # says what is wrong with it
        running = RunOptions(budget=budget) if forks else None
        return view_output.serve(folder, port or 0, chosen, against, running, opens=not no_browser)
    if forks or budget is not None:
        raise UserError("--forks and --budget are for the page on this machine: leave out --export")
    if port is not None or no_browser:
        raise UserError("--port and --no-browser are for the page on this machine: leave out --export")
    return view_output.export(folder, export, method, seed, episode, steps, against, prompts=not no_prompts)
