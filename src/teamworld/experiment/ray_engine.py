"""Episodes as tasks of a Ray cluster, on this machine or by address: ``--engine ray`` (extra ``ray``).

A worker plays some episodes in a scratch folder of its own and hands back their logs, rows and what was learned; this
process alone writes the run's folder, as the runner does. So a worker that is lost has written nothing, its episodes
are played again to the same bytes, and workers need no file system in common.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import shutil
import tempfile
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from teamworld.errors import UserError
from teamworld.experiment import runner, shared_memory, warm_start
from teamworld.experiment.code_identity import code_of
from teamworld.experiment.process_pool import processors
from teamworld.experiment.reasoner_factory import ReasonerFactory, remote
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.shards import EpisodePart
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.spec_resolution import has_local_plugins
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow, Results
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.store import MemoryStore
from teamworld.methods import registry as methods
from teamworld.plain_files import read_file, write_file
from teamworld.reasoning.contract import LostCall
from teamworld.reasoning.llm.contract import CallKey, CallRecord, Form, Request

#: Seconds that a task is to take: much longer than Ray takes to start it, short enough to lose.
_TASK_SECONDS = 2.0
#: Of an episode whose method has not been played yet in this call.
_GUESSED_SECONDS = 0.5
#: Tasks under way for each processor: the next one waits where one ends.
_AHEAD = 2
Task = TypeVar("Task")
Result = TypeVar("Result")
#: A file system in memory, and bytes that must be free there.
_MEMORY, _ROOM = "/dev/shm", 1 << 30
#: Calls that wait for their answers at most.
_MOST_CALLS = 10_000
#: How often a task is given out again whose worker was lost.
_RETRIES = 20


class Unit(NamedTuple):
    """Episodes of a cell that follow one another: of a method that learns all that are missing, else one."""

    cell: RunCell
    episodes: Sequence[int]
    learns: bool


class EarlierEpisode(NamedTuple):
    """What a cell that goes on needs of an episode before."""

    row: EpisodeRow
    delta: MemoryDelta | None


class DeliveredEpisode(NamedTuple):
    """What a worker hands back of an episode."""

    row: EpisodeRow
    log: bytes
    delta: MemoryDelta | None


class LostEpisode(NamedTuple):
    """An episode that ended in an error, since no try of a call got through."""

    cell: RunCell
    episode: int
    error: LostCall


class Delivery(NamedTuple):
    """What a task hands back."""

    episodes: Sequence[DeliveredEpisode]
    lost: Sequence[LostEpisode]


class RemoteCall(NamedTuple):
    """A call of a language model that a worker wants to be made."""

    model: str
    cell: RunCell
    episode: int
    key: CallKey
    request: Request


class Job(NamedTuple):
    """What all tasks of a run share."""

    experiment: ExperimentSpec
    code: Mapping[str, str]
    """Digests of the code that is to play."""
    registered: str
    """Digest of what the run set out to play."""
    before: bytes | None
    """The file of world models that the run began with."""
    relay: Any
    """Handle of the ``Relay``; None where no language model is asked."""
    forms: Mapping[str, Form]
    """How the form of an answer is asked of each language model."""
    together: int
    """Episodes at the same time in one worker."""


class Batch(NamedTuple):
    """What one task plays."""

    units: Sequence[Unit]
    earlier: Mapping[RunCell, Sequence[EarlierEpisode]]
    """By cells of methods that learn."""


class Relay:
    """An actor that carries calls from workers to the process that started them.

    That one alone holds keys, budget, limits and the record of calls, so these are the same for all workers.
    """

    def __init__(self) -> None:
        self._calls: asyncio.Queue[tuple[int, RemoteCall]] = asyncio.Queue()
        self._answers: dict[int, asyncio.Future[CallRecord | UserError]] = {}
        self._numbers = itertools.count()

    async def ask(self, call: RemoteCall) -> CallRecord | UserError:
        """Return what came of a call, or why the run stops; called by workers."""
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        self._calls.put_nowait((number, call))
        return await self._answers[number]

    async def take(self) -> list[tuple[int, RemoteCall]]:
        """Wait for calls and return them with their numbers; called by the process that makes them."""
        calls = [await self._calls.get()]
        while not self._calls.empty():
            calls.append(self._calls.get_nowait())
        return calls

    async def answer(self, number: int, answer: CallRecord | UserError) -> None:
        """Give a call its answer."""
        self._answers.pop(number).set_result(answer)


class RelayedClient(NamedTuple):
    """The calls of one episode, in a worker."""

    relay: Any
    model: str
    cell: RunCell
    episode: int

    async def call(self, key: CallKey, request: Request) -> CallRecord:
        """Return what came of a call; once it returns, the call is on record.

        Raises:
            UserError: The run has to stop here; the same command goes on.
        """
        answer = await self.relay.ask.remote(RemoteCall(self.model, self.cell, self.episode, key, request))
        if isinstance(answer, UserError):
            raise answer
        assert isinstance(answer, CallRecord)
        return answer


class _CollectedErrors(runner.EpisodeErrors):
    """Keeps the episodes that ended in an error for the process that counts them."""

    def __init__(self) -> None:
        super().__init__(0)
        self.lost: list[LostEpisode] = []

    def add(self, cell: RunCell, episode: int, error: LostCall) -> None:
        self.lost.append(LostEpisode(cell, episode, error))


def play_batch(job: Job, batch: Batch) -> Delivery:
    """Play some episodes in a scratch folder; runs in a worker.

    Raises:
        UserError: The worker has other code than who started the run, or an episode cannot be played.
    """
    experiment = job.experiment
    _check_code(experiment, job.code)
    reasoners = remote(experiment, job.forms, partial(RelayedClient, job.relay), job.together)
    errors = _CollectedErrors()
    with tempfile.TemporaryDirectory(prefix="teamworld-", dir=_find_memory()) as scratch:
        folder = RunFolder(Path(scratch))
        if job.before is not None:
            folder.before_file.write_bytes(job.before)
        with Results(folder.results_file) as results, MemoryStore(folder.memory_file) as memory:
            for cell, episodes in batch.earlier.items():
                results.add_all(episode.row for episode in episodes)
                for episode in episodes:
                    if episode.delta is not None:
                        memory.commit(cell.name, episode.delta)
        part: dict[RunCell, list[int]] = defaultdict(list)
        for unit in batch.units:
            part[unit.cell] += [episode.row.episode for episode in batch.earlier.get(unit.cell, ())]
            part[unit.cell] += unit.episodes
        rows = runner.run_part(experiment, folder, job.registered, part, reasoners, errors)
        return Delivery(list(_collect(folder, batch, rows)), errors.lost)


def _check_code(experiment: ExperimentSpec, code: Mapping[str, str]) -> None:
    """Import what an experiment names, and see that a worker has the code of who started the run."""
    experiment.load_plugins()
    if changed := [name for name, digest in code_of(experiment).items() if code.get(name) != digest]:
        raise UserError(f"a Ray worker has another {', '.join(changed)} than this process: install the same versions")


def _find_memory() -> str | None:
    """Return a folder in memory with room for what a task plays, where waiting for a disk has no use; None if none."""
    try:
        return _MEMORY if shutil.disk_usage(_MEMORY).free > _ROOM else None
    except OSError:
        return None


def _collect(folder: RunFolder, batch: Batch, rows: Iterable[EpisodeRow]) -> Iterator[DeliveredEpisode]:
    """Yield the episodes of a batch out of the scratch folder where they were played."""
    wanted = {(unit.cell.name, episode): unit.cell for unit in batch.units for episode in unit.episodes}
    with MemoryStore(folder.memory_file, readonly=True) as memory:
        deltas = {(name, delta.episode): delta for name in memory.runs() for delta in memory.deltas(name)}
    for row in rows:
        place = row.cell, row.episode
        if place in wanted:
            yield DeliveredEpisode(row, read_file(folder.log(wanted[place], row.episode)), deltas.get(place))


class BatchQueue:
    """Deals out what is missing of a run in batches that take about equally long.

    Args:
        units: What is missing.
        earlier: What is finished of cells whose method learns.
    """

    def __init__(self, units: Iterable[Unit], earlier: Mapping[RunCell, Sequence[EarlierEpisode]]) -> None:
        self._units = deque(units)
        self._earlier = {cell: list(episodes) for cell, episodes in earlier.items()}
        self._rest: dict[RunCell, Unit] = {}
        self._times: dict[str, list[float]] = {}

    def take(self, most: float) -> Batch | None:
        """Return the next batch, None where nothing is left, or only what waits for a batch under way.

        Args:
            most: Seconds that it may take, as far as that is known.
        """
        units: list[Unit] = []
        seconds = 0.0
        while self._units and seconds < most:
            unit = self._units.popleft()
            each = self._expected(unit.cell.method)
            number = max(1, min(len(unit.episodes), int((most - seconds) / each)))
            units.append(unit._replace(episodes=unit.episodes[:number]))
            seconds += number * each
            if number < len(unit.episodes):
                self._rest[unit.cell] = unit._replace(episodes=unit.episodes[number:])
        if not units:
            return None
        return Batch(units, {unit.cell: tuple(self._earlier.get(unit.cell, ())) for unit in units if unit.learns})

    def finish(self, batch: Batch, delivery: Delivery) -> None:
        """Take note of what a batch brought; what follows it in its cells can be taken from now on.

        Nothing follows an episode that ended in an error where the method learns.
        """
        broken = {lost.cell for lost in delivery.lost}
        by_name = {unit.cell.name: unit.cell for unit in batch.units if unit.learns}
        for episode in delivery.episodes:
            self._times.setdefault(episode.row.method, []).append(episode.row.seconds)
            if (cell := by_name.get(episode.row.cell)) is not None:
                self._earlier.setdefault(cell, []).append(EarlierEpisode(episode.row, episode.delta))
        for cell in by_name.values():
            if (rest := self._rest.pop(cell, None)) is not None and cell not in broken:
                self._units.appendleft(rest)  # what takes longest goes on first

    @property
    def left(self) -> float:
        """Seconds that the rest takes, as far as that is known."""
        units = (*self._units, *self._rest.values())
        return fsum(len(unit.episodes) * self._expected(unit.cell.method) for unit in units)

    def _expected(self, method: str) -> float:
        times = self._times.get(method)
        return max(fsum(times) / len(times), 1e-3) if times else _GUESSED_SECONDS


def run(
    experiment: ExperimentSpec,
    folder: RunFolder,
    part: EpisodePart,
    progress: runner.EpisodeCallback,
    earlier: runner.EarlierCallback,
    opened: AbstractAsyncContextManager[ReasonerFactory],
    errors: runner.EpisodeErrors,
    running: RunOptions,
    notice: Callable[[str], None],
) -> None:
    """Run what is missing of a resolved experiment, in a folder that the caller holds.

    Args:
        experiment: The experiment.
        folder: Its folder.
        part: What is to be run of it.
        progress: Called after every episode that is played now.
        earlier: Called with each cell that has finished episodes.
        opened: The reasoners; calls of language models are made here, whichever worker asks.
        errors: Is told of episodes that end in an error.
        running: How the run is carried out.
        notice: Gets a line when a server of world models is waited for.

    Raises:
        UserError: There is no cluster, a worker has other code, or an episode cannot be played.
    """
    ray = _connect(running.ray_address, running.processes)
    server = shared_memory.server_of(experiment)
    with (
        Results(folder.results_file) as results,
        MemoryStore(folder.memory_file) as memory,
        warm_start.opened(folder, experiment) as brought,
        shared_memory.opened(experiment, server, list(part), brought, running.patience, notice) as shared,
    ):
        queue = _queue(experiment, part, results, memory, earlier)
        cells = {cell.name: cell for cell in part}

        def keep(delivery: Delivery) -> None:
            for episode in delivery.episodes:
                path = folder.new_log(cells[episode.row.cell], episode.row.episode)
                path.parent.mkdir(parents=True, exist_ok=True)
                write_file(path, episode.log)
            for episode in delivery.episodes:
                if episode.delta is not None:
                    memory.commit(episode.row.cell, episode.delta)
                    if shared is not None:
                        shared.commit(cells[episode.row.cell], episode.delta)
            results.add_all(episode.row for episode in delivery.episodes)
            for episode in delivery.episodes:
                progress(episode.row)
            for lost in delivery.lost:
                errors.add(*lost)

        with _explained(ray):
            runner.completed(_play_all(ray, experiment, folder, opened, queue, keep))


def in_order(
    work: Callable[[Task], Result], tasks: Sequence[Task], experiment: ExperimentSpec, running: RunOptions
) -> Iterator[Result]:
    """Yield what each task gives, in the order of the tasks: ``process_pool.in_order`` on a cluster.

    Args:
        work: A function that workers can import.
        tasks: What it is called with.
        experiment: What it is about; workers with other code are refused.
        running: Where the cluster is.

    Raises:
        UserError: There is no cluster, or a worker has other code.
    """
    if has_local_plugins(experiment):
        raise UserError("workers of a Ray cluster need worlds, methods and reasoners that are in modules")
    ray = _connect(running.ray_address, running.processes)
    shared = ray.put((work, experiment, code_of(experiment)))
    play = ray.remote(max_retries=_RETRIES)(_do_task)
    with _explained(ray):
        for reference in [play.remote(shared, task) for task in tasks]:
            yield ray.get(reference)


def _do_task(shared: tuple[Callable[[Task], Result], ExperimentSpec, Mapping[str, str]], task: Task) -> Result:
    """Carry out one task; runs in a worker."""
    work, experiment, code = shared
    _check_code(experiment, code)
    return work(task)


@contextmanager
def _explained(ray: Any) -> Iterator[None]:  # noqa: ANN401  (a module)
    """Turn what Ray gives up on into one line for the user."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, UserError):
            raise UserError(str(error.cause)) from None
        raise
    except ray.exceptions.RayError as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"Ray gave up on a task: {reason}; the same command goes on where it stopped") from None


def _queue(
    experiment: ExperimentSpec,
    part: EpisodePart,
    results: Results,
    memory: MemoryStore,
    tell: runner.EarlierCallback,
) -> BatchQueue:
    """Return what is missing: cells of methods that learn first, since they take longest."""
    units: list[Unit] = []
    earlier: dict[RunCell, list[EarlierEpisode]] = {}
    for cell, numbers in part.items():
        method = methods.make(cell.method, experiment.options[cell.method])
        if finished := results.digests(cell):
            tell(cell, finished)
        missing = [number for number in numbers if number not in finished]
        if not any(method.learns_in(number) for number in numbers):
            units += [Unit(cell, [number], learns=False) for number in missing]
        elif missing:
            memory.discard(cell.name, keep=finished)
            units.append(Unit(cell, missing, learns=True))
            deltas = {delta.episode: delta for delta in memory.deltas(cell.name)}
            earlier[cell] = [EarlierEpisode(row, deltas.get(row.episode)) for row in results.each(cell)]
    return BatchQueue(sorted(units, key=lambda unit: not unit.learns), earlier)


async def _play_all(
    ray: Any,  # noqa: ANN401  (a module)
    experiment: ExperimentSpec,
    folder: RunFolder,
    opened: AbstractAsyncContextManager[ReasonerFactory],
    queue: BatchQueue,
    keep: Callable[[Delivery], None],
) -> None:
    """Give batches to workers until nothing is left, and keep what they bring, as they end."""
    play = ray.remote(max_retries=_RETRIES)(play_batch)
    workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
    before = read_file(folder.before_file) if folder.before_file.exists() else None
    batches: dict[asyncio.Future[Delivery], tuple[Any, Batch]] = {}
    serving: asyncio.Task[None] | None = None
    async with opened as reasoners:
        together = -(-reasoners.together // workers)
        relay = None
        if reasoners.forms:
            relay = ray.remote(max_concurrency=_MOST_CALLS, num_cpus=0)(Relay).remote()
            serving = asyncio.create_task(_serve(relay, reasoners))
        job = ray.put(Job(experiment, code_of(experiment), folder.registered, before, relay, reasoners.forms, together))
        try:
            while True:
                while len(batches) < _AHEAD * workers:
                    most = min(_TASK_SECONDS * together, queue.left / (_AHEAD * workers))
                    if (batch := queue.take(most)) is None:
                        break
                    task = play.remote(job, batch)
                    batches[asyncio.wrap_future(task.future())] = task, batch
                if not batches:
                    return
                waited: set[asyncio.Future[Any]] = {*batches, *([serving] if serving else [])}
                done, _ = await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
                for ended in done:
                    if ended is serving:
                        ended.result()  # which says why nobody answers any more
                        continue
                    _, batch = batches.pop(ended)
                    delivery = ended.result()
                    queue.finish(batch, delivery)
                    keep(delivery)
        finally:
            if serving is not None:
                serving.cancel()
            for future, (task, _) in batches.items():
                future.cancel()
                ray.cancel(task, force=True)


async def _serve(relay: Any, reasoners: ReasonerFactory) -> None:  # noqa: ANN401  (a handle of an actor)
    """Make the calls that workers ask for, at the same time; one that two workers ask for is made once."""
    under_way: dict[tuple[object, ...], asyncio.Task[CallRecord]] = {}

    async def answer(number: int, call: RemoteCall) -> None:
        place = call[:-1]
        if place not in under_way:  # else its worker was lost meanwhile, and another plays the same episode
            client = reasoners.model(call.model, call.cell, call.episode, reasoners.experiment.salt).line
            under_way[place] = asyncio.create_task(client.call(call.key, call.request))
        answered: CallRecord | UserError
        try:
            answered = await asyncio.shield(under_way[place])
        except UserError as error:
            answered = UserError(str(error))
        under_way.pop(place, None)
        await relay.answer.remote(number, answered)

    async with asyncio.TaskGroup() as group:
        while True:
            for number, call in await relay.take.remote():
                group.create_task(answer(number, call))


def _connect(address: str | None, processes: int | None) -> Any:  # noqa: ANN401  (a module)
    """Return Ray, connected: once for all runs of this process."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing leaves this machine unasked
    try:
        import ray
    except ImportError:
        raise UserError("--engine ray needs the extra ray: pip install 'teamworld[ray]'") from None
    if ray.is_initialized():
        return ray
    is_ours = address is None and not os.environ.get("RAY_ADDRESS")
    local = {"num_cpus": processes or processors(), "include_dashboard": False} if is_ours else {}
    try:
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False, **local)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"no Ray cluster at {address or os.environ.get('RAY_ADDRESS') or 'this machine'}: {reason}"
        ) from None
    return ray
