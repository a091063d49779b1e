"""Effort: what agents spend their steps on, and how evenly they share the work. Shares are weighted by ticks."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import groupby
from math import fsum
from typing import Final

import numpy as np

from teamworld.metrics.definition import Value, count, metric, metric_family, share
from teamworld.metrics.event_table import NOBODY, Commitment, EventTable, Flags, Ints, StepClass, primitive
from teamworld.record import GoalChange, PlanStart

_SPENT: Final[Mapping[str, StepClass]] = {
    **{"work_share": "work", "waiting_share": "sync", "idle_share": "idle"},
}


@metric
def steps(table: EventTable) -> Value:
    """Return the steps until all goals are done; the step limit where some are left or lost, however early it ended.

    Of levels that ask for no goals the steps of the world. Steps are ticks, where one call of it goes through several.
    """
    return count(table.start.horizon if table.is_solved is False else int(table.clock[-1]))


@metric_family(*_SPENT)
def spent_shares(table: EventTable) -> Sequence[Value]:
    """Return the shares of agent-steps that were work, waiting in place, and idle."""
    return [_share_of(table, table.acts.in_class(spent)) for spent in _SPENT.values()]


def _share_of(table: EventTable, acts: Flags | Ints) -> Value:
    """Return the share of agent-steps that some rows of ``acts`` make up."""
    return share(float(table.act_ticks[acts].sum()), float(table.act_ticks.sum()))


@metric
def invalid_action_rate(table: EventTable) -> Value:
    """Return the share of actions that were not legal, or skipped at no cost because they could not start."""
    refused = int(table.acts.in_class("invalid").sum()) + table.skipped
    return share(refused, len(table.acts.step) + table.skipped)


@metric
def duplicate_work(table: EventTable) -> Value:
    """Return the share of agent-steps spent on a goal that was done, or that enough others had committed to before."""
    return _share_of(table, duplicate_rows(table))


@primitive
def duplicate_rows(table: EventTable) -> Ints:
    """Return the rows of ``acts`` that served a goal which was done, or enough others had committed to before.

    Enough are as many as can be of use there: k_g, or its places if these are more; of a goal with
    a place for each unit, the units that were left when the plan was made. Who had a part in doing the goal goes on
    with what its plan holds next, and who advances it under the plan in hand is not the one too many: neither counts.
    """
    acts = table.acts
    serving = (acts.goal != NOBODY) & (acts.plan != NOBODY)
    done = np.full(len(table.goals) + 1, table.steps, np.int64)
    for goal, step in table.done.items():
        done[table.index[goal]] = step
    late = serving & (acts.step > done[acts.goal])
    spare = np.zeros(len(acts.step), np.bool_)
    needed = {plan.plan: (plan.quorum, plan.units) for plan in table.all(PlanStart)}
    by_goal: dict[int, list[Commitment]] = {}
    for commitment in table.commitments:
        by_goal.setdefault(commitment.goal, []).append(commitment)
    for index, held in sorted(by_goal.items()):
        rows = np.flatnonzero(serving & (acts.goal == index))
        own = np.full(len(rows), np.iinfo(np.int64).max)  # when the agent itself had committed; never
        others = np.zeros(len(rows), np.int64)
        spans = [np.searchsorted(acts.step[rows], (commitment.first, commitment.end)) for commitment in held]
        for commitment, (low, high) in zip(held, spans, strict=True):
            mine = acts.agent[rows[low:high]] == commitment.agent
            own[low:high][mine] = commitment.seq
        for commitment, (low, high) in zip(held, spans, strict=True):
            theirs = acts.agent[rows[low:high]] != commitment.agent
            others[low:high] += theirs & (commitment.seq < own[low:high])
        quorum, units = np.array([needed.get(plan, (0, 0)) for plan in acts.plan[rows].tolist()]).reshape(-1, 2).T
        places = np.minimum(units, table.takes[index]) if table.has_place_for_each_unit[index] else table.takes[index]
        of_use = np.maximum(places, np.maximum(quorum, table.quorum[index]))
        spare[rows] = (quorum > 0) & (others >= of_use)
    advanced = _advanced_last(table)
    until = np.array([advanced.get(plan, NOBODY) for plan in acts.plan.tolist()], np.int64).reshape(-1)
    return np.flatnonzero((late & (until == NOBODY)) | (spare & ~late & (acts.step > until)))


def _advanced_last(table: EventTable) -> dict[int, int]:
    """Return by number the plans whose agent advanced their goal under them, with the last step in which it did."""
    acts, last = table.acts, dict[int, int]()
    for change in table.all(GoalChange):
        is_advance = change.event == "done" or change.delta > 0
        for agent in change.participants if is_advance and change.step < table.steps else ():
            row = table.row[change.step, table.who[agent]]
            if row != NOBODY and acts.goal[row] == table.index[change.goal]:
                last[int(acts.plan[row])] = change.step
    return last


@metric
def duplicate_search(table: EventTable) -> Value:
    """Return the share of searching agent-steps that went to what a teammate was searching, or the team had searched.

    Null in worlds without actions that search.
    """
    searching = table.acts.search != NOBODY
    again = duplicate_searches(table)
    return share(float(table.act_ticks[again].sum()), float(table.act_ticks[searching].sum()))


@primitive
def duplicate_searches(table: EventTable) -> Ints:
    """Return the rows of ``acts`` that searched what another was searching since before, or what had been searched.

    In worlds in which what was seen can be unseen again, a search to the end holds until a goal is done.
    """
    acts = table.acts
    spans: dict[int, dict[int, tuple[int, int]]] = {}  # by place and agent: first and last step of its latest search
    searched: set[int] = set()
    again = []
    ends = deque(sorted(table.done.values()) if table.forgets else ())
    rows = np.flatnonzero(acts.search != NOBODY).tolist()
    for step, together in groupby(rows, key=lambda row: int(acts.step[row])):
        while ends and ends[0] < step:
            ends.popleft()
            searched.clear()
        group = [(row, int(acts.search[row]), int(acts.agent[row])) for row in together]
        for _, place, agent in group:
            first, last = spans.setdefault(place, {}).get(agent, (step, NOBODY))
            spans[place][agent] = (first if last == step - 1 else step), step
        for row, place, agent in group:
            began = (spans[place][agent][0], agent)
            is_second = any(last == step and (first, who) < began for who, (first, last) in spans[place].items())
            if place in searched or is_second:
                again.append(row)
        searched.update(place for row, place, _ in group if acts.done[row])
    return np.array(again, np.int64)


@metric
def contribution_gini(table: EventTable) -> Value:
    """Return the Gini index of contributions; null where no agent contributes."""
    amounts = contributions(table)
    return gini(amounts) if max(amounts, default=0.0) > 0 else share(0, 0)


@primitive
def contributions(table: EventTable) -> Sequence[float]:
    """Return each agent's contribution x_i: the weight of the progress that it took part in, shared equally.

    Progress that is undone counts against those who undo it; no contribution is below 0.
    """
    parts: dict[str, list[float]] = {agent: [] for agent in table.team}
    for change in table.all(GoalChange):
        if change.event in ("progress", "done") and change.participants:
            part = float(table.weights[table.index[change.goal]]) * change.delta / len(change.participants)
            for agent in change.participants:
                parts[agent].append(part)
    return [max(0.0, fsum(own)) for own in parts.values()]


def gini(amounts: Sequence[float]) -> Value:
    """Return the Gini index of amounts from 0 on: 0 where all are equal, 1 - 1/N where one has everything."""
    number = len(amounts)
    # The sum over all ordered pairs: each amount less those below it, and those above it less it.
    differences = 2 * fsum((2 * at - number + 1) * amount for at, amount in enumerate(sorted(amounts)))
    return share(max(0.0, differences), 2 * number * fsum(amounts))
