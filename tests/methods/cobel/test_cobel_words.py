"""What CoBel-World's prompts say of plans that ended, of news, of looks, of messages and of a teammate's way."""

from __future__ import annotations

from dataclasses import replace
from math import fsum

from teamworld.language import Entity, Fact, Facts, parse_action
from teamworld.methods.cobel import knowledge, messages, planning, questions
from teamworld.methods.cobel.method import Cobel
from teamworld.methods.cobel.situation import MESSAGE, Assessment, Subplan
from teamworld.planning.fetch import wanted_kind
from teamworld.reasoning.prompts import render
from teamworld.worlds.contract import Goal
from tests.methods.cobel.test_cobel_agreement import altered, make, situation, state_of
from tests.methods.cobel.test_cobel_household import make_home

PUSH, WALK = parse_action("push_block(<block>(1))"), parse_action("move(up, 1)")


def over(goal: Goal) -> Goal:
    return replace(goal, state="done", units=0)


def test_a_plan_that_ends_with_its_task_is_not_called_pointless() -> None:
    world = make("cube", "paper-n2")
    view = world.view("agent_0")
    goals = [over(goal) if goal.id == "block_1" else goal for goal in view.goals]
    done = altered(view, goals=goals)
    subplan = Subplan((PUSH, WALK), "block_1")
    state = state_of(world, "agent_0")
    state.take_up(subplan, view)
    Cobel._end(state, situation(world, "agent_0", done, subplan=subplan))
    told = situation(world, "agent_0", done, former=state.former, given_up=state.given_up, left=state.left)
    prompt = render(questions.MakePlan(told)).user
    assert "block_1 is done, so your plan for it ended; left of it: `push_block(block_1); move(up, 1)`." in prompt
    assert "pointless" not in prompt
    state.take_up(subplan, view)
    Cobel._end(state, situation(world, "agent_0", view, subplan=subplan))
    assert state.left is None
    assert "block_1 is" not in state.given_up


def test_what_the_agent_itself_took_and_put_down_is_no_news() -> None:
    home = make_home(0)
    view, state = home.view("Alice"), state_of(home, "Alice")
    kind, target = wanted_kind(view.goals[0]), view.goals[0].thing
    assert kind is not None
    assert target is not None
    thing = Entity(kind, 900)
    state.take_up(Subplan((parse_action("wait()"),)), view)
    held, lies = Fact("Alice", "HOLD", thing), Fact(thing, dict(view.goals[0].features)["relation"], target)
    for fact in (held, lies):
        known = Facts((*view.known, fact))
        now = altered(view, t=view.t + 1 + (fact == lies), known=known, facts=known)
        state.observe(now, home.spec.kinds)
        assert state._news(now) == ()
    more = Facts((*view.known, Fact(Entity(kind, 901), lies.predicate, target)))
    other = altered(view, t=view.t + 3, known=more)
    assert state._news(other), "what another put down is news"


def test_a_message_tells_the_steps_with_its_own() -> None:
    world = make("cube", "paper-n2")
    plan = Subplan((parse_action("move_to_block(<block>(2), left)"),), "block_2")
    now = situation(world, "agent_0", subplan=plan)
    away = messages.steps_to_begin(now, plan)
    said = messages.draft_message(now, Assessment(True, against=("agent_1",)))
    assert f"there in {away + 1} steps" in said.text
    asks = questions.WriteMessage(now, Assessment(True, against=("agent_1",)))
    assert f"there in {away + 1} steps" in render(asks).user
    assert f"there in {away} steps" in render(questions.Assess(now, {})).user, "nothing is sent yet"
    announced = state_of(world, "agent_0").announce("agent_0", plan, 3, now.view)
    assert announced.steps_to_go(3) == away + MESSAGE
    assert announced.claim(3) == away, "where plans conflict the message is not held against its sender"


def test_a_look_names_what_it_may_find() -> None:
    home = make_home(0)
    now = situation(home, "Alice")
    lines = "\n".join(knowledge.describe_options(now, "Bob"))
    looks = [
        look for look in planning.teammate_prospects(now, "Bob").values() if look.goal is None and look.gain >= 0.01
    ]
    assert looks
    for look in looks:
        shares = {
            latent.name: fsum(v.weight for v in latent.values if v.fact.value in look.actions[0].args)
            / fsum(v.weight for v in latent.values)
            for latent in now.latents
        }
        there = [name for name in sorted(shares, key=shares.__getitem__, reverse=True) if shares[name] > 0]
        one = f", {look.gain:.0%} to find {there[0]}"
        many = f", finds {look.finds:.2g} of {', '.join(there[:2])}"
        assert (one if len(there) == 1 else many) in lines


def test_patterns_of_beliefs_are_no_words_of_another() -> None:
    world = make("cube", "paper-n2")
    text = render(questions.ReadMessage(situation(world, "agent_0"), "agent_1", ())).user
    assert "- `?me BELIEVE ?block AT ?cell`" in text
    assert "«" not in text


def test_what_served_a_task_that_is_done_speaks_no_longer_against_another() -> None:
    world = make("cube", "paper-n2")
    state, view = state_of(world, "agent_0"), world.view("agent_0")
    state.observe(view, world.spec.kinds)
    state.regrets["agent_1"] = {PUSH: 4.8}
    state.observe(view, world.spec.kinds)
    assert state.regrets["agent_1"][PUSH] == 4.8
    state.observe(altered(view, goals=[over(goal) for goal in view.goals[:1]]), world.spec.kinds)
    assert PUSH not in state.regrets["agent_1"]


def test_who_goes_straight_to_something_takes_back_what_its_way_lost() -> None:
    world = make("cube", "paper-n2")
    state, view = state_of(world, "agent_0"), world.view("agent_0")
    state.observe(view, world.spec.kinds)
    action, steps = next((option.action, option.steps) for option in view.options if option.steps > 4)
    state.regrets["agent_1"] = {action: 3.0}
    state._costs["agent_1"] = (view.t - 1, {action: steps + 1})
    costs = {option.action: option.steps for option in state.store.domain.options("agent_1", view.known)}
    if action in costs:
        state._costs["agent_1"] = (view.t - 1, {action: costs[action] + 1})
    state.observe(view, world.spec.kinds)
    assert state.regrets["agent_1"].get(action, 0.0) < 3.0 * 0.8
