"""Rooms: the physics against small cases, what agents see and remember, the scripted team, the levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teamworld.errors import UserError
from teamworld.language import Action, AgentId, Cell, Entity, Fact, Facts, Plan, parse_action
from teamworld.planning.allocation import pool_facts
from teamworld.worlds.base import picture
from teamworld.worlds.contract import WAIT, StepResult, talk
from teamworld.worlds.rooms import draw
from teamworld.worlds.rooms.facts import list_facts, read_state
from teamworld.worlds.rooms.known_picture import known_picture
from teamworld.worlds.rooms.levels import LEVELS, Instance, instance
from teamworld.worlds.rooms.physics import BURNS, OVERCOME, Primitive, step
from teamworld.worlds.rooms.state import House, Item, State, distances
from teamworld.worlds.rooms.world import RoomsOptions, RoomsWorld, make

HOUSE = House(2)


def world(
    agents: Mapping[str, tuple[str, Cell]],
    items: Mapping[int, tuple[int, Cell]],
    shut: tuple[int, ...] = (),
    fire: tuple[Cell, ...] = (),
    spread: float = 0.0,
) -> RoomsWorld:
    """Return two rooms with everything where a test wants it."""
    state = State(
        {agent: cell for agent, (_, cell) in agents.items()},
        {number: Item(weight, cell) for number, (weight, cell) in items.items()},
        frozenset(shut),
        dict.fromkeys(fire, BURNS),
    )
    kinds = {agent: kind for agent, (kind, _) in agents.items()}
    return RoomsWorld(Instance(HOUSE, kinds, state, shut), "custom", 60, RoomsOptions(spread=spread))


def cells_of_agents(here: RoomsWorld) -> list[Cell]:
    """Return where the agents are that are there, in the team's order."""
    return [(agent[0], agent[1]) for agent in here.snapshot()["agents"] if agent]


def do(here: RoomsWorld, **orders: str) -> StepResult:
    """Do one step with orders in written form."""
    return here.step({agent: parse_action(text) for agent, text in orders.items()})


def until(here: RoomsWorld, agent: AgentId, order: str, most: int = 40) -> StepResult:
    """Order once and let it run until it is over."""
    report = do(here, **{agent: order})
    for _ in range(most):
        if report.end_reason is not None or report.outcomes[agent].status != "running":
            return report
        report = here.step({})
    raise AssertionError(f"{order} goes on for ever")


# ---- ways


def slow_ways(house: House, end: Cell, closed: frozenset[Cell]) -> dict[Cell, int]:
    """Relax all pairs of cells until nothing changes: slow, and plain."""
    rows, columns = house.size
    cells = [(row, col) for row in range(rows) for col in range(columns) if house.rooms_at((row, col))]
    found = {end: 0}
    for _ in cells:
        for cell in cells:
            near = [c for c in cells if abs(c[0] - cell[0]) + abs(c[1] - cell[1]) == 1 and c in found]
            if near and cell not in closed:
                found[cell] = min(found.get(cell, 10**6), 1 + min(found[c] for c in near))
    return found


@settings(max_examples=25)
@given(st.integers(2, 3), st.sets(st.tuples(st.integers(0, 4), st.integers(0, 16)), max_size=12), st.integers(0, 4))
def test_ways_are_shortest(rooms: int, closed: set[Cell], row: int) -> None:
    house = House(rooms)
    blocked = frozenset(closed) - {(row, 0)}
    assert dict(distances(house, (row, 0), blocked)) == slow_ways(house, (row, 0), blocked)


def test_a_shut_door_or_fire_in_the_doorway_cuts_the_rooms_apart() -> None:
    assert (0, 6) in distances(HOUSE, (0, 0), frozenset())
    for state in (State({}, {}, frozenset({0})), State({}, {}, fire={HOUSE.doors[0]: 1})):
        assert (0, 6) not in distances(HOUSE, (0, 0), state.closed(HOUSE))


# ---- the step


def test_a_light_thing_is_lifted_carried_and_delivered_alone() -> None:
    here = world({"a": ("carrier", (0, 0))}, {0: (1, (0, 2))})
    assert do(here, a="go((0, 2))").outcomes["a"].status == "running"
    assert here.step({}).outcomes["a"].status == "done"
    report = do(here, a="lift(<item>(0))")
    assert (report.outcomes["a"].status, report.outcomes["a"].effect) == ("done", True)
    report = until(here, "a", "bring(<item>(0))")
    assert (report.end_reason, here.goals()[0].state, report.score) == (
        "all_done",
        "done",
        {"reward": 1.0, "delivered": 1.0},
    )


def test_a_heavy_thing_takes_two_who_lift_in_the_same_tick_and_go_together() -> None:
    here = world({"a": ("carrier", (0, 2)), "b": ("carrier", (0, 2))}, {0: (2, (0, 2))})
    report = do(here, a="lift(<item>(0), 1)")
    assert (report.outcomes["a"].word, report.outcomes["a"].constraint) == ("timeout", "participation")
    assert report.outcomes["a"].ready == "deliver_0"
    (attempt,) = report.attempts
    assert (attempt.success, dict(attempt.have)["temporal"], dict(attempt.have)["spatial"]) == (False, 1, 2)
    report = do(here, a="lift(<item>(0))", b="lift(<item>(0))")
    assert report.attempts[0].success
    assert {report.outcomes[agent].status for agent in "ab"} == {"done"}
    before = cells_of_agents(here)
    do(here, a="bring(<item>(0))")  # alone it cannot be moved
    assert cells_of_agents(here) == before
    do(here, b="bring(<item>(0))")
    assert cells_of_agents(here)[0] == cells_of_agents(here)[1] != before[0]
    assert Fact(Entity("item", 0), "AT", cells_of_agents(here)[0]) in here.truth()
    while (report := here.step({})).end_reason is None:
        pass
    assert report.end_reason == "all_done"


def test_three_lifting_two_hold() -> None:
    agents = dict.fromkeys("abc", ("carrier", (0, 2)))
    here = world(agents, {0: (2, (0, 2)), 1: (1, (4, 4))})
    do(here, **dict.fromkeys("abc", "lift(<item>(0))"))
    assert [fact.subject for fact in here.truth() if fact.predicate == "HOLD"] == ["a", "b"]


def test_vocabularies_differ_by_kind() -> None:
    here = world({"a": ("carrier", (2, 4)), "s": ("scout", (2, 4))}, {0: (1, (2, 4))}, shut=(0,))
    verbs = {agent: {schema.verb for schema in here.view(agent).abilities} for agent in "as"}
    assert verbs["a"] - verbs["s"] == {"lift", "bring", "drop"}
    assert verbs["s"] - verbs["a"] == {"open"}
    report = do(here, a="open(<door>(0))", s="lift(<item>(0))")
    assert {(outcome.legal, outcome.word) for outcome in report.outcomes.values()} == {(False, "illegal")}
    assert here.view("a").check(parse_action("go((2, 8))")).word == "no_way"
    assert [goal.prerequisites for goal in here.view("a").goals] == [(), ("open_0",)]
    assert do(here, s="open(<door>(0))").goals[-1].event == "done"
    assert here.view("a").check(parse_action("go((2, 8))")).ok


def test_scouts_are_twice_as_fast_but_not_through_walls() -> None:
    here = world({"a": ("carrier", (2, 0)), "s": ("scout", (2, 0))}, {0: (1, (0, 0))})
    orders = {agent: parse_action("go((2, 8))") for agent in "as"}
    here.step(orders)
    assert cells_of_agents(here) == [(2, 1), (2, 2)]
    assert here.domain.estimate_steps("s", orders["s"], here.view("s").known) == 3
    for _ in range(3):
        here.step({})
    assert cells_of_agents(here)[1] == (2, 8)


def test_fire_takes_whoever_is_in_it_and_overcomes_whoever_is_beside() -> None:
    here = world(
        {"a": ("carrier", (4, 1)), "b": ("carrier", (3, 2)), "c": ("scout", (0, 4))},
        {0: (1, (4, 1)), 1: (1, (0, 8))},
        fire=((4, 0),),
        spread=1.0,
    )
    report = here.step({})
    assert report.gone == {"a": "burnt"}
    assert report.outcomes["a"].reason == ""  # it was doing nothing
    assert [(event.goal, event.event) for event in report.goals] == [("deliver_0", "lost")]
    assert (here.view("b").is_able, here.view("c").is_able) == (True, True)
    here = world({"b": ("carrier", (3, 2)), "c": ("scout", (0, 4))}, {0: (1, (0, 8))}, fire=((3, 0),), spread=1.0)
    report = do(here, b="talk(5)")
    assert (report.outcomes["b"].word, report.gone) == ("overcome", {})
    assert not here.view("b").is_able
    assert here.view("b").check(WAIT).ok
    report = do(here, b="go((0, 4))")
    assert (report.outcomes["b"].legal, report.outcomes["b"].word, report.gone) == (False, "overcome", {"b": "burnt"})
    with pytest.raises(UserError, match="it is gone"):
        here.view("b")
    assert here.in_range("c", 99) == ()


def test_fire_burns_out_and_ash_does_not_burn_again() -> None:
    state = State({}, {}, fire={(0, 0): 2})
    first = step(state, HOUSE, {}, [(0, 1)]).state
    assert first.fire == {(0, 0): 1, (0, 1): BURNS}
    second = step(first, HOUSE, {}, [(0, 0)]).state
    assert (set(second.ash), set(second.fire)) == ({(0, 0)}, {(0, 1)})
    assert (0, 0) not in step(second, HOUSE, {}, [(0, 0), (0, 2)]).state.fire


def test_a_shut_door_keeps_the_fire_out() -> None:
    beside = HOUSE.doors[0][0], HOUSE.doors[0][1] - 1
    for shut, burns in ((frozenset({0}), False), (frozenset[int](), True)):
        state = State({}, {}, shut, {beside: BURNS})
        assert (HOUSE.doors[0] in step(state, HOUSE, {}, HOUSE.doors).state.fire) is burns


def test_smoke_wears_off() -> None:
    state = step(State({"a": (0, 2)}, {}, fire={(0, 0): 1}), HOUSE, {}, [(0, 1)]).state
    assert state.overcome == {"a": OVERCOME}
    for left in range(OVERCOME - 1, -1, -1):
        state = step(state, HOUSE, {"a": Primitive("go", ((0, 3),))}, []).state
        assert state.overcome.get("a", 0) == left
        assert state.agents["a"] == (0, 2)
    assert step(state, HOUSE, {"a": Primitive("go", ((0, 3),))}, []).state.agents["a"] == (0, 3)


# ---- sight and memory


def test_an_agent_sees_its_room_and_remembers_the_other_with_the_tick() -> None:
    here = world({"a": ("carrier", (2, 4)), "b": ("carrier", (2, 7))}, {0: (1, (0, 0)), 1: (1, (0, 8))})
    item, other = Entity("item", 0), Entity("item", 1)
    assert here.view("a").facts.value(item, "AT") == (0, 0)
    assert here.view("a").known.value(other, "AT") is None
    assert [goal.id for goal in here.view("a").goals] == ["deliver_0"]
    until(here, "a", "go((2, 5))")  # from the doorway it sees both rooms
    assert here.view("a").facts.value(other, "AT") == (0, 8)
    until(here, "a", "go((2, 4))")
    assert here.view("a").facts.value(other, "AT") is None
    assert {here.view("a").recall.seen[fact] for fact in here.view("a").recall} == {1}
    assert not list(here.view("a").known.about("UNSEEN"))


def test_what_is_not_where_it_was_is_somewhere() -> None:
    here = world({"a": ("carrier", (2, 4)), "b": ("carrier", (0, 8))}, {0: (1, (0, 8)), 1: (1, (4, 0))})
    until(here, "a", "go((2, 5))")
    until(here, "a", "go((2, 4))")
    assert here.view("a").known.value(Entity("item", 0), "AT") == (0, 8)
    do(here, b="lift(<item>(0))")
    until(here, "b", "go((1, 8))")
    do(here, b="drop()")
    assert here.view("a").known.value(Entity("item", 0), "AT") == (0, 8)  # a is wrong, and cannot know
    assert here.view("a").check(parse_action("lift(<item>(0))")).word == "not_there"
    until(here, "a", "go((2, 6))")
    assert here.view("a").known.value(Entity("item", 0), "AT") == (1, 8)


@given(st.sampled_from(sorted(LEVELS)), st.integers(0, 50))
def test_facts_of_a_moment_tell_the_moment(level: str, seed: int) -> None:
    placed = instance(level, seed)
    told = read_state(Facts(tuple(list_facts(placed.state, placed.house, range(placed.house.rooms)))))
    assert (told.agents, told.items, told.shut) == (placed.state.agents, placed.state.items, placed.state.shut)
    assert set(told.fire) == set(placed.state.fire)


# ---- plans


@pytest.mark.parametrize("level", ["one", "two", "three"])
def test_the_scripted_team_brings_everything(level: str) -> None:
    for seed in range(4):
        here = make(level, seed, 120, {})
        play(here)
        assert all(goal.state == "done" for goal in here.goals()), f"seed {seed}"


def test_the_scripted_team_saves_more_from_the_fire_than_nobody_does() -> None:
    saved = idle = 0.0
    for seed in range(6):
        here, still = (make("two-hazard", seed, 120, {}) for _ in range(2))
        here.reset(seed)
        still.reset(seed)
        saved += play(here).score["delivered"]
        report = still.step({})
        while report.end_reason is None:
            report = still.step({})
        idle += report.score["delivered"]
    assert idle == 0
    assert saved >= 12  # of 24


def play(here: RoomsWorld) -> StepResult:
    """Let the scripted team play to the end, and return the last step."""
    plans: dict[AgentId, Plan] = {}
    report = here.step({})
    while report.end_reason is None and len(here.truth()):
        alive = {agent for agent, cell in zip(here.spec.agents, here.snapshot()["agents"], strict=True) if cell}
        if not alive:
            report = here.step({})
            continue
        plans = {agent: plan for agent, plan in plans.items() if agent in alive and plan.actions}
        views = {agent: here.view(agent) for agent in here.spec.agents if agent in alive}
        plans |= here.domain.plan_scripted_team(views, plans)
        orders = {agent: plan.actions[0] for agent, plan in plans.items() if views[agent].check(plan.actions[0]).ok}
        report = here.step(orders)
        for agent, plan in list(plans.items()):
            if agent not in orders or report.outcomes[agent].status == "failed":
                del plans[agent]
            elif report.outcomes[agent].status == "done":
                plans[agent] = replace(plan, actions=plan.actions[1:])
    return report


# ---- levels and pictures


@given(st.sampled_from(sorted(LEVELS)), st.integers(0, 200))
def test_levels_are_placed_by_seed_with_everything_in_a_room_of_its_own_cell(level: str, seed: int) -> None:
    placed = instance(level, seed)
    assert placed == instance(level, seed)
    cells = [thing.cell for thing in placed.state.items.values()]
    assert len(set(cells)) == len(cells)
    for cell in (*cells, *placed.state.agents.values()):
        assert cell is not None
        assert placed.house.rooms_at(cell)
        assert cell not in (placed.house.table, *placed.state.fire)


def test_bad_input_is_refused_in_one_line() -> None:
    with pytest.raises(UserError, match="no level 'too'; did you mean 'two'"):
        make("too", 0, 10, {})
    with pytest.raises(UserError, match="option 'spred' of world rooms.*did you mean 'spread'"):
        make("two", 0, 10, {"spred": 1})
    with pytest.raises(UserError, match="option 'spread' of world rooms"):
        make("two", 0, 10, {"spread": 7})
    here = make("two", 0, 10, {})
    with pytest.raises(UserError, match="did you mean 'agent_1'"):
        here.step({"agent1": WAIT})
    for action in (Action("go", ((99, 0),)), Action("go", ("there",)), Action("lift", (Entity("item", 99),)), talk(0)):
        assert here.view("agent_0").check(action).word == "illegal"


def test_pictures_show_what_is_there() -> None:
    here = world({"a": ("carrier", (0, 1)), "b": ("scout", (1, 8))}, {0: (2, (3, 3))}, shut=(0,), fire=((4, 0),))
    assert draw.text(here.spec.static, here.snapshot()).split("\n") == [
        ".A...#....T",
        ".....#..B..",
        ".....|.....",
        "...0.#.....",
        "*....#.....",
    ]
    pixels = draw.frame(here.spec.static, here.snapshot(), scale=9)
    assert pixels.shape == (45, 99, 3)
    assert pixels.dtype == np.uint8
    assert tuple(pixels[40, 4]) == (0xD5, 0x5E, 0)
    assert [look["words"] for kind, look in here.spec.static["kinds"].items() if kind.startswith("weight")] == [
        "takes 2 agents at once"
    ]


def test_a_picture_has_nobody_who_is_gone_and_what_each_holds() -> None:
    here = world({"a": ("carrier", (0, 1)), "b": ("carrier", (4, 1))}, {0: (1, (0, 1))}, fire=((4, 0), (4, 2), (3, 1)))
    do(here, a="lift(<item>(0))")
    assert here.snapshot()["agents"][0] == [0, 1, "0", "", "weight 1"]
    assert not [thing for thing in here.snapshot()["things"] if thing[2].startswith("weight")], "it is in a hand"
    burnt = {"v": 1, "agents": [here.snapshot()["agents"][0], None], "things": []}
    assert not picture.find_fault(here.spec.static, [burnt], 2)
    assert "B" not in draw.text(here.spec.static, burnt)
    assert draw.frame(here.spec.static, burnt).any()


def test_a_picture_of_what_an_agent_knows_has_unseen_rooms_and_no_more() -> None:
    here = world({"a": ("carrier", (0, 1)), "b": ("carrier", (1, 8))}, {0: (1, (3, 3)), 1: (2, (3, 9))})
    shown = known_picture(here.view("a"), ("a", "b"))
    assert shown.hidden == {"b"}
    assert shown.frame["agents"] == [[0, 1, "0", "", ""], None]
    things = [thing for thing in shown.frame["things"] if thing[2] != "unseen"]
    assert things == [[3, 3, "weight 1", "0"]]
    assert {column for _, column, kind, _ in shown.frame["things"] if kind == "unseen"} == set(range(6, 11))
    assert "weight 2" not in shown.static["kinds"], "what it weighs would tell that it is there"


# ---- words


def test_what_two_hold_is_told_with_both_and_where_it_is() -> None:
    here = world({"a": ("carrier", (0, 2)), "b": ("carrier", (0, 2))}, {0: (2, (0, 2))})
    do(here, a="lift(<item>(0))", b="lift(<item>(0))")
    assert "item_0, weight 2: held by you and b at (0, 2)." in here.view("a").text()
    assert "item_0, weight 2: held by a and you at (0, 2)." in here.view("b").text()


def test_what_is_held_is_where_the_hand_is_in_what_a_team_knows_together() -> None:
    here = world({"a": ("carrier", (0, 2)), "b": ("carrier", (0, 8))}, {0: (1, (0, 2))})
    do(here, a="lift(<item>(0))")
    views = {agent: here.view(agent) for agent in ("a", "b")}
    (goal,) = here.view("a").goals
    words = here.domain.describe_goal(goal, "b", pool_facts(views))
    assert words.endswith("held by a at (0, 2), 12 steps to the table")
    assert "a, a carrier: out of your sight." in here.view("b").text()


def test_rules_speak_only_of_what_the_level_has() -> None:
    for level in LEVELS:
        spec = make(level, 0, 120, {}).spec
        carriers = sum(kind == "carrier" for kind in spec.kinds.values())
        assert ("no longer where it was seen is 5 times as likely" in spec.rules) is (carriers > 1)
        here = make(level, 0, 120, {})
        docs = " ".join(schema.doc for schema in here.view("agent_0").abilities)
        assert ("fire" in spec.rules + docs) is ("hazard" in level)
        assert ("Shut doors" in here.view("agent_0").text()) is (level == "three")
