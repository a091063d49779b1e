"""The loop: order, time, talk, overrides, death, and records that never depend on who answers first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from pydantic import BaseModel

from teamworld.episode.loop import Episode, Setting
from teamworld.episode.message_delivery import MessageRule
from teamworld.language import AgentId, Plan
from teamworld.memory.guidebook import WorldModel
from teamworld.methods.contract import WAIT, Briefing, Choice, Decision, DecisionContext, Message, Method, StrictModel
from teamworld.reasoning.contract import Answer, Question, Rejected, Reply, Sampling
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import (
    ActionStep,
    AgentLeft,
    Commit,
    Deliver,
    EpisodeEnd,
    Event,
    LogWriter,
    MessageSent,
    PlanEnd,
    PlanStart,
    QuestionAsked,
    Release,
    StageEntered,
    StepDone,
)
from teamworld.seeding import generator
from teamworld.worlds.contract import WAIT as WAIT_ACTION
from tests.toy import ToyWorld, work


class Scripted(Method):
    """A method made of functions, for tests."""

    name: ClassVar[str] = "scripted"
    summary: ClassVar[str] = "for tests"

    def __init__(
        self,
        decide: Callable[[DecisionContext], Mapping[AgentId, Decision]],
        watch: Callable[[DecisionContext], Collection[AgentId]] = lambda context: (),
    ) -> None:
        self._decide, self._watch = decide, watch

    def watch(self, context: DecisionContext) -> Collection[AgentId]:
        return self._watch(context)

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        return self._decide(context)


def play(
    tmp_path: Path,
    world: ToyWorld,
    method: Method,
    rule: MessageRule | None = None,
    reasoner: Any = None,  # noqa: ANN401
) -> list[Event]:
    def streams(*names: str | int) -> np.random.Generator:
        return generator(0, *names)

    setting = Setting(0, 0, 1, {}, rule or MessageRule())
    with LogWriter(tmp_path / "log.jsonl.zst") as log:
        episode = Episode(world, method, reasoner or RuleReasoner(streams), WorldModel(), log, streams, setting)
        asyncio.run(episode.play())
        log.finish()
        return log.events


def of(events: list[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def solo(context: DecisionContext) -> dict[AgentId, Decision]:
    """Everybody works on the first open job."""
    goal = next(goal for goal in context.views[context.free[0]].goals if goal.state == "open")
    assert goal.thing is not None
    plan = Plan((work(goal.thing.id, goal.units),), goal.id)
    return dict.fromkeys(context.free, Choice(plan))


def test_a_team_works_until_all_is_done(tmp_path: Path) -> None:
    events = play(tmp_path, ToyWorld(), Scripted(solo))
    assert of(events, EpisodeEnd)[0].reason == "all_done"
    assert [event.step for event in of(events, StepDone)] == list(range(len(of(events, StepDone))))
    assert {end.status for end in of(events, PlanEnd)} == {"success"}
    assert all(end.goal_done for end in of(events, PlanEnd))


def test_the_world_steps_only_when_all_are_ready(tmp_path: Path) -> None:
    events = play(tmp_path, ToyWorld(), Scripted(solo))
    stage = {}
    for event in events:
        if isinstance(event, StageEntered):
            stage[event.agent] = event.stage
        if isinstance(event, ActionStep) and event.spent:
            assert stage[event.agent] == "X"


def test_the_horizon_leaves_plans_unfinished(tmp_path: Path) -> None:
    events = play(tmp_path, ToyWorld(jobs=((50, 1),), horizon=4), Scripted(solo))
    assert of(events, EpisodeEnd)[0].reason == "horizon"
    assert {(end.status, end.cause) for end in of(events, PlanEnd)} == {("unfinished", "horizon")}
    assert len(of(events, StepDone)) == 4


def test_actions_that_cannot_start_are_passed_over_at_no_cost(tmp_path: Path) -> None:
    world = ToyWorld(agents=("a",), jobs=((1, 1), (1, 1)))

    def decide(context: DecisionContext) -> dict[AgentId, Decision]:
        plan = Plan((work(0), work(0), work(0), work(1)), "job_0")
        return {"a": Choice(plan)}

    events = play(tmp_path, world, Scripted(decide))
    assert len(of(events, StepDone)) == 2
    skipped = [event for event in of(events, ActionStep) if not event.spent]
    assert [(event.reason, event.legal) for event in skipped] == [("job_gone", False)] * 2
    assert len(of(events, PlanEnd)) == 1


def test_three_failures_in_a_row_end_a_plan_and_one_that_the_plan_or_the_world_names(tmp_path: Path) -> None:
    rules = (("continue", "job_gone", 3), ("default", "job_gone", 1), ("default", "late", 3), ("abort", "late", 1))
    for on_failure, reason, expected in rules:
        world = ToyWorld(agents=("a",), jobs=((1, 1), (9, 1)), horizon=3, ends={reason})
        done = work(0)
        plans = iter([Plan((done,), "job_0"), Plan((done,) * 5, "job_0", on_failure)])  # type: ignore[arg-type]

        def decide(
            context: DecisionContext,
            plans: Any = plans,  # noqa: ANN401
        ) -> dict[AgentId, Decision]:
            plan = next(plans, None)
            return {"a": Choice(plan) if plan is not None else WAIT}

        events = play(tmp_path, world, Scripted(decide))
        assert sum(not event.spent for event in of(events, ActionStep)) == expected


def test_a_method_that_says_nothing_waits(tmp_path: Path) -> None:
    world = ToyWorld(horizon=3)
    events = play(tmp_path, world, Scripted(lambda context: {}))
    assert world.orders == [{"a": WAIT_ACTION, "b": WAIT_ACTION}] * 3
    assert of(events, PlanStart) == []


def test_watch_interrupts_and_decide_overrides(tmp_path: Path) -> None:
    world = ToyWorld(agents=("a", "b"), jobs=((9, 1), (9, 1)), horizon=4)

    def decide(context: DecisionContext) -> dict[AgentId, Decision]:
        if context.t == 0:
            return {a: Choice(Plan((work(0, 9),), "job_0")) for a in context.free}
        assert tuple(context.free) == ("b",)
        return {a: Choice(Plan((work(1, 9),), "job_1"), cause="switch") for a in ("a", "b")}

    events = play(tmp_path, world, Scripted(decide, lambda context: ("b",) if context.t == 2 else ()))
    ends = {end.agent: (end.status, end.cause) for end in of(events, PlanEnd) if end.step == 2}
    assert ends == {"a": ("superseded", "switch"), "b": ("interrupted", "switch")}
    assert [stage.stage for stage in of(events, StageEntered) if stage.agent == "b"] == [
        "R",
        "W",
        "X",
        "I",
        "R",
        "W",
        "X",
    ]


def test_an_agent_that_dies_is_gone_for_good(tmp_path: Path) -> None:
    world = ToyWorld(jobs=((9, 1),), horizon=6, dies={"a": 2})
    events = play(tmp_path, world, Scripted(solo))
    assert [(event.agent, event.why) for event in of(events, AgentLeft)] == [("a", "fell")]
    assert all(event.agent == "b" for event in of(events, ActionStep) if event.step >= 2)
    assert of(events, PlanEnd)[0].cause == "gone"


def test_when_nobody_is_left_the_world_goes_on_to_its_end_and_nobody_is_asked(tmp_path: Path) -> None:
    asked: list[int] = []

    def decide(context: DecisionContext) -> dict[AgentId, Decision]:
        asked.append(context.t)
        return solo(context)

    world = ToyWorld(jobs=((9, 1),), horizon=6, dies={"a": 1, "b": 1})

    def watch(context: DecisionContext) -> Collection[AgentId]:
        asked.append(context.t)
        return ()

    events = play(tmp_path, world, Scripted(decide, watch))
    assert of(events, EpisodeEnd)[0].reason == "lost"
    assert [event.step for event in of(events, StepDone)] == list(range(6))
    assert max(asked) < 2
    assert world.orders[2:] == [{}] * 4


def test_commitments_still_open_at_the_end_are_released(tmp_path: Path) -> None:
    def decide(context: DecisionContext) -> dict[AgentId, Decision]:
        context.note(Commit(agent="a", goal="job_0"))
        return {}

    events = play(tmp_path, ToyWorld(horizon=1), Scripted(decide))
    assert [(event.agent, event.cause) for event in of(events, Release)] == [("a", "ended")]


def test_waiting_stops_what_runs_and_the_action_begins_anew(tmp_path: Path) -> None:
    world = ToyWorld(agents=("a",), jobs=((9, 1),), horizon=5)

    def decide(context: DecisionContext) -> dict[AgentId, Decision]:
        return {"a": Choice(Plan((work(0, 2), work(0, 3)), "job_0")) if context.t == 0 else WAIT}

    events = play(tmp_path, world, Scripted(decide, lambda context: ("a",) if context.t == 1 else ()))
    verbs = [event.verb for event in of(events, ActionStep)]
    assert verbs == ["work", "wait", "work", "work", "work"]
    assert [event.plan for event in of(events, ActionStep)] == [0, None, 0, 0, 0]
    assert next(iter(of(events, PlanEnd))).actions_done == 1


def test_rooms_and_posts_have_their_turn(tmp_path: Path) -> None:
    class Rushing(Scripted):
        async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
            async def post(agent: AgentId) -> Decision:
                context.post(Message(agent, "inform", "me first"))
                return WAIT

            return await context.together({agent: post(agent) for agent in context.free})

    with pytest.raises(RuntimeError, match="has its turn"):
        play(tmp_path, ToyWorld(horizon=1), Rushing(lambda context: {}))


# ---- talk


def test_talk_owed_is_one_action_from_start_to_end(tmp_path: Path) -> None:
    world = ToyWorld(jobs=((30, 1),), horizon=6)
    play(tmp_path, world, Scripted(speak()), MessageRule(ticks=3, paid_by="speaker"))
    assert [str(orders["a"]) for orders in world.orders] == ["talk(3)"] * 3 + ["work(<job>(0), 3)"] * 3


def speak(text: str = "hello", recipients: tuple[AgentId, ...] | None = None) -> Callable[[DecisionContext], Any]:
    def decide(context: DecisionContext) -> dict[AgentId, Decision]:
        if context.t == 0:
            context.post(Message("a", "inform", text, recipients=recipients))
        return {agent: Choice(Plan((work(0, 3),), "job_0")) for agent in context.free}

    return decide


@pytest.mark.parametrize(
    ("rule", "talks"),
    [
        (MessageRule(), {"a": 0, "b": 0}),
        (MessageRule(ticks=2, paid_by="speaker"), {"a": 2, "b": 0}),
        (MessageRule(ticks=1, paid_by="members"), {"a": 1, "b": 1}),
        (MessageRule(ticks=1, chars_per_tick=2, paid_by="speaker"), {"a": 4, "b": 0}),
        (MessageRule(ticks=1, chars_per_tick=2, maximum=2, paid_by="speaker"), {"a": 2, "b": 0}),
    ],
)
def test_payers_owe_talk_before_their_next_action(tmp_path: Path, rule: MessageRule, talks: dict[str, int]) -> None:
    world = ToyWorld(jobs=((30, 1),), horizon=8)
    events = play(tmp_path, world, Scripted(speak()), rule)
    for agent, ticks in talks.items():
        verbs = [event.verb for event in of(events, ActionStep) if event.agent == agent]
        assert verbs == ["talk"] * ticks + ["work"] * (8 - ticks)


def test_posts_reach_those_in_range_and_can_be_lost_and_echoed(tmp_path: Path) -> None:
    near = {"a": ("b",), "b": ("a",), "c": ()}
    world = ToyWorld(agents=("a", "b", "c"), near=near, horizon=1)
    sent = of(play(tmp_path, world, Scripted(speak()), MessageRule(echo=True)), MessageSent)[0]
    assert sent.recipients == ("b", "a")
    lost = of(play(tmp_path, ToyWorld(horizon=1), Scripted(speak()), MessageRule(loss=1.0)), Deliver)
    assert [(event.agent, event.dropped) for event in lost] == [("b", True)]


@pytest.mark.parametrize(("seen", "first"), [("now", 0), ("next", 1)])
def test_posts_are_seen_now_or_at_the_next_step(tmp_path: Path, seen: Any, first: int) -> None:  # noqa: ANN401
    read: list[int] = []

    def decide(context: DecisionContext) -> dict[AgentId, Decision]:
        if context.t == 0:
            context.post(Message("a", "inform", "hello"))
        if context.inbox("b"):
            read.append(context.t)
        return {}

    play(tmp_path, ToyWorld(horizon=3), Scripted(decide), MessageRule(seen=seen))
    assert read == [first]


def test_a_room_is_heard_by_its_members_alone_and_at_once(tmp_path: Path) -> None:
    def decide(context: DecisionContext) -> dict[AgentId, Decision]:
        meeting = context.open_meeting(("a", "b"))
        meeting.say(Message("a", "propose", "job_0?", "job_0"))
        assert [message.text for message in meeting.heard("b")] == ["job_0?"]
        assert meeting.heard("c") == ()
        assert context.inbox("b") == ()
        with pytest.raises(ValueError, match="not in this meeting"):
            meeting.say(Message("c", "inform", "hey"))
        with pytest.raises(ValueError, match="not here"):
            context.open_meeting(("a", "nobody"))
        return {}

    events = play(tmp_path, ToyWorld(agents=("a", "b", "c"), horizon=1), Scripted(decide))
    assert of(events, MessageSent)[0].recipients == ("b",)


# ---- concurrency


class Number(BaseModel):
    value: int


class HowMuch(Question[Number]):
    kind = "test.how_much"
    template = ""
    answer = Number
    sampling = Sampling(0.0, 1)

    def context(self) -> dict[str, Any]:
        return {}

    def rule(self, rng: np.random.Generator) -> Number:
        return Number(value=int(rng.integers(1000)))

    def check(self, answer: Number) -> str | None:
        return None

    def fallback(self) -> Number:
        return Number(value=0)


class Slow(RuleReasoner):
    """Rules that answer after delays, so that answers arrive in another order."""

    def __init__(self, streams: Any, delays: Mapping[AgentId, float]) -> None:  # noqa: ANN401
        super().__init__(streams)
        self._delays = delays

    async def ask(self, question: Question[Answer], tries: Sequence[Rejected]) -> Reply[Answer]:
        await asyncio.sleep(self._delays[question.respondent])
        return await super().ask(question, tries)


class Asking(Method):
    """Each agent asks twice, the second question after the first answer."""

    name: ClassVar[str] = "asking"
    summary: ClassVar[str] = "for tests"

    async def begin(self, briefing: Briefing) -> None:
        self.peak = self.now = 0

    async def decide(self, context: DecisionContext) -> Mapping[AgentId, Decision]:
        async def chain(agent: AgentId) -> Decision:
            self.now += 1
            self.peak = max(self.peak, self.now)
            await context.ask(HowMuch(agent, {}))
            await context.ask(HowMuch(agent, {}))
            context.note(Commit(agent=agent, goal="job_0"))
            self.now -= 1
            return WAIT

        return await context.together({agent: chain(agent) for agent in context.free})


def test_answers_that_arrive_in_another_order_leave_the_same_log(tmp_path: Path) -> None:
    def streams(*names: str | int) -> np.random.Generator:
        return generator(0, *names)

    logs = []
    for name, delays in (("one", {"a": 0.0, "b": 0.02}), ("two", {"a": 0.02, "b": 0.0})):
        (tmp_path / name).mkdir()
        method = Asking(StrictModel())
        play(tmp_path / name, ToyWorld(horizon=2), method, reasoner=Slow(streams, delays))
        assert method.peak == 2  # they were asked at the same time
        logs.append((tmp_path / name / "log.jsonl.zst").read_bytes())
    assert logs[0] == logs[1]


def test_records_of_a_branch_stay_together(tmp_path: Path) -> None:
    events = play(tmp_path, ToyWorld(horizon=1), Asking(StrictModel()))
    order = [event.agent for event in events if isinstance(event, QuestionAsked | Commit)]
    assert order == ["a", "a", "a", "b", "b", "b"]
