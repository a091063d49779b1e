"""CMAS, DMAS and HMAS-1, and what an agent objects to by the rules of all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import cast

import pytest

from teamworld.episode.message_delivery import MessageRule
from teamworld.language import Action, AgentId, Plan, parse_action, plain
from teamworld.methods.common.knowledge import AgentKnowledge, list_teammates
from teamworld.methods.common.single_action import read_act
from teamworld.methods.common.team_record import MOST, Member, OrderBook, TeamRecord, name_agent
from teamworld.methods.hmas.plans import Assigned, TeamPlan, find_objection
from teamworld.methods.hmas.questions import (
    PLANNER,
    CmasPlan,
    DmasTurn,
    Hmas1Plan,
    Judge,
    Opinion,
    PlanAll,
    Round,
    TurnAnswer,
)
from teamworld.planning.conflicts import Conflict, Intent, find_conflict, slowed_rate
from teamworld.reasoning.prompts import render
from teamworld.record import MessageSent, PlanStart, QuestionAsked, QuestionSkipped, ViewsShared
from teamworld.seeding import generator
from teamworld.testing.episodes import Scenario
from teamworld.worlds.contract import Option, Outcome, View
from tests.methods.single_steps import calls, of, played, prompts

LONG = Scenario("rooms", "two", 0, 12)
RNG = generator(0, "test")


def known(world: str = "rooms", level: str = "two") -> dict[AgentId, AgentKnowledge]:
    """Return what each agent knows at the start."""
    made = Scenario(world, level, 0, 60).make()
    made.reset(0)
    spec = made.spec
    return {
        agent: AgentKnowledge(made.view(agent), made.domain, spec, list_teammates(spec, agent, spec.agents))
        for agent in spec.agents
    }


def record_of(team: Mapping[AgentId, AgentKnowledge]) -> TeamRecord:
    return TeamRecord(tuple(Member(me, is_open=True) for me in team.values()))


def planned(**actions: str) -> TeamPlan:
    return TeamPlan(actions=tuple(Assigned(agent=agent, action=text) for agent, text in actions.items()))


# ---- who is asked


def test_in_cmas_the_planner_is_asked_once_a_step_and_nobody_else() -> None:
    episode, asked = played("cmas", stage=LONG)
    assert all(dict(found) in ({"cmas.plan": 1}, {}) for found in calls(episode.events))
    assert {heard.respondent for heard in asked} == {PLANNER}
    assert not list(of(episode.events, MessageSent))
    central, _ = played("hmas2:central", stage=LONG)
    starts = [[(e.step, e.agent, e.text) for e in of(one.events, PlanStart)] for one in (episode, central)]
    assert starts[0] == starts[1]


def test_in_dmas_the_agents_speak_in_turns_and_the_last_word_is_carried_out() -> None:
    say = {"agent_0": "go((0, 0))", "agent_1": "go((0, 1))"}

    def turn(question: DmasTurn) -> TurnAnswer:
        agent = question.respondent
        own = (Assigned(agent=agent, action=say[agent]),)
        return TurnAnswer(text=f"I am {agent}.", actions=own, final=agent == "agent_1")

    episode, asked = played("dmas", {DmasTurn: turn}, LONG._replace(horizon=1))
    assert [heard.respondent for heard in asked] == ["agent_0", "agent_1"]
    assert "I am agent_0. I propose: agent_0 go((0, 0))." in asked[1].prompt
    assert "- agent_0: «go((0, 0))»" in asked[1].prompt.split("What stands proposed")[1]
    sent = [event.text for event in of(episode.events, MessageSent)]
    assert sent == [f"I am {a}. I propose: {a} {say[a]}.{' Settled.' if a == 'agent_1' else ''}" for a in say]
    assert {start.agent: start.text for start in of(episode.events, PlanStart)} == {
        agent: next(start.text for start in of(episode.events, PlanStart) if start.agent == agent) for agent in say
    }
    assert all(say[start.agent] in start.text for start in of(episode.events, PlanStart))


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_talk_has_so_many_turns_and_the_last_one_is_told_to_end_it(rounds: int) -> None:
    def turn(question: DmasTurn) -> TurnAnswer:
        own = (Assigned(agent=question.respondent, action="wait()"),)
        return TurnAnswer(actions=own, final=question.turns_left == 1)

    _, asked = played("dmas", {DmasTurn: turn}, LONG._replace(horizon=1), rounds=rounds)
    assert len(asked) == 2 * rounds
    assert [("This is the last turn" in heard.prompt) for heard in asked] == [False] * (2 * rounds - 1) + [True]


@pytest.mark.parametrize("level", ["n1", "n4"])
def test_what_was_proposed_stands_though_its_agent_says_nothing_more(level: str) -> None:
    shown: list[int] = []

    def turn(question: DmasTurn) -> TurnAnswer:
        shown.append(len(question.standing.actions))
        said = (Assigned(agent=question.respondent, action="idle(2)"),) if not shown[-1] or level == "n4" else ()
        return TurnAnswer(
            actions=said if question.turns_left > len(question.members) else (), final=question.turns_left == 1
        )

    played("dmas", {DmasTurn: turn}, Scenario("cube", level, 0, 1))
    assert shown == ([0, 1] if level == "n1" else [0, 1, 2, 3, 4, 4, 4, 4])


def test_in_hmas1_the_talk_begins_with_the_plan_of_the_planner() -> None:
    plan = planned(agent_0="go((0, 0))", agent_1="go((0, 1))")
    _, asked = played("hmas1", {Hmas1Plan: plan, DmasTurn: TurnAnswer(final=True)}, LONG._replace(horizon=1))
    assert [heard.kind for heard in asked] == ["hmas1.plan", "hmas1.turn"]
    assert "- agent_1: «go((0, 1))»" in asked[1].prompt
    assert "The agents then talk your plan over" in asked[0].prompt


@pytest.mark.parametrize("method", ["dmas", "hmas1", "hmas2"])
def test_with_its_own_view_an_agent_is_shown_nobody_elses(method: str) -> None:
    episode, asked = played(f"{method}:own", stage=LONG)
    assert {event.agent for event in of(episode.events, ViewsShared)} <= {PLANNER}
    local = [heard.prompt for heard in asked if heard.respondent != PLANNER]
    assert local
    assert not [prompt for prompt in local if "What each agent knows" in prompt]
    _, asked = played(method, stage=LONG)
    assert all("What each agent knows" in heard.prompt for heard in asked if heard.respondent != PLANNER)


def test_who_did_not_hear_a_proposal_does_not_count_on_it() -> None:
    deaf = Scenario("rooms", "two", 0, 2, rule=MessageRule(loss=1.0))
    _, asked = played("dmas:own", stage=deaf)
    assert "No action yet for agent_0, agent_1." in prompts(asked, "dmas.turn", respondent="agent_1")[0]


def test_nobody_is_asked_where_each_has_one_option(monkeypatch: pytest.MonkeyPatch) -> None:
    only = parse_action("go((0, 0))")
    monkeypatch.setattr("teamworld.methods.hmas.method.one_option", lambda me: only)
    episode, asked = played("hmas2", stage=LONG._replace(horizon=1))
    assert not asked
    skipped = [(event.agent, event.purpose) for event in of(episode.events, QuestionSkipped)]
    assert skipped == [(PLANNER, "hmas2.plan"), ("agent_0", "hmas2.feedback"), ("agent_1", "hmas2.feedback")]
    assert {start.cause for start in of(episode.events, PlanStart)} == {"one option"}
    assert not list(of(episode.events, QuestionAsked))


# ---- objections


def judged(me: AgentKnowledge, plan: TeamPlan) -> Opinion:
    return Judge(me.agent, {me.agent: me.view}, me, TeamRecord(()), plan).rule(RNG)


def test_an_agent_objects_to_what_failed_time_and_again_and_to_nothing_that_worked_since() -> None:
    me = known()["agent_0"]
    plan = PlanAll(PLANNER, record_of(known()).views, record_of(known())).rule(RNG)
    action = read_act(plan.actions[0].action, me)
    assert action is not None
    failed = Outcome(action, "failed", "no_way: somebody stands in the door", start=3)
    assert judged(me, plan).accept
    vain = _altered(me, history=(failed, failed))
    opinion = judged(vain, plan)
    assert not opinion.accept
    assert "failed 2 times, last from step 3: no_way: somebody stands in the door" in opinion.critique
    assert opinion.action != plan.actions[0].action
    worked = _altered(me, history=(failed, failed, failed._replace(status="done", reason="")))
    assert judged(worked, plan).accept


class _Altered:
    """A view in which some parts are others."""

    def __init__(self, view: View, **parts: object) -> None:
        self.__dict__.update(parts)
        self._view = view

    def __getattr__(self, name: str) -> object:
        return getattr(self._view, name)


def _altered(me: AgentKnowledge, **parts: object) -> AgentKnowledge:
    return replace(me, view=cast("View", _Altered(me.view, **parts)))


def test_an_agent_objects_to_having_no_action_and_says_what_it_would_do() -> None:
    me = known()["agent_0"]
    opinion = judged(me, TeamPlan(actions=()))
    assert (opinion.accept, opinion.critique) == (False, "I have no action.")
    assert opinion.action
    assert Judge(me.agent, {me.agent: me.view}, me, TeamRecord(()), TeamPlan(actions=())).check(opinion) is None


def test_an_agent_objects_to_idling_while_a_task_needs_one_more() -> None:
    me = known()["agent_0"]
    objection = find_objection(me, planned(agent_0="wait()", agent_1="wait()"))
    assert objection is not None
    assert objection.better.goal is not None
    assert "worth more" in objection.reason


def test_of_two_in_one_anothers_way_the_later_objects_and_takes_another_way() -> None:
    team = known("household", "dev-tea")
    first, second = team.values()
    goal, look = "apple_on_coffeetable", parse_action("explore(<kitchen>(36))")
    same = TeamPlan(actions=tuple(Assigned(agent=agent, goal=goal, action=str(look)) for agent in team))
    mine, other = Intent(second.agent, look, goal), Intent(first.agent, look, goal)
    conflict = find_conflict(mine, [other], second.view, second.domain)
    assert conflict is not None
    assert conflict.agent == first.agent
    objection = find_objection(first, same)
    assert objection is None or "way" not in objection.reason, "the first stands"


def test_where_views_are_shared_an_agent_itself_tells_how_long_it_takes() -> None:
    first, second = known("transport", "dev-food-low").values()
    look = parse_action("explore(<livingroom>(2000))")
    mine, other = (Intent(me.agent, look, None) for me in (second, first))
    guess = find_conflict(mine, [other], second.view, second.domain)
    told = find_conflict(mine, [other], second.view, second.domain, {first.agent: first.view})
    assert guess is not None
    assert told is not None
    near, unseen = (second.domain.estimate_steps(first.agent, look, me.view.known) for me in (first, second))
    assert (told.lost, guess.lost) == (near, unseen)
    assert near < unseen


def test_of_many_options_the_record_lists_those_that_come_too_late_last(monkeypatch: pytest.MonkeyPatch) -> None:
    me = next(iter(known("wildfire", "rescue_civilians_search_and_rescue").values()))
    first, *_ = Member(me, is_open=True).options
    monkeypatch.setattr(AgentKnowledge, "is_late", lambda _, option: option == first)
    assert len(me.options) > MOST
    assert first not in Member(me, is_open=True).options


def test_what_is_lost_in_a_conflict_slows_a_step() -> None:
    step = find_objection(known()["agent_0"], TeamPlan(actions=()))
    assert step is not None
    better = step.better
    assert slowed_rate(better, None) == better.rate
    assert slowed_rate(better, Conflict("agent_1", float(better.ticks))) == pytest.approx(better.rate / 2)


def test_the_planner_does_what_an_agent_would_rather_do_and_bars_what_it_cannot() -> None:
    team = known()
    record = record_of(team)
    first = PlanAll(PLANNER, record.views, record).rule(RNG)
    entry = first.actions[0]
    no = Round(first, {entry.agent: Opinion(accept=False, critique="I cannot.")})
    again = PlanAll(PLANNER, record.views, record, (no,)).rule(RNG)
    assert again.actions[0].action != entry.action
    rather = Opinion(accept=False, critique="Better.", goal=None, action="go((4, 4))")
    asked = PlanAll(PLANNER, record.views, record, (Round(first, {entry.agent: rather}),))
    assert asked.rule(RNG).actions[0].action == "go((4, 4))"
    assert "It would rather `go((4, 4))`." in _text(asked)
    me = team[entry.agent]
    judge = Judge(me.agent, {me.agent: me.view}, me, TeamRecord(()), first)
    numbered = judge.in_writing(Opinion(accept=False, critique="Better.", action="1"))
    asked = PlanAll(PLANNER, record.views, record, (Round(first, {entry.agent: numbered}),))
    assert f"It would rather `{plain(team[entry.agent].options[0].action)}`." in _text(asked), "not the bare number"
    free = Opinion(accept=False, critique="Better.", action="have a look around")
    asked = PlanAll(PLANNER, record.views, record, (Round(first, {entry.agent: free}),))
    assert "It would rather «have a look around»." in _text(asked)


def _text(question: PlanAll) -> str:
    return render(question).text


def test_the_planner_is_told_what_actions_mean_once_for_each_kind() -> None:
    team = known("wildfire", "suppress_fire_contain")
    record = record_of(team)
    text = _text(CmasPlan(PLANNER, record.views, record))
    assert text.count("## What a firefighter can do") == text.count("## What a bulldozer can do") == 1
    assert text.count("## Mission") == text.count("## How this world works") == 1
    assert all(text.count(f"### {agent}, a") == 1 for agent in team)


def test_an_order_that_is_given_again_is_one_and_one_that_ended_says_how() -> None:
    me, book = known()["agent_0"], OrderBook(2)
    go, other = parse_action("go((0, 0))"), parse_action("go((4, 4))")
    book.give(me.view, PLANNER, str(go), None, None)
    book.give(me.view, PLANNER, str(go), None, Plan((go,)))
    assert [order.action for order in book.of(me)] == [str(go)]
    assert book.of(me)[0].became == "broken off"
    assert book.of(replace(me, running=Plan((go,))))[0].became == "goes on"
    ended = _altered(me, history=(Outcome(go, "failed", "no_way: a wall"),))
    assert book.of(ended)[0].became == "failed, a wall"
    book.give(me.view, PLANNER, str(other), None, None)
    book.give(me.view, PLANNER, str(Action("drop")), None, None)
    assert [order.action for order in book.of(me)] == [str(other), "drop()"], "no more than two are kept"


def test_options_of_a_record_are_the_nearest_for_each_goal_and_the_rest_is_counted() -> None:
    me = known()["agent_0"]
    actions = [parse_action(f"go((0, {column}))") for column in range(10)]
    options = [Option(action, "g" if at > 6 else None, 10 - at) for at, action in enumerate(actions)]
    member = Member(_altered(me, options=(*options, Option(Action("drop"), "g", 40))), is_open=True)
    assert [option.goal for option in member.options[:2]] == ["g", "g"]
    assert [option.steps for option in member.options] == [1, 40, 2, 3, 4, 5, 6, 7], "one of each kind is listed"
    assert member.more == 3


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("You are Bob at (1, 2) and hold a cup.", "Bob is at (1, 2) and holds a cup."),
        ("I am Bob, a carrier, at (1, 2).", "Bob is a carrier, at (1, 2)."),
        ("you hold it; your hands are full; 3 steps for you", "Bob holds it; Bob's hands are full; 3 steps for Bob"),
        ("held by you; no way leads you there", "held by Bob; no way leads Bob there"),
    ],
)
def test_what_a_world_says_to_an_agent_is_said_of_it_by_name(text: str, named: str) -> None:
    assert name_agent(text, "Bob") == named


def test_a_task_names_all_who_are_at_it_and_who_is_nearest() -> None:
    team = known("cube", "paper-n2")
    agents = list(team)
    goal = next(goal for goal in team[agents[0]].goals if goal.quorum == 2)
    walk = parse_action(f"move_to_block({goal.id.replace('_', '(', 1).replace('block(', '<block>(')}), left)")
    options = {a: [Option(walk, goal.id, steps)] for a, steps in zip(agents, (7, 3), strict=True)}
    team = {agent: _altered(me, options=options[agent]) for agent, me in team.items()}
    task = next(task for task in record_of(team).tasks if task.goal.id == goal.id)
    assert (task.at, task.others) == ((), ((agents[0], 7),)), "the text tells of the nearest, then comes the next"
    member = record_of(team).of(agents[1])
    assert member is not None
    assert record_of(team).late(agents[1], member.options[0]) == f"{agents[0]}, 7 steps"
    assert not record_of(team).late(agents[0], options[agents[0]][0])
    at_it = {a: replace(me, running=Plan((parse_action("wait()"),), goal.id)) for a, me in team.items()}
    task = next(task for task in record_of(at_it).tasks if task.goal.id == goal.id)
    assert (task.at, task.others) == ((agents[1], agents[0]), ((agents[0], 7),))
    far_at_it = team | {agents[0]: at_it[agents[0]]}
    task = next(task for task in record_of(far_at_it).tasks if task.goal.id == goal.id)
    assert task.at == (agents[0],)
    assert not task.is_near, "the nearest is not at it"


def test_where_agents_take_their_teammates_to_be_is_not_told_beside_where_these_are() -> None:
    _, asked = played("hmas2:central", stage=Scenario("rooms", "two", 0, 30))
    for prompt in prompts(asked, "hmas2.plan"):
        for agent, other in (("agent_0", "agent_1"), ("agent_1", "agent_0")):
            section = prompt.split(f"### {agent}, a carrier")[1].split("###")[0]
            assert not re.search(rf"^{other}", section, re.MULTILINE)


def test_where_the_first_plan_is_carried_out_the_planner_is_not_told_of_judges() -> None:
    for label, judged_by in (("hmas2", True), ("hmas2:central", False), ("cmas", False)):
        _, asked = played(label, stage=LONG._replace(horizon=1))
        assert ("Agents judge your plan" in asked[0].prompt) is judged_by
        assert ("Your plan is carried out as it is." in asked[0].prompt) is not judged_by


@pytest.mark.parametrize(("world", "level"), [("household", "dev-tea"), ("rooms", "two"), ("cube", "n4")])
def test_the_record_speaks_of_all_by_name_and_keeps_what_belongs_together(world: str, level: str) -> None:
    _, asked = played("hmas2:central", stage=Scenario(world, level, 0, 20))
    for prompt in prompts(asked, "hmas2.plan"):
        told = prompt.split("## Open tasks")[1].split("What does each of")[0]
        assert not re.findall(r"\b(?:you|your)\b", told, re.IGNORECASE)
        for part in re.split(r"^###", told, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            rooms = [line.partition(" ")[0] for line in lines if "explored" in line]
            assert len(rooms) == len(set(rooms))
            heads = [above for above, line in pairwise(lines) if line.startswith("- closed cont")]
            assert all(": explored" in head for head in heads), "a list stands under its room"
