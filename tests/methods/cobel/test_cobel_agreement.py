"""What keeps a team from working in vain: failures remembered, enough agents, who gives way, forced questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from teamworld.language import AgentId, Entity, Fact, Facts, RuleSet, Schema, plain
from teamworld.methods import registry as methods
from teamworld.methods.cobel import knowledge, messages, planning
from teamworld.methods.cobel.agent_state import VAIN, AgentState
from teamworld.methods.cobel.answers import Judged
from teamworld.methods.cobel.beliefs import BeliefEntry, BeliefStore
from teamworld.methods.cobel.questions import Assess, MakePlan, WriteMessage
from teamworld.methods.cobel.rule_agreement import ProposedRules, read_rules
from teamworld.methods.cobel.situation import Announcement, Assessment, CobelOptions, Intent, Situation, Subplan
from teamworld.methods.contract import Message
from teamworld.planning.candidates import complete_action
from teamworld.reasoning.prompts import render
from teamworld.record import EpisodeEnd, QuestionAsked, QuestionSkipped
from teamworld.seeding import generator
from teamworld.testing.episodes import Scenario, play
from teamworld.worlds import registry as worlds
from teamworld.worlds.base.beliefs import BeliefDomain
from teamworld.worlds.contract import LatentVariable, Option, Outcome, Possible, View, World
from tests.methods.asked import asked


def make(world: str, level: str, seed: int = 0, options: Mapping[str, Any] | None = None) -> World:
    made = worlds.make(world, level, seed, 60, dict(options or {}))
    made.reset(seed)
    return made


def situation(world: World, agent: AgentId, view: View | None = None, **more: Any) -> Situation:
    """One agent, who believes that all others know what it knows."""
    view = world.view(agent) if view is None else view
    others = [other for other in world.spec.agents if other != agent]
    settings: dict[str, Any] = {"options": CobelOptions(), "facts": view.known, **more}
    return Situation(
        view=view,
        domain=cast("BeliefDomain", world.domain),
        spec=world.spec,
        team=world.spec.kinds,
        rules=RuleSet.of(Schema(world.domain.relations, world.spec.agents)),
        ascribed=dict.fromkeys(others, settings["facts"]),
        last_met=dict.fromkeys(others, view.t),
        **settings,
    )


def state_of(world: World, agent: AgentId) -> AgentState:
    schema = Schema(world.domain.relations, world.spec.agents)
    mates = tuple(other for other in world.spec.agents if other != agent)
    store = BeliefStore(agent, schema, cast("BeliefDomain", world.domain), False, mates)
    return AgentState(agent, store, RuleSet.of(schema), CobelOptions(), generator(0, "test"))


class Altered:
    """A view with other parts."""

    def __init__(self, view: View, **parts: Any) -> None:
        self._view = view
        self.__dict__.update(parts)

    def __getattr__(self, name: str) -> object:
        return getattr(self._view, name)


def altered(view: View, **parts: Any) -> View:
    return cast("View", Altered(view, **parts))


# ---- no deadlock


def test_two_agents_deliver_all_blocks_by_default_as_fast_as_in_silence() -> None:
    steps = {}
    for label in ("cobel", "cobel:silent"):
        end = play(label, Scenario("cube", "paper-n2", 0, 150), {}).events[-1]
        assert isinstance(end, EpisodeEnd)
        assert end.reason == "all_done"
        steps[label] = end.step
    assert steps["cobel"] <= 1.05 * steps["cobel:silent"]


def test_what_failed_is_not_tried_again_before_something_about_it_changes() -> None:
    world = make("cube", "paper-n2")
    state, view = state_of(world, "agent_0"), world.view("agent_0")
    before = planning.best_subplan(situation(world, "agent_0"), ())
    first = complete_action(before.actions[0], view)
    team = world.spec.kinds
    failed = altered(view, history=(Outcome(first, "failed", "timeout"),))
    state.observe(failed, team)
    now = state.situation(failed, world.spec, team)
    assert now.vain == {first: VAIN}
    assert first not in [complete_action(one, view) for one in planning.best_subplan(now, ()).actions]
    assert f"`{plain(first)}` failed: no use before step {VAIN}" in render(MakePlan(now)).text
    moved = Facts(Fact("agent_0", "AT", (9, 9)) if fact.subject == "agent_0" else fact for fact in view.known)
    state.observe(altered(failed, known=moved, facts=moved), team)
    assert not state.vain
    other = state_of(world, "agent_0")
    other.observe(altered(view, history=(Outcome(first, "failed", "interrupted: another action was begun"),)), team)
    assert not other.vain  # no failure


def test_a_goal_for_two_waits_until_somebody_is_free() -> None:
    world = make("cube", "paper-n2")
    facts = world.view("agent_1").known
    heavy = next(goal for goal in world.domain.goals(facts) if goal.quorum == 2)
    near = [option for option in world.domain.options("agent_0", facts) if option.goal not in (heavy.id, None)]
    busy = Announcement(Subplan((near[0].action,), near[0].goal), 0, 20, 4)
    alone = situation(world, "agent_1", announced={"agent_0": busy})
    plans = planning.announced_intents(alone, "agent_0")
    assert planning.best_subplan(alone, plans).goal != heavy.id
    joint = next(one for one in planning.possible_prospects(alone) if one.need == 2)
    assert not planning._has_partners(alone, joint, plans)
    assert planning._has_partners(alone, joint, ())
    assert planning._has_partners(alone, joint, [plan._replace(option=plan.option._replace(goal=heavy.id)) for plan in plans])  # fmt: skip  # noqa: E501


# ---- who does what


def test_work_is_divided_so_that_nobody_is_asked_for_what_another_one_does() -> None:
    world = make("wildfire", "cut_trees_sparse_small")
    agent, *mates = world.spec.agents
    plan = planning.best_subplan(situation(world, agent), ())
    now = situation(world, agent, subplan=plan)
    parts = messages.divide_work(now, Assessment(True, against=tuple(mates)))
    goals = [plan.goal, *(part.goal for part in parts.values())]
    assert len(goals) == 1 + len(mates) == len(set(goals))
    draft = messages.draft_message(now, Assessment(True, against=tuple(mates)))
    sent = Message(agent, "commit", draft.text, plan.goal)
    schema = now.rules.schema
    assert messages.read_asks(sent, schema) == parts
    assert messages.read_plan(sent, schema) == plan
    assert messages.read_steps_to_go(sent) == messages.steps_to_begin(now, plan) + 1, "the message takes a step"


def test_whoever_is_asked_does_its_part_unless_it_has_fewer_steps_to_go() -> None:
    world = make("wildfire", "cut_trees_sparse_small")
    agent, mate, *_ = world.spec.agents
    free = situation(world, agent)
    best = planning.best_subplan(free, ())
    other = next(one for one in planning.possible_prospects(free) if one.goal not in (None, best.goal))
    ask = {agent: Subplan(other.actions, other.goal)}
    told = {mate: Announcement(best, 0, 9, 3, ask)}
    obliging = situation(world, agent, announced=told)
    plans = planning.announced_intents(obliging, mate)
    assert planning.best_subplan(obliging, plans).goal == other.goal
    nearer = situation(world, agent, announced=told, own_announcement=Announcement(best, 0, 9, 1))
    assert not any(planning._is_asked(nearer, prospect) for prospect in planning.possible_prospects(nearer))


def test_of_two_plans_that_conflict_the_nearer_one_stands() -> None:
    world = make("wildfire", "cut_trees_sparse_small")
    agent, mate, *_ = world.spec.agents
    plan = planning.best_subplan(situation(world, agent), ())
    own = Announcement(plan, 0, 9, 4)

    def yields(first: int, t: int = 0) -> bool:
        now = situation(world, agent, subplan=plan, own_announcement=own, announced={mate: Announcement(plan, t, 9, first)})  # fmt: skip  # noqa: E501
        return planning.must_yield(now, [mate]) == [mate]

    assert yields(3)
    assert not yields(5)
    assert not yields(4)  # equal, announced at once: the first in the team stands
    assert not yields(4, t=1)


def test_an_announcement_that_sight_contradicts_is_dropped() -> None:
    world = make("wildfire", "cut_trees_sparse_small")
    agent, mate, *_ = world.spec.agents
    state, view, team = state_of(world, agent), world.view(agent), world.spec.kinds
    action = next(option.action for option in world.domain.options(mate, view.known) if option.goal is not None)
    state.announced[mate] = Announcement(Subplan((action,)), 0, 50, 20)
    state._costs[mate] = 0, {}
    later = altered(view, t=5)
    state.regrets[mate] = {action: 1.0}
    assert mate in state.situation(later, world.spec, team).announced
    state.regrets[mate] = {action: 4.0}
    assert mate not in state.situation(later, world.spec, team).announced


# ---- what is told


def test_an_older_fact_that_is_told_does_not_replace_a_later_sight() -> None:
    world = make("household", "dev", 8, {"agents": 2})
    view, state = world.view("Alice"), state_of(world, "Alice")
    rooms = [fact.subject for fact in view.known if fact.predicate == "POSITION" and isinstance(fact.subject, Entity)]
    here = view.known.value("Alice", "AT")
    one, other = [room for room in rooms if room != here and view.known.value(room, "IN") is None][:2]
    thing = Entity("wine", 991)
    seen = Fact(thing, "IN", one)
    recall = Facts((*view.recall, seen), {**view.recall.seen, seen: 12})
    known = Facts((*view.known, seen), {**view.known.seen, seen: 12})
    later = altered(view, t=20, recall=recall, known=known)
    for since, place in ((9, one), (15, other)):
        state.store.hear([BeliefEntry(Fact(thing, "IN", other), 0.95, since, "told", (f"message:{since}",))], later)
        assert state.store.facts(later).value(thing, "IN") == place
        state.store._cache.clear()


def test_the_step_of_a_sight_is_told_and_read() -> None:
    world = make("household", "dev", 8, {"agents": 2})
    view = world.view("Alice")
    fact = next(fact for fact in view.known if fact.predicate == "AT")
    dated = Facts(view.known, {**view.known.seen, fact: 3})
    now = situation(world, "Alice", altered(view, t=9), facts=dated)
    text = messages.word_message(now, [fact])
    assert "(step 3)" in text
    assert messages.read_facts(text, now.rules.schema) == [(fact, 3)]


def test_who_hears_that_a_room_was_searched_hears_of_what_is_shut_in_it() -> None:
    world = make("household", "dev", 8, {"agents": 2})
    view = world.view("Alice")
    room = next(fact.subject for fact in view.known if fact.predicate == "POSITION")
    box = Entity("kitchencabinet", 990)
    shut = [Fact(box, "IN", room), Fact(box, "STATE", "closed")]
    known = Facts((*view.known, *shut, Fact(room, "EXPLORED", "all")))
    told = messages.with_containers(situation(world, "Alice", facts=known), [Fact(room, "EXPLORED", "all")])
    assert told[1:] == shut


def test_the_likeliest_places_are_named_and_how_many_are_not() -> None:
    thing = Entity("apple", 1)
    values = [Possible(Fact(thing, "INSIDE", Entity("cabinet", number)), 1.0 + number) for number in range(50)]
    latents = [LatentVariable(f"apple {number}", tuple(values)) for number in (1, 2)]
    (line,) = knowledge.describe_missing(latents)
    assert line.startswith("apple 1, apple 2: INSIDE cabinet_49 3.9%")
    assert line.endswith(f"and {50 - knowledge.VALUES} more")


def test_places_of_like_shares_stand_together() -> None:
    values = tuple(Possible(Fact(Entity("apple", 1), "INSIDE", Entity("cabinet", number)), 1.0) for number in range(4))
    assert knowledge.describe_missing([LatentVariable("apple 1", values)]) == (
        "apple 1: INSIDE cabinet_0 or cabinet_1 or cabinet_2 or cabinet_3 25% each",
    )


def test_the_reason_of_the_judge_reaches_the_writer_and_the_probabilities_the_judge() -> None:
    world = make("cube", "paper-n2")
    plan = planning.best_subplan(situation(world, "agent_1"), ())
    now = situation(world, "agent_1", subplan=plan)
    option = Option(plan.actions[0], plan.goal, 5)
    judge = Assess(now, {"agent_0": (Intent("agent_0", option, 0.44),)})
    assert "44%" in render(judge).text
    verdict = judge.read(Judged.model_validate({"reasoning": "Both push one block.", "answer": "yes"}))
    assert "Both push one block." in render(WriteMessage(now, verdict)).text


# ---- forced questions


def count(label: str, place: Scenario, **options: Any) -> tuple[Counter[str], Sequence[str]]:
    events = play(label, place, {label: options} if options else {}).events
    causes = [event.cause for event in events if isinstance(event, QuestionSkipped)]
    return Counter(event.purpose for event in events if isinstance(event, QuestionAsked)), causes


@pytest.mark.parametrize("place", [Scenario("household", "dev", 2, 25), Scenario("cube", "paper-n2", 0, 60)])
def test_forced_questions_are_not_put_and_the_log_says_why(place: Scenario) -> None:
    found, causes = count("cobel", place)
    every, _ = count("cobel", place, skip=False)
    assert found.total() <= 0.75 * every.total()
    assert found["cobel.act"] < 0.5 * every["cobel.act"]
    assert "nothing new" in causes


def test_a_prompt_of_intents_shows_what_the_teammate_can_do_and_not_the_asker() -> None:
    seen = 0
    for question in asked(worlds.make("wildfire", "suppress_fire_contain", 0, 6, {}), "cobel:original"):
        if question.kind == "cobel.intents":
            seen += 1
            assert "What you can do" not in question.prompt.text
            assert "could do next" in question.prompt.text
    assert seen


# ---- options


def test_the_published_temperature_holds_where_nothing_else_does() -> None:
    world = make("cube", "paper-n2")
    for label, warmth in (("cobel", 0.0), ("cobel:original", 0.7)):
        options = CobelOptions.model_validate(methods.resolve(label, {}).model_dump())
        assert Assess(situation(world, "agent_0", options=options), {}).sampling.temperature == warmth
        assert MakePlan(situation(world, "agent_0", options=options)).sampling.temperature == 0.7


def test_rules_that_agents_propose_are_used_and_earlier_logs_are_read() -> None:
    place = Scenario("household", "dev", 2, 20)
    found, _ = count("cobel", place, rules="proposed")
    assert found["cobel.propose_rules"] == found["cobel.review_rules"] == 1
    assert CobelOptions.model_validate({"rules": "agreed"}).rules == "proposed"
    domain = make(*place[:2]).domain
    schema = Schema(domain.relations, ("Alice", "Bob"))
    lines = ("1. `?me BELIEVE ?thing EXPLORED part|all`", "- ?me believe ?agent HOLD ?thing", "nonsense")
    rules = read_rules(ProposedRules(zero_order=lines, first_order=()), schema)
    assert [rule.predicate for rule in rules] == ["EXPLORED", "HOLD"]


def test_doubt_about_what_was_told_makes_it_worth_less() -> None:
    world = make("household", "dev", 8, {"agents": 2})
    view = world.view("Alice")
    goal = next(goal for goal in view.goals if dict(goal.features).get("thing"))
    rooms = [fact.subject for fact in view.known if fact.predicate == "POSITION" and isinstance(fact.subject, Entity)]
    thing = Entity(str(dict(goal.features)["thing"]), 950)
    told = [Fact(thing, "IN", rooms[1])]
    worth = []
    for trust in (0.95, 0.5):
        now = situation(world, "Alice", facts=Facts((*view.known, *told)), options=CobelOptions(trust=trust))
        there = next(one for one in planning.possible_prospects(now) if rooms[1] in one.actions[0].args)
        worth.append(planning.score(now, there, ()))
    assert worth[1] == pytest.approx(worth[0] * 0.5 / 0.95)
