"""Words of the transport world: mission, rules of the instance, how goals stand, and situations."""

from __future__ import annotations

import re
from typing import Any

import pytest

from teamworld.language import plain
from teamworld.worlds.contract import WAIT
from teamworld.worlds.transport import physics, sight, skills, state, walking_times
from tests.worlds.transport.houses import give, house, item, put_agent, world

THINGS = (
    item(11, "apple", 2.0, 3.0), item(12, "banana", 2.6, 3.2), item(13, "bread", 6.0, 3.5), item(14, "bowl", 1.0, 3.0),
    item(15, "pen", 2.0, 3.2), item(16, "apple", 6.4, 3.4),
)  # fmt: skip
PAIR = [(2.0, 1.0, 0.0), (2.0, 2.5, 0.0)]


def test_the_mission_names_counts_limit_and_worth() -> None:
    task = world(house(THINGS), horizon=500).spec.task
    assert task.startswith("Bring 2 apples, 1 banana and 1 bread to bed_0 within 500 steps, and as soon as you can.")
    assert "Each of the 4 counts 1 point" in task


def test_the_rules_hold_all_numbers_that_estimates_rest_on() -> None:
    rules = world(house(THINGS, starts=PAIR)).spec.rules
    numbers = (
        physics.TURN_FRAMES, physics.GRASP_RANGE, physics.DROP_FRAMES, state.CAPACITY, 146, skills.BED_NEAR,
        skills.FETCH_NEAR, skills.MIDDLE_NEAR, skills.TURNS, 2 * skills.TURNS, 2 * skills.SEARCH_STEPS, skills.PULSE,
        *walking_times.WITHIN_ROOM, *walking_times.TO_ANOTHER, walking_times.FRAMES_TO_BED, walking_times.GRASP_FRAMES,
        sight.FARTHEST,
    )  # fmt: skip
    for number in numbers:
        assert re.search(rf"\b{re.escape(f'{number:g}')}\b", rules), number
    assert "livingroom_1000 (197, 200), kitchen_2000 (600, 200), bedroom_3000 (1003, 200)" in rules
    assert "bread: kitchen 6, livingroom 1" in rules
    assert "burger" not in rules, "nobody asks for one"
    assert "calculator" not in rules


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steal_held": True}, "It can be taken out of another agent's hands."),
        ({"put_failure": 0.25}, "with probability 0.25 it falls beside it"),
        ({"put_frames": 103}, "takes 103 steps"),
        ({"perception": "detector", "miss": 0.2}, "goes unnoticed with probability 0.2"),
        ({"perception": "detector"}, "up to 3 m"),
    ],
)
def test_options_are_told_where_they_are_chosen(options: dict[str, Any], words: str) -> None:
    assert words in world(house(THINGS), **options).spec.rules
    assert words not in world(house(THINGS)).spec.rules


def test_one_agent_is_told_nothing_of_teammates() -> None:
    assert "teammate" in world(house(THINGS, starts=PAIR)).spec.rules
    assert not re.search("teammate|another agent|one another", world(house(THINGS)).spec.rules)


def test_a_situation() -> None:
    here = world(house(THINGS, starts=PAIR))
    give(here._moment, 1, 0, 1)
    give(here._moment, 0, 1, 3)
    here.step({"Alice": WAIT})
    lines = here.view("Alice").text().split("\n")
    assert lines == [
        "You are Alice at (200, 100) in livingroom_1000. You hold bowl_14 (empty).",
        "As far as you know 0 of 4 are delivered.",
        "After each place: the estimated steps of your walk there; of rooms then those from the middle to the bed.",
        "livingroom_1000 (you are here; then 318): explored in part, 30 % seen.",
        "- targets: apple_11 (200, 300) 46.",
        "kitchen_2000 (109 steps; then 137): not explored.",
        *lines[6:],
    ]
    assert lines[-2:] == ["bed_0: not found yet.", "Bob: at (200, 250) in livingroom_1000, holding banana_12."]
    put_agent(here._moment, 0, 6.0, 1.0, 0.0)
    here._moment.state.items["inside"][0] = 3
    here.step({})
    text = here.view("Alice").text()
    assert "You hold bowl_14 (with apple_11)." in text
    assert "Bob, seen 10 steps ago: at (200, 250) in livingroom_1000; held banana_12 then." in text
    assert "- targets: bread_13 (600, 350) " in text


def test_what_is_far_or_old_is_told_with_its_age() -> None:
    here = world(house(THINGS, starts=PAIR))
    put_agent(here._moment, 0, 6.0, 1.0, 180.0)
    here.step({})
    assert re.search(r"- targets: apple_11 \(200, 300\) \d+ \(seen 10 steps ago\)", here.view("Alice").text())
    assert "- containers: bowl_14 (empty) (100, 300)" in here.view("Alice").text()


def test_how_goals_stand() -> None:
    here = world(house(THINGS, starts=PAIR))
    give(here._moment, 1, 0, 1)
    here.step({})
    view = here.view("Alice")
    told = {goal.id: here.domain.describe_goal(goal, "Alice", view.known) for goal in view.goals}
    apples = "2 more apples to bed_0; one agent is enough, 2 are of use"
    assert told["deliver_apple"] == (
        f"{apples}; apple_11 in livingroom_1000: for you about 56 steps to take it, then 320 until it counts; "
        "1 still to be found"
    )
    assert told["deliver_banana"] == "1 more banana to bed_0; one agent is enough; Bob carries banana_12"
    assert told["deliver_bread"] == "1 more bread to bed_0; one agent is enough; 1 still to be found"
    put_agent(here._moment, 0, 9.0, 1.0, 90.0)
    here._moment.state.items["x"][2] = 10.4
    here._moment.state.items["z"][2] = 1.0
    here.step({})
    view = here.view("Alice")
    told = {goal.id: here.domain.describe_goal(goal, "Alice", view.known) for goal in view.goals}
    assert told["deliver_bread"] == "done"
    assert "Bob carried banana_12 as last known" in told["deliver_banana"]
    way = r"apple_11 in livingroom_1000: for you about \d+ steps to take it, then \d+ until it counts"
    assert re.search(way, told["deliver_apple"])


def test_names_are_plain() -> None:
    here = world(house(THINGS, starts=PAIR))
    for words in (here.spec.task, here.spec.rules, here.view("Bob").text()):
        assert plain(words) == words
        assert "  " not in words
