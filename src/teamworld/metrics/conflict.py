"""Conflict: split teams, agents in one another's way, standstill, going to and fro."""

from __future__ import annotations

from math import fsum

import numpy as np

from teamworld.metrics.definition import NULL, Value, metric, share
from teamworld.metrics.plans import plan_cycles
from teamworld.metrics.tables.event_table import NOBODY, EventTable, Flags, primitive
from teamworld.record import GoalChange, PlanStart

#: Steps without any movement or effect that make a deadlock.
STILL = 8


@metric
def staffing_coherence(table: EventTable) -> Value:
    """Return the mean over ticks of the share of agents whose plans give a goal its full quorum."""
    there, goals = table.row != NOBODY, len(table.goals)
    aim = np.full(there.shape, NOBODY, np.int64)
    for plan in table.all(PlanStart):
        goal = NOBODY if plan.goal is None else table.index[plan.goal]
        ending = table.endings.get(plan.plan)
        aim[plan.step : table.steps if ending is None else ending.step, table.who[plan.agent]] = goal
    step, agent = np.nonzero(there & (aim != NOBODY))
    agents = np.bincount(step * goals + aim[step, agent], minlength=table.steps * goals).reshape(table.steps, goals)
    staffed = np.where(agents >= table.quorum, np.minimum(agents, table.quorum), 0).sum(axis=1)
    active = there.sum(axis=1)
    has_agents = active > 0
    ticks = table.ticks[has_agents]
    return share(fsum(ticks * staffed[has_agents] / active[has_agents]), float(ticks.sum()))


@metric
def spatial_conflict(table: EventTable) -> Value:
    """Return the share of tried moves that failed because of another agent."""
    blocked = table.acts.in_class("blocked")
    return share(int((blocked & (table.acts.blocker != NOBODY)).sum()), int((table.acts.moved | blocked).sum()))


@metric
def deadlock(table: EventTable) -> Value:
    """Return the share of steps in deadlocks."""
    return share(sum(end - first for first, end in deadlocks(table)), table.steps)


@primitive
def deadlocks(table: EventTable) -> list[tuple[int, int]]:
    """Return the long runs of steps in which no agent moves and nothing changes though goals are open.

    Returns:
        The first step of each, and the step after its last.
    """
    acts, changes = table.acts, table.all(GoalChange)
    over = {change.goal: change.step for change in changes if change.event in ("done", "lost")}
    goals = {*(goal.id for goal in table.start.goals), *(change.goal for change in changes)}
    last = max((over.get(goal, table.steps) for goal in goals), default=-1)
    still = np.arange(table.steps) <= last
    still[acts.step[acts.moved | acts.effect]] = False
    still[[change.step for change in changes if change.step < table.steps]] = False
    return [(first, end) for first, end in runs_of(still) if end - first >= STILL]


def runs_of(flags: Flags) -> list[tuple[int, int]]:
    """Return the first step of each run of steps that hold, and the step after its last."""
    edges = np.diff(np.concatenate(([False], flags, [False])).astype(np.int8))
    return list(zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True))


@metric
def oscillation(table: EventTable) -> Value:
    """Return the share of agent-steps spent going to and fro, between places or plans."""
    return _share_in(table, _place_swings(table) | _plan_swings(table)) if _has_places(table) else NULL


@metric
def position_oscillation(table: EventTable) -> Value:
    """Return the share of agent-steps that lead from A to B, back to A, and to B again."""
    return _share_in(table, _place_swings(table)) if _has_places(table) else NULL


@metric
def plan_oscillation(table: EventTable) -> Value:
    """Return the share of agent-steps from the first to the last of plans A, B, A, B of which none succeeds."""
    return _share_in(table, _plan_swings(table))


def _has_places(table: EventTable) -> bool:
    return bool((table.acts.place != NOBODY).any())


def _share_in(table: EventTable, which: Flags) -> Value:
    ticks = np.where(table.row != NOBODY, table.ticks[:, None], 0)
    return share(float(ticks[which].sum()), float(ticks.sum()))


@primitive
def _place_swings(table: EventTable) -> Flags:
    """Return the steps (T, N) that lead an agent from A to B, back to A, and to B again."""
    acts, row = table.acts, table.row
    inside = np.zeros(row.shape, np.bool_)
    if len(row) < 3:
        return inside
    place = np.append(acts.place, NOBODY)[row]  # row NOBODY, -1, is the last one
    after = np.append(np.where(acts.moved & (acts.aim != NOBODY), acts.aim, acts.place), NOBODY)[row[-1:]]
    at = np.concatenate((place, after))
    first, second, third, fourth = at[:-3], at[1:-2], at[2:-1], at[3:]
    is_known = (first != NOBODY) & (second != NOBODY)
    swings = (first == third) & (second == fourth) & (first != second) & is_known
    for shift in range(3):
        inside[shift : shift + len(swings)] |= swings
    return inside


@primitive
def _plan_swings(table: EventTable) -> Flags:
    """Return the steps (T, N) inside plan cycles."""
    inside = np.zeros(table.row.shape, np.bool_)
    for plans in plan_cycles(table):
        inside[plans[0].step : plans[-1].step + 1, table.who[plans[0].agent]] = True
    return np.asarray(inside & (table.row != NOBODY))
