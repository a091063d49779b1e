"""From logs to instances: team sizes, success, truncation, task identity, and live as after the episode."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.episode.loop import Episode, Setting
from teamworld.episode.message_delivery import MessageRule
from teamworld.language import AgentId, Plan
from teamworld.memory.contract import PlanInstance, TaskOutcome
from teamworld.memory.episode_learning import Tracker, delta
from teamworld.memory.guidebook import WorldModel
from teamworld.methods.contract import Briefing, Choice, Decision, DecisionContext, Method, StrictModel
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import Commit, Event, GoalChange, LogWriter, PlanEnd, PlanStart, Release, StepDone
from teamworld.seeding import generator
from tests.memory.samples import began, ended, goal, log
from tests.toy import ToyWorld, work

NEWS = (Commit, Release, PlanStart, PlanEnd, GoalChange)


def only(events: list[Event], **options: Any) -> PlanInstance:
    (instance,) = delta(events, **options).instances
    return instance


def test_an_instance_says_what_was_done_and_what_came_of_it() -> None:
    instance = only(log(Commit(agent="a", goal="block_1"), began(1, tick=3), ended(1, tick=14)))
    assert instance == PlanInstance(
        episode=1,
        agent="a",
        task="block_1",
        goal="block_1",
        plan="plan for block_1 { meet(<block>(1), 2); push(<block>(1), 5) }",
        lifted="plan { meet(?goal, ?quorum); push(?goal, ?units) }",
        prototype="meet > push",
        origin="fresh",
        start=3,
        end=14,
        success=True,
        truncated=False,
        units=5,
        progress=5,
        team=1,
        communication="none",
        situation="deliver(weight=1)",
        quorum=2,
    )
    assert instance.duration == 11


def test_progress_is_the_work_done_between_start_and_end() -> None:
    failed = only(log(began(1), ended(1, status="failed", goal_done=False, units_left=3)))
    assert (failed.success, failed.truncated, failed.units, failed.progress) == (False, False, 5, 2)
    worse = only(log(began(1), ended(1, status="failed", goal_done=False, units_left=9)))
    assert worse.progress == 0


def test_a_failure_has_its_cause_in_a_word() -> None:
    def cause(**changes: Any) -> str:
        return only(log(began(1), ended(1, goal_done=False, units_left=5, **changes))).cause

    assert cause(status="failed", cause="stuck: too few pushed") == "stuck"
    assert only(log(began(1), ended(1))).cause == ""


@pytest.mark.parametrize(
    ("status", "cause", "cut"),
    [("superseded", "resync", True), ("interrupted", "resync", True), ("interrupted", "unable", False)],
)
def test_a_plan_that_another_one_replaced_counts_for_nothing(status: Any, cause: str, cut: bool) -> None:  # noqa: ANN401
    found = only(log(began(1), ended(1, status=status, cause=cause, goal_done=False, units_left=5)))
    assert found.cut == cut


def progress(goal: str, delta: float, *agents: str) -> GoalChange:
    return GoalChange(goal=goal, event="progress", delta=delta, participants=agents)


def test_only_what_an_agent_took_part_in_is_its_progress() -> None:
    both = log(began(1, "a"), began(2, "b"), progress("block_1", 0.2, "a"), progress("block_1", 0.6, "a", "b"))
    open_still: dict[str, Any] = {"status": "failed", "cause": "stuck", "goal_done": False, "units_left": 1}
    found = delta([*both[:-1], ended(1, "a", **open_still), ended(2, "b", **open_still)]).instances
    assert {one.agent: one.progress for one in found} == {"a": 4, "b": 3}
    # What others did alone is no success, and says nothing of the plan.
    idle = only(log(began(1, "a"), progress("block_1", 1.0, "b"), ended(1, "a")))
    assert (idle.success, idle.progress, idle.cut) == (False, 0, True)
    # Nor is what happened by itself: a fire that burns out is not put out by who waits for it.
    waits = only(log(began(1, "a"), progress("block_1", 0.4), ended(1, "a", **open_still)))
    assert (waits.progress, waits.cut) == (0, False)


def test_what_a_plan_did_for_other_goals_is_its_credit() -> None:
    failed: dict[str, Any] = {"status": "failed", "cause": "stuck", "goal_done": False, "units_left": 5}
    pushed = only(log(began(1), progress("block_0", 0.25, "a"), progress("block_2", 0.5, "b"), ended(1, **failed)))
    assert (pushed.credit, pushed.helped, pushed.progress) == (250_000, ("block_0",), 0)
    # A block that was pushed aside makes the next one lighter to move: two agents suffice where three were needed.
    aside = only(log(began(1), ended(1, **failed, eased={"block_0": (3, 2)})))
    assert (aside.credit, aside.helped) == (333_333, ("block_0",))
    assert not aside.is_preparation


def test_what_was_done_after_all_is_known_at_the_end() -> None:
    failed: dict[str, Any] = {"status": "failed", "cause": "stuck", "goal_done": False, "units_left": 5}
    over = (ended(1, "a", **failed), GoalChange(goal="block_1", event="done", delta=0.0, participants=("a",), tick=30))
    events = log(
        began(1, "a"), began(2, "b"), *over, ended(2, "b", tick=40, **failed), StepDone(ticks=1, score={}, tick=30)
    )
    assert {one.agent: one.done_by for one in delta(events).instances} == {"a": 31, "b": None}


@pytest.mark.parametrize("done", [False, True])
def test_a_plan_cut_off_by_the_end_is_truncated_and_failed_unless_its_goal_is_done(done: bool) -> None:
    cut = only(log(began(1), ended(1, status="unfinished", goal_done=done, units_left=0 if done else 5)))
    assert (cut.success, cut.truncated) == (done, True)


def test_the_team_is_who_was_committed_when_the_plan_was_taken_up() -> None:
    events = log(
        Commit(agent="b", goal="block_1"),
        Commit(agent="c", goal="block_0"),
        began(1, "a"),  # not committed itself: counts all the same
        Commit(agent="c", goal="block_1"),  # moves over without a release
        began(2, "b"),
        Release(agent="b", goal="block_1", cause="done"),
        Release(agent="c", goal="block_0", cause="done"),  # no longer bound to that one
        began(3, "c", goal="block_0"),
        began(4, "d"),
        ended(4, "d"),
        ended(3, "c"),
        ended(2, "b"),
        ended(1, "a"),
    )
    assert {i.agent: i.team for i in delta(events).instances} == {"a": 2, "b": 2, "c": 1, "d": 2}


def test_plans_without_a_goal_and_ends_without_a_start_give_nothing() -> None:
    tracker = Tracker("id", 1, "none", measures={})
    assert tracker.see(began(1, goal=None, text="plan { wait(3) }")) is None
    assert tracker.see(ended(1, goal=None)) is None
    assert tracker.see(ended(7)) is None


def test_a_tracker_that_knows_no_measures_says_so() -> None:
    tracker = Tracker("id", 1, "none")
    tracker.see(began(1))
    with pytest.raises(ValueError, match="measures"):
        tracker.see(ended(1))


def test_a_log_begins_with_its_start() -> None:
    for events in ([], [began(1)]):
        with pytest.raises(ValueError, match="EpisodeStart"):
            delta(events)


def test_outcomes_of_tasks_in_the_order_they_were_done() -> None:
    def change(number: int, event: Any, tick: int) -> GoalChange:  # noqa: ANN401
        return GoalChange(goal=f"block_{number}", event=event, delta=1.0, participants=(), tick=tick)

    events = log(
        change(1, "progress", 0),
        StepDone(ticks=3, score={}, tick=0),
        change(1, "done", 3),
        StepDone(ticks=4, score={}, tick=3),
        change(0, "done", 7),
        StepDone(ticks=2, score={}, tick=7),
        change(1, "opened", 9),  # undone again
        StepDone(ticks=1, score={}, tick=9),
        change(1, "done", 10),
        StepDone(ticks=3, score={}, tick=10),
        change(3, "done", 13),  # not known at the start
        StepDone(ticks=1, score={}, tick=13),
        goals=(goal(0), goal(1), goal(2)),
        reason="all_done",
    )
    result = delta(events)
    assert (result.episode, result.completed, result.ticks) == (1, True, 14)
    assert result.tasks == (
        TaskOutcome(task="block_0", goal="block_0", success=True, end=9, order=1),
        TaskOutcome(task="block_1", goal="block_1", success=True, end=13, order=2),
        TaskOutcome(task="block_2", goal="block_2", success=False, end=None, order=None),
        TaskOutcome(task="block_3", goal="block_3", success=True, end=14, order=3),
    )


def test_tasks_go_by_class_where_layouts_change() -> None:
    result = delta(
        log(began(1, label="deliver(weight=2)"), ended(1), began(2, label=None), ended(2), goals=(goal(0, "x(y=1)"),)),
        identity="class",
        communication="negotiated",
    )
    assert [i.task for i in result.instances] == ["deliver(weight=2)", "block_1"]
    assert [(o.task, o.goal) for o in result.tasks] == [("x(y=1)", "block_0"), ("deliver(weight=2)", "block_1")]
    assert {i.communication for i in result.instances} == {"negotiated"}


@st.composite
def happenings(draw: st.DrawFn) -> list[Event]:
    """Commitments, plans and plan ends in any order that a loop could write, mixed with other events."""
    events: list[Event] = []
    running: dict[str, int] = {}
    for number in range(draw(st.integers(0, 30))):
        agent, aim = draw(st.sampled_from("abc")), draw(st.sampled_from(("block_0", "block_1")))
        tick = number // 2
        what = draw(st.sampled_from(("commit", "release", "plan", "end", "step")))
        if what == "commit":
            events.append(Commit(agent=agent, goal=aim, tick=tick))
        elif what == "release":
            events.append(Release(agent=agent, goal=aim, cause="done", tick=tick))
        elif what == "step":
            events.append(StepDone(ticks=1, score={}, tick=tick))
        elif what == "plan" and agent not in running:
            running[agent] = number
            events.append(began(number, agent, tick, goal=aim if draw(st.booleans()) else None))
        elif what == "end" and agent in running:
            status = draw(st.sampled_from(("success", "failed", "unfinished")))
            done = draw(st.booleans())
            events.append(ended(running.pop(agent), agent, tick, status=status, goal_done=done, units_left=2))
    return log(*events)


@given(happenings(), st.sampled_from(("id", "class")))
def test_news_and_the_log_give_the_same_instances(events: list[Event], identity: Any) -> None:  # noqa: ANN401
    measures: Any = {"push": (None, "units"), "meet": (None, "quorum"), "wait": (None,)}
    live = Tracker(identity, 1, "none", measures)
    seen = [result for event in events if isinstance(event, NEWS) and (result := live.see(event)) is not None]
    assert tuple(seen) == delta(events, identity=identity).instances


class Learner(Method):
    """Works on the first open job and follows the news as they come."""

    name: ClassVar[str] = "learner"
    summary: ClassVar[str] = "for tests"

    async def begin(self, briefing: Briefing) -> None:
        self.tracker = Tracker("id", briefing.episode, "none", measures=briefing.domain.measures)
        self.live: list[PlanInstance] = []

    def watch(self, moment: DecisionContext) -> Collection[AgentId]:
        self.live += [result for event in moment.news if (result := self.tracker.see(event)) is not None]
        return ()

    async def decide(self, moment: DecisionContext) -> Mapping[AgentId, Decision]:
        aim = next(goal for goal in moment.views[moment.free[0]].goals if goal.state == "open")
        assert aim.thing is not None
        for agent in moment.free:
            moment.note(Commit(agent=agent, goal=aim.id))
        return dict.fromkeys(moment.free, Choice(Plan((work(aim.thing.id, aim.units),), aim.id)))


def test_a_method_in_a_real_episode_learns_live_what_the_log_says(tmp_path: Path) -> None:
    def streams(*names: str | int) -> np.random.Generator:
        return generator(0, *names)

    method = Learner(StrictModel())
    world = ToyWorld(jobs=((3, 1), (4, 2), (50, 1)), horizon=15)
    with LogWriter(tmp_path / "log.jsonl.zst") as writer:
        setting = Setting(0, 0, 1, {}, MessageRule())
        episode = Episode(world, method, RuleReasoner(streams), WorldModel(), writer, streams, setting)
        asyncio.run(episode.play())
        writer.finish()
    learnt = delta(writer.events)
    cut = [instance for instance in learnt.instances if instance.truncated]
    assert method.live == [instance for instance in learnt.instances if not instance.truncated]
    assert len(method.live) == 4  # two agents, two jobs
    assert len(cut) == 2  # nobody sees the news after the end
    assert {instance.team for instance in learnt.instances} == {2}
    assert [outcome.success for outcome in learnt.tasks] == [True, True, False]
