"""A prompt of a run as a reasoner was shown it, by the names that a user gives."""

from __future__ import annotations

import tempfile
from pathlib import Path

from teamworld.experiment.prompts import ShownPrompt, choose, shown
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.selection import select_episode
from teamworld.record import read_log


def prompt(
    folder: Path | str,
    question: str,
    *,
    method: str | None = None,
    seed: int | None = None,
    episode: int | None = None,
    agent: str | None = None,
    number: int | None = None,
    step: int | None = None,
    attempt: int | None = None,
) -> ShownPrompt:
    """Return a question as it was put at a moment of a run; the same as ``teamworld prompts QUESTION --run DIR``.

    Args:
        folder: Of the run.
        question: Its kind, such as ``drwell.propose``.
        method: The method whose episode it is; the run's first if None.
        seed: Its seed; the run's first if None.
        episode: A finished episode; the last if None.
        agent: Who was asked; the first who was if None.
        number: Which of these questions to that agent in the episode, from 1; the first if None.
        step: In place of ``number``: the step in which it was asked.
        attempt: Where a model answered: 1 for what it was sent when it was asked again, 2 for the time after.

    Raises:
        UserError: The run has no such episode or question.
    """
    chosen = select_episode(Path(folder), method, seed, episode)
    log = list(read_log(chosen.log, expected=chosen.digest))
    which = choose(log, question, agent, number, step)
    place = f"{question} number {which.number} to {which.respondent}: {chosen.cell.method}, seed {chosen.cell.seed}"
    with tempfile.TemporaryDirectory(prefix="teamworld-") as scratch:
        put = shown(RunFolder(Path(folder)), chosen.cell, chosen.episode, which, Path(scratch), attempt)
    return put._replace(place=f"{place}, episode {chosen.episode}, step {put.step}")
