"""The rules of CaPo: how the designer divides the work, what evaluators object to, how a part is followed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from teamworld.language import Action, Entity, plain
from teamworld.methods.capo.division import divide_work
from teamworld.methods.capo.following import choose_beside, commitments, follow_plan, is_open, read_item
from teamworld.methods.capo.judging import MARGIN, ROUND_OF_TALK, expected_steps, find_objection
from teamworld.methods.capo.meta_plan import (
    STEPS,
    MetaPlan,
    PlanItem,
    change_plan,
    items_of,
    refuse_plan,
    tidy_plan,
)
from teamworld.methods.capo.progress import find_untold, tell_progress
from teamworld.methods.common.dialogue_knowledge import DialogueKnowledge
from teamworld.methods.common.knowledge import Line
from teamworld.worlds.contract import Option, Outcome
from tests.methods.capo.discussions import at_home, know, make_world
from tests.methods.coela.house import CABINET

PLACES = [("rooms", "two"), ("rooms", "three"), ("cube", "n4"), ("household", "dev-tea"), ("household", "dev")]
PLACES += [("wildfire", "cut_trees_sparse_small"), ("wildfire", "suppress_fire_contain")]
#: Where all know what one of them sees.
SHARED = [("cube", "n4"), ("cube", "paper-n2"), ("wildfire", "cut_trees_sparse_small")]
COUPLE = ("Alice", "Bob")


def item(agent: str, action: str = "", goal: str | None = None, step: int = 1) -> PlanItem:
    return PlanItem(step=step, agent=agent, goal=goal, action=action)


def tells(me: DialogueKnowledge) -> Line:
    """Return what an agent tells of all that it knows."""
    return Line(me.step, me.agent, None, f"Facts: {'; '.join(map(plain, find_untold(me)))}.")


# ---- the designer


@pytest.mark.parametrize(("world", "level"), PLACES)
@pytest.mark.parametrize("seed", range(3))
def test_a_plan_has_something_for_everybody_and_nothing_twice(world: str, level: str, seed: int) -> None:
    made = make_world(world, level, seed)
    team = made.spec.agents
    me = know(made, team[0])
    plan = divide_work(me, team)
    assert refuse_plan(plan, team) is None
    assert tidy_plan(plan, team) == plan
    assert {entry.step for entry in plan} <= set(range(1, STEPS + 1))
    once = [entry.action for entry in plan if entry.action and not entry.action.endswith("()")]
    assert len(once) == len(set(once))
    for known in me.goals:
        staff = [entry.agent for entry in plan if entry.goal == known.id and not entry.action]
        assert len(staff) <= known.capacity
        assert not staff or len(staff) >= known.quorum


def test_a_joint_task_gets_all_the_agents_that_it_takes_in_one_step() -> None:
    made = make_world("cube", "n4")
    plan = divide_work(know(made, "agent_0"), made.spec.agents)
    joint = next(known for known in made.view("agent_0").goals if known.quorum == 3)
    assert len({entry.step for entry in plan if entry.goal == joint.id}) == 1
    assert len([entry for entry in plan if entry.goal == joint.id]) == 3


def test_what_others_propose_comes_first() -> None:
    me = know(make_world("household", "dev-tea"), "Alice")
    given = (item("Bob", "explore(bathroom_64)"), item("Alice", "explore(kitchen_36)"))
    plan = divide_work(me, COUPLE, proposed=given)
    assert set(given) <= set(plan)
    assert len([entry for entry in plan if entry.action in ("explore(bathroom_64)", "explore(kitchen_36)")]) == 2


def test_a_proposal_for_a_task_that_the_designer_does_not_know_is_taken_up() -> None:
    made = make_world("rooms", "two")
    given = (item("agent_1", goal="deliver_99"),)
    assert set(given) <= set(divide_work(know(made, "agent_0"), made.spec.agents, proposed=given))


def test_who_is_at_something_rather_keeps_it() -> None:
    """Of near things that are alike each agent has one: whoever is at one by the meta-plan keeps that one."""
    made = make_world("wildfire", "cut_trees_sparse_small")
    team = made.spec.agents
    me = know(made, team[0])
    first = {entry.agent: entry.goal for entry in divide_work(me, team) if entry.step == 1}
    others = tuple(item(agent, goal=first[other]) for agent, other in zip(team, (*team[1:], team[0]), strict=True))
    kept = {entry.agent: entry.goal for entry in divide_work(me, team, others) if entry.step == 1}
    assert kept == {entry.agent: entry.goal for entry in others} != first


def test_an_agent_of_whom_nobody_knows_where_it_is_gets_a_part_too() -> None:
    me = know(make_world("household", "dev-tea"), "Alice")
    assert me.known.value("Bob", me.words.at) is None
    assert items_of(divide_work(me, COUPLE), "Bob")


# ---- evaluators


@pytest.mark.parametrize(("world", "level"), SHARED)
@pytest.mark.parametrize("seed", range(4))
def test_who_know_the_same_agree_within_the_rounds(world: str, level: str, seed: int) -> None:
    made = make_world(world, level, seed)
    designer, *evaluators = team = made.spec.agents
    plan = divide_work(know(made, designer), team)
    for _ in range(3):
        objections = [find_objection(know(made, agent, plan=plan), plan, team) for agent in evaluators]
        proposed: MetaPlan = ()
        for objection in objections:
            proposed = change_plan(proposed, () if objection is None else objection.changes)
        if not proposed:
            return
        plan = divide_work(know(made, designer, plan=plan), team, plan, proposed)
    raise AssertionError(f"they still object: {objections}")


def test_two_who_had_better_divide_their_parts_otherwise_do() -> None:
    """Bob stands next to the kitchen, and Alice does not know it: she sends him past her own way."""
    made = make_world("household", "dev-tea")
    alice = know(made, "Alice")
    told = [tells(alice)]
    plan = divide_work(alice, COUPLE)
    bob = know(made, "Bob", told, plan)
    objection = find_objection(bob, plan, COUPLE)
    assert objection is not None
    assert "if we divide it otherwise" in objection.reason
    now, then = (
        max(expected_steps(bob, agent, items_of(parts, agent)) or 0 for agent in COUPLE)
        for parts in (plan, objection.changes)
    )
    assert now >= MARGIN * then
    assert now - then > ROUND_OF_TALK
    heard = know(made, "Alice", [tells(bob)], plan)
    better = divide_work(heard, COUPLE, plan, objection.changes)
    assert find_objection(know(made, "Bob", told, better), better, COUPLE) is None


def test_who_has_nothing_to_do_says_what_it_could_do() -> None:
    made = make_world("rooms", "two")
    objection = find_objection(know(made, "agent_1"), (item("agent_0", goal="deliver_0"),), made.spec.agents)
    assert objection is not None
    assert objection.reason == "I have nothing to do."
    assert items_of(objection.changes, "agent_1") == objection.changes != ()


def test_it_objects_to_what_leaves_out_something_clearly_better() -> None:
    fetch, look = Option(NEAR.action, NEAR.goal, 2), Option(LOOK.action, None, 9)
    me = at_home("Alice AT <kitchen>(11)", "<apple>(3) IN <kitchen>(11)", options=(fetch, look))
    mine = item("Alice", "check(cabinet_22)")
    objection = find_objection(me, (mine, item("Bob", "explore(kitchen_11)")), ("Bob", "Alice"))
    assert objection is not None
    assert objection.reason == "fetch(apple_3) is clearly worth more: about 2 steps."
    assert objection.changes == (item("Alice", "fetch(apple_3)", "apple_on_table"),)
    assert find_objection(me, (mine, item("Bob", "fetch(apple_3)", "apple_on_table")), ("Bob", "Alice")) is None


@pytest.mark.parametrize("seed", range(5))
def test_expected_steps_are_those_of_one_action_after_the_other(seed: int) -> None:
    made = make_world("household", "dev-tea", seed)
    me = know(made, "Alice")
    part = items_of(divide_work(me, COUPLE), "Alice")
    facts, total = me.known, 0
    for entry in part:  # the slow way: action by action, as the world's rules say
        action = read_item(entry, me)
        assert action is not None
        total += made.domain.estimate_steps("Alice", action, facts)
        facts = made.domain.predict("Alice", action, facts)
    assert expected_steps(me, "Alice", part) == total > 0
    assert expected_steps(me, "Alice", ()) == 0
    assert expected_steps(me, "Alice", (item("Alice", "rest a little"),)) is None


# ---- following a part

LOOK = Option(Action("check", (CABINET,)), None, 3)
NEAR = Option(Action("fetch", (Entity("apple", 3),)), "apple_on_table", 1)
FAR = Option(Action("fetch", (Entity("apple", 4),)), "apple_on_table", 7)
OPTIONS = (LOOK, NEAR, FAR)
PART: MetaPlan = (
    item("Alice", "fetch(apple_4)", "apple_on_table"),
    item("Alice", "check(cabinet_22)"),
    item("Alice", "fetch(apple_3)", "apple_on_table", 2),
)


def kitchen(*texts: str, **more: Any) -> DialogueKnowledge:
    facts = ("Alice AT <kitchen>(11)", "<cabinet>(22) IN <kitchen>(11)", "<cabinet>(22) STATE closed")
    return at_home(*facts, *texts, options=OPTIONS, **more)


def followed(me: DialogueKnowledge, since: int = 0) -> Action:
    step = follow_plan(me, PART, since)
    assert step is not None
    return step.action


def test_the_first_step_comes_first_and_in_it_the_nearest() -> None:
    assert followed(kitchen()) == LOOK.action


def test_what_is_done_is_passed_over() -> None:
    done = ("Alice AT <kitchen>(11)", "<cabinet>(22) STATE open", "Alice HOLD <apple>(4)")
    assert followed(at_home(*done, options=OPTIONS)) == NEAR.action


def test_what_fails_again_and_again_is_passed_over_until_the_plan_is_made_anew() -> None:
    me = kitchen(history=[Outcome(LOOK.action, "failed", "shut", start=start) for start in (2, 4)])
    assert followed(me) == FAR.action
    assert followed(me, since=3) == LOOK.action


@pytest.mark.parametrize(
    ("entry", "facts", "is_still_open"),
    [
        (item("Bob", "explore(kitchen_11)"), ("<kitchen>(11) EXPLORED all",), False),
        (item("Bob", "explore(kitchen_11)"), ("<kitchen>(11) EXPLORED part",), True),
        (item("Bob", "check(cabinet_22)"), ("<cabinet>(22) STATE open",), False),
        (item("Bob", "fetch(apple_3)", "apple_on_table"), ("Bob HOLD <apple>(3)",), False),
        (item("Bob", "fetch(apple_3)", "apple_on_table"), ("<apple>(3) ON <table>(20)",), False),
        (item("Bob", "fetch(apple_3)", "apple_on_table"), ("<apple>(3) IN <kitchen>(11)",), True),
        (item("Bob", goal="apple_on_table"), (), True),
        (item("Bob", goal="pear_on_table"), (), False),
        (item("Bob", "wait()"), (), False),
        (item("Bob", "hum a tune"), (), False),
    ],
)
def test_when_an_item_is_over(entry: PlanItem, facts: Sequence[str], is_still_open: bool) -> None:
    known = ("<kitchen>(11) EXPLORED part", "<cabinet>(22) STATE closed", "<apple>(9) IN <kitchen>(11)")
    subjects = {fact.partition(" ")[0] for fact in facts}
    others = [fact for fact in known if fact.partition(" ")[0] not in subjects]
    assert is_open(entry, at_home(*others, *facts, options=OPTIONS)) == is_still_open


def test_who_is_done_leaves_to_others_what_they_have_as_long_as_there_is_more() -> None:
    me = kitchen("<apple>(3) IN <kitchen>(11)", "<apple>(4) IN <kitchen>(11)")
    assert choose_beside(me, ()).action == NEAR.action
    assert choose_beside(me, (item("Bob", "fetch(apple_3)", "apple_on_table"),)).action == FAR.action
    all_taken = tuple(item("Bob", plain(option.action), option.goal) for option in OPTIONS)
    assert choose_beside(me, all_taken).action == NEAR.action


def test_what_one_was_only_told_of_is_gone_to_see() -> None:
    made = make_world("household", "dev-tea")
    part = (item("Alice", "check(bathroomcabinet_66)"),)
    step = follow_plan(know(made, "Alice", [tells(know(made, "Bob"))]), part)
    assert step is not None
    assert plain(step.action) in ("explore(kitchen_36)", "explore(bathroom_64)")  # the first is on the way
    assert follow_plan(know(made, "Alice"), part) is None  # nobody told of it


def test_a_task_is_that_of_the_first_item_that_serves_one() -> None:
    plan = (item("Bob", "check(cabinet_22)"), item("Bob", goal="pear"), item("Bob", goal="apple_on_table"))
    assert commitments(plan, kitchen()) == {"Bob": "apple_on_table"}


# ---- progress


def test_progress_is_told_in_ones_own_name_with_what_one_is_at() -> None:
    text = tell_progress(know(make_world("household", "dev-tea"), "Bob"))
    assert text.startswith("0 steps used. Nothing that Bob knows of is delivered yet. Bob's hands are empty. Bob is in")
    assert not {"you", "your"} & set(text.lower().replace(".", " ").split())
    in_rooms = tell_progress(know(make_world("rooms", "two"), "agent_0"))
    assert in_rooms.startswith("0 steps used. Of 2 tasks that agent_0 knows of, 0 done.")


def test_what_was_told_is_not_told_again_by_whomever() -> None:
    made = make_world("household", "dev-tea")
    bob = know(made, "Bob")
    line = tells(bob)
    assert "Bob POSITION" in line.text
    assert "bathroomcabinet_66 STATE closed" in line.text
    assert find_untold(know(made, "Bob", [line])) == ()
    moved = dataclasses.replace(bob, earlier=(line._replace(text="Facts: Bob AT kitchen_36."),))
    own = [fact for fact in find_untold(moved) if fact.subject == "Bob"]
    assert len(own) == 2  # all of it again: what it does not tell of is not in its hands


def test_where_all_know_all_nothing_is_to_be_told() -> None:
    assert find_untold(know(make_world("cube", "n4"), "agent_0")) == ()


def test_what_one_believes_no_longer_is_not_told() -> None:
    news = Line(5, "Bob", None, "Facts: cabinet_22 STATE open.")
    me = at_home("Alice AT <kitchen>(11)", "<cabinet>(22) IN <kitchen>(11)", "<cabinet>(22) STATE closed")
    seen_now = dataclasses.replace(me, earlier=(news,))
    assert "cabinet_22 STATE closed" in map(plain, find_untold(seen_now))  # she sees it: Bob is wrong
    seen_before = at_home(
        "Alice AT <kitchen>(11)", "<cabinet>(22) IN <kitchen>(11)", seen={"<cabinet>(22) STATE closed": 2}, said=(news,)
    )
    assert "cabinet_22 STATE closed" not in map(plain, find_untold(seen_before))
