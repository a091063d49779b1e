"""What is told before the first step, of goals, and of a view: only what there is, with what rules answer by."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teamworld.language import Action, Entity, parse_action, plain
from teamworld.worlds.wildfire import physics
from teamworld.worlds.wildfire.firebreaks import firebreak
from teamworld.worlds.wildfire.levels import LEVELS, Team
from teamworld.worlds.wildfire.skills import cut_before, cutting_left, line_cells, travel_ticks
from teamworld.worlds.wildfire.state import Cell
from teamworld.worlds.wildfire.world import WildfireOptions, WildfireWorld, make
from tests.worlds.wildfire.test_world import FAR, do, until, world

SMALL = [name for name, level in LEVELS.items() if level.team.size <= 20 and level.size <= 250]
#: Words, and the levels that may use them.
ONLY: dict[str, Callable[[Any], object]] = {
    "water|spray|refill|release|tank": lambda level: (
        level.water or any(event.kind == "water" for event in level.events)
    ),
    "civilian|pick_up|drop_off|cluster": lambda level: level.civilians,
    "helicopter|aboard|set_down": lambda level: level.team.helicopters,
    "drone": lambda level: level.team.drones or level.task == "scout",
    "bulldozer": lambda level: level.team.bulldozers,
    "fire(?!fighter)|burn|smoulder": lambda level: level.task in ("scout", "contain", "both"),
    "sector": lambda level: not level.known,
    "zone": lambda level: level.task in ("transport", "rescue"),
    "[Tt]imestep|[Tt]icks?\\b": lambda level: False,
    "<": lambda level: False,
}


def all_words(here: WildfireWorld) -> str:
    """Return everything that a reader is shown of an instance."""
    texts = [here.spec.task, here.spec.rules]
    for agent in {kind: agent for agent, kind in here.spec.kinds.items()}.values():
        view = here.view(agent)
        texts += [view.text(), view.text("grid")]
        texts += [f"{schema.verb} {schema.doc} {schema.needs} {plain(schema.example)}" for schema in view.abilities]
        texts += [here.domain.describe_goal(goal, agent, view.known) for goal in view.goals]
        texts += [plain(option.action) for option in view.options]
    return "\n".join(texts)


@pytest.mark.parametrize("level", SMALL)
def test_nothing_is_said_of_what_the_instance_lacks(level: str) -> None:
    here = make(level, 0, 30, {})
    words = all_words(here)
    for said, may in ONLY.items():
        if not may(LEVELS[level]):
            assert not re.findall(rf".*(?:{said}).*", words), said
    assert not re.search(r"\b1 (steps|cells|trees|sectors|civilians)\b", words)
    assert "step" in here.spec.task


@pytest.mark.parametrize("level", SMALL)
def test_every_action_has_an_example_that_fits(level: str) -> None:
    here = make(level, 0, 30, {})
    for agent in here.spec.agents:
        for schema in here.view(agent).abilities:
            assert schema.doc.endswith(".")
            assert schema.example is not None
            schema.complete(schema.example)


@given(st.tuples(*[st.integers(0, 30)] * 2), st.tuples(*[st.integers(0, 30)] * 2))
def test_cells_of_a_line_share_sides(start: tuple[int, int], end: tuple[int, int]) -> None:
    cells = line_cells(start, end)
    assert (cells[0], cells[-1]) == (start, end)
    assert len(cells) == 1 + abs(start[0] - end[0]) + abs(start[1] - end[1])
    for (x0, y0), (x1, y1) in pairwise(cells):
        assert abs(x0 - x1) + abs(y0 - y1) == 1


@pytest.mark.parametrize("end", [(12, 5), (9, 9)])
def test_a_line_is_cut_on_foot_to_its_end(end: tuple[int, int]) -> None:
    here = world(Team(1), "contain", spawn=(5, 5), fire=FAR, trees=2, fire_every=10**5)
    agent, order = "firefighter_1", f"cut_line({end})"
    estimate = here.domain.estimate_steps(agent, parse_action(order), here.view(agent).known)
    report, steps = until(here, agent, order)
    assert report.outcomes[agent].status == "done"
    assert abs(steps - estimate) <= 2
    trees = here.incident.land.inner(here.incident.land.trees)
    assert all(trees[y, x] == 0 for x, y in line_cells((5, 5), end))
    assert here.view(agent).facts.value(agent, "AT") == end


def test_several_on_one_line_share_its_cells() -> None:
    alone = world(Team(1), "contain", spawn=(5, 5), fire=FAR, trees=3, fire_every=10**5)
    here = world(Team(4), "contain", spawn=(5, 5), fire=FAR, trees=3, fire_every=10**5)
    _, long = until(alone, "firefighter_1", "cut_line((16, 5))")
    steps, line = 0, line_cells((5, 5), (16, 5))
    trees = here.incident.land.inner(here.incident.land.trees)
    while any(trees[y, x] for x, y in line):
        do(here, **dict.fromkeys(here.spec.agents, "cut_line((16, 5))"))
        steps += 1
    assert steps <= long / 2.5


def test_a_line_that_the_fire_reached_is_given_up() -> None:
    here = world(Team(1), "contain", spawn=(5, 5), fire=FAR, trees=3, fire_every=10**5)
    do(here, firefighter_1="cut_line((13, 5))")
    physics.ignite(here.incident.land, 12, 5)
    report, _ = until(here, "firefighter_1", "cut_line((13, 5))")
    outcome = report.outcomes["firefighter_1"]
    assert (outcome.word, outcome.constraint) == ("fire", "spatial")
    assert not report.gone


def test_idle_waits_so_many_steps() -> None:
    here = world(Team(1), target=FAR, clusters=(FAR,))
    assert until(here, "firefighter_1", "idle(4)")[1] == 4


def test_options_are_sorted_and_name_the_felling_of_trees() -> None:
    here = make("cut_trees_sparse_small", 0, 30, {})
    options = here.view("firefighter_1").options
    assert [option.action.verb for option in options[:-1]] == ["fell"] * 6
    assert [option.steps for option in options[:-1]] == sorted(option.steps for option in options[:-1])
    assert options[-1].action == Action("wait")


def test_a_ring_is_told_with_what_is_left_to_cut() -> None:
    here = make("suppress_fire_contain", 0, 100, {})
    agent = "bulldozer_6"
    before = here.view(agent)
    words = here.domain.describe_goal(before.goals[0], agent, before.known)
    assert "done when nothing of it burns" in words
    assert "the smallest ring that the team can close in time: x 38 to 44, y 32 to 38, 24 cells, 24 still" in words
    assert "before step 10" in words
    assert "(steps of cutting for a firefighter / a bulldozer; away for you)" in words
    assert "y 32, x 38 to 44, 7 unseen (17 / 2; 4 away)" in words
    plan = here.domain.candidate_plans(before.goals[0], agent, before.known)[0]
    for action in plan.actions[:2]:
        until(here, agent, str(action))
    after = here.view(agent)
    words = here.domain.describe_goal(after.goals[0], agent, after.known)
    assert int(re.findall(r"(\d+) still to cut", words)[0]) < 24
    ring = firebreak(here.domain.mission, after.state, 0)
    assert ring is not None
    told = re.findall(r"([xy]) (\d+), [xy] ([\d ,to]+), ", words)  # every cell that is not told is bare
    cells = set[tuple[int, int]]()
    for axis, line, spans in told:
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", spans):
            along = range(int(first), int(last or first) + 1)
            cells |= {(int(line), k) if axis == "x" else (k, int(line)) for k in along}
    assert cells == set(ring.uncut)


def test_a_goal_is_told_in_its_own_units_with_the_steps_of_the_agent() -> None:
    here = make("cut_trees_sparse_small", 0, 30, {})
    view = here.view("firefighter_1")
    (x, y) = view.state.targets[0].at
    words = here.domain.describe_goal(view.goals[0], "firefighter_1", view.known)
    steps = here.domain.estimate_steps("firefighter_1", Action("fell", (Entity("target", 0),)), view.known)
    assert words == (
        f"3 of 3 trees left on target_0, at ({x}, {y}); one agent is enough, up to 3 are faster; {steps} steps for "
        "you alone, the way included"
    )


def test_who_stands_on_a_target_is_told_with_the_cutting_that_is_left() -> None:
    here = make("cut_trees_sparse_small", 0, 30, {})
    until(here, "firefighter_2", "go_to(<target>(0))")
    view = here.view("firefighter_1")
    words = here.domain.describe_goal(view.goals[0], "firefighter_1", view.known)
    assert words.endswith(
        "; firefighter_2 is there, 3 steps of cutting left; one agent is enough; done no sooner with you"
    )
    assert "fell(<target>(0))" not in map(str, (option.action for option in view.options))
    until(here, "firefighter_1", "go_to(<target>(0))")
    view = here.view("firefighter_1")  # who is there can help
    assert "fell(<target>(0))" in map(str, (option.action for option in view.options))


def test_ways_between_few_targets_are_told_by_their_length() -> None:
    here = make("cut_trees_sparse_small", 0, 30, {})
    view = here.view("firefighter_1")
    line = next(line for line in view.text().splitlines() if "from target to target" in line)
    pairs = re.findall(r"(\d)-(\d)", line)
    assert len(pairs) == len(set(pairs)) == 15
    first = next(pair for pair in pairs)
    spots = view.state.targets
    near = travel_ticks("firefighter", spots[int(first[0])].at, spots[int(first[1])].at, view.state)
    assert f": {near} for {first[0]}-{first[1]}," in line
    assert "from target to target" not in make("cut_trees_sparse_large", 0, 30, {}).view("firefighter_1").text()


def test_who_is_seen_cutting_is_told_with_the_way_it_went() -> None:
    here = world(Team(1, 1), "contain", spawn=(5, 5), fire=FAR, trees=3, fire_every=10**5)
    report = do(here, bulldozer_2="cut_line((13, 5))", firefighter_1="cut_all()")
    assert report.outcomes["bulldozer_2"].status == "running"
    assert (
        "bulldozer_2 at (9, 5), 4 cells to the east, was seen cutting to the east" in here.view("firefighter_1").text()
    )
    assert "firefighter_1 at (5, 5), 4 cells to the west, was seen cutting." in here.view("bulldozer_2").text()
    until(here, "bulldozer_2", "move_to((5, 5))")
    assert "seen cutting" not in here.view("firefighter_1").text()


def test_who_did_not_see_it_is_not_told_who_cuts() -> None:
    options = WildfireOptions(shared_map=False)
    here = world(Team(2), "contain", spawn=(5, 5), fire=FAR, trees=3, fire_every=10**5, options=options)
    until(here, "firefighter_2", "move_to((20, 20))")
    do(here, firefighter_2="cut_all()")
    assert "seen cutting" not in here.view("firefighter_1").text()


def test_what_is_known_of_a_fire_is_told_alike_to_all_and_apart_how_far_it_is() -> None:
    here = make("suppress_fire_contain", 0, 100, {})
    for _ in range(6):
        here.step({"firefighter_1": Action("move_to", ((38, 34),)), "firefighter_2": Action("move_to", ((38, 38),))})
    texts = [here.view(agent).text().splitlines() for agent in here.spec.agents[:2]]
    told = [next(line for line in lines if line.startswith("fire_0: ")) for lines in texts]
    assert told[0] == told[1]
    assert "to the" not in told[0]
    near = [next(line for line in lines if line.startswith("Nearest to you of fire_0: ")) for lines in texts]
    assert near[0] != near[1]


def test_what_a_menu_leaves_out_stands_in_the_words() -> None:
    here = make("full_game", 0, 30, {})
    view = here.view("drone_12")
    unseen = len(view.state.unseen)
    named = view.text().split("Sectors that nobody has seen whole, with your steps until they are: ")[1]
    assert f"{unseen - 8} more unseen, go_to takes any of them" in named


def test_the_grid_comes_with_teammates_and_places() -> None:
    here = world(Team(2), "contain", spawn=(5, 5), fire=Cell(12, 5), trees=2)
    words = here.view("firefighter_1").text("grid")
    assert "Teammates: firefighter_2 at (5, 5), right here." in words
    assert "The grid shows x -5 to 15 in columns and y -5 to 15 in rows" in words
    assert "fire_0" in words


@pytest.mark.parametrize("there", [1, 2])
@pytest.mark.parametrize("cells", range(1, 40, 3))
def test_who_comes_to_a_target_helps_as_if_played_step_by_step(there: int, cells: int) -> None:
    here = make("cut_trees_sparse_small", 0, 30, {})
    view, target = here.view("firefighter_1"), Entity("target", 0)
    state, mission = view.state, view.mission
    spot = state.targets[0]
    names = [f"firefighter_{number}" for number in range(2, 2 + there)]
    far = (spot.at[0] - cells if spot.at[0] >= cells else min(29, spot.at[0] + cells), spot.at[1])
    agents = {name: body._replace(at=spot.at if name in names else far) for name, body in state.agents.items()}
    placed = replace(state, agents=agents, memo={})
    way = travel_ticks("firefighter", far, spot.at, placed)
    trees, steps = spot.trees, 0
    while trees > 0:
        trees, steps = trees - there - (steps >= way), steps + 1
    assert steps <= cutting_left(target, mission, placed)
    assert cut_before("firefighter_1", target, mission, placed) == (steps == cutting_left(target, mission, placed))
