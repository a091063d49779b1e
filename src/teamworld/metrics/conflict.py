"""Conflict: over-staffed goals, split teams, agents in one another's way, standstill (metrics spec, D10 to D13)."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum

import numpy as np
from numpy.typing import NDArray

from teamworld.metrics.definition import NULL, Value, share
from teamworld.metrics.episode import CLASSES, NOBODY, Episode
from teamworld.metrics.failures.conduct import STILL
from teamworld.metrics.joint import runs
from teamworld.record import Commit, GoalChange, PlanEnd, PlanStart, Release


def measure(episode: Episode) -> Mapping[str, Value]:
    """Measure conflicts of assignment, of place and of will."""
    return {
        "D10": _over_staffed(episode),
        "D11": _staffing_coherence(episode),
        **_spatial(episode),
        "D13.deadlock": share(_deadlocked(episode), episode.steps),
        **_oscillation(episode),
    }


def _over_staffed(episode: Episode) -> Value:
    """Return the share of commitments that put more agents on a goal than can be of use there."""
    takes = {goal.id: max(goal.quorum, goal.places) for goal in episode.start.goals}
    held: dict[str, set[str]] = {}
    events: list[Commit | Release] = [*episode.all(Commit), *episode.all(Release)]
    conflicts = 0
    for event in sorted(events, key=lambda event: event.seq):
        agents = held.setdefault(event.goal, set())
        if isinstance(event, Release):
            agents.discard(event.agent)
        elif event.agent not in agents:
            agents.add(event.agent)
            conflicts += len(agents) > takes.get(event.goal, len(agents))
    return share(conflicts, len(episode.all(Commit)))


def _staffing_coherence(episode: Episode) -> Value:
    """Return the mean over ticks of the share of agents whose plans give a goal its full quorum (D11)."""
    there, goals = episode.row != NOBODY, len(episode.goals)
    ended = {ending.plan: ending.step for ending in episode.all(PlanEnd)}
    aim = np.full(there.shape, NOBODY, np.int64)
    for plan in episode.all(PlanStart):
        goal = NOBODY if plan.goal is None else episode.index[plan.goal]
        aim[plan.step : ended.get(plan.plan, episode.steps), episode.who[plan.agent]] = goal
    step, agent = np.nonzero(there & (aim != NOBODY))
    agents = np.bincount(step * goals + aim[step, agent], minlength=episode.steps * goals).reshape(episode.steps, goals)
    staffed = np.where(agents >= episode.quorum, np.minimum(agents, episode.quorum), 0).sum(axis=1)
    active = there.sum(axis=1)
    some = active > 0
    ticks = episode.ticks[some]
    return share(fsum(ticks * staffed[some] / active[some]), float(ticks.sum()))


def _spatial(episode: Episode) -> dict[str, Value]:
    """Return the shares of moves that failed because of another agent, and of two kinds of these (D12)."""
    acts = episode.acts
    barred = acts.spent == CLASSES.index("blocked")
    tried = int((acts.moved | barred).sum())
    rows = np.flatnonzero(barred & (acts.blocker != NOBODY))
    others = episode.row[acts.step[rows], acts.blocker[rows]]
    known = (others != NOBODY) & (acts.aim[rows] != NOBODY)
    mine, theirs = rows[known], others[known]
    same = acts.aim[mine] == acts.aim[theirs]
    crossed = (acts.aim[mine] == acts.place[theirs]) & (acts.aim[theirs] == acts.place[mine])
    aims = bool((acts.aim != NOBODY).any())
    return {
        "D12": share(len(rows), tried),
        "D12.swap": share(int(crossed.sum()), tried) if aims else NULL,
        "D12.cell": share(int(same.sum()), tried) if aims else NULL,
    }


def _deadlocked(episode: Episode) -> int:
    """Return the steps in spans in which nobody moves and nothing changes though goals are open."""
    acts, changes = episode.acts, episode.all(GoalChange)
    over = {change.goal: change.step for change in changes if change.event in ("done", "lost")}
    goals = {*(goal.id for goal in episode.start.goals), *(change.goal for change in changes)}
    last = max((over.get(goal, episode.steps) for goal in goals), default=-1)
    still = np.arange(episode.steps) <= last
    still[acts.step[acts.moved | acts.effect]] = False
    still[[change.step for change in changes if change.step < episode.steps]] = False
    return sum(end - first for first, end in runs(still) if end - first >= STILL)


def _oscillation(episode: Episode) -> dict[str, Value]:
    """Return the shares of agent-steps spent going to and fro between two places, or two plans (D13)."""
    acts, row = episode.acts, episode.row
    there = row != NOBODY
    ticks = np.where(there, episode.ticks[:, None], 0)
    places, plans = _to_and_fro(episode), _plan_cycles(episode) & there

    def part(which: NDArray[np.bool_]) -> Value:
        return share(float(ticks[which].sum()), float(ticks.sum()))

    known = bool((acts.place != NOBODY).any())
    return {
        "D13.oscillation": part(places | plans) if known else NULL,
        "D13.positions": part(places) if known else NULL,
        "D13.plans": part(plans),
    }


def _to_and_fro(episode: Episode) -> NDArray[np.bool_]:
    """Return the steps (T, N) that lead an agent from A to B, back to A, and to B again."""
    acts, row = episode.acts, episode.row
    found = np.zeros(row.shape, np.bool_)
    if len(row) < 3:
        return found
    place = np.append(acts.place, NOBODY)[row]  # row NOBODY, -1, is the last one
    after = np.append(np.where(acts.moved & (acts.aim != NOBODY), acts.aim, acts.place), NOBODY)[row[-1:]]
    at = np.concatenate((place, after))
    one, two, three, four = at[:-3], at[1:-2], at[2:-1], at[3:]
    swung = (one == three) & (two == four) & (one != two) & (one != NOBODY) & (two != NOBODY)
    for shift in range(3):
        found[shift : shift + len(swung)] |= swung
    return found


def _plan_cycles(episode: Episode) -> NDArray[np.bool_]:
    """Return the steps (T, N) from the first to the last of plans A, B, A, B for goals of which none succeeded."""
    won = {ending.plan for ending in episode.all(PlanEnd) if ending.status == "success"}
    mine: dict[str, list[PlanStart]] = {}
    for plan in episode.all(PlanStart):
        mine.setdefault(plan.agent, []).append(plan)
    found = np.zeros(episode.row.shape, np.bool_)
    for agent, plans in mine.items():
        for four in zip(plans, plans[1:], plans[2:], plans[3:], strict=False):
            one, two, three, last = four
            swung = one.text == three.text != two.text == last.text
            if swung and None not in (one.goal, two.goal) and not any(plan.plan in won for plan in four):
                found[one.step : last.step + 1, episode.who[agent]] = True
    return found
