"""From an episode's log to what the page shows: a pure function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from teamworld.errors import UserError
from teamworld.language import ParseError, parse_plan
from teamworld.metrics.failures import LABELS, Tag
from teamworld.metrics.summary import summarise
from teamworld.reasoning.registry import describe
from teamworld.record import (
    ActionStep,
    AgentLeft,
    AttemptMade,
    Commit,
    Deliver,
    DrawingState,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalChange,
    GoalInfo,
    MessageSent,
    PlanEnd,
    PlanStart,
    Release,
)
from teamworld.viewer.data import (
    FORMAT,
    Actor,
    Failure,
    GoalRow,
    Hold,
    Joint,
    Pace,
    PlanRow,
    Replay,
    Result,
    Said,
    Span,
)

#: What an agent without an order does, in every world; in a row it is one span.
_WAIT = "wait"


def build(log: Iterable[Event], failures: Sequence[Tag] = ()) -> Replay:
    """Return the data of a finished episode.

    Args:
        log: Its events in order.
        failures: What ``teamworld.metrics.failures.tags`` found in it.

    Raises:
        UserError: The log has no start, no end, or not one frame for each step.
    """
    events = list(log)
    if not events or not isinstance(events[0], EpisodeStart) or not isinstance(events[-1], EpisodeEnd):
        raise UserError("a replay needs a whole log: expected one from episode_start to episode_end")
    reader = _Reader(events[0])
    for event in events:
        reader.take(event)
    return reader.replay(events, failures)


class _Reader:
    """What has been read of a log so far."""

    def __init__(self, start: EpisodeStart) -> None:
        self._start = start
        self._lanes = {agent: _Lane(agent, start.kinds.get(agent, "")) for agent in start.team}
        self._plans: dict[int, _Plan] = {}
        self._goals = {goal.id: _goal_row(goal) for goal in start.goals}
        self._committed: dict[str, str] = {}
        self._messages: dict[int, Said] = {}
        self._joints: list[Joint] = []
        self._going: dict[tuple[str, tuple[str, ...]], int] = {}
        """The last joint act of each goal and participants, as its place in the list."""
        self._frames: list[DrawingState] = []

    def take(self, event: Event) -> None:
        """Take in the next event."""
        match event:
            case DrawingState():
                self._frames.append(event)
            case ActionStep():
                self._act(event)
            case Commit():
                self._committed[event.agent] = event.goal
                self._lane(event.agent).hold(event)
            case Release():
                self._committed.pop(event.agent, None)
                self._lane(event.agent).let_go(event.step, event.cause)
            case PlanStart():
                self._plans[event.plan] = _Plan(event)
            case PlanEnd():
                self._plans[event.plan].end = event
            case MessageSent():
                self._messages[event.id] = self._said(event)
            case Deliver() if event.dropped:
                said = self._messages[event.message]
                self._messages[event.message] = replace(said, lost=[*said.lost, event.agent])
            case AttemptMade():
                self._attempt(event)
            case GoalChange():
                self._change(event)
            case AgentLeft():
                lane = self._lane(event.agent)
                lane.gone, lane.gone_why = event.step, event.why
            case _:
                pass

    def _lane(self, agent: str) -> _Lane:
        return self._lanes.setdefault(agent, _Lane(agent, ""))

    def _act(self, event: ActionStep) -> None:
        lane = self._lane(event.agent)
        action = f"{event.verb}({', '.join(event.args)})"
        place = None
        if event.plan is not None:
            place = self._plans[event.plan].find(action, over=event.status != "running")
        lane.act(event, action, place)

    def _said(self, event: MessageSent) -> Said:
        others = set(self._start.team) - {event.agent}
        return Said(
            step=event.step,
            agent=event.agent,
            act=event.act,
            text=event.text,
            to=None if set(event.recipients) - {event.agent} == others else list(event.recipients),  # echoed or not
            goal=event.goal,
            room=event.room,
        )

    def _attempt(self, event: AttemptMade) -> None:
        """Add a joint act to the last one of the same agents if it went the same way a step before."""
        joint = Joint(
            start=event.step,
            end=event.step + 1,
            goal=event.goal,
            k=event.k,
            have=event.have,
            need=event.need,
            who=list(event.participants),
            success=event.success,
            short=0 if event.success else _short(event),
            absent=[] if event.success else self._absent(event),
        )
        key = (event.goal, event.participants)
        last = self._going.get(key)
        if last is not None:
            before = self._joints[last]
            if before.end == event.step and replace(before, start=joint.start, end=joint.end) == joint:
                self._joints[last] = replace(before, end=joint.end)
                return
        self._going[key] = len(self._joints)
        self._joints.append(joint)

    def _absent(self, event: AttemptMade) -> list[str]:
        planned = {plan.agent for plan in self._plans.values() if plan.end is None and plan.goal == event.goal}
        bound = planned | {agent for agent, goal in self._committed.items() if goal == event.goal}
        return [agent for agent in self._lanes if agent in bound and agent not in event.participants]

    def _change(self, event: GoalChange) -> None:
        row = self._goals.get(event.goal, GoalRow(id=event.goal))
        after = event.step + 1
        if event.event == "progress":
            before = row.progress[-1][1] if row.progress else 0.0
            row = replace(row, progress=[*row.progress, (after, round(before + event.delta, 4))])
        elif event.event == "done":
            row = replace(row, done=after, who=list(event.participants))
        elif event.event == "lost":
            row = replace(row, lost=after)
        self._goals[event.goal] = row

    def replay(self, events: list[Event], failures: Sequence[Tag]) -> Replay:
        """Return all that was read, with the failures found elsewhere."""
        start, summary = self._start, summarise(events)
        if [frame.step for frame in self._frames] != list(range(summary.steps + 1)):
            raise UserError(
                f"a replay needs a frame for each step: expected {summary.steps + 1}, got {len(self._frames)}; "
                "the world or the log level records none"
            )
        ticks = [frame.tick for frame in self._frames]
        total = sum(goal.weight for goal in start.goals)
        return Replay(
            format=FORMAT,
            world=start.world,
            level=start.level,
            static=start.static,
            task=start.task,
            method=start.method,
            mind=describe(start.reasoner),
            seed=start.seed,
            episode=start.episode,
            result=Result(
                completion=summary.completion,
                done=sum(goal.weight for goal in start.goals if summary.done[goal.id] is not None),
                weight=total,
                steps=summary.steps,
                horizon=start.horizon,
                reason=summary.reason,
            ),
            team=[lane.actor(summary.steps) for lane in self._lanes.values()],
            goals=list(self._goals.values()),
            plans=self._plan_rows(),
            messages=[self._messages[number] for number in sorted(self._messages)],
            joints=self._joints,
            failures=[_failure(tag) for tag in sorted(failures, key=lambda tag: tag.first)],
            labels={tag.label: LABELS[tag.label].rule for tag in failures if tag.label in LABELS},
            frames=[frame.state for frame in self._frames],
            ticks=None if ticks == list(range(len(ticks))) else ticks,
        )

    def _plan_rows(self) -> list[PlanRow]:
        order = {agent: place for place, agent in enumerate(self._lanes)}
        rows = (plan.row(self._frames[-1].step) for plan in self._plans.values())
        return sorted(rows, key=lambda row: (order.get(row.agent, len(order)), row.plan))


class _Plan:
    """A plan, and how far its agent has come in it."""

    def __init__(self, begun: PlanStart) -> None:
        self._begun = begun
        self.agent, self.goal = begun.agent, begun.goal
        self.end: PlanEnd | None = None
        self._actions = _actions(begun.text)
        self._next = 0

    def find(self, action: str, *, over: bool) -> int | None:
        """Return which action of the plan this is, from the next one on; go on behind it if it is over."""
        rest = range(self._next, len(self._actions))
        place = next((place for place in rest if _same(self._actions[place], action)), None)
        if place is not None:  # else the loop put it in, such as talk owed
            self._next = place + over
        return place

    def row(self, last: int) -> PlanRow:
        begun, end = self._begun, self.end
        return PlanRow(
            agent=begun.agent,
            plan=begun.plan,
            start=begun.step,
            end=end.step if end is not None else last,
            goal=begun.goal,
            actions=self._actions,
            origin=begun.origin,
            cause=begun.cause,
            status=end.status if end is not None else "unfinished",
            ended=end.cause if end is not None else "",
        )


class _Lane:
    """What one agent did."""

    def __init__(self, name: str, kind: str) -> None:
        self._name, self._kind = name, kind
        self._spans: list[Span] = []
        self._paces: list[Pace] = []
        self._holds: list[Hold] = []
        self._held: Commit | None = None
        self.gone: int | None = None
        self.gone_why = ""

    def act(self, event: ActionStep, action: str, place: int | None) -> None:
        if not event.spent:
            self._spans.append(_span(event, action, place, event.step))
            return
        last = self._spans[-1] if self._spans else None
        going = (
            last is not None
            and last.end == event.step
            and (last.action, last.plan, last.place) == (action, event.plan, place)
            and (last.status == "running" or event.verb == _WAIT)
        )
        if last is not None and going:
            self._spans[-1] = replace(_span(event, action, place, event.step + 1), start=last.start)
        else:
            self._spans.append(_span(event, action, place, event.step + 1))
        pace = Pace(
            step=event.step,
            primitive=" ".join(event.primitives),
            moved=event.moved,
            effect=event.effect,
            ready=event.ready,
            blocker=event.blocker,
        )
        if not self._paces or replace(self._paces[-1], step=event.step) != pace:
            self._paces.append(pace)

    def hold(self, event: Commit) -> None:
        self.let_go(event.step, "reassigned")
        self._held = event

    def let_go(self, step: int, cause: str) -> None:
        if self._held is not None:
            held, self._held = self._held, None
            self._holds.append(
                Hold(start=held.step, end=step, goal=held.goal, role=held.role, cause=held.cause, released=cause)
            )

    def actor(self, last: int) -> Actor:
        self.let_go(last, "ended")
        return Actor(
            name=self._name,
            kind=self._kind,
            spans=self._spans,
            paces=self._paces,
            holds=self._holds,
            gone=self.gone,
            gone_why=self.gone_why,
        )


def _span(event: ActionStep, action: str, place: int | None, end: int) -> Span:
    over: dict[str, Any] = {}
    if event.status == "failed":
        over = {"reason": event.reason, "constraint": event.constraint, "blocker": event.blocker}
    return Span(
        start=event.step,
        end=end,
        action=action,
        status=event.status if event.spent else "passed",
        goal=event.goal,
        plan=event.plan,
        place=place,
        legal=event.legal,
        **over,
    )


def _goal_row(goal: GoalInfo) -> GoalRow:
    return GoalRow(
        id=goal.id, kind=goal.kind, label=goal.label, thing=goal.thing, weight=goal.weight, quorum=goal.quorum
    )


def _failure(tag: Tag) -> Failure:
    return Failure(
        start=tag.first, end=tag.last + 1, label=tag.label, agents=list(tag.agents), goal=tag.goal, text=tag.text
    )


def _short(event: AttemptMade) -> int:
    """Return how many agents were missing; a way that is not clear is not a matter of numbers."""
    counted = (event.need[name] - event.have.get(name, 0) for name in event.need if name != "dependency")
    return max(0, *counted, 0)


def _same(first: str, second: str) -> bool:
    """Whether two actions are equal but for counts at the end that one of them leaves out."""
    short, long = sorted((first, second), key=len)
    return long == short or long.startswith(f"{short.removesuffix(')')}, ")


def _actions(text: str) -> list[str]:
    try:
        return [str(action) for action in parse_plan(text).actions]
    except ParseError:  # of a world or version that writes plans in another form: shown as it is
        return [text]
