"""Forking an episode: it is played again from its beginning, and from a step on something happens otherwise.

No state is saved anywhere: the episode is played from its seed, and what its reasoners answered before the change comes
from the record. So a fork is a run like any other, which holds all that is needed to play it again.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from pydantic import BaseModel, ValidationError

from teamworld import yaml_io
from teamworld.errors import UserError, brief, suggest
from teamworld.experiment import runner
from teamworld.experiment.fork_spec import KINDS, Fork, ForkChange
from teamworld.experiment.interventions import ChangeRefused
from teamworld.experiment.reasoner_factory import ReasonerFactory, RunMonitor
from teamworld.experiment.run_options import RunOptions
from teamworld.experiment.runner import PlayedEpisode
from teamworld.experiment.spec import ExperimentSpec, RunCell
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.results import EpisodeRow
from teamworld.experiment.store.selection import select_episode
from teamworld.experiment.warm_start import RunMemories, gather
from teamworld.language import ParseError, parse_fact, parse_plan
from teamworld.memory.contract import MemoryDelta
from teamworld.memory.store import MemoryStore
from teamworld.methods import registry as methods
from teamworld.reasoning.human import HUMAN
from teamworld.reasoning.registry import asks_someone
from teamworld.record import (
    AgentLeft,
    EpisodeStart,
    Event,
    LlmCall,
    MessageSent,
    PlanStart,
    QuestionAsked,
    StepDone,
    read_log,
)


class Origin(NamedTuple):
    """A recorded episode that can be forked."""

    folder: RunFolder
    experiment: ExperimentSpec
    cell: RunCell
    row: EpisodeRow
    log: tuple[Event, ...]

    @property
    def start(self) -> EpisodeStart:
        """The first record of the log."""
        start = self.log[0]
        assert isinstance(start, EpisodeStart)  # the reader of logs checks it
        return start


class ForkedEpisode(NamedTuple):
    """A fork that was played, beside what it is a fork of."""

    experiment: ExperimentSpec
    origin: EpisodeRow
    row: EpisodeRow
    first_difference: int | None
    """The first step at which something else happened; None if nothing did."""


def read_changes(path: Path, step: int) -> tuple[ForkChange, ...]:
    """Return the changes of a file, all of which take place in one step.

    Raises:
        UserError: The file cannot be read, or holds something else.
    """
    data = yaml_io.load(path)
    parts = data if isinstance(data, list) else [data]
    if not parts:
        raise UserError(f"{path} holds no change: leave out --change to play the episode as it was")
    changes = []
    for part in parts:
        if not isinstance(part, dict) or len(part) != 1 or next(iter(part)) not in KINDS:
            raise UserError(
                f"{path}: expected a change such as 'message: {{agent: agent_0, drop: true}}', one of "
                f"{', '.join(KINDS)}, got {brief(part)}"
            )
        (kind,) = part
        try:
            changes.append(ForkChange.model_validate({"step": step, **part}))
        except ValidationError as error:
            model: type[BaseModel] = next(iter(_models(kind)))
            raise UserError(f"{path}: {methods.option_error(f'the change {kind}', model, error)}") from None
    return tuple(changes)


def _models(kind: str) -> Collection[type[BaseModel]]:
    annotation = ForkChange.model_fields[kind].annotation
    return [
        part for part in getattr(annotation, "__args__", ()) if isinstance(part, type) and issubclass(part, BaseModel)
    ]


def find_episode(folder: RunFolder, episode: int, method: str | None = None, seed: int | None = None) -> Origin:
    """Return a finished episode of a run with its log.

    Args:
        folder: The run.
        episode: Number of the episode.
        method: Label of its method; the first with a finished episode if None.
        seed: Its seed; the first with a finished episode if None.

    Raises:
        UserError: There is no such episode, it is not finished, or its log is damaged or altered.
    """
    chosen = select_episode(folder.path, method, seed, episode)
    chosen.experiment.load_plugins()
    finished = folder.finished(chosen.experiment)
    row = next(row for cell, row in finished if (cell, row.episode) == (chosen.cell, chosen.episode))
    log = tuple(read_log(chosen.log, expected=chosen.digest))
    return Origin(folder, chosen.experiment, chosen.cell, row, log)


def make_experiment(origin: Origin, changes: Sequence[ForkChange], *, heard: bool = True) -> ExperimentSpec:
    """Return the experiment of a fork: the episode, with some changes beside those that it may have been made by.

    Args:
        origin: The episode.
        changes: What happens otherwise.
        heard: Whether messages arrive as in the record; else all are lost, as in the silent rows of comparisons.

    Raises:
        UserError: The episode has no place for a change.
    """
    held, cell = origin.experiment, origin.cell
    for change in changes:
        check_place(change, origin)
    before = held.fork.changes if held.fork is not None else ()
    first = min((change.step for change in (*changes, *before)), default=None) if heard else 0
    fork = Fork(
        run=origin.folder.path.as_posix(),
        episode=origin.row.episode,
        digest=origin.row.digest,
        registered=origin.start.registered or "",
        calls=_count_calls(origin.log, first),
        changes=tuple(sorted((*before, *changes), key=lambda change: change.step)),
    )
    options = {owner: held.options[owner] for owner in (held.world, cell.method)}
    messages = held.message_rule(cell.method).model_dump(mode="json")  # as it held for this method
    options["messages"] = messages if heard else {**messages, "loss": 1.0}
    alone = {"methods": (cell.method,), "seeds": (cell.seed,), "episodes": 1, "memory": None, "talk": None}
    return held.model_copy(update={**alone, "options": options, "fork": fork})


def _count_calls(log: Sequence[Event], step: int | None) -> int:
    """Return the calls before a step, answers of people among them; all of them before no step."""
    before = log if step is None else [event for event in log if event.step < step]
    people = sum(isinstance(event, QuestionAsked) and event.reasoner == HUMAN for event in before)
    return people + sum(isinstance(event, LlmCall) for event in before)


# ---- places


def check_place(change: ForkChange, origin: Origin) -> None:
    """See that an episode has what is to be changed.

    Raises:
        UserError: It does not.
    """
    start = origin.start
    steps = sum(isinstance(event, StepDone) for event in origin.log)
    where = f"episode {origin.row.episode} of {origin.cell.name}"
    if change.step >= steps:
        raise UserError(f"{where} has steps 0 to {steps - 1}, got {change.step}")
    for agent in _agents(change):
        plays = change.hand_over is not None and change.hand_over.method is not None
        bodiless = () if plays else methods.method_class(origin.cell.method).respondents
        respondents = (*start.team, *bodiless)
        if agent not in respondents:
            raise UserError(f"{where} has no agent '{agent}'{suggest(agent, list(respondents))}")
        left = next((event.step for event in origin.log if isinstance(event, AgentLeft) and event.agent == agent), None)
        if left is not None and left < change.step:
            raise UserError(f"{agent} left {where} in step {left}, before step {change.step}")
    if change.message is not None:
        _check_message(change, start, origin.log)
    elif change.answer is not None:
        _check_answer(change, origin)
    elif change.plan is not None:
        _check_language(parse_plan, change.plan.plan, "the changed plan")
        _find(
            change.step,
            1,
            [event.step for event in origin.log if _took_up(event, change.plan.agent)],
            (f"{change.plan.agent} takes up no plan"),
        )


def _took_up(event: Event, agent: str) -> bool:
    return isinstance(event, PlanStart) and event.agent == agent


def _agents(change: ForkChange) -> tuple[str, ...]:
    if change.hand_over is not None:
        return change.hand_over.agents
    named = change.message or change.answer or change.plan
    return () if named is None else (named.agent,)


def _check_message(change: ForkChange, start: EpisodeStart, log: Sequence[Event]) -> None:
    wanted = change.message
    assert wanted is not None
    steps = [event.step for event in log if isinstance(event, MessageSent) and event.agent == wanted.agent]
    _find(change.step, wanted.number, steps, f"{wanted.agent} sends no {_nth(wanted.number)}message")
    for fact in wanted.facts:
        _check_language(parse_fact, fact, "a fact of the changed message")
    if odd := [name for name in wanted.recipients or () if name not in start.team]:
        raise UserError(
            f"the changed message is for '{odd[0]}', who is not in the team{suggest(odd[0], list(start.team))}"
        )


def _check_answer(change: ForkChange, origin: Origin) -> None:
    wanted = change.answer
    assert wanted is not None
    asked = [event for event in origin.log if isinstance(event, QuestionAsked) and event.agent == wanted.agent]
    kinds = list(dict.fromkeys(event.purpose for event in asked))
    if wanted.question not in kinds:
        raise UserError(f"{wanted.agent} is never asked '{wanted.question}'{suggest(wanted.question, kinds)}")
    steps = [event.step for event in asked if event.purpose == wanted.question]
    _find(change.step, wanted.number, steps, f"{wanted.agent} is asked no {_nth(wanted.number)}{wanted.question}")
    fork = origin.experiment.fork
    known = methods.kinds((origin.cell.method, *(fork.methods if fork is not None else ())))
    if (question := known.get(wanted.question)) is not None:
        try:
            question.answer.model_validate(wanted.answer)
        except ValidationError as error:
            raise UserError(methods.option_error(f"an answer to {wanted.question}", question.answer, error)) from None


def _find(step: int, number: int, steps: Sequence[int], lacking: str) -> None:
    """See that something happened a number of times in a step, of all steps in which it did."""
    if steps.count(step) < number:
        others = dict.fromkeys(other for other in steps if steps.count(other) >= number)
        raise UserError(f"{lacking} in step {step}; steps with one: {_numbers(others) if others else 'none'}")


def _check_language(read: Any, text: str, what: str) -> None:  # noqa: ANN401  (a reader of the language)
    try:
        read(text)
    except ParseError as error:
        raise UserError(f"{what} cannot be read: {error}") from None


def _nth(number: int) -> str:
    return "" if number == 1 else f"{number}. "


def _numbers(values: Collection[int]) -> str:
    shown = list(values)[:12]
    return f"{', '.join(map(str, shown))}{', ...' if len(values) > len(shown) else ''}"


# ---- playing


def fork(
    origin: Origin,
    changes: Sequence[ForkChange],
    out: Path,
    running: RunOptions | None = None,
    watch: RunMonitor | None = None,
) -> ForkedEpisode:
    """Play an episode again into a run of its own, with some changes, and see that all before them is the same.

    Args:
        origin: The episode.
        changes: What happens otherwise; nothing for a null fork, whose log is the same byte for byte.
        out: Folder of the new run; the same call goes on with one that was stopped.
        running: How to carry it out.
        watch: Told of calls and notices.

    Raises:
        UserError: A change cannot take place, or what was before it has not come out the same.
    """
    experiment = make_experiment(origin, changes)
    is_new = not out.exists()
    try:
        (row,) = runner.run(experiment, out, running=running, watch=watch)
    except ChangeRefused:
        if is_new:  # all that was answered came from the record: nothing is lost
            shutil.rmtree(out)
        raise
    folder = RunFolder(out)
    log = tuple(read_log(folder.log(origin.cell, row.episode), expected=row.digest))
    assert experiment.fork is not None
    first = min((change.step for change in changes), default=None)
    differs = first_difference(origin.log, log)
    if differs is not None and (first is None or differs < first):
        raise UserError(
            f"the fork in {out} differs from {origin.folder.path} in step {differs} already, before anything is changed"
            f"{_why(origin.log, log)}"
        )
    return ForkedEpisode(experiment, origin.row, row, differs)


def known_before(origin: Origin) -> Sequence[MemoryDelta]:
    """Return what the method of an episode knew when it began; raises ``UserError``."""
    return gather(make_experiment(origin, ()))[origin.cell.name]


class ForkPlayer:
    """Plays many forks of one episode; each has a log, and none a folder of its own.

    Args:
        origin: The episode. Its reasoners ask nobody: rules, or a reasoner of another package.
        scratch: A folder for logs and for what the method knew when the episode began.
        known: What it knew, see ``known_before``; left out, it is read from the run.

    Raises:
        UserError: It was answered by language models or people, whom only a run of its own can ask.
    """

    def __init__(self, origin: Origin, scratch: Path, known: Sequence[MemoryDelta] | None = None) -> None:
        if any(map(asks_someone, origin.experiment.reasoners)):
            raise UserError(
                f"{origin.folder.path} was answered by {origin.experiment.reasoner}: forks of it ask again, one run "
                "each; play them with teamworld fork"
            )
        self._origin, self._scratch = origin, scratch
        self._code, self._registered = origin.start.code or {}, origin.start.registered or ""
        with MemoryStore(scratch / "memory.sqlite") as memory:
            for delta in known_before(origin) if known is None else known:
                memory.commit(origin.cell.name, delta)

    def play(self, changes: Sequence[ForkChange], *, heard: bool = True) -> PlayedEpisode:
        """Play a fork.

        Args:
            changes: What happens otherwise.
            heard: Whether messages arrive as in the record; else all are lost, as in the silent rows of comparisons.

        Raises:
            UserError: A change cannot take place.
        """
        origin, experiment = self._origin, make_experiment(self._origin, changes, heard=heard)
        reasoner = ReasonerFactory(experiment).of(origin.cell, origin.row.episode)
        with MemoryStore(self._scratch / "memory.sqlite", readonly=True) as memory:
            path, number = self._scratch / "log", origin.row.episode
            memories = RunMemories(memory)
            return runner.completed(
                runner.play(experiment, origin.cell, number, path, memories, reasoner, self._code, self._registered)
            )


def fork_folder(origin: Origin, changes: Sequence[ForkChange]) -> Path:
    """Return the folder of a fork that was not given one: the same arguments, the same folder."""
    text = msgspec.json.encode([change.model_dump(mode="json") for change in changes], order="sorted")
    place = f"{origin.cell.name}-{origin.row.episode}"
    what = f"step{changes[0].step}-{hashlib.blake2b(text, digest_size=3).hexdigest()}" if changes else "null"
    return origin.folder.path.with_name(f"{origin.folder.path.resolve().name}-fork-{place}-{what}")


def first_difference(log: Sequence[Event], other: Sequence[Event]) -> int | None:
    """Return the step of the first records that differ between two logs; None if they are the same.

    Which code played them is passed over: two versions may play alike.
    """
    pairs = zip(map(_without_code, log), map(_without_code, other), strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if same == len(log) == len(other):
        return None
    return min(events[same].step for events in (log, other) if same < len(events))


def _without_code(event: Event) -> Event:
    return msgspec.structs.replace(event, code=msgspec.UNSET) if isinstance(event, EpisodeStart) else event


def _why(log: Sequence[Event], other: Sequence[Event]) -> str:
    codes: list[Mapping[str, str] | msgspec.UnsetType] = [
        event.code for events in (log, other) for event in events[:1] if isinstance(event, EpisodeStart)
    ]
    return (
        ": the code has changed since that run was played"
        if codes[0] != codes[1]
        else ": its world is not the same twice"
    )
