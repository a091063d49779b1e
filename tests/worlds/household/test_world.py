"""The household as a world of the contract: steps, events, scores, levels, options, determinism, what is hidden."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations, islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld import run
from teamworld.errors import UserError
from teamworld.experiment.replay import replay
from teamworld.experiment.store.folder import RunFolder
from teamworld.language import Entity, Fact, parse_action, plain
from teamworld.record import read_log
from teamworld.testing import check_world
from teamworld.testing.episodes import Scenario, play
from teamworld.testing.random_walk import describe_view, differing_part
from teamworld.worlds import registry
from teamworld.worlds.household import observe
from teamworld.worlds.household import world as module
from teamworld.worlds.household.homes.home import Episode, Need
from teamworld.worlds.household.levels import episode
from teamworld.worlds.household.observe import TEAM, believed
from teamworld.worlds.household.world import LEVELS, HouseholdWorld, indistinguishable_pairs, make
from tests.worlds.household.data import FOLDER, needs_data
from tests.worlds.household.homes import APPLE, COFFEE, CUPCAKE, KITCHEN, LIVING, TABLE, flat
from tests.worlds.household.scenes import (
    AT_CABINET,
    AT_COFFEE,
    AT_FRIDGE,
    AT_TABLE,
    do,
    done,
    moved,
    stroll,
    until,
    world,
)

OURS = [name for name in LEVELS if not name.startswith("official")]
OFFICIAL = [name for name in LEVELS if name.startswith("official")]


# ---- the contract


@pytest.mark.parametrize("level", ["dev-meal-1"])
def test_the_contract_is_kept(level: str) -> None:
    check_world("household", [level], seeds=(0,), steps=12)


@pytest.mark.heavy
def test_the_contract_is_kept_in_all_tasks() -> None:
    check_world("household", OURS, seeds=(1,), steps=8)


def variant(**options: Any) -> SimpleNamespace:
    """Return the module with other options than the usual ones, without twins, which are made with those."""

    def made(level: str, seed: int, horizon: int, more: Mapping[str, object]) -> HouseholdWorld:
        return make(level, seed, horizon, {**options, **more})

    names = ("LEVELS", "DEFAULT_LEVEL", "step_limit", "SUMMARY", "OPTIONS")
    return SimpleNamespace(__name__="variant", make=made, **{name: getattr(module, name) for name in names})


@pytest.mark.parametrize(
    "options",
    [
        {"sight": "cone", "agents": 3},
        {"sight": "cone", "occlusion": True},
        {"mode": "engine", "agents": 1},
        {"strict_put": True, "feedback": False},
        {"agents": 4},
        {"rooms": 6, "placement": "official"},
    ],
    ids=str,
)
def test_the_contract_is_kept_with_every_option(options: dict[str, Any]) -> None:
    check_world(variant(**options), ["dev-3"], seeds=(0,), steps=6)


def test_it_is_registered() -> None:
    assert registry.make("household", "dev-3", 0, 250, {}).spec.world == "household"


# ---- what is hidden


@pytest.mark.parametrize("seed", range(3))
def test_twins_look_alike_until_the_difference_is_seen(seed: int) -> None:
    """Agents act at random, alike in both; what one is told of its actions, too, is the same up to then."""
    pairs = list(islice(indistinguishable_pairs("dev", seed), 2))
    assert {pair.agent for pair in pairs} == {"Alice", "Bob"}
    for one, other, agent in pairs:
        assert list(one.truth()) != list(other.truth())
        assert one.entities == other.entities
        assert one.spec.public == other.spec.public
        for world_ in (one, other):
            world_.reset(seed)
        mate = {"Alice": "Bob", "Bob": "Alice"}[agent]
        for step in range(40):
            views = one.view(agent), other.view(agent)
            if set(views[0].facts) != set(views[1].facts):
                break
            assert differing_part(*map(describe_view, views)) is None, (agent, step)
            options = views[0].options
            order = {agent: options[(7 * step) % len(options)].action} if step % 9 == 0 else {}
            reports = [world_.step({**order, mate: parse_action("wait()")}) for world_ in (one, other)]
            assert reports[0].outcomes[agent] == reports[1].outcomes[agent]


def test_no_view_tells_what_only_the_log_may_hold() -> None:
    here = make("dev-0", 0, 250, {})
    view = here.view("Alice")
    named = {one for one in here.entities if one not in believed(here.truth()).rooms}
    hidden = {one for one in named if one not in believed(view.known).places} - {goal.thing for goal in here.goals()}
    assert hidden
    said = view.text() + str(list(view.known)) + str(view.abilities) + str(view.options) + str(view.goals)
    said += here.spec.task + here.spec.rules + str(here.spec.public) + str(here.domain.relations)
    for one in hidden:
        assert str(one) not in said
        assert repr(one) not in said
        assert not re.search(rf"\b{plain(one)}\b", said)
        none = Entity(one.kind, 9999)  # to ask for what one has not seen is like asking for what there is not
        for verb in ("fetch", "check", "go", "grab", "open"):
            reasons = [view.check(parse_action(f"{verb}({asked})")).reason for asked in (one, none)]
            assert plain(reasons[0]).replace(plain(one), plain(none)) == plain(reasons[1])


def test_the_order_of_the_roster_is_that_of_numbers() -> None:
    here = make("dev-1", 1, 250, {})
    rooms = [one for one in here.entities if one in believed(here.truth()).rooms]
    others = list(here.entities)[len(rooms) :]
    assert list(here.entities)[: len(rooms)] == rooms
    assert [one.id for one in others] == sorted(one.id for one in others)
    here.reset(5)
    done(here, "Alice", str(here.view("Alice").options[0].action))
    assert list(here.entities) == [*rooms, *others]


def test_numbers_of_things_do_not_tell_where_they_lie() -> None:
    ordered = []
    for seed in range(25):
        given_ = episode("dev", seed)
        kinds, at = {need.name for need in given_.needs}, given_.home.parent
        things = [node.id for node in given_.home.nodes.values() if node.name in kinds]
        apart = [(at[one][1], at[other][1]) for one, other in combinations(sorted(things), 2)]
        ordered += [first < second for first, second in apart if first != second]
    assert 0.35 < sum(ordered) / len(ordered) < 0.65


# ---- nothing gets lost (D6)

ORDERS = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 3), st.booleans()), min_size=1, max_size=40)


@settings(max_examples=25, deadline=None)
@given(orders=ORDERS, seed=st.integers(0, 5), mode=st.sampled_from(["strict", "engine"]), strict=st.booleans())
def test_every_thing_is_in_one_place_or_one_hand(
    orders: list[tuple[int, int, bool]], seed: int, mode: str, strict: bool
) -> None:
    here = world(AT_TABLE, AT_FRIDGE, AT_COFFEE, AT_CABINET, seed=seed, mode=mode, strict_put=strict)
    things = set(here._names.things)
    opened = believed(here.truth()).opened
    for draw, number, stay in orders:
        agent = TEAM[number]
        schemas = [one for one in here.view(agent).abilities if all(param.choices for param in one.params)]
        schema = schemas[draw % len(schemas)]
        args = tuple(param.choices[(draw // 7) % len(param.choices)] for param in schema.params)
        report = do(here, **({} if stay else {agent: f"{schema.verb}({', '.join(map(str, args))})"}))
        truth = observe.truth(here._names, here._state, {})
        held = [thing for hands in truth.hands.values() for thing in hands]
        lying = [one for one in truth.places if one in things]
        assert sorted([*held, *lying], key=str) == sorted(things, key=str)
        assert all(len(hands) <= 2 for hands in truth.hands.values())
        for box, is_open in truth.opened.items():
            if is_open != opened[box]:
                verb = "open" if is_open else "close"
                assert any(outcome.effect and verb in outcome.primitives for outcome in report.outcomes.values())
        opened = truth.opened
        if report.end_reason is not None:
            return


def test_what_is_held_or_shut_away_is_truly_in_the_room_of_its_holder() -> None:
    here = world(AT_TABLE, AT_FRIDGE)
    for _ in stroll(here, 5, 40):
        truth, known = set(here.truth()), observe.truth(here._names, here._state, {})
        for agent, things in known.hands.items():
            assert {Fact(thing, "IN", known.at[agent]) for thing in things} <= truth
        inside = {thing: place[1] for thing, place in known.places.items() if place[0] == "INSIDE"}
        assert {Fact(thing, "IN", known.room[box]) for thing, box in inside.items()} <= truth


def test_the_truth_counts_what_each_has_explored() -> None:
    here = world(AT_TABLE, AT_FRIDGE)
    assert here.truth().value(Entity("livingroom", LIVING), "EXPLORED") is None
    done(here, "Bob", "explore(<livingroom>(12))")
    assert here.truth().value(Entity("livingroom", LIVING), "EXPLORED") == "all"


# ---- goals, events, scores

PAIR = Episode(
    "pair",
    "read_book",
    moved(flat(), {APPLE: ("ON", TABLE)}),
    (Need("ON", "apple", COFFEE, 1), Need("ON", "cupcake", COFFEE, 1)),
    (KITCHEN, LIVING),
)


def test_progress_adds_up_and_what_is_taken_away_counts_against_it() -> None:
    here = world(AT_TABLE, AT_TABLE, given=PAIR)
    done(here, "Alice", "fetch(<apple>(30))", "explore(<livingroom>(12))", "go(<coffeetable>(23))")
    report = do(here, Alice="put(<apple>(30), <coffeetable>(23))")
    assert [(one.goal, one.event, one.delta, one.participants) for one in report.goals] == [
        ("apple_on_coffeetable", "progress", 1.0, ("Alice",)),
        ("apple_on_coffeetable", "done", 0.0, ("Alice",)),
    ]
    assert (report.score["reward"], report.score["missing"], report.end_reason) == (1.0, 1.0, None)
    assert [goal.state for goal in here.goals()] == ["done", "open"]
    report = do(here, Alice="grab(<apple>(30))")
    assert [(one.event, one.delta, one.participants) for one in report.goals] == [("progress", -1.0, ("Alice",))]
    assert report.score["reward"] == -1.0
    assert [goal.state for goal in here.goals()] == ["open", "open"]
    assert do(here, Alice="put(<apple>(30), <coffeetable>(23))").score["reward"] == 1.0


def test_only_who_brings_it_there_takes_part() -> None:
    """Alice lays an apple on the table of the goal in the step in which Bob puts one into the cabinet."""
    home = moved(flat(), {APPLE: ("ON", TABLE), CUPCAKE: ("ON", TABLE)})
    two = replace(home, nodes={**home.nodes, CUPCAKE: home.nodes[CUPCAKE]._replace(name="apple")})
    two_apples = Episode("a", "read_book", two, (Need("ON", "apple", COFFEE, 2),), (KITCHEN,))
    here = world(AT_TABLE, AT_TABLE, given=two_apples)
    done(here, "Alice", "fetch(<apple>(30))", "explore(<livingroom>(12))", "go(<coffeetable>(23))")
    done(here, "Bob", "fetch(<apple>(32))", "explore(<livingroom>(12))", "go(<cabinet>(22))")
    report = do(here, Alice="put(<apple>(30), <coffeetable>(23))", Bob="put(<apple>(32), <cabinet>(22))")
    assert all(outcome.effect for outcome in report.outcomes.values())
    assert [(one.event, one.delta, one.participants) for one in report.goals] == [("progress", 0.5, ("Alice",))]


@pytest.mark.parametrize("seed", range(4))
def test_rewards_and_progress_agree_with_what_is_missing(seed: int) -> None:
    here = make("dev", seed, 250, {"agents": 4})
    missing = [goal.units for goal in here.goals()]
    shares = dict.fromkeys((goal.id for goal in here.goals()), 0.0)
    rewards = 0.0
    for report in stroll(here, seed, 250):
        if report is not None:
            rewards += report.score["reward"]
            for event in report.goals:
                shares[event.goal] += event.delta
            assert all(event.participants for event in report.goals)
            assert report.score["missing"] == sum(goal.units for goal in here.goals())
    for goal, first in zip(here.goals(), missing, strict=True):
        assert shares[goal.id] == pytest.approx((first - goal.units) / first)
        assert (goal.state == "done") == (goal.units == 0)
    assert rewards == sum(missing) - sum(goal.units for goal in here.goals())


# ---- steps


def test_the_last_thing_ends_the_episode_and_no_step_follows() -> None:
    here = world(AT_TABLE, given=PAIR)
    done(here, "Alice", "fetch(<apple>(30))", "fetch(<cupcake>(32))", "explore(<livingroom>(12))")
    outcome, _ = until(here, "Alice", "deliver()")
    assert outcome.status == "done"
    assert here._over == "all_done"
    with pytest.raises(UserError, match="the episode is over") as error:
        here.step({})
    assert "\n" not in str(error.value)
    here.reset(0)
    assert here.step({}).end_reason is None


def test_orders_for_nobody_are_refused_before_anything_happens() -> None:
    here = world(AT_TABLE)
    before = list(here.truth())
    for attempt in (lambda: do(here, Alcie="wait()"), lambda: here.view("Bob"), lambda: here.in_range("Zoe", 3.0)):
        with pytest.raises(UserError, match="there is none"):
            attempt()
    assert list(here.truth()) == before
    assert here.view("Alice").t == 0


def test_messages_reach_so_many_metres() -> None:
    here = world(AT_FRIDGE, AT_TABLE, AT_COFFEE)  # 2.66 m, and 7.7 m from the fridge
    assert here.in_range("Alice", float("inf")) == ("Bob", "Carol")
    assert here.in_range("Alice", 3.0) == ("Bob",)
    assert here.in_range("Alice", 2.0) == ()
    assert here.in_range("Carol", 6.1) == ("Bob",)


@pytest.mark.parametrize("agents", [1, 2])
def test_a_silent_random_team_comes_to_an_end(agents: int) -> None:
    ends = []
    for seed in range(2):
        events = play("random", Scenario("household", "dev", seed, 250, {"agents": agents}), {}).events
        ends.append(events[-1].reason)  # type: ignore[union-attr]
    assert set(ends) <= {"all_done", "horizon"}
    assert "all_done" in ends


# ---- the same again


def test_the_seed_decides_where_agents_start_and_who_wins() -> None:
    one, other = make("dev-0", 0, 250, {}), make("dev-0", 0, 250, {})
    places = {}
    for seed in (0, 1, 0):
        for here in (one, other):
            here.reset(seed)
        assert list(one.truth()) == list(other.truth())
        places[seed] = [one.truth().value(agent, "POSITION") for agent in one.spec.agents]
    assert places[0] != places[1]
    reports = []
    for here in (one, other):
        here.reset(3)
        reports.append([repr(report) for report in stroll(here, 3, 60)])
    assert reports[0] == reports[1]


PLAYED = """
from teamworld.testing.episodes import Scenario, play
for sight, method in (("room", "random"), ("cone", "greedy")):
    print(play(method, Scenario("household", "dev", 2, 40, {"sight": sight, "agents": 3}), {}).digest)
"""


def test_the_same_seed_writes_the_same_log_whatever_the_order_of_sets() -> None:
    found = set()
    for seed in ("0", "77"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        told = subprocess.run(
            [sys.executable, "-c", PLAYED], env=environment, capture_output=True, text=True, check=True, timeout=250
        )
        found.add(told.stdout)
    (digests,) = found
    assert len(set(digests.split())) == 2


def test_a_run_replays(tmp_path: Path) -> None:
    options = {"household": {"agents": 2, "sight": "cone"}}
    for name in "ab":
        out = tmp_path / name
        run("household", level="dev", method="greedy", episodes=2, max_steps=25, seed=3, options=options, out=out)
    logs = [[path.read_bytes() for path in sorted((tmp_path / name / "logs").rglob("*.zst"))] for name in "ab"]
    assert logs[0] == logs[1]
    assert len(logs[0]) == 2
    folder = RunFolder(tmp_path / "a")
    (tmp_path / "scratch").mkdir()
    assert [one.difference for one in replay(folder, folder.experiment(), tmp_path / "scratch")] == [None, None]


def test_an_instance_is_made_again_from_what_its_specification_says() -> None:
    for options in ({}, {"agents": 3, "sight": "cone", "occlusion": True, "strict_put": True, "mode": "engine"}):
        one = make("dev-tea-2", 0, 120, options)
        other = make(one.spec.level, 0, one.spec.horizon, one.spec.options)
        assert one.spec == other.spec
        assert list(one.truth()) == list(other.truth())


# ---- levels and options


@pytest.mark.parametrize("agents", range(1, 9))
def test_one_to_eight_play(agents: int) -> None:
    here = make("dev-0", 0, 250, {"agents": agents})
    assert here.spec.agents == TEAM[:agents]
    assert len({here.truth().value(agent, "POSITION") for agent in here.spec.agents}) == agents
    for _ in stroll(here, 0, 12):
        pass


@pytest.mark.parametrize(
    ("level", "options", "says"),
    [
        ("dve", {}, "dev"),
        ("official-0", {}, "option data"),
        ("official-0", {"data": "/no/such/folder"}, "/no/such/folder"),
        ("dev", {"agents": 0}, "agents"),
        ("dev", {"agents": 9}, "agents"),
        ("dev", {"sight": "sonar"}, "sight"),
        ("dev", {"mode": "lax"}, "mode"),
        ("dev", {"occlusoin": True}, "occlusion"),
        ("dev", {"starts": "recorded"}, "use random"),
        ("dev", {"starts": "anywhere"}, "starts"),
    ],
)
def test_bad_input_gets_one_line(level: str, options: dict[str, object], says: str) -> None:
    with pytest.raises(UserError, match=says) as error:
        make(level, 0, 50, options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("horizon", [0, -3])
def test_an_episode_has_a_step(horizon: int) -> None:
    with pytest.raises(UserError, match="from 1"):
        make("dev", 0, horizon, {})


# ---- the official set


@needs_data
@pytest.mark.parametrize("level", OFFICIAL)
def test_every_official_level_can_be_played(level: str) -> None:
    for options in ({"starts": "recorded"}, {"sight": "cone", "occlusion": True, "agents": 4}, {"mode": "engine"}):
        here = make(level, 1, 250, {"data": str(FOLDER), **options})
        here.reset(1)
        for _ in stroll(here, 1, 15):
            pass


@needs_data
@pytest.mark.heavy
@pytest.mark.parametrize("level", OFFICIAL)
def test_the_contract_is_kept_in_the_official_set(level: str) -> None:
    check_world(variant(data=str(FOLDER)), [level], seeds=(0,), steps=20)


@needs_data
def test_who_starts_where_a_recorded_run_began_starts_there() -> None:
    starts = set()
    for seed in range(4):
        here = make("official-0", seed, 250, {"data": str(FOLDER), "starts": "recorded", "agents": 3})
        here.reset(seed)
        for number, places in enumerate(here.episode.recorded, 1):
            assert tuple(here._state.points[number]) in {tuple(place) for place in places}
        starts.add(here._state.points[3])  # of whom nothing is recorded
    assert len(starts) == 4


@needs_data
def test_no_log_names_the_folder_of_the_data(tmp_path: Path) -> None:
    options, out = {"household": {"data": str(FOLDER)}}, tmp_path / "run"
    run("household", level="official-0", method="greedy", episodes=1, max_steps=10, options=options, out=out)
    (path,) = (out / "logs").rglob("*.zst")
    assert str(FOLDER) not in repr(list(read_log(path)))
    assert make("official-0", 0, 10, {"data": str(FOLDER)}).spec.options["data"].startswith("sha256:")
