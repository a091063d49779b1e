"""Embodied: how often agents are asked, who hears what and for how long, what runs on, and what is passed over."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest
from pydantic import BaseModel

from teamworld.episode.message_delivery import MessageRule
from teamworld.language import Entity, Fact, Facts, Plan, parse_action
from teamworld.methods.common.knowledge import AgentKnowledge, Teammate
from teamworld.methods.common.mentions import names_open, unknown_names
from teamworld.methods.common.single_action import Act
from teamworld.methods.embodied.method import KEPT
from teamworld.methods.embodied.organisations import Organisation, organise
from teamworld.methods.embodied.questions import Decide, Elect, Private, Speak, Talk, Vote
from teamworld.reasoning.contract import Question
from teamworld.reasoning.prompts import environment
from teamworld.record import (
    Commit,
    GoalChange,
    MessageSent,
    PlanEnd,
    PlanStart,
    QuestionAsked,
    QuestionSkipped,
    ViewsShared,
)
from teamworld.testing.episodes import Scenario
from teamworld.worlds.contract import View
from tests.methods.single_steps import Answers, Heard, calls, of, played, prompts

LONG = Scenario("rooms", "two", 0, 30)
THREE = Scenario("cube", "n4", 0, 6)


def saying(talk: Talk, mind: str = "agent_0") -> Answers:
    """Let one agent say something in the first step; the others never say anything."""
    return {Speak: lambda question: talk if (question.respondent, question.view.t) == (mind, 0) else Talk()}


def shown(asked: list[Heard], kind: str, mind: str, t: int) -> str:
    """Return what stood under the heading of talk in a prompt."""
    prompt = next(heard.prompt for heard in asked if (heard.kind, heard.respondent, heard.t) == (kind, mind, t))
    return prompt.split("## What was said")[1].split("##")[0]


@pytest.mark.heavy
@pytest.mark.parametrize(("rounds", "each"), [(0, 1), (1, 2), (2, 3)])
def test_each_agent_is_asked_once_a_round_and_once_to_act(rounds: int, each: int) -> None:
    for stage, team in ((LONG._replace(horizon=8), 2), (THREE, 4)):
        episode, _ = played("embodied", stage=stage, rounds=rounds)
        skipped = Counter(event.step for event in of(episode.events, QuestionSkipped))
        for step, asked in enumerate(calls(episode.events)):
            assert asked.total() + skipped[step] == each * team
            assert asked["embodied.act"] == team
        assert calls(episode.events)[0]["embodied.talk"] >= min(1, rounds) * team, "at first all is new"
        assert sum(skipped.values()) > 0 or not rounds


def test_with_the_reference_options_there_are_four_calls_an_agent_and_step() -> None:
    episode, _ = played("embodied:reference", stage=LONG._replace(horizon=8))
    expected = dict.fromkeys(("perception", "embodied.talk", "embodied.act", "translation"), 2)
    assert dict(calls(episode.events)[0]) == expected
    assert all(count <= 2 for asked in calls(episode.events) for count in asked.values())


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
        assert "- Step 0, agent_0 to all: «for all»" in said
        assert ("«for two»" in said) == (teammate == "agent_2")
    own = shown(asked, "embodied.act", "agent_0", 0)
    assert "- Step 0, you to agent_2: «for two»" in own
    assert "- Step 0, you to all: «for all»" in own


def test_who_speaks_later_has_heard_who_spoke_before_and_not_the_other_way_round() -> None:
    _, asked = played("embodied", saying(Talk(everybody="hello"), "agent_1"), THREE)
    assert "«hello»" in shown(asked, "embodied.talk", "agent_2", 0)
    assert "«hello»" not in shown(asked, "embodied.talk", "agent_0", 0)
    assert "«hello»" in shown(asked, "embodied.act", "agent_0", 0)


@pytest.mark.heavy
@pytest.mark.parametrize("remember", [0, 1, 2])
def test_talk_is_gone_after_so_many_steps_but_the_last_message_of_each(remember: int) -> None:
    talk = Talk(private=(Private(to="agent_1", text="hello"),), everybody="at noon")
    _, asked = played("embodied", saying(talk), THREE, remember=remember)
    seen = [shown(asked, "embodied.act", "agent_1", t) for t in range(6)]
    assert ["«hello»" in text for text in seen] == [t <= remember for t in range(6)]
    assert all("- Step 0, agent_0 to all: «at noon»" in text for text in seen)


def test_the_last_messages_of_many_are_kept_of_those_who_spoke_last() -> None:
    def says(question: Question[Any]) -> BaseModel | None:
        if not isinstance(question, Speak):
            return None
        return Talk(everybody=f"{question.respondent} {question.view.t}" if question.view.t < 2 else "")

    _, asked = played("embodied", says, Scenario("cube", "n6", 0, 5))
    last = shown(asked, "embodied.act", "agent_0", 4)
    assert last.count("«") == KEPT


def test_in_a_team_of_two_what_was_private_reads_so_and_silence_has_its_time() -> None:
    talk = Talk(private=(Private(to="agent_1", text="for you"),), everybody="for all")
    _, asked = played("embodied", saying(talk), LONG)
    said = shown(asked, "embodied.act", "agent_1", 0)
    assert "- Step 0, agent_0 to you: «for you»" in said
    assert "- Step 0, agent_0 to all: «for all»" in said
    _, asked = played("embodied", {Speak: Talk()}, LONG)
    silent = [shown(asked, "embodied.act", "agent_1", t).strip() for t in (0, 1, 2)]
    assert silent == ["Nothing.", "Nothing.", "Nothing in the last 2 steps."]


def test_who_began_what_it_chose_is_not_asked_to_talk_for_that() -> None:
    says: Answers = {Decide: Act(action="go((0, 10))"), Speak: Talk()}
    _, asked = played("embodied", says, LONG._replace(horizon=2))
    assert [heard.t for heard in asked if heard.kind == "embodied.talk"] == [0, 0]


@pytest.mark.parametrize("state", ["open", "done"])
def test_what_runs_on_after_its_task_is_over_is_told_so(state: Literal["open", "done"]) -> None:
    world = LONG.make()
    world.reset(0)
    view = world.view("agent_0")
    goals = [replace(goal, state=state) for goal in view.goals]
    told = cast(View, SimpleNamespace(agent=view.agent, goals=goals, history=(), known=view.known, t=3, since=1))
    me = AgentKnowledge(told, world.domain, world.spec, running=Plan((parse_action("drop()"),), goals[0].id))
    prompt = environment().get_template("common/prompts/own.md.j2").render(me=me)
    assert ("a task that is over" in prompt) == (state == "done")


def test_tasks_that_come_next_are_taken_too() -> None:
    world = THREE.make()
    world.reset(0)
    view = world.view("agent_1")
    one, other = [goal.id for goal in view.goals if goal.capacity == 1][:2]
    mate = Teammate("agent_0", world.spec.kinds["agent_0"], commitment=one, said=0, then=(other,))
    me = AgentKnowledge(view, world.domain, world.spec, team=(mate,))
    assert me.taken == {one: ["agent_0"], other: ["agent_0"]}


@pytest.mark.parametrize("talk", [Talk(), Talk(everybody="  "), Talk(private=(Private(to="agent_1", text=""),))])
def test_empty_messages_are_not_sent(talk: Talk) -> None:
    episode, asked = played("embodied", saying(talk))
    assert not list(of(episode.events, MessageSent))
    assert not any("Not sent" in question.prompt for question in asked)


@pytest.mark.parametrize(("to", "why"), [("agent_9", "no such teammate"), ("agent_0", "that is yourself")])
def test_messages_to_nobody_are_passed_over_and_the_speaker_is_told_once(to: str, why: str) -> None:
    talk = Talk(private=(Private(to=to, text="hello"), Private(to="agent_1", text="you")))
    episode, asked = played("embodied", saying(talk))
    assert [event.recipients for event in of(episode.events, MessageSent)] == [("agent_1",)]
    is_told = [why in prompt for prompt in prompts(asked, "embodied.talk", respondent="agent_0")]
    assert is_told[:2] == [False, True]
    assert not any(is_told[2:])


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
            assert asked["embodied.talk"] <= asked["embodied.act"] <= team
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
    assert any("has said since step 0 that it takes" in question.prompt for question in asked)


def test_with_echo_nobody_reads_its_own_words_twice_and_what_was_private_stays_so() -> None:
    talk = Talk(private=(Private(to="agent_2", text="for two"),), everybody="for all")
    _, asked = played("embodied", saying(talk), THREE._replace(rule=MessageRule(echo=True)))
    own = shown(asked, "embodied.act", "agent_0", 0)
    assert own.count("«for two»") == own.count("«for all»") == 1
    assert "- Step 0, agent_0 to you: «for two»" in shown(asked, "embodied.act", "agent_2", 0)


def test_of_two_private_messages_to_one_team_mate_the_first_is_sent() -> None:
    talk = Talk(private=tuple(Private(to="agent_1", text=text) for text in ("one", "two")))
    episode, asked = played("embodied", saying(talk))
    assert [event.text for event in of(episode.events, MessageSent)] == ["one"]
    again = prompts(asked, "embodied.talk", respondent="agent_0")[1]
    assert "to agent_1: one private message at a time, the first was sent" in again


def test_a_flood_of_messages_to_nobody_stays_small() -> None:
    talk = Talk(private=tuple(Private(to=f"nobody_{number}", text="you") for number in range(2000)))
    _, asked = played("embodied", saying(talk))
    assert max(len(question.prompt) for question in asked) < 12_000


def test_who_spoke_first_is_the_same_to_both_where_words_come_late() -> None:
    stage = THREE._replace(horizon=2, rule=MessageRule(seen="next"))
    goal = Scenario("cube", "n4", 0, 6).make()
    goal.reset(0)
    wanted = goal.view("agent_0").goals[0].id
    heeds: dict[str, bool] = {}

    def says(question: Question[Any]) -> BaseModel | None:
        if isinstance(question, Speak) and question.view.t == 0 and question.respondent in ("agent_0", "agent_1"):
            return Talk(everybody="mine", goals=(wanted,))
        if isinstance(question, Decide) and question.view.t == 1:
            heeds[question.respondent] = wanted in question.taken
        return Talk() if isinstance(question, Speak) else None

    played("embodied", says, stage)
    assert (heeds["agent_0"], heeds["agent_1"]) == (False, True)


@pytest.mark.parametrize("written", ["drop()", "drop", "`drop()`"])
def test_what_runs_can_be_chosen_again_in_any_words_even_where_it_could_not_begin_anew(written: str) -> None:
    world = Scenario("rooms", "two", 0, 30).make()
    world.reset(0)
    view = world.view("agent_0")
    me, nobody = AgentKnowledge(view, world.domain, world.spec), Organisation("Nobody leads.")
    runs = replace(me, running=Plan((parse_action("drop()"),)))
    assert Decide("agent_0", {"agent_0": view}, me, nobody).check(Act(action=written)) is not None
    assert Decide("agent_0", {"agent_0": view}, runs, nobody).check(Act(action=written)) is None


def test_what_was_agreed_stays_known_until_it_is_over() -> None:
    wanted = ("block_0", "block_1")

    def says(question: Question[Any]) -> BaseModel | None:
        if not isinstance(question, Speak):
            return None
        first = (question.respondent, question.view.t) == ("agent_0", 0)
        return Talk(everybody="Hello.", goals=wanted) if first else Talk()

    episode, asked = played("embodied", says, THREE._replace(horizon=150))
    sent = list(of(episode.events, MessageSent))
    assert [event.text for event in sent] == ["Hello. I take block_0, then block_1."], "what is sent is what is counted"
    over = next(
        event.step for event in of(episode.events, GoalChange) if (event.goal, event.event) == ("block_0", "done")
    )
    for question in asked:
        if question.respondent == "agent_1":
            stands = "agent_0: has said since step 0 that it takes block_0, then block_1" in question.prompt
            assert stands == (question.t <= over)
    assert any(
        "You have said since step 0 that you take block_0, then block_1." in question.prompt for question in asked
    )
    bound = [(event.agent, event.goal) for event in of(episode.events, Commit)]
    assert bound[0] == ("agent_0", "block_0")


@pytest.mark.parametrize("nothing", ["nothing", "None.", "n/a", "no message", '"null"'])
def test_a_message_that_says_that_there_is_none_is_not_sent(nothing: str) -> None:
    talk = Talk(private=(Private(to="agent_1", text=nothing),), everybody=nothing)
    episode, _ = played("embodied", saying(talk))
    assert not list(of(episode.events, MessageSent))


def test_where_nobody_can_talk_no_prompt_says_otherwise() -> None:
    _, asked = played("embodied:silent")
    assert all("Nobody can talk; each chooses alone." in prompt for prompt in prompts(asked, "embodied.act"))


def test_who_is_alone_is_not_asked_what_to_say() -> None:
    episode, asked = played("embodied", stage=Scenario("rooms", "one", 0, 20))
    assert not prompts(asked, "embodied.talk")
    assert {event.cause for event in of(episode.events, QuestionSkipped)} == {"alone"}


def test_who_leads_asks_and_the_others_do_what_it_asks() -> None:
    def says(question: Question[Any]) -> BaseModel | None:
        if not isinstance(question, Speak):
            return None
        orders = tuple(Private(to=f"agent_{number}", text="Go.", goal="block_0") for number in (1, 2, 3))
        return Talk(private=orders) if question.leads and question.view.t == 0 else Talk()

    episode, asked = played("embodied:leader", says, THREE)
    assert all("Leaders: agent_0." in prompt for prompt in prompts(asked, "embodied.talk"))
    assert [event.text for event in of(episode.events, MessageSent)] == ["Go. Please take block_0."] * 3
    chosen = {start.agent: start.goal for start in of(episode.events, PlanStart) if start.step == 0}
    assert [chosen[f"agent_{number}"] for number in (1, 2, 3)] == ["block_0"] * 3
    assert "agent_0 asked you at step 0 to take block_0." in prompts(asked, "embodied.act", respondent="agent_1")[1]
    own = ", ".join(f"agent_{number} at step 0 to take block_0" for number in (1, 2, 3))
    assert f"You asked {own}." in prompts(asked, "embodied.act", respondent="agent_0")[1]
    assert all("agent_0 leads" in prompt for prompt in prompts(asked, "embodied.act"))


def test_two_leaders_share_the_team() -> None:
    both = organise("two_leaders", ("a", "b", "c", "d", "e"))
    assert both.leaders == ("a", "b")
    assert both.followers("a", ("a", "b", "c", "d", "e")) == ("a", "c", "e")
    assert both.followers("b", ("a", "b", "c", "d", "e")) == ("b", "d")
    assert organise("leader", ("a",)).leaders == ()


def test_the_team_elects_a_leader_and_again_after_its_term() -> None:
    votes = {0: "agent_1", 3: "agent_2"}

    def says(question: Question[Any]) -> BaseModel | None:
        if isinstance(question, Elect):
            return Vote(leader=votes[question.view.t], reason="It is near.")
        return None

    episode, asked = played("embodied:elected", says, THREE, term=3)
    assert [(heard.t, heard.respondent) for heard in asked if heard.kind == "embodied.vote"] == [
        (t, f"agent_{number}") for t in (0, 3) for number in range(4)
    ]
    leaders = ["agent_1"] * 3 + ["agent_2"] * 3
    for t, leader in enumerate(leaders):
        acts = [heard.prompt for heard in asked if heard.kind == "embodied.act" and heard.t == t]
        again = f"Leaders: {leader}.{' The team votes again at step 3.' if t < 3 else ''}\n"
        assert all(again in prompt for prompt in acts)
    assert "I vote for agent_1: It is near." in {event.text for event in of(episode.events, MessageSent)}


def test_who_gives_no_answer_gives_no_vote() -> None:
    episode, _ = played("embodied:elected", {Elect: Elect.fallback}, THREE)
    votes = [event.text for event in of(episode.events, MessageSent) if event.act == "other"]
    assert votes == [f"agent_{number} did not vote." for number in range(4)]


@pytest.mark.heavy
def test_a_task_that_the_speaker_has_not_seen_does_not_count() -> None:
    seen: set[str] = set()
    named: dict[tuple[int, str], tuple[str, bool]] = {}

    def speak(question: Speak) -> Talk:
        mine, t = {goal.id for goal in question.view.goals if goal.state == "open"}, question.view.t
        unseen = sorted(seen - {goal.id for goal in question.view.goals})
        seen.update(mine)
        goal = (unseen or sorted(mine) or ["item_99"])[0]
        named[t, question.respondent] = goal, goal in mine
        return Talk(everybody="I take it.", goals=(goal,))

    episode, _ = played("embodied", {Speak: speak}, LONG)
    assert {known for _, known in named.values()} == {True, False}
    for sent in of(episode.events, MessageSent):
        goal, known = named[sent.step, sent.agent]
        assert sent.goal == (goal if known else None)
        assert (goal in sent.text) == known


def test_what_was_told_of_an_open_task_can_be_read_until_it_is_over() -> None:
    stage = LONG._replace(horizon=12)
    finds = "item_0 lies at (0, 2)."

    def says(question: Question[Any]) -> BaseModel | None:
        if not isinstance(question, Speak):
            return None
        return Talk(everybody=next(texts, "") if question.respondent == "agent_0" else "")

    texts = iter((finds, "I look around."))
    _, asked = played("embodied", says, stage, remember=0)
    later = shown(asked, "embodied.act", "agent_1", stage.horizon - 1)
    assert finds in later
    assert "I look around." in later, "the last message stays too"
    goals = [
        SimpleNamespace(id="deliver_0", thing=Entity("item", 0), state=state, features=()) for state in ("open", "done")
    ]
    assert [names_open(finds, cast(Any, [goal])) for goal in goals] == [True, False]
    assert not names_open("item_01 and deliver_00", cast(Any, goals[:1]))


def test_who_is_asked_to_speak_again_is_told_what_is_new() -> None:
    _, asked = played("embodied", saying(Talk(everybody="hello")), LONG)
    talks = {(heard.t, heard.respondent): heard.prompt for heard in asked if heard.kind == "embodied.talk"}
    assert "New since you" not in talks[0, "agent_0"] + talks[0, "agent_1"]
    again = [prompt for (t, _), prompt in talks.items() if t]
    assert again
    assert all("New since you were last asked to speak: " in prompt for prompt in again)
    assert any("first seen" in prompt.split("New since you")[1] for prompt in again)


def test_tasks_are_said_to_be_the_readers_own_knowledge_where_not_all_know_the_same() -> None:
    _, private = played("embodied", stage=LONG._replace(horizon=1))
    _, together = played("embodied", stage=THREE._replace(horizon=1))
    assert all("## Open tasks, as you saw them yourself" in heard.prompt for heard in private)
    assert not any("as you saw them" in heard.prompt for heard in together)


def test_what_was_told_of_a_thing_not_found_yet_can_be_read_whatever_is_said_later() -> None:
    stage = LONG._replace(horizon=16)
    finds = "item_9 lies at (0, 2)."

    def says(question: Question[Any]) -> BaseModel | None:
        if not isinstance(question, Speak):
            return None
        return Talk(everybody=next(texts, "") if question.respondent == "agent_0" else "")

    texts = iter((finds, "I take deliver_0.", "deliver_0 goes on.", "deliver_0 is hard."))
    _, asked = played("embodied", says, stage, remember=0)
    assert finds in shown(asked, "embodied.act", "agent_1", stage.horizon - 1)
    goals = [
        SimpleNamespace(id="deliver_0", thing=Entity("item", 0), state=state, features=()) for state in ("open", "done")
    ]
    seen = Facts([Fact(Entity("item", 3), "AT", (0, 2))])
    is_new, over = (unknown_names(seen, cast(Any, [goal])) for goal in goals)
    told = (finds, "item_3 is here", "deliver_0", "agent_1 and step_7")
    assert [is_new(text) for text in told] == [True, False, False, False]
    assert not over(finds)
