"""Overcooked: the package as it is, its observations as facts, cooks that get past each other, a team that finishes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Entity, Fact, Facts, Plan
from teamworld.methods.common.knowledge import AgentKnowledge
from teamworld.methods.common.plan_answers import plan_error
from teamworld.methods.zero_shot.questions import TargetedPlan, ZeroShotPlan
from teamworld.reasoning.prompts import render
from teamworld.testing import check_world
from teamworld.worlds import registry
from teamworld.worlds.adapters import AdapterWorld, picture
from teamworld.worlds.adapters.overcooked import parallel_env
from teamworld.worlds.adapters.overcooked.env import make_bare
from teamworld.worlds.adapters.overcooked.levels import LEVELS
from teamworld.worlds.contract import WAIT, ImpossibleFacts

A, B = "agent_0", "agent_1"


def make(level: str = "cramped_room", seed: int = 0, steps: int = 400, **options: object) -> Any:  # noqa: ANN401
    """Return an instance, whose parts the tests look into."""
    made = registry.make("overcooked", level, seed, steps, options)
    assert isinstance(made, AdapterWorld)
    return made


def state_of(world: Any) -> Any:  # noqa: ANN401
    return world._state


def play(world: Any, actions: Mapping[AgentId, Action], most: int = 45) -> dict[AgentId, tuple[str, int]]:  # noqa: ANN401
    """Let each do one action and then wait; return how it ended, and in which step."""
    ended: dict[AgentId, tuple[str, int]] = {}
    for step in range(most):
        outcomes = world.step({agent: WAIT if agent in ended else action for agent, action in actions.items()}).outcomes
        for agent, outcome in outcomes.items():
            if outcome.status != "running" and agent not in ended:
                ended[agent] = (outcome.reason or outcome.status, step + 1)
        if len(ended) == len(actions):
            break
    return ended


def do(world: Any, agent: AgentId, verb: str, kind: str, number: int = 0) -> str:  # noqa: ANN401
    """Let one cook do one action while the other waits; return how it ended."""
    other = B if agent == A else A
    return play(world, {agent: Action(verb, (Entity(kind, number),)), other: WAIT})[agent][0]


@pytest.mark.parametrize("level", ["asymmetric_advantages", "counter_circuit"])
def test_observations_and_rewards_are_the_bare_packages(level: str) -> None:
    bare, adapted, rng = make_bare(level), parallel_env(level, 30), np.random.default_rng(1)
    bare.max_steps = 30
    for seed in (0, 5):
        observed, shown = bare.reset(seed=seed)[0], adapted.reset(seed=seed)[0]
        while bare.agents:
            assert all(np.array_equal(observed[number], shown[name]) for number, name in enumerate((A, B)))
            chosen = rng.integers(7, size=2).tolist()
            observed, rewards, _, over, _ = bare.step(dict(enumerate(chosen)))
            shown, paid, _, ended, _ = adapted.step(dict(zip((A, B), chosen, strict=True)))
            assert list(rewards.values()) == list(paid.values())
            assert list(over.values()) == list(ended.values())
        assert not adapted.agents
    with pytest.raises(UserError, match="no episode is running"):
        adapted.step({A: 0, B: 0})


def test_asking_for_a_space_leaves_the_episode_alone() -> None:
    asked, quiet = parallel_env("cramped_room"), parallel_env("cramped_room")
    asked.reset(seed=4)
    quiet.reset(seed=4)
    for action in (0, 2, 2, 3):
        assert asked.observation_space(A) is asked.observation_space(A)
        shown, others = (env.step({A: action, B: action})[0] for env in (asked, quiet))
        assert asked.observation_space(A).contains(shown[A])
        np.testing.assert_array_equal(shown[A], others[A])


@pytest.mark.parametrize("level", ["forced_coordination", "coordination_ring"])
def test_what_cooks_perceive_is_what_there_is(level: str) -> None:
    """The state that is read from observations equals the one that is read from the package's own arrays."""
    world, rng = make(level, 3, 70), np.random.default_rng(0)
    actions: dict[AgentId, Action] = {}
    for _ in range(69):
        for agent in (A, B):
            view = world.view(agent)
            assert world.domain.read(view.facts) == state_of(world)
            options = view.options
            actions[agent] = (
                options[int(rng.integers(len(options)))].action if rng.random() < 0.2 else actions.get(agent, WAIT)
            )
        world.step(actions)


def scripted(world: Any, most: int) -> int:  # noqa: ANN401
    """Play the scripted team; return the steps to the end, 0 if it did not come."""
    running: dict[AgentId, list[Action]] = {}
    for step in range(most):
        views = {agent: world.view(agent) for agent in (A, B)}
        plans = world.domain.plan_scripted_team(views, {agent: Plan(tuple(left)) for agent, left in running.items()})
        running |= {agent: list(plan.actions) for agent, plan in plans.items()}
        result = world.step({agent: left[0] for agent, left in running.items()})
        if result.end_reason == "all_done":
            return step + 1
        for agent, outcome in result.outcomes.items():
            if outcome.status == "failed" or (outcome.status == "done" and not running[agent][1:]):
                del running[agent]
            elif outcome.status == "done":
                del running[agent][0]
    return 0


@pytest.mark.parametrize("level", LEVELS)
def test_the_scripted_team_delivers(level: str) -> None:
    assert 0 < scripted(make(level, 1, soups=1), 110) <= 105


@pytest.mark.heavy
@pytest.mark.parametrize("level", LEVELS)
def test_the_world_keeps_the_contract(level: str) -> None:
    check_world("overcooked", [level], seeds=[0], steps=25)


def test_a_soup_from_the_stack_to_the_window() -> None:
    world = make()
    for _ in range(3):
        assert do(world, A, "get", "onion_stack") == "done"
        assert do(world, A, "add", "pot") == "done"
    assert state_of(world).pots[0].state == "cooking"
    assert not world.domain.check(A, Action("get", (Entity("pot", 0),)), world.view(A).known).ok
    assert do(world, A, "get", "plate_stack") == "done"
    assert do(world, A, "plate", "pot") == "done"  # waits until it is cooked
    assert state_of(world).hands[A] == "soup"
    assert [goal.units for goal in world.goals()] == [1, 5, 5, 5]
    assert do(world, A, "deliver", "window") == "done"
    assert [goal.state for goal in world.goals()] == ["done", "open", "open", "open"]
    assert Fact(Entity("soup", 1), "STATE", "delivered") in world.view(B).facts


@pytest.mark.parametrize(
    ("held", "action", "why"),
    [
        ("nothing", Action("add", (Entity("pot", 0),)), "no_onion"),
        ("plate", Action("plate", (Entity("pot", 0),)), "not_full"),
        ("onion", Action("deliver", (Entity("window", 0),)), "no_soup"),
        ("onion", Action("get", (Entity("onion_stack", 0),)), "hands_full"),
        ("nothing", Action("get", (Entity("counter", 0),)), "empty"),
        ("nothing", Action("place", (Entity("counter", 0),)), "hands_empty"),
        ("nothing", Action("get", (Entity("pot", 0),)), "illegal"),
        ("nothing", Action("go", ((0, 0),)), "no_way"),
    ],
)
def test_what_cannot_be_done_says_why(held: str, action: Action, why: str) -> None:
    world = make()
    facts = [fact for fact in world.truth() if (fact.subject, fact.predicate) != (A, "HOLDS")]
    verdict = world.domain.check(A, action, Facts((*facts, Fact(A, "HOLDS", held))))
    assert (verdict.ok, verdict.word) == (False, why)


def lines(world: Any, agent: AgentId, *facts: Fact) -> list[str]:  # noqa: ANN401
    """Return the lines of open goals for an agent if those facts hold instead of the world's."""
    changed = {(fact.subject, fact.predicate) for fact in facts}
    known = Facts((*(fact for fact in world.truth() if (fact.subject, fact.predicate) not in changed), *facts))
    return [world.domain.describe_goal(goal, agent, known) for goal in world.domain.goals(known)]


def test_the_next_action_takes_account_of_what_a_teammate_holds() -> None:
    world, pot = make(), Entity("pot", 0)
    full = [Fact(pot, "ONIONS", 3), Fact(pot, "STATE", "cooking"), Fact(pot, "LEFT", 9)]
    plate = Fact(B, "HOLDS", "plate")
    assert lines(world, A, *full)[0].startswith(
        "2 acts left: pot_0 cooks for 9 more steps, then a plate, then a window; one cook is enough; 1 point; next"
    )
    assert lines(world, A, *full, plate)[0].endswith(f"{B} holds the plate for it: nothing for you")
    assert "next for you: plate(pot_0)" in lines(world, B, *full, plate)[0]
    both = [lines(world, agent, *full, plate, Fact(A, "HOLDS", "plate"))[0] for agent in (A, B)]
    assert sorted("nothing for you" in line for line in both) == [False, True]  # only the nearer one goes
    onion, soup = Fact(B, "HOLDS", "onion"), Fact(B, "HOLDS", "soup")
    assert lines(world, A, Fact(pot, "ONIONS", 2), onion)[0].endswith(f"{B} holds the onion for it, a plate is next")
    assert (
        "1 more onion, then a plate, then a window; one cook is enough, 2 are of use"
        in lines(world, A, Fact(pot, "ONIONS", 2))[0]
    )
    assert "next for you: get(onion_stack" in lines(world, A, Fact(pot, "ONIONS", 1), onion)[0]
    assert lines(world, A, soup)[0] == (
        f"1 act left: it is on a plate, deliver it; 1 point; {B} holds it: nothing for you"
    )
    assert "next for you: deliver(window_0)" in lines(world, B, soup)[0]


def test_a_later_soup_names_the_one_that_leaves_its_pot() -> None:
    world = make()
    assert lines(world, A, Fact(B, "HOLDS", "soup"))[2:] == [
        f"later: no pot is free before soup_{number} is on a plate; 1 point" for number in (2, 3)
    ]


def test_a_plan_that_counts_on_a_teammate_is_told_what_the_pot_holds_by_then() -> None:
    world = make()
    actions = ("get(onion_stack_0)", "add(pot_0)", "get(plate_stack_0)", "plate(pot_0)")
    refusal = plan_error(actions, world.view(A), world.domain)
    assert refusal == "action 4, plate(pot_0): with your actions up to then pot_0 has 1 of 3 onions"


def test_a_task_that_has_to_wait_is_refused_as_such() -> None:
    world = make()
    view = world.view(A)
    question = ZeroShotPlan(A, {A: view}, AgentKnowledge(view, world.domain, world.spec))
    refused = [question.check(TargetedPlan(goal=goal, actions=("wait()",))) for goal in ("soup_2", "soup_9", None)]
    assert refused == [
        "you cannot work on soup_2 now (later: no pot is free before soup_1 is on a plate; 1 point); "
        "you can work on: soup_1",
        "there is no open task 'soup_9'; open are: soup_1",
        None,
    ]
    assert "your plan: 1 to 12 actions" in render(question).system


@pytest.mark.parametrize("level", ["cramped_room", "counter_circuit"])
def test_expected_effects_come_true(level: str) -> None:
    """Whatever one cook does while the other waits, hands, pots and counters are as predicted."""
    world, rng = make(level, 2), np.random.default_rng(5)
    park = world.domain.candidate_plans(None, B, world.view(B).known)[0].actions[0]
    play(world, {A: WAIT, B: park})
    for _ in range(8):
        view = world.view(A)
        options = [option.action for option in view.options if option.action.verb not in ("wait", "plate")]
        action = options[int(rng.integers(len(options)))]
        expected = world.domain.read(world.domain.predict(A, action, view.known))
        if play(world, {A: action, B: WAIT})[A][0] == "done":
            now = state_of(world)
            assert (now.hands, now.counters) == (expected.hands, expected.counters)
            assert [pot.onions for pot in now.pots] == [pot.onions for pot in expected.pots]


def test_over_a_wall_things_are_handed_over() -> None:
    world = make("forced_coordination")
    near, far = sorted((A, B), key=lambda agent: state_of(world).at[agent][1])  # the wall is in the middle
    plan = world.domain.candidate_plans(world.goals()[0], near, world.view(near).known)[0]
    assert [action.verb for action in plan.actions] == ["get", "place"]
    counter = plan.actions[1].args[0]
    kitchen = world.domain.kitchen
    assert all(counter in kitchen.reach(cell) for cell in state_of(world).at.values())
    assert {station.kind for station in kitchen.reach(state_of(world).at[far])} == {"pot", "window", "counter"}
    assert play(world, {near: plan.actions[0], far: WAIT})[near][0] == "done"
    assert play(world, {near: plan.actions[1], far: WAIT})[near][0] == "done"
    assert world.domain.candidate_plans(world.goals()[0], far, world.view(far).known)[0].actions[0] == Action(
        "get", (counter,)
    )


@pytest.mark.parametrize(
    ("level", "ends"),
    [
        ("counter_circuit", ((3, 1), (1, 6))),
        ("coordination_ring", ((3, 3), (1, 1))),
        ("cramped_room", ((1, 1), (1, 3))),
    ],
)
def test_cooks_who_meet_get_past_each_other(level: str, ends: tuple[tuple[int, int], tuple[int, int]]) -> None:
    world = make(level)
    assert {how for how, _ in play(world, {A: Action("go", (ends[0],)), B: Action("go", (ends[1],))}).values()} == {
        "done"
    }
    swapped = play(world, {A: Action("go", (ends[1],)), B: Action("go", (ends[0],))})
    assert all(how == "done" and step < 40 for how, step in swapped.values()), swapped


def test_who_stands_on_the_only_place_is_named() -> None:
    world = make()
    play(world, {A: Action("go", ((1, 2),)), B: Action("get", (Entity("onion_stack", 0),))})
    assert do(world, B, "add", "pot") == f"no_way: {A} was in the way"
    outcome = world.view(B).history[-1]
    assert (outcome.word, outcome.blocker) == ("no_way", A)


@pytest.mark.parametrize(
    ("level", "seed", "steps", "options", "says"),
    [
        ("cramped", 0, 10, {}, "did you mean 'cramped_room'"),
        ("cramped_room", -1, 10, {}, "a number from 0"),
        ("cramped_room", 0, 0, {}, "number of steps from 1"),
        ("cramped_room", 0, 10, {"soups": 0}, "soups"),
        ("cramped_room", 0, 10, {"onions": 2}, "onions"),
    ],
)
def test_bad_input_is_answered_in_one_line(
    level: str, seed: int, steps: int, options: dict[str, object], says: str
) -> None:
    with pytest.raises(UserError, match=says):
        make(level, seed, steps, **options)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("teamworld.worlds.adapters.package.importlib.import_module", missing)
    with pytest.raises(UserError, match="teamworld\\[adapters\\]"):
        parallel_env("cramped_room")


@pytest.mark.parametrize(
    "lie", [Fact(A, "AT", (0, 0)), Fact(Entity("pot", 7), "ONIONS", 1), Fact(Entity("counter", 99), "HOLDS", "onion")]
)
def test_facts_of_another_kitchen_are_refused(lie: Fact) -> None:
    with pytest.raises(ImpossibleFacts):
        make().domain.goals(Facts((lie,)))


def test_the_step_limit_is_the_packages() -> None:
    assert {registry.step_limit("overcooked", level, {}) for level in LEVELS} == {1000}
    world = make("cramped_room", steps=2)
    assert [world.step({}).end_reason for _ in range(2)] == [None, "horizon"]


def test_a_picture_shows_what_is_held_and_cooked() -> None:
    world = make()
    do(world, A, "get", "onion_stack")
    assert picture.text(world.spec.static, world.snapshot()).splitlines()[0] == "cc0cc"
    before = picture.frame(world.spec.static, world.snapshot())
    do(world, A, "add", "pot")
    assert picture.text(world.spec.static, world.snapshot()).splitlines()[0] == "cc1cc"
    assert before.shape == (4 * 32, 5 * 32, 3)
    assert (before != picture.frame(world.spec.static, world.snapshot())).any()
