"""What a user sees while runs go on: progress, what calls cost, and what they will."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from teamworld.cli.terminal import Keyboard
from teamworld.errors import printable
from teamworld.experiment.estimate import CostEstimate, beyond, estimate
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.replay_reasoner import replays
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow
from teamworld.reasoning.human import HUMAN, Desk
from teamworld.reasoning.llm import budget as budgets
from teamworld.reasoning.llm.budget import Spent
from teamworld.reasoning.llm.expense import CHARACTERS
from teamworld.reasoning.llm.prices import Prices
from teamworld.reasoning.registry import list_models
from teamworld.reasoning.router import parse_routes
from teamworld.report.tables import Table, rich_tables


def dump(data: object) -> None:
    """Print one JSON object, in plain ASCII: it prints in any locale."""
    print(json.dumps(data, allow_nan=False))


def print_table(table: Table) -> None:
    """Print a table as wide as the terminal, with its title and caption."""
    console = Console()
    print(table.title)
    for part in rich_tables(table, console.width):
        console.print(part)
    if table.caption:
        print(f"{table.caption}\n")


def keyboard_for(reasoner: str | None) -> Keyboard | None:
    """Return the terminal of a person who is part of a team; None where nobody is."""
    return Keyboard() if reasoner and any(share.name == HUMAN for share in parse_routes(reasoner)) else None


def progress_bar(*, hidden: bool = False) -> Progress:
    """Return a progress bar on standard error; hidden where that is no terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal)


def estimates(experiments: Sequence[ExperimentSpec], options: RunOptions) -> list[CostEstimate]:
    """Return what runs with language models will take together, by model; nobody is asked; raises ``UserError``."""
    prices = Prices.load(options.prices)
    for limit in (options.budget, options.episode_budget):
        if limit is not None:
            budgets.parse_limit(limit)
    asking = [spec for spec in experiments if list_models(spec.reasoner) and not replays(spec)]
    return estimate([spec.resolved() for spec in asking], prices)


def estimate_lines(expected: Sequence[CostEstimate], options: RunOptions) -> Iterator[str]:
    """Yield what runs will take, as lines."""
    yield from map(str, expected)
    yield (
        f"From a dry run of the first episode with the built-in rules, {CHARACTERS:g} characters a token; prices: "
        f"{Prices.load(options.prices).table()}. A model that reasons, errs or needs more steps takes more: set a "
        "--budget."
    )
    if options.budget is not None and beyond(expected, budgets.parse_limit(options.budget)):
        yield f"that is more than --budget {options.budget}: the run stops there; with a larger one it goes on"


def estimate_all(runs: Sequence[tuple[Path, ExperimentSpec]], options: RunOptions) -> list[str]:
    """Return what several runs will take together, as lines; none if no model will be asked.

    Args:
        runs: Folders and experiments; what is begun is left out, since its estimate was shown when it began.
        options: How they are carried out.

    Raises:
        UserError: An experiment, the budget or the file of prices cannot be used.
    """
    new = [spec for path, spec in runs if not RunFolder(path).experiment_file.exists()]
    new = [spec for spec in new if list_models(spec.reasoner) and not replays(spec)]
    expected = estimates(new, options)
    return [f"{len(new)} runs together:", *estimate_lines(expected, options)] if expected else []


class EpisodeSteps:
    """Moves a progress bar with each episode; called with one that was played.

    Args:
        describe: Sets the text beside the bar; ``advance`` moves it.
    """

    def __init__(self, describe: Callable[..., None]) -> None:
        self._describe = describe

    def __call__(self, row: EpisodeRow) -> None:
        """Move on by an episode."""
        self._describe(f"{row.method}, seed {row.seed}", advance=1)

    def skip(self, cell: RunCell, numbers: Collection[int]) -> None:
        """Move on by episodes that were finished before."""
        self._describe(f"{cell.method}, seed {cell.seed}", advance=len(numbers))


@contextmanager
def monitored(
    total: int,
    experiment: ExperimentSpec,
    options: RunOptions,
    *,
    lines: Sequence[str] | None = None,
    desk: Desk | None = None,
) -> Iterator[tuple[EpisodeSteps, RunMonitor]]:
    """Show a progress bar for so many episodes; give what is called with each, and the monitor of their reasoners.

    Args:
        total: Episodes.
        experiment: The first of what is run.
        options: How it is carried out.
        lines: What is said of the costs before anything is asked; None: an estimate of each new run.
        desk: Where people answer; at the terminal if None.
    """
    keyboard = None if desk is not None else next(filter(None, map(keyboard_for, experiment.reasoners)), None)
    # A bar that redraws itself would garble what a person reads and types.
    with progress_bar(hidden=keyboard is not None) as bar:
        task = bar.add_task("episodes", total=total)

        def describe(text: str, **changes: Any) -> None:
            bar.update(task, description=text, **changes)

        def spent(so_far: Spent, flying: int, waiting: int) -> None:
            about = "about " if so_far.tokens.estimated else ""
            dollars = f"{so_far.usd.likely:.4f} USD, " if so_far.usd.calls else ""
            queued = f", {waiting} waiting" if waiting else ""
            describe(f"{about}{dollars}{so_far.tokens.likely:,.0f} tokens, {flying} calls in flight{queued}")

        def notice(line: str) -> None:
            bar.console.print(printable(line), markup=False, highlight=False, soft_wrap=True)

        def begins(begun: ExperimentSpec, prices: Prices) -> None:
            if lines is None:
                describe("estimate: a dry run with the rules")
                for line in estimate_lines(estimate([begun], prices), options):
                    notice(line)

        for line in lines or ():
            notice(line)
        yield (
            EpisodeSteps(describe),
            RunMonitor(spent, notice, begins, keyboard, desk),
        )
