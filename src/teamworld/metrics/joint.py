"""Joint acts: attempts and their constraints, and how teams gather in place (metrics spec, D1 to D9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from teamworld.metrics.definition import Value, only, share
from teamworld.metrics.episode import CLASSES, NOBODY, Episode, Ints
from teamworld.record import AttemptMade, GoalChange
from teamworld.worlds.contract import Constraint

#: In the order in which the first unmet one is named (D3).
CONSTRAINTS: tuple[Constraint, ...] = get_args(Constraint)

Flags: TypeAlias = NDArray[np.bool_]


class Quorum(NamedTuple):
    """A goal's full quorum, in place from its first step to the one before ``end``."""

    first: int
    end: int
    acted: bool
    """The goal was brought on while it stood."""


class Gathering(NamedTuple):
    """How a team gathered for a goal that takes several agents."""

    goal: int
    quorums: Sequence[Quorum]
    """All that were ever complete, in order."""
    skew: int | None
    """Steps between the first and the last arrival of the first one's members; None where none was complete."""


class Attempts(NamedTuple):
    """Attempts as columns, in the order of the log."""

    goal: Ints
    step: Ints
    k: Ints
    won: Flags
    have: Ints
    """Shape (attempts, constraints); -1 where nothing was counted."""
    need: Ints
    """The same; -1 where the attempt could not fail on it."""


def measure(episode: Episode) -> Mapping[str, Value]:
    """Measure joint acts; without goals or attempts that need several agents most of it is null."""
    attempts = _columns(episode)
    joint = attempts.k >= 2
    won = int((joint & attempts.won).sum())
    ticks = episode.ticks[episode.acts.step]
    waited = float(ticks[episode.acts.spent == CLASSES.index("sync")].sum())
    gatherings = list(gathered(episode))
    quorums = [quorum for one in gatherings for quorum in one.quorums]
    dissolved = [quorum for quorum in quorums if quorum.end < episode.steps and not quorum.acted]
    return {
        "D1": share(won, int(joint.sum())),
        **_deficits(attempts),
        **_first_unmet(attempts),
        **_drift(attempts),
        "D5": _coverage(episode, attempts),
        "D6": _median(_assembly(episode, gatherings)),
        "D7": share(waited, float(ticks.sum())),
        "D7.per_act": share(waited, won),
        "D8": _median([one.skew for one in gatherings if one.skew is not None]),
        "D9": share(len(dissolved), len(quorums)),
    }


def _median(values: Sequence[int]) -> Value:
    return only(float(np.median(values)) if values else None, len(values))


# ---- attempts and constraints


def _columns(episode: Episode) -> Attempts:
    attempts: list[AttemptMade] = episode.all(AttemptMade)

    def counts(of: Sequence[Mapping[str, int]]) -> Ints:
        return np.array([[one.get(name, -1) for one in of] for name in CONSTRAINTS], np.int64).T

    return Attempts(
        np.array([episode.index[attempt.goal] for attempt in attempts], np.int64),
        np.array([attempt.step for attempt in attempts], np.int64),
        np.array([attempt.k for attempt in attempts], np.int64),
        np.array([attempt.success for attempt in attempts], np.bool_),
        counts([attempt.have for attempt in attempts]),
        counts([attempt.need for attempt in attempts]),
    )


def _deficits(attempts: Attempts) -> dict[str, Value]:
    """Return for each constraint the mean share of it that was missing, over attempts that could fail on it."""
    met = np.maximum(attempts.have, 0) / np.maximum(attempts.need, 1)
    missing = np.where(attempts.need > 0, np.maximum(0.0, 1.0 - met), 0.0)
    could = (attempts.need >= 0).sum(axis=0).tolist()
    return {f"D2.{name}": share(fsum(some), of) for name, some, of in zip(CONSTRAINTS, missing.T, could, strict=True)}


def _first_unmet(attempts: Attempts) -> dict[str, Value]:
    """Return the shares of failed attempts by first unmet constraint; ``none``: all that was counted was met."""
    unmet = np.maximum(attempts.have, 0) < attempts.need
    first = np.where(unmet.any(axis=1), unmet.argmax(axis=1), len(CONSTRAINTS))[~attempts.won]
    names = (*CONSTRAINTS, "none")
    found = np.bincount(first, minlength=len(names)).tolist()
    return {f"D3.{name}": share(number, len(first)) for name, number in zip(names, found, strict=True)}


def _drift(attempts: Attempts) -> dict[str, Value]:
    """Return how often what a goal had of a constraint rose, of the times it changed from one step to the next.

    Only steps with an attempt on the goal count; of several in one step the one that had most.
    """
    found = {}
    for name, have in zip(CONSTRAINTS, attempts.have.T, strict=True):
        rows = np.flatnonzero(have >= 0)
        rows = rows[np.lexsort((have[rows], attempts.step[rows], attempts.goal[rows]))]
        goal, step, had = attempts.goal[rows], attempts.step[rows], have[rows]
        most = np.append((goal[1:] != goal[:-1]) | (step[1:] != step[:-1]), True)[: len(rows)]  # last of a goal's step
        change = np.diff(had[most])[np.diff(goal[most]) == 0]
        rises, falls = int((change > 0).sum()), int((change < 0).sum())
        found[f"D4.{name}"] = share(rises, rises + falls)
    return found


def _coverage(episode: Episode, attempts: Attempts) -> Value:
    joint = episode.quorum >= 2
    return share(int(joint[np.unique(attempts.goal)].sum()), int(joint.sum()))


# ---- gathering


def in_place(episode: Episode) -> Iterator[tuple[int, Flags]]:
    """Yield each goal that takes several agents, and in which steps which agents were in place for it, shape (T, N).

    An agent is in place for a goal in a step if it stands in the goal's working place and waits for others
    (``ready``), takes part in an attempt on the goal, or takes part in its progress. All three tell where the agent
    stood when the step began. The sides of one goal are not told apart.
    """
    acts, index, who = episode.acts, episode.index, episode.who
    waiting = np.flatnonzero(acts.ready != NOBODY)
    changes = [change for change in episode.all(GoalChange) if change.event in ("progress", "done")]
    events: list[AttemptMade | GoalChange] = [*episode.all(AttemptMade), *changes]
    several = [len(event.participants) for event in events]
    goals = np.repeat(np.array([index[event.goal] for event in events], np.int64), several)
    steps = np.repeat(np.array([event.step for event in events], np.int64), several)
    agents = np.array([who[agent] for event in events for agent in event.participants], np.int64)
    stood = np.stack((acts.ready[waiting], acts.step[waiting], acts.agent[waiting]), axis=1)
    table = np.concatenate((stood, np.stack((goals, steps, agents), axis=1)))
    table = table[np.argsort(table[:, 0], kind="stable")]
    for goal in np.flatnonzero(episode.quorum >= 2).tolist():
        low, high = np.searchsorted(table[:, 0], (goal, goal + 1))
        present = np.zeros((episode.steps, len(episode.team)), np.bool_)
        present[table[low:high, 1], table[low:high, 2]] = True
        yield goal, present


def gathered(episode: Episode) -> Iterator[Gathering]:
    """Yield for each goal that takes several agents its quorums: runs of steps with at least k_g agents in place."""
    brought_on: dict[int, list[int]] = {}
    for attempt in episode.all(AttemptMade):
        if attempt.success:
            brought_on.setdefault(episode.index[attempt.goal], []).append(attempt.step)
    for change in episode.all(GoalChange):
        if change.event == "done" or (change.event == "progress" and change.delta > 0):
            brought_on.setdefault(episode.index[change.goal], []).append(change.step)
    for goal, present in in_place(episode):
        full = present.sum(axis=1) >= episode.quorum[goal]
        steps = np.zeros(episode.steps + 1, np.int64)
        steps[np.array(brought_on.get(goal, ()), np.int64) + 1] = 1
        before = np.cumsum(steps)  # steps that brought the goal on, before each step
        quorums = [Quorum(first, end, bool(before[end] > before[first])) for first, end in runs(full)]
        yield Gathering(goal, quorums, _skew(present, quorums[0].first) if quorums else None)


def _skew(present: Flags, complete: int) -> int:
    """Return how long before a quorum was complete the first of those in place had come, to stay."""
    here, step = np.flatnonzero(present[complete]), complete
    while step > 0 and (here := here[present[step - 1, here]]).size:
        step -= 1
    return complete - step


def runs(flags: Flags) -> list[tuple[int, int]]:
    """Return the first step of each run of steps that hold, and the step after its last."""
    edges = np.diff(np.concatenate(([False], flags, [False])).astype(np.int8))
    return list(zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True))


def _assembly(episode: Episode, gatherings: Sequence[Gathering]) -> list[int]:
    """Return for each goal the steps from the first commitment to it until a full quorum stood in place."""
    since = {word.goal: word.first for word in reversed(episode.words)}
    found = []
    for goal, quorums, _ in gatherings:
        complete = [quorum.first for quorum in quorums if quorum.end > since.get(goal, episode.steps)]
        if complete:
            found.append(max(0, complete[0] - since[goal]))
    return found
