"""Rules on joint acts, plans and commitments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from teamworld.language import AgentId, parse_term, plain
from teamworld.metrics.coordination import first_unmet
from teamworld.metrics.effort import duplicate_rows, duplicate_searches
from teamworld.metrics.event_table import EventTable, consecutive_runs, primitive
from teamworld.metrics.failures.steps import acts_by_step
from teamworld.record import ActionStep, AttemptMade, Commit, GoalChange, PlanStart, Release
from teamworld.worlds.base.failure_spans import FailureSpan

#: Steps between giving up and a partner's coming, at most, for intents that missed each other.
MISSED_BY = 10
#: Agent-steps of duplicate work that are not yet a failure.
DOUBLE = 5
#: Why a walk cannot start whose end was reached meanwhile, which costs nothing.
_THERE = "there"
#: A thing as plans name it.
_NAMED = re.compile(r"<\w+>\(\d+\)")


def failed_attempts(table: EventTable) -> Iterator[FailureSpan]:
    """Name each failed joint act by its first unmet constraint."""
    for attempt in table.all(AttemptMade):
        constraint = None if attempt.success else first_unmet(attempt)
        if constraint is not None:
            label, text = _unmet(attempt, constraint)
            yield FailureSpan(label, attempt.step, attempt.step, attempt.participants, attempt.goal, text)


def _unmet(attempt: AttemptMade, constraint: str) -> tuple[str, str]:
    have, need = attempt.have, attempt.need
    match constraint:
        case "participation":
            return "understaffed", f"{have[constraint]} of {need[constraint]} needed took part"
        case "spatial":
            return "scattered", f"{have[constraint]} of {need[constraint]} needed were in place"
        case "temporal":
            return "out-of-step", f"{have[constraint]} of {need[constraint]} needed acted at once"
        case _:
            met = f"{constraint} {have.get(constraint, 0)} of {need[constraint]}"
            return "missing-prerequisite", f"what must hold before it did not ({met})"


def missing_prerequisites(table: EventTable) -> Iterator[FailureSpan]:
    """Find actions that were begun and failed on what must hold before: somebody had taken or filled what they name."""
    for act in table.all(ActionStep):
        if act.status == "failed" and act.legal and act.constraint == "dependency":
            text = f"{act.verb}({', '.join(act.args)}) failed ({act.reason.partition(':')[0]})"
            yield FailureSpan("missing-prerequisite", act.step, act.step, (act.agent,), act.goal, text)


def stale_plans(table: EventTable) -> Iterator[FailureSpan]:
    """Find plans that passed their dry run and whose first failure is an action that could not start."""
    seen: set[int] = set()
    goals: dict[str | None, list[GoalChange]] = {}
    for change in table.all(GoalChange):
        goals.setdefault(change.goal, []).append(change)
    for act in table.all(ActionStep):
        if act.status != "failed" or act.plan is None or act.plan in seen:
            continue
        seen.add(act.plan)
        plan = table.plans[act.plan]
        own = any(change.event == "done" and act.agent in change.participants for change in goals.get(act.goal, ()))
        word = act.reason.partition(":")[0]  # what follows is for the agent
        if not act.legal and plan.dry_run_ok and act.step > plan.step and not own and word != _THERE:
            action = f"{act.verb}({', '.join(act.args)})"
            text = f"{action} could not start ({word}), {act.step - plan.step} steps after its plan was made"
            yield FailureSpan("stale-plan", act.step, act.step, (act.agent,), act.goal, text)


def misaligned_intents(table: EventTable) -> Iterator[FailureSpan]:
    """Find waits at a joint goal that were given up shortly before a partner, bound for it all the while, came."""
    joint = {goal.id for goal in table.start.goals if goal.quorum > 1}
    moved = {(change.goal, change.step) for change in table.all(GoalChange)}
    places = {key: list(consecutive_runs(steps)) for key, steps in _waiting(table).items() if key[0] in joint}
    for (goal, agent), waits in places.items():
        for first, last in waits:
            if not _gave_up(table, agent, goal, last):
                continue
            for (other, partner), theirs in places.items():
                come = _comes(theirs, first, last)
                if other != goal or partner == agent or come is None:
                    continue
                bound = all(_aim(table, step, partner) == goal for step in range(first, come))
                walks = any(
                    act.moved for acts in acts_by_step(table)[last:come] if (act := acts.get(partner)) is not None
                )
                if bound and walks and not any((goal, step) in moved for step in range(last, come + 1)):
                    text = (
                        f"{agent} waited {last - first + 1} steps and gave up in step {last}; "
                        f"{partner}, bound for the same goal all the while, came in step {come}"
                    )
                    yield FailureSpan("misaligned-intent", last, come, (agent, partner), goal, text)


def _comes(waits: list[tuple[int, int]], first: int, last: int) -> int | None:
    """Return when somebody came into place soon after a wait, if it was not there during the wait."""
    if any(begin <= last and first <= end for begin, end in waits):
        return None
    return next((begin for begin, _ in waits if last < begin <= last + MISSED_BY), None)


def _gave_up(table: EventTable, agent: AgentId, goal: str, last: int) -> bool:
    """Return whether a wait that ended after a step ended by a failed action or for another goal."""
    act = acts_by_step(table)[last].get(agent)
    leaves = last + 1 < table.steps and _aim(table, last + 1, agent) != goal
    return leaves or (act is not None and act.status == "failed")


def _waiting(table: EventTable) -> dict[tuple[str, AgentId], list[int]]:
    """Return for each goal and agent at work on it the steps in which it stood in place for want of others."""
    steps: dict[tuple[str, AgentId], list[int]] = {}
    for step, acts in enumerate(acts_by_step(table)):
        for agent, act in acts.items():
            if act.ready is not None and act.ready == act.goal:
                steps.setdefault((act.ready, agent), []).append(step)
    return steps


def _aim(table: EventTable, step: int, agent: AgentId) -> str | None:
    act = acts_by_step(table)[step].get(agent)
    return None if act is None else act.goal


def duplicate_work(table: EventTable) -> Iterator[FailureSpan]:
    """Find agents at work on a goal that is done, or that enough others had committed to before."""
    spare: dict[tuple[AgentId, str, str], list[int]] = _surplus(table)
    rows = duplicate_rows(table)
    columns = table.acts.step, table.acts.agent, table.acts.goal, table.acts.plan
    for step, agent, goal, plan in zip(*(column[rows].tolist() for column in columns), strict=True):
        why = "was done already"
        if table.done.get(table.goals[goal], table.steps) >= step:
            takes = max(table.plans[plan].quorum, int(table.takes[goal]))
            before = ", ".join(_earlier_holders(table, step, agent, goal)[:takes])
            why = f"takes {takes} and had enough committed to it: {before}"
        spare.setdefault((table.team[agent], table.goals[goal], why), []).append(step)
    for (name, about, why), steps in spare.items():
        for first, last in consecutive_runs(steps):
            if last - first + 1 > DOUBLE:
                text = f"{last - first + 1} steps under a plan for {about}, which {why}"
                yield FailureSpan("duplicate-work", first, last, (name,), about, text)


def _surplus(table: EventTable) -> dict[tuple[AgentId, str, str], list[int]]:
    """Return the steps of agents under plans for a goal that as many others as can be of use were at work on before.

    Commitments are not asked for: methods without them crowd too. Whoever has a part in advancing the goal later is of
    use, whenever it began. Of a goal with a place for each unit, as many are of use as units are left.
    """
    helped = {(change.goal, agent): change.step for change in table.all(GoalChange) for agent in change.participants}
    since: dict[tuple[str, AgentId], int] = {}
    steps: dict[tuple[AgentId, str, str], list[int]] = {}
    for step, acts in enumerate(acts_by_step(table)):
        at_work: dict[str, list[AgentId]] = {}
        for agent, act in acts.items():
            goal = _purpose(table, act)
            if goal is not None and step <= table.done.get(goal, step):
                at_work.setdefault(goal, []).append(agent)
        since = {(goal, agent): since.get((goal, agent), step) for goal, own in at_work.items() for agent in own}
        for goal, agents in at_work.items():
            plans = [table.plans[acts[agent].plan] for agent in agents]
            places, by_unit = int(table.takes[table.index[goal]]), table.has_place_for_each_unit[table.index[goal]]
            of_use = min(places, max(plan.units for plan in plans)) if by_unit else places
            takes = max(1, of_use, *(plan.quorum for plan in plans))
            order = [(helped.get((goal, agent), -1) < step, since[goal, agent], table.who[agent]) for agent in agents]
            ranked = [table.team[index] for *_, index in sorted(order)]
            for agent in ranked[takes:]:
                why = f"takes {takes} and had enough at work on it: {', '.join(ranked[:takes])}"
                steps.setdefault((agent, goal, why), []).append(step)
    return steps


def _purpose(table: EventTable, act: ActionStep) -> str | None:
    """Return the goal that an action under a plan is for."""
    return None if act.plan is None else act.goal or _goals_of_plans(table).get(act.plan)


@primitive
def _goals_of_plans(table: EventTable) -> Mapping[int, str | None]:
    """Return the goal of each plan by number; of one without a goal, that whose thing it names first."""
    about = {thing: goal for goal, thing in table.things.items() if thing is not None}
    return {
        plan.plan: plan.goal or next((about[thing] for thing in _NAMED.findall(plan.text) if thing in about), None)
        for plan in table.all(PlanStart)
    }


def duplicate_search(table: EventTable) -> Iterator[FailureSpan]:
    """Find agents that search what another is searching, or the team has searched, but on the way with a delivery."""
    acts, rows = table.acts, duplicate_searches(table)
    again: dict[tuple[AgentId, str], list[int]] = {}
    for step, agent in zip(acts.step[rows].tolist(), acts.agent[rows].tolist(), strict=True):
        name = table.team[agent]
        again.setdefault((name, acts_by_step(table)[step][name].args[0]), []).append(step)
    for (name, place), steps in again.items():
        for first, last in consecutive_runs(steps):
            if last - first + 1 > DOUBLE and not _delivers_next(table, name, last):
                why = f"searching {plain(parse_term(place))}, which another was searching or the team had searched"
                text = f"{last - first + 1} steps of {why}"
                yield FailureSpan("duplicate-search", first, last, (name,), None, text)


def _delivers_next(table: EventTable, agent: AgentId, last: int) -> bool:
    """Return whether the first thing that an agent does after a step advances a goal: it had all that this takes."""
    mine = (acts.get(agent) for acts in acts_by_step(table)[last:])
    step = next((act.step for act in mine if act is not None and act.effect), None)
    return any(change.step == step and agent in change.participants for change in table.all(GoalChange))


def _earlier_holders(table: EventTable, step: int, agent: int, goal: int) -> list[AgentId]:
    """Return who was committed to a goal in a step since before an agent was, earliest first."""
    held = [
        commitment
        for commitment in table.commitments
        if commitment.goal == goal and commitment.first <= step < commitment.end
    ]
    own = next((commitment.seq for commitment in held if commitment.agent == agent), None)
    return [
        table.team[commitment.agent]
        for commitment in held
        if commitment.agent != agent and (own is None or commitment.seq < own)
    ]


def broken_words(table: EventTable) -> Iterator[FailureSpan]:
    """Find agents that take up another goal, by commitment or plan, without releasing the one they hold."""
    held: dict[AgentId, Commit] = {}
    events: list[Commit | Release | PlanStart] = table.all(Commit, Release, PlanStart)
    for event in events:
        before = held.get(event.agent)
        if isinstance(event, Release):
            held.pop(event.agent, None)
            continue
        goal = _goals_of_plans(table)[event.plan] if isinstance(event, PlanStart) else event.goal
        if before is not None and goal is not None and goal != before.goal:
            how = "committed to" if isinstance(event, Commit) else "took up a plan for"
            text = f"committed to {before.goal} in step {before.step}, {how} {goal}"
            step = min(event.step, table.last)
            yield FailureSpan("broken-word", step, step, (event.agent,), before.goal, text)
        if isinstance(event, Commit):
            held[event.agent] = event
