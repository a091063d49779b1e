"""CAMON: who leads, what is asked of whom and how often, reviews and orders that hold, and what is passed over."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from teamworld.methods.camon.method import HEARD, Camon
from teamworld.methods.camon.options import CamonOptions
from teamworld.methods.camon.questions import Lead, LeaderPlan, Order, Proposal, Propose, Review, ReviewProposal
from teamworld.reasoning.contract import Question
from teamworld.record import AgentLeft, Event, MessageSent, PlanEnd, PlanStart, QuestionAsked, ViewsShared
from teamworld.testing.episodes import Scenario
from tests.methods.single_steps import Answers, calls, of, played, prompts, steps

LONG = Scenario("rooms", "two", 0, 40)
BURNING = Scenario("rooms", "two-hazard", 0, 40, {"spread": 0.4})


def moves(events: list[Event]) -> list[PlanStart]:
    return list(of(events, PlanStart))


@pytest.mark.heavy
@pytest.mark.parametrize("stage", [LONG, BURNING, Scenario("cube", "n4", 0, 30)])
def test_a_leader_is_asked_once_and_anybody_else_twice(stage: Scenario) -> None:
    episode, _ = played("camon", stage=stage, orders=False)
    settled: dict[int, list[str]] = {step: [] for step in range(steps(episode.events))}
    for start in moves(list(episode.events)):
        settled[start.step].append(start.cause)
    for asked, causes in zip(calls(episode.events), settled.values(), strict=True):
        led = causes.count("leads")
        others = len(causes) - led - causes.count("one option")
        assert asked["camon.lead"] == led <= 1
        assert asked["camon.propose"] == asked["camon.review"] == others
        assert asked.total() == led + 2 * others


@pytest.mark.heavy
@pytest.mark.parametrize("stage", [LONG, BURNING])
def test_with_the_reference_options_all_perceive_at_every_step_and_each_action_is_translated(stage: Scenario) -> None:
    episode, _ = played("camon", stage=stage, orders=False, perceive="all", translate="mind")
    gone = [event.step for event in of(episode.events, AgentLeft)]
    for step, asked in enumerate(calls(episode.events)):
        living = len(set(episode.events[0].team)) - sum(at < step for at in gone)  # type: ignore[union-attr]
        leads, others = asked["camon.lead"], asked["camon.propose"]
        assert asked["perception"] == living if stage is LONG else asked["perception"] <= living  # smoke overcomes some
        assert asked.total() == asked["perception"] + 2 * leads + 3 * others


def test_those_about_to_decide_perceive_where_that_is_asked_for() -> None:
    episode, _ = played("camon", stage=LONG, orders=False, perceive="deciding")
    for asked in calls(episode.events):
        assert asked["perception"] == asked["camon.lead"] + asked["camon.propose"]


def test_the_first_leads_and_whoever_has_proposed_leads_next() -> None:
    episode, _ = played("camon", stage=LONG)
    leader = "agent_0"
    for event in of(episode.events, QuestionAsked):
        if event.purpose in ("camon.lead", "camon.review"):
            assert event.agent == leader
        if event.purpose == "camon.propose":
            assert event.agent != leader
            proposer = event.agent
        if event.purpose == "camon.review":
            leader = proposer
    assert sum(event.purpose == "camon.review" for event in of(episode.events, QuestionAsked)) > 3


def test_only_the_leader_is_given_the_views_of_others_and_that_is_on_record() -> None:
    episode, _ = played("camon", stage=LONG)
    shared = [(event.step, event.purpose, event.views) for event in of(episode.events, ViewsShared)]
    asked = [event for event in of(episode.events, QuestionAsked) if event.purpose in ("camon.lead", "camon.review")]
    assert len(shared) == len(asked)
    assert {purpose for _, purpose, _ in shared} == {"camon.lead", "camon.review"}
    assert {len(views) for _, _, views in shared} == {1}


def test_what_the_leader_rejects_is_not_done_and_what_it_says_is() -> None:
    review = Review(decision="REJECT", action="go((4, 4))", message="No corner: the other one.")
    episode, _ = played("camon", {Propose: Proposal(action="go((0, 0))"), ReviewProposal: review})
    first = next(start for start in moves(list(episode.events)) if start.agent == "agent_1")
    assert ("go((4, 4))" in first.text, first.cause) == (True, "rejected")
    said = [(event.agent, event.act, event.recipients) for event in of(episode.events, MessageSent)]
    assert said[:2] == [("agent_1", "propose", ("agent_0",)), ("agent_0", "reject", ("agent_1",))]


def test_what_the_leader_accepts_is_done_word_for_word() -> None:
    review = Review(decision="ACCEPT", action="go((4, 4))")
    episode, _ = played("camon", {Propose: Proposal(action="I would go to (0, 0)"), ReviewProposal: review})
    first = next(start for start in moves(list(episode.events)) if start.agent == "agent_1")
    assert ("go((0, 0))" in first.text, first.cause) == (True, "accepted")
    assert not [event for event in of(episode.events, MessageSent) if event.act == "accept"], "nothing to say"


def ordering(*orders: Order) -> Answers:
    """Let the leader give orders at step 0, when agent_1 is idle, and from then on none."""
    return {LeaderPlan: lambda question: Lead(action="wait()", orders=orders if question.view.t == 0 else ())}


def test_who_was_ordered_before_its_turn_is_not_asked() -> None:
    order = Order(agent="agent_1", action="go((4, 4))", message="To the corner.")
    episode, _ = played("camon", ordering(order))
    assert [event.purpose for event in of(episode.events, QuestionAsked) if event.step == 0] == ["camon.lead"]
    ordered = [start for start in moves(list(episode.events)) if start.cause == "ordered"]
    assert [(start.agent, "go((4, 4))" in start.text) for start in ordered] == [("agent_1", True)]
    said = [event for event in of(episode.events, MessageSent) if event.act == "request"]
    assert [(event.agent, event.recipients, event.text) for event in said] == [
        ("agent_0", ("agent_1",), "To the corner.")
    ]


def test_an_order_stops_what_a_busy_agent_does_and_an_equal_one_does_not() -> None:
    def lead(question: LeaderPlan, again: str) -> Lead:
        text = "go((0, 10))" if question.view.t == 0 else again
        order = Order(agent="agent_1", action=text, message="Please.")
        return Lead(action="wait()", orders=(order,) if question.view.t in (0, 1) else ())

    equal, _ = played("camon", {LeaderPlan: lambda question: lead(question, "go((0, 10))")})
    other, _ = played("camon", {LeaderPlan: lambda question: lead(question, "go((0, 0))")})
    ends = [(end.step, end.status, end.cause) for end in of(equal.events, PlanEnd) if end.agent == "agent_1"]
    assert all(step > 1 for step, _, _ in ends)
    ends = [(end.step, end.status, end.cause) for end in of(other.events, PlanEnd) if end.agent == "agent_1"]
    assert ends[0] == (1, "superseded", "ordered")


VOID = [
    Order(agent="agent_9", action="wait()", message="You there."),
    Order(agent="agent_0", action="wait()", message="Myself."),
    Order(agent="agent_1", action="", message="Do something."),
    Order(agent="agent_1", action="go((4, 4))", message=" "),
    Order(agent="agent_1", action="lift(<item>(7))", message="Lift what is not there."),
]


@pytest.mark.heavy
@pytest.mark.parametrize("order", VOID)
def test_orders_that_cannot_be_carried_out_are_passed_over_and_the_leader_is_told(order: Order) -> None:
    episode, asked = played("camon", ordering(order))
    assert not [event for event in of(episode.events, MessageSent) if event.act == "request" and event.step == 0]
    assert not [start for start in moves(list(episode.events)) if start.cause == "ordered" and start.step == 0]
    again = prompts(asked, "camon.lead", "camon.review", respondent="agent_0")
    assert order.agent in again[1].split("Not carried out")[1]


def test_a_proposal_that_never_comes_is_nothing_and_the_leader_may_know_better() -> None:
    episode, _ = played("camon", {Propose: Propose.fallback, LeaderPlan: LeaderPlan.fallback})
    first = {start.agent: start for start in reversed(moves(list(episode.events))) if start.step == 0}
    assert (first["agent_0"].text, first["agent_0"].parsed) == ("plan { wait() }", False)
    assert first["agent_1"].cause == "rejected"
    assert first["agent_1"].parsed


@pytest.mark.parametrize(("living", "able", "leads"), [("abc", "abc", "b"), ("ac", "ac", "a"), ("abc", "ac", "a")])
def test_where_the_leader_is_gone_or_cannot_act_the_first_that_can_leads(living: str, able: str, leads: str) -> None:
    method = Camon(CamonOptions())
    method._agents, method.leader = tuple("abc"), "b"
    views = {agent: SimpleNamespace(is_able=agent in able) for agent in living}
    method._succeed(SimpleNamespace(views=views))
    assert method.leader == leads


def test_without_reviews_none_is_asked_for() -> None:
    episode, _ = played("camon:no_review", stage=LONG)
    assert not [event for event in of(episode.events, QuestionAsked) if event.purpose == "camon.review"]


#: What an agent is asked about its own action.
OWN = ("camon.propose", "camon.lead")
#: A leader who rejects everything, in the same words, and gives no orders.
REJECTING: Answers = {
    ReviewProposal: Review(decision="REJECT", action="go((4, 4))", message="Not there."),
    LeaderPlan: Lead(action="go((0, 0))"),
}


@pytest.mark.parametrize("options", [{}, {"perceive": "all"}], ids=str)
def test_the_word_of_a_leader_stays_with_whom_it_was_told_and_with_who_said_it(options: dict[str, Any]) -> None:
    episode, asked = played("camon", REJECTING, LONG._replace(horizon=30), **options)
    sent = [event for event in of(episode.events, MessageSent) if event.act == "reject"]
    for agent, other in (("agent_0", "agent_1"), ("agent_1", "agent_0")):
        step = next(event.step for event in sent if event.recipients == (agent,))
        for reader, line in ((agent, f"{other} to you"), (other, f"you to {agent}")):
            later = [heard for heard in asked if heard.respondent == reader and heard.kind in OWN and heard.t > step]
            assert later
            assert f"- Step {step}, {line}: «Not there.»" in later[0].prompt
    assert 1 < max(prompt.count("«Not there.»") for prompt in prompts(asked, *OWN)) <= HEARD


def test_a_proposal_is_read_in_its_review_and_afterwards_by_both_in_what_was_said() -> None:
    _, asked = played("camon", {Propose: Proposal(action="wait()", message="The table is in room 1.")}, LONG)
    reviews = prompts(asked, "camon.review")
    assert reviews[0].count("The table is in room 1.") == 1
    assert "## What was said\nNothing." in reviews[0]
    again = [heard for heard in asked if heard.kind == "camon.propose" and heard.respondent == "agent_1"]
    assert "you to agent_0: «I propose wait(). The table is in room 1.»" in again[1].prompt


@pytest.mark.parametrize(
    ("review", "by_proposer", "by_leader"),
    [
        (Review(decision="ACCEPT"), ", accepted", ", accepted"),
        (
            Review(decision="REJECT", action="go((4, 4))"),
            ", changed by agent_0 to go((4, 4))",
            ", changed by you to go((4, 4))",
        ),
    ],
    ids=["accepted", "changed"],
)
def test_both_read_later_what_a_leader_made_of_a_proposal(review: Review, by_proposer: str, by_leader: str) -> None:
    _, asked = played("camon", {Propose: Proposal(action="go((0, 0))"), ReviewProposal: review}, LONG)
    later = [heard for heard in asked if heard.kind in OWN and heard.t]
    proposer = next(heard for heard in later if heard.respondent == "agent_1")
    leader = next(heard for heard in later if heard.respondent == "agent_0")
    assert f"- Step 0, you to agent_0: «I propose go((0, 0)).»{by_proposer}\n" in proposer.prompt
    assert f"- Step 0, agent_1 to you: «I propose go((0, 0)).»{by_leader}\n" in leader.prompt


def test_the_record_tells_who_accepted_what_an_agent_proposed() -> None:
    _, asked = played("camon", {ReviewProposal: Review(decision="ACCEPT")}, LONG)
    assert any("own proposal, accepted by agent_0" in prompt for prompt in prompts(asked, "camon.lead", "camon.review"))


def test_where_all_see_the_same_no_prompt_says_what_counts_of_what_is_told() -> None:
    for stage, is_said in ((LONG, True), (Scenario("cube", "paper-n2", 0, 6), False)):
        _, asked = played("camon", stage=stage)
        for kind in ("camon.lead", "camon.propose", "camon.review"):
            assert {"told of does not count" in prompt for prompt in prompts(asked, kind)} <= {is_said}, kind


def test_a_leader_reads_what_was_ordered_and_what_became_of_it() -> None:
    order = Order(agent="agent_1", action="go((4, 4))", message="To the corner.")
    _, asked = played("camon", ordering(order), LONG)
    leading = [heard.prompt for heard in asked if heard.kind in ("camon.lead", "camon.review") and heard.t]
    found = [
        prompt
        for prompt in leading
        if re.search(r"- Step 0.*order of agent_0: `go\(\(4, 4\)\)`.*: (goes on|done)", prompt)
    ]
    assert found


@pytest.mark.parametrize("empty", ["nothing", "None", "n/a", "(no message)", "null.", "-"])
def test_a_message_that_says_it_is_nothing_is_not_sent(empty: str) -> None:
    review = Review(decision="REJECT", action="go((4, 4))", message=empty)
    episode, _ = played("camon", {ReviewProposal: review, LeaderPlan: Lead(action="wait()")})
    assert not [event for event in of(episode.events, MessageSent) if event.act == "reject"]
    order = Order(agent="agent_1", action="go((4, 4))", message=empty)
    episode, _ = played("camon", ordering(order))
    assert not [event for event in of(episode.events, MessageSent) if event.act == "request"], "an order needs words"


def test_an_order_is_read_by_whoever_was_given_it() -> None:
    order = Order(agent="agent_1", action="go((0, 10))", message="To the corner.")
    _, asked = played("camon", ordering(order), LONG)
    first = next(question for question in asked if question.respondent == "agent_1" and question.t)
    assert "agent_0 to you: «To the corner.»" in first.prompt


def test_of_two_orders_to_one_agent_the_first_counts_and_the_leader_is_told() -> None:
    orders = [Order(agent="agent_1", action=text, message=text) for text in ("go((4, 4))", "go((0, 0))")]
    episode, asked = played("camon", ordering(*orders))
    ordered = [start.text for start in moves(list(episode.events)) if start.cause == "ordered" and start.step == 0]
    assert len(ordered) == 1
    assert "go((4, 4))" in ordered[0]
    assert [event.text for event in of(episode.events, MessageSent) if event.step == 0] == ["go((4, 4))"]
    complaints = [prompt for prompt in prompts(asked, "camon.lead", "camon.review") if "Not carried out" in prompt]
    assert "agent_1: more than one order" in complaints[0]


def test_a_flood_of_orders_or_words_stays_small() -> None:
    orders = [Order(agent=f"nobody_{number}", action="wait()", message="You.") for number in range(2000)]

    proposal = Proposal(action="go((4, 4)) " + "x" * 10_000)
    episode, asked = played("camon", {Propose: proposal, **ordering(*orders)})
    assert max(len(event.text) for event in of(episode.events, MessageSent)) < 2000
    assert max(len(question.prompt) for question in asked) < 20_000


def test_a_leader_on_standby_orders_itself_to_where_the_proposer_needs_it() -> None:
    episode, asked = played("camon", stage=Scenario("cube", "paper-n2", 0, 40))
    reviewed = {
        (event.step, event.agent) for event in of(episode.events, QuestionAsked) if event.purpose == "camon.review"
    }
    ordered = [start for start in moves(list(episode.events)) if start.cause == "ordered"]
    assert any((start.step, start.agent) in reviewed and start.goal == "block_0" for start in ordered)
    assert any(
        "If you yourself (by your own name) should do something other" in prompt
        for prompt in prompts(asked, "camon.review")
    )
    said = [event for event in of(episode.events, MessageSent) if event.recipients == (event.agent,)]
    assert not said, "nobody talks to itself"


@pytest.mark.heavy
def test_without_orders_no_prompt_asks_for_any_and_no_rule_gives_any() -> None:
    episode, asked = played("camon:no_orders", stage=BURNING)
    leading = prompts(asked, "camon.lead", "camon.review")
    assert leading
    assert not [prompt for prompt in leading if "order it" in prompt]
    answers = [event.answer for event in of(episode.events, QuestionAsked) if event.purpose == "camon.review"]
    assert not [answer for answer in answers if answer.get("orders")]
    _, asked = played("camon", stage=LONG)
    assert all("order it" in prompt for prompt in prompts(asked, "camon.lead"))
    two = prompts(asked, "camon.review")
    assert not [prompt for prompt in two if "a third agent" in prompt], "there is no third"
    _, asked = played("camon", stage=Scenario("cube", "n4", 0, 12))
    assert all("If a third agent" in prompt for prompt in prompts(asked, "camon.review"))


def test_without_reviews_whoever_proposes_is_told_that_nobody_decides_for_it() -> None:
    _, with_it = played("camon", stage=LONG)
    _, without = played("camon:no_review", stage=LONG)
    says = [{"and decides" in prompt for prompt in prompts(asked, "camon.propose")} for asked in (with_it, without)]
    assert says == [{True}, {False}]


def test_a_review_tells_whose_abilities_it_shows() -> None:
    _, asked = played("camon", stage=LONG)
    review = prompts(asked, "camon.review")[0]
    assert "## What a carrier can do" in review
    assert "## What makes sense now for agent_1" in review


@pytest.mark.parametrize("review", [True, False])
def test_a_task_counts_if_whoever_decides_can_know_of_it(review: bool) -> None:
    known: set[str] = set()
    named: list[tuple[int, str]] = []

    def says(question: Question[Any]) -> BaseModel | None:
        if isinstance(question, LeaderPlan | ReviewProposal):
            known.update(goal.id for view in question.views.values() for goal in view.goals if goal.state == "open")
        if isinstance(question, ReviewProposal):
            return Review(decision="ACCEPT")
        unseen = known - {goal.id for goal in question.view.goals}
        if isinstance(question, Propose) and question.respondent == "agent_1" and unseen and not named:
            named.append((question.view.t, min(unseen)))
            return Proposal(action="wait()", goal=min(unseen))
        stays = Proposal if isinstance(question, Propose) else Lead
        return stays(action="wait()") if question.respondent == "agent_1" else None

    episode, _ = played("camon", says, LONG, review=review, orders=False)
    (t, goal), *_ = named
    settled = [start.goal for start in moves(list(episode.events)) if (start.step, start.agent) == (t, "agent_1")]
    assert settled == [goal if review else None]
    proposals = [event for event in of(episode.events, MessageSent) if event.act == "propose"]
    goals = [event.goal for event in proposals if (event.step, event.agent) == (t, "agent_1")]
    assert goals == [None], "the proposer has not seen it"
