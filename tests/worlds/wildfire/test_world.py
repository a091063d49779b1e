"""Wildfire as methods play it: the option layer, what is known, goals and their events, on flat little maps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from teamworld.errors import UserError
from teamworld.language import Cell as Place
from teamworld.language import parse_action, parse_fact
from teamworld.testing import check_world
from teamworld.worlds.contract import StepResult
from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire import world as module
from teamworld.worlds.wildfire.levels import Event, Level, Task, Team, WildfireInstance
from teamworld.worlds.wildfire.skills import DETOUR
from teamworld.worlds.wildfire.state import DEAD, Cell
from teamworld.worlds.wildfire.world import WildfireOptions, WildfireWorld, make
from tests.worlds.wildfire.maps import flat


def world(
    team: Team,
    task: Task = "rescue",
    spawn: Place = (5, 5),
    size: int = 40,
    trees: int = 0,
    options: WildfireOptions | None = None,
    events: tuple[Event, ...] = (),
    event_cells: tuple[tuple[Cell, ...], ...] = (),
    max_steps: int = 60,
    fire_every: int = 100,
    known: bool = True,
    **places: Any,
) -> WildfireWorld:
    """Return a flat map with everything where a test wants it."""
    lines = places.get("targets", ())
    clusters = places.get("clusters", ())
    level = Level(
        name="custom", task=task, size=size, team=team, max_steps=max_steps, fire_every=fire_every, known=known,
        clusters=max(1, len(clusters)) if task in ("rescue", "both") else 0, per_cluster=2, events=events,
        targets=len(lines), trees_per_line=len(lines[0]) if lines else 1,
    )  # fmt: skip
    terrain = flat(size, wind=(5.0, 0.0), trees=trees).with_water(places.get("water", ()))
    made = WildfireInstance(level=level, seed=0, terrain=terrain, spawn=Cell(*spawn), event_cells=event_cells, **places)
    return WildfireWorld(made, "custom", 1_000, options or WildfireOptions())


def do(here: WildfireWorld, **orders: str) -> StepResult:
    """Do one step with orders in written form."""
    return here.step({agent: parse_action(text) for agent, text in orders.items()})


def until(here: WildfireWorld, agent: str, order: str) -> tuple[StepResult, int]:
    """Order once and let it run until it is over; return the last report and the steps."""
    report, steps = do(here, **{agent: order}), 1
    while report.outcomes[agent].status == "running":
        report, steps = here.step({}), steps + 1
        assert steps < 50
    return report, steps


FAR = Cell(35, 35)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "level",
    ["cut_trees_sparse_small", "cut_trees_lines_small", "scout_fire_small", "transport_firefighters_small",
     "rescue_civilians_known_location_small", "suppress_fire_contain", "suppress_fire_extinguish@2026", "perception"],
)  # fmt: skip
def test_the_contract_is_kept(level: str) -> None:
    check_world("wildfire", [level], seeds=(0,), steps=25)


TWO_TASKS = ["cut_trees_sparse_small", "rescue_civilians_known_location_small"]


def staffed(level: str, firefighters: int | None) -> WildfireWorld:
    """Return a level with a number of firefighters of its own; None: the option is not given."""
    return make(level, 3, 60, {} if firefighters is None else {"firefighters": firefighters})


@pytest.mark.parametrize("level", TWO_TASKS)
@pytest.mark.parametrize("firefighters", [2, 3, 4])
def test_a_team_of_another_size_has_the_same_task_in_the_same_place(level: str, firefighters: int) -> None:
    own, here = staffed(level, None), staffed(level, firefighters)
    assert here.spec.agents == tuple(f"firefighter_{number}" for number in range(1, firefighters + 1))
    goals, others = here.view("firefighter_1").goals, own.view("firefighter_1").goals
    assert [(goal.id, goal.kind, goal.thing, goal.units) for goal in goals] == [
        (goal.id, goal.kind, goal.thing, goal.units) for goal in others
    ]  # as many trees, as many civilians
    assert here.spec.task == own.spec.task
    drawn, own_drawn = dict(here.spec.static), dict(own.spec.static)
    assert len(drawn.pop("kinds")) == firefighters
    assert len(own_drawn.pop("kinds")) == 3
    assert drawn == own_drawn  # where the land, the start, the targets and the civilians are

    def made(level: str, seed: int, horizon: int, options: Mapping[str, object]) -> WildfireWorld:
        return make(level, seed, horizon, {**options, "firefighters": firefighters})

    check_world(SimpleNamespace(**{**vars(module), "make": made}), [level], seeds=(0,), steps=10)


def test_firefighters_stand_in_place_of_the_levels_and_the_others_stay() -> None:
    assert make("suppress_fire_contain", 0, 50, {"firefighters": 2}).spec.agents == (
        "firefighter_1", "firefighter_2", "bulldozer_3",
    )  # fmt: skip


def test_who_does_not_set_the_number_of_firefighters_finds_no_word_of_it() -> None:
    assert "firefighters" not in staffed("cut_trees_sparse_small", None).spec.options
    assert WildfireOptions(firefighters=None) == WildfireOptions()
    options = staffed("cut_trees_sparse_small", 2).spec.options
    assert options["firefighters"] == 2
    assert WildfireOptions.model_validate(options) == WildfireOptions(firefighters=2)


# ---- the option layer


@pytest.mark.parametrize(
    ("team", "agent", "trees", "steps"),
    [
        (Team(1), "firefighter_1", 0, 3),  # 30 cells at 12, 9.6 and 4.8 a timestep
        (Team(1), "firefighter_1", 1, 4),
        (Team(1), "firefighter_1", 3, 7),
        (Team(1, 1), "bulldozer_2", 3, 4),
        (Team(1, 0, 1), "drone_2", 3, 2),
        (Team(1, 0, 0, 1), "helicopter_2", 3, 1),
    ],
)
def test_a_move_is_done_when_the_agent_is_there(team: Team, agent: str, trees: int, steps: int) -> None:
    here = world(team, trees=trees, target=FAR, clusters=(FAR,))
    report, taken = until(here, agent, "move_to((35, 5))")
    assert taken == steps
    assert report.outcomes[agent].status == "done"
    assert here.view(agent).facts.value(agent, "AT") == (35, 5)
    assert agent not in here._executor.running  # it decides in the very next timestep


def test_a_way_may_lead_to_the_corner_but_not_beyond() -> None:
    here = world(Team(1), target=FAR, clusters=(FAR,))
    assert until(here, "firefighter_1", "move_to((0, 0))")[0].outcomes["firefighter_1"].status == "done"
    report = do(here, firefighter_1="move_to((40, 0))")
    assert (report.outcomes["firefighter_1"].legal, report.outcomes["firefighter_1"].word) == (False, "illegal")
    assert here.view("firefighter_1").history[-1].word == "illegal"
    assert here.view("firefighter_1").facts.value("firefighter_1", "AT") == (0, 0)


def test_cutting_takes_a_step_a_tree() -> None:
    here = world(Team(1), "contain", trees=3, fire=FAR)
    assert until(here, "firefighter_1", "cut(2)")[1] == 2
    assert here.view("firefighter_1").facts.value("firefighter_1", "TREES") == 1
    assert until(here, "firefighter_1", "cut_all()")[1] == 1
    assert here.view("firefighter_1").check(parse_action("cut_all()")).word == "no_tree"


def test_an_order_that_is_given_again_lets_the_action_run_on() -> None:
    here = world(Team(1), "contain", trees=3, fire=FAR)
    reports = [do(here, firefighter_1="cut_all()") for _ in range(3)]
    assert [report.outcomes["firefighter_1"].status for report in reports] == ["running", "running", "done"]
    assert {report.outcomes["firefighter_1"].start for report in reports} == {0}


def test_a_bulldozer_clears_every_cell_of_a_line() -> None:
    line = tuple(Cell(x, 20) for x in range(10, 17))
    here = world(Team(1, 1), "cut_lines", spawn=(10, 10), trees=3, targets=(line,))
    report, steps = until(here, "bulldozer_2", "fell(<line>(0))")
    assert steps == 4  # 10 cells at 8, then 6 at 4
    assert here.goals()[0].state == "done"
    assert [event.event for event in report.goals] == ["progress", "done"]


def test_people_are_carried_to_the_zone_and_wander_elsewhere() -> None:
    here = world(Team(1), spawn=(5, 5), target=Cell(20, 5), clusters=(Cell(7, 5),))
    report = do(here, firefighter_1="pick_up()")
    assert report.outcomes["firefighter_1"].effect
    assert report.attempts[0].success
    assert here.view("firefighter_1").check(parse_action("pick_up()")).word == "full_hands"
    do(here, firefighter_1="drop_off()")
    assert {person.state for person in here.view("firefighter_1").state.people.values()} == {"free"}
    do(here, firefighter_1="pick_up()")
    until(here, "firefighter_1", "go_to(<zone>(0))")
    report = do(here, firefighter_1="drop_off()")
    assert report.score["score"] == 1
    assert [(event.goal, event.delta) for event in report.goals] == [("rescue_0", 0.5)]
    assert here.view("firefighter_1").goals[0].units == 1


def test_nobody_near_fails_the_attempt_on_the_place() -> None:
    here = world(Team(1), target=FAR, clusters=(Cell(30, 5),))
    assert here.view("firefighter_1").check(parse_action("pick_up()")).word == "nobody_near"
    assert do(here, firefighter_1="pick_up()").outcomes["firefighter_1"].legal is False


def test_riders_cannot_act_and_count_once_they_stand_in_the_zone() -> None:
    here = world(Team(6, 0, 0, 1), "transport", target=Cell(35, 5))
    helicopter = "helicopter_7"
    report = do(here, helicopter_7="take_aboard()")
    (attempt,) = report.attempts
    assert attempt.success
    assert len(attempt.participants) == 6
    rider = here.view("firefighter_1")
    assert not rider.is_able
    assert rider.check(parse_action("move_to((9, 9))")).word == "aboard"
    assert [str(option.action) for option in rider.options] == ["wait()"]
    assert here.view("firefighter_6").is_able
    assert here.view(helicopter).check(parse_action("take_aboard()")).word == "full"
    until(here, helicopter, "go_to(<zone>(0))")
    assert here.goals()[0].units == 6
    report = do(here, helicopter_7="set_down()")
    assert report.score["score"] == 5
    assert here.view("firefighter_1").is_able


def test_water_is_fetched_poured_and_carried_by_nobody_else() -> None:
    here = world(Team(1, 0, 0, 1), "contain", fire=Cell(30, 30), water=(Cell(5, 5),), spawn=(5, 6), trees=1)
    assert here.view("firefighter_1").check(parse_action("refill()")).word == "not_at_water"
    until(here, "firefighter_1", "go_to(<water>(0))")
    do(here, firefighter_1="refill()", helicopter_2="go_to(<water>(0))")
    assert here.view("firefighter_1").facts.value("firefighter_1", "WATER") == 5
    do(here, helicopter_2="refill()")
    assert here.view("helicopter_2").check(parse_action("take_aboard()")).word == "has_water"
    do(here, firefighter_1="spray((9, 9))", helicopter_2="release()")
    assert here.view("firefighter_1").facts.value("firefighter_1", "WATER") == 4
    assert here.view("helicopter_2").facts.value("helicopter_2", "WATER") == 4


@pytest.mark.parametrize("count", [False, True])
def test_riders_above_the_zone_count_where_the_score_counts_them(count: bool) -> None:
    options = WildfireOptions(riders_count=count)
    here = world(Team(5, 0, 0, 1), "transport", target=Cell(35, 5), options=options)
    do(here, helicopter_6="take_aboard()")
    report, _ = until(here, "helicopter_6", "go_to(<zone>(0))")
    (goal,) = here.goals()
    assert (goal.units, goal.state) == ((0, "done") if count else (5, "open"))
    assert list(here.view("helicopter_6").goals) == [goal]
    assert report.score["score"] == 5 - goal.units
    assert [event.event for event in report.goals] == (["progress", "done"] if count else [])


# ---- fire


def test_the_careful_go_round_the_fire_and_the_others_die_in_it() -> None:
    for careful in (True, False):
        fire = {"fire": Cell(20, 5), "spawn": (5, 5), "trees": 2, "fire_every": 500}
        here = world(Team(1), "contain", options=WildfireOptions(careful=careful), **fire)  # type: ignore[arg-type]
        while here.incident.t < 8:
            here.step({})
        report, _ = until(here, "firefighter_1", "move_to((35, 6))")
        assert (report.gone == {}) is careful
        if not careful:
            assert report.outcomes["firefighter_1"].word == report.gone["firefighter_1"] == "burnt"
            with pytest.raises(UserError, match="it is gone"):
                here.view("firefighter_1")


def test_two_above_the_fire_at_once_end_the_scouting() -> None:
    here = world(Team(0, 0, 2), "scout", fire=Cell(30, 30), trees=2, known=False, fire_every=300)
    assert [goal.id for goal in here.view("drone_1").goals] == ["search"]
    assert {goal.id for goal in here.goals()} == {"search", "scout_0"}
    report = do(here, drone_1="move_to((28, 28))")
    assert [(event.goal, event.event) for event in report.goals] == [
        ("scout_0", "opened"), ("search", "progress"), ("search", "done"),
    ]  # fmt: skip
    while here.step({}).outcomes["drone_1"].status == "running":
        pass
    assert [goal.id for goal in here.view("drone_2").goals] == ["search", "scout_0"]
    report, _ = until(here, "drone_1", "go_to(<fire>(0))")
    (attempt,) = report.attempts
    assert (attempt.success, dict(attempt.have)["spatial"]) == (False, 1)
    assert report.outcomes["drone_1"].ready == "scout_0"
    report, _ = until(here, "drone_2", "go_to(<fire>(0))")
    assert (report.end_reason, report.attempts[0].success, report.score["score"]) == ("all_done", True, 2)


def test_a_second_fire_is_one_more_goal_and_ends_with_the_first_when_they_have_met() -> None:
    here = world(
        Team(0, 0, 1), "contain", fire=Cell(10, 20), spawn=(20, 20), trees=2, events=(Event(2, "fire"),),
        event_cells=((Cell(18, 20),),), max_steps=40,
    )  # fmt: skip
    ids: list[tuple[str, tuple[str, ...]]] = []
    opened = []
    for _ in range(14):
        report = here.step({})
        opened += [event.goal for event in report.goals if event.event == "opened"]
        ids.append((here.goals()[-1].id, here.goals()[-1].prerequisites))
        assert [goal.id for goal in here.view("drone_1").goals] == [goal.id for goal in here.goals()]
    assert opened == ["fire_1"]
    assert ids[0] == ("fire_0", ())
    assert ids[3] == ("fire_1", ())
    assert ids[-1] == ("fire_1", ("fire_0",))
    assert parse_fact("<fire>(1) IN <fire>(0)") in here.view("drone_1").facts


@pytest.mark.parametrize("shared", [True, False])
def test_the_dead_are_found_too(shared: bool) -> None:
    options = WildfireOptions(shared_map=shared)
    here = world(Team(1, 0, 1), target=FAR, spawn=(5, 5), clusters=(Cell(30, 30),), known=False, options=options)
    here.incident.civilians.state[:] = DEAD
    here.step({})
    assert [goal.state for goal in here.goals() if goal.id == "search"] == ["open"]
    reports = [do(here, drone_2="move_to((30, 30))") for _ in range(3)]
    events = [(event.goal, event.event) for report in reports for event in report.goals]
    assert ("search", "done") in events
    assert ("rescue_0", "opened") in events
    for goals in (here.goals(), here.view("drone_2").goals):
        assert {goal.id: goal.state for goal in goals} == {"search": "done", "rescue_0": "lost"}


def burning(cells: Iterable[Place], **places: Any) -> WildfireWorld:
    """Return a forest with water at (30, 30) where these cells burn, and nothing else catches fire for 50 steps."""
    first, *others = cells
    places |= {"fire": Cell(*first), "water": (Cell(30, 30),)}
    here = world(Team(1, 1), "contain", trees=3, fire_every=5_000, max_steps=45, **places)
    for x, y in others:
        physics.ignite(here.incident.land, x, y)
    here.step({})
    return here


@pytest.mark.parametrize("agent", ["firefighter_1", "bulldozer_2"])
@pytest.mark.parametrize("order", ["go_to(<water>(0))", "move_to((30, 30))"])
def test_whoever_runs_to_and_fro_before_a_ring_of_fire_gives_up(agent: str, order: str) -> None:
    ring = [*((x, 14) for x in range(18, 40)), *((18, y) for y in range(15, 40))]  # to the edges of the map
    here = burning(ring, spawn=(30, 5))
    report, steps = until(here, agent, order)
    outcome = report.outcomes[agent]
    assert (outcome.status, outcome.word, outcome.constraint) == ("failed", "no_way", "spatial")
    assert steps <= 2 * DETOUR
    assert not report.gone


def test_a_way_round_the_fire_is_no_wandering() -> None:
    here = burning([(x, 14) for x in range(25, 33)], spawn=(28, 5))
    report, steps = until(here, "firefighter_1", "go_to(<water>(0))")
    assert report.outcomes["firefighter_1"].status == "done"
    assert steps > 6  # 25 cells straight on are six steps through dense forest


def test_a_fire_that_nobody_saw_is_not_known_of() -> None:
    here = world(Team(2), "contain", fire=Cell(30, 30), trees=2, known=False)
    for _ in range(3):
        here.step({})
        assert not here.view("firefighter_1").state.fires
        assert not any(fact.predicate in ("BURNS", "STATE") for fact in here.view("firefighter_1").known)


def test_without_a_shared_map_each_knows_what_it_saw() -> None:
    options = WildfireOptions(shared_map=False)
    here = world(Team(1, 0, 1), "contain", fire=Cell(30, 30), trees=2, known=False, options=options)
    until(here, "drone_2", "move_to((35, 35))")
    assert here.view("drone_2").state.fires
    assert not here.view("firefighter_1").state.fires
    assert here.view("drone_2").recall.value("firefighter_1", "AT") == (5, 5)
    assert here.spec.memory == "agent"


def test_whoever_went_away_was_seen_somewhere() -> None:
    here = world(Team(1, 0, 1), target=FAR, spawn=(5, 5), clusters=(Cell(15, 15),), max_steps=40)
    first = here.view("firefighter_1").state.people[0]
    assert (first.at, first.was) == ((15, 15), None)
    here.incident.civilians.x[0] = 38  # out of everybody's sight
    until(here, "drone_2", "move_to((6, 6))")
    person = here.view("firefighter_1").state.people[0]
    assert (person.at, person.was, person.state) == (None, (15, 15), "free")
    assert not here.view("firefighter_1").check(parse_action("go_to(<civilian>(0))")).ok
    assert here.view("firefighter_1").check(parse_action("go_to(<cluster>(0))")).ok  # its mate is still there


# ---- instances and input


@pytest.mark.parametrize(("steps", "old", "ends"), [(7, False, 7), (70, False, 70), (7, True, 7), (70, True, 30)])
def test_a_run_may_be_longer_than_its_level_but_where_an_old_record_says_no(steps: int, old: bool, ends: int) -> None:
    here = make("cut_trees_sparse_small", 0, steps, {"limit": old})
    assert here.spec.horizon == ends
    assert ("limit" in here.spec.options) == old  # records of new runs do not speak of it


def test_the_score_charges_cut_trees_or_not() -> None:
    for name in ("reference", "burnt"):
        options = WildfireOptions.model_validate({"score": name})
        here = world(Team(1), "contain", fire=Cell(30, 30), trees=2, options=options)
        report, _ = until(here, "firefighter_1", "cut_all()")
        assert report.score["score"] == report.score[f"score_{name}"]
        assert report.score["score_burnt"] - report.score["score_reference"] == 2


@pytest.mark.parametrize(
    ("level", "options", "says"),
    [
        ("suppress_fire_contian", {}, "suppress_fire_contain"),
        ("suppress_fire_contain@2027", {}, "no edition"),
        ("suppress_fire_contain", {"fire": "wild"}, "fire"),
        ("suppress_fire_contain", {"shared": True}, "shared_map"),
        ("suppress_fire_contain", {"relief_m": -1}, "relief_m"),
        ("suppress_fire_contain", {"map_file": "no_such_map.npz"}, "no_such_map"),
        ("suppress_fire_contain", {"firefighters": 0}, "option 'firefighters' of world wildfire: .* 1, got 0"),
        ("suppress_fire_contain", {"firefighters": 2.5}, "option 'firefighters' of world wildfire: .* got 2.5"),
        ("suppress_fire_contain", {"firefighters": 2_000_000}, "firefighters must be an integer .* got 2000000"),
        ("scout_fire_small", {"firefighters": 2}, "scout_fire_small has no firefighters, only drones: leave .* out"),
    ],
)
def test_bad_input_gets_one_line(level: str, options: dict[str, object], says: str) -> None:
    with pytest.raises(UserError, match=says) as error:
        make(level, 0, 50, options)
    assert "\n" not in str(error.value)


def test_all_presets_are_levels_in_both_editions() -> None:
    from teamworld.worlds.wildfire.levels import PRESETS

    assert len(PRESETS) == 17
    assert set(PRESETS) <= set(module.LEVELS)
    for name in PRESETS:
        assert make(f"{name}@2026", 1, 50, {}).spec.agents
