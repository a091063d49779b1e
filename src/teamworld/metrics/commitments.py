"""Commitments: whether they hold, and whether they put more agents on a goal than it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from teamworld.metrics.definition import Value, metric, share
from teamworld.metrics.tables.event_table import Commitment, EventTable, primitive
from teamworld.record import Commit, PlanStart, Release


@metric
def commitment_reliability(table: EventTable) -> Value:
    """Return the share of commitments whose goal was done while they held, or whose release was agreed."""
    return share(_endings(table)["kept"], _endings(table).total())


@metric
def commitments_dropped(table: EventTable) -> Value:
    """Return the share of commitments that were never released though another goal was taken up."""
    return share(_endings(table)["dropped"], _endings(table).total())


@primitive
def _endings(table: EventTable) -> Counter[str]:
    """Return how commitments ended: ``kept``, ``dropped`` or otherwise.

    One made again to the same goal is one with that before.
    """
    taken_up: dict[int, list[tuple[int, int]]] = {}
    events: list[Commit | PlanStart] = [*table.all(Commit), *table.all(PlanStart)]
    for event in events:
        if event.goal is not None:
            taken_up.setdefault(table.who[event.agent], []).append((event.seq, table.index[event.goal]))
    latest = {(held.agent, held.goal): held for held in table.commitments}
    since: dict[tuple[int, int], int] = {}
    endings: Counter[str] = Counter()
    for commitment in table.commitments:
        key = commitment.agent, commitment.goal
        first = since.setdefault(key, commitment.first)
        if commitment.cause is None and commitment is not latest[key]:
            continue  # made again
        del since[key]
        endings[_ending(table, commitment._replace(first=first), taken_up[commitment.agent])] += 1
    return endings


def _ending(table: EventTable, commitment: Commitment, taken_up: Sequence[tuple[int, int]]) -> str:
    done = table.done.get(table.goals[commitment.goal])
    was_done = done is not None and commitment.first <= done < commitment.end
    if commitment.cause in ("done", "agreed") or was_done:
        return "kept"
    left = any(seq > commitment.seq and goal != commitment.goal for seq, goal in taken_up)
    return "dropped" if commitment.cause is None and left else "broken"


class Overstaffing(NamedTuple):
    """A commitment to a goal that has as many agents as can be of use there without it."""

    step: int
    agent: str
    goal: str
    others: tuple[str, ...]
    """Who was committed to it before."""
    is_renewed: bool
    """Whether the agent itself was committed to it already."""


@primitive
def overstaffings(table: EventTable) -> list[Overstaffing]:
    """Return the commitments beyond what a goal takes: k_g agents, or as many as it has places if these are more."""
    takes = {goal.id: max(goal.quorum, goal.places) for goal in table.start.goals}
    held: dict[str, dict[str, None]] = {}
    events: list[Commit | Release] = table.all(Commit, Release)
    beyond = []
    for event in events:
        others = held.setdefault(event.goal, {})
        is_renewed = event.agent in others
        others.pop(event.agent, None)
        if isinstance(event, Commit):
            if len(others) >= takes.get(event.goal, len(table.team)):
                beyond.append(Overstaffing(event.step, event.agent, event.goal, tuple(others), is_renewed))
            others[event.agent] = None
    return beyond


@metric
def assignment_conflict(table: EventTable) -> Value:
    """Return the share of commitments that put more agents on a goal than can be of use there."""
    return share(sum(not overstaffing.is_renewed for overstaffing in overstaffings(table)), len(table.all(Commit)))
