"""Agents that cannot act for a while, and goals that an agent was told of: what the loop makes of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from teamworld.episode.loop import Episode, Setting
from teamworld.episode.message_delivery import MessageRule
from teamworld.language import AgentId, Plan, parse_plan
from teamworld.memory.guidebook import WorldModel
from teamworld.methods.contract import WAIT, Choice, Decision, DecisionContext, Message
from teamworld.reasoning.rules import RuleReasoner
from teamworld.record import ActionStep, LogWriter, PlanEnd, PlanStart
from teamworld.seeding import generator
from teamworld.worlds.contract import WAIT as WAIT_ACTION
from teamworld.worlds.rooms.world import make
from tests.episode.test_loop import Scripted, play
from tests.toy import ToyWorld, work


def one_plan(units: int) -> Scripted:
    """A method whose agents each work on the first job, and which remembers whom it was asked about."""

    def decide(context: DecisionContext) -> Mapping[AgentId, Decision]:
        return {agent: Choice(Plan((work(0, units),), "job_0")) for agent in context.free}

    return Scripted(decide)


def test_who_cannot_act_is_not_asked_loses_its_plan_and_waits(tmp_path: Path) -> None:
    world = ToyWorld(agents=("a",), jobs=((4, 1),), unable={2: ["a"], 3: ["a"]})
    events = play(tmp_path, world, one_plan(4))
    assert [orders["a"] for orders in world.orders[:5]] == [
        work(0, 4),
        work(0, 4),
        WAIT_ACTION,
        WAIT_ACTION,
        work(0, 4),
    ]
    ends = [(event.tick, event.status, event.cause) for event in events if isinstance(event, PlanEnd)]
    assert ends[0] == (2, "interrupted", "unable")
    assert [event.tick for event in events if isinstance(event, PlanStart)] == [0, 4]


def test_the_others_are_asked_meanwhile(tmp_path: Path) -> None:
    asked: list[tuple[int, tuple[AgentId, ...]]] = []

    def decide(context: DecisionContext) -> Mapping[AgentId, Decision]:
        asked.append((context.t, tuple(context.free)))
        assert set(context.views) == {"a", "b"}  # it is still of the team
        return dict.fromkeys(context.free, WAIT)

    play(tmp_path, ToyWorld(horizon=3, unable={1: ["a"]}), Scripted(decide))
    assert asked == [(0, ("a", "b")), (1, ("b",)), (2, ("a", "b"))]


def test_a_plan_for_who_cannot_act_is_an_error_of_the_method(tmp_path: Path) -> None:
    def decide(context: DecisionContext) -> Mapping[AgentId, Decision]:
        return {agent: Choice(Plan((work(0),), "job_0")) for agent in context.views}

    with pytest.raises(ValueError, match="b cannot act and was given a plan"):
        play(tmp_path, ToyWorld(unable={0: ["b"]}), Scripted(decide))


def test_who_cannot_act_goes_on_owing_its_talk(tmp_path: Path) -> None:
    def decide(context: DecisionContext) -> Mapping[AgentId, Decision]:
        if context.t == 0:
            context.post(Message("a", "inform", "hello"))
        return {agent: Choice(Plan((work(0, 3),), "job_0")) for agent in context.free}

    world = ToyWorld(agents=("a",), jobs=((3, 1),), unable={1: ["a"]})
    events = play(tmp_path, world, Scripted(decide), MessageRule(ticks=2, paid_by="speaker"))
    verbs = [event.verb for event in events if isinstance(event, ActionStep)]
    assert verbs[:4] == ["talk", "wait", "talk", "work"]


def test_an_agent_can_take_a_plan_for_a_goal_that_it_was_told_of(tmp_path: Path) -> None:
    """In rooms agent_0 sees its room only; whoever plans for all may know of the thing in the other one."""
    world = make("one", 0, 40, {})
    world.reset(0)
    assert "deliver_1" not in {goal.id for goal in world.view("agent_0").goals}
    thing = world.goals()[1]
    cell = next(fact.value for fact in world.truth() if fact.subject == thing.thing and fact.predicate == "AT")
    plan = parse_plan(f"plan for deliver_1 {{ go({cell}); lift(<item>(1), 8); bring(<item>(1), 8) }}")

    def decide(context: DecisionContext) -> Mapping[AgentId, Decision]:
        return {agent: Choice(plan) if context.t == 0 else WAIT for agent in context.free}

    def streams(*names: str | int) -> object:
        return generator(0, *names)

    with LogWriter(tmp_path / "log.jsonl.zst") as log:
        setting = Setting(0, 0, 1, {}, MessageRule())
        rules = RuleReasoner(streams)  # type: ignore[arg-type]
        episode = Episode(world, Scripted(decide), rules, WorldModel(), log, streams, setting)  # type: ignore[arg-type]
        asyncio.run(episode.play())
        log.finish()
        events = log.events
    (begun,) = (event for event in events if isinstance(event, PlanStart))
    assert (begun.thing, begun.units, begun.dry_run_ok) == ("<item>(1)", thing.units, False)
    (ended,) = (event for event in events if isinstance(event, PlanEnd))
    assert (ended.status, ended.goal_done) == ("success", True)


def test_a_goal_that_does_not_exist_is_an_error_of_the_method(tmp_path: Path) -> None:
    def decide(context: DecisionContext) -> Mapping[AgentId, Decision]:
        return {agent: Choice(Plan((work(0),), "job_99")) for agent in context.free}

    with pytest.raises(ValueError, match="unknown goal"):
        play(tmp_path, ToyWorld(), Scripted(decide))
