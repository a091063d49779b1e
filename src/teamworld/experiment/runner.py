"""Running an experiment: cell by cell, episode by episode, resuming where it stopped.

At the end of an episode its log is finished and synced, then the memory's delta is committed,
then the result row is written. A kill at any point leaves at most one episode to run again, and
that episode runs again from its own named generators to the same bytes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from numpy.random import Generator

from teamworld.episode.loop import Episode, Setting
from teamworld.errors import UserError
from teamworld.experiment import before
from teamworld.experiment.before import Memories
from teamworld.experiment.config import Cell, Experiment
from teamworld.experiment.folder import Folder
from teamworld.experiment.results import Results, Row
from teamworld.memory.store import MemoryStore
from teamworld.methods import registry as methods
from teamworld.metrics.summary import summarise
from teamworld.reasoning import registry as reasoners
from teamworld.record import Event, LogWriter, read_log
from teamworld.record.log import digest
from teamworld.seeding import generator
from teamworld.worlds import registry as worlds

#: Called after every episode, with its row.
Progress = Callable[[Row], None]


class Played(NamedTuple):
    """An episode that was played to its end."""

    events: list[Event]
    digest: str
    """Of its log, see ``teamworld.record.log.digest``."""


def run(experiment: Experiment, out: Path, progress: Progress = lambda row: None) -> list[Row]:
    """Run an experiment in a folder, or go on with it, and return all its episodes.

    Args:
        experiment: What to run; its options need not be filled in.
        out: The run's folder; made if it is not there.
        progress: Called after every episode, finished ones of an earlier call included.

    Raises:
        UserError: The experiment or the folder cannot be used; the folder is left as it was.
    """
    experiment = experiment.resolved()
    folder = Folder(out)
    folder.check(experiment)  # before anything is touched
    brought = {} if folder.experiment_file.exists() else before.gather(experiment)
    with folder.locked():
        folder.check(experiment)  # and again, now that nobody else can write
        if brought and not folder.experiment_file.exists():
            before.bring(folder, brought)
        folder.claim(experiment)
        with (
            Results(folder.results_file) as results,
            MemoryStore.open(folder.memory_file) as memory,
            before.opened(folder, experiment) as earlier,
        ):
            for cell in experiment.cells():
                _run_cell(experiment, cell, folder, results, Memories(memory, earlier), progress)
            return [row for cell in experiment.cells() for row in results.rows(cell)]


def _run_cell(
    experiment: Experiment, cell: Cell, folder: Folder, results: Results, memories: Memories, progress: Progress
) -> None:
    finished = {row.episode: row for row in results.rows(cell)}
    if sorted(finished) != list(range(1, len(finished) + 1)):
        raise UserError(f"{folder.results_file} lacks an episode of {cell.name} before later ones: use another --out")
    memories.learned.discard(cell.name, keep=finished)
    _restore(experiment, cell, folder, memories.learned, finished)
    for episode in range(1, experiment.episodes + 1):
        if episode not in finished:
            finished[episode] = _run_episode(experiment, cell, episode, folder, memories)
            results.add(finished[episode])
        progress(finished[episode])


def _restore(
    experiment: Experiment, cell: Cell, folder: Folder, memory: MemoryStore, finished: Mapping[int, Row]
) -> None:
    """Learn again from the logs of finished episodes that the memory does not hold: the log is the truth.

    Raises:
        UserError: Such a log is missing or not what it was.
    """
    method = methods.make(cell.method, experiment.options[cell.method])
    held = set(memory.episodes(cell.name))
    missing = [episode for episode in sorted(finished) if method.learns_in(episode) and episode not in held]
    for episode in missing:
        path = folder.log(cell, episode)
        if not path.exists() or digest(path) != finished[episode].digest:
            raise UserError(f"{path} is missing or altered: put back a copy of it, or start with another --out")
        if (delta := method.learn(list(read_log(path)))) is not None:
            memory.commit(cell.name, delta)


def _run_episode(experiment: Experiment, cell: Cell, episode: int, folder: Folder, memories: Memories) -> Row:
    begun = time.perf_counter()
    path = folder.log(cell, episode)
    path.parent.mkdir(parents=True, exist_ok=True)
    events, digested = play(experiment, cell, episode, path, memories)
    delta = methods.make(cell.method, experiment.options[cell.method]).learn(events)
    if delta is not None:
        memories.learned.commit(cell.name, delta)
    seconds = time.perf_counter() - begun
    return Row(cell.name, episode, cell.method, cell.seed, summarise(events), digested, seconds)


def play(experiment: Experiment, cell: Cell, episode: int, path: Path, memories: Memories) -> Played:
    """Play one episode of a resolved experiment into a log file."""

    def streams(*names: str | int) -> Generator:
        return generator(cell.seed, "episode", episode, *names)

    options, world_seed = experiment.options, cell.world_seed(episode, experiment.instances)
    method = methods.make(cell.method, options[cell.method])
    with LogWriter(path) as log:
        played = Episode(
            world=worlds.make(
                experiment.world, experiment.level, world_seed, experiment.max_steps, options[experiment.world]
            ),
            method=method,
            reasoner=reasoners.make(experiment.reasoner, streams),
            memory=memories.experience(cell),
            log=log,
            streams=streams,
            setting=Setting(
                seed=cell.seed,
                world_seed=world_seed,
                episode=episode,
                method_options=options[cell.method],
                messages=experiment.message_rule(),
            ),
        )
        _to_the_end(played)
        log.finish()
        return Played(log.events, log.digest)


def _to_the_end(episode: Episode) -> None:
    """Play an episode, also where an event loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(episode.play())
        return
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, episode.play()).result()
