"""HMAS-2: how often planner and agents are asked, what is carried out, what runs on, and what is passed over."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from teamworld.errors import UserError
from teamworld.experiment.spec import build
from teamworld.language import Plan, parse_action
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.methods.common.team_record import Member, TeamRecord
from teamworld.methods.common.translation import Translate, Translation
from teamworld.methods.hmas.plans import Assigned, TeamPlan
from teamworld.methods.hmas.questions import PLANNER, Judge, Opinion, PlanAll
from teamworld.reasoning.contract import Question
from teamworld.reasoning.router import ReasonerRouter, parse_routes
from teamworld.record import PlanEnd, PlanStart, QuestionAsked, QuestionSkipped, ViewsShared
from teamworld.seeding import generator
from teamworld.testing.episodes import Scenario, play
from tests.methods.single_steps import Answers, Says, Scripted, calls, of, played, prompts

LONG = Scenario("rooms", "two", 0, 30)


def objecting(times: int) -> Says:
    """Return a mind of which agent_1 objects to the first plans of each step, so many of them."""
    said: dict[int, int] = {}

    def says(question: Question[Any]) -> BaseModel | None:
        if isinstance(question, Judge) and question.respondent == "agent_1":
            t = question.view.t
            said[t] = said.get(t, 0) + 1
            return Opinion(accept=False, critique="Not that.") if said[t] <= times else Opinion(accept=True)
        return Opinion(accept=True) if isinstance(question, Judge) else None

    return says


def planning(*plans: dict[str, str]) -> Says:
    """Return a mind whose planner gives these actions at the first steps, and no action later."""

    def says(question: Question[Any]) -> BaseModel | None:
        if isinstance(question, Judge):
            return Opinion(accept=True)
        t = next(iter(question.views.values())).t
        if not isinstance(question, PlanAll) or t >= len(plans):
            return None
        return TeamPlan(actions=tuple(Assigned(agent=agent, action=text) for agent, text in plans[t].items()))

    return says


def at_first(*pairs: tuple[str, str]) -> Answers:
    """Return a planner that makes a plan of these pairs of agent and action in the first step, then by the rules."""
    plan = TeamPlan(actions=tuple(Assigned(agent=agent, action=text) for agent, text in pairs))
    return {PlanAll: lambda question: None if next(iter(question.views.values())).t else plan}


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("objections", "rounds", "made"), [(0, 3, 1), (1, 3, 2), (2, 3, 3), (9, 3, 3), (9, 1, 1), (9, 5, 5)]
)
def test_each_round_asks_the_planner_once_and_every_agent_once_but_for_the_last(
    objections: int, rounds: int, made: int
) -> None:
    episode, _ = played("hmas2", objecting(objections), LONG._replace(horizon=6), rounds=rounds, asked="all")
    for asked in calls(episode.events):
        judged = 2 * min(made, rounds - 1)  # what is said of the last plan could change nothing
        assert (asked["hmas2.plan"], asked["hmas2.feedback"], asked.total()) == (made, judged, made + judged)


def test_without_feedback_there_is_one_call_a_step() -> None:
    episode, _ = played("hmas2:central", stage=LONG)
    assert all(dict(asked) == {"hmas2.plan": 1} for asked in calls(episode.events))


def test_with_the_reference_options_all_perceive_and_each_action_is_translated() -> None:
    episode, _ = played("hmas2:reference", objecting(1), LONG._replace(horizon=8))
    expected = {"perception": 2, "hmas2.plan": 2, "hmas2.feedback": 4, "translation": 2}
    assert all(dict(asked) == expected for asked in calls(episode.events))


def test_the_last_plan_is_carried_out_when_nobody_agrees() -> None:
    made: list[str] = []

    def plan(question: PlanAll) -> TeamPlan:
        made.append(f"go((0, {len(made) % 3}))")
        return TeamPlan(actions=(Assigned(agent="agent_0", action=made[-1]),))

    refusal = Opinion(accept=False, critique="No.")
    episode, _ = played("hmas2", {Judge: refusal, PlanAll: plan}, LONG._replace(horizon=1))
    first = next(start for start in of(episode.events, PlanStart) if start.agent == "agent_0")
    assert len(made) == 3
    assert made[-1] in first.text


def test_what_is_said_of_a_plan_stands_in_the_next_prompt() -> None:
    _, asked = played("hmas2", objecting(1), LONG._replace(horizon=1))
    plans = prompts(asked, "hmas2.plan")
    assert "«Not that.»" not in plans[0]
    assert re.search(r"- agent_1: `.*agent_1 objects: «Not that.»", plans[1])
    assert re.search(r"- agent_0: `.*agent_0 accepts\.", plans[1])


def test_who_judges_reads_the_reasons_of_the_plan_and_what_it_said_of_the_one_before() -> None:
    plan = TeamPlan(reasoning="The table is near.", actions=(Assigned(agent="agent_1", action="go((0, 0))"),))
    refusal = Opinion(accept=False, critique="I hold nothing.", action="wait()")
    _, asked = played("hmas2", {Judge: refusal, PlanAll: plan}, LONG._replace(horizon=1))
    first, *later = [
        heard.prompt for heard in asked if heard.kind == "hmas2.feedback" and heard.respondent == "agent_1"
    ]
    assert "The planner's reasons: «The table is near.»" in first
    assert "What you said of earlier plans" not in first
    assert "- `go((0, 0))`: you objected: I hold nothing. You would rather `wait()`." in later[0]
    assert [prompt.count("I hold nothing.") for prompt in (first, *later)] == [
        0,
        1,
    ]  # the last plan is judged by nobody


def test_who_goes_on_as_accepted_and_sees_nothing_new_is_not_asked_again() -> None:
    go = {"agent_0": "go((0, 10))", "agent_1": "go((0, 9))"}
    episode, _ = played("hmas2", planning(go, go, go, go), LONG._replace(horizon=4))
    skipped = {(event.step, event.agent, event.cause) for event in of(episode.events, QuestionSkipped)}
    assert skipped >= {(step, agent, "goes on, nothing new") for step in (2, 3) for agent in go if step == 2}
    assert not {agent for step, agent, _ in skipped if step == 0}, "nobody has accepted anything yet"
    other = {"agent_0": "go((0, 10))", "agent_1": "go((4, 0))"}
    episode, _ = played("hmas2", planning(go, go, other), LONG._replace(horizon=3))
    assert 2 not in {event.step for event in of(episode.events, QuestionSkipped)}, "another's part is new"
    episode, _ = played("hmas2", planning(go, go, go, go), LONG._replace(horizon=4), asked="all")
    assert not list(of(episode.events, QuestionSkipped))


def test_what_runs_runs_on_when_it_is_given_again() -> None:
    go = {"agent_0": "go((0, 10))", "agent_1": "go((0, 9))"}
    episode, _ = played("hmas2", planning(go, go, go, go), LONG._replace(horizon=4))
    started = [(start.step, start.agent) for start in of(episode.events, PlanStart)]
    assert started == [(0, "agent_0"), (0, "agent_1")]
    assert {end.cause for end in of(episode.events, PlanEnd)} == {"horizon"}
    other = {"agent_0": "go((0, 10))", "agent_1": "go((4, 0))"}
    episode, _ = played("hmas2", planning(go, other), LONG._replace(horizon=2))
    assert [(start.step, start.agent) for start in of(episode.events, PlanStart)] == [*started, (1, "agent_1")]


def test_who_is_left_out_does_nothing_for_a_step() -> None:
    go = {"agent_0": "go((0, 10))", "agent_1": "go((0, 9))"}
    episode, _ = played("hmas2", planning(go, {"agent_0": "go((0, 10))"}), LONG._replace(horizon=2))
    last = list(of(episode.events, PlanStart))[-1]
    assert (last.step, last.agent, last.text, last.parsed, last.cause) == (
        1,
        "agent_1",
        "plan { wait() }",
        False,
        "left out",
    )


def test_unknown_agents_and_second_actions_are_passed_over_and_the_planner_is_told() -> None:
    pairs = [("agent_9", "wait()"), ("agent_0", "go((0, 0))"), ("agent_0", "go((4, 4))"), ("agent_1", "go((0, 1))")]
    episode, asked = played("hmas2", at_first(*pairs), LONG._replace(horizon=2))
    first = [start.text for start in of(episode.events, PlanStart) if start.step == 0]
    assert len(first) == 2
    assert "go((0, 0))" in first[0]
    complaints = prompts(asked, "hmas2.plan")[1].split("Not carried out")[1]
    assert "agent_9: no such agent" in complaints
    assert "agent_0: more than one action" in complaints


def test_the_rule_objects_to_what_cannot_be_done_and_the_planner_finds_something_else() -> None:
    drop = TeamPlan(actions=(Assigned(agent="agent_0", action="drop()"),))
    answers: Answers = {PlanAll: lambda question: None if question.rounds else drop}
    episode, _ = played("hmas2", answers, LONG._replace(horizon=1))
    opinions = [event.answer for event in of(episode.events, QuestionAsked) if event.purpose == "hmas2.feedback"]
    assert [opinion["accept"] for opinion in opinions] == [False, False, True, True]
    assert "empty_hands" in opinions[0]["critique"]
    assert all(start.parsed for start in of(episode.events, PlanStart))


def test_the_planner_sees_its_last_orders_the_state_at_each_and_what_became_of_it() -> None:
    _, asked = played("hmas2", stage=LONG._replace(horizon=25), window=2)
    plans = prompts(asked, "hmas2.plan")
    assert not re.findall(r"^- Step", plans[0], re.MULTILINE)
    assert re.search(r"^- Step 0 \(at \(\d, \d+\).*\): `.+: goes on$", plans[1], re.MULTILINE)
    assert re.search(r"^- Step \d+ .*: done$", plans[-1], re.MULTILINE)
    for record in (part.split("Does now")[0] for part in plans[-1].split("### ")[1:]):
        assert len(re.findall(r"^- Step", record, re.MULTILINE)) <= 2, "no more than the window"


def test_that_planner_and_agents_see_the_views_of_others_is_on_record() -> None:
    episode, _ = played("hmas2", stage=LONG._replace(horizon=3))
    shared = {(event.agent, event.views) for event in of(episode.events, ViewsShared)}
    assert shared == {
        (PLANNER, ("agent_0", "agent_1")),
        ("agent_0", ("agent_1",)),
        ("agent_1", ("agent_0",)),
    }


def test_the_rule_accepts_what_runs_even_where_it_could_not_begin_anew() -> None:
    world = Scenario("rooms", "two", 0, 30).make()
    world.reset(0)
    views = {agent: world.view(agent) for agent in ("agent_0", "agent_1")}
    action = parse_action("drop()")
    plan = TeamPlan(actions=(Assigned(agent="agent_0", action="drop()"),))
    known = [AgentKnowledge(view, world.domain, world.spec) for view in views.values()]
    record = TeamRecord(tuple(Member(me, is_open=True) for me in known))
    rng = generator(0, "test")
    assert "I cannot" in Judge("agent_0", views, known[0], record, plan).rule(rng).critique
    runs = replace(known[0], running=Plan((action,)))
    assert "I cannot" not in Judge("agent_0", views, runs, record, plan).rule(rng).critique


def test_a_plan_for_a_crowd_of_strangers_floods_no_prompt() -> None:
    strangers = [(f"nobody_{number}", "x" * 10_000) for number in range(1000)]
    answers = at_first(*strangers, ("agent_0", "go((0, 1))"))
    _, asked = played("hmas2", answers, LONG._replace(horizon=2), rounds=1)
    assert max(len(question.prompt) for question in asked) < 20_000


@pytest.mark.parametrize(("said", "parsed"), [("wait()", True), (None, False)])
def test_to_do_nothing_is_an_action_and_words_that_name_none_are_not(said: str | None, parsed: bool) -> None:
    rests = tuple(Assigned(agent=agent, action="take a rest") for agent in ("agent_0", "agent_1"))
    answers: Answers = {
        PlanAll: TeamPlan(actions=rests),
        Translate: Translation(action=said),
        Judge: Opinion(accept=True),
    }
    episode, _ = played("hmas2:reference", answers, LONG._replace(horizon=2))
    plans = list(of(episode.events, PlanStart))
    assert plans
    assert {(plan.text.count("wait()"), plan.parsed) for plan in plans} == {(1, parsed)}


def test_the_planner_can_have_a_mind_of_its_own() -> None:
    own, other = Scripted(), Scripted()
    text = "planner=own,*=other"
    team = ReasonerRouter(text, list(zip(parse_routes(text), (own, other), strict=True)))
    play("hmas2", LONG._replace(horizon=3), {}, lambda streams: team)
    assert {question.respondent for question in own.asked} == {PLANNER}
    assert {question.respondent for question in other.asked} == {"agent_0", "agent_1"}


def test_a_run_takes_the_planner_for_a_mind_where_there_is_one() -> None:
    settings = {"world": "rooms", "level": "two", "reasoner": "planner=rules:noise=0.5,*=rules"}
    assert build({**settings, "methods": ["hmas2", "camon"]}).resolved().reasoner == settings["reasoner"]
    with pytest.raises(UserError, match="--reasoner: no agent 'planner' in this run"):
        build({**settings, "methods": ["camon"]}).resolved()
    with pytest.raises(UserError, match=r"no agent 'planer' in this run; did you mean 'planner'\?"):
        build({**settings, "methods": ["hmas2"], "reasoner": "planer=rules,*=rules"}).resolved()


def test_an_action_may_be_for_a_task_that_the_planner_knows_of_and_its_agent_does_not() -> None:
    named: list[str] = []

    def plan(question: PlanAll) -> TeamPlan | None:
        mine, other = (question.views[agent].goals for agent in ("agent_0", "agent_1"))
        unseen = {goal.id for goal in other if goal.state == "open"} - {goal.id for goal in mine}
        named.extend(unseen)
        entries = [Assigned(agent="agent_0", action="go((0, 1))", goal=goal) for goal in sorted(unseen)[:1]]
        return TeamPlan(actions=tuple(entries)) if entries else None

    episode, _ = played("hmas2", {PlanAll: plan}, LONG)
    assert named
    assert any(plan.agent == "agent_0" and plan.goal in named for plan in of(episode.events, PlanStart))
