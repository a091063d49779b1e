"""The reasoners of a run: who answers, where calls of language models go, what they may cost."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from math import fsum
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, NoReturn, TypeAlias

from teamworld.errors import UserError
from teamworld.experiment.interventions import ForkedReasoner
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.answer_cache import AnswerCache, EpisodeCache
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore, EpisodeCalls, ForkedCalls, RecordedCalls
from teamworld.reasoning import registry
from teamworld.reasoning.contract import Reasoner
from teamworld.reasoning.human import HUMAN, ClosedDesk, Desk, PersonReasoner, Terminal, TerminalDesk
from teamworld.reasoning.llm import budget as budgets
from teamworld.reasoning.llm import keys, providers
from teamworld.reasoning.llm.budget import Budget, BudgetLimit, Spent, spent_on
from teamworld.reasoning.llm.contract import CallKey, CallRecord, Fault, Form, Request
from teamworld.reasoning.llm.expense import Expense, completion_expense, fault_expense
from teamworld.reasoning.llm.gateway import Gateway, Patience, Sent
from teamworld.reasoning.llm.keys import Secret
from teamworld.reasoning.llm.mailbox import Mailbox
from teamworld.reasoning.llm.model_names import FILES, Endpoint, is_model, parse_endpoint
from teamworld.reasoning.llm.prices import Prices
from teamworld.reasoning.llm.reasoner import CallSource, LanguageModel
from teamworld.reasoning.router import ReasonerRouter, parse_routes
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record.server import is_address
from teamworld.seeding import salted_seed


class RunMonitor(NamedTuple):
    """Who is told of what happens while a run goes on."""

    spent: Callable[[Spent, int, int], None] = lambda spent, flying, waiting: None
    """What the run has taken so far, the calls in flight, and those that wait for a place or their next try."""
    notice: Callable[[str], None] = lambda line: None
    """A line that the user should read now."""
    begins: Callable[[ExperimentSpec, Prices], None] = lambda experiment, prices: None
    """Called before the first call of a new run that asks language models; nothing is written yet."""
    terminal: Terminal | None = None
    """Where a person answers."""
    desk: Desk | None = None
    """Where people answer in place of the terminal."""

    @property
    def person_desk(self) -> Desk | None:
        """Where a person is asked; None where none can be."""
        return TerminalDesk(self.terminal) if self.desk is None and self.terminal is not None else self.desk


def _nobody(*asked: object) -> NoReturn:
    raise AssertionError(asked)  # rules, and runs that are finished, ask neither a model nor a person


@dataclass(frozen=True)
class ReasonerFactory:
    """Makes the reasoner of each episode; by default of a run in which nothing is left to ask."""

    experiment: ExperimentSpec
    model: Callable[[str, RunCell, int, int | None], LanguageModel] = _nobody
    """The language model of a name in an episode, sampled with another salt than that of the run unless it is None."""
    person: Callable[[RunCell, int], Reasoner] = _nobody
    """Who asks a person in an episode."""
    together: int = 1
    """Episodes at the same time."""
    forms: Mapping[str, Form] = field(default_factory=dict)
    """How the form of an answer is asked of each language model."""

    def of(self, cell: RunCell, episode: int) -> Reasoner:
        """Return who answers in an episode."""
        fork = self.experiment.fork
        if fork is None:
            return self._routed(self.experiment.reasoner, cell, episode)
        counts: Counter[tuple[str, str]] = Counter()  # whoever takes over goes on counting questions and calls
        first = self._routed(self.experiment.reasoner, cell, episode, counts)
        heirs = {heir: self._routed(heir.reasoner, cell, episode, counts, heir.seed) for heir in fork.heirs}
        return ForkedReasoner(first, heirs)

    def _routed(
        self,
        text: str,
        cell: RunCell,
        episode: int,
        counts: Counter[tuple[str, str]] | None = None,
        seed: int | None = None,
    ) -> Reasoner:
        """Return the reasoner that a text names, with the counts that it shares and a seed of its own."""
        routes = parse_routes(text)
        made = {name: self._make(name, cell, episode, seed) for name in dict.fromkeys(route.name for route in routes)}
        for reasoner in made.values():
            if counts is not None and isinstance(reasoner, RuleReasoner | LanguageModel | PersonReasoner):
                reasoner.counts = counts
        if len(routes) == 1:
            return made[routes[0].name]
        return ReasonerRouter(text, [(route, made[route.name]) for route in routes])

    def _make(self, name: str, cell: RunCell, episode: int, seed: int | None) -> Reasoner:
        if name == HUMAN:
            return self.person(cell, episode)
        if is_model(name):
            return self.model(name, cell, episode, continuation_salt(seed, self.experiment.salt))
        streams = cell.streams(episode, self.experiment.salt)
        return registry.make_reasoner(name, streams if seed is None else partial(streams, "continuation", seed))


def continuation_salt(seed: int | None, salt: int | None) -> int | None:
    """Return the salt of a continuation with a seed, in a run that may have one of its own."""
    return salt if seed is None else salted_seed(seed, -1 if salt is None else salt, below=2**31)


#: What takes the calls of a run to whoever answers.
Exchange: TypeAlias = Gateway | Mailbox


class InFlightCalls:
    """The calls under way: one that was sent comes back and goes on record, also where its episode was stopped.

    Args:
        gateways: Those of the run; the first error that leaves the context closes them.
        notice: Gets a line when the run waits for calls.
    """

    def __init__(self, gateways: Collection[Exchange], notice: Callable[[str], None]) -> None:
        self._gateways = gateways
        self._notice = notice
        self._calls: set[asyncio.Task[CallRecord]] = set()

    async def bring(self, call: Coroutine[Any, Any, CallRecord]) -> CallRecord:
        """Return what came of a call."""
        task = asyncio.create_task(call)
        self._calls.add(task)
        task.add_done_callback(self._landed)
        return await asyncio.shield(task)

    def _landed(self, call: asyncio.Task[CallRecord]) -> None:
        self._calls.discard(call)
        if not call.cancelled():
            call.exception()  # where its episode was stopped, nobody else looks at it

    async def __aenter__(self) -> InFlightCalls:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and not issubclass(kind, Exception):  # interrupted: the user waits
            for call in self._calls:
                call.cancel()
        elif kind is not None:
            for gateway in self._gateways:
                gateway.stop(UserError("the run stops"))
            if flying := sum(gateway.flying for gateway in self._gateways if isinstance(gateway, Gateway)):
                self._notice(f"the run stops; it waits for the answers that are on their way: {flying}")
        await asyncio.gather(*self._calls, return_exceptions=True)


@dataclass(frozen=True)
class CachedClient:
    """The calls of one episode: from the record, else from a cache, else from the provider."""

    live: _Live
    calls: EpisodeCalls
    cached: EpisodeCache | None
    gateway: Exchange
    budget: Budget
    salt: int | None = None
    """Of the run or a continuation: its questions lie beside those of a run without, and not in their place."""

    async def call(self, key: CallKey, request: Request) -> CallRecord:
        """Return what came of a call; once it returns, the call is on record.

        Raises:
            UserError: The run has to stop here; the same command goes on.
        """
        record = self.calls.find(key, request)
        if record is not None:
            return await self._cache(key, record)  # a kill may have come before
        completion = None
        if self.cached is not None:
            completion = await self.cached.aside(self.cached.find, key, request)
        if completion is not None:
            return await self._kept(key, CallRecord(request=request, completion=completion, cached=True))
        self.budget.reserve()
        return await self.live.flight.bring(self._paid(key, request))

    async def _kept(self, key: CallKey, record: CallRecord, lost: Sequence[int] = ()) -> CallRecord:
        self.calls.add(key, record, lost)
        self.live.tell()
        return await self._cache(key, record)

    async def _cache(self, key: CallKey, record: CallRecord) -> CallRecord:
        if self.cached is not None and record.completion is not None and not record.cached:
            await self.cached.aside(self.cached.add, key, record.request, record.completion)
        return record

    async def _paid(self, key: CallKey, request: Request) -> CallRecord:
        total = Spent()
        paid: list[float] = []  # dollars for what was counted

        def take(expense: Expense, served: str = "") -> None:
            nonlocal total
            usd = self.live.prices.price(request.model, served, expense.usage)
            paid.extend([usd] if expense.counted and usd is not None else [])
            spent = spent_on(expense, usd)
            total = total.plus(spent)
            self.budget.take(spent)

        lost: list[int] = []  # on record at once: the process may end before the call does

        def lose(fault: Fault) -> None:
            if (expense := fault_expense(request, fault)) is not None:
                take(expense)
                lost.append(self.calls.lose(request.model, expense))

        try:
            completion, faults, seconds = await self._send(key, request, lose)
            if completion is not None:
                take(completion_expense(request, completion), completion.served)
        finally:
            self.budget.charge(total.call_count)
        usd = fsum(paid) if paid else None
        record = CallRecord(request=request, completion=completion, faults=faults, seconds=seconds, usd=usd)
        return await self._kept(key, record, lost)

    async def _send(self, key: CallKey, request: Request, lose: Callable[[Fault], None]) -> Sent:
        if isinstance(self.gateway, Gateway):
            return await self.gateway.complete(request, self.budget.confirm, lose)
        self.budget.confirm()
        cell, episode = self.calls.place
        return await self.gateway.complete(
            cell if self.salt is None else f"{cell}-salt{self.salt}", episode, key, request
        )


def remote(
    experiment: ExperimentSpec,
    forms: Mapping[str, Form],
    source: Callable[[str, RunCell, int], CallSource],
    together: int,
) -> ReasonerFactory:
    """Return reasoners whose calls another process makes.

    Args:
        experiment: What is run.
        forms: How the form of an answer is asked of each language model.
        source: Where the calls of a model in an episode go.
        together: Episodes at the same time.
    """

    def model(name: str, cell: RunCell, episode: int, salt: int | None) -> LanguageModel:
        return _language_model(experiment, name, forms[name], source(name, cell, episode), salt)

    return ReasonerFactory(experiment, model, together=together, forms=forms)


def recorded(experiment: ExperimentSpec, calls: CallStore, source: CallStore | None = None) -> ReasonerFactory:
    """Return reasoners that answer from the record of a run and open no socket.

    Args:
        experiment: What is run.
        calls: Its calls.
        source: Those of another run, which are copied where they are asked for.
    """

    def calls_of(cell: RunCell, episode: int) -> RecordedCalls:
        return RecordedCalls(calls.of(cell, episode), None if source is None else source.of(cell, episode))

    def model(name: str, cell: RunCell, episode: int, salt: int | None) -> LanguageModel:
        form = (source or calls).form(name) or "text"  # one that was asked nothing is asked nothing now
        return _language_model(experiment, name, form, calls_of(cell, episode), salt)

    return ReasonerFactory(
        experiment, model, lambda cell, episode: PersonReasoner(ClosedDesk(), calls_of(cell, episode))
    )


def _language_model(
    experiment: ExperimentSpec, name: str, form: Form, line: CallSource, salt: int | None
) -> LanguageModel:
    overrides, reasoning = experiment.overrides(), experiment.reasoning == "on"
    return LanguageModel(name, form, line, overrides, reasoning=reasoning, salt=salt)


def _form(experiment: ExperimentSpec, calls: CallStore, name: str) -> Form:
    """Return how the form of an answer is asked of a model: as chosen, else as before in this run, else the best."""
    if experiment.answers != "auto":
        return experiment.answers
    return calls.form(name) or providers.best_form(parse_endpoint(name))


def _origin(experiment: ExperimentSpec, stack: AsyncExitStack) -> CallStore | None:
    """Open the calls of the run that a fork is of; None where it is no fork, or that run is gone."""
    if experiment.fork is None or not (path := RunFolder(Path(experiment.fork.run)).results_file).exists():
        return None
    return stack.enter_context(CallStore(path, readonly=True))


def _record(
    experiment: ExperimentSpec, calls: CallStore, origin: CallStore | None
) -> Callable[[RunCell, int], EpisodeCalls]:
    """Return where the calls of an episode are on record: its own, and of a fork what it is a fork of."""
    fork = experiment.fork
    if fork is None:
        return calls.of
    forked: dict[tuple[RunCell, int], EpisodeCalls] = {}  # a fork counts the calls of all its reasoners

    def calls_of(cell: RunCell, episode: int) -> EpisodeCalls:
        place = (cell, episode)
        if place not in forked:
            source = None if origin is None else origin.of(cell, episode)
            forked[place] = ForkedCalls(calls.of(cell, episode), source, fork.calls)
        return forked[place]

    return calls_of


@dataclass
class _Live:
    """What the live calls of a run share."""

    running: RunOptions
    calls: CallStore
    cache: AnswerCache | None
    prices: Prices
    gateways: dict[str, Exchange]
    flight: InFlightCalls
    budget: Budget
    watch: RunMonitor
    calls_of: Callable[[RunCell, int], EpisodeCalls]
    """The record of an episode."""
    salt: int | None
    """Of the run."""
    episodes: dict[tuple[RunCell, int], Budget] = field(default_factory=dict)

    def client(self, name: str, cell: RunCell, episode: int, salt: int | None) -> CachedClient:
        """Return where the calls of a model in an episode go, sampled with a salt."""
        # A path does not tell who answers, and asking costs nothing.
        cache = None if parse_endpoint(name).provider in FILES else self.cache
        cached = cache.of(salted_seed(cell.seed, salt), episode) if cache is not None else None
        # A continuation is another draw of the answers: those of the episode that it is a fork of are none of it.
        calls = self.calls_of(cell, episode) if salt == self.salt else self.calls.of(cell, episode)
        return CachedClient(self, calls, cached, self.gateways[name], self._budget(cell, episode), salt)

    def tell(self) -> None:
        """Tell the monitor what the run has taken and how many calls are under way."""
        flying = sum(gateway.flying for gateway in self.gateways.values())
        self.watch.spent(self.budget.spent, flying, self.budget.flying - flying)

    def _budget(self, cell: RunCell, episode: int) -> Budget:
        if self.running.episode_budget is None:
            return self.budget
        place = (cell, episode)
        if place not in self.episodes:
            self.episodes[place] = Budget(
                budgets.parse_limit(self.running.episode_budget),
                self.calls.spent(self.prices.price, cell, episode),
                f"episode {episode} of {cell.name}",
                "--episode-budget",
                within=self.budget,
            )
        return self.episodes[place]


class ReasonerPlan(NamedTuple):
    """What a run needs for its reasoners, found to be there before anything is written."""

    endpoints: dict[str, Endpoint]
    """By the models' names."""
    secrets: dict[str, Secret | None]
    prices: Prices
    limit: BudgetLimit
    """Of the whole run."""
    people: bool


def prepare(experiment: ExperimentSpec, running: RunOptions, watch: RunMonitor) -> ReasonerPlan:
    """See that the reasoners of a run can be used, as far as that shows without asking them.

    Raises:
        UserError: A model, package, key, budget, cache, or file of prices cannot be used.
    """
    names = list(dict.fromkeys(name for text in experiment.reasoners for name in registry.list_models(text)))
    people = HUMAN in {share.name for text in experiment.reasoners for share in parse_routes(text)}
    if people and watch.person_desk is None:
        raise UserError(
            "a person answers at a terminal or on a page: use the command teamworld run or play, or another reasoner"
        )
    prices = Prices.load(running.prices)
    limits = [
        BudgetLimit() if text is None else budgets.parse_limit(text)
        for text in (running.budget, running.episode_budget)
    ]
    budgets.check_prices(limits, names, prices.known)
    if running.cache is not None and names:
        _try_cache(running.cache)
    endpoints = {name: parse_endpoint(name) for name in names}
    for endpoint in endpoints.values():
        providers.check_installed(endpoint)
    known = keys.find_keys(endpoints.values(), running.key_env)
    secrets = {
        name: keys.require_key(endpoint, known[endpoint.host].secret if endpoint.host in known else None)
        for name, endpoint in endpoints.items()
    }
    return ReasonerPlan(endpoints, secrets, prices, limits[0], people)


def _try_cache(cache: Path | str) -> None:
    """See that a cache can be used, without making a file."""
    if is_address(cache):
        AnswerCache(cache).close()
        return
    path = Path(cache)
    if not path.parent.is_dir():
        raise UserError(f"--cache {path}: there is no folder {path.parent}; make it first")
    if path.exists():
        AnswerCache(path).close()


@asynccontextmanager
async def live(
    experiment: ExperimentSpec, folder: RunFolder, plan: ReasonerPlan, running: RunOptions, watch: RunMonitor
) -> AsyncIterator[ReasonerFactory]:
    """Open the reasoners of a run, inside the event loop that runs it; raises ``UserError``."""
    if not plan.endpoints and not plan.people:
        yield ReasonerFactory(experiment)
        return
    async with AsyncExitStack() as stack:
        calls = stack.enter_context(CallStore(folder.results_file))
        patience = Patience.lasting(running.timeout, running.patience)
        gateways: dict[str, Exchange] = {}
        for name, endpoint in plan.endpoints.items():
            if endpoint.provider == "mailbox":
                gateways[name] = Mailbox(keys.expand_home(endpoint.model), watch.notice)
                stack.push_async_callback(gateways[name].close)
                continue
            client = providers.make_client(endpoint, plan.secrets[name], read=running.timeout)
            most = 1 if endpoint.provider == "gguf" else running.calls
            gateways[name] = Gateway(client, name, patience, most, watch.notice, witness=calls.answered(name))
            stack.push_async_callback(gateways[name].close)
        cache = None
        if running.cache is not None:
            cache = stack.enter_context(AnswerCache(running.cache, running.patience, watch.notice))
        budget = Budget(plan.limit, calls.spent(plan.prices.price))
        flight = await stack.enter_async_context(InFlightCalls(gateways.values(), watch.notice))
        origin = _origin(experiment, stack)
        shared = _Live(
            running,
            calls,
            cache,
            plan.prices,
            gateways,
            flight,
            budget,
            watch,
            _record(experiment, calls, origin),
            experiment.salt,
        )
        forms = {name: _form(experiment, origin or calls, name) for name in plan.endpoints}

        def model(name: str, cell: RunCell, episode: int, salt: int | None) -> LanguageModel:
            return _language_model(experiment, name, forms[name], shared.client(name, cell, episode, salt), salt)

        desk = watch.person_desk or ClosedDesk()

        def person(cell: RunCell, episode: int) -> PersonReasoner:
            return PersonReasoner(desk, shared.calls_of(cell, episode))

        yield ReasonerFactory(experiment, model, person, 1 if plan.people else running.jobs, forms)
