"""Forks that a page of episodes asks for: one change in one episode, played beside what is shown."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from pydantic import ValidationError

from teamworld.errors import UserError
from teamworld.experiment.fork import find_episode, fork, fork_folder, make_experiment
from teamworld.experiment.fork_spec import ForkChange
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.store.folder import RunFolder
from teamworld.methods.registry import option_error
from teamworld.reasoning.registry import asks_person, asks_someone
from teamworld.viewer.replay_page import EpisodeName


class AskedFork(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a page sends."""

    step: int
    """In which the change takes place."""
    change: dict[str, dict[str, Any]]
    """As in a file of changes: ``{"message": {"agent": "agent_0", "drop": true}}``."""


class PlayedFork(msgspec.Struct, frozen=True, kw_only=True):
    """What the page is sent."""

    run: str
    """Name of the fork, by which the page asks for it."""
    folder: str
    method: str
    seed: int
    episode: int
    first_difference: int | None
    """The first step in which something else happened; None if nothing did."""
    steps: tuple[int, int]
    """Of the episode, and of the fork."""
    completion: tuple[float | None, float | None]


class PageForks:
    """Plays the forks that a page asks for, one after the other, and knows them by name.

    Args:
        running: How they are carried out. Language models are asked only under a budget.
    """

    def __init__(self, running: RunOptions) -> None:
        self._running = running
        self._folders: dict[str, Path] = {}
        self._playing = threading.Lock()

    def folder(self, name: str) -> Path | None:
        """Return the folder of a fork that was played, None if it is none."""
        return self._folders.get(name)

    def play(self, name: EpisodeName, body: bytes) -> PlayedFork:
        """Play a fork of an episode.

        Raises:
            UserError: What was asked for is no change, cannot take place in this episode, or would cost what nobody has
                allowed.
        """
        try:
            asked = _DECODER.decode(body)
            change = ForkChange.model_validate({"step": asked.step, **asked.change})
        except msgspec.DecodeError as error:
            raise UserError(f"expected a step and a change: {error}") from None
        except ValidationError as error:
            raise UserError(option_error("the change", ForkChange, error)) from None
        origin = find_episode(RunFolder(name.folder), name.episode or 1, name.method, name.seed)
        reasoners = make_experiment(origin, (change,)).reasoners
        _check_answering(reasoners, self._running)
        folder = fork_folder(origin, (change,))
        with self._playing:
            played = fork(origin, (change,), folder, self._running)
            run = f"/fork-{len(self._folders) + 1}"
            self._folders[run] = folder
        both = played.origin.summary, played.row.summary
        return PlayedFork(
            run=run,
            folder=str(folder),
            method=played.row.method,
            seed=played.row.seed,
            episode=played.row.episode,
            first_difference=played.first_difference,
            steps=(both[0].steps, both[1].steps),
            completion=(both[0].completion, both[1].completion),
        )


def _check_answering(reasoners: Sequence[str], running: RunOptions) -> None:
    """Refuse a fork in which a person answers, whom the page cannot ask, or a model that nobody pays for."""
    if any(map(asks_person, reasoners)):
        raise UserError(
            "this fork asks a person, who answers at a terminal: play it there, with the file and the command "
            "(teamworld fork) that the page shows"
        )
    if running.budget is None and (asking := next(filter(asks_someone, reasoners), None)) is not None:
        raise UserError(f"this fork asks {asking}: start the page with --budget, or play it with teamworld fork")


_DECODER = msgspec.json.Decoder(AskedFork)
