"""Rules on how agents spend their steps, end the episode, answer and talk."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from teamworld.language import AgentId
from teamworld.metrics.failures.trace import Trace, runs
from teamworld.metrics.words import alike, grams
from teamworld.record import Commit, Deliver, GoalChange, MessageSent, PlanStart, QuestionAsked
from teamworld.worlds.contract import FailureSpan

#: Steps without any movement or effect that make a deadlock (D13).
STILL = 8
#: Steps in one another's way that are not just a meeting.
IN_THE_WAY = 3
#: So many new plans within so many steps are thrash (metrics spec 10).
PLANS, WITHIN = 3, 10
#: Steps in which a request can be answered (M7, M9).
PATIENCE = 10
#: Speech acts that change what agents are bound to: news, whatever the words.
_BINDING = ("commit", "release", "accept", "reject")
#: Messages in a row that are chatter (metrics spec 10).
IN_A_ROW = 3


def free_riders(trace: Trace) -> Iterator[FailureSpan]:
    """Find agents that add under a tenth of the mean and mostly stroll or stand (D17, E7)."""
    weights = {goal.id: goal.weight for goal in trace.start.goals}
    given = dict.fromkeys(trace.start.team, 0.0)
    for change in trace.all(GoalChange):
        for agent in change.participants:
            given[agent] += weights[change.goal] * change.delta / len(change.participants)
    mean = sum(given.values()) / len(given) if given else 0.0
    if mean <= 0 or len(given) < 2:
        return
    for agent, spent in trace.classes.items():
        slack = sum(kind in ("idle", "move") for kind in spent)
        if given[agent] < 0.1 * mean and slack > 0.8 * len(spent):
            text = f"gave {given[agent]:.2g} (mean {mean:.2g}); {slack} of {len(spent)} steps were idle or move"
            yield FailureSpan("free-rider", 0, trace.last, (agent,), None, text)


def thrash(trace: Trace) -> Iterator[FailureSpan]:
    """Find agents that change plans for goals again and again without a step of work between (D16)."""
    worked = {(agent, step) for step, acts in enumerate(trace.acts) for agent, act in acts.items() if act.effect}
    for agent, plans in _plans_of(trace).items():
        again = [
            (before, plan)
            for before, plan in pairwise(plans)
            if plan.goal is not None and not _succeeded(trace, before)
        ]
        for window in zip(*(again[k:] for k in range(PLANS)), strict=False):
            first, last = window[0][1].step, min(window[-1][1].step, trace.last)
            if last - first < WITHIN and not any((agent, step) in worked for step in range(first, last)):
                why = ", ".join(_end(trace, before) for before, _ in window)
                text = f"{PLANS} new plans in {last - first + 1} steps without a step of work; those before: {why}"
                yield FailureSpan("thrash", first, last, (agent,), None, text)


def _plans_of(trace: Trace) -> dict[AgentId, list[PlanStart]]:
    found: dict[AgentId, list[PlanStart]] = {}
    for plan in trace.all(PlanStart):
        found.setdefault(plan.agent, []).append(plan)
    return found


def _end(trace: Trace, plan: PlanStart) -> str:
    ending = trace.endings.get(plan.plan)
    return "open" if ending is None else f"{ending.status} ({ending.cause})"


def _succeeded(trace: Trace, plan: PlanStart) -> bool:
    ending = trace.endings.get(plan.plan)
    return ending is not None and ending.status == "success"


def deadlocks(trace: Trace) -> Iterator[FailureSpan]:
    """Find spans in which nobody moves and nothing changes though goals are open (D13)."""
    changed = {change.step for change in trace.all(GoalChange)}
    open_until = _all_done(trace)
    still = [
        step
        for step, acts in enumerate(trace.acts)
        if step not in changed and step <= open_until and not any(act.moved or act.effect for act in acts.values())
    ]
    for first, last in runs(still):
        if last - first + 1 >= STILL:
            waiting = sum(act.ready is not None for act in trace.acts[last].values())
            blocked = sum(act.blocker is not None for act in trace.acts[last].values())
            how = f"at the end {waiting} waited in place, {blocked} were blocked"
            text = f"nobody moved for {last - first + 1} steps; {how}"
            yield FailureSpan("deadlock", first, last, trace.start.team, None, text)


def _all_done(trace: Trace) -> int:
    """Return the step in which the last goal was done; the number of steps if some goal stays open."""
    goals = trace.start.goals
    return max((trace.done.get(goal.id, trace.steps) for goal in goals), default=-1)


def mutual_blocking(trace: Trace) -> Iterator[FailureSpan]:
    """Find circles of agents of whom each is in the next one's way."""
    circles: dict[tuple[AgentId, ...], list[int]] = {}
    for step, acts in enumerate(trace.acts):
        ahead = {agent: act.blocker for agent, act in acts.items() if act.blocker in acts and not act.moved}
        for circle in _circles(ahead):
            circles.setdefault(circle, []).append(step)
    for circle, steps in circles.items():
        for first, last in runs(steps):
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


def plan_cycles(trace: Trace) -> Iterator[FailureSpan]:
    """Find plans A, B, A, B of one agent of which none succeeded (D13)."""
    for agent, plans in _plans_of(trace).items():
        for four in zip(*(plans[k:] for k in range(4)), strict=False):
            one, other = four[0], four[1]
            swung = one.text == four[2].text and other.text == four[3].text and one.text != other.text
            if swung and None not in (one.goal, other.goal) and not any(_succeeded(trace, plan) for plan in four):
                last = min(four[3].step, trace.last)
                text = f"went from a plan for {one.goal} to one for {other.goal}, back, and again"
                yield FailureSpan("oscillation", min(one.step, last), last, (agent,), None, text)


def endings(trace: Trace) -> Iterator[FailureSpan]:
    """Find an episode that ended too early or too late (O9, O10)."""
    goals = [goal.id for goal in trace.start.goals]
    left = [goal for goal in goals if goal not in trace.done]
    if left and trace.end.reason == "quit":
        rest = f"{len(left)} of {len(goals)} goals open"
        text = f"the team quit after {trace.steps} of {trace.start.horizon} steps with {rest}"
        yield FailureSpan("quit-early", trace.last, trace.last, trace.start.team, None, text)
    idle_from = _all_done(trace) + 1
    if goals and not left and idle_from < trace.steps:
        text = f"{trace.steps - idle_from} of {trace.steps} steps after the last goal was done"
        yield FailureSpan("no-stop", idle_from, trace.last, trace.start.team, None, text)


def bad_formats(trace: Trace) -> Iterator[FailureSpan]:
    """Find questions that ended in their fallback (K8)."""
    for question in trace.all(QuestionAsked):
        if question.fallback:
            step = min(question.step, trace.last)
            last = question.errors[-1].text
            text = f"{question.purpose}: {len(question.errors)} answers could not be used; last: {last}"
            agents = (question.agent,) if question.agent in trace.start.team else ()
            yield FailureSpan("bad-format", step, step, agents, None, text)


def unanswered(trace: Trace) -> Iterator[FailureSpan]:
    """Find requests that none of those asked replied to, or met by taking up the goal, in time (M9)."""
    requests = [message for message in trace.all(MessageSent) if message.act == "request"]
    for request in requests:
        if request.step + PATIENCE > trace.last or _answered(trace, request):
            continue
        text = (
            f"{request.agent} asked {', '.join(request.recipients) or 'nobody in reach'}; no reply in {PATIENCE} steps"
        )
        agents = (request.agent, *(agent for agent in request.recipients if agent != request.agent))
        yield FailureSpan("unanswered", request.step, request.step + PATIENCE, agents, request.goal, text)


def _answered(trace: Trace, request: MessageSent) -> bool:
    for event in trace.events:
        if event.seq <= request.seq or event.step > request.step + PATIENCE:
            continue
        if isinstance(event, MessageSent) and event.reply_to == request.id and event.agent in request.recipients:
            return True
        takes_up = isinstance(event, Commit | PlanStart) and event.agent in request.recipients
        if takes_up and request.goal is not None and getattr(event, "goal", None) == request.goal:
            return True
    return False


def chatter(trace: Trace) -> Iterator[FailureSpan]:
    """Find runs of messages among the same agents that tell nothing new (M5, M6)."""
    heard = {(event.message, event.agent) for event in trace.all(Deliver) if not event.dropped}
    told: dict[AgentId, set[str]] = {}
    said: dict[tuple[AgentId, AgentId], dict[frozenset[tuple[str, ...]], None]] = {}
    row: list[MessageSent] = []
    for message in [*trace.all(MessageSent), None]:
        if message is not None:
            empty = _tells_nothing(message, told, said)
            for agent in message.recipients:
                if (message.id, agent) in heard:
                    told.setdefault(agent, set()).update(message.facts)
                said.setdefault((message.agent, agent), {})[grams(message.text)] = None
        if row and (message is None or not empty or _circle(message) != _circle(row[0])):
            if len(row) >= IN_A_ROW:
                first, last = min(row[0].step, trace.last), min(row[-1].step, trace.last)
                text = f"{len(row)} messages in a row that told nothing new, the last: {row[-1].text[:60]!r}"
                yield FailureSpan("chatter", first, last, tuple(sorted(_circle(row[0]))), None, text)
            row = []
        if message is not None and empty:
            row.append(message)


def _circle(message: MessageSent) -> frozenset[AgentId]:
    return frozenset((message.agent, *message.recipients))


def _tells_nothing(
    message: MessageSent,
    told: dict[AgentId, set[str]],
    said: dict[tuple[AgentId, AgentId], dict[frozenset[tuple[str, ...]], None]],
) -> bool:
    """All facts of the message were told to its recipients before; without facts, its text is a repetition."""
    if not message.recipients or message.act in _BINDING:
        return False
    if message.facts:
        return all(set(message.facts) <= told.get(agent, set()) for agent in message.recipients)
    own = grams(message.text)
    return any(alike(own, old) for agent in message.recipients for old in said.get((message.agent, agent), ()))
