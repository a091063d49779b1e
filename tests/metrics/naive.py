"""Metrics once more, written from their formulas: slow, with loops and dictionaries, straight from the events.

Each function returns (numerator, denominator).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, TypeVar

from teamworld.record import (
    ActionStep,
    AttemptMade,
    Commit,
    EpisodeStart,
    Event,
    GoalChange,
    GoalInfo,
    PlanEnd,
    PlanStart,
    Release,
    StepDone,
)

Log: TypeAlias = Sequence[Event]
Pair: TypeAlias = tuple[float, float]
Kind = TypeVar("Kind")


def of(log: Log, kind: type[Kind]) -> list[Kind]:
    return [event for event in log if isinstance(event, kind)]


def first(log: Log) -> EpisodeStart:
    start = log[0]
    assert isinstance(start, EpisodeStart)
    return start


def steps(log: Log) -> int:
    return len(of(log, StepDone))


def ticks(log: Log) -> dict[int, int]:
    return {done.step: done.ticks for done in of(log, StepDone)}


def acts(log: Log) -> list[ActionStep]:
    return [act for act in of(log, ActionStep) if act.spent]


def at(log: Log) -> dict[tuple[int, str], ActionStep]:
    return {(act.step, act.agent): act for act in acts(log)}


def joint_goals(log: Log) -> list[GoalInfo]:
    return [goal for goal in first(log).goals if goal.quorum >= 2]


def waiting(log: Log) -> Pair:
    """Return the ticks of agents in place for the goal of their own plan: not refused, blocked, talking or at work."""
    length = ticks(log)
    waits = [
        act
        for act in acts(log)
        if act.ready is not None and act.ready == act.goal and act.legal and not act.effect and act.verb != "talk"
    ]
    waits = [act for act in waits if act.moved or act.blocker is None]
    return sum(length[act.step] for act in waits), sum(length[act.step] for act in acts(log))


def invalid(log: Log) -> Pair:
    tried = of(log, ActionStep)  # those passed over too
    return len([act for act in tried if not act.legal]), len(tried)


def success(log: Log) -> Pair:
    joint = [attempt for attempt in of(log, AttemptMade) if attempt.k >= 2]
    return len([attempt for attempt in joint if attempt.success]), len(joint)


def first_unmet(name: str) -> Callable[[Log], Pair]:
    def measured(log: Log) -> Pair:
        failed = [attempt for attempt in of(log, AttemptMade) if not attempt.success]
        number = 0
        for attempt in failed:
            for constraint in ("dependency", "capability", "participation", "spatial", "temporal"):
                if attempt.have.get(constraint, 0) < attempt.need.get(constraint, 0):
                    number += constraint == name
                    break
        return number, len(failed)

    return measured


def coverage(log: Log) -> Pair:
    goals = [goal.id for goal in joint_goals(log)]
    return len([goal for goal in goals if goal in {attempt.goal for attempt in of(log, AttemptMade)}]), len(goals)


def carried_out(log: Log) -> Pair:
    endings = of(log, PlanEnd)
    return len([end for end in endings if end.status == "success" or end.cause == "goal_open"]), len(endings)


def twice_the_work(log: Log) -> Pair:
    """Return the ticks under plans for goals that others have done, or that have enough agents without this one."""
    length, there = ticks(log), at(log)
    done = {change.goal: change.step for change in of(log, GoalChange) if change.event == "done"}
    use = {goal.id: max(goal.quorum, goal.places) for goal in first(log).goals}
    by_unit = {goal.id: goal.quorum for goal in first(log).goals if goal.units == goal.places}
    plans = {plan.plan: plan for plan in of(log, PlanStart)}
    advances = [
        (act.plan, change.step)
        for change in of(log, GoalChange)
        if change.event == "done" or change.delta > 0
        for agent in change.participants
        if (act := there.get((change.step, agent))) is not None and act.goal == change.goal
    ]
    rows = 0
    for act in acts(log):
        if act.goal is None or act.plan is None:
            continue
        own = [step for plan, step in advances if plan == act.plan]
        if act.step > done.get(act.goal, steps(log)):
            rows += length[act.step] * (not own)
            continue
        held = _held_during(log, act)
        mine = held.pop(act.agent, None)
        others = len([seq for seq in held.values() if mine is None or seq < mine])
        plan, useful = plans[act.plan], use.get(act.goal, 0)
        if act.goal in by_unit:
            useful = max(min(useful, plan.units), by_unit[act.goal])
        is_spare = plan.quorum > 0 and others >= max(plan.quorum, useful)
        rows += length[act.step] * (is_spare and act.step > max(own, default=-1))
    return rows, sum(length[act.step] for act in acts(log))


def _held_during(log: Log, act: ActionStep) -> dict[str, int]:
    """Return who is committed to an action's goal in its step, with the number of the record that says so."""
    held: dict[str, int] = {}
    for event in log:
        if isinstance(event, Commit | Release) and event.goal == act.goal and event.step <= act.step:
            held.pop(event.agent, None)
            if isinstance(event, Commit):
                held[event.agent] = event.seq
    return held


def twice_the_search(log: Log) -> Pair:
    length, there, verbs = ticks(log), at(log), first(log).searches or ("search",)
    fades = "UNSEEN" in {relation.predicate for relation in first(log).relations}
    done = {change.goal: change.step for change in of(log, GoalChange) if change.event == "done"}.values()
    looks = [act for act in acts(log) if act.verb in verbs and act.args]
    again = 0
    for act in looks:
        began = {}
        for agent in first(log).team:
            step = act.step
            while (other := there.get((step, agent))) is not None and other in looks and other.args[0] == act.args[0]:
                began[agent] = step
                step -= 1
        mine = (began[act.agent], first(log).team.index(act.agent))
        earlier = [agent for agent, step in began.items() if (step, first(log).team.index(agent)) < mine]
        known = [other for other in looks if other.args[0] == act.args[0] and other.step < act.step]
        known = [other for other in known if not fades or not any(other.step <= step < act.step for step in done)]
        again += length[act.step] * (bool(earlier) or any(other.status == "done" for other in known))
    return again, sum(length[act.step] for act in looks)


def _blocked(act: ActionStep) -> bool:
    return act.legal and act.blocker is not None and not act.moved and not act.effect


def spatial(log: Log) -> Pair:
    team = first(log).team
    moves = [act for act in acts(log) if act.moved or _blocked(act)]
    return len([act for act in moves if _blocked(act) and act.blocker in team]), len(moves)


def locked(log: Log) -> set[int]:
    """Return the steps in deadlocks."""
    length = steps(log)
    still = []
    goals = {goal.id for goal in first(log).goals} | {change.goal for change in of(log, GoalChange)}
    for step in range(length):
        finished = {
            change.goal for change in of(log, GoalChange) if change.step < step and change.event in ("done", "lost")
        }
        quiet = not any(act.moved or act.effect for act in acts(log) if act.step == step)
        quiet = quiet and not any(change.step == step for change in of(log, GoalChange))
        still.append(quiet and bool(goals - finished))
    return {step + k for step in range(length - 7) if all(still[step : step + 8]) for k in range(8)}


def to_and_fro(log: Log) -> set[tuple[int, str]]:
    """Return the steps, with the agents, that lead from A to B, back, and there again."""
    there, inside = at(log), set[tuple[int, str]]()
    for agent in first(log).team:
        where: list[str | None] = []
        for step in range(steps(log)):
            act = there.get((step, agent))
            where.append(act.place if act is not None else None)
            if step == steps(log) - 1:
                where.append(None if act is None else act.aim if act.moved and act.aim else act.place)
        for k in range(len(where) - 3):
            one, two, three, four = where[k : k + 4]
            if one is not None and two is not None and one != two and (one, two) == (three, four):
                inside |= {(k, agent), (k + 1, agent), (k + 2, agent)}
    return inside


def contributions(log: Log) -> dict[str, Fraction]:
    weights = {goal.id: Fraction(goal.weight) for goal in first(log).goals}
    given = dict.fromkeys(first(log).team, Fraction(0))
    for change in of(log, GoalChange):
        for agent in change.participants:
            part = weights.get(change.goal, Fraction(0)) * Fraction(change.delta).limit_denominator(1000)
            given[agent] += part / len(change.participants)
    return {agent: max(Fraction(0), amount) for agent, amount in given.items()}


def gini(log: Log) -> Pair:
    given = list(contributions(log).values())
    apart = sum(abs(one - two) for one in given for two in given)
    return float(apart), float(2 * len(given) ** 2 * (sum(given) / len(given)))


def reliability(log: Log) -> Pair:
    """Return the commitments that were kept: goal done while they held, or given up as done or agreed."""
    done = {change.goal: change.seq for change in of(log, GoalChange) if change.event == "done"}
    held: dict[tuple[str, str], int] = {}
    kept = number = 0
    for event in log:
        if isinstance(event, Commit) and (event.agent, event.goal) not in held:
            held[event.agent, event.goal] = event.seq
            number += 1
        if isinstance(event, Release):
            since = held.pop((event.agent, event.goal), None)
            if since is not None:
                kept += event.cause in ("done", "agreed") or since < done.get(event.goal, -1) < event.seq
    kept += len([1 for (_, goal), since in held.items() if since < done.get(goal, -1)])
    return kept, number


_CONSTRAINTS = ("dependency", "capability", "participation", "spatial", "temporal")

SHARES: Mapping[str, Callable[[Log], Pair]] = {
    "waiting_share": waiting,
    "invalid_action_rate": invalid,
    "joint_success": success,
    **{f"unmet_{name}": first_unmet(name) for name in _CONSTRAINTS},
    "attempt_coverage": coverage,
    "plan_success": carried_out,
    "duplicate_work": twice_the_work,
    "duplicate_search": twice_the_search,
    "spatial_conflict": spatial,
    "contribution_gini": gini,
    "commitment_reliability": reliability,
}
