"""Prompts on the command line: which there are, and what exactly a mind was shown."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from teamworld.experiment import prompts
from teamworld.experiment.folder import RunFolder
from teamworld.methods.registry import kinds
from teamworld.reasoning.prompts import template_info
from teamworld.record import read_log
from teamworld.viewer.selection import select_episode


class PromptPosition(NamedTuple):
    """Where in a run; None: the first there is, of episodes the last."""

    method: str | None = None
    seed: int | None = None
    episode: int | None = None
    agent: str | None = None
    number: int | None = None
    step: int | None = None
    attempt: int | None = None


def listing() -> Iterator[str]:
    """Yield one line for each kind of question: its kind, version, hash and template."""
    rows = [("question", "version", "hash", "template")]
    for kind, question in kinds().items():
        found = template_info(question.template)
        rows.append((kind, str(found.version), found.hash, question.template))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def show(kind: str, folder: Path, moment: PromptPosition) -> None:
    """Print the prompt of a question of a run.

    Raises:
        UserError: There is no such question.
    """
    chosen = select_episode(folder, moment.method, moment.seed, moment.episode)
    which = prompts.choose(list(read_log(chosen.log)), kind, moment.agent, moment.number, moment.step)
    with tempfile.TemporaryDirectory(prefix="teamworld-") as scratch:
        found = prompts.shown(RunFolder(folder), chosen.cell, chosen.episode, which, Path(scratch), moment.attempt)
    place = f"{chosen.cell.method}, seed {chosen.cell.seed}, episode {chosen.episode}, step {found.step}"
    print(f"{kind} number {which.number} to {which.respondent}: {place}", file=sys.stderr)
    if found.changed:
        print("the template has changed since this run began: this is what it would show now", file=sys.stderr)
    for turn in found.turns:
        print(f"==== {turn.role} ====\n{turn.text}")
