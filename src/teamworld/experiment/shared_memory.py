"""World models on a PostgreSQL server that runs on many machines share: ``--memory postgresql://...``.

A run begins with what the server holds when it starts, copied into its folder as from the folder of another run, and
adds what it learns as its episodes end. So a run depends on no server to be resumed or replayed, and what it plays does
not depend on what others store meanwhile.

What is stored has the name of its topic, of the run and of the cell. Runs share what they know on a topic: tasks by
class hold for a world, tasks by id for one instance of a level. A run is named by what decides how it plays and what it
began with: an episode that is played twice, such as by a task that was killed and repeated elsewhere, is stored once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from teamworld.errors import UserError
from teamworld.experiment.registration import settings_digest
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.server_store import ServerStore
from teamworld.memory.store import MemoryStore
from teamworld.methods import registry as methods
from teamworld.record.server import PATIENCE, Login, is_address, login

_REMEDY = "a comparison needs a memory that stands still: name the folder of a run that began with it"


class SharedMemory:
    """Where the cells of a run add what they learn.

    Args:
        store: The server.
        names: What each cell is called there.
    """

    def __init__(self, store: ServerStore, names: dict[RunCell, str]) -> None:
        self._store = store
        self._names = names

    def commit(self, cell: RunCell, delta: MemoryDelta) -> None:
        """Store what an episode adds, in place of any earlier attempt at it; raises ``UserError``."""
        self._store.commit(self._names[cell], delta)

    async def commit_aside(self, cell: RunCell, delta: MemoryDelta) -> None:
        """Do the same while the event loop goes on."""
        await self._store.server.aside(self.commit, cell, delta)


def server_of(experiment: ExperimentSpec) -> Login | None:
    """Return how to open the server whose world models a run shares; None where it shares none, as a fork."""
    is_shared = experiment.fork is None and is_address(experiment.memory)
    return login(str(experiment.memory)) if is_shared else None


def refuse(experiment: ExperimentSpec) -> None:
    """Refuse a server where several runs stand side by side: later ones would know what earlier ones learned.

    Raises:
        UserError: The experiment names one.
    """
    if is_address(experiment.memory):
        raise UserError(f"--memory {experiment.memory}: {_REMEDY}")


def gather(experiment: ExperimentSpec, server: Login, *, is_part: bool) -> dict[str, list[MemoryDelta]]:
    """Return what the cells of a resolved experiment begin with, by name, in the order of runs and episodes.

    Args:
        experiment: What is to be run.
        server: Where the world models are.
        is_part: It is a shard: what other shards of the same experiment have stored is left out, so that all begin with
            the same.

    Raises:
        UserError: The server cannot be used, or no method has a memory.
    """
    learners = [label for label in experiment.methods if methods.method_class(label).learns]
    if not learners:
        raise UserError(
            f"--memory {server.address}: none of {', '.join(experiment.methods)} has a memory; leave it out"
        )
    brought = {}
    with ServerStore(server) as store:
        for cell in experiment.cells():
            if cell.method not in learners:
                continue
            topic = _topic(experiment, cell)
            own = f"{topic}/{_settings(experiment, cell)}-"
            deltas = [
                delta
                for run, deltas in store.topic(topic).items()
                if not (is_part and run.startswith(own))
                for delta in deltas
            ]
            brought[cell.name] = [
                msgspec.structs.replace(delta, episode=number) for number, delta in enumerate(deltas, start=1)
            ]
    return brought


@contextmanager
def opened(
    experiment: ExperimentSpec,
    server: Login | None,
    cells: Sequence[RunCell],
    earlier: MemoryStore | None,
    patience: float = PATIENCE,
    notice: Callable[[str], None] = lambda line: None,
) -> Iterator[SharedMemory | None]:
    """Open the server whose world models a run shares; None where it shares none.

    Args:
        experiment: The resolved experiment.
        server: Where the world models are.
        cells: Those that are played.
        earlier: What the run began with.
        patience: Seconds to wait for a server that does not answer any more.
        notice: Gets a line when waiting begins.

    Raises:
        UserError: The server cannot be used.
    """
    if server is None:
        yield None
        return
    with ServerStore(server, patience, notice) as store:
        yield SharedMemory(store, {cell: _name(experiment, cell, earlier) for cell in cells})


def _name(experiment: ExperimentSpec, cell: RunCell, earlier: MemoryStore | None) -> str:
    begun = _digest(earlier.deltas(cell.name) if earlier is not None else ())
    return f"{_topic(experiment, cell)}/{_settings(experiment, cell)}-{begun}/{cell.name}"


def _topic(experiment: ExperimentSpec, cell: RunCell) -> str:
    """Return by what name runs share what they know with a cell."""
    world, place = experiment.world, "class"
    if experiment.options[cell.method].get("task_identity") != "class":
        instance = "fresh" if experiment.instances == "fresh" else cell.world_seed(1, experiment.instances)
        place = f"{experiment.level}/{instance}-{_digest(experiment.options[world])}"
    return f"{world}/{cell.method}/{place}"


def _settings(experiment: ExperimentSpec, cell: RunCell) -> str:
    """Return the digest of what decides how a cell plays, wherever its memory is kept."""
    return settings_digest(experiment.model_copy(update={"memory": None}), [cell.method], {})


def _digest(data: object) -> str:
    return hashlib.blake2b(msgspec.json.encode(data, order="deterministic", enc_hook=str), digest_size=8).hexdigest()
