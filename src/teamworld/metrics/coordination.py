"""Coordination: joint acts, plans, commitments, agents in one another's way, standstill, going to and fro."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import fsum
from typing import Final, NamedTuple, get_args

import numpy as np

from teamworld.metrics.definition import NULL, Value, metric, metric_family, share
from teamworld.metrics.event_table import NOBODY, Commitment, EventTable, Flags, consecutive_runs, primitive
from teamworld.record import AttemptMade, Commit, GoalChange, PlanEnd, PlanStart, Release
from teamworld.worlds.contract import Constraint

#: In the order in which the first unmet one is named.
CONSTRAINTS: Final[tuple[Constraint, ...]] = get_args(Constraint)
#: Steps without any movement or effect that make a deadlock.
STILL: Final = 8


# ---- joint acts


def first_unmet(attempt: AttemptMade) -> Constraint | None:
    """Return the first unmet constraint of an attempt; None if all that were counted were met."""
    return next((name for name in CONSTRAINTS if attempt.have.get(name, 0) < attempt.need.get(name, 0)), None)


@metric
def joint_success(table: EventTable) -> Value:
    """Return the share of attempts with a quorum of two or more that succeed."""
    joint = [attempt for attempt in table.all(AttemptMade) if attempt.k >= 2]
    return share(sum(attempt.success for attempt in joint), len(joint))


@metric_family(*(f"unmet_{constraint or 'none'}" for constraint in (*CONSTRAINTS, None)))
def unmet_shares(table: EventTable) -> Sequence[Value]:
    """Return the shares of failed attempts by their first unmet constraint; the last, where none was counted."""
    first = Counter(first_unmet(attempt) for attempt in table.all(AttemptMade) if not attempt.success)
    return [share(first[constraint], first.total()) for constraint in (*CONSTRAINTS, None)]


@metric
def attempt_coverage(table: EventTable) -> Value:
    """Return the share of goals with a quorum of two or more that saw an attempt."""
    tried = {attempt.goal for attempt in table.all(AttemptMade)}
    joint = [goal.id for goal in table.start.goals if goal.quorum >= 2]
    return share(sum(goal in tried for goal in joint), len(joint))


# ---- plans


@metric_family("plan_validity", "plan_success", "replanning", "plan_reuse")
def plan_shares(table: EventTable) -> Sequence[Value]:
    """Return the shares of plans that can be carried out, that end well, and that come from a memory; revised plans.

    The first is of plans that parse and whose first action is legal, the second of ended plans; revised plans are those
    of an agent in 100 steps. A plan ends well if its actions were all done, whether or not that did its goal.
    """
    plans, endings = table.all(PlanStart), table.all(PlanEnd)
    valid = sum(plan.parsed and plan.first_action_legal for plan in plans)
    origins = Counter(plan.origin for plan in plans)
    return (
        share(valid, len(plans)),
        share(len(table.carried_out), len(endings)),
        share(100 * origins["revised"], len(table.acts.step)),
        share(origins["reused"], len(plans)),
    )


def plan_cycles(table: EventTable) -> list[tuple[PlanStart, ...]]:
    """Return each four plans A, B, A, B in a row of one agent, for goals, of which none succeeded."""
    return [
        four
        for plans in table.plans_of.values()
        for four in zip(plans, plans[1:], plans[2:], plans[3:], strict=False)
        if four[0].text == four[2].text != four[1].text == four[3].text
        and None not in (four[0].goal, four[1].goal)
        and not any(plan.plan in table.won for plan in four)
    ]


# ---- commitments


@metric_family("commitment_reliability", "commitments_dropped")
def commitment_shares(table: EventTable) -> tuple[Value, Value]:
    """Return the share of commitments that are kept, and of those never released though another goal was taken up.

    One is kept if its goal was done while it held, or its release was agreed; one made again to the same goal is one
    with that before.
    """
    taken_up: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    events: list[Commit | PlanStart] = table.all(Commit, PlanStart)
    for event in events:
        if event.goal is not None:
            taken_up[table.who[event.agent]].append((event.seq, table.index[event.goal]))
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
    return share(endings["kept"], endings.total()), share(endings["dropped"], endings.total())


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


# ---- conflict


@metric
def staffing_coherence(table: EventTable) -> Value:
    """Return the mean over ticks of the share of agents of use: whose plans are for a goal that gets its quorum."""
    there, goals = table.row != NOBODY, len(table.goals)
    aim = np.full(there.shape, NOBODY, np.int64)
    for plan in table.all(PlanStart):
        goal = NOBODY if plan.goal is None else table.index[plan.goal]
        ending = table.endings.get(plan.plan)
        aim[plan.step : table.steps if ending is None else ending.step, table.who[plan.agent]] = goal
    step, agent = np.nonzero(there & (aim != NOBODY))
    agents = np.bincount(step * goals + aim[step, agent], minlength=table.steps * goals).reshape(table.steps, goals)
    staffed = np.where(agents >= table.quorum, np.minimum(agents, table.takes), 0).sum(axis=1)
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
    return share(fsum(end - first for first, end in deadlocks(table)), table.steps)


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
    runs = consecutive_runs(np.flatnonzero(still).tolist())
    return [(first, last + 1) for first, last in runs if last - first + 1 >= STILL]


@metric_family("oscillation", "position_oscillation", "plan_oscillation")
def oscillation_shares(table: EventTable) -> tuple[Value, Value, Value]:
    """Return the shares of agent-steps spent going to and fro: either way, between places, between plans.

    Between places, a step is one that leads from A to B, back to A, and to B again; between plans, one from the first
    to the last of plans A, B, A, B of which none succeeds.
    """
    by_places, by_plans = place_swings(table), _plan_swings(table)
    ticks = np.where(table.row != NOBODY, table.ticks[:, None], 0)
    either, by_place, by_plan = (
        share(float(ticks[swings].sum()), float(ticks.sum())) for swings in (by_places | by_plans, by_places, by_plans)
    )
    has_places = bool((table.acts.place != NOBODY).any())
    return either if has_places else NULL, by_place if has_places else NULL, by_plan


def place_swings(table: EventTable) -> Flags:
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


def _plan_swings(table: EventTable) -> Flags:
    """Return the steps (T, N) inside plan cycles."""
    inside = np.zeros(table.row.shape, np.bool_)
    for plans in plan_cycles(table):
        inside[plans[0].step : plans[-1].step + 1, table.who[plans[0].agent]] = True
    return np.asarray(inside & (table.row != NOBODY))
