"""The data of the page against the log: everything that was joined is taken apart again and compared."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from teamworld.errors import UserError
from teamworld.metrics.failures import Tag
from teamworld.record import (
    ActionStep,
    AttemptMade,
    Commit,
    DrawingState,
    EpisodeEnd,
    EpisodeStart,
    Event,
    GoalChange,
    MessageSent,
    PlanEnd,
    PlanStart,
    Release,
    StepDone,
)
from teamworld.viewer import build
from teamworld.viewer.replay_types import ActionSpan, Actor, JointAct, Replay, StepRecord
from tests.viewer import samples

LOGS = {
    "drwell": lambda: samples.played(),
    "drwell-n4": lambda: samples.played(level="paper-n4"),
    "zero_shot": lambda: samples.played("zero_shot"),
    "by_hand": samples.by_hand,
}


@pytest.fixture(params=LOGS)
def log(request: pytest.FixtureRequest) -> Sequence[Event]:
    return list(LOGS[request.param]())


def of(log: Sequence[Event]) -> tuple[Replay, dict[str, Actor]]:
    replay = build(log)
    return replay, {actor.name: actor for actor in replay.team}


def covering(rows: Sequence[ActionSpan], step: int) -> ActionSpan | None:
    return next((row for row in rows if row.start <= step < row.end), None)


def test_frames_are_the_log(log: Sequence[Event]) -> None:
    replay, _ = of(log)
    assert replay.frames == [event.state for event in log if isinstance(event, DrawingState)]
    assert len(replay.frames) == sum(isinstance(event, StepDone) for event in log) + 1


def test_every_step_of_every_agent_is_in_its_spans(log: Sequence[Event]) -> None:
    _, team = of(log)
    acts = [event for event in log if isinstance(event, ActionStep)]
    for event in acts:
        action = f"{event.verb}({', '.join(event.args)})"
        spans = team[event.agent].spans
        if not event.spent:
            assert any(
                (s.start, s.end, s.action, s.status) == (event.step, event.step, action, "passed") for s in spans
            )
            continue
        span = covering(spans, event.step)
        assert span is not None
        assert (span.action, span.goal, span.plan) == (action, event.goal, event.plan)
        if event.verb != "wait":  # waits in a row are one
            over = event.status != "running"
            assert over <= (span.end == event.step + 1)
            if span.end == event.step + 1:
                assert (span.status, span.reason) == (event.status, event.reason)
    covered = sum(span.end - span.start for actor in team.values() for span in actor.spans)
    assert covered == sum(event.spent for event in acts)


def test_paces_say_what_each_step_brought(log: Sequence[Event]) -> None:
    _, team = of(log)
    for event in log:
        if isinstance(event, ActionStep) and event.spent:
            row = [pace for pace in team[event.agent].paces if pace.step <= event.step][-1]
            assert row == StepRecord(
                step=row.step,
                primitive=" ".join(event.primitives),
                moved=event.moved,
                effect=event.effect,
                ready=event.ready,
                blocker=event.blocker,
            )


def test_holds_are_the_commitments_step_by_step(log: Sequence[Event]) -> None:
    replay, team = of(log)
    held: dict[str, str] = {}
    for number, event in enumerate(log):
        if isinstance(event, Commit):
            held[event.agent] = event.goal
        elif isinstance(event, Release):
            held.pop(event.agent, None)
        last_of_step = number + 1 == len(log) or log[number + 1].step > event.step
        if last_of_step and event.step < len(replay.frames) - 1:
            for name, actor in team.items():
                now = [hold.goal for hold in actor.holds if hold.start <= event.step < hold.end]
                assert now == ([held[name]] if name in held else []), (name, event.step)


def test_joint_acts_taken_apart_are_the_attempts(log: Sequence[Event]) -> None:
    replay, _ = of(log)

    def key(goal: str, who: Sequence[str], success: bool, have: dict[str, int], step: int) -> tuple[object, ...]:
        return step, goal, tuple(who), success, tuple(sorted(have.items()))

    wanted = sorted(key(e.goal, e.participants, e.success, e.have, e.step) for e in log if isinstance(e, AttemptMade))
    found = sorted(key(j.goal, j.who, j.success, j.have, s) for j in replay.joints for s in range(j.start, j.end))
    assert found == wanted
    assert [joint.start for joint in replay.joints] == sorted(joint.start for joint in replay.joints)
    assert len(replay.joints) < max(2, len(wanted)), "equal acts in a row are one stretch"


def test_only_those_still_bound_are_missing_and_a_break_makes_two_stretches() -> None:
    tried: list[Event] = [samples.attempt(("a",), 1), StepDone(ticks=2, score={})]
    bound: list[Event] = [Commit(agent="b", goal="g", cause="agreed"), samples.plan("c", 0, "plan for g { wait() }")]
    freed: list[Event] = [Release(agent="b", goal="g", cause="agreed"), samples.plan_end("c", 0)]
    idle: list[Event] = [samples.act("b", "wait", "done"), StepDone(ticks=2, score={})]
    steps = [[*bound, *tried], tried, [*freed, *tried], idle, tried]
    replay = build(samples.laid_out(steps, samples.plan("a", 1, "x")))
    assert [(joint.start, joint.end, joint.absent) for joint in replay.joints] == [
        (0, 2, ["b", "c"]),
        (2, 3, []),
        (4, 5, []),
    ]
    assert [(row.agent, row.start, row.end, row.status) for row in replay.plans] == [
        ("a", 5, 5, "unfinished"),
        ("c", 0, 2, "failed"),
    ]


def test_who_was_missing_is_bound_and_took_no_part(log: Sequence[Event]) -> None:
    replay, _ = of(log)
    order = [actor.name for actor in replay.team]
    attempts = {(e.step, e.goal, e.participants): e for e in log if isinstance(e, AttemptMade)}
    for joint in replay.joints:
        event = attempts[joint.start, joint.goal, tuple(joint.who)]
        held: dict[str, str] = {}
        plans: dict[int, PlanStart] = {}
        for earlier in log[: event.seq]:
            match earlier:
                case Commit():
                    held[earlier.agent] = earlier.goal
                case Release():
                    held.pop(earlier.agent, None)
                case PlanStart():
                    plans[earlier.plan] = earlier
                case PlanEnd():
                    del plans[earlier.plan]
                case _:
                    pass
        bound = {a for a, g in held.items() if g == joint.goal} | {
            p.agent for p in plans.values() if p.goal == joint.goal
        }
        wanted = [] if joint.success else [a for a in order if a in bound - set(joint.who)]
        assert joint.absent == wanted
        lacking = [need - event.have[name] for name, need in event.need.items() if name != "dependency"]
        assert joint.short == (0 if joint.success else max(0, *lacking, 0))


def test_messages_plans_and_goals_are_the_log(log: Sequence[Event]) -> None:
    replay, _ = of(log)
    said = [event for event in log if isinstance(event, MessageSent)]
    assert [(m.step, m.agent, m.act, m.text, m.goal, m.room) for m in replay.messages] == [
        (e.step, e.agent, e.act, e.text, e.goal, e.room) for e in said
    ]
    for message, event in zip(replay.messages, said, strict=True):
        others = {actor.name for actor in replay.team} - {event.agent}
        assert set(others if message.to is None else message.to) == set(event.recipients)
    begun = {event.plan: event for event in log if isinstance(event, PlanStart)}
    ended = {event.plan: event for event in log if isinstance(event, PlanEnd)}
    assert sorted(plan.plan for plan in replay.plans) == sorted(begun)
    for plan in replay.plans:
        assert (plan.agent, plan.start, plan.goal) == (
            begun[plan.plan].agent,
            begun[plan.plan].step,
            begun[plan.plan].goal,
        )
        assert (plan.end, plan.status) == (ended[plan.plan].step, ended[plan.plan].status)
        assert all(action in begun[plan.plan].text for action in plan.actions)
    for goal in replay.goals:
        changes = [e for e in log if isinstance(e, GoalChange) and e.goal == goal.id]
        done = [event.step + 1 for event in changes if event.event == "done"]
        assert goal.done == (done[0] if done else None)
        total = sum(event.delta for event in changes if event.event == "progress")
        assert (goal.progress[-1][1] if goal.progress else 0.0) == pytest.approx(total, abs=0.01)


def test_actions_of_a_plan_are_found_in_order(log: Sequence[Event]) -> None:
    replay, team = of(log)
    plans = {plan.plan: plan for plan in replay.plans}
    for actor in team.values():
        for span in actor.spans:
            if span.plan is not None:
                assert span.place is not None
                planned = plans[span.plan].actions[span.place]
                assert planned == span.action or planned.startswith(span.action[:-1])  # counts may be left out
        places = [(span.plan, span.place) for span in actor.spans if span.plan is not None]
        assert len(places) == len(set(places)), "each action of a plan is carried out once"


def test_the_log_by_hand() -> None:
    replay, team = of(samples.by_hand())
    assert replay.ticks == [0, 2, 4, 6]
    assert replay.reasoner.startswith("stand-in")
    assert "no language model" in replay.reasoner
    assert (replay.result.completion, replay.result.done, replay.result.weight) == (0.25, 1.0, 4.0)
    assert [(m.to, m.lost) for m in replay.messages] == [(None, ["c"]), ([], [])]
    assert [(span.action, span.status, span.place) for span in team["a"].spans] == [
        ("go()", "done", 0),
        ("go()", "passed", 1),
        ("work(2)", "running", 2),
    ]
    assert [(span.start, span.end) for span in team["b"].spans] == [(0, 3)]
    assert [(hold.goal, hold.start, hold.end, hold.released) for hold in team["b"].holds] == [
        ("g", 0, 2, "reassigned"),
        ("h", 2, 3, "ended"),
    ]
    assert (team["c"].gone, team["c"].gone_why) == (1, "fell")
    assert replay.joints[0] == JointAct(
        start=0,
        end=2,
        goal="g",
        k=2,
        have={"dependency": 1, "temporal": 1},
        need={"dependency": 1, "temporal": 2},
        who=["a"],
        success=False,
        short=1,
        absent=["b"],
    )
    assert (replay.joints[1].short, replay.joints[1].absent) == (0, [])
    assert [(goal.id, goal.done, goal.who) for goal in replay.goals] == [("g", None, []), ("h", 3, ["b"])]


def test_failures_found_in_the_log_are_taken_over() -> None:
    found = [
        Tag(label="stale-plan", first=2, last=2, agents=("a", "b"), goal="g", text="late", source="here"),
        Tag(label="made-up", first=0, last=1, agents=(), goal=None, text="early", source="here"),
    ]
    replay = build(samples.by_hand(), found)
    assert [(one.start, one.end, one.label, one.agents, one.goal) for one in replay.failures] == [
        (0, 2, "made-up", [], None),
        (2, 3, "stale-plan", ["a", "b"], "g"),
    ]
    assert set(replay.labels) == {"stale-plan"}


def without(*kinds: type[Event]) -> list[Event]:
    """Return the log by hand without the records of some kinds."""
    return [event for event in samples.by_hand() if not isinstance(event, kinds)]


def test_a_step_without_a_record_parts_two_spans() -> None:
    log = [e for e in samples.by_hand() if not (isinstance(e, ActionStep) and (e.agent, e.step) == ("b", 1))]
    _, team = of(log)
    assert [(span.start, span.end) for span in team["b"].spans] == [(0, 1), (2, 3)]


def test_an_episode_without_a_step_or_a_goal_has_no_completion() -> None:
    replay = build([samples.start(), DrawingState(state={}), EpisodeEnd(reason="quit")])
    assert (replay.result.steps, replay.frames, replay.result.completion) == (0, [{}], None)
    start, *events = without(GoalChange, AttemptMade)
    assert isinstance(start, EpisodeStart)
    assert build([msgspec.structs.replace(start, goals=()), *events]).result.completion is None


def test_an_agent_may_change_its_goal_without_a_release() -> None:
    _, team = of(without(Release))
    assert [(hold.goal, hold.start, hold.end) for hold in team["b"].holds] == [("g", 0, 2), ("h", 2, 3)]


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ([], "whole log"),
        (samples.by_hand()[1:], "whole log"),
        (samples.by_hand()[:-1], "whole log"),
        (without(DrawingState), "expected 4, got 0"),
    ],
    ids=["empty", "no start", "no end", "no frames"],
)
def test_a_log_that_lacks_something_is_refused(log: list[Event], says: str) -> None:
    with pytest.raises(UserError, match=says):
        build(log)


def test_a_plan_in_an_unknown_form_is_shown_as_it_is() -> None:
    log = [msgspec.structs.replace(e, text="do it") if isinstance(e, PlanStart) else e for e in samples.by_hand()]
    replay, team = of(log)
    assert replay.plans[0].actions == ["do it"]
    assert {span.place for span in team["a"].spans} == {None}
