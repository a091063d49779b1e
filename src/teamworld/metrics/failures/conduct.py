"""Rules on how agents spend their steps, end the episode, answer and talk."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import groupby, pairwise
from operator import itemgetter

import numpy as np

from teamworld.language import AgentId, parse_term, plain
from teamworld.metrics import coordination
from teamworld.metrics.effort import contributions
from teamworld.metrics.event_table import NOBODY, EventTable, consecutive_runs
from teamworld.metrics.failures.steps import acts_by_step
from teamworld.metrics.messages import WITHIN, Grams, grams, is_alike, is_answered
from teamworld.record import ActionStep, AgentLeft, Deliver, GoalChange, MessageSent, PlanStart, QuestionAsked
from teamworld.worlds.base.failure_spans import FailureSpan

#: Steps in one another's way that are not just a meeting.
IN_THE_WAY = 2
#: Thrash: so many new plans within so many steps, each after another one that was given up, or after one of any end.
GIVEN_UP, CHANGED = (3, 10), (4, 8)
#: Steps lived that are too few to tell a free rider, and the share of steps below which an agent hardly tries.
SHORT_LIFE, HARDLY = 20, 0.05
#: A plan to do nothing for a while.
_IDLE = re.compile(r"\{ (?:wait|idle)\(\d*\) \}")
#: Speech acts that change what agents are bound to: news, whatever the words.
_BINDING = ("commit", "release", "accept", "reject")
#: Steps of one action that make a swing: there, back and there again.
SWING = 3
#: Messages in a row that are chatter.
IN_A_ROW = 3


def free_riders(table: EventTable) -> Iterator[FailureSpan]:
    """Find agents that contribute nothing and hardly try, though another of their kind contributes.

    To try is to search, to wait in place for others, or to push and be blocked; any work that has an effect is more.
    """
    acts, kinds = table.acts, table.start.kinds
    amounts = dict(zip(table.team, contributions(table), strict=True))
    able = {kinds.get(agent) for agent, amount in amounts.items() if amount > 0}
    tries = (acts.search != NOBODY) | acts.in_class("sync") | acts.in_class("blocked")
    for index, (agent, amount) in enumerate(amounts.items()):
        own = acts.agent == index
        tried, lived = int((own & tries).sum()), int(own.sum())
        if amount > 0 or kinds.get(agent) not in able or (own & acts.effect).any() or lived < SHORT_LIFE:
            continue
        if tried < HARDLY * lived:
            text = f"did nothing that had an effect in {lived} steps, and tried in {tried}"
            yield FailureSpan("free-rider", 0, table.last, (agent,), None, text)


def thrash(table: EventTable) -> Iterator[FailureSpan]:
    """Find agents that turn to another plan again and again without a step of work or search between.

    A plan that was carried out was not given up, so there are two signs: plans in a row that were given up; and,
    for agents whose plans are single actions, more plans of any end, under which they stay or come back.
    """
    acts = table.acts
    rows = np.flatnonzero(acts.effect | (acts.search != NOBODY))
    busy = set(zip(acts.agent[rows].tolist(), acts.step[rows].tolist(), strict=True))
    for agent, plans in table.plans_of.items():
        who = table.who[agent]
        acting = [plan for plan in plans if not _IDLE.search(plan.text)]
        changes = [(before, plan) for before, plan in pairwise(acting) if before.text != plan.text]
        given_up = [(before, plan) for before, plan in changes if before.plan not in table.carried_out]
        for candidates, (number, within) in ((given_up, GIVEN_UP), (changes, CHANGED)):
            for window in zip(*(candidates[k:] for k in range(number)), strict=False):
                first, last = window[0][1].step, min(window[-1][1].step, table.last)
                if last - first >= within or any((who, step) in busy for step in range(first, last)):
                    continue
                if candidates is changes and _gets_on(table, who, first, last):
                    continue
                why = ", ".join(_end(table, before) for before, _ in window)
                text = f"{number} new plans in {last - first + 1} steps without a step of work; those before: {why}"
                yield FailureSpan("thrash", first, last, (agent,), None, text)


def _gets_on(table: EventTable, agent: int, first: int, last: int) -> bool:
    """Return whether an agent is at another place in each step under a plan, until the one after the last."""
    rows = table.row[first : last + 2, agent]
    rows = rows[rows != NOBODY]
    places = table.acts.place[rows[table.acts.plan[rows] != NOBODY]].tolist()
    return NOBODY not in places and len(set(places)) == len(places)


def _end(table: EventTable, plan: PlanStart) -> str:
    ending = table.endings.get(plan.plan)
    return "open" if ending is None else f"{ending.status} ({ending.cause})"


def deadlocks(table: EventTable) -> Iterator[FailureSpan]:
    """Find spans in which no agent moves and nothing changes though goals are open."""
    for first, end in coordination.deadlocks(table):
        acts = [act for acts in acts_by_step(table)[first:end] for act in acts.values()]
        if not any(act.ready is not None or act.blocker is not None or act.aim is not None for act in acts):
            continue  # all wait by choice: for something that takes its time, or for nothing
        waiting = sum(act.ready is not None for act in acts_by_step(table)[end - 1].values())
        blocked = sum(act.blocker is not None for act in acts_by_step(table)[end - 1].values())
        how = f"at the end {waiting} waited in place, {blocked} were blocked"
        text = f"nobody moved for {end - first} steps; {how}"
        yield FailureSpan("deadlock", first, end - 1, table.team, None, text)


def mutual_blocking(table: EventTable) -> Iterator[FailureSpan]:
    """Find circles of agents of whom each is in the next one's way."""
    circles: dict[tuple[AgentId, ...], list[int]] = {}
    for step, acts in enumerate(acts_by_step(table)):
        ahead = {agent: blocker for agent, act in acts.items() if (blocker := _in_front(act, acts)) is not None}
        for circle in _circles(ahead):
            circles.setdefault(circle, []).append(step)
    for circle, steps in circles.items():
        for first, last in consecutive_runs(sorted({*steps, *(step + 1 for step in steps if step + 2 in steps)})):
            held = sum(first <= step <= last for step in steps)
            if held >= IN_THE_WAY:
                text = f"each was in the next one's way for {held} steps"
                yield FailureSpan("mutual-blocking", first, last, circle, None, text)


def _in_front(act: ActionStep, acts: Mapping[AgentId, ActionStep]) -> AgentId | None:
    """Return the agent that one stands in front of and cannot pass."""
    if act.moved:
        return None
    if act.blocker in acts:
        return act.blocker
    there = (agent for agent, other in acts.items() if act.aim is not None and other.place == act.aim)
    return next(there, None)


def cell_races(table: EventTable) -> Iterator[FailureSpan]:
    """Find free places that several agents tried to enter in one step, and one of them did and does not stay there.

    Where the winner stays, the others lost a place of work, which they would have lost to an earlier one too.
    """
    steps = acts_by_step(table)
    for step, acts in enumerate(steps):
        following = steps[step + 1] if step < table.last else {}
        held = {act.place for act in acts.values()}
        racers: dict[str, list[AgentId]] = {}
        for agent, act in acts.items():
            if act.aim is not None and act.aim not in held:
                racers.setdefault(act.aim, []).append(agent)
        for place, agents in racers.items():
            winners = [agent for agent in agents if acts[agent].moved]
            if len(agents) > 1 and len(winners) == 1 and not _stays(following.get(winners[0])):
                losers = [agent for agent in agents if agent not in winners]
                text = f"{len(agents)} agents went for {place}; {winners[0]} entered"
                yield FailureSpan("cell-race", step, step, (*losers, *winners), None, text)


def _stays(act: ActionStep | None) -> bool:
    """Return whether an agent neither moves nor tries to."""
    return act is not None and not act.moved and act.aim is None


def thing_races(table: EventTable) -> Iterator[FailureSpan]:
    """Find things that several agents reached for in one step, so that one of them got it and others were too late.

    What a goal is about is left out: it is worked on, not taken.
    """
    wanted = set(table.things.values())
    for step, acts in enumerate(acts_by_step(table)):
        named = {agent: act for agent, act in acts.items() if act.args and act.args[0] not in wanted}
        winners = {act.args[0]: agent for agent, act in named.items() if act.status == "done" and act.effect}
        losers: dict[str, list[AgentId]] = {}
        for agent, act in named.items():
            if act.status == "failed" and act.legal and act.constraint == "spatial" and act.args[0] in winners:
                losers.setdefault(act.args[0], []).append(agent)
        for thing, agents in losers.items():
            text = f"{len(agents) + 1} agents went for {plain(parse_term(thing))}; {winners[thing]} was first"
            yield FailureSpan("thing-race", step, step, (*agents, winners[thing]), None, text)


def swings(table: EventTable) -> Iterator[FailureSpan]:
    """Find agents whose action leads them from a place to another, back, and there again, with nothing done meanwhile.

    Who turns round for another action has other plans, see ``plan_cycles`` and ``thrash``.
    """
    inside, acts = coordination.place_swings(table), acts_by_step(table)
    for agent, steps in zip(table.team, inside.T, strict=True):
        for first, last in consecutive_runs(np.flatnonzero(steps).tolist()):
            taken = [(step, acts[step][agent]) for step in range(first, last + 1)]
            for _, group in groupby(taken, key=lambda item: (item[1].plan, item[1].verb, item[1].args)):
                same = list(group)
                if len(same) >= SWING and not any(act.effect for _, act in same):
                    places = sorted({act.place for _, act in same if act.place is not None})
                    text = f"went to and fro: {', '.join(places)}"
                    yield FailureSpan("oscillation", same[0][0], same[-1][0], (agent,), None, text)


def _circles(ahead: Mapping[AgentId, AgentId]) -> Iterator[tuple[AgentId, ...]]:
    """Yield the circles that following ``ahead`` leads into, each once, from its first name on."""
    for agent in sorted(ahead):
        circle = [agent]
        while (following := ahead.get(circle[-1])) is not None and following not in circle:
            circle.append(following)
        if following == agent and agent == min(circle):
            yield tuple(circle)


def plan_cycles(table: EventTable) -> Iterator[FailureSpan]:
    """Find plans A, B, A, B of an agent, the first three carried out, that bring no goal on.

    Plans given up for another are no going to and fro, see ``thrash``. Plans to wait between do not count.
    """
    advances = [change for change in table.all(GoalChange) if change.event == "done" or change.delta > 0]
    for agent, plans in table.plans_of.items():
        acting = [plan for plan in plans if not _IDLE.search(plan.text)]
        for four in zip(*(acting[k:] for k in range(4)), strict=False):
            if not four[0].text == four[2].text != four[1].text == four[3].text:
                continue
            ending, goals, first = table.endings.get(four[3].plan), {plan.goal for plan in four}, four[0].step
            end = table.steps if ending is None else ending.step
            gets_on = any(
                first <= change.step < end and (change.goal in goals or agent in change.participants)
                for change in advances
            )
            if not gets_on and all(plan.plan in table.carried_out for plan in four[:3]):
                text = f"went from {four[0].text} to {four[1].text}, back, and again"
                yield FailureSpan("oscillation", first, min(four[3].step, table.last), (agent,), None, text)


def endings(table: EventTable) -> Iterator[FailureSpan]:
    """Find an episode that ended too early or too late."""
    goals = [goal.id for goal in table.start.goals]
    left = [goal for goal in goals if goal not in table.done]
    if left and table.has_left:
        step = min(table.last, max((event.step for event in table.all(AgentLeft)), default=table.last))
        has_quit = table.end.reason == "quit"
        how = f"quit after {table.steps}" if has_quit else f"was lost whole after {step + 1}"
        text = f"the team {how} of {table.start.horizon} steps with {len(left)} of {len(goals)} goals open"
        yield FailureSpan("quit-early" if has_quit else "team-lost", step, step, table.team, None, text)
    idle_from = max((table.done.get(goal, table.steps) for goal in goals), default=-1) + 1
    if goals and not left and idle_from < table.steps:
        text = f"{table.steps - idle_from} of {table.steps} steps after the last goal was done"
        yield FailureSpan("no-stop", idle_from, table.last, table.team, None, text)


def bad_formats(table: EventTable) -> Iterator[FailureSpan]:
    """Find questions that ended in their fallback."""
    for question in table.all(QuestionAsked):
        if question.fallback:
            step = min(question.step, table.last)
            last = question.errors[-1].text
            text = f"{question.purpose}: {len(question.errors)} answers could not be used; last: {last}"
            agents = (question.agent,) if question.agent in table.start.team else ()
            yield FailureSpan("bad-format", step, step, agents, None, text)


def unanswered(table: EventTable) -> Iterator[FailureSpan]:
    """Find requests that no agent that was asked replied to, or met by taking up the goal, in time."""
    for request in table.all(MessageSent):
        if (
            request.act != "request"
            or request.goal is None
            or request.step + WITHIN > table.last
            or is_answered(table, request)
        ):
            continue
        text = f"{request.agent} asked {', '.join(request.recipients) or 'nobody in reach'}; no reply in {WITHIN} steps"
        agents = (request.agent, *(agent for agent in request.recipients if agent != request.agent))
        yield FailureSpan("unanswered", request.step, request.step + WITHIN, agents, request.goal, text)


def chatter(table: EventTable) -> Iterator[FailureSpan]:
    """Find runs of messages among the same agents that tell nothing new."""
    heard = {(event.message, event.agent) for event in table.all(Deliver) if not event.dropped}
    heard_facts: defaultdict[AgentId, set[str]] = defaultdict(set)
    said: defaultdict[tuple[AgentId, AgentId], dict[Grams, None]] = defaultdict(dict)
    empty: list[tuple[MessageSent, frozenset[AgentId] | None]] = []
    for message in table.all(MessageSent):
        is_empty = _tells_nothing(message, heard_facts, said)
        empty.append((message, frozenset((message.agent, *message.recipients)) if is_empty else None))
        for agent in message.recipients:
            if (message.id, agent) in heard:
                heard_facts[agent].update(message.facts)
            said[message.agent, agent][grams(message.text)] = None
    for circle, group in groupby(empty, key=itemgetter(1)):
        row = [message for message, _ in group]
        if circle is not None and len(row) >= IN_A_ROW:
            first, last = min(row[0].step, table.last), min(row[-1].step, table.last)
            text = f"{len(row)} messages in a row that told nothing new, the last: {row[-1].text[:60]!r}"
            yield FailureSpan("chatter", first, last, tuple(sorted(circle)), None, text)


def _tells_nothing(
    message: MessageSent,
    heard_facts: Mapping[AgentId, set[str]],
    said: Mapping[tuple[AgentId, AgentId], Mapping[Grams, None]],
) -> bool:
    """All facts of the message were told to its recipients before; without facts, its text is a repetition."""
    if not message.recipients or message.act in _BINDING or message.goal is not None:
        return False
    if message.facts:
        return all(set(message.facts) <= heard_facts.get(agent, set()) for agent in message.recipients)
    own = grams(message.text)
    return any(is_alike(own, old) for agent in message.recipients for old in said.get((message.agent, agent), ()))
