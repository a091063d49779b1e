"""How rules choose: sound plans, the step that changes something, who does what, and what agents know together."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.language import Action, Entity, Fact, Facts, Plan, parse_action, plain
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.methods.common.single_action import action_error, confirm_goal, decide_action, goal_of_action
from teamworld.methods.contract import CARRY, Choice
from teamworld.planning.allocation import allocate_goals, allocate_steps, choose_step, pool_facts
from teamworld.planning.candidates import CandidateStep, find_step, find_steps, idle_step
from teamworld.planning.goals import workable_goals
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import Goal, View
from teamworld.worlds.cube.state import Block, Layout
from teamworld.worlds.cube.world import CubeOptions, CubeWorld

WAIT = Action("wait")


def cube(*agents: tuple[int, int], blocks: tuple[Block, ...] = (Block(1, 3, 5),)) -> CubeWorld:
    made = CubeWorld(Layout(12, agents, blocks), "custom", 60, CubeOptions())
    made.reset(0)
    return made


def best(world: CubeWorld, agent: str = "agent_0") -> CandidateStep:
    view = world.view(agent)
    found = find_step(workable_goals(view)[0], view, world.domain)
    assert found is not None
    return found


def test_a_plan_begins_with_what_changes_something() -> None:
    assert best(cube((8, 2))).action.verb == "move_to_block"
    there = best(cube((3, 4)))
    assert there.action.verb == "push_block"
    assert there.hold is not None
    assert there.hold.verb == "move_to_block"
    assert there.share == 1.0


def test_of_plans_that_do_as_much_a_tick_the_one_that_does_most_is_taken() -> None:
    world = cube((3, 4))
    units = workable_goals(world.view("agent_0"))[0].units
    assert best(world).action.args[1] == units == best(world).ticks


def test_after_a_failure_it_does_not_try_the_same_at_once() -> None:
    world = cube((3, 4), (9, 9), blocks=(Block(2, 3, 5),))
    push = best(world).action
    while world.step({"agent_0": push}).outcomes["agent_0"].status == "running":
        pass
    assert world.view("agent_0").history[-1].status == "failed"
    assert best(world).action.verb == "move_to_block"


def test_who_is_there_first_holds_its_place_until_the_others_are() -> None:
    world = cube((3, 4), (11, 11), blocks=(Block(2, 3, 5),))
    views = {agent: world.view(agent) for agent in ("agent_0", "agent_1")}
    found = allocate_steps(views, world.domain, list(views), {}, {})
    assert {agent: step.action.verb for agent, step in found.items()} == dict.fromkeys(views, "move_to_block")
    world = cube((3, 4), (4, 4), blocks=(Block(2, 3, 5),))
    views = {agent: world.view(agent) for agent in views}
    found = allocate_steps(views, world.domain, list(views), {}, {})
    assert {agent: step.action.verb for agent, step in found.items()} == dict.fromkeys(views, "push_block")


def test_what_runs_for_the_same_goal_is_kept_and_what_was_objected_to_is_not() -> None:
    world = cube((8, 2))
    view = world.view("agent_0")
    goal = workable_goals(view)[0].id
    runs = Plan((parse_action("move_to_block(<block>(0), left, 7)"),), goal)
    kept = allocate_steps({"agent_0": view}, world.domain, ["agent_0"], {"agent_0": runs}, {})["agent_0"]
    assert kept.action == runs.actions[0]
    first = allocate_steps({"agent_0": view}, world.domain, ["agent_0"], {}, {})["agent_0"]
    barred = [("agent_0", first.action)]
    other = allocate_steps({"agent_0": view}, world.domain, ["agent_0"], {}, {}, barred)["agent_0"]
    assert other.action != first.action


def test_an_agent_alone_leaves_what_others_took_and_joins_what_takes_two() -> None:
    world = cube((8, 2), (9, 2), blocks=(Block(1, 3, 5), Block(2, 7, 5)))
    view = world.view("agent_0")
    light, heavy = (goal.id for goal in workable_goals(view))
    assert choose_step(view, world.domain, {heavy: 2}, 0).goal == light
    assert choose_step(view, world.domain, {light: 1}, 0).goal is None, "one is too few for the heavy one"
    assert choose_step(view, world.domain, {light: 1, heavy: 1}, 0).goal == heavy
    assert choose_step(view, world.domain, {light: 1}, 1).goal == heavy, "another may come"
    assert choose_step(view, world.domain, {light: 1, heavy: 2}, 0) == idle_step(view, world.domain)


# ---- spreading


@st.composite
def auctions(draw: st.DrawFn) -> tuple[dict[str, list[CandidateStep]], dict[str, Goal], dict[str, int]]:
    quorums = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    goals = {
        f"g{i}": Goal(f"g{i}", "k", None, quorum=q, capacity=q + draw(st.integers(0, 1))) for i, q in enumerate(quorums)
    }
    offers = {
        f"a{k}": [
            CandidateStep(WAIT, name, draw(st.integers(1, 20)), draw(st.sampled_from([0.0, 0.5, 1.0])))
            for name in goals
            if draw(st.booleans())
        ]
        for k in range(draw(st.integers(0, 5)))
    }
    return offers, goals, {name: draw(st.integers(0, 2)) for name in goals}


@given(auctions())
def test_a_goal_gets_its_quorum_or_nobody_and_never_more_than_it_can_use(
    auction: tuple[dict[str, list[CandidateStep]], dict[str, Goal], dict[str, int]],
) -> None:
    offers, goals, staffed = auction
    found = allocate_goals(offers, goals, staffed)
    taken = Counter(step.goal for step in found.values())
    for name, goal in goals.items():
        if taken[name]:
            assert goal.quorum <= taken[name] + staffed[name] <= max(goal.capacity, staffed[name])
    assert all(step in offers[agent] for agent, step in found.items())
    # Whoever is left over could not have been of use: no set of them makes up what a goal lacks.
    left = [agent for agent in offers if agent not in found]
    for name, goal in goals.items():
        staff = taken[name] + staffed[name]
        able = [agent for agent in left if any(step.goal == name for step in offers[agent])]
        lack = max(1, goal.quorum - staff)
        assert staff >= goal.capacity or not list(combinations(able, lack))


def test_the_most_worth_an_agent_comes_first_and_what_one_is_at_counts_for_more() -> None:
    goals = {name: Goal(name, "k", None, weight=weight) for name, weight in (("near", 1.0), ("dear", 3.0))}
    offers = {"a": [CandidateStep(WAIT, "near", 2, 1.0), CandidateStep(WAIT, "dear", 9, 1.0)]}
    assert allocate_goals(offers, goals)["a"].goal == "near"
    nearer = {"a": [CandidateStep(WAIT, "near", 3, 1.0), CandidateStep(WAIT, "dear", 8, 1.0)]}
    assert allocate_goals(nearer, goals)["a"].goal == "dear"
    assert allocate_goals(offers, goals, holding={"a": "dear"})["a"].goal == "near"
    close = {"a": [CandidateStep(WAIT, "near", 3, 1.0), CandidateStep(WAIT, "dear", 10, 1.0)]}
    assert allocate_goals(close, goals)["a"].goal == "near"
    assert allocate_goals(close, goals, holding={"a": "dear"})["a"].goal == "dear"


# ---- what agents know together


class Knows:
    """A view of some facts."""

    t = 9

    def __init__(self, now: tuple[Fact, ...], before: dict[Fact, int], agent: str = "") -> None:
        self.agent = agent
        self.facts, self.recall = Facts(now), Facts(tuple(before), before)
        self.known = Facts((*now, *before), before)


def test_together_agents_know_what_was_seen_last() -> None:
    at = [Fact("it", "AT", (0, column)) for column in range(3)]
    one = Knows((), {at[0]: 3, Fact("box", "WEIGHT", 2): 1})
    two = Knows((), {at[1]: 5})
    three = Knows((at[2],), {})
    views: dict[str, View] = {"a": one, "b": two}  # type: ignore[dict-item]
    assert pool_facts(views).value("it", "AT") == (0, 1)
    assert pool_facts(views).value("box", "WEIGHT") == 2
    views["c"] = three  # type: ignore[assignment]
    assert pool_facts(views).value("it", "AT") == (0, 2)
    assert pool_facts({"a": one}) is one.known  # type: ignore[dict-item]


def test_together_agents_know_that_what_is_in_a_hand_lies_nowhere_and_each_knows_itself() -> None:
    cup, box, table = Entity("cup", 1), Entity("box", 2), Entity("table", 3)
    inside, held, lies = Fact(cup, "INSIDE", box), Fact("a", "HOLD", cup), Fact(cup, "ON", table)

    def pooled(one: Knows, two: Knows) -> tuple[Fact, ...]:
        return tuple(pool_facts({"a": one, "b": two}))  # type: ignore[dict-item]

    assert pooled(Knows((held,), {}, "a"), Knows((), {inside: 4}, "b")) == (held,)
    assert pooled(Knows((), {held: 3}, "b"), Knows((lies,), {}, "c")) == (lies,)
    assert pooled(Knows((), {}, "a"), Knows((), {held: 4}, "b")) == (), "its hands are empty: it knows best"
    assert pooled(Knows((lies,), {}, "a"), Knows((), {inside: 4}, "b")) == (lies,), "it lies in one place"


def test_a_mind_that_knows_what_all_know_sends_an_agent_to_what_it_has_not_seen() -> None:
    world = worlds.make("rooms", "two", 0, 60, {})
    world.reset(0)
    go = parse_action("go((2, 8))")
    for _ in range(9):
        world.step({"agent_0": go})
    views = {agent: world.view(agent) for agent in ("agent_0", "agent_1")}
    unseen = {goal.id for goal in workable_goals(views["agent_0"])} - {goal.id for goal in views["agent_1"].goals}
    assert unseen
    told = pool_facts(views)
    goals = {goal.id: goal for goal in workable_goals(views["agent_0"])}
    assert {step.goal for step in find_steps(views["agent_1"], world.domain, goals, told)} & unseen
    assert not {step.goal for step in find_steps(views["agent_1"], world.domain)} & unseen


# ---- from words to decisions


def test_the_same_action_is_carried_on_and_no_action_is_nothing() -> None:
    view = cube((8, 2)).view("agent_0")
    action = parse_action("move_to_block(<block>(0), left, 24)")
    assert decide_action(action, view, Plan((action,), "block_0")) is CARRY
    fresh = decide_action(action, view, None)
    assert isinstance(fresh, Choice)
    assert (fresh.plan.actions, fresh.plan.goal, fresh.parsed) == ((action,), "block_0", True)
    nothing = decide_action(None, view, Plan((action,), "block_0"))
    assert isinstance(nothing, Choice)
    assert (nothing.plan.actions, nothing.parsed) == ((WAIT,), False)


@pytest.mark.parametrize(
    ("action", "goal"), [("yield_block(<block>(0), 3, 0)", "block_0"), ("idle(2)", None), ("wait()", None)]
)
def test_an_action_serves_the_goal_of_the_thing_that_it_is_done_to(action: str, goal: str | None) -> None:
    assert goal_of_action(parse_action(action), cube((8, 2)).view("agent_0")) == goal


def test_only_goals_that_somebody_knows_to_be_open_are_taken_from_words() -> None:
    view = cube((8, 2)).view("agent_0")
    assert confirm_goal("block_0", [view]) == "block_0"
    assert confirm_goal("block_7", [view]) is None
    assert confirm_goal(None, [view]) is None


def test_an_objection_says_what_is_wrong_and_leaves_free_words_to_the_translator() -> None:
    world = cube((8, 2))
    me = AgentKnowledge(world.view("agent_0"), world.domain, world.spec)
    first = plain(me.options[0].action)
    assert action_error(" ", me) == f"name one action, such as {first}"
    assert action_error(" ", me, listed=False) == "name one action"
    assert "not_aligned" in (action_error("push_block(block_0, 2)", me) or "")
    assert action_error("sing a song about it all", me) is None
    assert action_error("idle(1)", me) is None
    assert action_error("1", me) is None
    assert action_error("99", me) == f"the list has no number 99; it has 1 to {len(me.options)}"
    assert action_error("1", me, listed=False) == "1 is no action: write the action itself, as nothing here is numbered"
    assert "block_7" in (action_error("push_block(block_7, 2)", me) or "")
    assert (action_error("fly(block_0)", me) or "").startswith("there is no action fly; there are: ")


def test_what_runs_is_the_first_of_the_list_and_can_be_chosen_again() -> None:
    world = cube((8, 2))
    view = world.view("agent_0")
    idle, push = parse_action("idle(7)"), parse_action("push_block(<block>(0), 2, 0)")
    for running in (idle, push):
        me = AgentKnowledge(view, world.domain, world.spec, running=Plan((running,), "block_0"))
        assert me.options[0][:2] == (running, "block_0")
        assert [option.action for option in me.options[1:]].count(running) == 0
        assert action_error(str(running), me) is action_error("1", me) is None
    last = view.options[-1].action
    me = AgentKnowledge(view, world.domain, world.spec, running=Plan((last,)))
    assert me.options[0].action == last
    assert len(me.options) == len(view.options)
