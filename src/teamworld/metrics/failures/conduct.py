"""Rules on how agents spend their steps, end the episode, answer and talk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import groupby, pairwise
from math import fsum
from operator import itemgetter

from teamworld.language import AgentId
from teamworld.metrics import coordination
from teamworld.metrics.effort import contributions
from teamworld.metrics.event_table import EventTable, consecutive_runs
from teamworld.metrics.failures.steps import acts_by_step
from teamworld.metrics.messages import WITHIN, Grams, grams, is_alike, is_answered
from teamworld.record import AgentLeft, Deliver, MessageSent, PlanStart, QuestionAsked
from teamworld.worlds.base.failure_spans import FailureSpan

#: Steps in one another's way that are not just a meeting.
IN_THE_WAY = 3
#: So many new plans within so many steps are thrash.
PLANS, PLAN_STEPS = 3, 10
#: Speech acts that change what agents are bound to: news, whatever the words.
_BINDING = ("commit", "release", "accept", "reject")
#: Messages in a row that are chatter.
IN_A_ROW = 3


def free_riders(table: EventTable) -> Iterator[FailureSpan]:
    """Find agents that add under a tenth of the mean and mostly stroll or stand."""
    amounts = contributions(table)
    mean = fsum(amounts) / len(amounts) if amounts else 0.0
    if mean <= 0 or len(amounts) < 2:
        return
    is_slack = table.acts.in_class("idle") | table.acts.in_class("move")
    for index, (agent, amount) in enumerate(zip(table.team, amounts, strict=True)):
        own = table.acts.agent == index
        slack, lived = int((own & is_slack).sum()), int(own.sum())
        if amount < 0.1 * mean and slack > 0.8 * lived:
            text = f"gave {amount:.2g} (mean {mean:.2g}); {slack} of {lived} steps were idle or move"
            yield FailureSpan("free-rider", 0, table.last, (agent,), None, text)


def thrash(table: EventTable) -> Iterator[FailureSpan]:
    """Find agents that change plans for goals again and again without a step of work between ."""
    worked = {
        (agent, step) for step, acts in enumerate(acts_by_step(table)) for agent, act in acts.items() if act.effect
    }
    for agent, plans in table.plans_of.items():
        again = [
            (before, plan)
            for before, plan in pairwise(plans)
            if plan.goal is not None and before.plan not in table.carried_out
        ]
        for window in zip(*(again[k:] for k in range(PLANS)), strict=False):
            first, last = window[0][1].step, min(window[-1][1].step, table.last)
            if last - first < PLAN_STEPS and not any((agent, step) in worked for step in range(first, last)):
                why = ", ".join(_end(table, before) for before, _ in window)
                text = f"{PLANS} new plans in {last - first + 1} steps without a step of work; those before: {why}"
                yield FailureSpan("thrash", first, last, (agent,), None, text)


def _end(table: EventTable, plan: PlanStart) -> str:
    ending = table.endings.get(plan.plan)
    return "open" if ending is None else f"{ending.status} ({ending.cause})"


def deadlocks(table: EventTable) -> Iterator[FailureSpan]:
    """Find spans in which no agent moves and nothing changes though goals are open."""
    for first, end in coordination.deadlocks(table):
        waiting = sum(act.ready is not None for act in acts_by_step(table)[end - 1].values())
        blocked = sum(act.blocker is not None for act in acts_by_step(table)[end - 1].values())
        how = f"at the end {waiting} waited in place, {blocked} were blocked"
        text = f"nobody moved for {end - first} steps; {how}"
        yield FailureSpan("deadlock", first, end - 1, table.team, None, text)


def mutual_blocking(table: EventTable) -> Iterator[FailureSpan]:
    """Find circles of agents of whom each is in the next one's way."""
    circles: dict[tuple[AgentId, ...], list[int]] = {}
    for step, acts in enumerate(acts_by_step(table)):
        ahead = {agent: act.blocker for agent, act in acts.items() if act.blocker in acts and not act.moved}
        for circle in _circles(ahead):
            circles.setdefault(circle, []).append(step)
    for circle, steps in circles.items():
        for first, last in consecutive_runs(steps):
            if last - first + 1 >= IN_THE_WAY:
                text = f"each was in the next one's way for {last - first + 1} steps"
                yield FailureSpan("mutual-blocking", first, last, circle, None, text)


def _circles(ahead: dict[AgentId, str | None]) -> Iterator[tuple[AgentId, ...]]:
    """Yield the circles that following ``ahead`` leads into, each once, from its first name on."""
    for agent in sorted(ahead):
        circle = [agent]
        while (following := ahead.get(circle[-1])) is not None and following not in circle:
            circle.append(following)
        if following == agent and agent == min(circle):
            yield tuple(circle)


def plan_cycles(table: EventTable) -> Iterator[FailureSpan]:
    """Find plans A, B, A, B of one agent of which none succeeded."""
    for plans in coordination.plan_cycles(table):
        last = min(plans[3].step, table.last)
        text = f"went from a plan for {plans[0].goal} to one for {plans[1].goal}, back, and again"
        yield FailureSpan("oscillation", min(plans[0].step, last), last, (plans[0].agent,), None, text)


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
        if request.act != "request" or request.step + WITHIN > table.last or is_answered(table, request):
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
    if not message.recipients or message.act in _BINDING:
        return False
    if message.facts:
        return all(set(message.facts) <= heard_facts.get(agent, set()) for agent in message.recipients)
    own = grams(message.text)
    return any(is_alike(own, old) for agent in message.recipients for old in said.get((message.agent, agent), ()))
