"""Metrics once more, written from the specification: slow, with loops and dictionaries, straight from the events.

Each function returns (numerator, denominator), or the values that a median is taken of.
"""

from __future__ import annotations

import math
import re
import statistics
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
    MessageSent,
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


# ---- E6.sync, E8


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


# ---- D1 to D9


def success(log: Log) -> Pair:
    joint = [attempt for attempt in of(log, AttemptMade) if attempt.k >= 2]
    return len([attempt for attempt in joint if attempt.success]), len(joint)


def deficit(name: str) -> Callable[[Log], Pair]:
    def measured(log: Log) -> Pair:
        total, number = Fraction(0), 0
        for attempt in of(log, AttemptMade):
            if name in attempt.need:
                met = min(Fraction(1), Fraction(attempt.have.get(name, 0), attempt.need[name]))
                total += 1 - met
                number += 1
        return float(total), number

    return measured


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


def drift(name: str) -> Callable[[Log], Pair]:
    def measured(log: Log) -> Pair:
        up = down = 0
        for goal in {attempt.goal for attempt in of(log, AttemptMade)}:
            best: list[int] = []
            for step in range(steps(log)):
                now = [
                    attempt.have[name]
                    for attempt in of(log, AttemptMade)
                    if attempt.goal == goal and attempt.step == step and name in attempt.have
                ]
                if now:
                    best.append(max(now))
            for k in range(1, len(best)):
                up += best[k] > best[k - 1]
                down += best[k] < best[k - 1]
        return up, up + down

    return measured


def coverage(log: Log) -> Pair:
    goals = [goal.id for goal in joint_goals(log)]
    return len([goal for goal in goals if goal in {attempt.goal for attempt in of(log, AttemptMade)}]), len(goals)


def in_place(log: Log, goal: str) -> list[set[str]]:
    """Return who was in place in each step: waiting there, in an attempt, or bringing the goal on or back."""
    found: list[set[str]] = [set() for _ in range(steps(log))]
    for event in log:
        if isinstance(event, ActionStep) and event.spent and event.ready == goal:
            found[event.step].add(event.agent)
        if isinstance(event, AttemptMade) and event.goal == goal:
            found[event.step].update(event.participants)
        if isinstance(event, GoalChange) and event.goal == goal and event.event in ("progress", "done"):
            found[event.step].update(event.participants)
    return found


def assembly(log: Log) -> list[float]:
    found: list[float] = []
    for goal in joint_goals(log):
        commits = [commit.step for commit in of(log, Commit) if commit.goal == goal.id]
        if commits:
            there = in_place(log, goal.id)
            late = [step for step in range(commits[0], steps(log)) if len(there[step]) >= goal.quorum]
            found += [late[0] - commits[0]] if late else []
    return found


def skew(log: Log) -> list[float]:
    found: list[float] = []
    for goal in joint_goals(log):
        there = in_place(log, goal.id)
        complete = [step for step, agents in enumerate(there) if len(agents) >= goal.quorum]
        if complete:
            arrivals = []
            for agent in there[complete[0]]:
                step = complete[0]
                while step >= 0 and agent in there[step]:
                    step -= 1
                arrivals.append(step + 1)
            found.append(max(arrivals) - min(arrivals))
    return found


def quorum_lost(log: Log) -> Pair:
    lost = number = 0
    for goal in joint_goals(log):
        acted = {attempt.step for attempt in of(log, AttemptMade) if attempt.goal == goal.id and attempt.success}
        for change in of(log, GoalChange):
            if change.goal == goal.id and (change.event == "done" or (change.event == "progress" and change.delta > 0)):
                acted.add(change.step)
        stands, used = False, False
        for step, agents in enumerate(in_place(log, goal.id)):
            complete = len(agents) >= goal.quorum
            if complete and not stands:
                number += 1
                used = False
            if stands and not complete and not used:
                lost += 1
            stands = complete
            used = used or (complete and step in acted)
    return lost, number


# ---- D10 to D13


def over_staffed(log: Log) -> Pair:
    useful = {goal.id: max(goal.quorum, goal.places) for goal in first(log).goals}
    bound: set[tuple[str, str]] = set()
    number = conflicts = 0
    for event in log:
        if isinstance(event, Release):
            bound.discard((event.agent, event.goal))
        if isinstance(event, Commit):
            number += 1
            before = len([agent for agent, goal in bound if goal == event.goal])
            bound.add((event.agent, event.goal))
            after = len([agent for agent, goal in bound if goal == event.goal])
            conflicts += event.goal in useful and after > before and after > useful[event.goal]
    return conflicts, number


def coherence(log: Log) -> Pair:
    quorum = {goal.id: goal.quorum for goal in first(log).goals}
    news: dict[int, list[PlanStart | PlanEnd]] = {}
    for event in log:
        if isinstance(event, PlanStart | PlanEnd):
            news.setdefault(event.step, []).append(event)
    there, length = at(log), ticks(log)
    aims: dict[str, str | None] = {}
    total = whole = 0.0
    for step in range(steps(log)):
        for event in news.get(step, ()):
            aims[event.agent] = event.goal if isinstance(event, PlanStart) else None
        active = [agent for agent in first(log).team if (step, agent) in there]
        if not active:
            continue
        bound = [aims.get(agent) for agent in active]
        staffed = sum(min(bound.count(goal), k) for goal, k in quorum.items() if bound.count(goal) >= k)
        total += length[step] * staffed / len(active)
        whole += length[step]
    return total, whole


def _blocked(act: ActionStep) -> bool:
    return act.legal and act.blocker is not None and not act.moved and not act.effect


def spatial(log: Log) -> Pair:
    team = first(log).team
    moves = [act for act in acts(log) if act.moved or _blocked(act)]
    return len([act for act in moves if _blocked(act) and act.blocker in team]), len(moves)


def _with_blocker(log: Log) -> list[tuple[ActionStep, ActionStep]]:
    there = at(log)
    pairs = ((act, there.get((act.step, act.blocker or ""))) for act in acts(log) if _blocked(act))
    return [(act, other) for act, other in pairs if other is not None]


def swap(log: Log) -> Pair:
    if not any(act.aim for act in acts(log)):
        return 0, 0
    heads_on = [one for one, two in _with_blocker(log) if one.aim and one.aim == two.place and two.aim == one.place]
    return len(heads_on), spatial(log)[1]


def same_cell(log: Log) -> Pair:
    if not any(act.aim for act in acts(log)):
        return 0, 0
    return len([one for one, two in _with_blocker(log) if one.aim and one.aim == two.aim]), spatial(log)[1]


def deadlock(log: Log) -> Pair:
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
    inside = {step + k for step in range(length - 7) if all(still[step : step + 8]) for k in range(8)}
    return len(inside), length


def to_and_fro(log: Log) -> Pair:
    there, length = at(log), ticks(log)
    if not any(act.place for act in acts(log)):
        return 0, 0
    inside = set()
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
    return sum(length[step] for step, agent in inside), sum(length[act.step] for act in acts(log))


# ---- D15 to D21


def ended_as(status: str) -> Callable[[Log], Pair]:
    def measured(log: Log) -> Pair:
        ends = of(log, PlanEnd)
        return len([end for end in ends if end.status == status]), len(ends)

    return measured


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


def minmax(log: Log) -> Pair:
    given = list(contributions(log).values())
    return float(min(given)), float(max(given))


def utilisation(log: Log) -> float | None:
    given = list(contributions(log).values())
    return 1 - statistics.pstdev(float(one / max(given)) for one in given) if max(given) else None


def entropy(log: Log) -> Pair:
    given = [float(one) for one in contributions(log).values()]
    if not sum(given):
        return 0, 0
    shares = [one / sum(given) for one in given]
    return -sum(one * math.log(one) for one in shares if one), math.log(len(given))


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


def agreement(log: Log) -> tuple[int, int, int, int] | None:
    """Return rounds, messages, tokens and steps from the first proposal until an assignment that stands for 5 steps."""
    proposals = [message for message in of(log, MessageSent) if message.act == "propose"]
    commits = [commit for commit in of(log, Commit) if proposals and commit.seq > proposals[0].seq]
    if not commits:
        return None
    changes = [event for event in log if isinstance(event, Commit | Release) and event.step < steps(log)]
    changes = [event for event in changes if event.seq >= commits[0].seq]
    for event in changes:
        later = [other.step for other in changes if other.seq > event.seq]
        if all(step >= event.step + 5 for step in [*later, steps(log)]):
            said = [one for one in of(log, MessageSent) if proposals[0].seq <= one.seq < event.seq]
            speakers = [one.agent for one in said]
            tokens = sum(len(re.findall(r"\w+|[^\w\s]", one.text)) for one in said)
            return max(map(speakers.count, speakers)), len(said), tokens, event.step - proposals[0].step
    return None


_CONSTRAINTS = ("dependency", "capability", "participation", "spatial", "temporal")
_ENDS = ("success", "failed", "interrupted", "superseded", "expired", "unfinished")

SHARES: Mapping[str, Callable[[Log], Pair]] = {
    "E6.sync": waiting,
    "E8": invalid,
    "D1": success,
    **{f"D2.{name}": deficit(name) for name in _CONSTRAINTS},
    **{f"D3.{name}": first_unmet(name) for name in _CONSTRAINTS},
    **{f"D4.{name}": drift(name) for name in _CONSTRAINTS},
    "D5": coverage,
    "D9": quorum_lost,
    "D10": over_staffed,
    "D11": coherence,
    "D12": spatial,
    "D12.swap": swap,
    "D12.cell": same_cell,
    "D13.deadlock": deadlock,
    "D13.positions": to_and_fro,
    **{f"D15.{status}": ended_as(status) for status in _ENDS},
    "D17.gini": gini,
    "D17.minmax": minmax,
    "D17.entropy": entropy,
    "D19": reliability,
}
MEDIANS: Mapping[str, Callable[[Log], list[float]]] = {"D6": assembly, "D8": skew}
