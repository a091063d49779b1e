"""Reasoners that answer from a record alone: ``--reasoner replay`` and ``replay:DIR``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from teamworld.errors import UserError
from teamworld.experiment.reasoner_factory import ReasonerFactory, recorded
from teamworld.experiment.spec import ExperimentSpec
from teamworld.experiment.store.folder import RunFolder
from teamworld.experiment.store.recorded_calls import CallStore
from teamworld.reasoning.llm.keys import expand_home
from teamworld.reasoning.registry import REPLAY, asks_someone

#: What decides, beside the reasoners, how they are asked.
_ASKED = ("answers", "reasoning", "retries", "sampling")
#: What shows in every prompt, so that another run's record answers nothing where it differs.
_SHOWN = ("world", "level", "max_steps", "instances")


class RecalledExperiment(NamedTuple):
    """An experiment with the reasoners of a recorded run."""

    experiment: ExperimentSpec
    source: RunFolder | None
    """The run whose record answers; None where reasoners are asked."""


def replays(experiment: ExperimentSpec) -> bool:
    """Whether the answers come from a record, and nobody is asked."""
    return experiment.reasoner.strip().partition(":")[0] == REPLAY


def recall(experiment: ExperimentSpec, folder: RunFolder) -> RecalledExperiment:
    """Replace ``replay`` by the reasoners of a recorded run: that of ``folder`` itself, or the one it names.

    What else was chosen for the recorded run (form of the answers, retries, sampling) holds too, unless it is chosen
    anew.

    Raises:
        UserError: There is no such run, or it is one of something else.
    """
    fork = experiment.fork
    if fork is not None and not fork.changes and any(map(asks_someone, experiment.reasoners)):
        return RecalledExperiment(experiment, RunFolder(Path(fork.run)))  # nothing changes, so nobody need be asked
    if not replays(experiment):
        return RecalledExperiment(experiment, None)
    place = experiment.reasoner.strip().partition(":")[2]
    source = RunFolder(expand_home(place.strip())) if place.strip() else folder
    if not source.results_file.exists():
        other = "" if place else "; name another run's as replay:DIR"
        raise UserError(f"replay answers from a run's record, and {source.path} holds none{other}")
    held, plain = source.experiment(), ExperimentSpec()
    wanted = experiment.model_copy(update={"max_steps": experiment.step_limit})
    for name in _SHOWN if place.strip() else ():
        theirs, ours = getattr(held, name), getattr(wanted, name)
        if theirs != ours:
            raise UserError(
                f"{source.path} was run with {name} {theirs}, not {ours}: its record answers a run with the same alone"
            )
    taken = {name: getattr(held, name) for name in _ASKED if getattr(experiment, name) == getattr(plain, name)}
    return RecalledExperiment(experiment.model_copy(update={"reasoner": held.reasoner, **taken}), source)


@asynccontextmanager
async def from_record(
    experiment: ExperimentSpec, folder: RunFolder, source: RunFolder
) -> AsyncIterator[ReasonerFactory]:
    """Open the reasoners of a run that answers from a record: its own, or another one's that is copied into it."""
    with CallStore(folder.results_file) as calls:
        if source.path.resolve() == folder.path.resolve():
            yield recorded(experiment, calls)
        else:
            with CallStore(source.results_file, readonly=True) as others:
                yield recorded(experiment, calls, others)
