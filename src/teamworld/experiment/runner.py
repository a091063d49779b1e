"""Running an experiment: cells and episodes at the same time where reasoners are waited for, resuming where it stopped.

At the end of an episode its log is finished and synced, then the memory's delta is committed (also to a server that
runs share), then the result row is written. A kill at any point leaves at most one episode to run again, and
that episode runs again from its own named generators to the same bytes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import msgspec

from teamworld.episode.answers_ahead import AnswersAhead
from teamworld.episode.causal import CausalEpisode, check_causal
from teamworld.episode.loop import Episode, Setting
from teamworld.errors import UserError
from teamworld.experiment import process_pool, shards, shared_memory, warm_start
from teamworld.experiment.code_identity import code_of, dependencies
from teamworld.experiment.interventions import ForkedMethod, ForkedReasoner, Interventions
from teamworld.experiment.metered_reasoner import MeteredReasoner
from teamworld.experiment.reasoner_factory import ReasonerFactory, RunMonitor, live, prepare
from teamworld.experiment.replay_reasoner import from_record, recall
from teamworld.experiment.run_options import CAUSAL, LOCAL, RunOptions
from teamworld.experiment.shards import EpisodePart
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.spec_resolution import has_local_plugins
from teamworld.experiment.store.folder import FolderShard, RunFolder
from teamworld.experiment.store.recorded_calls import CallStore, NotRecorded
from teamworld.experiment.store.remote import EpisodeUpload, remote_of
from teamworld.experiment.store.results import EpisodeRow, Results
from teamworld.experiment.warm_start import RunMemories
from teamworld.memory.store import MemoryStore
from teamworld.methods import registry as methods
from teamworld.methods.common.neighbourhoods import in_neighbourhoods
from teamworld.methods.contract import Method
from teamworld.metrics.summary import summarise
from teamworld.reasoning.contract import LostCall, Reasoner
from teamworld.record import EpisodeStart, Event, LogWriter, read_log
from teamworld.record.log import digest
from teamworld.record.server import PATIENCE, Login
from teamworld.worlds import registry as worlds

#: Episodes below which processes of their own take longer to start than they save.
_WORTH = 40
#: Called after every episode, with its row.
EpisodeCallback = Callable[[EpisodeRow], None]
#: Called with a cell and the numbers of those of its episodes that an earlier call has finished.
EarlierCallback = Callable[[RunCell, Collection[int]], None]
Result = TypeVar("Result")


class PlayedEpisode(NamedTuple):
    """An episode that was played to its end."""

    events: list[Event]
    digest: str
    """Of its log, see ``teamworld.record.log.digest``."""
    unused: int = 0
    """Questions that were asked ahead of their turn and whose turn never came."""


def run(
    experiment: ExperimentSpec,
    out: Path,
    progress: EpisodeCallback | None = None,
    running: RunOptions | None = None,
    watch: RunMonitor | None = None,
) -> list[EpisodeRow]:
    """Run an experiment in a folder, or go on with it, and return all episodes that the folder then holds.

    With ``running.shard`` that is one part of the experiment, see ``shards``.

    Args:
        experiment: What to run; its options need not be filled in.
        out: The run's folder; made if it is not there. In the copy of a URL, episodes are uploaded.
        progress: Called after every episode, finished ones of an earlier call included.
        running: How to carry it out: limits, budget, keys.
        watch: Told of what calls of language models take, and of what the user should know now.

    Raises:
        UserError: The experiment or the folder cannot be used; the folder is left as it was. Or a limit was reached
            or a provider cannot be used: then the same call goes on where it stopped.
    """
    folder = RunFolder(out)
    if progress is None:
        finish(experiment, out, running=running, watch=watch)
    else:

        def tell(cell: RunCell, numbers: Collection[int]) -> None:
            with Results(folder.results_file, readonly=True) as results:
                for row in results.each(cell):
                    progress(row)

        finish(experiment, out, progress, running, watch, tell)
    return [row for _, row in folder.finished(folder.experiment())]


def finish(
    experiment: ExperimentSpec,
    out: Path,
    progress: EpisodeCallback = lambda row: None,
    running: RunOptions | None = None,
    watch: RunMonitor | None = None,
    earlier: EarlierCallback = lambda cell, numbers: None,
) -> None:
    """Play what is missing of an experiment in a folder; what is finished is counted, and not read.

    Args:
        experiment: As of ``run``, as all that is not named here.
        out: The run's folder.
        progress: Called after every episode that is played now.
        running: How to carry it out.
        watch: What the user should know.
        earlier: Called with each cell that has finished episodes, before others of it are played.

    Raises:
        UserError: As of ``run``.
    """
    running, watch = running or RunOptions(), watch or RunMonitor()
    if (remote := remote_of(out)) is None:
        _finish_here(experiment, out, progress, running, watch, earlier)
        return
    folder = RunFolder(out)
    with EpisodeUpload(remote) as upload:

        def add(row: EpisodeRow) -> None:
            upload.add(folder.new_log(RunCell(row.method, row.seed), row.episode))
            progress(row)

        def add_earlier(cell: RunCell, numbers: Collection[int]) -> None:
            upload.add_earlier(folder.new_log(cell, 1).parent, numbers)
            earlier(cell, numbers)

        _finish_here(experiment, out, add, running, watch, add_earlier)


def _finish_here(
    experiment: ExperimentSpec,
    out: Path,
    progress: EpisodeCallback,
    running: RunOptions,
    watch: RunMonitor,
    earlier: EarlierCallback,
) -> None:
    folder = RunFolder(out)
    experiment.load_plugins()
    experiment, source = recall(experiment, folder)
    experiment = folder.grown(folder.keep_limit(experiment)).resolved()
    folder.check(experiment)  # before anything is touched
    folder.check_shard(experiment, running.part)
    part = shards.select(experiment, running.part)
    is_finished = folder.is_begun and folder.count_finished(experiment) == shards.count(part)
    if not is_finished:
        _check_world(experiment, folder)
        _prepare_methods(experiment)
        if running.schedule == CAUSAL:
            _check_causal(experiment)
    code = None if is_finished else code_of(experiment)
    if code is not None:
        folder.check_code(code, accepted=running.accept_changes)
    if running.engine != LOCAL and has_local_plugins(experiment):
        raise UserError(
            "workers of a Ray cluster need worlds, methods and reasoners that are in modules: leave out --engine"
        )
    asks = source is None and not is_finished
    plan = prepare(experiment, running, watch) if asks else None
    if running.engine != LOCAL and plan is not None and plan.people:
        raise UserError("a person answers at one terminal: leave out --engine")
    if running.schedule == CAUSAL and plan is not None and plan.people:
        raise UserError("a person answers step by step: leave out --schedule")
    players = (*experiment.methods, *(experiment.fork.methods if experiment.fork is not None else ()))
    templates = [question.template for question in methods.kinds(players).values()]
    if plan is not None and (plan.endpoints or plan.people):
        folder.check_prompts(templates)
    brought = {} if folder.experiment_file.exists() else warm_start.gather(experiment, is_part=running.part is not None)
    if plan is not None and plan.endpoints and not folder.experiment_file.exists():
        watch.begins(experiment, plan.prices)
    with folder.locked():
        experiment = folder.grown(experiment)
        folder.check(experiment)  # and again, now that nobody else can write
        folder.check_shard(experiment, running.part)
        part = shards.select(experiment, running.part)
        size = shards.count(part)
        if brought and not folder.experiment_file.exists():
            warm_start.bring(folder, brought)
        table = None if plan is None or not plan.endpoints else plan.prices.table()
        own_templates = [template for template in templates if ":" in template]
        held = None if running.part is None else FolderShard(*running.part, size)
        folder.claim(experiment, table, own_templates, code, dependencies(), held)
        nobody = source is None and (plan is None or not (plan.endpoints or plan.people))
        server = None if is_finished else shared_memory.server_of(experiment)
        processes = process_pool.many(size, _WORTH, running.processes) if nobody else 1
        is_causal = running.schedule == CAUSAL
        if processes > 1 and running.engine == LOCAL and not is_causal and not has_local_plugins(experiment):
            _run_in_processes(experiment, folder, part, processes, progress, earlier, server)
            return
        reasoners: AbstractAsyncContextManager[ReasonerFactory] = nullcontext(ReasonerFactory(experiment))
        if source is not None:
            reasoners = from_record(experiment, folder, source)
        elif plan is not None:
            reasoners = live(experiment, folder, plan, running, watch)
            if running.repeat_errors:
                finished = folder.finished_places(experiment)
                with CallStore(folder.results_file) as calls:
                    calls.forget_failed(finished)
        errors = EpisodeErrors(size, running.tolerate, watch.notice)
        if running.engine != LOCAL and source is None and not is_finished:
            from teamworld.experiment import ray_engine  # only here: it stands on this module

            callbacks = progress, earlier
            ray_engine.run(experiment, folder, part, *callbacks, reasoners, errors, running, watch.notice)
            return
        sharing = server, running.patience, watch.notice
        played = folder.registered, part, progress, earlier
        completed(_run(experiment, folder, *played, reasoners, errors, *sharing, is_causal=is_causal))


def _check_world(experiment: ExperimentSpec, folder: RunFolder) -> None:
    """See that the world is still made from what it was: a file that its options name may hold something else by now.

    Raises:
        UserError: It is not: the episodes of a run are to be played in the same world.
    """
    first = folder.first_finished(experiment)
    if first is None or not (path := folder.log(*first)).exists():
        return
    start: EpisodeStart | None = None
    with suppress(UserError):  # a damaged log tells nothing here; whoever needs it says so
        start = next((event for event in read_log(path) if isinstance(event, EpisodeStart)), None)
    if start is None:
        return
    options = experiment.options[experiment.world]
    world = worlds.make(experiment.world, experiment.level, start.world_seed, experiment.step_limit, options)
    current: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(dict(world.spec.options)))
    for name, then in start.world_options.items():
        if name in current and current[name] != then:
            raise UserError(
                f"what {experiment.world}.{name} names has changed since the run in {folder.path} began (it was "
                f"{then}, now {current[name]}): put back what it was, or start anew with another --out"
            )


def _prepare_methods(experiment: ExperimentSpec) -> None:
    """See that the methods have what they need beside the package, such as files; raises ``UserError``."""
    for cell in experiment.cells():
        method = methods.make(cell.method, experiment.options[cell.method])
        if type(method).prepare is not Method.prepare:
            seed, options = cell.world_seed(1, experiment.instances), experiment.options[experiment.world]
            world = worlds.make(experiment.world, experiment.level, seed, experiment.step_limit, options)
            method.prepare(world.domain)


def _check_causal(experiment: ExperimentSpec) -> None:
    """See that agents may run ahead of each other; raises ``UserError``."""
    if experiment.fork is not None:
        raise UserError("a fork is played step by step: leave out --schedule")
    for cell in experiment.cells():
        seed, options = cell.world_seed(1, experiment.instances), experiment.options
        world = worlds.make(experiment.world, experiment.level, seed, experiment.step_limit, options[experiment.world])
        check_causal(methods.make(cell.method, options[cell.method]), world)


def _run_in_processes(
    experiment: ExperimentSpec,
    folder: RunFolder,
    part: EpisodePart,
    processes: int,
    progress: EpisodeCallback,
    earlier: EarlierCallback,
    server: Login | None,
) -> None:
    with Results(folder.results_file) as results, MemoryStore(folder.memory_file):
        missing = []
        for cell, numbers in part.items():
            if done := results.digests(cell):
                earlier(cell, done)
            if len(done) < len(numbers):
                missing.append({cell: numbers})
        playing = partial(run_part, experiment, folder, folder.registered, server=server)
        for rows in process_pool.as_done(playing, missing, processes) if missing else ():
            for row in rows:
                progress(row)


def run_part(
    experiment: ExperimentSpec,
    folder: RunFolder,
    registered: str,
    part: EpisodePart,
    reasoners: ReasonerFactory | None = None,
    errors: EpisodeErrors | None = None,
    server: Login | None = None,
) -> list[EpisodeRow]:
    """Run what is missing of some episodes in a folder that the caller holds, and return the rows in order.

    Args:
        experiment: The resolved experiment.
        folder: The folder.
        registered: Digest of what the run set out to play, see ``experiment.registration``.
        part: The episodes.
        reasoners: Who answers; None: rules, which ask nobody.
        errors: Is told of episodes that end in an error; None: the first one ends all.
        server: Where what is learned is shared; None: nowhere.
    """
    experiment.load_plugins()
    answering = nullcontext(reasoners or ReasonerFactory(experiment))
    errors = errors or EpisodeErrors(shards.count(part))
    played: list[EpisodeRow] = []
    callbacks = played.append, lambda cell, numbers: None
    completed(_run(experiment, folder, registered, part, *callbacks, answering, errors, server))
    order = {cell.name: place for place, cell in enumerate(part)}
    return sorted(played, key=lambda row: (order[row.cell], row.episode))


async def _run(
    experiment: ExperimentSpec,
    folder: RunFolder,
    registered: str,
    part: EpisodePart,
    progress: EpisodeCallback,
    earlier: EarlierCallback,
    opened: AbstractAsyncContextManager[ReasonerFactory],
    errors: EpisodeErrors,
    server: Login | None = None,
    patience: float = PATIENCE,
    notice: Callable[[str], None] = lambda line: None,
    *,
    is_causal: bool = False,
) -> None:
    with (
        Results(folder.results_file) as results,
        MemoryStore(folder.memory_file) as memory,
        warm_start.opened(folder, experiment) as brought,
        shared_memory.opened(experiment, server, list(part), brought, patience, notice) as shared,
    ):
        async with opened as reasoners:
            turn = asyncio.Semaphore(reasoners.together)
            memories = RunMemories(memory, brought, shared)
            codes = {method: code_of(experiment, method) for method in {cell.method: None for cell in part}}
            job = CellRunner(
                experiment,
                folder,
                part,
                results,
                memories,
                reasoners,
                progress,
                earlier,
                turn,
                errors,
                codes,
                registered,
                notice,
                is_causal,
            )
            await job.finish_all(job.run(cell) for cell in part)


class EpisodeErrors:
    """The episodes of a run that ended in an error: no try of a call got through. They have no score.

    Args:
        episodes: Of the run.
        tolerated: Share of them that may end so.
        notice: Gets a line on each.
    """

    def __init__(
        self, episodes: int, tolerated: float = 0.0, notice: Callable[[str], None] = lambda line: None
    ) -> None:
        self._episodes, self._tolerated, self._notice = episodes, tolerated, notice
        self._count = 0

    def add(self, cell: RunCell, episode: int, error: LostCall) -> None:
        """Take note of one.

        Raises:
            UserError: That is more than is tolerated.
        """
        self._count += 1
        self._notice(f"episode {episode} of {cell.name} ended in an error: {error}")
        if self._count > self._tolerated * self._episodes:
            raise UserError(
                f"{self._count} of {self._episodes} episodes ended in an error, more than --tolerate "
                f"{self._tolerated:g}; the last: {error}. The same command with --repeat-errors plays them again, with "
                "a larger --tolerate it goes on without them"
            )


@dataclass(frozen=True)
class CellRunner:
    """A run that goes on: what its cells share."""

    experiment: ExperimentSpec
    folder: RunFolder
    part: EpisodePart
    """What is to be run of it."""
    results: Results
    memories: RunMemories
    reasoners: ReasonerFactory
    progress: EpisodeCallback
    earlier: EarlierCallback
    turn: asyncio.Semaphore
    """Held while an episode is played."""
    errors: EpisodeErrors
    codes: Mapping[str, Mapping[str, str]]
    """What code plays each method, see ``code_identity``."""
    registered: str
    """Digest of what the run set out to play, see ``registration``."""
    notice: Callable[[str], None]
    """Gets a line that the user should read now."""
    is_causal: bool
    """Whether agents that cannot affect each other yet run ahead of each other."""

    async def run(self, cell: RunCell) -> None:
        """Run what is missing of a cell: in order where the method learns, else at the same time."""
        finished = self.results.digests(cell)
        method = self._method(cell)
        numbers = self.part[cell]
        learning = [number for number in numbers if method.learns_in(number)]
        if learning and sorted(finished) != list(numbers[: len(finished)]):
            raise UserError(
                f"{self.folder.results_file} lacks an episode of {cell.name} before later ones: use another --out"
            )
        self.memories.learned.discard(cell.name, keep=finished)
        self._restore(cell, finished)
        if finished:
            self.earlier(cell, finished)
        missing = [number for number in numbers if number not in finished]
        if learning:
            for number in missing:
                if not await self._episode(cell, number):
                    return  # what follows would learn from an episode that never was
        else:
            await self.finish_all(self._episode(cell, number) for number in missing)

    async def finish_all(self, works: Iterable[Coroutine[Any, Any, object]]) -> None:
        """Do all, at the same time if episodes may be; the first error ends the others.

        One after the other, what a record lacks ends only the work that needs it, and is raised at the end.
        """
        lacking: NotRecorded | None = None
        if self.reasoners.together > 1:
            try:
                async with asyncio.TaskGroup() as group:
                    for work in works:
                        group.create_task(work)
            except BaseExceptionGroup as failed:
                raise failed.exceptions[0] from None  # one error, as if it had been alone
            return
        for work in works:
            try:
                await work
            except NotRecorded as error:
                lacking = lacking or error
        if lacking is not None:
            raise lacking

    def _method(self, cell: RunCell) -> Method:
        return methods.make(cell.method, self.experiment.options[cell.method])

    def _restore(self, cell: RunCell, finished: Mapping[int, str]) -> None:
        """Learn again from the logs of finished episodes that the memory does not hold: the log is the truth.

        Args:
            cell: Whose.
            finished: Digests of the logs by number.
        """
        method, memory = self._method(cell), self.memories.learned
        held = set(memory.episodes(cell.name))
        missing = [episode for episode in sorted(finished) if method.learns_in(episode) and episode not in held]
        for episode in missing:
            path = self.folder.log(cell, episode)
            if not path.exists() or digest(path) != finished[episode]:
                raise UserError(f"{path} is missing or altered: put back a copy of it, or start with another --out")
            if (delta := method.learn(list(read_log(path)))) is not None:
                memory.commit(cell.name, delta)

    async def _episode(self, cell: RunCell, episode: int) -> bool:
        """Play an episode; return whether it came to its end."""
        async with self.turn:
            begun = time.perf_counter()
            path = self.folder.new_log(cell, episode)
            path.parent.mkdir(parents=True, exist_ok=True)
            reasoner = self.reasoners.of(cell, episode)
            try:
                fork = self.experiment.fork
                own = self.codes[cell.method], self.registered if fork is None else fork.registered
                played = await play(
                    self.experiment, cell, episode, path, self.memories, reasoner, *own, is_causal=self.is_causal
                )
            except LostCall as error:
                path.unlink(missing_ok=True)
                self.errors.add(cell, episode, error)
                return False
            if played.unused:
                self.notice(f"episode {episode} of {cell.name}: {played.unused} questions asked ahead had no use")
            delta = self._method(cell).learn(played.events)
            if delta is not None:
                await self.memories.commit(cell, delta)
            seconds = time.perf_counter() - begun
            summary = summarise(played.events)
            row = EpisodeRow(cell.name, episode, cell.method, cell.seed, summary, played.digest, seconds)
            self.results.add(row)
        self.progress(row)
        return True


async def play(
    experiment: ExperimentSpec,
    cell: RunCell,
    episode: int,
    path: Path,
    memories: RunMemories,
    reasoner: Reasoner,
    code: Mapping[str, str] = MappingProxyType({}),
    registered: str = "",
    earlier: Sequence[Event] | None = None,
    is_causal: bool = False,
) -> PlayedEpisode:
    """Play one episode of a resolved experiment into a log file, which names the code that plays it.

    ``registered`` is the digest of what its run set out to play, which stands in the first record.
    ``earlier`` is the log of the same episode where it is played again. With ``is_causal`` agents run ahead of each
    other, to the same bytes.
    """
    options, world_seed = experiment.options, cell.world_seed(episode, experiment.instances)
    world = worlds.make(
        experiment.world, experiment.level, world_seed, experiment.step_limit, options[experiment.world]
    )
    method = methods.make(cell.method, options[cell.method])
    if earlier is not None:
        method.recall(earlier)
    recorded_options = method.recorded_options(options[cell.method])
    interventions = Interventions(experiment.fork) if experiment.fork is not None else None
    if interventions is not None:
        reasoner = reasoner if isinstance(reasoner, ForkedReasoner) else ForkedReasoner(reasoner, {})
        reasoner.join(interventions)
        others = {
            label: methods.make(label, methods.resolve(label, options).model_dump(mode="json"))
            for label in interventions.fork.methods
        }
        method = ForkedMethod(method, others, interventions, reasoner, world)
    else:
        method = in_neighbourhoods(method)
    answers = AnswersAhead(reasoner) if is_causal else None
    reasoner = reasoner if answers is None else answers.in_turn
    allowance = experiment.allowance(cell, episode)
    if allowance is not None:
        reasoner = MeteredReasoner(reasoner, allowance, reasoning=experiment.reasoning == "on")
    with LogWriter(path) as log:
        played = (Episode if answers is None else partial(CausalEpisode, answers))(
            world=world,
            method=method,
            reasoner=reasoner,
            memory=memories.world_model(cell),
            log=log,
            streams=cell.streams(episode, experiment.salt),
            setting=Setting(
                seed=cell.seed,
                world_seed=world_seed,
                episode=episode,
                method_options=recorded_options,
                messages=experiment.message_rule(cell.method),
                retries=experiment.retries,
                log_level=experiment.log_level,
                code=code,
                registered=registered,
            ),
            edit=(lambda message: message) if interventions is None else interventions.edit,
            allowance=allowance,
        )
        await played.play()
        if interventions is not None:
            interventions.check()
        log.finish()
        return PlayedEpisode(log.events, log.digest, 0 if answers is None else answers.unused)


def completed(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end, also where an event loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    under_way: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []

    async def tracked() -> Result:
        under_way.append((asyncio.get_running_loop(), asyncio.current_task()))
        return await work

    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(asyncio.run, tracked()).result()
        except KeyboardInterrupt:  # reaches this thread alone: without a word, the other would go on and spend
            for loop, task in under_way:
                if task is not None:
                    with suppress(RuntimeError):  # it came to its end meanwhile
                        loop.call_soon_threadsafe(task.cancel)
            raise
