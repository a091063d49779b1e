"""Going through a plan in the head, beside a plain reference that does one thing after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.language import Action, Entity, Facts, Plan, parse_action
from teamworld.planning.goals import workable_goals
from teamworld.planning.simulate import RememberedRules, SimulatedPlan, dry_run, simulate_plan
from teamworld.worlds import registry as worlds
from teamworld.worlds.contract import Domain, Goal, World
from teamworld.worlds.cube.state import Block, Layout
from teamworld.worlds.cube.world import CubeOptions, CubeWorld
from tests.toy import ToyWorld, work

ME = "agent_0"


@cache
def beside_a_block() -> CubeWorld:
    made = CubeWorld(Layout(12, ((3, 4), (9, 9)), (Block(1, 3, 5),)), "custom", 60, CubeOptions())
    made.reset(0)
    return made


def run(*texts: str) -> SimulatedPlan:
    world = beside_a_block()
    return dry_run(Plan(tuple(map(parse_action, texts))), world.view(ME), world.domain)


def test_all_actions_can_start_one_after_the_other() -> None:
    found = run("move_to_block(<block>(0), left, 24)", "push_block(<block>(0), 6, 0)")
    assert (found.ok, found.first_legal, found.reason) == (True, True, "")
    assert found.ticks == sum(found.spans) > 6
    assert len(found.before) == len(found.spans) == len(found.actions) == 2


def test_it_tells_which_action_could_not_start_and_why_and_goes_no_further() -> None:
    late = run("idle(2)", "move_to_block(<block>(0), up, 24)", "push_block(<block>(0), 99, 0)", "idle(1)")
    assert (late.ok, late.first_legal) == (False, True)
    assert late.reason.startswith("action 3, push_block(block_0, 99, 0): ")
    assert (len(late.spans), len(late.before)) == (2, 3)
    first = run("push_block(<block>(7), 1, 0)", "idle(1)")
    assert (first.ok, first.first_legal, first.ticks) == (False, False, 0)
    assert first.reason.startswith("action 1, ")


class Jobs(ToyWorld):
    """The toy world with effects: work is done, whoever helps."""

    looked = 0

    def predict(self, agent: str, action: Action, given: Facts) -> Facts:
        self.looked += 1
        done = {action.args[0]: int(str(action.args[1]))} if action.verb == "work" else {}
        left = ((fact, max(0, int(str(fact.value)) - done.get(fact.subject, 0))) for fact in given)
        return Facts(tuple(replace(fact, value=units) for fact, units in left))

    def goals(self, given: Facts | None = None) -> Sequence[Goal]:
        every = super().goals()
        if given is None:
            return every
        left = {fact.subject: int(str(fact.value)) for fact in given}
        known = [replace(goal, units=left[goal.thing]) for goal in every if goal.thing in left]
        return [goal if goal.units else replace(goal, state="done") for goal in known]


def jobs() -> Jobs:
    world = Jobs()
    world.reset(0)
    return world


def test_the_last_action_is_looked_beyond_only_where_somebody_asks() -> None:
    world = jobs()
    found = dry_run(Plan((work(0), work(0))), world.view("a"), world)
    assert (found.ok, world.looked) == (True, 1)
    assert found.then.value(Entity("job", 0), "LEFT") == found.then.value(Entity("job", 0), "LEFT") == 1
    assert world.looked == 2


def test_plans_that_begin_alike_are_looked_through_once() -> None:
    world, plain_world = jobs(), jobs()
    known, rules = world.view("a").known, RememberedRules(world)
    for last in (1, 2, 2):
        actions = (work(0), work(1), work(0, last))
        found = simulate_plan(actions, "a", known, rules)
        expected = simulate_plan(actions, "a", known, plain_world)
        assert found.spans == expected.spans
        assert found.then.items == expected.then.items
    assert (world.looked, plain_world.looked) == (4, 9)


def test_what_changes_nothing_is_passed_over_but_for_the_last() -> None:
    there, push = "move_to_block(<block>(0), left, 24)", "push_block(<block>(0), 6, 0)"
    plan = run("idle(2)", there, push)
    assert plan.still
    assert [str(action) for action in plan.trimmed.actions] == [push], "it stands there already"
    assert plan.trimmed.ticks == plan.spans[-1]
    assert not plan.trimmed.still
    assert plan.trimmed.then.items == plan.then.items
    assert [str(action) for action in run("idle(1)", "idle(2)").trimmed.actions] == ["idle(2)"]
    assert run("idle(1)", "idle(2)").trimmed.still
    assert [str(action) for action in run("idle(1)", "push_block(<block>(7), 1, 0)", push).trimmed.actions] == [
        "push_block(<block>(7), 1, 0)",
        push,
    ], "what cannot start stays"


@pytest.mark.parametrize(
    ("done", "share"), [((1,), 1 / 3), ((2,), 2 / 3), ((1, 1), 2 / 3), ((3,), 1.0), ((1, 2), 1.0), ((9,), 1.0)]
)
def test_a_plan_does_a_share_of_its_goal(done: tuple[int, ...], share: float) -> None:
    world = jobs()
    view = world.view("a")
    found = simulate_plan([work(0, units) for units in done], "a", view.known, world)
    first, second = view.goals
    assert found.share(first) == pytest.approx(share)
    assert found.share(second) == 0.0
    assert found.share(Goal("elsewhere", "k", None, units=3)) == 0.0, "nothing is known of it"


# ---- beside a plain reference


def plain(actions: tuple[Action, ...], given: Facts, domain: Domain) -> tuple[int, int | None, int]:
    """Return the ticks, the index of what cannot start, and that of the first action worth doing."""
    ticks, failed, now, worth = 0, None, given, len(actions) - 1
    for index, action in enumerate(actions):
        if not domain.check(ME, action, now).ok:
            failed = index
            break
        ticks += domain.estimate_steps(ME, action, now)
        now = domain.predict(ME, action, now)
    now = given
    for index, action in enumerate(actions[:-1]):
        if index == failed or domain.predict(ME, action, now).items != now.items:
            worth = index
            break
    return ticks, failed, worth


@cache
def place(name: str, level: str) -> World:
    made = worlds.make(name, level, 1, 60, {})
    made.reset(1)
    return made


@given(st.sampled_from([("rooms", "three"), ("cube", "paper-n2")]), st.data())
def test_it_is_what_a_plain_walk_tells(where: tuple[str, str], data: st.DataObject) -> None:
    world = place(*where)
    view, domain = world.view(ME), world.domain
    recipes = [
        plan.actions for goal in (*workable_goals(view), None) for plan in domain.candidate_plans(goal, ME, view.known)
    ]
    every = [option.action for option in view.options] + [action for actions in recipes for action in actions]
    drawn = st.lists(st.sampled_from(every), min_size=1, max_size=4).map(tuple)
    actions = data.draw(st.one_of(st.sampled_from(recipes), drawn))
    ticks, failed, worth = plain(actions, view.known, domain)
    found = simulate_plan(actions, ME, view.known, domain)
    assert (found.ticks, found.ok) == (ticks, failed is None)
    assert len(found.spans) == (len(actions) if failed is None else failed)
    assert found.trimmed.actions == actions[worth:]
