"""Transport as a world of the contract: steps of many frames, events, scores, options, determinism, what is hidden."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld import run
from teamworld.errors import UserError
from teamworld.language import Action, Entity, parse_action, plain
from teamworld.record import read_log
from teamworld.seeding import generator
from teamworld.testing import check_world
from teamworld.testing.episodes import Scenario, play
from teamworld.testing.random_walk import describe_view, differing_part
from teamworld.worlds import registry
from teamworld.worlds.contract import WAIT, StepResult, talk
from teamworld.worlds.transport import world as module
from teamworld.worlds.transport.levels import LEVELS
from teamworld.worlds.transport.observe import believed
from teamworld.worlds.transport.skills import PULSE
from teamworld.worlds.transport.world import TransportWorld, indistinguishable_pairs, make
from tests.worlds.transport.data import FOLDER, needs_data
from tests.worlds.transport.houses import box, give, house, item, put_agent, world

LIVING, KITCHEN, BEDROOM = Entity("livingroom", 1000), Entity("kitchen", 2000), Entity("bedroom", 3000)
APPLE, BANANA, BREAD, BOWL = Entity("apple", 11), Entity("banana", 12), Entity("bread", 13), Entity("bowl", 14)
THINGS = (
    item(11, "apple", 2.0, 3.0), item(12, "banana", 2.6, 3.2), item(13, "bread", 6.0, 3.5), item(14, "bowl", 1.0, 3.0),
)  # fmt: skip
PAIR = [(2.0, 1.0, 0.0), (6.0, 1.0, 0.0)]


# ---- the contract


def test_the_contract_is_kept() -> None:
    check_world("transport", ["dev-food-low"], seeds=(0,), steps=20)


@pytest.mark.heavy
def test_the_contract_is_kept_on_all_levels() -> None:
    check_world("transport", [name for name in LEVELS if name.startswith(("dev", "test"))], seeds=(1,), steps=12)


def variant(**options: Any) -> SimpleNamespace:
    """Return the module with other options than the usual ones, without twins, which are made with those."""

    def made(level: str, seed: int, horizon: int, more: Mapping[str, object]) -> TransportWorld:
        return make(level, seed, horizon, {**options, **more})

    names = ("LEVELS", "DEFAULT_LEVEL", "step_limit", "SUMMARY", "OPTIONS")
    return SimpleNamespace(__name__="variant", make=made, **{name: getattr(module, name) for name in names})


@pytest.mark.parametrize(
    "options",
    [
        {"agents": 1},
        {"agents": 4, "feedback": False},
        {"faithful": False, "body_radius": 0.25},
        {"perception": "detector", "put_failure": 0.5, "steal_held": True},
    ],
    ids=str,
)
def test_the_contract_is_kept_with_every_option(options: dict[str, Any]) -> None:
    check_world(variant(**options), ["dev-3"], seeds=(0,), steps=12)


@needs_data
def test_the_contract_is_kept_in_published_episodes() -> None:
    check_world(variant(data=str(FOLDER)), ["official-7"], seeds=(0,), steps=12)


def test_it_is_registered() -> None:
    assert registry.make("transport", "dev-3", 0, 250, {}).spec.world == "transport"
    assert registry.step_limit("transport", "dev", {}) == 3000


@needs_data
def test_logs_name_published_episodes_by_what_they_hold() -> None:
    options = make("official-3", 0, 10, {"data": str(FOLDER)}).spec.options
    assert str(options["data"]).startswith("sha256:")
    assert str(FOLDER) not in str(options)


# ---- steps of many frames


def test_a_step_goes_on_until_an_action_ends() -> None:
    here = world(house(THINGS, starts=PAIR))
    result = here.step({"Alice": talk(3), "Bob": talk(5)})
    assert (result.ticks, here.view("Alice").t) == (3, 3)
    assert [result.outcomes[agent].status for agent in here.spec.agents] == ["done", "running"]
    assert here.step({"Alice": talk(9)}).ticks == 2
    assert result.outcomes["Alice"].primitives == ("stay",) * 3


def test_a_step_in_which_somebody_waits_is_short() -> None:
    here = world(house(THINGS, starts=PAIR))
    assert here.step({"Bob": talk(50)}).ticks == PULSE
    assert here.step({"Alice": WAIT}).ticks == PULSE
    assert here.step({"Bob": talk(3)}).outcomes["Alice"].primitives == ("wait",) * 3


def test_a_step_in_which_an_action_is_refused_takes_one_frame() -> None:
    here = world(house(THINGS, starts=PAIR))
    result = here.step({"Alice": Action("deliver"), "Bob": talk(9)})
    assert (result.ticks, result.outcomes["Alice"].legal) == (1, False)


def test_a_step_ends_when_an_agent_sees_something_new() -> None:
    here = world(house(THINGS, starts=[(1.5, 2.0, 90.0), (10.0, 2.0, 90.0)]))
    result = here.step({"Alice": Action("go", (KITCHEN,)), "Bob": talk(400)})
    assert result.ticks < 100
    assert result.outcomes["Bob"].status == "running"
    assert len(list(here.view("Alice").known)) > 8


def test_the_limit_ends_the_episode_in_the_middle_of_a_move() -> None:
    here = world(house(THINGS, starts=PAIR), horizon=25)
    result = here.step({"Alice": talk(400), "Bob": talk(400)})
    assert (result.ticks, result.end_reason) == (25, "horizon")
    with pytest.raises(UserError, match="the episode is over"):
        here.step({})


def test_orders_for_nobody_are_refused_before_anything_happens() -> None:
    here = world(house(THINGS, starts=PAIR))
    before = here.snapshot()
    for attempt in (lambda: here.step({"Alcie": WAIT}), lambda: here.view("Carol"), lambda: here.in_range("Zoe", 3.0)):
        with pytest.raises(UserError, match="there is none"):
            attempt()
    assert here.snapshot() == before


def test_messages_reach_so_many_metres() -> None:
    here = world(house(THINGS, starts=[*PAIR, (6.0, 3.0, 0.0)]))
    assert here.in_range("Alice", float("inf")) == ("Bob", "Carol")
    assert here.in_range("Alice", 4.0) == ("Bob",)
    assert here.in_range("Alice", 3.9) == ()
    assert here.in_range("Carol", 2.0) == ("Bob",)


# ---- goals and scores


def test_progress_goes_to_who_carries_what_comes_near_the_bed() -> None:
    here = world(house([*THINGS, item(15, "apple", 5.0, 3.0)], starts=PAIR))
    give(here._moment, 0, 0, 0)
    give(here._moment, 1, 1, 3)
    here._moment.state.items["inside"][[1, 4]] = 3
    put_agent(here._moment, 0, 9.0, 1.0)
    result = here.step({"Alice": talk(1), "Bob": talk(1)})
    assert [(event.goal, event.event, event.delta, event.participants) for event in result.goals] == [
        ("deliver_apple", "progress", 0.5, ("Alice",))
    ]
    assert result.score == {"reward": 1.0, "delivered": 1.0, "released": 0.0}
    put_agent(here._moment, 1, 9.0, 3.0)
    result = here.step({"Alice": talk(1), "Bob": talk(1)})
    assert [(event.goal, event.event, event.participants) for event in result.goals] == [
        ("deliver_apple", "progress", ("Bob",)),
        ("deliver_apple", "done", ("Bob",)),
        ("deliver_banana", "progress", ("Bob",)),
        ("deliver_banana", "done", ("Bob",)),
    ]
    assert {goal.id: goal.state for goal in here.goals()}["deliver_bread"] == "open"
    put_agent(here._moment, 0, 2.0, 1.0)
    result = here.step({"Alice": talk(1), "Bob": talk(1)})
    assert (result.goals, result.score["reward"]) == ((), 0.0), "what was delivered stays so"


def test_the_last_target_ends_the_episode() -> None:
    here = world(house([item(11, "apple", 2.0, 3.0)], starts=[(7.0, 2.0, 90.0)]))
    give(here._moment, 0, 0, 0)
    here.step({"Alice": talk(1)})
    end = None
    for _ in range(20):
        end = here.step({"Alice": Action("deliver")}).end_reason
        if end:
            break
    assert end == "all_done"
    assert here._moment.state.items["released"].tolist() == [False], "it was still in her hand"


def episode(here: TransportWorld, seed: int, steps: int) -> Iterator[StepResult]:
    """Let agents do what makes sense at random."""
    rng = generator(seed, "test")
    running: set[str] = set()
    for _ in range(steps):
        actions = {}
        for agent in here.spec.agents:
            if agent not in running or rng.random() < 0.05:
                options = here.view(agent).options
                actions[agent] = options[int(rng.integers(len(options)))].action
        result = here.step(actions)
        yield result
        running = {agent for agent, outcome in result.outcomes.items() if outcome.status == "running"}
        if result.end_reason is not None:
            return


@pytest.mark.parametrize("seed", range(3))
def test_rewards_and_progress_agree_with_what_is_delivered(seed: int) -> None:
    here = make("dev", seed, 3000, {"agents": 3})
    here.reset(seed)
    shares = {goal.id: 0.0 for goal in here.goals()}
    rewards, frames = 0.0, 0
    for result in episode(here, seed, 400):
        rewards, frames = rewards + result.score["reward"], frames + result.ticks
        for event in result.goals:
            shares[event.goal] += event.delta
            assert event.participants
        assert rewards == result.score["delivered"]
        assert frames == here._moment.state.clock[0]
        assert all(len(outcome.primitives) == result.ticks for outcome in result.outcomes.values())
    for goal in here.goals():
        assert shares[goal.id] == pytest.approx((goal.weight - goal.units) / goal.weight)


# ---- what is hidden


@pytest.mark.parametrize("seed", range(2))
def test_twins_look_alike_until_the_difference_is_seen(seed: int) -> None:
    pairs = list(islice(indistinguishable_pairs("dev", seed), 2))
    assert {pair.agent for pair in pairs} == {"Alice", "Bob"}
    for one, other, agent in pairs:
        assert list(one.truth()) != list(other.truth())
        assert one.spec.public == other.spec.public
        for twin in (one, other):
            twin.reset(seed)
        mate = {"Alice": "Bob", "Bob": "Alice"}[agent]
        for step in range(30):
            views = one.view(agent), other.view(agent)
            if set(views[0].facts) != set(views[1].facts):
                break
            assert differing_part(*map(describe_view, views)) is None, (agent, step)
            options = views[0].options
            order = {agent: options[(7 * step) % len(options)].action} if step % 9 == 0 else {}
            results = [twin.step({**order, mate: WAIT}) for twin in (one, other)]
            assert results[0].outcomes[agent] == results[1].outcomes[agent]


def test_no_view_tells_what_only_the_log_may_hold() -> None:
    here = make("dev-1", 0, 3000, {})
    view = here.view("Alice")
    known = believed(view.known)
    hidden = [thing for thing in here._names.things.values() if thing not in known.room]
    assert len(hidden) > 5
    said = view.text() + str(list(view.known)) + str(view.abilities) + str(view.options) + str(view.goals)
    said += here.spec.task + here.spec.rules + str(here.spec.public) + str(here.domain.relations)
    for thing in hidden:
        assert str(thing) not in said
        assert repr(thing) not in said
        assert not re.search(rf"\b{plain(thing)}\b", said)
        none = Entity(thing.kind, 9999)  # to ask for what one has not seen is like asking for what there is not
        reasons = [view.check(parse_action(f"fetch({asked})")).reason for asked in (thing, none)]
        assert reasons[0].replace(plain(thing), plain(none)) == reasons[1]


def test_agents_plan_by_what_they_know_and_fail_by_the_truth() -> None:
    here = world(house(THINGS, starts=[(2.0, 1.0, 0.0), (2.5, 1.0, 0.0)]))
    actions = dict.fromkeys(here.spec.agents, Action("fetch", (APPLE,)))
    ends: dict[str, str] = {}
    for _ in range(40):
        outcomes, actions = here.step(actions).outcomes, {}
        for agent, outcome in outcomes.items():
            if outcome.action.verb == "fetch" and outcome.status != "running":
                ends[agent] = outcome.word or outcome.status
    assert sorted(ends.values()) in (["done", "held"], ["done", "gone"])


# ---- the same again


def test_the_seed_decides_what_is_drawn() -> None:
    one, other = (world(house(THINGS, starts=PAIR), perception="detector", miss=0.5, put_failure=0.5) for _ in range(2))
    logs = {}
    for seed in (0, 1, 0):
        for here in (one, other):
            here.reset(seed)
            results = episode(here, 0, 25)
            logs[seed, here is one] = [f"{result} {list(here.view('Alice').known)}" for result in results]
        assert logs[seed, True] == logs[seed, False]
    assert logs[0, True] != logs[1, True]


@given(st.integers(0, 10**6))
@settings(max_examples=8, deadline=None)
def test_actions_in_any_order_give_the_same_step(seed: int) -> None:
    first, second = (world(house(THINGS, starts=[*PAIR, (3.0, 3.0, 90.0)])) for _ in range(2))
    rng = generator(seed, "test")
    for _ in range(10):
        actions = {}
        for agent in first.spec.agents:
            options = first.view(agent).options
            actions[agent] = options[int(rng.integers(len(options)))].action
        results = first.step(actions), second.step(dict(reversed(list(actions.items()))))
        assert repr(results[0]) == repr(results[1])
        assert first.snapshot() == second.snapshot()
        if results[0].end_reason:
            return


PLAYED = """
from teamworld.testing.episodes import Scenario, play
for options, method in (({"agents": 3, "perception": "detector"}, "random"), ({}, "greedy")):
    print(play(method, Scenario("transport", "dev", 2, 300, options), {}).digest)
"""


@pytest.mark.heavy
def test_logs_are_the_same_bytes_whatever_the_order_of_sets() -> None:
    told = set()
    for salt in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", PLAYED],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": salt},
        )
        told.add(done.stdout)
    assert len(told) == 1


def test_an_episode_is_played_and_recorded(tmp_path: Any) -> None:  # noqa: ANN401
    run("transport", level="dev-2", method="greedy", out=tmp_path / "runs", max_steps=700)
    logs = sorted((tmp_path / "runs").rglob("*.jsonl.zst"))
    events = list(read_log(logs[0]))
    assert events[-1].tick == 700 or events[-1].reason == "all_done"  # type: ignore[union-attr]


@pytest.mark.parametrize("method", ["random", "greedy", "do_nothing", "coela", "cobel"])
def test_methods_come_to_an_end(method: str) -> None:
    events = play(method, Scenario("transport", "dev-1", 0, 600, {}), {}).events
    assert events[-1].reason in ("all_done", "horizon")  # type: ignore[union-attr]


# ---- options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agents": 5}, "option 'agents' of world transport"),
        ({"body_radius": 0}, "option 'body_radius'"),
        ({"perception": "eyes"}, "option 'perception'"),
        ({"creap": 1}, "did you mean 'creep'"),
        ({"put_failure": 2}, "option 'put_failure'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        make("dev", 0, 10, options)


def test_bodies_of_other_sizes_get_through_other_gaps() -> None:
    """Between two tables are 0.5 m."""
    tables = [box("table", 2.0, 0.8, 1.0, 1.5, 0.7), box("table", 2.0, 2.9, 1.0, 1.7, 0.7)]
    instance = house([item(11, "apple", 3.4, 1.8)], tables, [(0.6, 1.8, 90.0)])
    ends = {}
    for radius in (0.2, 0.3):
        here = world(instance, body_radius=radius)
        here._moment.knowledge.things["seen"][0, 0] = 0
        here._moment.knowledge.things[["x", "z"]][0, 0] = (3.4, 1.8)
        for _ in range(200):
            outcome = here.step({"Alice": Action("fetch", (APPLE,))}).outcomes["Alice"]
            if outcome.status != "running":
                break
        ends[radius] = outcome.word or outcome.status
    assert ends == {0.2: "done", 0.3: "no_way"}


def test_the_rules_of_an_instance_can_be_changed_without_changing_others() -> None:
    here = world(replace(house(THINGS, starts=PAIR), name="other"))
    assert here.spec.static["house"] == "small"
    assert here.spec.level == "small"
