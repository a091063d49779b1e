"""Null forks of every method in every world: ``python -m teamworld.testing.forks``.

A fork in which nothing changes has the log of its episode, byte for byte. Some of these forks change nothing because
nothing is changed; others put in the place of a message, an answer or a plan what stands there, or hand an agent to the
reasoner that it has: that would show a random number, a count or a state that a change touches and should not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from teamworld.episode.compatibility import applies
from teamworld.experiment import process_pool
from teamworld.experiment.fork import ForkPlayer, Origin, find_episode, first_difference
from teamworld.experiment.fork_spec import KINDS, ForkChange
from teamworld.experiment.runner import run
from teamworld.experiment.spec import build
from teamworld.experiment.store.folder import RunFolder
from teamworld.methods import registry as methods
from teamworld.record import Event, MessageSent, PlanStart, QuestionAsked
from teamworld.testing.episodes import Scenario
from teamworld.testing.matrix import HORIZON, method_labels, scenarios

#: Forks of an episode: one without a change, and one with each kind of change that changes nothing.
EACH = 1 + len(KINDS)


def null_changes(log: Sequence[Event]) -> Iterator[tuple[ForkChange, ...]]:
    """Yield changes after which an episode of the rules is what it was, as far as it has places for them."""
    yield ()
    for kind in (MessageSent, QuestionAsked, PlanStart):
        events = [event for event in log if isinstance(event, kind)]
        if events:
            yield (_same(events[len(events) // 2], log),)
    middle = max(event.step for event in log) // 2
    agents = tuple(dict.fromkeys(event.agent for event in log if isinstance(event, PlanStart)))[:1]
    if agents:
        yield (ForkChange.model_validate({"step": middle, "hand_over": {"agents": agents, "reasoner": "rules"}}),)


def _same(event: MessageSent | QuestionAsked | PlanStart, log: Sequence[Event]) -> ForkChange:
    """Return the change that puts a record in its own place."""
    change: dict[str, Any]
    alike = [other for other in log if isinstance(other, type(event)) and (other.step, other.agent) == _place(event)]
    if isinstance(event, MessageSent):
        said = {"text": event.text, "goal": event.goal, "facts": event.facts}
        change = {"message": {"agent": event.agent, "number": alike.index(event) + 1, **said}}
    elif isinstance(event, PlanStart):
        change = {"plan": {"agent": event.agent, "plan": event.text}}
    else:
        of_kind = [other for other in alike if isinstance(other, QuestionAsked) and other.purpose == event.purpose]
        number = of_kind.index(event) + 1
        change = {"answer": {"agent": event.agent, "question": event.purpose, "number": number, "answer": event.answer}}
    return ForkChange.model_validate({"step": event.step, **change})


def _place(event: MessageSent | QuestionAsked | PlanStart) -> tuple[int, str]:
    return event.step, event.agent


class ForkCheck(NamedTuple):
    """Null forks of one episode."""

    played: int
    failures: tuple[str, ...]
    """A line for each that differs."""


def check_forks(label: str, scenario: Scenario, most: int = EACH) -> ForkCheck:
    """Play an episode and null forks of it.

    Args:
        label: The method; where it does not apply, nothing is played.
        scenario: Where it plays.
        most: So many forks at most.
    """
    if not applies(methods.method_class(label), scenario.make()):
        return ForkCheck(0, ())
    place = {"world": scenario.world, "level": scenario.level, "seeds": [scenario.seed], "max_steps": scenario.horizon}
    with tempfile.TemporaryDirectory() as temporary:
        folder = RunFolder(Path(temporary) / "run")
        run(build({**place, "methods": [label]}), folder.path)
        origin = find_episode(folder, 1)
        player = ForkPlayer(origin, Path(temporary))
        forks = list(islice(null_changes(origin.log), most))
        failures = [f"{label} in {scenario}: {line}" for each in forks if (line := _difference(origin, player, each))]
        return ForkCheck(len(forks), tuple(failures))


def check_hand_overs(label: str, scenario: Scenario) -> ForkCheck:
    """Hand an agent of a method to a team that does nothing, and one of a random team to the method.

    Both have to come to their end, and to be what they were until then.

    Args:
        label: The method; where it does not apply, nothing is played.
        scenario: Where it plays.
    """
    if not applies(methods.method_class(label), scenario.make()):
        return ForkCheck(0, ())
    place = {"world": scenario.world, "level": scenario.level, "seeds": [scenario.seed], "max_steps": scenario.horizon}
    failures = []
    for before, after in ((label, "do_nothing"), ("random", label)):
        with tempfile.TemporaryDirectory() as temporary:
            folder = RunFolder(Path(temporary) / "run")
            run(build({**place, "methods": [before]}), folder.path)
            origin = find_episode(folder, 1)
            step = max(event.step for event in origin.log) // 3
            hand_over = {"agents": origin.start.team[-1:], "method": after}
            changes = (ForkChange.model_validate({"step": step, "hand_over": hand_over}),)
            differs = first_difference(origin.log, ForkPlayer(origin, Path(temporary)).play(changes).events)
            if differs is not None and differs < step:
                failures.append(f"{before} handed to {after} in {scenario}: differs in step {differs}, before {step}")
    return ForkCheck(2, tuple(failures))


def _difference(origin: Origin, player: ForkPlayer, changes: Sequence[ForkChange]) -> str | None:
    played = player.play(changes)
    name = changes[0].kind if changes else "no change"
    if not any(change.answer for change in changes):
        return None if played.digest == origin.row.digest else f"{name}: another log"
    same = [_unnamed(event) for event in origin.log] == [_unnamed(event) for event in played.events]
    return None if same else f"{name}: another log"


def _unnamed(event: Event) -> Event:
    """Return a record without who answered: an answer that was put in its own place was given by the fork."""
    return msgspec.structs.replace(event, reasoner="") if isinstance(event, QuestionAsked) else event


def _check(pair: tuple[str, Scenario]) -> ForkCheck:
    return check_forks(*pair)


def main(argv: Sequence[str] | None = None) -> int:
    """Play null forks; print a line for each that differs, return 1 if one does."""
    parser = argparse.ArgumentParser("python -m teamworld.testing.forks", description="Null forks of every pair.")
    parser.add_argument("--forks", type=int, default=1000, help="at least so many, in rounds of one seed each")
    parser.add_argument("--processes", type=int, default=process_pool.processors(), help="at a time")
    options = parser.parse_args(argv)
    pairs = [(label, place) for place in scenarios(horizon=HORIZON) for label in method_labels()]
    played = failed = 0
    for seed in count():
        tasks = [(label, place._replace(seed=seed)) for label, place in pairs]
        for check in process_pool.in_order(_check, tasks, options.processes):
            played += check.played
            failed += len(check.failures)
            sys.stdout.writelines(f"{line}\n" for line in check.failures)
            sys.stdout.flush()
        if played >= options.forks:
            break
    sys.stdout.write(f"{played} null forks of {len(pairs)} pairs of a method and a level: {failed} differ\n")
    return 1 if failed else 0


if __name__ == "__main__":
    from teamworld.testing import forks  # by the name under which processes find it

    sys.exit(forks.main())
