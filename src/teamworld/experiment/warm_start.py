"""Beginning with the world models that another run has learned.

They are copied into the new run's folder before anything else stands there, so the folder is whole by itself:
it resumes and replays without the other one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from teamworld.errors import UserError
from teamworld.experiment import shared_memory
from teamworld.experiment.fork_spec import Fork
from teamworld.experiment.shared_memory import SharedMemory
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.guidebook import WorldModel, merge
from teamworld.memory.store import MemoryStore
from teamworld.methods import registry as methods

#: What cells begin with, by their names.
InitialMemories: TypeAlias = Mapping[str, Sequence[MemoryDelta]]


class RunMemories(NamedTuple):
    """The world models of a run's cells."""

    learned: MemoryStore
    """What they have learned in this run."""
    brought: MemoryStore | None = None
    """What they began with; None where with nothing."""
    shared: SharedMemory | None = None
    """Where they add to what other runs know; None where they do not."""

    def world_model(self, cell: RunCell) -> WorldModel:
        """Return what a cell knows by now."""
        learned = self.learned.world_model(cell.name)
        return learned if self.brought is None else merge(self.brought.world_model(cell.name), learned)

    async def commit(self, cell: RunCell, delta: MemoryDelta) -> None:
        """Store what an episode of a cell adds; raises ``UserError``."""
        self.learned.commit(cell.name, delta)
        if self.shared is not None:
            await self.shared.commit_aside(cell, delta)


def gather(experiment: ExperimentSpec, *, is_part: bool = False) -> InitialMemories:
    """Return what the cells of a resolved experiment begin with, read from the run or the server that it names.

    A cell takes the world model of its own label, else of the plain method, else of the method's only
    label there; of its own seed, else of the first that has one. Of a server see ``shared_memory``.

    Args:
        experiment: The experiment.
        is_part: Only a shard of it is run.

    Raises:
        UserError: There is no such run or server, or it has nothing that these methods could begin with.
    """
    if experiment.fork is not None:
        return {cell.name: _before_fork(experiment.fork, cell) for cell in experiment.cells()}
    if experiment.memory is None:
        return {}
    if (server := shared_memory.server_of(experiment)) is not None:
        return shared_memory.gather(experiment, server, is_part=is_part)
    source = RunFolder(Path(experiment.memory))
    held = source.experiment()
    if (part := source.shard()) is not None:
        raise UserError(f"{source.path} is shard {part.shard} of a run: join all its shards first with teamworld merge")
    if held.world != experiment.world:
        raise UserError(
            f"{source.path} is a run in the world {held.world}: its memory says nothing on {experiment.world}"
        )
    learners = [label for label in experiment.methods if methods.method_class(label).learns]
    if not learners:
        raise UserError(f"--memory {source.path}: none of {', '.join(experiment.methods)} has a memory; leave it out")
    if not source.memory_file.exists():
        raise UserError(f"{source.path} has no world model yet: run it first")
    with MemoryStore(source.memory_file, readonly=True) as memory, opened(source, held) as earlier:
        brought = {}
        for cell in experiment.cells():
            if cell.method in learners:
                match = _match(source, cell, held, {*memory.runs(), *(earlier.runs() if earlier else ())})
                _same_tasks(source, match, held, cell, experiment)
                deltas = (*(earlier.deltas(match.name) if earlier else ()), *memory.deltas(match.name))
                brought[cell.name] = [
                    msgspec.structs.replace(delta, episode=number) for number, delta in enumerate(deltas, start=1)
                ]
        return brought


def _before_fork(fork: Fork, cell: RunCell) -> list[MemoryDelta]:
    """Return what a cell of a fork's run knew when the episode began, in order."""
    source = RunFolder(Path(fork.run))
    with opened(source, source.experiment()) as earlier:
        deltas = list(earlier.deltas(cell.name)) if earlier is not None else []
    if fork.episode > 1 and source.memory_file.exists():
        with MemoryStore(source.memory_file, readonly=True) as memory:
            deltas += memory.deltas(cell.name, up_to=fork.episode - 1)
    return [msgspec.structs.replace(delta, episode=number) for number, delta in enumerate(deltas, start=1)]


def _match(source: RunFolder, cell: RunCell, held: ExperimentSpec, runs: set[str]) -> RunCell:
    """Return the cell of the other run that a cell takes its world model from."""
    name = methods.method_of(cell.method)
    kin = [label for label in held.methods if methods.method_of(label) == name]
    labels = [label for label in (cell.method, name) if label in kin] or (kin if len(kin) == 1 else [])
    for label in labels:
        cells = [RunCell(label, seed) for seed in held.seeds if RunCell(label, seed).name in runs]
        if cells:
            return next((candidate for candidate in cells if candidate.seed == cell.seed), cells[0])
    raise UserError(f"{source.path} has no world model for {cell.method}; it has: {', '.join(sorted(runs)) or 'none'}")


def _same_tasks(
    source: RunFolder, match: RunCell, held: ExperimentSpec, cell: RunCell, experiment: ExperimentSpec
) -> None:
    """Refuse a memory whose tasks go by other names: none of them would ever be found."""
    theirs, ours = (
        options.get("task_identity") for options in (held.options[match.method], experiment.options[cell.method])
    )
    if theirs != ours:
        raise UserError(
            f"{source.path} knows tasks of {match.method} by their {theirs}, {cell.method} by their {ours}: "
            f"give both the same task_identity"
        )


def bring(folder: RunFolder, brought: InitialMemories) -> None:
    """Put what the cells begin with into a folder that is not claimed yet; whoever calls holds the lock."""
    for rest in (
        *folder.path.glob("before.sqlite*"),
        *folder.path.glob(".before.sqlite*"),
    ):  # of a call that was killed
        rest.unlink()
    draft = folder.before_file.with_name(f"{folder.before_file.name}.tmp")
    with MemoryStore(draft) as store:
        for name, deltas in brought.items():
            for delta in deltas:
                store.commit(name, delta)
    draft.replace(folder.before_file)


@contextmanager
def opened(folder: RunFolder, experiment: ExperimentSpec) -> Iterator[MemoryStore | None]:
    """Open what a run began with, for reading; None where it began with nothing; raises ``UserError``."""
    if experiment.memory is None and experiment.fork is None:
        yield None
        return
    if not folder.before_file.exists():
        raise UserError(f"{folder.before_file} is missing: put back a copy of it, or start with another --out")
    with MemoryStore(folder.before_file, readonly=True) as store:
        yield store
