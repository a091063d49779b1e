"""From an episode's log to what the page shows: a pure function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum

from msgspec import convert
from msgspec.structs import replace

from teamworld.errors import UserError
from teamworld.language import ParseError, parse_plan
from teamworld.language.terms import OnFailure
from teamworld.metrics.failures import LABELS, Label, Tag
from teamworld.metrics.summary import Summary, summarise
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
    MessageSent,
    Observe,
    PlanEnd,
    PlanStart,
    Release,
    StepDone,
)
from teamworld.viewer.knowledge import list_knowledge
from teamworld.viewer.questions import EpisodeCalls, list_questions
from teamworld.viewer.replay_types import (
    FORMAT,
    ActionSpan,
    Actor,
    CommitmentSpan,
    EpisodeResult,
    FailureRow,
    GoalRow,
    HeadlineRow,
    JointAct,
    PerceptionChange,
    PlanRow,
    Replay,
    SentMessage,
    StepRecord,
)
from teamworld.worlds.base.picture import find_fault
from teamworld.worlds.registry import style

#: What an agent without an order does, in every world; in a row it is one span.
_WAIT = "wait"


def build(
    log: Iterable[Event], failures: Sequence[Tag] = (), calls: EpisodeCalls | None = None, *, prompts: bool = True
) -> Replay:
    """Return the data of a finished episode.

    Args:
        log: Its events in order.
        failures: What ``teamworld.metrics.failures.tags`` found in it.
        calls: Its calls on record, see ``viewer.questions.read_calls``.
        prompts: Whether to keep what was sent in them, and the answers as they came.

    Raises:
        UserError: The log has no start, no end, or not one frame for each step.
    """
    events = list(log)
    if not events or not isinstance(events[0], EpisodeStart) or not isinstance(events[-1], EpisodeEnd):
        raise UserError("a replay needs a whole log: expected one from episode_start to episode_end")
    reader = _Reader(events[0])
    for event in events:
        reader.take(event)
    questions, lines = list_questions(events, calls or {}, prompts=prompts)
    made = reader.replay(events, failures)
    return replace(made, questions=questions, lines=lines, prompts=prompts, knowledge=list_knowledge(events))


class _Reader:
    """What has been read of a log so far."""

    def __init__(self, start: EpisodeStart) -> None:
        self._start = start
        self._actors: dict[str, Actor] = {}
        for agent in start.team:
            self._actor(agent)
        self._plans: dict[int, PlanRow] = {}
        self._open: dict[int, PlanRow] = {}
        """Those of the plans that have not ended."""
        self._next: dict[int, int] = {}
        """How far its agent has come in each plan."""
        self._goals = {goal.id: convert(goal, GoalRow, from_attributes=True) for goal in start.goals}
        self._held: dict[str, CommitmentSpan] = {}
        """The commitment of each agent that has one."""
        self._messages: dict[int, SentMessage] = {}
        self._joints: list[JointAct] = []
        self._going: dict[tuple[str, tuple[str, ...]], JointAct] = {}
        """The last joint act of each goal and participants."""
        self._frames: list[DrawingState] = []
        self._reward = [0.0]
        self._perceived: list[PerceptionChange] = []

    def take(self, event: Event) -> None:
        """Take in the next event."""
        match event:
            case DrawingState():
                self._frames.append(event)
            case ActionStep():
                self._act(event)
            case Commit():
                self._release(event.agent, event.step, "reassigned")
                self._held[event.agent] = CommitmentSpan(
                    start=event.step, end=0, goal=event.goal, role=event.role, cause=event.cause, released=""
                )
            case Release():
                self._release(event.agent, event.step, event.cause)
            case PlanStart():
                self._begin_plan(event)
            case PlanEnd():
                plan = self._open.pop(event.plan, self._plans[event.plan])
                plan.end, plan.status, plan.ended = event.step, event.status, event.cause
            case MessageSent():
                self._messages[event.id] = self._message(event)
            case Deliver() if event.dropped:
                message = self._messages[event.message]
                message.lost = [*message.lost, event.agent]
            case AttemptMade():
                self._attempt(event)
            case StepDone():
                self._reward.append(round(self._reward[-1] + event.score.get("reward", 0.0), 4))
            case Observe():
                change = PerceptionChange(
                    frame=event.step, agent=event.agent, seen=list(event.seen), unseen=list(event.unseen)
                )
                self._perceived.append(change)
            case GoalChange():
                self._change(event)
            case AgentLeft():
                actor = self._actor(event.agent)
                actor.gone, actor.gone_why = event.step, event.why
            case _:
                pass

    def _actor(self, agent: str) -> Actor:
        if agent not in self._actors:
            kind = self._start.kinds.get(agent, "")
            self._actors[agent] = Actor(name=agent, kind=kind, spans=[], paces=[], holds=[])
        return self._actors[agent]

    def _release(self, agent: str, step: int, cause: str) -> None:
        commitment = self._held.pop(agent, None)
        if commitment is not None:
            commitment.end, commitment.released = step, cause
            self._actor(agent).holds.append(commitment)

    def _begin_plan(self, event: PlanStart) -> None:
        self._next[event.plan] = 0
        actions, on_failure = _read_plan(event.text)
        self._open[event.plan] = self._plans[event.plan] = PlanRow(
            agent=event.agent,
            plan=event.plan,
            start=event.step,
            end=event.step,
            goal=event.goal,
            actions=actions,
            on_failure=on_failure,
            origin=event.origin,
            cause=event.cause,
            status="unfinished",
            ended="",
        )

    def _act(self, event: ActionStep) -> None:
        actor, action = self._actor(event.agent), f"{event.verb}({', '.join(event.args)})"
        has_failed = event.status == "failed"
        span = ActionSpan(
            start=event.step,
            end=event.step + event.spent,
            action=action,
            status=event.status if event.spent else "passed",
            reason=event.reason if has_failed else "",
            constraint=event.constraint if has_failed else None,
            blocker=event.blocker if has_failed else None,
            goal=event.goal,
            plan=event.plan,
            place=self._place(event, action),
            legal=event.legal,
        )
        last = actor.spans[-1] if actor.spans else None
        if (
            event.spent
            and last is not None
            and last.end == event.step
            and (last.action, last.plan, last.place) == (action, event.plan, span.place)
            and (last.status == "running" or event.verb == _WAIT)
        ):
            span.start = last.start
            actor.spans.pop()
        actor.spans.append(span)
        if not event.spent:
            return
        record = replace(convert(event, StepRecord, from_attributes=True), primitive=" ".join(event.primitives))
        if not actor.paces or replace(actor.paces[-1], step=event.step) != record:
            actor.paces.append(record)

    def _place(self, event: ActionStep, action: str) -> int | None:
        """Return which action of its plan this is, from the next one on; go on behind it if it is over."""
        if event.plan is None:
            return None
        actions = self._plans[event.plan].actions
        rest = range(self._next[event.plan], len(actions))
        place = next((place for place in rest if _is_same(actions[place], action)), None)
        if place is not None:  # else the loop put it in, such as talk owed
            self._next[event.plan] = place + (event.status != "running")
        return place

    def _message(self, event: MessageSent) -> SentMessage:
        is_to_all = {*event.recipients, event.agent} == {*self._start.team, event.agent}  # echoed or not
        message = convert(event, SentMessage, from_attributes=True)
        return replace(message, to=None if is_to_all else list(event.recipients))

    def _attempt(self, event: AttemptMade) -> None:
        """Add a joint act to the last one of the same agents if it went the same way a step before."""
        joint = JointAct(
            start=event.step,
            end=event.step + 1,
            goal=event.goal,
            k=event.k,
            have=event.have,
            need=event.need,
            who=list(event.participants),
            success=event.success,
            short=0 if event.success else _missing(event),
            absent=[] if event.success else self._absent(event),
        )
        last = self._going.get((event.goal, event.participants))
        if last is not None and last.end == event.step and replace(last, start=joint.start, end=joint.end) == joint:
            last.end = joint.end
            return
        self._going[event.goal, event.participants] = joint
        self._joints.append(joint)

    def _absent(self, event: AttemptMade) -> list[str]:
        bound = {plan.agent for plan in self._open.values() if plan.goal == event.goal}
        bound |= {agent for agent, commitment in self._held.items() if commitment.goal == event.goal}
        return [agent for agent in self._actors if agent in bound and agent not in event.participants]

    def _change(self, event: GoalChange) -> None:
        goal, after = self._goals.setdefault(event.goal, GoalRow(id=event.goal)), event.step + 1
        if event.event == "progress":
            before = goal.progress[-1][1] if goal.progress else 0.0
            goal.progress = [*goal.progress, (after, round(before + event.delta, 4))]
        elif event.event == "done":
            goal.done, goal.who = after, list(event.participants)
        elif event.event == "lost":
            goal.lost = after

    def replay(self, events: list[Event], failures: Sequence[Tag]) -> Replay:
        """Return all that was read, with the failures found elsewhere."""
        start, summary, steps = self._start, summarise(events), len(self._reward) - 1
        if [frame.step for frame in self._frames] != list(range(steps + 1)):
            raise UserError(
                f"a replay needs a frame for each step: expected {steps + 1}, got {len(self._frames)}; "
                "the world or the log level records none"
            )
        for agent in self._actors:
            self._release(agent, steps, "ended")
        for plan in self._open.values():
            plan.end = steps
        looks = dict(style(start.world))
        order = {agent: place for place, agent in enumerate(self._actors)}
        ticks = [frame.tick for frame in self._frames]
        undrawn, states = "", [frame.state for frame in self._frames]
        if "drawer" in start.static:
            undrawn = find_fault(start.static, states, len(start.team))
        return Replay(
            format=FORMAT,
            world=start.world,
            level=start.level,
            static=start.static,
            task=start.task,
            method=start.method,
            reasoner=describe(start.reasoner),
            seed=start.seed,
            episode=start.episode,
            result=EpisodeResult(
                completion=summary.completion,
                done=fsum(goal.weight for goal in start.goals if summary.done[goal.id] is not None),
                weight=fsum(goal.weight for goal in start.goals),
                steps=summary.steps,
                horizon=start.horizon,
                reason=summary.reason,
                headline=_headline(summary),
                has_success=summary.has_success,
            ),
            team=list(self._actors.values()),
            goals=list(self._goals.values()),
            plans=sorted(self._plans.values(), key=lambda row: (order.get(row.agent, len(order)), row.plan)),
            messages=[self._messages[number] for number in sorted(self._messages)],
            joints=self._joints,
            failures=[_failure(tag) for tag in sorted(failures, key=lambda tag: tag.first)],
            labels={tag.label: _label_in_words(LABELS[tag.label]) for tag in failures if tag.label in LABELS},
            frames=states,
            ticks=None if ticks == list(range(len(ticks))) else ticks,
            undrawn=undrawn,
            style=looks,
            reward=self._reward if any(self._reward) else [],
            perceived=self._perceived if looks.get("facts") else [],
        )


def _headline(summary: Summary) -> list[HeadlineRow]:
    """Return the measures of the headline, but for those that are told of every episode."""
    return [
        HeadlineRow(
            name=part.metric.replace("_", " "),
            value=part.value.value,
            unit=part.unit,
            definition=f"{'more' if part.better == 'high' else 'less'} is better: {part.definition}",
        )
        for part in summary.headline
        if part.metric not in ("completion", "steps")
    ]


def _failure(tag: Tag) -> FailureRow:
    return FailureRow(
        start=tag.first, end=tag.last + 1, label=tag.label, agents=list(tag.agents), goal=tag.goal, text=tag.text
    )


def _label_in_words(label: Label) -> str:
    return f"{label.rule}. What the team lacks there: {label.diagnoses}"


def _missing(event: AttemptMade) -> int:
    """Return how many agents were missing; a way that is not clear is not a matter of numbers."""
    counted = (event.need[name] - event.have.get(name, 0) for name in event.need if name != "dependency")
    return max(0, *counted, 0)


def _is_same(first: str, second: str) -> bool:
    """Return whether two actions are equal but for counts at the end that one of them leaves out."""
    short, long = sorted((first, second), key=len)
    return long == short or long.startswith(f"{short.removesuffix(')')}, ")


def _read_plan(text: str) -> tuple[list[str], OnFailure]:
    """Return the actions of a plan, and what follows one that fails."""
    try:
        plan = parse_plan(text)
    except ParseError:  # of a world or version that writes plans in another form: shown as it is
        return [text], "default"
    return [str(action) for action in plan.actions], plan.on_failure
