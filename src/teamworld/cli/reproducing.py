"""Reproducing the papers' figures from the command line: progress and results."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from teamworld.cli.terminal import Keyboard
from teamworld.papers import PaperName, PaperOptions, prepare
from teamworld.reasoning.human import HUMAN
from teamworld.reasoning.router import parse_routes


def reproduce(paper: PaperName, out: Path | None, options: PaperOptions, *, as_json: bool) -> None:
    """Reproduce a paper's figures under a progress bar, then print the results or the JSON.

    Raises:
        UserError: An option does not fit the paper or its range.
    """
    reasoner = options.reasoner
    keyboard = Keyboard() if reasoner and any(share.name == HUMAN for share in parse_routes(reasoner)) else None
    job = prepare(paper, options, out, keyboard)
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # A bar that redraws itself would garble what a person reads and types.
    hidden = keyboard is not None or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("reproducing", total=job.size)
        result = job.run(lambda text: bar.update(task, advance=1, description=text))
    if as_json:
        print(json.dumps({**result.numbers, "page": str(result.page)}, allow_nan=False))
        return
    for line in result.lines:
        print(line)
    print(f"\nThe page with all figures and tables: {result.page}")
