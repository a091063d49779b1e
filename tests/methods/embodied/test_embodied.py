"""Embodied: how often agents are asked, who hears what and for how long, what runs on, and what is passed over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from teamworld.episode.message_delivery import MessageRule
from teamworld.language import Plan, parse_action
from teamworld.methods.common.single_action import Act
from teamworld.methods.embodied.questions import Decide, DialogueRecord, Private, Speak, Talk
from teamworld.reasoning.contract import Question
from teamworld.record import MessageSent, PlanEnd, PlanStart, QuestionAsked, ViewsShared
from teamworld.testing.episodes import Scenario
from tests.methods.single_steps import Answers, Heard, calls, of, played, prompts

LONG = Scenario("rooms", "two", 0, 30)
THREE = Scenario("cube", "n4", 0, 6)


def saying(talk: Talk, mind: str = "agent_0") -> Answers:
    """Let one agent say something in the first step; the others never say anything."""
    return {Speak: lambda question: talk if (question.respondent, question.view.t) == (mind, 0) else Talk()}


def shown(asked: list[Heard], kind: str, mind: str, t: int) -> str:
    """Return what stood under the heading of talk in a prompt."""
    prompt = next(heard.prompt for heard in asked if (heard.kind, heard.respondent, heard.t) == (kind, mind, t))
    return prompt.split("## Talk")[1].split("##")[0]


@pytest.mark.heavy
@pytest.mark.parametrize(("rounds", "each"), [(0, 1), (1, 2), (2, 3)])
def test_each_agent_is_asked_once_a_round_and_once_to_act(rounds: int, each: int) -> None:
    for stage, team in ((LONG._replace(horizon=8), 2), (THREE, 4)):
        episode, _ = played("embodied", stage=stage, rounds=rounds)
        for asked in calls(episode.events):
            assert asked["embodied.talk"] == rounds * team
            assert asked["embodied.act"] == team
            assert asked.total() == each * team


def test_with_the_reference_options_there_are_four_calls_an_agent_and_step() -> None:
    episode, _ = played("embodied:reference", stage=LONG._replace(horizon=8))
    expected = dict.fromkeys(("perception", "embodied.talk", "embodied.act", "translation"), 2)
    assert all(dict(asked) == expected for asked in calls(episode.events))


def test_a_private_message_reaches_its_recipient_alone_and_a_broadcast_everybody() -> None:
    talk = Talk(private=(Private(to="agent_2", text="for two"),), everybody="for all")
    episode, asked = played("embodied", saying(talk), THREE)
    sent = [(event.agent, event.recipients, event.text) for event in of(episode.events, MessageSent)]
    assert sent == [
        ("agent_0", ("agent_2",), "for two"),
        ("agent_0", ("agent_1", "agent_2", "agent_3"), "for all"),
    ]
    for teammate in ("agent_1", "agent_2", "agent_3"):
        said = shown(asked, "embodied.act", teammate, 0)
        assert "With everybody:\n- agent_0: «for all»" in said
        assert ("«for two»" in said) == (teammate == "agent_2")
    own = shown(asked, "embodied.act", "agent_0", 0)
    assert "With agent_2:\n- agent_0: «for two»" in own
    assert "With everybody:\n- agent_0: «for all»" in own


def test_who_speaks_later_has_heard_who_spoke_before_and_not_the_other_way_round() -> None:
    _, asked = played("embodied", saying(Talk(everybody="hello"), "agent_1"), THREE)
    assert "«hello»" in shown(asked, "embodied.talk", "agent_2", 0)
    assert "«hello»" not in shown(asked, "embodied.talk", "agent_0", 0)
    assert "«hello»" in shown(asked, "embodied.act", "agent_0", 0)


@pytest.mark.heavy
@pytest.mark.parametrize("remember", [0, 1, 2])
def test_talk_is_gone_after_so_many_steps(remember: int) -> None:
    _, asked = played("embodied", saying(Talk(everybody="hello")), THREE, remember=remember)
    lines_shown = ["«hello»" in shown(asked, "embodied.act", "agent_1", t) for t in range(6)]
    assert lines_shown == [t <= remember for t in range(6)]
    assert lines_shown == ["«hello»" in shown(asked, "embodied.talk", "agent_1", t) for t in range(6)]


@pytest.mark.parametrize("talk", [Talk(), Talk(everybody="  "), Talk(private=(Private(to="agent_1", text=""),))])
def test_empty_messages_are_not_sent(talk: Talk) -> None:
    episode, asked = played("embodied", saying(talk))
    assert not list(of(episode.events, MessageSent))
    assert not any("Not carried out" in question.prompt for question in asked)


@pytest.mark.parametrize(("to", "why"), [("agent_9", "no such team-mate"), ("agent_0", "that is yourself")])
def test_messages_to_nobody_are_passed_over_and_the_speaker_is_told_once(to: str, why: str) -> None:
    talk = Talk(private=(Private(to=to, text="hello"), Private(to="agent_1", text="you")))
    episode, asked = played("embodied", saying(talk))
    assert [event.recipients for event in of(episode.events, MessageSent)] == [("agent_1",)]
    is_told = [why in prompt for prompt in prompts(asked, "embodied.talk", respondent="agent_0")]
    assert is_told[:3] == [False, True, False]


def test_messages_take_no_time_by_its_own_rule_and_a_step_where_the_run_says_so() -> None:
    says = saying(Talk(everybody="hello"))
    free, _ = played("embodied", says, LONG._replace(horizon=3))
    assert all(event.ticks == 0 for event in of(free.events, MessageSent))
    rule = MessageRule(ticks=1, paid_by="speaker")
    paid, _ = played("embodied", says, LONG._replace(horizon=3, rule=rule))
    asked = calls(paid.events)
    assert [call["embodied.act"] for call in asked] == [2, 2, 2]
    verbs = [event.verb for event in paid.events if getattr(event, "verb", "") and event.agent == "agent_0"]  # type: ignore[union-attr]
    assert verbs[0] == "talk"
    assert "talk" not in verbs[1:]


def test_what_runs_runs_on_when_it_is_chosen_again() -> None:
    episode, _ = played("embodied", {Decide: Act(action="go((0, 10))"), Speak: Talk()}, LONG._replace(horizon=4))
    assert [start.step for start in of(episode.events, PlanStart)] == [0, 0]
    assert {end.cause for end in of(episode.events, PlanEnd)} == {"horizon"}


def test_an_answer_without_an_action_is_asked_again_and_then_nothing_for_a_step() -> None:
    episode, _ = played("embodied", {Decide: Act(action=" ")})
    assert {(start.text, start.parsed) for start in of(episode.events, PlanStart)} == {("plan { wait() }", False)}
    acts = [event for event in of(episode.events, QuestionAsked) if event.purpose == "embodied.act"]
    assert all(event.fallback and len(event.errors) == 3 for event in acts)


def test_nobody_is_given_the_views_of_others() -> None:
    episode, _ = played("embodied", stage=LONG)
    assert not list(of(episode.events, ViewsShared))


@pytest.mark.heavy
def test_who_cannot_act_is_not_asked() -> None:
    unable = 0
    for seed in range(3):
        episode, _ = played("embodied", stage=Scenario("rooms", "two-hazard", seed, 40, {"spread": 0.4}))
        team = 3
        for asked in calls(episode.events):
            assert asked["embodied.talk"] == asked["embodied.act"] <= team
            unable += asked["embodied.act"] < team
    assert unable


@pytest.mark.heavy
def test_by_the_rule_two_do_not_take_what_takes_one() -> None:
    episode, asked = played("embodied", stage=Scenario("rooms", "one", 0, 20))
    assert not list(of(episode.events, MessageSent)), "there is nobody to tell"
    episode, asked = played("embodied", stage=Scenario("cube", "n4", 1, 10))
    first = {start.agent: start.goal for start in of(episode.events, PlanStart) if start.step == 0}
    alone = {event.goal for event in episode.events if isinstance(event, PlanStart) and event.quorum == 1}
    for goal in alone - {None}:
        assert sum(taken == goal for taken in first.values()) <= 1
    assert any("takes" in question.prompt for question in asked)


def test_with_echo_nobody_reads_its_own_words_twice_and_what_was_private_stays_so() -> None:
    talk = Talk(private=(Private(to="agent_2", text="for two"),), everybody="for all")
    _, asked = played("embodied", saying(talk), THREE._replace(rule=MessageRule(echo=True)))
    own = shown(asked, "embodied.act", "agent_0", 0)
    assert own.count("«for two»") == own.count("«for all»") == 1
    assert "With agent_0:\n- agent_0: «for two»" in shown(asked, "embodied.act", "agent_2", 0)


def test_of_two_private_messages_to_one_team_mate_the_first_is_sent() -> None:
    talk = Talk(private=tuple(Private(to="agent_1", text=text) for text in ("one", "two")))
    episode, asked = played("embodied", saying(talk))
    assert [event.text for event in of(episode.events, MessageSent)] == ["one"]
    again = prompts(asked, "embodied.talk", respondent="agent_0")[1]
    assert "to agent_1: one private message at a time, the first was sent" in again


def test_a_flood_of_messages_to_nobody_stays_small() -> None:
    talk = Talk(private=tuple(Private(to=f"nobody_{number}", text="you") for number in range(2000)))
    _, asked = played("embodied", saying(talk))
    assert max(len(question.prompt) for question in asked) < 10_000


def test_who_spoke_last_is_the_same_to_both_where_words_come_late() -> None:
    stage = THREE._replace(horizon=2, rule=MessageRule(seen="next"))
    goal = Scenario("cube", "n4", 0, 6).make()
    goal.reset(0)
    wanted = goal.view("agent_0").goals[0].id
    heeds: dict[str, bool] = {}

    def says(question: Question[Any]) -> BaseModel | None:
        if isinstance(question, Speak) and question.view.t == 0 and question.respondent in ("agent_0", "agent_1"):
            return Talk(everybody="mine", goal=wanted)
        if isinstance(question, Decide) and question.view.t == 1:
            heeds[question.respondent] = wanted in question.heeded
        return Talk() if isinstance(question, Speak) else None

    played("embodied", says, stage)
    assert (heeds["agent_0"], heeds["agent_1"]) == (True, False)


@pytest.mark.parametrize("written", ["drop()", "drop", "`drop()`"])
def test_what_runs_can_be_chosen_again_in_any_words_even_where_it_could_not_begin_anew(written: str) -> None:
    world = Scenario("rooms", "two", 0, 30).make()
    world.reset(0)
    record = DialogueRecord(world.domain, {}, {}, aim=None, past=0, running=None, lines=())
    views = {"agent_0": world.view("agent_0")}
    runs = Plan((parse_action("drop()"),))
    assert Decide("agent_0", views, record).check(Act(action=written)) is not None
    assert Decide("agent_0", views, replace(record, running=runs)).check(Act(action=written)) is None


@pytest.mark.heavy
def test_a_task_that_the_speaker_has_not_seen_does_not_count() -> None:
    seen: dict[int, set[str]] = {}
    named: dict[tuple[int, str], tuple[str, bool]] = {}

    def speak(question: Speak) -> Talk:
        mine, t = {goal.id for goal in question.view.goals if goal.state == "open"}, question.view.t
        unseen = sorted(seen.get(t, set()) - mine)
        seen.setdefault(t, set()).update(mine)
        goal = (unseen or sorted(mine) or ["item_99"])[0]
        named[t, question.respondent] = goal, goal in mine
        return Talk(everybody="I take it.", goal=goal)

    episode, _ = played("embodied", {Speak: speak}, LONG)
    assert {known for _, known in named.values()} == {True, False}
    for sent in of(episode.events, MessageSent):
        goal, known = named[sent.step, sent.agent]
        assert sent.goal == (goal if known else None)
