"""What messages and agents were worth: forks of an episode without each of them.

The worth of a message is what came out with it, less what comes out if nobody hears it. The worth of an agent is its
Shapley value (1953): what it adds to the agents that act before it, on average over all orders, while those that do not
act wait. Both are about one episode: another seed has others.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations
from math import factorial, isfinite
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from teamworld.errors import UserError
from teamworld.experiment import process_pool, runner
from teamworld.experiment.fork import ForkPlayer, Origin, known_before, make_experiment
from teamworld.experiment.fork_spec import ForkChange
from teamworld.experiment.reasoner_factory import RunMonitor
from teamworld.experiment.run_options import LOCAL, RunOptions
from teamworld.experiment.shared_budget import SharedBudget
from teamworld.experiment.spec import RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.memory.contract import MemoryDelta
from teamworld.methods import registry as methods
from teamworld.metrics.summary import Summary, summarise
from teamworld.reasoning.human import HUMAN
from teamworld.reasoning.registry import asks_someone
from teamworld.reasoning.router import parse_routes
from teamworld.record import MessageSent, StepDone
from teamworld.report.statistics import Interval, mean_interval
from teamworld.report.tables import Table, describe_reasoner, interval_text
from teamworld.seeding import generator

#: What is measured, in the order of tables: weight of the goals done, steps, and questions as what reasoners cost.
MEASURES: Final = ("completion", "steps", "questions")
#: Name of the row of all messages together.
ALL_MESSAGES: Final = "all messages"
#: Agents up to which all orders count.
EXACT: Final = 6

_FORKS_A_TASK = 4  # of a cluster: a task begins with a scratch folder
#: Characters of a message in a table.
_SHOWN = 40

Coalition: TypeAlias = frozenset[str]


class Worth(NamedTuple):
    """What one message or agent was worth."""

    name: str
    """``message 3``, ``all messages``, or the agent's."""
    step: int | None
    """In which the message was sent; None of an agent and of all messages."""
    sender: str | None
    text: str
    differences: Mapping[str, Interval | None]
    """By measure, with it less without it; a single value has itself as bounds; None where the level has no goals."""


class EpisodeWorth(NamedTuple):
    """What the messages and the agents of an episode were worth."""

    origin: Origin
    messages: tuple[Worth, ...]
    """In the order in which they were sent; last all together, if there was any."""
    agents: tuple[Worth, ...]
    forks: int
    """Episodes that were played."""
    continuations: int
    orders: int | None
    """Orders of agents that were drawn; None where all of them count."""


def is_stochastic(reasoner: str) -> bool:
    """Return whether the reasoner draws random numbers, so that there are several continuations."""
    return reasoner != "rules"


# ---- Shapley values


def shapley(agents: Sequence[str], value: Callable[[Coalition], float]) -> dict[str, float]:
    """Return the Shapley values of all agents, from the value of each of their 2^n coalitions."""
    total = len(agents)
    worth = dict.fromkeys(agents, 0.0)
    for size in range(total):
        weight = factorial(size) * factorial(total - size - 1) / factorial(total)
        for agent in agents:
            others = [other for other in agents if other != agent]
            for before in map(frozenset, combinations(others, size)):
                worth[agent] += weight * (value(before | {agent}) - value(before))
    return worth


def shapley_in_order(order: Sequence[str], value: Callable[[Coalition], float]) -> dict[str, float]:
    """Return what each agent adds to those before it in one order: unbiased for its Shapley value if that is drawn."""
    worth, before = {}, frozenset[str]()
    for agent in order:
        worth[agent] = value(before | {agent}) - value(before)
        before |= {agent}
    return worth


def draw_orders(agents: Sequence[str], number: int, seed: int) -> list[tuple[str, ...]]:
    """Return orders of agents, each drawn evenly from all."""
    rng = generator(seed, "worth", "orders")
    return [tuple(agents[at] for at in rng.permutation(len(agents))) for _ in range(number)]


# ---- forks


class _Wanted(NamedTuple):
    """A fork to be played."""

    changes: tuple[ForkChange, ...]
    heard: bool = True

    @property
    def name(self) -> str:
        """Of its folder, where it has one: the same fork, the same name."""
        changes = [change.model_dump(mode="json") for change in self.changes]
        text = msgspec.json.encode((self.heard, changes), order="sorted")
        return hashlib.blake2b(text, digest_size=8).hexdigest()


class _Beginning(NamedTuple):
    """An episode and what its method knew before, for processes that need not see the run's folder."""

    origin: Origin
    known: Sequence[MemoryDelta]


def _play(beginning: _Beginning, wanted: Sequence[_Wanted]) -> list[Summary]:
    """Play some forks of an episode."""
    beginning.origin.experiment.load_plugins()
    with tempfile.TemporaryDirectory(prefix="teamworld-") as scratch:
        player = ForkPlayer(beginning.origin, Path(scratch), beginning.known)
        return [summarise(player.play(each.changes, heard=each.heard).events) for each in wanted]


def _play_all(origin: Origin, wanted: Sequence[_Wanted], running: RunOptions) -> Iterator[Summary]:
    """Yield what came of each fork, in order."""
    processes = running.processes or 1
    size = max(1, -(-len(wanted) // (4 * processes))) if running.engine == LOCAL else _FORKS_A_TASK
    parts = [wanted[at : at + size] for at in range(0, len(wanted), size)]
    if not parts:
        return
    play = partial(_play, _Beginning(origin, known_before(origin)))
    if running.engine == LOCAL:
        played: Iterator[list[Summary]] = process_pool.in_order(play, parts, processes)
    else:
        from teamworld.experiment import ray_engine  # only here: it takes its time

        played = ray_engine.in_order(play, parts, origin.experiment, running)
    for summaries in played:
        yield from summaries


def _ask_all(origin: Origin, wanted: Sequence[_Wanted], running: RunOptions, watch: RunMonitor) -> Iterator[Summary]:
    """Yield what came of each fork, in order; each is a run of its own, so that what was paid for is never lost."""
    home = worth_path(origin.folder, origin.cell, origin.row.episode).with_suffix(".forks")
    folders = [home / each.name for each in wanted]
    budget = SharedBudget(running, folders)
    for each, folder in zip(wanted, folders, strict=True):
        experiment = make_experiment(origin, each.changes, heard=each.heard)
        (row,) = runner.run(experiment, folder, running=budget.options_for(folder, experiment), watch=watch)
        yield row.summary


def worth_path(folder: RunFolder, cell: RunCell, episode: int) -> Path:
    """Return where the worths of an episode stand."""
    return folder.path / "worth" / cell.name / f"{episode:04d}.json"


def measure(
    origin: Origin,
    *,
    continuations: int = 1,
    orders: int = 20,
    running: RunOptions | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    watch: RunMonitor | None = None,
) -> EpisodeWorth:
    """Return what the messages and the agents of an episode were worth.

    Args:
        origin: The episode.
        continuations: How often it goes on with other random numbers of the reasoner, where that draws any.
        orders: Of agents, drawn where there are more than ``EXACT``.
        running: What plays the forks (processes at a time, engine; one process if it is left out), how language models
            are asked, and the budget of all forks together.
        progress: Called with the forks played, and those in all; first with none.
        watch: Told of the calls of language models.

    Raises:
        UserError: People answered, whom forks would ask again; or a model cannot be asked, or the budget is spent: the
            same call goes on.
    """
    if any(route.name == HUMAN for text in origin.experiment.reasoners for route in parse_routes(text)):
        raise UserError(f"{origin.folder.path} was answered by people, whom each fork would ask again")
    asking = _Continuations(origin, continuations if is_stochastic(origin.experiment.reasoner) else 0)
    team = origin.start.team
    sent = [event for event in origin.log if isinstance(event, MessageSent)]
    places = {event.id: ForkChange.model_validate(_unheard(event, sent)) for event in sent}
    drawn = None if len(team) <= EXACT else draw_orders(team, orders, origin.cell.seed)
    wanted: dict[_Wanted, None] = {}
    for number in asking.numbers:
        for event in sent:
            wanted.setdefault(_Wanted((places[event.id], *asking.after(event.step, number))))
            wanted.setdefault(_Wanted(asking.after(event.step, number)))
        if sent:
            wanted.setdefault(_Wanted(asking.after(-1, number)))
            wanted.setdefault(_Wanted(asking.after(-1, number), heard=False))
    for number, coalition in _coalitions(team, drawn, asking.numbers):
        wanted.setdefault(_Wanted((*_alone(team, coalition), *asking.after(-1, number))))
    known: dict[_Wanted, Summary] = {_Wanted(()): origin.row.summary}
    missing = [each for each in wanted if each not in known]
    progress(0, len(missing))
    played = (
        _ask_all(origin, missing, running or RunOptions(), watch or RunMonitor())
        if any(map(asks_someone, origin.experiment.reasoners))
        else _play_all(origin, missing, running or RunOptions(processes=1))
    )
    for done, (each, summary) in enumerate(zip(missing, played, strict=True), start=1):
        known[each] = summary
        progress(done, len(missing))
    find = known.__getitem__
    return EpisodeWorth(
        origin,
        tuple(_messages(sent, places, asking, find)),
        tuple(_agents(team, drawn, asking, find)),
        len(missing),
        len(asking.numbers),
        None if drawn is None else len(drawn),
    )


def _unheard(event: MessageSent, sent: Sequence[MessageSent]) -> dict[str, Any]:
    """Return the change by which nobody hears a message."""
    of_step = [other for other in sent if (other.step, other.agent) == (event.step, event.agent)]
    return {
        "step": event.step,
        "message": {"agent": event.agent, "number": of_step.index(event) + 1, "recipients": ()},
    }


class _Continuations:
    """How an episode goes on after a step: as recorded, or with other random numbers of its reasoner."""

    def __init__(self, origin: Origin, number: int) -> None:
        self._reasoner = origin.experiment.reasoner
        self._agents = (*origin.start.team, *methods.method_class(origin.cell.method).respondents)
        self._steps = sum(isinstance(event, StepDone) for event in origin.log)
        self.numbers: tuple[int | None, ...] = tuple(range(number)) or (None,)
        """None alone where there is only one."""

    def after(self, step: int, number: int | None) -> tuple[ForkChange, ...]:
        """Return the changes with which it goes on behind a step."""
        if number is None or step + 1 >= self._steps:
            return ()
        hand_over = {"agents": self._agents, "reasoner": self._reasoner, "seed": number}
        return (ForkChange.model_validate({"step": step + 1, "hand_over": hand_over}),)


def _alone(team: Sequence[str], coalition: Coalition) -> tuple[ForkChange, ...]:
    """Return the change by which only some agents act."""
    idle = [agent for agent in team if agent not in coalition]
    if not idle:
        return ()
    return (ForkChange.model_validate({"step": 0, "hand_over": {"agents": idle, "method": "do_nothing"}}),)


def _coalitions(
    team: Sequence[str], orders: Sequence[Sequence[str]] | None, numbers: Sequence[int | None]
) -> Iterator[tuple[int | None, Coalition]]:
    """Yield the coalitions whose values are needed, each with its continuation."""
    if orders is None:
        for number in numbers:
            for size in range(len(team) + 1):
                yield from ((number, frozenset(part)) for part in combinations(team, size))
        return
    for at, order in enumerate(orders):
        number = numbers[at % len(numbers)]
        yield from ((number, frozenset(order[:size])) for size in range(len(order) + 1))


def _value(summary: Summary, measure: str) -> float | None:
    value = getattr(summary, measure)
    return None if value is None or not isfinite(value) else float(value)


def _messages(
    sent: Sequence[MessageSent],
    places: Mapping[int, ForkChange],
    asking: _Continuations,
    find: Callable[[_Wanted], Summary],
) -> Iterator[Worth]:
    for event in sent:
        pairs = [
            (find(_Wanted(after)), find(_Wanted((places[event.id], *after))))
            for after in (asking.after(event.step, number) for number in asking.numbers)
        ]
        yield Worth(f"message {event.id}", event.step, event.agent, event.text, _differences(pairs))
    if sent:
        afters = [asking.after(-1, number) for number in asking.numbers]
        pairs = [(find(_Wanted(after)), find(_Wanted(after, heard=False))) for after in afters]
        yield Worth(ALL_MESSAGES, None, None, "", _differences(pairs))


def _differences(pairs: Sequence[tuple[Summary, Summary]]) -> dict[str, Interval | None]:
    differences: dict[str, Interval | None] = {}
    for name in MEASURES:
        values = [(_value(kept, name), _value(without, name)) for kept, without in pairs]
        differences[name] = mean_interval([a - b for a, b in values if a is not None and b is not None])
    return differences


def _agents(
    team: Sequence[str],
    orders: Sequence[Sequence[str]] | None,
    asking: _Continuations,
    find: Callable[[_Wanted], Summary],
) -> Iterator[Worth]:
    added: dict[str, dict[str, list[float]]] = {agent: {name: [] for name in MEASURES} for agent in team}

    def take(name: str, number: int | None, order: Sequence[str] | None) -> None:
        @cache
        def value(coalition: Coalition) -> float:
            summary = find(_Wanted((*_alone(team, coalition), *asking.after(-1, number))))
            return _value(summary, name) or 0.0

        worth = shapley(team, value) if order is None else shapley_in_order(order, value)
        for agent in team:
            added[agent][name].append(worth[agent])

    for name in MEASURES:
        if _value(find(_Wanted((*_alone(team, frozenset(team)), *asking.after(-1, asking.numbers[0])))), name) is None:
            continue
        if orders is None:
            for number in asking.numbers:
                take(name, number, None)
        else:
            for at, order in enumerate(orders):
                take(name, asking.numbers[at % len(asking.numbers)], order)
    for agent in team:
        yield Worth(agent, None, None, "", {name: mean_interval(added[agent][name]) for name in MEASURES})


# ---- as tables and data


def plain(worth: EpisodeWorth) -> dict[str, Any]:
    """Return plain data for ``--json``."""
    row = worth.origin.row
    return {
        "run": str(worth.origin.folder.path),
        "method": row.method,
        "seed": row.seed,
        "episode": row.episode,
        "recorded": {name: getattr(row.summary, name) for name in MEASURES},
        "forks": worth.forks,
        "continuations": worth.continuations,
        "orders": worth.orders,
        "messages": [_plain(part) for part in worth.messages],
        "agents": [_plain(part) for part in worth.agents],
    }


def _plain(part: Worth) -> dict[str, Any]:
    bounds = {name: None if value is None else value._asdict() for name, value in part.differences.items()}
    return {"name": part.name, "step": part.step, "sender": part.sender, "text": part.text, **bounds}


def tables(worth: EpisodeWorth) -> list[Table]:
    """Return a table of the messages, where there were any, and one of the agents."""
    row, spec = worth.origin.row, worth.origin.experiment
    where = f"{spec.world} {spec.level}: episode {row.episode} of {row.cell}"
    several = worth.continuations > 1
    over = (
        f"mean of {worth.continuations} continuations [95 % interval]" if several else "one continuation, no interval"
    )
    answered = describe_reasoner(spec)
    shown = []
    if worth.messages:
        lines = tuple(
            ("" if part.step is None else str(part.step), part.sender or "", _short(part), *_cells(part))
            for part in worth.messages
        )
        caption = f"with the message less with nobody hearing it; {over}; {answered}"
        shown.append(Table(f"{where}, worth of messages", ("step", "sender", "message", *MEASURES), lines, caption))
    how = "all orders" if worth.orders is None else f"{worth.orders} orders drawn [95 % interval]"
    lines = tuple((part.name, *_cells(part)) for part in worth.agents)
    caption = f"Shapley values against agents that wait, {how}; {over if worth.orders is None else answered}"
    shown.append(Table(f"{where}, worth of agents", ("agent", *MEASURES), lines, caption))
    return shown


def _short(part: Worth) -> str:
    text = part.text or part.name
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _cells(part: Worth) -> Iterator[str]:
    for name in MEASURES:
        interval = part.differences[name]
        several = interval is not None and interval.n > 1
        yield interval_text(interval, "{:+.2f}".format if name == "completion" else "{:+.1f}".format, bounds=several)
